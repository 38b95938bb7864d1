// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two kinds of CPU, with a PMU each: events are counted and sampled where they exist,
 * and no count is taken for another.  Hybrid processors have this, and so has a virtual
 * machine with selftests/nmipmu and its parameter hybrid.
 */
#include <dirent.h>
#include <limits.h>

#include "recorder.h"
#include "target.h"
#include "test.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define KINDS		2
#define STEP_MS		scaled(200, 400)
#define PERIOD		scaled(2000000, 10000000)
#define WHERE(kind)	(1ULL << (kind)->cpu)

/**
 * struct kind - a kind of CPU
 * @type: its PMU's number
 * @cpus: how the PMU lists them
 * @cpu:  one of them
 */
struct kind {
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
	if (self->n < KINDS)
		SKIP(return, "all CPUs are of one kind");
}

FIXTURE_TEARDOWN(hybrid)
{
	target_kill(&self->t);
	log_free(&self->log);
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
static void check_counter(struct __test_metadata *_metadata, data *self, uint32_t id,
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
static void check_samples(struct __test_metadata *_metadata, struct log *log,
			  const uint32_t *id, const struct kind *k)
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
	struct hwpmc_rw before, after;
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
	for (i = 0; i < 100; i++) {
		after = read_at(self->dev, id[1], k->cpu);
		if (after.value > before.value)
			break;
		sleep_ms(100);
	}
	EXPECT_GT(after.value, before.value);
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
static void check_step(struct __test_metadata *_metadata, const struct hwpmc_rw *a,
		       const struct hwpmc_rw *b, unsigned int ms)
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

TEST_HARNESS_MAIN
