// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that sleep in the kernel, sampled when they leave their CPU: their user chains
 * come when they wake up, if there is room for so many, and if the log has not ended.
 */
#include <sys/syscall.h>

#include "crowd.h"
#include "latejob.h"
#include "latetally.h"
#include "module.h"
#include "plain.h"
#include "test.h"

#define POOL		32	/* threads that a CPU can have waiting */
#define OF_USER		16	/* of one user, if they sleep */

static struct hwpmc_allocate switches(void)
{
	return pmc_sampler(SWITCHES, 1);
}

struct sleepers {
	int		pipe[2];
	pid_t		pid;
	struct symbols	*sy;
};

/* All @n threads are asleep in a read of the pipe, which is empty. */
static bool sleep_all(const struct sleepers *z, unsigned int n)
{
	char cmd[64], line[256];
	unsigned int asleep, i;
	int unread;
	FILE *p;

	for (i = 0; i < 2000; i++) {
		snprintf(cmd, sizeof(cmd), "cat /proc/%d/task/*/syscall",
			 z->pid);
		p = popen(cmd, "re");
		for (asleep = 0; p && fgets(line, sizeof(line), p);)
			asleep += line[0] != 'r' &&
				  strtoul(line, NULL, 10) == SYS_read;
		pclose(p);
		if (asleep == n && !ioctl(z->pipe[0], FIONREAD, &unread) &&
		    !unread)
			return true;
		sleep_ms(20);
	}
	return false;
}

static void sleepers_start(META, struct sleepers *z, uid_t uid, unsigned int n)
{
	struct job job = { .body = body_read, .len = 1, .cpu = 0, .uid = uid };

	ASSERT_EQ(0, pipe(z->pipe));
	job.fd = z->pipe[0];
	z->pid = start_job(job, n, z->pipe[1]);
	ASSERT_TRUE(sleep_all(z, n));
}

static void sleepers_begin_as(META, struct sleepers *z, struct recording *r,
			      uid_t uid, unsigned int n)
{
	z->sy = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, z->sy);
	ASSERT_EQ(0, record_begin(r, switches(), 0));
	sleepers_start(_metadata, z, uid, n);
}

static void sleepers_begin(META, struct sleepers *z, struct recording *r,
			   unsigned int n)
{
	sleepers_begin_as(_metadata, z, r, 0, n);
}

/* The only one. */
static void wake(struct sleepers *z)
{
	if (write(z->pipe[1], "", 1) != 1)
		abort();
}

/*
 * One sample, and the answer when it is awake again.  Now and then it is taken
 * from its CPU, and its stack brought back, before it has got to sleep.
 */
TEST(asleep)
{
	struct recording r;
	struct late_tally t;
	struct sleepers z;
	unsigned int i;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, 1);
	for (i = 0; i < 20; i++) {
		wake(&z);
		ASSERT_TRUE(sleep_all(&z, 1));
	}
	ASSERT_END(&r);
	load_end(z.pid);
	late_tally(&t, &r.log, z.pid, z.sy, "syscall");
	LOG_TALLY(&t);
	EXPECT_LE(10, t.late);
	EXPECT_LE(10, t.whole);
	EXPECT_EQ(0, t.lied);
}

/*
 * They never come back: the samples stay, without their callers.  More than one,
 * for the reason above.
 */
TEST(killed_asleep)
{
	const unsigned int n = 16;
	struct recording r;
	struct late_tally t;
	struct sleepers z;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, n);
	kill(z.pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(z.pid));
	ASSERT_END(&r);
	late_tally(&t, &r.log, z.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LT(t.joined, t.late);
	EXPECT_LE(t.late, r.log.account.late);
}

/* User chains in @log that are for samples from before it. */
static unsigned int foreign_answers(struct log *log)
{
	return COUNT_RECORDS(log, rec, IS_EXT(&rec, USERCHAIN) &&
			     REC64(&rec, ext_userchain, first) <
			     log->first_tsc);
}

static bool users_become(int users)
{
	return WAIT_UNTIL(module_users() == users, 60000);
}

/*
 * The log ends while they sleep: nothing is written when they wake up, not to
 * the next log either, and the module is free again.
 */
