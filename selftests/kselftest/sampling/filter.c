// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMCFILTER: what is in a log is what was asked for, and all else is counted;
 * and that who records is not recorded.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "recorder.h"
#include "target.h"
#include "test.h"

#define CGROUPS		"/tmp/filter-cgroups"
#define ENOUGH		scaled(20, 5)	/* of each sort */
#define HZ		scaled(1000, 200)
#define LONGEST		"fifteen-letters"

/*
 * Who is to be told apart.  A has two threads and computes, in cgroup top/inner;
 * B asks the kernel, in cgroup other.
 */
enum who { A1, A2, B, OTHER };

/* Sorts of samples: who was in which mode. */
#define IN_KERNEL(who)	(1U << 2 * (who))
#define IN_USER(who)	(2U << 2 * (who))
#define OF(who)		(IN_KERNEL(who) | IN_USER(who))
#define OF_A		(OF(A1) | OF(A2))
#define ALL		(OF_A | OF(B) | OF(OTHER))
#define ALL_IN_USER	(IN_USER(A1) | IN_USER(A2) | IN_USER(B) | IN_USER(OTHER))
/* seen wherever they are wanted */
#define FREQUENT	(IN_USER(A1) | IN_USER(A2) | IN_KERNEL(B))
#define NSORT		8

struct crew {
	pid_t		pid[2];		/* of A and B */
	uint32_t	*tid;		/* of A2 */
};

static void busy(void)
{
	static volatile unsigned long sink;

	for (;;)
		sink = sink * 2862933555777941757UL + 3037000493UL;
}

static void *second(void *arg)
{
	struct crew *c = arg;

	prctl(PR_SET_NAME, "filter-A2");
	__atomic_store_n(c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	busy();
	return NULL;
}

static void be_a(struct crew *c)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "filter-A1");
	pthread_create(&thread, NULL, second, c);
	busy();
}

