// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two kinds of CPU, with a PMU each: events are counted and sampled where they exist,
 * and no count is taken for another.  Hybrid processors have this, and so has a virtual
 * machine with selftests/nmipmu and its parameter hybrid.
 */
#include <dirent.h>
#include <limits.h>

#include "recorder.h"
#include "session.h"
#include "target.h"
#include "test.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define KINDS		2
#define STEP_MS		scaled(200, 400)
#define PERIOD		scaled(2000000, 10000000)
#define WHERE(kind)	(1ULL << (kind)->cpu)

/**
 * struct kind - a kind of CPU
 * @pmu, @type: its PMU, and the number of that
 * @cpus: how the PMU lists them
 * @cpu:  one of them
 */
struct kind {
	char		pmu[64];
	uint32_t	type;
	char		cpus[64];
	int		cpu;
};

FIXTURE(hybrid)
{
	int dev;
	int file;
	struct kind kind[KINDS];
	unsigned int n;
	struct target t;
	struct log log;
};

typedef struct _test_data_hybrid data;

static void add_kind(data *self, const char *pmu)
{
	struct kind *k = &self->kind[self->n];
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), DEVICES "/%s/type", pmu);
	if (self->n == KINDS || !read_line(path, text, sizeof(text)))
		return;
	k->type = strtoul(text, NULL, 10);
	snprintf(path, sizeof(path), DEVICES "/%s/cpus", pmu);
	if (!read_line(path, k->cpus, sizeof(k->cpus)) || !k->cpus[0])
		return;
	k->cpu = atoi(k->cpus);
	snprintf(k->pmu, sizeof(k->pmu), "%s", pmu);
	self->n++;
}

/* The kind whose PMU has the generic events comes first. */
static void find_kinds(data *self)
{
	struct dirent *d;
	struct kind k;
	DIR *dir = opendir(DEVICES);

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			add_kind(self, d->d_name);
	if (dir)
		closedir(dir);
	if (self->n == KINDS && self->kind[1].type < self->kind[0].type) {
		k = self->kind[0];
		self->kind[0] = self->kind[1];
		self->kind[1] = k;
	}
}

FIXTURE_SETUP(hybrid)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	find_kinds(self);
	if (self->n < KINDS || perf_kinds() > KINDS)
		SKIP(return, "there are not two kinds of CPU");
}

FIXTURE_TEARDOWN(hybrid)
{
	target_kill(&self->t);
	close(self->file);
	close(self->dev);
}

/* The cycles of one kind, as PERF_TYPE_HARDWARE has them */
static uint64_t cycles_of(const struct kind *k)
{
	return (uint64_t)k->type << 32 | PERF_COUNT_HW_CPU_CYCLES;
}

static struct hwpmc_allocate counter_of(const struct kind *k)
{
	return pmc_counter(PERF_TYPE_HARDWARE, cycles_of(k));
}

static struct hwpmc_rw read_at(int dev, uint32_t id, int cpu)
{
	struct hwpmc_rw rw = { .id = id, .flags = HWPMC_F_OLDVALUE, .cpu = cpu };

	if (dev_rw(dev, &rw))
		rw.value = rw.enabled = rw.running = ~0ULL;
	return rw;
}

/* Counts on the CPUs that have the event, all the time, and on no other. */
static void check_counter(META, data *self, uint32_t id,
			  const struct kind *here, const struct kind *elsewhere)
{
	struct hwpmc_rw rw = read_at(self->dev, id, here->cpu);

	EXPECT_LT(0, rw.value);
	EXPECT_LT(0, rw.enabled);
	EXPECT_EQ(rw.enabled, rw.running);
	rw = read_at(self->dev, id, elsewhere->cpu);
	EXPECT_EQ(0, rw.value);
	EXPECT_EQ(0, rw.enabled);
	EXPECT_EQ(0, rw.running);
}

TEST_F(hybrid, system_counts)
{
	struct kind *k = self->kind;
	pid_t loads[KINDS];
	uint32_t id[KINDS];
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		loads[i] = load_user(k[i].cpu);
		ASSERT_EQ(0, dev_run(self->dev, counter_of(&k[i]), &id[i]));
	}
	sleep_ms(STEP_MS);
	for (i = 0; i < KINDS; i++)
		check_counter(_metadata, self, id[i], &k[i], &k[!i]);
	for (i = 0; i < KINDS; i++)
		load_end(loads[i]);
}

