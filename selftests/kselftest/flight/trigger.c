// SPDX-License-Identifier: GPL-2.0-only
/*
 * Armed snapshots of a flight recorder: what takes them, what does not, and that
 * the one that is taken is of that moment.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "proclog.h"
#include "recorder.h"
#include "snapshot.h"
#include "target.h"
#include "test.h"

#define SIZE	(4U << 20)
#define PERIOD	500		/* page faults that are one too many */
#define ARM	HWPMC_SNAPSHOT_ARM

static int faulter(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		fault_pages(3 * PERIOD);
		target_pause(t);
	}
	return 0;
}

FIXTURE(trigger)
{
	int dev;
	int file;
	pid_t load;
	struct target t;
	uint32_t clock;
	struct log log;
	struct snapshot s;
};

FIXTURE_SETUP(trigger)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(1);
	ASSERT_TRUE(target_begin(&self->t, faulter, NULL));
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_EQ(0, dev_flight(self->dev, SIZE, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(scaled(1000, 250)),
			     &self->clock));
}

FIXTURE_TEARDOWN(trigger)
{
	close(self->dev);
	target_kill(&self->t);
	load_end(self->load);
}

/* An overflow of the faulter's takes it. */
static void run_trigger(META, int dev, pid_t pid, uint32_t *id)
{
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_sampler(FAULTS, PERIOD,
						HWPMC_F_TRIGGER), pid, id));
}

#define EXPECT_SNAPSHOT(why) do {					\
	EXPECT_TRUE(wait_snapshot(self->dev));				\
	LOAD_LOG(&self->log, self->file, LOG_DROPS);			\
	snapshot_look(&self->log, &self->s);				\
	EXPECT_EQ(1, self->s.count);					\
	EXPECT_EQ(why, self->s.cause);					\
	EXPECT_LE(self->s.since, self->s.when);				\
	EXPECT_GE(self->log.last_tsc, self->s.when);			\
} while (0)

/* ... for the end of process @who, with that @how */
#define EXPECT_EXIT(who, how) do {					\
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_EXIT);				\
	EXPECT_EQ(who, (pid_t)self->s.pid);				\
	EXPECT_EQ(how, self->s.status);					\
} while (0)

TEST_F(trigger, overflow)
{
	uint64_t from;
	uint32_t id;

	run_trigger(_metadata, self->dev, self->t.pid, &id);
	/* nothing is armed: it only samples */
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_TRUE(no_snapshot(self->dev, 200));
	from = raw_ns();
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	EXPECT_TRUE(no_snapshot(self->dev, 200));
	EXPECT_EQ(0, lseek(self->file, 0, SEEK_END));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_PMC);
	EXPECT_EQ(id, self->s.pmcid);
	/* the sample that did it is there */
	EXPECT_LE(1, log_samples(&self->log, .pmcid = id, .pid = self->t.pid,
				 .from = from, .to = self->s.when));
}

/* Only once, and it says so until it is asked for the next. */
TEST_F(trigger, once)
{
	struct stat st, again;
	int next = temp_file();

	run_trigger(_metadata, self->dev, self->t.pid, NULL);
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_PMC);
	ASSERT_EQ(0, fstat(self->file, &st));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, fstat(self->file, &again));
	EXPECT_EQ(st.st_size, again.st_size);
	EXPECT_TRUE(wait_snapshot(self->dev));	/* still says so */
	ASSERT_EQ(0, dev_snapshot(self->dev, next, ARM));
	EXPECT_TRUE(no_snapshot(self->dev, 100));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_TRUE(wait_snapshot(self->dev));
	log_free(&self->log);
	LOAD_LOG(&self->log, next, LOG_DROPS);
	/* that it went well is told once */
	EXPECT_EQ(0, dev_snapshot(self->dev, -1, ARM));
	EXPECT_TRUE(no_snapshot(self->dev, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(self->dev, -1, ARM));
}

TEST_F(trigger, disarmed)
{
	run_trigger(_metadata, self->dev, self->t.pid, NULL);
	EXPECT_EQ(-EINVAL, dev_snapshot(self->dev, -1, ARM));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ASSERT_EQ(0, dev_snapshot(self->dev, -1, ARM));
	EXPECT_EQ(-EINVAL, dev_snapshot(self->dev, -1, ARM));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_TRUE(no_snapshot(self->dev, 500));
	EXPECT_EQ(0, lseek(self->file, 0, SEEK_END));
}