TEST(log_ends_asleep)
{
	int users = module_users(), waiting;
	struct recording r, next;
	struct sleepers z;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, 16);
	ASSERT_END(&r);
	sleep_ms(200);		/* the writer thread is gone */
	waiting = module_users() - users - 1;
	EXPECT_LT(0, waiting);
	ASSERT_EQ(0, record_begin(&next, pmc_clock(100), 0));
	close(z.pipe[1]);
	sleep_ms(scaled(500, 2000));
	ASSERT_END(&next);
	EXPECT_EQ(0, foreign_answers(&next.log));
	close(r.dev);
	close(next.dev);
	/* their parent sleeps on, and may have been sampled too */
	load_end(z.pid);
	EXPECT_TRUE(users_become(users));
}

/*
 * More of them than there is room for, even if only some get to sleep without
 * their stacks: the others are cut, and counted.
 */
TEST(too_many_asleep)
{
	const unsigned int n = 6 * POOL;
	struct recording r;
	struct late_tally t;
	struct sleepers z;
	uint64_t before;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, n);
	/* the end of the pipe is for all of them, again and again */
	before = answers_of(r.dev);
	close(z.pipe[1]);
	EXPECT_TRUE(wait_answers(r.dev, before + 2 * POOL));
	ASSERT_END(&r);
	load_end(z.pid);
	late_tally(&t, &r.log, z.pid, z.sy, "syscall");
	LOG_TALLY(&t);
	EXPECT_LE(OF_USER, t.late);
	EXPECT_LE(OF_USER / 2, t.whole);
	EXPECT_LE(1, r.log.account.cut_by[PMCLOG_CUT_USER]);
}

/*
 * A new process of the user that the sleepers are of, on their CPU: its map is built
 * all the same.
 */
static void process_beside(void)
{
	touch(TOUCHES);
}

#define SLEEPERS	60	/* processes */

/*
 * Each goes to sleep without having been in user mode again since it was first
 * sampled, so it has no map.  They never wake.
 */
static bool begin_sleepers(pid_t *pids)
{
	unsigned int i;

	for (i = 0; i < SLEEPERS; i++) {
		pids[i] = crowd(1);
		if (pids[i] < 0 || !wait_asleep(pids[i], pids[i]))
			return false;
	}
	return true;
}

/*
 * Is it of @pid's user mode?  Adds it to @late if its chain was to come, in the kernel
 * as well: its first sample may be there.
 */
static bool is_late(const struct sample *s, pid_t pid, unsigned int *late)
{
	if (s->pid != (uint32_t)pid)
		return false;
	*late += s->late;
	return s->user;
}

TEST(process_beside_sleepers)
{
	struct hwpmc_allocate a = switches(), faults = pmc_sampler(FAULTS, 1);
	unsigned int late = 0, answers = 0, n = 0, i;
	pid_t pids[SLEEPERS], pid;
	struct pmclog_rec rec;
	struct recording r;
	struct sample s;

	NEEDS_LATER();
	a.flags |= HWPMC_F_UNWIND;
	faults.flags |= HWPMC_F_UNWIND;
	ASSERT_EQ(0, record_begin(&r, a, 0));
	pin_to(0);
	EXPECT_TRUE(begin_sleepers(pids));
	ASSERT_EQ(0, dev_run(r.dev, faults, NULL));
	pid = fork_bound();
	if (!pid) {
		process_beside();
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_END(&r);
	for (i = 0; i < SLEEPERS; i++)
		load_end(pids[i]);
	LOG_FOR_EACH(&r.log, rec) {
		if (log_sample(&rec, &s))
			n += is_late(&s, pid, &late);
		else if (IS_EXT(&rec, USERCHAIN))
			answers += REC32(&rec, ext_userchain, pid) ==
				(uint32_t)pid;
	}
	TH_LOG("%u of user mode, %u late, %u answers", n, late, answers);
	EXPECT_LE(TOUCHES, n);
	EXPECT_LE(1, late);
	EXPECT_LE(1, answers);
}

/* One user's do not take the room that another user's need. */
TEST(asleep_of_another_user)
{
	struct sleepers z, other;
	struct recording r;
	struct late_tally t;

	NEEDS_LATER();
	sleepers_begin_as(_metadata, &z, &r, 1000, 6 * POOL);
	sleepers_start(_metadata, &other, 0, 6);
	ASSERT_END(&r);
	load_end(z.pid);
	load_end(other.pid);
	late_tally(&t, &r.log, z.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LE(OF_USER, t.late);
	late_tally(&t, &r.log, other.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LE(2, t.late);
}

TEST_HARNESS_MAIN
