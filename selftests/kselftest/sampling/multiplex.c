// SPDX-License-Identifier: GPL-2.0-only
/*
 * More PMCs than the CPU has counters: they take turns, each says for how much of
 * the time it counted, and what it counted then stands for the rest.
 *
 * A pinned event of perf has a counter to itself all the time: what the others
 * come to has to agree with its count.  Times need not be equal for that, rates
 * are compared.
 */

#include "proclog.h"
#include "reference.h"
#include "target.h"
#include "test.h"

#define MAX_PMCS	64
#define MAX_HELD	(LOG_MAX_CPU * 32)

#define STEP_MS		100
#define STEPS		300
#define ENOUGH_NS	(30 * MSEC)	/* counted: several turns */
#define TOLERANCE	20		/* per cent, of a load that is steady */

/* @counters: of a CPU, for the event */
FIXTURE(multiplex)
{
	int dev;
	struct hwpmc_allocate event;
	unsigned int counters;
	unsigned int n;			/* PMCs, more than there are counters */
	uint32_t id[MAX_PMCS];
	struct target t;
	pid_t loads[LOG_MAX_CPU];
	int cpus[LOG_MAX_CPU];
	unsigned int ncpus;
	int held[MAX_HELD];
	unsigned int nheld;
	struct log log;
};

typedef struct _test_data_multiplex data;

/* All counters that are left on @cpu; returns how many those were. */
static unsigned int hold(data *self, int cpu)
{
	unsigned int n = 0;
	int fd;

	while (self->nheld < MAX_HELD) {
		fd = reference_pin(&self->event, -1, cpu);
		if (fd < 0)
			break;
		self->held[self->nheld++] = fd;
		n++;
	}
	return n;
}

static void let_go(data *self)
{
	while (self->nheld)
		close(self->held[--self->nheld]);
}

FIXTURE_SETUP(multiplex)
{
	uint64_t config = PERF_COUNT_HW_INSTRUCTIONS;

	OPEN_DEVICE(self->dev);
	self->ncpus = online_cpus(self->cpus, LOG_MAX_CPU);
	if (!perf_has(PERF_TYPE_HARDWARE, config))
		config = PERF_COUNT_HW_CPU_CYCLES;
	if (!perf_has(PERF_TYPE_HARDWARE, config))
		SKIP(return, "there is no PMU");
	self->event = pmc_process_counter(PERF_TYPE_HARDWARE, config, 0);
	self->counters = hold(self, self->cpus[0]);
	let_go(self);
	ASSERT_LT(0, self->counters);
	self->n = 2 * self->counters + 2;
	ASSERT_GE(MAX_PMCS, self->n);
	TH_LOG("%u counters for %s", self->counters,
	       config == PERF_COUNT_HW_INSTRUCTIONS ? "instructions" :
						      "cycles");
}

FIXTURE_TEARDOWN(multiplex)
{
	unsigned int i;

	if (self->t.pid > 0)
		kill(self->t.pid, SIGKILL);
	for (i = 0; i < self->ncpus; i++)
		if (self->loads[i] > 0)
			load_end(self->loads[i]);
	let_go(self);
	close(self->dev);
}

static int busy_body(struct target *t, void *arg)
{
	for (;;) {
		compute_ms(STEP_MS);
		target_pause(t);
	}
	return 0;
}

static void allocate(META, data *self, unsigned int n, uint32_t mode,
		     uint32_t flags, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct hwpmc_allocate a = self->event;

		a.mode = mode;
		a.cpu = mode == HWPMC_MODE_SC ? HWPMC_CPU_ALL : HWPMC_CPU_ANY;
		a.flags = flags;
		ASSERT_EQ(0, dev_allocate(self->dev, &a));
		self->id[i] = a.id;
		if (pid)
			ASSERT_EQ(0, dev_attach(self->dev, a.id, pid));
	}
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, dev_start(self->dev, self->id[i]));
}

static struct hwpmc_rw read_pmc(data *self, unsigned int i)
{
	struct hwpmc_rw rw = { .id = self->id[i], .flags = HWPMC_F_OLDVALUE,
			       .cpu = HWPMC_CPU_ALL };