TEST_F(hybrid, rules)
{
	struct kind *k = self->kind;
	struct hwpmc_allocate a;
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		a = counter_of(&k[i]);
		a.cpu = k[i].cpu;
		EXPECT_EQ(0, dev_allocate(self->dev, &a));
		a = counter_of(&k[i]);
		a.cpu = k[!i].cpu;
		EXPECT_EQ(-ENOENT, dev_allocate(self->dev, &a));
	}
	/* of a PMU that is not there: on no CPU */
	a = pmc_counter(99999, 0);
	EXPECT_EQ(-ENOENT, dev_allocate(self->dev, &a));
}

/* Each sample is of a CPU that has its event. */
static void check_samples(META, struct log *log, const uint32_t *id,
			  const struct kind *k)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		EXPECT_LE(5, log_samples(log, .pmcid = id[i], .cpus = WHERE(&k[i])));
		EXPECT_EQ(0, log_samples(log, .pmcid = id[i], .cpus = WHERE(&k[!i])));
	}
}

TEST_F(hybrid, system_samples)
{
	struct kind *k = self->kind;
	pid_t loads[KINDS];
	uint32_t id[KINDS];
	unsigned int i;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	for (i = 0; i < KINDS; i++) {
		loads[i] = load_user(k[i].cpu);
		ASSERT_EQ(0, dev_run(self->dev, pmc_sampler(PERF_TYPE_HARDWARE,
							    cycles_of(&k[i]), PERIOD),
				     &id[i]));
	}
	for (i = 0; i < KINDS; i++)
		ASSERT_TRUE(wait_samples(self->dev, self->file, 5, .pmcid = id[i]));
	END_LOG(self->dev, self->file, &self->log, 0);
	check_samples(_metadata, &self->log, id, k);
	for (i = 0; i < KINDS; i++)
		load_end(loads[i]);
}

/* An owner for CPUs without the event has the PMC all the same, and no samples. */
TEST_F(hybrid, cpugroups)
{
	uint64_t mask = WHERE(&self->kind[0]);
	struct hwpmc_setcpus s = { .mask = (uintptr_t)&mask, .len = sizeof(mask) };
	struct hwpmc_allocate a = counter_of(&self->kind[1]);
	struct hwpmc_rw rw;
	uint32_t id;

	ASSERT_EQ(0, dev_ioctl(self->dev, HWPMC_IOC_SETCPUS, &s));
	ASSERT_EQ(0, dev_run(self->dev, a, &id));
	sleep_ms(STEP_MS);
	rw = read_at(self->dev, id, HWPMC_CPU_ALL);
	EXPECT_EQ(0, rw.value);
	EXPECT_EQ(0, rw.enabled);
	a = pmc_counter(99999, 0);
	EXPECT_EQ(-ENOENT, dev_allocate(self->dev, &a));
}

/* A CPU that comes back has the events of its kind, and only those. */
TEST_F(hybrid, hotplug)
{
	struct kind *k = &self->kind[1];
	struct hwpmc_rw before;
	uint32_t id[KINDS];
	unsigned int i;
	pid_t load;

	if (!k->cpu || cpu_set_online(k->cpu, false) || cpu_set_online(k->cpu, true))
		SKIP(return, "the CPU cannot be switched off");
	for (i = 0; i < KINDS; i++)
		ASSERT_EQ(0, dev_run(self->dev, counter_of(&self->kind[i]), &id[i]));
	ASSERT_EQ(0, cpu_set_online(k->cpu, false));
	before = read_at(self->dev, id[1], k->cpu);
	ASSERT_EQ(0, cpu_set_online(k->cpu, true));
	load = load_user(k->cpu);
	EXPECT_TRUE(WAIT_UNTIL(read_at(self->dev, id[1], k->cpu).value > before.value, 10000));
	EXPECT_EQ(0, read_at(self->dev, id[0], k->cpu).enabled);
	EXPECT_EQ(0, read_at(self->dev, id[1], self->kind[0].cpu).enabled);
	load_end(load);
}

/* ------------------------------------------------------------------------
 * Processes
 */

/* Computes on a CPU of each kind in turn. */
static int walk_body(struct target *t, void *arg)
{
	const struct kind *k = arg;
	unsigned int i;

	for (i = 0;; i = !i) {
		pin_to(k[i].cpu);
		compute_ms(STEP_MS);
		target_pause(t);
	}
	return 0;
}

