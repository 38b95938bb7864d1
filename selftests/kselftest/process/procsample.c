// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling processes: what is known of them is what the log tells, and nobody
 * else is in it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "family.h"
#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define NOBODY	65534

FIXTURE(procsample)
{
	int dev;
	int file;
	struct target t;
	struct family *f;
	pid_t other[2];		/* busy, on each CPU */
	struct log log;
};

FIXTURE_SETUP(procsample)
{
	int i;

	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	self->f = family_new();
	ASSERT_NE(NULL, self->f);
	for (i = 0; i < 2; i++)
		self->other[i] = load_user(i);
}

FIXTURE_TEARDOWN(procsample)
{
	int i;

	target_kill(&self->t);
	for (i = 0; i < 2; i++)
		load_end(self->other[i]);
	close(self->dev);
}

/* Of the process' own time, @hz a second; kernel and user chains. */
static struct hwpmc_allocate clock_pmc(unsigned int hz, uint32_t flags)
{
	return pmc_process_sampler(CPU_CLOCK, NSEC / hz, flags);
}

static uint64_t committed(int dev)
{
	return OWNER_STAT(dev, account.committed);
}

/* So many samples of each of a family. */
struct each_wanted {
	unsigned int		n;
	const struct family	*f;
	uint32_t		pmcid;
};

static bool has_each(struct log *log, void *arg)
{
	const struct each_wanted *w = arg;
	unsigned int i;

	for (i = 0; i < w->f->n; i++)
		if (proc_samples(log, w->pmcid, w->f->m[i].pid,
				 w->f->m[i].tid) < w->n)
			return false;
	return true;
}

/* ------------------------------------------------------------------------
 * Whose the samples are
 */
static const char * const leaves[] = { "leaf_60", "leaf_30", "leaf_10" };
static const unsigned int percent[] = { 60, 30, 10 };

#define SHARE_SAMPLES	400

static void check_shares(META, struct log *log, pid_t pid)
{
	unsigned int leaf[3] = {}, n = 0, others = 0, i;
	struct symbols *sy = symbols_elf(workload_path("truth"));
	struct sample s;

	ASSERT_NE(NULL, sy);
	LOG_FOR_EACH_SAMPLE(log, s) {
		others += s.pid != pid;
		if (s.pid != pid || !s.user)
			continue;
		n++;
		for (i = 0; i < 3; i++)
			leaf[i] += !strcmp(symbols_name(sy, s.pc[0]),
					   leaves[i]);
	}
	symbols_free(sy);
	TH_LOG("%u samples: %u %u %u", n, leaf[0], leaf[1], leaf[2]);
	EXPECT_EQ(0, others);
	EXPECT_LE(SHARE_SAMPLES, n);
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(is_share(leaf[i], n, percent[i]));
}

/* Half of a CPU is the target's; so are all samples.  Attached as it runs. */
TEST_F(procsample, shares)
{
	pid_t pid = workload_start("truth", 0), twin;

	ASSERT_LT(0, pid);
	twin = workload_start("truth", 1);
	ASSERT_LT(0, twin);
	sleep_ms(scaled(100, 1000));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(997, 0), pid, NULL));
	EXPECT_TRUE(wait_samples(self->dev, self->file, SHARE_SAMPLES,
				 .pid = pid, .user = true));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_TRUE(proc_maps_logged(&self->log, pid));
	load_end(pid);
	load_end(twin);
	check_shares(_metadata, &self->log, pid);
}

/* A packed log tells the same. */
TEST_F(procsample, packed)
{
	int dev = dev_open(), file = temp_file();
	pid_t pid = workload_start("truth", 0);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, dev_configure_flags(dev, file, HWPMC_LOG_PACKED));
	ASSERT_EQ(0, dev_run_on(dev, clock_pmc(997, 0), pid, NULL));
	EXPECT_TRUE(wait_samples(dev, file, SHARE_SAMPLES, .pid = pid,
				 .user = true));
	END_PROCLOG(dev, file, &self->log, 0);
	load_end(pid);
	check_shares(_metadata, &self->log, pid);
	close(dev);
}

struct work {
	struct family	*f;
	_Atomic bool	stop;
};

static void spend(struct work *w, uint32_t parent)
{
	family_enter(w->f, parent, false);
	while (!w->stop)
		compute_ms(5);
}

static void *spend_in_thread(void *arg)
{
	spend(arg, getpid());
	return NULL;
}