	if (dev_rw(self->dev, &rw))
		rw.value = rw.enabled = rw.running = ~0ULL;
	return rw;
}

static bool all_ran(data *self, uint64_t ns)
{
	unsigned int i;

	for (i = 0; i < self->n; i++)
		if (read_pmc(self, i).running < ns)
			return false;
	return true;
}

static double rate(const struct hwpmc_rw *r)
{
	return (double)r->value / r->running;
}

static bool is_near(const struct hwpmc_rw *ref, const struct hwpmc_rw *rw,
		    double *estimate, double *exact, unsigned int percent)
{
	*estimate = rw->value * ((double)rw->enabled / rw->running);
	*exact = rate(ref) * rw->enabled;
	return *estimate >= *exact / 100 * (100 - percent) &&
	       *estimate <= *exact / 100 * (100 + percent);
}

/*
 * All have counted, for @ns each, and their estimates are near.  That takes the
 * longer the more often an emulated CPU stands still between its reading a
 * counter and its reading the clock; a fault does not pass.
 */
static bool all_near(data *self, const struct hwpmc_rw *ref, uint64_t ns,
		     unsigned int percent)
{
	double estimate, exact;
	struct hwpmc_rw rw;
	unsigned int i;

	if (!ref->running || !all_ran(self, ns))
		return false;
	for (i = 0; i < self->n; i++) {
		rw = read_pmc(self, i);
		if (!is_near(ref, &rw, &estimate, &exact, percent))
			return false;
	}
	return true;
}

/* All had to share, and each estimate is near what @ref counted all the time. */
static void check_estimates(META, data *self, const struct hwpmc_rw *ref)
{
	double estimate, exact;
	struct hwpmc_rw rw;
	unsigned int i;

	EXPECT_EQ(ref->enabled, ref->running);
	ASSERT_LT(0, ref->value);
	for (i = 0; i < self->n; i++) {
		rw = read_pmc(self, i);
		EXPECT_LE(ENOUGH_NS, rw.running);
		EXPECT_LT(rw.running, rw.enabled);
		EXPECT_TRUE(is_near(ref, &rw, &estimate, &exact, TOLERANCE));
		if (i < 2 || i == self->n - 1)
			TH_LOG("PMC %u: counted %.1f%% of the time, estimate %.0f, pinned %.0f",
			       i, 100. * rw.running / rw.enabled, estimate,
			       exact);
		/* as it is, it does not: it was not scaled already */
		EXPECT_GT(exact / 100 * (100 - TOLERANCE), rw.value);
	}
}

/* Of a process. */
TEST_F(multiplex, process)
{
	struct hwpmc_rw ref;
	unsigned int step;
	int fd;

	ASSERT_TRUE(target_begin(&self->t, busy_body, NULL));
	fd = reference_pin(&self->event, self->t.pid, -1);
	ASSERT_LE(0, fd);
	allocate(_metadata, self, self->n, HWPMC_MODE_TC, 0, self->t.pid);
	step = 0;
	do {
		ASSERT_TRUE(target_step(&self->t));
		ASSERT_TRUE(reference_times(fd, &ref));
	} while (++step < STEPS &&
		 !all_near(self, &ref, ENOUGH_NS, TOLERANCE));
	check_estimates(_metadata, self, &ref);
	target_kill(&self->t);
	close(fd);
}

static bool sum_times(const int *fd, unsigned int n, struct hwpmc_rw *sum)
{
	struct hwpmc_rw rw;
	unsigned int i;

	*sum = (struct hwpmc_rw){};
	for (i = 0; i < n; i++) {
		if (!reference_times(fd[i], &rw))
			return false;
		sum->value += rw.value;
		sum->enabled += rw.enabled;
		sum->running += rw.running;
	}
	return true;
}

