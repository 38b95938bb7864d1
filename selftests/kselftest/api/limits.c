// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a user can have: as much as the parameters say, whatever he does to
 * have more, and all of it again when he has given it back.
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>

#include "fusefile.h"
#include "limit.h"
#include "module.h"
#include "proclog.h"
#include "recorder.h"
#include "test.h"
#include "user.h"
#include "userns.h"

#define USER	1000
#define OTHER	1001
#define ROUNDS	5
#define MAX	16

FIXTURE(limits)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(limits)
{
	self->dev = limit_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(limits)
{
	limit_restore();
}

/* Rings of 1 MiB, or for a log on more than 64 CPUs 64 MiB of them, not below 128 KiB */
static unsigned int default_ring_kib(unsigned int cpus)
{
	unsigned int kib = 1024;

	while (kib > 128 && kib * cpus > 64 << 10)
		kib /= 2;
	return kib;
}

TEST_F(limits, defaults)
{
	EXPECT_EQ(default_ring_kib(cpus_present()), module_param("ringsize"));
	EXPECT_EQ(64, module_param("max_owners"));
	EXPECT_EQ(1024, module_param("max_pmcs"));
	/* rings of 1 MiB for four logs on all CPUs */
	EXPECT_EQ(cpus_present() > 64 ? 4 * cpus_present() : 256,
		  module_param("max_ringmem"));
	EXPECT_EQ(65536, module_param("max_counters"));
	EXPECT_EQ(100, module_param("max_cpu"));
}

TEST_F(limits, devices)
{
	int dev[MAX], i, copy;

	ASSERT_TRUE(limit("max_owners", 3));
	ASSERT_TRUE(user_become(USER));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(3, dev_open_all(dev, MAX));
		/* a failure costs nothing, nor does another descriptor */
		EXPECT_EQ(-EMFILE, dev_open());
		close(dev[1]);
		copy = dup(dev[2]);
		dev[1] = dev_open();
		EXPECT_LE(0, dev[1]);
		EXPECT_EQ(-EMFILE, dev_open());
		close(copy);
		EXPECT_EQ(-EMFILE, dev_open());
		dev_close_all(dev, 3);
	}
}

TEST_F(limits, devices_of_each_user)
{
	int dev[MAX], theirs[MAX], own[MAX];

	ASSERT_TRUE(limit("max_owners", 3));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(3, dev_open_all(dev, MAX));
	ASSERT_TRUE(user_root() && user_become(OTHER));
	ASSERT_EQ(3, dev_open_all(theirs, MAX));
	ASSERT_TRUE(user_root());
	EXPECT_EQ(MAX, dev_open_all(own, MAX));
	/* who has them now does not matter: all these are root's descriptors */
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	dev_close_all(theirs, 3);
	EXPECT_EQ(-EMFILE, dev_open());
	dev_close_all(dev, 1);
	EXPECT_EQ(1, dev_open_all(dev, MAX));
}

/* Its child lives on, in its memory. */
static void wait_in_vfork(int go, int *waits)
{
	char c;

	if (!user_root() || !user_stay(USER))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* the change of user has cleared it */
	if (read(go, &c, 1) != 1)
		_exit(1);
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		__atomic_store_n(waits, 1, __ATOMIC_RELEASE);
		for (;;)
			pause();
	}
	_exit(1);
}

/*
 * A target that waits for the child of its vfork(2) has work to do for its owner still: it
 * keeps the owner, which counts.
 */
TEST_F(limits, devices_of_waiting_targets)
{
	int *waits = shared_memory(sizeof(*waits)), go[2], dev;
	pid_t target;

	ASSERT_TRUE(limit("max_owners", 1));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(0, pipe(go));
	target = fork_bound();
	if (!target)
		wait_in_vfork(go[0], waits);
	OPEN_DEVICE(dev);
	/* by then it is the user's */
	ASSERT_TRUE(WAIT_UNTIL(!dev_run_on(dev, pmc_process_counter(FAULTS, HWPMC_F_DESCENDANTS),
					   target, NULL), 10000));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_TRUE(WAIT_UNTIL(__atomic_load_n(waits, __ATOMIC_ACQUIRE), 10000));
	close(dev);
	sleep_ms(100);
	EXPECT_EQ(-EMFILE, dev = dev_open());
	load_end(target);
	EXPECT_TRUE(WAIT_UNTIL((dev = dev_open()) >= 0, 10000));
	close(dev);
	ASSERT_TRUE(user_root());
}