static int work_body(struct target *t, void *arg)
{
	uint32_t parent = getpid();
	pthread_t thread[3];
	struct work *w = arg;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, spend_in_thread, w);
	for (i = 0; i < 3; i++)
		if (!fork()) {
			spend(w, parent);
			_exit(0);
		}
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	while (wait(NULL) > 0)
		;
	return target_pause(t);
}

/* Each has a share, and the shares are all there is. */
TEST_F(procsample, threads_and_descendants)
{
	struct work *w = shared_memory(sizeof(*w));
	struct each_wanted wanted = { .n = 5, .f = self->f };
	unsigned int i, n, sum = 0;
	uint32_t id;

	ASSERT_NE(NULL, w);
	w->f = self->f;
	ASSERT_TRUE(target_begin(&self->t, work_body, w));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(1000, HWPMC_F_DESCENDANTS),
				self->t.pid, &id));
	target_go(&self->t);
	WAIT_UNTIL(self->f->complete >= 6, 60000);
	wanted.pmcid = id;
	EXPECT_TRUE(wait_committed(self->dev, 300));
	EXPECT_TRUE(wait_log(self->dev, self->file, has_each, &wanted));
	w->stop = true;
	EXPECT_EQ(0, target_end(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	ASSERT_EQ(6, self->f->n);
	for (i = 0; i < 6; i++) {
		n = proc_samples(&self->log, id, self->f->m[i].pid,
				 self->f->m[i].tid);
		TH_LOG("tid %u: %u samples", self->f->m[i].tid, n);
		EXPECT_LE(5, n);
		sum += n;
	}
	sum += proc_samples(&self->log, id, self->t.pid, self->t.pid);
	EXPECT_EQ(self->log.samples, sum);
}

/* In the kernel, for who may: the system call above the program. */
TEST_F(procsample, kernel_chains)
{
	pid_t pid = workload_start("syscaller", 0);
	unsigned int both;
	uint32_t id;

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(997, 0), pid, &id));
	EXPECT_TRUE(wait_committed(self->dev, 400));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	load_end(pid);
	both = COUNT_SAMPLES(&self->log, s, !s.user && !addr_is_kernel(s.pc[s.npc - 1]));
	EXPECT_LT(100, self->log.kernel);
	EXPECT_LT(self->log.kernel / 2, both);
	EXPECT_EQ(self->log.samples, proc_samples(&self->log, id, pid, pid));
}

/* ------------------------------------------------------------------------
 * When they come
 */
static int spin_body(struct target *t, void *arg)
{
	volatile unsigned long i;

	for (;;)
		i = i + 1;
	return 0;
}

#define SPIN() do {							\
	ASSERT_TRUE(target_begin(&self->t, spin_body, NULL));		\
	target_go(&self->t);						\
} while (0)

/* Stopped, none come; started, they do again. */
TEST_F(procsample, stop_and_start)
{
	uint64_t before;
	uint32_t id;

	SPIN();
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(500, 0), self->t.pid,
				&id));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	before = committed(self->dev);
	sleep_ms(300);
	EXPECT_EQ(before, committed(self->dev));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_LE(before + 20, self->log.samples);
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PMCATTACH, self->t.pid));
	target_kill(&self->t);
}

/* The last RATE of the log */
static bool last_rate(struct log *log, struct pmclog_ext_rate *r)
{
	struct pmclog_rec rec;
	bool found = false;

	LOG_FOR_EACH(log, rec) {
		if (!IS_EXT(&rec, RATE))
			continue;
		memcpy(r, rec.data, sizeof(*r));
		found = true;
	}
	return found;
}

#define START_OF_PERIOD	3	/* samples that no whole period came before */

/* Released while it runs: what it had is in the log. */
TEST_F(procsample, rate_at_release)
{
	struct pmclog_ext_rate r;
	uint32_t id;

	SPIN();
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(500, 0), self->t.pid,
				&id));
	EXPECT_TRUE(wait_committed(self->dev, 40));
	ASSERT_EQ(0, dev_release(self->dev, id));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	ASSERT_TRUE(last_rate(&self->log, &r));
	TH_LOG("%llu expected, %llu achieved, enabled %llu, running %llu ns",
	       r.expected, r.achieved, r.enabled, r.running);
	EXPECT_LE(40, r.achieved);
	EXPECT_LE(r.achieved, r.expected + START_OF_PERIOD);
	EXPECT_LE(r.running, r.enabled);
	EXPECT_LT(0, r.running);
	target_kill(&self->t);
}

