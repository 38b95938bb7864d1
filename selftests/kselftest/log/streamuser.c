// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device: who may read it, how much it may keep
 * ready, and that nobody waits for himself while many processes are told of.
 */
#include <pthread.h>

#include "limit.h"
#include "module.h"
#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define SMALL	(64 << 10)
#define MIB	(1 << 20)
#define USER	1000
#define ROUNDS	3
#define MAX	400

FIXTURE(streamuser)
{
	pid_t load;
	int users;
	int dev;		/* root's */
};

FIXTURE_SETUP(streamuser)
{
	self->load = load_user(0);
	self->users = module_users();
	self->dev = limit_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(streamuser)
{
	limit_restore();
	close(self->dev);
	load_end(self->load);
}

static int read_some(int dev)
{
	char buf[8192];
	ssize_t n = read(dev, buf, sizeof(buf));

	return n < 0 ? -errno : n;
}

static struct hwpmc_allocate user_clock(unsigned int hz)
{
	struct hwpmc_allocate a = pmc_clock(hz);

	return a;
}

/* ------------------------------------------------------------------------
 * Privilege
 */

/* The kernel's addresses are in root's log, whoever has the descriptor. */
TEST_F(streamuser, roots_log)
{
	struct log log;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(200), NULL));
	ASSERT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(EPERM, IN_CHILD(user_stay(USER) ? -read_some(self->dev) : 77));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EPERM, read_some(self->dev));
	EXPECT_EQ(POLLIN, dev_events(self->dev) | POLLIN);
	ASSERT_TRUE(user_root());
	/* and nothing of it is gone */
	END_LOG(self->dev, self->dev, &log, 0);
	EXPECT_LE(20, log.samples);
}

/* His own has none of them, and anybody who has the descriptor may read it. */
TEST_F(streamuser, users_log)
{
	struct pmclog_initialize first;
	struct sample s;
	struct log log;
	int dev;

	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	ASSERT_EQ(0, dev_run(dev, user_clock(500), NULL));
	ASSERT_TRUE(wait_committed(dev, 100));
	/* the first record only, and root the others */
	ASSERT_EQ(sizeof(first), read(dev, &first, sizeof(first)));
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(user_root());
	ASSERT_TRUE(log_load(&log, dev));
	memmove(log.data + sizeof(first), log.data, log.len);
	memcpy(log.data, &first, sizeof(first));
	log.len += sizeof(first);
	ASSERT_LOG(&log, LOG_DROPS);
	EXPECT_LE(100, log.user);
	EXPECT_EQ(0, log.kernel);
	LOG_FOR_EACH_SAMPLE(&log, s)
		EXPECT_FALSE(addr_is_kernel(s.pc[0]));
	close(dev);
}

/* ------------------------------------------------------------------------
 * How much
 */
TEST_F(streamuser, quota)
{
	unsigned int mib = owner_mib(), i;
	int dev[2];

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(limit("max_ringmem", mib));
		ASSERT_TRUE(user_become(USER));
		dev[0] = dev_open();
		dev[1] = dev_open();
		ASSERT_LE(0, dev[0]);
		ASSERT_LE(0, dev[1]);
		/* the rings have all there is */
		EXPECT_EQ(-EDQUOT, dev_stream(dev[0], 0, SMALL));
		EXPECT_EQ(-EINVAL, read_some(dev[0]));
		EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
		EXPECT_EQ(0, dev_closelog(dev[0]));
		ASSERT_TRUE(user_root() && limit("max_ringmem", mib + 1) &&
			    user_become(USER));
		EXPECT_EQ(-EDQUOT, dev_stream(dev[0], 0, MIB + 1));
		ASSERT_EQ(0, dev_stream(dev[0], 0, MIB));
		EXPECT_EQ(-EDQUOT, dev_stream(dev[1], 0, SMALL));
		EXPECT_EQ(0, dev_closelog(dev[0]));
		/* it is taken as long as there is something to read */
		while (read_some(dev[0]) > 0)
			;
		/* and not any longer: the user's other owner may have it */
		ASSERT_TRUE(user_root() && limit("max_ringmem", 2 * mib + 1) &&
			    user_become(USER));
		EXPECT_EQ(0, dev_stream(dev[1], 0, MIB));
		EXPECT_EQ(0, dev_closelog(dev[1]));
		while (read_some(dev[1]) > 0)
			;
		ASSERT_EQ(0, dev_stream(dev[0], 0, 0));
		close(dev[1]);
		close(dev[0]);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(self->users + 1));
	}
}

/* ------------------------------------------------------------------------
 * Many processes
 */
struct crowd {
	pid_t		pid[MAX];
	unsigned int	n;
};

/* Each has @maps mappings of code. */
static void crowd_begin(struct crowd *c, unsigned int n, unsigned int maps)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY);
	unsigned int i;

	/* all of the same page: they do not become one */
	for (i = 0; i < maps; i++)
		mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	for (c->n = 0; c->n < n; c->n++) {
		c->pid[c->n] = fork_bound();
		if (!c->pid[c->n]) {
			pause();
			_exit(0);
		}
	}
}