/* Killed in the middle of it. */
TEST_F(limits, devices_of_the_dead)
{
	int dev[MAX], i, told[2];
	pid_t child;
	char n;

	ASSERT_TRUE(limit("max_owners", 4));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(0, pipe(told));
	for (i = 0; i < ROUNDS; i++) {
		child = fork_bound();
		if (!child) {
			n = dev_open_all(dev, MAX);
			if (write(told[1], &n, 1) == 1)
				pause();
			_exit(1);
		}
		ASSERT_EQ(1, read(told[0], &n, 1));
		EXPECT_EQ(4, n);
		EXPECT_EQ(-EMFILE, dev_open());
		kill(child, SIGKILL);
		EXPECT_EQ(128 + SIGKILL, wait_for(child));
	}
	EXPECT_EQ(4, dev_open_all(dev, MAX));
}

#define HELD		"/tmp/limits-fuse"

/* One whose log cannot end counts for as long: its thread is there, and its memory. */
TEST_F(limits, stuck_log)
{
	struct fusefile *hold = shared_memory(sizeof(*hold));
	pid_t server = fusefile_begin(HELD, hold);
	int dev, file, users = module_users();

	if (!server)
		SKIP(return, "no FUSE");
	file = open(HELD "/file", O_RDWR);
	ASSERT_LE(0, file);
	hold->deaf = true;
	hold->hold_read = true;
	ASSERT_TRUE(limit("max_owners", 1));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_userdata(dev, 1));
	EXPECT_TRUE(WAIT_UNTIL(hold->reads, 10000));
	close(dev);
	EXPECT_EQ(-EMFILE, dev_open());
	ASSERT_TRUE(user_root());
	fusefile_end(HELD, server);
	close(file);	/* its close waits for what is not answered */
	EXPECT_TRUE(recorders_are(users));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	close(dev);
	ASSERT_TRUE(user_root());
}

TEST_F(limits, none)
{
	int dev[1];

	ASSERT_TRUE(limit("max_owners", 0));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	ASSERT_TRUE(user_root());
	EXPECT_EQ(1, dev_open_all(dev, 1));
}

/* Devices with the capability, and without: those were on nobody's account. */
static int open_capable(void)
{
	int dev[MAX], n;

	if (prctl(PR_SET_KEEPCAPS, 1) || !user_stay(USER) ||
	    keep_caps(1ULL << CAP_PERFMON))
		return 255;
	n = dev_open_all(dev, MAX / 2);
	return keep_caps(0) ? 255 : n * MAX + dev_open_all(dev, MAX - 1);
}

static int open_incapable_root(void)
{
	int dev[MAX];

	return keep_caps(1ULL << CAP_DAC_OVERRIDE) ? 255 : dev_open_all(dev, MAX);
}

/* The limit is lifted by the capability, not by a user's number. */
TEST_F(limits, capability)
{
	ASSERT_TRUE(limit("max_owners", 2));
	EXPECT_EQ(MAX / 2 * MAX + 2, IN_CHILD(open_capable()));
	EXPECT_EQ(2, IN_CHILD(open_incapable_root()));
}

static int user_pmc(int dev, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_counter(CPU_CLOCK);

	a.caps = HWPMC_CAP_USER;
	return dev_pmc(dev, a, id);
}

/* As many as can be had of @dev, @n at most. */
static int allocate_all(int dev, uint32_t *id, int n)
{
	int i, err;

	for (i = 0; i < n; i++) {
		err = user_pmc(dev, &id[i]);
		if (err)
			return err == -EDQUOT ? i : err;
	}
	return i;
}