/* The period has changed: each part of the time counts with its own. */
TEST_F(procsample, rate_of_two_periods)
{
	struct pmclog_ext_rate r;
	uint64_t before, period = NSEC / 20;
	uint32_t id;

	SPIN();
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(500, 0), self->t.pid,
				&id));
	EXPECT_TRUE(wait_committed(self->dev, 60));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	before = committed(self->dev);
	ASSERT_EQ(0, dev_setcount(self->dev, id, &period));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_TRUE(wait_committed(self->dev, before + 10));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	ASSERT_TRUE(last_rate(&self->log, &r));
	TH_LOG("%llu expected, %llu achieved", r.expected, r.achieved);
	EXPECT_EQ(NSEC / 20, r.period);
	EXPECT_LE(before + 10, r.achieved);
	EXPECT_LE(r.achieved, r.expected + START_OF_PERIOD);
	target_kill(&self->t);
}

/* Detached while it runs: none after that, others go on. */
TEST_F(procsample, detach)
{
	struct target second;
	struct proc_record p;
	unsigned int after = 0, goes_on = 0;
	struct sample s;
	uint32_t id;
	struct hwpmc_allocate a = clock_pmc(500, 0);

	SPIN();
	ASSERT_TRUE(target_begin(&second, spin_body, NULL));
	target_go(&second);
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	id = a.id;
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	ASSERT_EQ(0, dev_attach(self->dev, id, second.pid));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_TRUE(wait_committed(self->dev, 40));
	ASSERT_EQ(0, dev_detach(self->dev, id, self->t.pid));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	ASSERT_TRUE(proc_find(&self->log, PMCLOG_T_PMCDETACH, self->t.pid, 0,
			      &p));
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (s.tsc < p.tsc)
			continue;
		after += s.pid == self->t.pid;
		goes_on += s.pid == second.pid;
	}
	EXPECT_EQ(0, after);
	EXPECT_LE(10, goes_on);
	EXPECT_LE(5, proc_samples(&self->log, id, self->t.pid, ANY));
	target_kill(&second);
	target_kill(&self->t);
}

/* Two owners of the same process; each has all of it, and his own end. */
TEST_F(procsample, two_owners)
{
	int dev = dev_open(), file = temp_file();
	struct log log;
	uint32_t id, theirs;

	SPIN();
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(500, 0), self->t.pid,
				&id));
	ASSERT_EQ(0, dev_run_on(dev, clock_pmc(250, 0), self->t.pid, &theirs));
	EXPECT_TRUE(wait_committed(dev, 40));
	END_PROCLOG(dev, file, &log, 0);
	close(dev);
	EXPECT_TRUE(wait_committed(self->dev, 20));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(log.samples, proc_samples(&log, theirs, self->t.pid,
					    self->t.pid));
	EXPECT_LT(log.samples, self->log.samples);
	EXPECT_EQ(self->log.samples, proc_samples(&self->log, id, self->t.pid,
						  self->t.pid));
	target_kill(&self->t);
}

/* With a PMC of the whole system beside it, each has its own samples. */
TEST_F(procsample, beside_system)
{
	struct hwpmc_allocate a = clock_pmc(250, 0);
	uint32_t id, system;

	SPIN();
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	id = a.id;
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(250), &system));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_TRUE(wait_committed(self->dev, 400));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(proc_samples(&self->log, id, ANY, ANY),
		  proc_samples(&self->log, id, self->t.pid, self->t.pid));
	EXPECT_LT(20, proc_samples(&self->log, id, ANY, ANY));
	EXPECT_LT(20, proc_samples(&self->log, system, self->t.pid, ANY));
	EXPECT_LT(20, proc_samples(&self->log, system, self->other[1], ANY));
	target_kill(&self->t);
}

/* ------------------------------------------------------------------------
 * The account
 */
static int rotate_body(struct target *t, void *arg)
{
	for (;;) {
		family_child(arg, BIRTH_FORK, 5);
		family_thread(arg, 5);
		compute_ms(5);
		if (((struct family *)arg)->n > FAMILY_MAX - 10)
			pause();
	}
	return 0;
}