/* The last file that was given is the one that counts. */
TEST_F(trigger, armed_again)
{
	int ends[2];
	char c;

	run_trigger(_metadata, self->dev, self->t.pid, NULL);
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	ASSERT_EQ(0, dev_snapshot(self->dev, ends[1], ARM));
	close(ends[1]);
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	EXPECT_EQ(0, read(ends[0], &c, 1));	/* let go of */
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_PMC);
	/* who asks himself does not take what is armed */
	ASSERT_EQ(0, dev_snapshot(self->dev, temp_file(), ARM));
	ASSERT_EQ(0, dev_snapshot(self->dev, temp_file(), 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, -1, ARM));
}

/* An error is told to who asks, and ends nothing. */
TEST_F(trigger, full_disk)
{
	int file;

	OPEN_SMALL(file, "/tmp/small", 4096);
	run_trigger(_metadata, self->dev, self->t.pid, NULL);
	ASSERT_EQ(0, dev_snapshot(self->dev, file, ARM));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_TRUE(wait_snapshot(self->dev));
	EXPECT_EQ(-ENOSPC, dev_snapshot(self->dev, -1, ARM));
	EXPECT_EQ(-EINVAL, dev_snapshot(self->dev, -1, ARM));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_PMC);
}

/* A snapshot is being written to a pipe that nobody reads; the other end. */
static int get_stuck(META, FIXTURE_DATA(trigger) *self)
{
	int ends[2];
	char c;

	run_trigger(_metadata, self->dev, self->t.pid, NULL);
	ASSERT_EQ(0, small_pipe(ends));
	ASSERT_EQ(0, dev_snapshot(self->dev, ends[1], ARM));
	close(ends[1]);
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(1, read(ends[0], &c, 1));
	return ends[0];
}

/* What was armed can be taken back even so. */
TEST_F(trigger, stuck)
{
	int end = get_stuck(_metadata, self);

	EXPECT_EQ(-EINTR, dev_snapshot(self->dev, -1, ARM));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_SNAPSHOT(PMCLOG_SNAPSHOT_PMC);
	close(end);
}

/* ------------------------------------------------------------------------
 * Processes that end
 */
struct end {
	int code;
	int signal;
};

/* Its pid; it has ended. */
static pid_t ended(struct end e)
{
	pid_t pid = fork_bound();

	if (!pid) {
		if (e.signal)
			syscall(SYS_kill, getpid(), e.signal);
		_exit(e.code);
	}
	wait_for(pid);
	return pid;
}

TEST_F(trigger, failed)
{
	pid_t pid;

	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0, 0));
	/* before it is armed: nothing */
	ended((struct end){ .code = 1 });
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ended((struct end){});
	EXPECT_TRUE(no_snapshot(self->dev, 300));
	pid = ended((struct end){ .code = 3 });
	EXPECT_EXIT(pid, 3 << 8);
	EXPECT_EQ(PMCLOG_PMCID_NONE, self->s.pmcid);
	/* what it was is told */
	EXPECT_LE(1, proc_count(&self->log, PMCLOG_T_PROC_CREATE, pid));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_SYSEXIT, pid));
}

TEST_F(trigger, killed)
{
	pid_t pid;

	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0, 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	pid = ended((struct end){ .signal = SIGKILL });
	EXPECT_EXIT(pid, SIGKILL);
}

TEST_F(trigger, status)
{
	pid_t pid;

	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_STATUS, 7 << 8, 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ended((struct end){ .code = 3 });
	ended((struct end){});
	ended((struct end){ .signal = SIGTERM });
	EXPECT_TRUE(no_snapshot(self->dev, 300));
	pid = ended((struct end){ .code = 7 });
	EXPECT_EXIT(pid, 7 << 8);
}

/* A status of 0 can be asked for. */
TEST_F(trigger, success)
{
	pid_t pid;

	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_STATUS, 0, 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ended((struct end){ .code = 3 });
	EXPECT_TRUE(no_snapshot(self->dev, 300));
	pid = ended((struct end){});
	EXPECT_EXIT(pid, 0);
}

static int fails(struct target *t, void *arg)
{
	return 9;
}

TEST_F(trigger, pid)
{
	struct target one, other;

	ASSERT_TRUE(target_begin(&one, fails, NULL));
	ASSERT_TRUE(target_begin(&other, fails, NULL));
	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0,
				      one.pid));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	EXPECT_EQ(9, target_end(&other));
	EXPECT_TRUE(no_snapshot(self->dev, 300));
	EXPECT_EQ(9, target_end(&one));
	EXPECT_EXIT(one.pid, 9 << 8);
}