static int allocate_bad(int dev)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE, 999);

	a.caps = HWPMC_CAP_USER;
	return dev_allocate(dev, &a);
}

TEST_F(limits, pmcs)
{
	uint32_t first[MAX], second[MAX];
	int dev[2], i;

	ASSERT_TRUE(limit("max_pmcs", 5));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(2, dev_open_all(dev, 2));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(3, allocate_all(dev[0], first, 3));
		/* not charged: there is no such event */
		EXPECT_EQ(-ENOENT, allocate_bad(dev[1]));
		ASSERT_EQ(2, allocate_all(dev[1], second, MAX));
		EXPECT_EQ(-EDQUOT, user_pmc(dev[0], &first[3]));
		/* that there is no such event is not looked at any more */
		EXPECT_EQ(-EDQUOT, allocate_bad(dev[1]));
		EXPECT_EQ(0, dev_release(dev[0], first[1]));
		EXPECT_EQ(1, allocate_all(dev[1], &second[2], MAX));
		EXPECT_EQ(0, dev_release(dev[0], first[0]));
		EXPECT_EQ(0, dev_release(dev[0], first[2]));
		EXPECT_EQ(2, allocate_all(dev[0], first, MAX));
		EXPECT_EQ(0, dev_release(dev[0], first[0]));
		EXPECT_EQ(0, dev_release(dev[0], first[1]));
		/* and those that the close releases */
		close(dev[1]);
		OPEN_DEVICE(dev[1]);
	}
}

TEST_F(limits, pmcs_of_the_opener)
{
	uint32_t id[MAX];
	int dev;

	ASSERT_TRUE(limit("max_pmcs", 5));
	EXPECT_EQ(MAX, allocate_all(self->dev, id, MAX));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_TRUE(user_root());
	/* in root's hands it is the user's still */
	EXPECT_EQ(5, allocate_all(dev, id, MAX));
}

/* Released PMCs belong to the writer thread until their end is in the log. */
TEST_F(limits, pmcs_in_a_log)
{
	int dev, i, j, n, file = temp_file();
	uint32_t id[MAX];
	struct log log;

	ASSERT_TRUE(limit("max_pmcs", 6));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < ROUNDS; i++) {
		for (n = 0, j = 0; n < 6 && j < 3000; j++) {
			if (!user_pmc(dev, &id[n]))
				n++;
			else
				sleep_ms(20);
		}
		ASSERT_EQ(6, n);
		ASSERT_EQ(-EDQUOT, user_pmc(dev, &id[6]));
		while (n--)
			ASSERT_EQ(0, dev_release(dev, id[n]));
	}
	ASSERT_EQ(0, dev_closelog(dev));
	/* nobody is left who could hold one back */
	EXPECT_EQ(6, allocate_all(dev, id, MAX));
	LOAD_LOG(&log, file, 0);
}

/* Closed with everything in use; the thread may take a moment to end. */
TEST_F(limits, closed_with_a_log)
{
	int dev, i, users = module_users();
	uint32_t id[MAX];

	ASSERT_TRUE(limit("max_pmcs", 3));
	ASSERT_TRUE(limit("max_ringmem", owner_mib()));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(user_become(USER));
		OPEN_DEVICE(dev);
		ASSERT_EQ(0, dev_configure(dev, temp_file()));
		ASSERT_EQ(3, allocate_all(dev, id, MAX));
		ASSERT_EQ(0, dev_start(dev, id[0]));
		close(dev);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(users));
	}
}