/* Of each log of a row of them. */
TEST_F(procsample, account)
{
	struct hwpmc_allocate faults = pmc_process_sampler(FAULTS, 1,
						HWPMC_F_DESCENDANTS);
	int file[4] = { self->file }, i;
	struct log log;

	ASSERT_TRUE(target_begin(&self->t, rotate_body, self->f));
	target_go(&self->t);
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(500, HWPMC_F_DESCENDANTS),
				self->t.pid, NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, faults, self->t.pid, NULL));
	for (i = 0; i < 4; i++) {
		EXPECT_TRUE(wait_committed(self->dev, 50));
		if (i < 3) {
			file[i + 1] = temp_file();
			ASSERT_EQ(0, dev_rotate(self->dev, file[i + 1]));
			continue;
		}
		ASSERT_EQ(0, dev_closelog(self->dev));
	}
	kill(self->t.pid, SIGKILL);
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(log_load(&log, file[i]));
		/* mappings of who is forked while a log begins may come late */
		ASSERT_LOG(&log, LOG_DROPS);
		EXPECT_LT(20, log.samples);
		EXPECT_LE(1, proc_count(&log, PMCLOG_T_PMCATTACH, self->t.pid));
		log_free(&log);
	}
}

/* ------------------------------------------------------------------------
 * Without privilege
 */
static int call_kernel(struct target *t, void *arg)
{
	for (;;) {
		fault_pages(20);
		compute_ms(1);
	}
	return 0;
}

/* An owner without any privilege, with a child of his own: 0, or what failed. */
static int nobodys_recording(int file)
{
	struct target t;
	int dev;

	if (setgid(NOBODY) || setuid(NOBODY) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return 10;
	dev = dev_open();
	if (dev < 0)
		return 11;
	if (dev_configure(dev, file))
		return 12;
	if (!target_begin(&t, call_kernel, NULL))
		return 13;
	target_go(&t);
	if (dev_run_on(dev, clock_pmc(500, HWPMC_F_DESCENDANTS), t.pid, NULL))
		return 14;
	if (!wait_committed(dev, 50))
		return 15;
	if (dev_closelog(dev))
		return 16;
	target_kill(&t);
	return 0;
}

#define EXECS		50

static int execs(struct target *t, void *arg)
{
	pid_t child;
	int i;

	target_pause(t);
	for (i = 0; i < EXECS; i++) {
		child = fork();
		if (!child) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		wait_for(child);
	}
	return target_pause(t);
}

static bool is_in_load(const struct sample *s, const struct symbols *sy)
{
	unsigned int i;

	for (i = 0; i < sample_kernel_part(s); i++)
		if (!strcmp(symbols_name(sy, s->pc[i]), "load_elf_binary"))
			return true;
	return false;
}

/*
 * While an image is loaded the old stack is gone, and the new one is not there yet.
 * Such a chain has no user part, and nothing is missing in it.
 */
TEST_F(procsample, loading_an_image)
{
	const uint32_t flags = PMCLOG_CC_USERLATE | PMCLOG_CC_CUT(PMCLOG_CUT_USER);
	struct symbols *sy = symbols_kernel();
	unsigned int loading = 0, bare = 0, missing = 0;
	struct sample s;

	ASSERT_NE(NULL, sy);
	ASSERT_TRUE(target_begin(&self->t, execs, NULL));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_pmc(scaled(2000, 500), HWPMC_F_DESCENDANTS),
				self->t.pid, NULL));
	ASSERT_TRUE(target_step(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (s.user || !is_in_load(&s, sy))
			continue;
		loading++;
		missing += !!(s.flags & flags);
		bare += !(s.flags & flags) && sample_kernel_part(&s) == s.npc;
	}
	TH_LOG("%u samples in load_elf_binary(): %u without a user part, %u cut or late",
	       loading, bare, missing);
	EXPECT_LT(0, bare);
	EXPECT_LE(missing, loading / 10);
}

TEST_F(procsample, unprivileged)
{
	int file = temp_file();

	ASSERT_EQ(0, chmod(DEV_PATH, 0666));
	EXPECT_EQ(0, IN_CHILD(nobodys_recording(file)));
	chmod(DEV_PATH, 0600);
	ASSERT_TRUE(log_load(&self->log, file));
	ASSERT_PROCLOG(&self->log, 0);
	EXPECT_LE(50, self->log.user);
	EXPECT_EQ(0, self->log.kernel);
	EXPECT_EQ(0, log_kernel_addresses(&self->log));
}

TEST_HARNESS_MAIN