static void crowd_end(struct crowd *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		load_end(c->pid[i]);
}

static void expect_all_told(META, const struct crowd *c, struct log *log)
{
	unsigned int i;

	for (i = 0; i < c->n; i++) {
		EXPECT_LE(1, LOG_COUNT(log, PROC_CREATE, proc_create, pid,
				       c->pid[i])) TH_LOG("process %u", i);
	}
}

/* A program of one thread does not wait for itself. */
TEST_F(streamuser, start_before_reading)
{
	struct hwpmc_driverstats st;
	struct crowd c;
	struct log log;

	crowd_begin(&c, scaled(100, 40), 50);
	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(100), NULL));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	TH_LOG("%" PRIu64 " bytes are ready", st.bytes_written);
	EXPECT_LT(2 * SMALL, st.bytes_written);
	END_LOG(self->dev, self->dev, &log, LOG_DROPS | LOG_PROC_DROPS);
	expect_all_told(_metadata, &c, &log);
	crowd_end(&c);
}

/* ... nor when there is already more than should be. */
TEST_F(streamuser, start_when_full)
{
	struct crowd c;
	struct log log;
	int i, err = 0;

	crowd_begin(&c, scaled(100, 40), 50);
	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	for (i = 0; i < 1000000 && !err; i++)
		err = dev_userdata(self->dev, i);
	ASSERT_EQ(-ENOMEM, err);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(100), NULL));
	END_LOG(self->dev, self->dev, &log, LOG_DROPS | LOG_PROC_DROPS);
	expect_all_told(_metadata, &c, &log);
	crowd_end(&c);
}

/* More than a user may have: he is told, and reads first. */
TEST_F_TIMEOUT(streamuser, start_beyond_quota, 900)
{
	struct hwpmc_allocate a = user_clock(100);
	int dev, round, err;
	struct reader r;
	struct crowd c;

	crowd_begin(&c, 100, 200);
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_TRUE(user_become(USER));
		OPEN_DEVICE(dev);
		ASSERT_EQ(0, dev_stream(dev, 0, SMALL));
		ASSERT_EQ(0, dev_allocate(dev, &a));
		ASSERT_EQ(-ENOBUFS, dev_start(dev, a.id));
		ASSERT_EQ(-ENOBUFS, dev_start(dev, a.id));
		reader_begin(&r, dev, 65536, 0);
		while ((err = dev_start(dev, a.id)) == -ENOBUFS)
			sleep_ms(10);
		EXPECT_EQ(0, err);
		EXPECT_TRUE(wait_committed(dev, 20));
		ASSERT_EQ(0, dev_closelog(dev));
		reader_end(&r);
		ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
		expect_all_told(_metadata, &c, &r.log);
		EXPECT_LE(20, r.log.samples);
		log_free(&r.log);
		close(dev);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(self->users + 1));
		/* all of it has been given back */
		if (round == ROUNDS - 1)
			continue;
		ASSERT_TRUE(user_become(USER));
		dev = dev_open();
		ASSERT_EQ(0, dev_stream(dev, 0, MIB));
		close(dev);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(self->users + 1));
	}
	crowd_end(&c);
}

/* Each PMCDETACH is of who was attached, and at the end nobody is. */
static bool all_detached(struct log *log)
{
	struct pmclog_rec rec;
	pid_t pid[MAX];
	int n = 0, i;

	LOG_FOR_EACH(log, rec) {
		if (rec.type == PMCLOG_T_PMCATTACH && n < MAX)
			pid[n++] = REC32(&rec, pmcattach, pid);
		if (rec.type != PMCLOG_T_PMCDETACH)
			continue;
		for (i = 0; i < n; i++)
			if (pid[i] == (pid_t)REC32(&rec, pmcdetach, pid))
				break;
		if (i == n)
			return false;
		pid[i] = pid[--n];
	}
	return !n;
}

/* @fn in a child that begins a group of its own: what it returns. */
static int in_group(int (*fn)(void))
{
	pid_t child = group_fork();

	if (!child)
		_exit(fn());
	return group_end(child);
}

/* 0, or what went on otherwise than it is to. */
static int start_family(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS);
	struct crowd c;
	struct log log;
	int dev;

	if (!user_stay(USER))
		return 1;
	crowd_begin(&c, 100, 200);
	dev = dev_open();
	if (dev < 0 || dev_stream(dev, 0, SMALL) || dev_allocate(dev, &a))
		return 2;
	if (dev_start(dev, a.id) != -ENOBUFS)
		return 3;
	if (dev_detach(dev, a.id, 0) != -EINVAL)
		return 4;
	if (dev_closelog(dev) || !log_load(&log, dev) || !all_detached(&log))
		return 5;
	crowd_end(&c);
	return 0;
}

/* Who could not be started is attached to nobody, as the log has it, too. */
TEST_F(streamuser, start_of_family)
{
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	EXPECT_EQ(0, in_group(start_family));
}