TEST_F(limits, rings)
{
	int dev[3], i, users = module_users();
	struct hwpmc_driverstats st;

	/* for one owner, and a part of another's */
	ASSERT_TRUE(limit("max_ringmem", owner_mib() * 2 - 1));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(user_become(USER));
		ASSERT_EQ(3, dev_open_all(dev, 3));
		EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		ASSERT_EQ(0, dev_stats(dev[1], HWPMC_STATS_OWNER, &st));
		EXPECT_LE(2, st.buffer_requests_failed);
		/* rings last as long as their owner */
		EXPECT_EQ(0, dev_closelog(dev[0]));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
		close(dev[1]);
		EXPECT_EQ(-EDQUOT, dev_configure(dev[2], temp_file()));
		close(dev[0]);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(users + 1));
		/* what it has, and the rest */
		EXPECT_EQ(0, dev_configure(dev[2], temp_file()));
		close(dev[2]);
		ASSERT_TRUE(recorders_are(users));
	}
}

/* What there is stays when less is allowed, and counts. */
TEST_F(limits, lowered)
{
	unsigned int mib = owner_mib();
	int dev[MAX];
	uint32_t id[MAX];

	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(4, dev_open_all(dev, 4));
	ASSERT_EQ(0, dev_configure(dev[0], temp_file()));
	ASSERT_EQ(4, allocate_all(dev[0], id, 4));
	ASSERT_TRUE(user_root());
	ASSERT_TRUE(limit("max_owners", 2) && limit("max_pmcs", 2) &&
		    limit("max_ringmem", mib - 1));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	EXPECT_EQ(-EDQUOT, user_pmc(dev[0], &id[4]));
	EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
	EXPECT_EQ(0, dev_flush(dev[0]));
	EXPECT_EQ(0, dev_closelog(dev[0]));
	EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
	EXPECT_EQ(0, dev_start(dev[0], id[0]));
	dev_close_all(&dev[2], 2);
	EXPECT_EQ(-EMFILE, dev_open());
	close(dev[1]);
	EXPECT_EQ(1, dev_open_all(&dev[1], 3));
}

/* A user's log, whose rings take all that there is: no ring is left for CPU 1. */
static int log_without_ring(META, int file)
{
	int dev;

	ASSERT_TRUE(limit("max_ringmem", owner_mib()));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_TRUE(user_root());
	return dev;
}

/* ... and the user records all processes; then CPU 1 comes back. */
static int begin_without_ring(META, int file, unsigned int hz)
{
	int dev = log_without_ring(_metadata, file);
	struct hwpmc_allocate a = pmc_clock(hz);

	ASSERT_TRUE(user_become(USER));
	a.caps = HWPMC_CAP_USER;
	ASSERT_EQ(0, dev_run(dev, a, NULL));
	ASSERT_TRUE(user_root());
	ASSERT_EQ(0, cpu_set_online(1, true));
	return dev;
}