/* Between two readings: the PMC has counted @ms, or nothing. */
static void check_step(META, const struct hwpmc_rw *a, const struct hwpmc_rw *b,
		       unsigned int ms)
{
	const uint64_t running = b->running - a->running;
	const uint64_t enabled = b->enabled - a->enabled;

	/* it computes for so long, on whatever CPU */
	EXPECT_LE(STEP_MS * MSEC / 10 * 9, enabled);
	if (!ms) {
		EXPECT_GE(STEP_MS * MSEC / 10, running);
		EXPECT_GE(STEP_MS * MSEC / 10, b->value - a->value);
		return;
	}
	EXPECT_LE(ms * MSEC / 10 * 9, running);
	EXPECT_GE(enabled, running);
	EXPECT_LT(0, b->value - a->value);
}

TEST_F(hybrid, process_counts)
{
	struct kind *k = self->kind;
	struct hwpmc_rw rw[KINDS][KINDS + 1];
	struct hwpmc_allocate a;
	uint32_t id[KINDS];
	unsigned int i, step;

	ASSERT_TRUE(target_begin(&self->t, walk_body, k));
	for (i = 0; i < KINDS; i++) {
		a = pmc_process_counter(PERF_TYPE_HARDWARE, cycles_of(&k[i]), 0);
		ASSERT_EQ(0, dev_run_on(self->dev, a, self->t.pid, &id[i]));
	}
	for (step = 0; step <= KINDS; step++) {
		for (i = 0; i < KINDS; i++)
			rw[i][step] = read_at(self->dev, id[i], HWPMC_CPU_ALL);
		if (step < KINDS)
			ASSERT_TRUE(target_step(&self->t));
	}
	for (i = 0; i < KINDS; i++)
		for (step = 0; step < KINDS; step++) {
			TH_LOG("PMC of kind %u on kind %u: %.3f s enabled, %.3f s running, count %llu",
			       i, step,
			       (rw[i][step + 1].enabled - rw[i][step].enabled) / 1e9,
			       (rw[i][step + 1].running - rw[i][step].running) / 1e9,
			       (unsigned long long)(rw[i][step + 1].value -
						    rw[i][step].value));
			check_step(_metadata, &rw[i][step], &rw[i][step + 1],
				   i == step ? STEP_MS : 0);
		}
}

TEST_F(hybrid, process_samples)
{
	struct kind *k = self->kind;
	uint32_t id[KINDS];
	unsigned int i;

	ASSERT_TRUE(target_begin(&self->t, walk_body, k));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	for (i = 0; i < KINDS; i++)
		ASSERT_EQ(0, dev_run_on(self->dev,
					pmc_process_sampler(PERF_TYPE_HARDWARE,
							    cycles_of(&k[i]), PERIOD, 0),
					self->t.pid, &id[i]));
	for (i = 0; i < 2 * KINDS; i++)
		ASSERT_TRUE(target_step(&self->t));
	END_LOG(self->dev, self->file, &self->log, 0);
	check_samples(_metadata, &self->log, id, k);
}

/* ------------------------------------------------------------------------
 * pmcstat
 */

/* A shell that computes on a CPU of each kind, one after the other. */
static bool run_moving(data *self, struct session *s, const char *options)
{
	const unsigned int turns = scaled(12000, 4000);
	char arguments[768];

	snprintf(arguments, sizeof(arguments),
		 "%s taskset %llx sh -c 'i=0; while [ $i -lt %u ]; do i=$((i + 1)); [ $i -ne %u ] || taskset -p %llx $$ >/dev/null; done'",
		 options, WHERE(&self->kind[0]), turns, turns / 2,
		 WHERE(&self->kind[1]));
	return session_begin(s, arguments) && !session_end(s, 0);
}

/* The numbers of the first line that is no comment, and what they are marked with */
static unsigned int read_counts(const char *said, uint64_t *value, char *mark, unsigned int max)
{
	unsigned int n = 0;
	char *end;

	while (*said == '#' && strchr(said, '\n'))
		said = strchr(said, '\n') + 1;
	for (; n < max; n++, said = end + 1) {
		value[n] = strtoull(said, &end, 10);
		if (end == said)
			break;
		mark[n] = *end;
	}
	return n;
}