/* Of all CPUs, which are busy. */
TEST_F(multiplex, system)
{
	struct hwpmc_rw sum;
	int fd[LOG_MAX_CPU];
	unsigned int i, step;

	for (i = 0; i < self->ncpus; i++) {
		self->loads[i] = load_user(self->cpus[i]);
		ASSERT_LT(0, self->loads[i]);
		fd[i] = reference_pin(&self->event, -1, self->cpus[i]);
		ASSERT_LE(0, fd[i]);
	}
	allocate(_metadata, self, self->n, HWPMC_MODE_SC, 0, 0);
	step = 0;
	do {
		sleep_ms(STEP_MS);
		ASSERT_TRUE(sum_times(fd, self->ncpus, &sum));
	} while (++step < STEPS &&
		 !all_near(self, &sum, self->ncpus * ENOUGH_NS, TOLERANCE / 2));
	for (i = 0; i < self->n; i++)
		ASSERT_EQ(0, dev_stop(self->dev, self->id[i]));
	ASSERT_TRUE(sum_times(fd, self->ncpus, &sum));
	for (i = 0; i < self->ncpus; i++)
		close(fd[i]);
	check_estimates(_metadata, self, &sum);
}

/* As many as there are counters: nobody shares. */
TEST_F(multiplex, enough)
{
	struct hwpmc_rw first, rw;
	unsigned int i;

	ASSERT_TRUE(target_begin(&self->t, busy_body, NULL));
	allocate(_metadata, self, self->counters, HWPMC_MODE_TC, 0,
		 self->t.pid);
	ASSERT_TRUE(target_step(&self->t));
	first = read_pmc(self, 0);
	EXPECT_LT(0, first.value);
	for (i = 0; i < self->counters; i++) {
		rw = read_pmc(self, i);
		EXPECT_LE(STEP_MS * MSEC / 2, rw.running);
		EXPECT_EQ(rw.enabled, rw.running);
	}
	target_kill(&self->t);
}

/* Who finds no counter at all has counted nothing, and says so. */
static void check_never(META, data *self)
{
	struct hwpmc_rw rw;
	unsigned int i;

	for (i = 0; i < self->n; i++) {
		rw = read_pmc(self, i);
		EXPECT_LT(0, rw.enabled);
		EXPECT_EQ(0, rw.running);
		EXPECT_EQ(0, rw.value);
	}
}

static void hold_all(META, data *self)
{
	unsigned int i;

	for (i = 0; i < self->ncpus; i++)
		ASSERT_LE(1, hold(self, self->cpus[i]));
}

TEST_F(multiplex, never)
{
	unsigned int step;

	/* first: it would have copies of what is held */
	ASSERT_TRUE(target_begin(&self->t, busy_body, NULL));
	hold_all(_metadata, self);
	allocate(_metadata, self, self->n, HWPMC_MODE_TC, 0, self->t.pid);
	ASSERT_TRUE(target_step(&self->t));
	check_never(_metadata, self);
	/* and counts when there are some again */
	let_go(self);
	for (step = 0; step < STEPS && !all_ran(self, 1); step++)
		ASSERT_TRUE(target_step(&self->t));
	EXPECT_TRUE(all_ran(self, 1));
	target_kill(&self->t);
}

TEST_F(multiplex, never_system)
{
	unsigned int step;

	hold_all(_metadata, self);
	allocate(_metadata, self, self->n, HWPMC_MODE_SC, 0, 0);
	sleep_ms(STEP_MS);
	check_never(_metadata, self);
	let_go(self);
	for (step = 0; step < STEPS && !all_ran(self, 1); step++)
		sleep_ms(STEP_MS);
	EXPECT_TRUE(all_ran(self, 1));
}

/* ------------------------------------------------------------------------
 * pmcstat
 */

/* Columns of a text, marked ones, and those without a count. */
struct columns {
	unsigned int	n;
	unsigned int	marked;
	unsigned int	never;
	unsigned int	notes;
};

static void read_columns(FILE *f, struct columns *c)
{
	char line[4096], *p;

	while (fgets(line, sizeof(line), f)) {
		c->notes += strstr(line, "is estimated:") ||
			    strstr(line, "was never counted");
		if (line[0] == '#')
			continue;
		for (p = line; (p = strstr(p, "<not counted>")); p++) {
			memset(p, ' ', strlen("<not counted>"));
			c->never++;
			c->n++;
		}
		for (p = strtok(line, " \n"); p; p = strtok(NULL, " \n")) {
			c->marked += p[strlen(p) - 1] == '*';
			c->n++;
		}
	}
}