/* Half of them end, or all are detached, while the log waits for its reader. */
static int leave_family(bool end)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS |
						     HWPMC_F_LOG_PROCEXIT);
	struct hwpmc_allocate late = pmc_process_counter(FAULTS,
							 HWPMC_F_LOG_PROCEXIT);
	const char *fault;
	unsigned int i;
	struct crowd c;
	struct log log;
	int dev;

	if (!user_stay(USER))
		return 1;
	crowd_begin(&c, 100, 200);
	dev = dev_open();
	late.caps = HWPMC_CAP_USER;
	if (dev < 0 || dev_stream(dev, 0, SMALL) || dev_allocate(dev, &a))
		return 2;
	if (dev_attach(dev, a.id, 0) || dev_start(dev, a.id) != -ENOBUFS)
		return 3;
	/* nobody has noted that one, who ends */
	if (dev_allocate(dev, &late) || dev_attach(dev, late.id, c.pid[0]))
		return 3;
	for (i = 0; end && i < c.n; i += 2)
		load_end(c.pid[i]);
	if (!end && dev_detach(dev, a.id, 0))
		return 4;
	if (dev_closelog(dev) || !log_load(&log, dev))
		return 5;
	fault = proclog_check(&log);
	if (end && !proc_count(&log, PMCLOG_T_PROCEXIT, c.pid[0]))
		return 7;
	if (fault)
		fprintf(stderr, "%s\n", fault);
	for (i = 1; end && i < c.n; i += 2)
		load_end(c.pid[i]);
	return fault ? 6 : 0;
}

static int detach_family(void)
{
	return leave_family(false);
}

static int end_family(void)
{
	return leave_family(true);
}

/* Who is no target any more has been one before, as the log has it. */
TEST_F(streamuser, family_is_detached)
{
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	EXPECT_EQ(0, in_group(detach_family));
}

TEST_F(streamuser, family_ends)
{
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	EXPECT_EQ(0, in_group(end_family));
}

struct victim {
	int dev;
	pid_t pid;
	pthread_t thread;
	uint64_t bytes;		/* there already */
};

/* Ends it as soon as there is more to be read. */
static void *kill_victim(void *arg)
{
	struct victim *v = arg;
	struct hwpmc_driverstats st;

	do {
		if (dev_stats(v->dev, HWPMC_STATS_OWNER, &st))
			return NULL;
	} while (st.bytes_written == v->bytes);
	load_end(v->pid);
	return NULL;
}

static int lose_meanwhile(void)
{
	struct hwpmc_allocate lost = pmc_process_counter(FAULTS, 0);
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS);
	struct hwpmc_driverstats st;
	struct victim v;
	struct crowd c;

	if (!user_stay(USER))
		return 1;
	crowd_begin(&c, 100, 200);
	v.pid = fork_bound();
	if (!v.pid) {
		pause();
		_exit(0);
	}
	lost.caps = HWPMC_CAP_USER;
	v.dev = dev_open();
	if (v.dev < 0 || dev_allocate(v.dev, &lost) ||
	    dev_allocate(v.dev, &a) || dev_attach(v.dev, lost.id, v.pid) ||
	    dev_stream(v.dev, 0, SMALL))
		return 2;
	sleep_ms(200);		/* what the log begins with */
	if (dev_stats(v.dev, HWPMC_STATS_OWNER, &st))
		return 2;
	v.bytes = st.bytes_written;
	if (pthread_create(&v.thread, NULL, kill_victim, &v))
		return 3;
	if (dev_start(v.dev, a.id) != -ENOBUFS)
		return 4;
	pthread_join(v.thread, NULL);
	if (!dev_hung_up(v.dev))
		return 5;
	crowd_end(&c);
	return 0;
}

/* ... and who has lost all others meanwhile has lost all. */
TEST_F(streamuser, lost_meanwhile)
{
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	EXPECT_EQ(0, in_group(lose_meanwhile));
}

/* ------------------------------------------------------------------------
 * Dumps
 */

/* All that can be read without waiting. */
static bool take_all(int dev, struct log *log)
{
	ssize_t n;

	log->data = malloc(64 * MIB);
	log->len = 0;
	while ((n = read(dev, log->data + log->len, MIB)) > 0)
		log->len += n;
	return !n;
}

/*
 * A log begins, and is to tell of a process that was attached before.  Nobody
 * waits for that: it waits for the reader.  Who starts a PMC does wait.
 */
TEST_F(streamuser, dump_waits)
{
	struct hwpmc_allocate a = pmc_process_sampler(TASK_CLOCK,
						      NSEC / 1000, 0);
	struct hwpmc_driverstats st = {};
	pid_t pid = mapper_begin(2000);
	struct log log = {};
	int i;

	ASSERT_LT(0, pid);
	close(self->dev);
	self->dev = dev_open();
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, pid));
	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	EXPECT_TRUE(WAIT_UNTIL(!dev_stats(self->dev, HWPMC_STATS_OWNER, &st) &&
			       st.bytes_written >= SMALL / 2, 60000));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
		ASSERT_GE(SMALL, st.bytes_written);
		sleep_ms(20);
	}
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(8 * SMALL, st.bytes_written);
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_TRUE(take_all(self->dev, &log));
	ASSERT_LOG(&log, 0);
	EXPECT_TRUE(proc_maps_logged(&log, pid));
	mapper_end(pid);
}

TEST_HARNESS_MAIN