/* Kinds' counts of an event without a PMU are exact, and together those of the process. */
TEST_F(hybrid, pmcstat_counts)
{
	uint64_t value[KINDS + 1];
	char mark[KINDS + 1];
	struct session s;

	ASSERT_TRUE(run_moving(self, &s, "-C -w 100000 -p cycles -p task-clock"));
	TH_LOG("%s", s.said);
	ASSERT_EQ(KINDS + 1, read_counts(s.said, value, mark, KINDS + 1));
	EXPECT_EQ(' ', mark[0]);
	EXPECT_EQ(' ', mark[1]);
	EXPECT_LT(0, value[0]);
	EXPECT_LT(0, value[1]);
	EXPECT_NE(NULL, strstr(s.said, self->kind[0].pmu));
	EXPECT_NE(NULL, strstr(s.said, self->kind[1].pmu));
	EXPECT_EQ(NULL, strstr(s.said, "was counted"));
	if (perf_can_skid()) {	/* there cycles are nanoseconds */
		EXPECT_LE(value[2] / 10 * 9, value[0] + value[1]);
		EXPECT_GE(value[2] / 10 * 11, value[0] + value[1]);
	}
	session_free(&s);
}

/* That of one kind is no estimate of what the process did on the other. */
TEST_F(hybrid, pmcstat_one_kind)
{
	uint64_t value[2];
	struct session s;
	char options[128], mark[2];

	snprintf(options, sizeof(options), "-C -w 100000 -p %s/cycles/ -p task-clock",
		 self->kind[1].pmu);
	ASSERT_TRUE(run_moving(self, &s, options));
	TH_LOG("%s", s.said);
	ASSERT_EQ(2, read_counts(s.said, value, mark, 2));
	EXPECT_EQ('+', mark[0]);
	EXPECT_LT(0, value[0]);
	EXPECT_NE(NULL, strstr(s.said, "is not scaled"));
	if (perf_can_skid()) {
		EXPECT_GT(value[1] / 10 * 9, value[0]);
	}
	session_free(&s);
}

/* The PMC whose event is named as the cycles of this PMU; 0: there is none */
static uint32_t find_pmc(struct log *log, const struct kind *k)
{
	const size_t len = strlen(k->pmu);
	struct pmclog_pmcallocatedyn a;
	struct pmclog_rec rec;
	uint32_t id = 0;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_PMCALLOCATEDYN)
			continue;
		memcpy(&a, rec.data, sizeof(a));
		if (!strncmp(a.name, k->pmu, len) && !strcmp(a.name + len, "/cycles/"))
			id = a.pmcid;
	}
	return id;
}

/* An event that one kind has is left out on the other. */
TEST_F(hybrid, pmcstat_left_out)
{
	struct session s;

	if (!perf_can_skid())
		SKIP(return, "both kinds have the same events");
	ASSERT_TRUE(session_begin(&s, "-C -s ref-cycles -c 0-1 -s ref-cycles -p ref-cycles sleep 1"));
	EXPECT_EQ(0, session_end(&s, 0));
	TH_LOG("%s", s.said);
	EXPECT_NE(NULL, strstr(s.said, "nmipmu_atom/ref-cycles/: these CPUs have no such event"));
	EXPECT_NE(NULL, strstr(s.said, "# s/nmipmu/ref-cycles/ s/00/nmipmu/ref-cycles/ p/nmipmu/ref-cycles/ \n"));
	session_free(&s);
	ASSERT_TRUE(session_begin(&s, "-c 1 -s ref-cycles sleep 1"));
	EXPECT_NE(0, session_end(&s, 0));
	EXPECT_NE(NULL, strstr(s.said, "nmipmu_atom/ref-cycles/ on CPU 1: this machine has no such event"));
	session_free(&s);
}

static void check_log(META, data *self, const char *options)
{
	struct kind *k = self->kind;
	uint32_t id[KINDS];
	struct session s;
	unsigned int i;

	ASSERT_TRUE(run_moving(self, &s, options));
	EXPECT_EQ(NULL, strstr(s.said, "on the hardware"));
	ASSERT_EQ(1, session_files(&s));
	ASSERT_TRUE(session_log(&s, 1, &self->log));
	ASSERT_LOG(&self->log, 0);
	for (i = 0; i < KINDS; i++) {
		id[i] = find_pmc(&self->log, &k[i]);
		ASSERT_NE(0, id[i]);
	}
	check_samples(_metadata, &self->log, id, k);
	session_free(&s);
}

TEST_F(hybrid, pmcstat_samples_system)
{
	check_log(_metadata, self, "-S cycles -O %s/log");
}

TEST_F(hybrid, pmcstat_samples_process)
{
	check_log(_metadata, self, "-P cycles -O %s/log");
}

TEST_HARNESS_MAIN