static void be_b(void)
{
	char buf[4096];
	int fd;

	prctl(PR_SET_NAME, LONGEST);
	for (;;) {
		fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
}

static bool into_cgroup(const char *dir, pid_t pid)
{
	char path[120], text[20];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", pid);
	return write_text(path, text);
}

/* It waits until the second thread has its number, and B its name. */
static bool crew_begin(struct crew *c)
{
	c->tid = shared_memory(sizeof(*c->tid));
	c->pid[0] = fork_bound();
	if (!c->pid[0])
		be_a(c);
	c->pid[1] = fork_bound();
	if (!c->pid[1])
		be_b();
	while (!__atomic_load_n(c->tid, __ATOMIC_ACQUIRE) ||
	       !find_comm(LONGEST))
		sleep_ms(5);
	return c->pid[0] > 0 && c->pid[1] > 0;
}

static void crew_end(struct crew *c)
{
	load_end(c->pid[0]);
	load_end(c->pid[1]);
}

static bool cgroups_begin(const struct crew *c)
{
	mkdir(CGROUPS, 0700);
	umount2(CGROUPS, MNT_DETACH);	/* left by a test that was killed */
	if (mount("none", CGROUPS, "cgroup2", 0, NULL))
		return false;
	mkdir(CGROUPS "/top", 0700);
	mkdir(CGROUPS "/top/inner", 0700);
	mkdir(CGROUPS "/other", 0700);
	return into_cgroup(CGROUPS "/top/inner", c->pid[0]) &&
	       into_cgroup(CGROUPS "/other", c->pid[1]);
}

/* The processes are gone, or nearly. */
static void cgroups_end(void)
{
	static const char * const dirs[] = {
		CGROUPS "/top/inner", CGROUPS "/top", CGROUPS "/other",
	};
	unsigned int i, tries;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		for (tries = 0; tries < 3000 && rmdir(dirs[i]); tries++)
			sleep_ms(10);
	umount2(CGROUPS, MNT_DETACH);
}

static unsigned int sort_of(const struct crew *c, const struct sample *s)
{
	enum who who = OTHER;

	if (s->pid == (uint32_t)c->pid[0])
		who = s->tid == *c->tid ? A2 : A1;
	else if (s->pid == (uint32_t)c->pid[1])
		who = B;
	return 2 * who + s->user;
}

/* How many there are of each sort. */
static void count_sorts(struct log *log, const struct crew *c, uint64_t from,
			uint64_t to, unsigned int *n)
{
	struct sample s;

	memset(n, 0, NSORT * sizeof(*n));
	LOG_FOR_EACH_SAMPLE(log, s)
		if (s.tsc >= from && s.tsc < to)
			n[sort_of(c, &s)]++;
}

struct awaited {
	const struct crew *crew;
	uint64_t	from;
	unsigned int	sorts;
};

static bool has_sorts(struct log *log, void *arg)
{
	const struct awaited *w = arg;
	unsigned int n[NSORT], i;

	count_sorts(log, w->crew, w->from, UINT64_MAX, n);
	for (i = 0; i < NSORT; i++)
		if ((w->sorts & 1U << i) && n[i] < ENOUGH)
			return false;
	return true;
}

/* Something was filtered as well, in vain or not. */
static bool wait_filtered(int dev, uint64_t n)
{
	return WAIT_UNTIL(OWNER_STAT(dev, account.filtered) >= n, 60000);
}

#define NCOND	4

/* Of whom a condition speaks: pid, tid, name and cgroup all follow from it. */
struct cond {
	uint32_t	what, op;
	enum who	who;
};

#define EQ(kind, who)	{ HWPMC_COND_##kind, HWPMC_COND_EQ, who }
#define NE(kind, who)	{ HWPMC_COND_##kind, HWPMC_COND_NE, who }

struct scenario {
	const char	*name;
	unsigned int	sorts;		/* wanted */
	struct cond	cond[NCOND];
};

static const struct scenario scenarios[] = {
	{ "no conditions", ALL, {} },
	{ "pid is A", OF_A, { EQ(PID, A1) } },
	{ "pid is not A", ALL & ~OF_A, { NE(PID, A1) } },
	{ "pid is A or B", OF_A | OF(B), { EQ(PID, A1), EQ(PID, B) } },
	{ "pid is neither", OF(OTHER), { NE(PID, A1), NE(PID, B) } },
	{ "tid is A2", OF(A2), { EQ(TID, A2) } },
	{ "tid is not A2", ALL & ~OF(A2), { NE(TID, A2) } },
	{ "tid is A1 or B", OF(A1) | OF(B), { EQ(TID, A1), EQ(TID, B) } },
	{ "name is A2's", OF(A2), { EQ(COMM, A2) } },
	{ "name is not A2's", ALL & ~OF(A2), { NE(COMM, A2) } },
	{ "name is A1's or B's", OF(A1) | OF(B), { EQ(COMM, A1), EQ(COMM, B) } },
	{ "name is the beginning of theirs", 0, { EQ(COMM, OTHER) } },
	{ "cgroup is A's parent", OF_A, { EQ(CGROUP, A1) } },
	{ "cgroup is A's", OF_A, { EQ(CGROUP, A2) } },
	{ "cgroup is not A's", ALL & ~OF_A, { NE(CGROUP, A1) } },
	{ "cgroup is A's or B's", OF_A | OF(B), { EQ(CGROUP, A1), EQ(CGROUP, B) } },
	{ "cgroup is the first", ALL, { EQ(CGROUP, OTHER) } },
	{ "cgroup is none", 0, { NE(CGROUP, OTHER) } },
	{ "user mode", ALL_IN_USER, { EQ(USER, 0) } },
	{ "kernel mode", ALL & ~ALL_IN_USER, { NE(USER, 0) } },
	{ "A but for A1", OF(A2), { EQ(PID, A1), NE(TID, A1) } },
	{ "B in the kernel", IN_KERNEL(B), { EQ(PID, B), NE(USER, 0) } },
	{ "A's cgroup but for its second name", OF(A1),
	  { EQ(CGROUP, A1), NE(COMM, A2) } },
	{ "A or B, if B's thread or A2", OF(A2) | OF(B),
	  { EQ(PID, A1), EQ(PID, B), EQ(TID, A2), EQ(TID, B) } },
	{ "A and not A", 0, { EQ(PID, A1), NE(PID, A1) } },
	{ "A's pid with B's name", 0, { EQ(PID, A1), EQ(COMM, B) } },
};

static int cgroup_of(enum who who)
{
	static const char * const dir[] = {
		[A1] = CGROUPS "/top", [A2] = CGROUPS "/top/inner",
		[B] = CGROUPS "/other", [OTHER] = CGROUPS,
	};

	return open(dir[who], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct hwpmc_condition resolve(const struct cond *from,
				      const struct crew *c)
{
	static const char * const comm[] = {
		[A1] = "filter-A1", [A2] = "filter-A2", [B] = LONGEST,
		[OTHER] = "filter-A",
	};
	struct hwpmc_condition to = { .what = from->what, .op = from->op };

	switch (from->what) {
	case HWPMC_COND_PID:
		to.value = c->pid[from->who == B];
		break;
	case HWPMC_COND_TID:
		to.value = from->who == A2 ? *c->tid : c->pid[from->who == B];
		break;
	case HWPMC_COND_COMM:
		strcpy(to.comm, comm[from->who]);
		break;
	case HWPMC_COND_CGROUP:
		to.value = cgroup_of(from->who);
		break;
	}
	return to;
}

/* Descriptors are not needed any more: the filter has what they referred to. */
static int set_filter(int dev, uint32_t id, const struct cond *from,
		      const struct crew *c)
{
	struct hwpmc_condition to[NCOND];
	unsigned int i, n;
	int err;

	for (n = 0; n < NCOND && from[n].what; n++)
		to[n] = resolve(&from[n], c);
	err = dev_filter(dev, id, to, n);
	for (i = 0; i < n; i++)
		if (to[i].what == HWPMC_COND_CGROUP)
			close(to[i].value);
	return err;
}

static void check_sorts(META, const char *name, const unsigned int *n,
			unsigned int wanted)
{
	unsigned int i;

	for (i = 0; i < NSORT; i++) {
		unsigned int least = wanted & FREQUENT & 1U << i ? ENOUGH : 0;

		EXPECT_LE(least, n[i])
			TH_LOG("%s: %u samples of sort %u", name, n[i], i);
		EXPECT_TRUE(!n[i] || (wanted & 1U << i))
			TH_LOG("%s: %u samples of sort %u", name, n[i], i);
	}
}

static void run_scenario(META, const struct scenario *sc,
			 struct hwpmc_allocate a, struct crew *c, pid_t target)
{
	struct awaited w = { .crew = c, .sorts = sc->sorts & FREQUENT };
	int dev = dev_open(), file = temp_file();
	struct hwpmc_driverstats st;
	unsigned int n[NSORT];
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	if (target)
		ASSERT_EQ(0, dev_attach(dev, a.id, target));
	ASSERT_EQ(0, set_filter(dev, a.id, sc->cond, c)) TH_LOG("%s", sc->name);
	ASSERT_EQ(0, dev_start(dev, a.id));
	EXPECT_TRUE(wait_log(dev, file, has_sorts, &w)) TH_LOG("%s", sc->name);
	/* of PMCs of A's nothing is to be filtered where all of A is wanted */
	if ((sc->sorts & (target ? OF_A : ALL)) != (target ? OF_A : ALL))
		EXPECT_TRUE(wait_filtered(dev, ENOUGH)) TH_LOG("%s", sc->name);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	LOAD_LOG(&log, file, LOG_DROPS);
	count_sorts(&log, c, 0, UINT64_MAX, n);
	check_sorts(_metadata, sc->name, n, sc->sorts);
	EXPECT_EQ(st.account.overflows, st.account.committed +
		  st.account.filtered + log_dropped(&log));
	EXPECT_EQ(log.account.filtered, st.account.filtered);
	EXPECT_EQ(st.account.filtered, st.intr_ignored);
	EXPECT_EQ(log.samples, st.intr_processed);
	EXPECT_EQ(log.samples, st.account.committed);
	log_free(&log);
	close(dev);
	close(file);
}

FIXTURE(filter)
{
	struct crew crew;
};

FIXTURE_SETUP(filter)
{
	ASSERT_TRUE(crew_begin(&self->crew));
	ASSERT_TRUE(cgroups_begin(&self->crew));
}

FIXTURE_TEARDOWN(filter)
{
	crew_end(&self->crew);
	cgroups_end();
}

TEST_F(filter, of_the_system)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(scenarios); i++)
		run_scenario(_metadata, &scenarios[i], pmc_clock(HZ),
			     &self->crew, 0);
}

/* Of a process: all conditions but those that its threads share. */
TEST_F(filter, of_a_process)
{
	static const struct scenario of_a[] = {
		{ "its pid", OF_A, { EQ(PID, A1) } },
		{ "another's pid", 0, { EQ(PID, B) } },
		{ "tid is A2", OF(A2), { EQ(TID, A2) } },
		{ "name is not A2's", OF(A1), { NE(COMM, A2) } },
		{ "its cgroup, user mode", IN_USER(A1) | IN_USER(A2),
		  { EQ(CGROUP, A1), EQ(USER, 0) } },
	};
	struct hwpmc_allocate a = pmc_process_sampler(TASK_CLOCK, NSEC / HZ, 0);
	unsigned int i;

	if (dev_allocate(dev_open(), &a) == -EOPNOTSUPP)
		SKIP(return, "no process modes on this kernel");
	for (i = 0; i < ARRAY_SIZE(of_a); i++)
		run_scenario(_metadata, &of_a[i], a, &self->crew,
			     self->crew.pid[0]);
}

/* As many as there can be; the last one counts. */
TEST_F(filter, sixteen)
{
	struct hwpmc_condition c[HWPMC_NCONDITION + 1] = {};
	struct awaited w = { .crew = &self->crew,
			     .sorts = IN_USER(A1) | IN_USER(A2) };
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	unsigned int n[NSORT], i;
	struct log log;

	for (i = 0; i <= HWPMC_NCONDITION; i++) {
		c[i].what = HWPMC_COND_PID;
		c[i].value = i == HWPMC_NCONDITION - 1 ? self->crew.pid[0] :
							 INT32_MAX - (int)i;
	}
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(-E2BIG, dev_filter(dev, a.id, c, HWPMC_NCONDITION + 1));
	ASSERT_EQ(0, dev_filter(dev, a.id, c, HWPMC_NCONDITION));
	ASSERT_EQ(0, dev_start(dev, a.id));
	EXPECT_TRUE(wait_log(dev, file, has_sorts, &w));
	END_LOG(dev, file, &log, LOG_DROPS);
	count_sorts(&log, &self->crew, 0, UINT64_MAX, n);
	check_sorts(_metadata, "sixteen", n, OF_A);
}

/* From one run to the next; not within one. */
TEST_F(filter, changes)
{
	static const struct {
		struct cond	cond[NCOND];
		unsigned int	sorts;
	} run[] = {
		{ { EQ(PID, A1) }, OF_A },
		{ { EQ(PID, B) }, OF(B) },
		{ {}, ALL },
		{ { NE(CGROUP, A1) }, ALL & ~OF_A },
	};
	struct awaited w = { .crew = &self->crew };
	uint64_t from[ARRAY_SIZE(run) + 1];
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	unsigned int n[NSORT], i;
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	for (i = 0; i < ARRAY_SIZE(run); i++) {
		ASSERT_EQ(0, set_filter(dev, a.id, run[i].cond, &self->crew));
		w.from = from[i] = raw_ns();
		w.sorts = run[i].sorts & FREQUENT;
		ASSERT_EQ(0, dev_start(dev, a.id));
		EXPECT_EQ(-EBUSY, dev_filter(dev, a.id, NULL, 0));
		EXPECT_EQ(-EBUSY, set_filter(dev, a.id, run[i].cond,
					     &self->crew));
		EXPECT_TRUE(wait_log(dev, file, has_sorts, &w));
		ASSERT_EQ(0, dev_stop(dev, a.id));
	}
	from[i] = UINT64_MAX;
	END_LOG(dev, file, &log, LOG_DROPS);
	for (i = 0; i < ARRAY_SIZE(run); i++) {
		count_sorts(&log, &self->crew, from[i], from[i + 1], n);
		check_sorts(_metadata, "run", n, run[i].sorts);
	}
}

/* A filter keeps what it knows of a cgroup that is removed. */
TEST_F(filter, cgroup_goes)
{
	static const struct cond inner[NCOND] = { EQ(CGROUP, A2) };
	struct awaited w = { .crew = &self->crew,
			     .sorts = IN_USER(A1) | IN_USER(A2) };
	struct hwpmc_condition c = { .what = HWPMC_COND_CGROUP };
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	ASSERT_EQ(0, set_filter(dev, a.id, inner, &self->crew));
	ASSERT_EQ(0, dev_start(dev, a.id));
	EXPECT_TRUE(wait_log(dev, file, has_sorts, &w));
	c.value = cgroup_of(A2);
	ASSERT_TRUE(into_cgroup(CGROUPS "/top", self->crew.pid[0]));
	ASSERT_EQ(0, rmdir(CGROUPS "/top/inner"));
	EXPECT_TRUE(wait_filtered(dev, 1));
	ASSERT_EQ(0, dev_stop(dev, a.id));
	EXPECT_EQ(-ENOENT, dev_filter(dev, a.id, &c, 1));
	/* what was refused has changed nothing: samples are still filtered */
	ASSERT_EQ(0, dev_start(dev, a.id));
	ASSERT_EQ(0, mkdir(CGROUPS "/top/inner", 0700));
	ASSERT_TRUE(into_cgroup(CGROUPS "/top/inner", self->crew.pid[0]));
	w.from = raw_ns();
	sleep_ms(200);
	EXPECT_FALSE(!dev_flush(dev) && log_load(&log, file) &&
		     has_sorts(&log, &w));
	ASSERT_EQ(0, dev_closelog(dev));
}

/* Pids are those that the owner sees. */
TEST_F(filter, in_a_namespace)
{
	struct hwpmc_condition c = { .what = HWPMC_COND_PID, .value = 2 };
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev, file = temp_file(), status;
	struct sample s;
	struct log log;
	pid_t pid;

	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dev = dev_open();
		pid = fork_bound();
		if (!pid)
			busy();
		_exit(pid != 2 || dev_configure(dev, file) ||
		      dev_allocate(dev, &a) || dev_filter(dev, a.id, &c, 1) ||
		      dev_start(dev, a.id) || !wait_committed(dev, ENOUGH) ||
		      dev_closelog(dev));
	}
	status = wait_for(pid);
	ASSERT_EQ(0, status);
	LOAD_LOG(&log, file, LOG_DROPS);
	EXPECT_LE(ENOUGH, log.samples);
	LOG_FOR_EACH_SAMPLE(&log, s)
		EXPECT_EQ(2, s.pid);
}