/* Counts a shell that computes; @option: -p, or -s for all CPUs. */
static int pmcstat(data *self, const char *option, struct columns *c)
{
	const char *event = self->event.config == PERF_COUNT_HW_INSTRUCTIONS ?
			    "instructions" : "cycles";
	char command[4096];
	unsigned int i, n;
	FILE *f;

	n = snprintf(command, sizeof(command), "pmcstat -C -w 100000");
	for (i = 0; i < self->n; i++)
		n += snprintf(command + n, sizeof(command) - n, " %s %s",
			      option, event);
	snprintf(command + n, sizeof(command) - n,
		 " sh -c 'i=0; while [ $i -lt %u ]; do i=$((i + 1)); done'",
		 scaled(50000, 10000));
	*c = (struct columns){};
	fflush(stdout);
	f = popen(command, "r");
	if (!f)
		return -1;
	read_columns(f, c);
	return pclose(f);
}

static void check_marks(META, data *self, const char *option)
{
	struct columns c;

	ASSERT_EQ(0, pmcstat(self, option, &c));
	EXPECT_EQ(self->n, c.n);
	/* no more can have had a counter all the time */
	EXPECT_LE(self->n - self->counters, c.marked + c.never);
	EXPECT_LT(0, c.marked);
	EXPECT_EQ(c.notes, c.marked + c.never);
}

/* Says which counts are estimates, and which are none. */
TEST_F(multiplex, pmcstat)
{
	struct columns c;

	if (perf_kinds() > 1)
		SKIP(return, "an event has several columns, and is not scaled: hybrid");
	check_marks(_metadata, self, "-p");
	check_marks(_metadata, self, "-s");
	hold_all(_metadata, self);
	ASSERT_EQ(0, pmcstat(self, "-p", &c));
	EXPECT_EQ(self->n, c.n);
	EXPECT_EQ(self->n, c.never);
	EXPECT_EQ(self->n, c.notes);
	EXPECT_EQ(0, c.marked);
}

/* ------------------------------------------------------------------------
 * The log
 */
#define NCHILDREN	3

static int children_body(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < NCHILDREN; i++)
		if (!fork()) {
			compute_ms(STEP_MS);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	compute_ms(STEP_MS);
	return 0;
}

/* What each process had, by the log, adds up to what the PMC has. */
TEST_F(multiplex, exits)
{
	struct hwpmc_rw rw, sum;
	struct proc_record p;
	unsigned int i, k, n, shared = 0;
	int file = temp_file();

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_TRUE(target_begin(&self->t, children_body, NULL));
	allocate(_metadata, self, self->n, HWPMC_MODE_TC,
		 HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCEXIT, self->t.pid);
	EXPECT_EQ(0, target_end(&self->t));
	self->t.pid = 0;
	END_PROCLOG(self->dev, file, &self->log, 0);
	for (i = 0; i < self->n; i++) {
		rw = read_pmc(self, i);
		sum = (struct hwpmc_rw){};
		for (k = n = 0; proc_find(&self->log, PMCLOG_T_PROCEXIT, ANY, k,
					  &p); k++) {
			if (p.pmcid != self->id[i])
				continue;
			n++;
			EXPECT_LE(p.running, p.enabled);
			sum.value += p.value;
			sum.enabled += p.enabled;
			sum.running += p.running;
		}
		EXPECT_EQ(NCHILDREN + 1, n);
		EXPECT_EQ(rw.value, sum.value);
		EXPECT_EQ(rw.enabled, sum.enabled);
		EXPECT_EQ(rw.running, sum.running);
		EXPECT_LE((NCHILDREN + 1) * STEP_MS * MSEC / 2, rw.enabled);
		shared += rw.running < rw.enabled;
	}
	/* no more can have had a counter all the time */
	EXPECT_LE(self->n - self->counters, shared);
}

TEST_HARNESS_MAIN