/* Threads come first, the first thread too: the process' end is what counts. */
static void *leave_late(void *arg)
{
	sleep_ms(200);
	_exit(5);
}

static int threads(struct target *t, void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leave_late, NULL);
	syscall(SYS_exit, 66);
	return 0;
}

TEST_F(trigger, threads)
{
	struct target t;

	ASSERT_TRUE(target_begin(&t, threads, NULL));
	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0, 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	EXPECT_EQ(5, target_end(&t));
	EXPECT_EXIT(t.pid, 5 << 8);
}

/* No more, and of whom the log does not tell. */
TEST_F(trigger, not_asked_for)
{
	int dev = dev_open();

	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0, 0));
	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_NEVER, 0, 0));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, ARM));
	ended((struct end){ .code = 1 });
	EXPECT_TRUE(no_snapshot(self->dev, 300));

	ASSERT_EQ(0, dev_flight(dev, SIZE, 0));
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_sampler(FAULTS, PERIOD, 0),
				self->t.pid, NULL));
	ASSERT_EQ(0, dev_exit_trigger(dev, HWPMC_EXIT_FAILED, 0, 0));
	ASSERT_EQ(0, dev_snapshot(dev, self->file, ARM));
	ended((struct end){ .code = 1 });
	EXPECT_TRUE(no_snapshot(dev, 300));
	ASSERT_EQ(0, kill(self->t.pid, SIGKILL));
	EXPECT_TRUE(wait_snapshot(dev));
	close(dev);
}

/* Closed with a file that is armed: that is let go of. */
TEST_F(trigger, close_armed)
{
	int ends[2];
	char c;

	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	ASSERT_EQ(0, dev_snapshot(self->dev, ends[1], ARM));
	close(ends[1]);
	close(self->dev);
	EXPECT_EQ(0, read(ends[0], &c, 1));
	EXPECT_TRUE(recorders_are(0));
	self->dev = dev_open();
}

/* ... and while it is being written to, and nobody reads. */
TEST_F(trigger, close_stuck)
{
	int end = get_stuck(_metadata, self);

	close(self->dev);
	EXPECT_TRUE(recorders_are(0));
	close(end);
	self->dev = dev_open();
}

/* Under fire: every CPU at once, armed and disarmed. */
TEST_F(trigger, storm)
{
	struct hwpmc_allocate a = pmc_clock(scaled(5000, 500));
	unsigned int i, n = 0;
	int err;

	a.flags |= HWPMC_F_TRIGGER;
	ASSERT_EQ(0, dev_run(self->dev, a, NULL));
	ASSERT_EQ(0, dev_exit_trigger(self->dev, HWPMC_EXIT_FAILED, 0, 0));
	for (i = 0; i < scaled(60, 20); i++) {
		struct log log;
		int file = temp_file();

		ASSERT_EQ(0, dev_snapshot(self->dev, file, ARM));
		if (i % 3) {
			ended((struct end){ .code = i % 3 });
			EXPECT_TRUE(wait_snapshot(self->dev));
		}
		err = dev_snapshot(self->dev, -1, ARM);
		EXPECT_TRUE(!err || (!(i % 3) && err == -EINTR));
		ASSERT_TRUE(log_load(&log, file));
		if (!err && log.len) {
			ASSERT_LOG(&log, LOG_DROPS | LOG_PROC_DROPS);
			n++;
		}
		log_free(&log);
		close(file);
	}
	EXPECT_LE(scaled(40, 13), n);
}

TEST_F(trigger, errors)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	int dev = self->dev;

	a.flags = HWPMC_F_TRIGGER;
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &a));
	EXPECT_EQ(-EINVAL, DEV_ASK(dev, EXITTRIGGER, exittrigger, .reserved = 1));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, 3, 0, 0));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, ~0U, 0, 0));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_NEVER, 1, 0));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_NEVER, 0, 1));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_FAILED, 1, 0));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_FAILED, 0, -1));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_STATUS, -1, 0));
	EXPECT_EQ(-EINVAL, dev_exit_trigger(dev, HWPMC_EXIT_STATUS, 65536, 0));
	EXPECT_EQ(0, dev_exit_trigger(dev, HWPMC_EXIT_STATUS, 65535, 1));
	EXPECT_EQ(0, dev_exit_trigger(dev, HWPMC_EXIT_NEVER, 0, 0));
}

TEST_HARNESS_MAIN