static void *busy_thread(void *arg)
{
	busy();
	return arg;
}

struct of_pids {
	uint32_t	pid[2];
	unsigned int	n[2];
};

static bool has_pids(struct log *log, void *arg)
{
	struct of_pids *p = arg;
	struct pmclog_rec rec;
	struct sample s;
	unsigned int i;

	p->n[0] = p->n[1] = 0;
	LOG_FOR_EACH(log, rec)
		for (i = 0; i < 2; i++)
			p->n[i] += log_sample(&rec, &s) && s.pid == p->pid[i];
	return p->n[0] >= ENOUGH && (p->n[1] >= ENOUGH || !p->pid[1]);
}

/* Samples of a child and, if he asks for them, of who records. */
static void record_self(META, pid_t child, bool asked)
{
	struct of_pids p = { .pid = { child, asked ? getpid() : 0 } };
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	struct log log;

	if (!asked)
		a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	BEGIN_LOG(dev, file, a, &a.id);
	EXPECT_TRUE(wait_log(dev, file, has_pids, &p));
	EXPECT_TRUE(asked || wait_filtered(dev, ENOUGH));
	END_LOG(dev, file, &log, LOG_DROPS);
	p.pid[1] = getpid();
	has_pids(&log, &p);
	EXPECT_LE(ENOUGH, p.n[0]);
	if (asked) {
		EXPECT_LE(ENOUGH, p.n[1]);
	} else {
		EXPECT_EQ(0, p.n[1]);
		EXPECT_LE(ENOUGH, log.account.filtered);
	}
	log_free(&log);
	close(dev);
	close(file);
}

/* A thread of ours that is busy all the time, and a child that is. */
TEST(owner)
{
	pid_t child = load_user(-1);
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, busy_thread, NULL));
	record_self(_metadata, child, false);
	record_self(_metadata, child, true);
	load_end(child);
}

/* Who samples processes has named them. */
TEST(owner_of_other_modes)
{
	static const uint32_t modes[] = {
		HWPMC_MODE_SC, HWPMC_MODE_TS, HWPMC_MODE_TC,
	};
	int dev = dev_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		struct hwpmc_allocate a = pmc_clock(HZ);

		a.mode = modes[i];
		a.flags = HWPMC_F_INCLUDE_OWNER;
		a.cpu = modes[i] == HWPMC_MODE_SC ? HWPMC_CPU_ALL :
						    HWPMC_CPU_ANY;
		EXPECT_EQ(-EINVAL, dev_allocate(dev, &a));
	}
}

TEST_HARNESS_MAIN