/* A CPU that comes when there is nothing left for it. */
TEST_F(limits, cpu_without_ring)
{
	int dev, file = temp_file();
	struct hwpmc_driverstats st;
	struct log log;
	pid_t load;

	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	dev = begin_without_ring(_metadata, file, 1000);
	load = load_user(1);
	EXPECT_TRUE(WAIT_UNTIL(!dev_stats(dev, HWPMC_STATS_OWNER, &st) &&
			       st.intr_bufferfull > 20, 60000));
	EXPECT_LE(1, st.buffer_requests_failed);
	load_end(load);
	END_LOG(dev, file, &log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_EQ(0, log.cpu_samples[1]);
	EXPECT_LT(20, log_dropped(&log));
}

static pid_t begin_forker(int cpu)
{
	pid_t pid = fork_bound(), child;

	if (pid)
		return pid;
	pin_to(cpu);
	for (;;) {
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

/* Nobody knows whose records are lost there: all are dumped, but not all the time. */
TEST_F(limits, forks_without_ring)
{
	int dev, file = temp_file();
	uint64_t began;
	unsigned int n;
	struct log log;
	pid_t forker;

	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	dev = begin_without_ring(_metadata, file, 100);
	forker = begin_forker(1);
	began = now_ns();
	sleep_ms(5000);
	load_end(forker);
	ASSERT_EQ(0, dev_closelog(dev));
	began = (now_ns() - began) / 1000 / MSEC;
	LOAD_LOG(&log, file, LOG_DROPS | LOG_PROC_DROPS);
	n = proc_count(&log, PMCLOG_T_PROC_CREATE, getpid());
	TH_LOG("%u dumps in %u s", n, (unsigned int)began);
	EXPECT_LT(1, n);
	/* one at the start, one a second and at once, and two at the end */
	EXPECT_GE(began + 4, n);
}

static bool be_napper(void *arg)
{
	pin_to(1);
	return user_stay(USER);
}

static void nap(void *arg)
{
	for (;;)
		sleep_ms(10);
}

/*
 * Slices of a target: what one that is lost had counted is in the next one that is
 * not.  No dump would repair anything.
 */
TEST_F(limits, slices_without_ring)
{
	int dev, file = temp_file();
	struct log log;
	uint32_t id;
	pid_t pid;

	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	dev = log_without_ring(_metadata, file);
	ASSERT_EQ(0, cpu_set_online(1, true));
	pid = fork_begun(be_napper, nap, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, user_process_pmc(dev, HWPMC_F_LOG_PROCCSW, &id));
	ASSERT_EQ(0, dev_attach(dev, id, pid));
	ASSERT_EQ(0, dev_start(dev, id));
	sleep_ms(5000);
	/* with the target alive, whose end is lost there, too */
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, LOG_PROC_DROPS);
	EXPECT_LT(20, log.proc_dropped);
	EXPECT_EQ(1, proc_count(&log, PMCLOG_T_PROC_CREATE, pid));
}

/* An event on each CPU takes memory, too. */
TEST_F(limits, counters_of_cpus)
{
	struct hwpmc_allocate one = pmc_clock(1000), ts;
	uint32_t id[MAX], more;
	int dev, i;

	one.caps = HWPMC_CAP_USER;
	one.cpu = 0;
	ts = one;
	ts.mode = HWPMC_MODE_TS;
	ts.cpu = HWPMC_CPU_ANY;
	ts.flags &= ~HWPMC_F_INCLUDE_OWNER;
	ASSERT_TRUE(limit("max_counters", cpus_possible() * 2 + 1));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(2, allocate_all(dev, id, MAX));
		EXPECT_EQ(-EDQUOT, dev_allocate(dev, &ts));
		EXPECT_EQ(0, dev_allocate(dev, &one));
		EXPECT_EQ(-EDQUOT, dev_allocate(dev, &one));
		/* where it counts is not known before it is attached */
		EXPECT_EQ(0, user_process_pmc(dev, 0, &more));
		EXPECT_EQ(0, dev_release(dev, id[0]));
		EXPECT_EQ(0, dev_allocate(dev, &ts));
		EXPECT_EQ(-EDQUOT, user_pmc(dev, &more));
		close(dev);
		dev = dev_open();
	}
}

static char take_devices(void)
{
	int dev[MAX];

	return dev_open_all(dev, MAX);
}

static int all_devices(void)
{
	return userns_take(take_devices);
}

static char take_pmcs(void)
{
	int dev = dev_open(), n;
	uint32_t id;

	for (n = 0; n < MAX && !user_process_pmc(dev, 0, &id); n++)
		;
	return n;
}

static int all_pmcs(void)
{
	return userns_take(take_pmcs);
}

/* Who makes a namespace has no more for the users in it than for himself. */
TEST_F(limits, namespaces)
{
	int dev[MAX], i;

	if (access("/proc/self/ns/user", F_OK))
		SKIP(return, "no user namespaces here");
	ASSERT_TRUE(limit("max_owners", 7));
	ASSERT_TRUE(limit("max_pmcs", 6));
	for (i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(7, userns_run(USER, all_devices));
		EXPECT_EQ(6, userns_run(USER, all_pmcs));
	}
	/* it counts together with what he has outside */
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(2, dev_open_all(dev, 2));
	ASSERT_TRUE(user_root());
	EXPECT_EQ(5, userns_run(USER, all_devices));
	/* others have theirs */
	ASSERT_TRUE(user_become(OTHER));
	EXPECT_EQ(7, dev_open_all(&dev[2], MAX - 2));
}

TEST_HARNESS_MAIN
