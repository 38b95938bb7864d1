// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs and kernel modules come and go as fast as they can while several owners
 * sample: every sample is accounted for, none is from a CPU that was away, no
 * owner is forgotten, and each module is told of once.
 */
#include <pthread.h>

#include "module.h"
#include "recorder.h"
#include "test.h"

#define MAX_CPUS	8
#define MAX_AWAY	4000
#define MAX_LOADS	2000
#define NOWNERS		3
#define STORM_MS	2000	/* for so long, and until it has blown: */
#define MIN_AWAY	6
#define MIN_LOADS	4

/* When a CPU was away for sure. */
struct away {
	int		cpu;
	uint64_t	from;
	uint64_t	to;
};

struct cpu_storm {
	int		cpus[MAX_CPUS];	/* the first one stays */
	unsigned int	ncpus;
	struct away	away[MAX_AWAY];
	unsigned int	n;
	unsigned int	failed;
	volatile bool	stop;
	pthread_t	thread;
};

static void *cpu_storm_body(void *arg)
{
	struct cpu_storm *s = arg;
	struct away *a;
	unsigned int i = 0;

	pin_to(s->cpus[0]);
	while (!s->stop && s->n < MAX_AWAY) {
		a = &s->away[s->n];
		a->cpu = s->cpus[1 + i++ % (s->ncpus - 1)];
		if (cpu_set_online(a->cpu, false)) {
			s->failed++;
			continue;
		}
		a->from = raw_ns();
		a->to = raw_ns();
		s->n++;
		while (cpu_set_online(a->cpu, true))
			s->failed++;
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * Modules
 */
struct module_storm {
	char		name[64];
	char		path[PATH_MAX];
	unsigned int	loads;
	unsigned int	failed;
	volatile bool	stop;
	pthread_t	thread;
};

/* One without dependencies; not every kernel has all of these. */
static const char * const modules[] = { "overlay", "loop", "virtio_blk" };

static bool find_module(struct module_storm *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modules); i++) {
		strcpy(s->name, modules[i]);
		if (!other_module_find(s->name, s->path))
			continue;
		other_module_unload(s->name);
		if (!other_module_load(s->path) && !other_module_unload(s->name))
			return true;
	}
	return false;
}

static void *module_storm_body(void *arg)
{
	struct module_storm *s = arg;

	while (!s->stop && s->loads < MAX_LOADS) {
		if (other_module_load(s->path)) {
			s->failed++;
			continue;
		}
		s->loads++;
		while (other_module_unload(s->name))
			s->failed++;
	}
	return NULL;
}

/* Each load and each unload once, in turn, at the same place. */
static void check_modules(META, struct log *log, const struct module_storm *s)
{
	unsigned int in = 0, ext = 0, out = 0;
	uint64_t start = 0, len = 0;
	struct pmclog_rec rec;
	char path[80];

	snprintf(path, sizeof(path), "[%s]", s->name);
	LOG_FOR_EACH(log, rec) {

		if (rec.type == PMCLOG_T_MAP_IN &&
		    !strcmp(REC_TEXT(&rec, map_in, path), path)) {
			EXPECT_EQ(in, out);
			in++;
			start = REC64(&rec, map_in, start);
		}
		if (IS_EXT(&rec, MODULE) &&
		    !strcmp(REC_TEXT(&rec, ext_module, name), s->name)) {
			ext++;
			EXPECT_EQ(in, ext);
			len = REC64(&rec, ext_module, len);
			EXPECT_EQ(start, REC64(&rec, ext_module, start));
		}
		if (rec.type == PMCLOG_T_MAP_OUT &&
		    REC32(&rec, map_out, pid) == PMCLOG_PID_KERNEL) {
			out++;
			EXPECT_EQ(in, out);
			EXPECT_EQ(start, REC64(&rec, map_out, start));
			EXPECT_EQ(start + len, REC64(&rec, map_out, end));
		}
	}
	EXPECT_EQ(s->loads, in);
	EXPECT_EQ(s->loads, ext);
	EXPECT_EQ(s->loads, out);
}

/* ------------------------------------------------------------------------
 * Owners
 */
struct owner {
	int		dev;
	int		file;
	uint32_t	id;
	struct log	log;
};

FIXTURE(churn)
{
	struct cpu_storm cpus;
	struct module_storm modules;
	struct owner owners[NOWNERS];
	pid_t loads[3];
	bool has_module;
};

static struct hwpmc_allocate owners_pmc(unsigned int i, int last_cpu)
{
	struct hwpmc_allocate a = pmc_clock(i ? 1000 : scaled(10000, 1000));

	if (i == NOWNERS - 1)
		a.cpu = last_cpu;
	return a;
}

FIXTURE_SETUP(churn)
{
	struct cpu_storm *c = &self->cpus;
	unsigned int i;

	self->has_module = find_module(&self->modules);
	self->loads[0] = load_user(-1);
	self->loads[1] = load_kernel(-1);
	self->loads[2] = load_sleeper(-1);
	c->ncpus = online_cpus(c->cpus, MAX_CPUS);
	for (i = 0; i < NOWNERS; i++) {
		struct owner *o = &self->owners[i];

		OPEN_DEVICE(o->dev);
		o->file = temp_file();
		BEGIN_LOG(o->dev, o->file, owners_pmc(i, c->cpus[c->ncpus - 1]),
			  &o->id);
	}
}

FIXTURE_TEARDOWN(churn)
{
	unsigned int i;

	for (i = 1; i < self->cpus.ncpus; i++)
		cpu_set_online(self->cpus.cpus[i], true);
	for (i = 0; i < NOWNERS; i++)
		close(self->owners[i].dev);
	for (i = 0; i < 3; i++)
		load_end(self->loads[i]);
}

static uint64_t count_on(struct owner *o, int cpu)
{
	uint64_t value = 0;

	return dev_read(o->dev, o->id, cpu, &value) ? 0 : value;
}

/* Its clock runs on @cpu: an event that was lost stands still. */
static bool runs_on(struct owner *o, int cpu)
{
	uint64_t before = count_on(o, cpu);

	return WAIT_UNTIL(count_on(o, cpu) > before, 10000);
}

static void all_run(META, FIXTURE_DATA(churn) *self)
{
	struct cpu_storm *c = &self->cpus;
	unsigned int i, k;

	for (i = 0; i < NOWNERS; i++) {
		for (k = 0; k < c->ncpus; k++) {
			if (i == NOWNERS - 1 && k != c->ncpus - 1)
				continue;
			EXPECT_TRUE(runs_on(&self->owners[i], c->cpus[k]))
				TH_LOG("owner %u on CPU %d", i, c->cpus[k]);
		}
	}
}

/* Absences of all CPUs are in the order of time, and do not overlap. */
static unsigned int samples_of_absent(struct log *log, const struct cpu_storm *c)
{
	unsigned int bad = 0, i = 0;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s) {
		while (i < c->n && c->away[i].to <= s.tsc)
			i++;
		bad += i < c->n && c->away[i].cpu == (int)s.cpu &&
		       s.tsc > c->away[i].from;
	}
	return bad;
}

static void end_owner(META, FIXTURE_DATA(churn) *self, unsigned int i)
{
	struct owner *o = &self->owners[i];
	struct hwpmc_driverstats st;

	EXPECT_TRUE(wait_committed(o->dev, 110));
	ASSERT_EQ(0, dev_closelog(o->dev));
	ASSERT_EQ(0, dev_stats(o->dev, HWPMC_STATS_OWNER, &st));
	ASSERT_TRUE(log_load(&o->log, o->file));
	/* nobody has to be fast enough, but everything is told */
	ASSERT_LOG(&o->log, LOG_DROPS | LOG_PROC_DROPS);
	TH_LOG("owner %u: %" PRIu64 " samples, %" PRIu64 " dropped", i,
	       o->log.samples, log_dropped(&o->log));
	EXPECT_LT(100, o->log.samples);
	EXPECT_EQ(st.account.overflows, o->log.account.overflows);
	EXPECT_EQ(st.account.committed, o->log.samples);
	EXPECT_EQ(0, st.account.in_rings);
	EXPECT_EQ(0, st.account.discarded);
	EXPECT_EQ(0, samples_of_absent(&o->log, &self->cpus));
	/* a module's record that was lost is told as such, not made good */
	if (o->log.proc_dropped)
		TH_LOG("owner %u: lost records, modules are not compared", i);
	else if (self->has_module)
		check_modules(_metadata, &o->log, &self->modules);
	log_free(&o->log);
}

static void storm(META, FIXTURE_DATA(churn) *self, bool cpus, bool modules)
{
	struct cpu_storm *c = &self->cpus;
	struct module_storm *m = &self->modules;
	unsigned int i;

	if (cpus)
		pthread_create(&c->thread, NULL, cpu_storm_body, c);
	if (modules)
		pthread_create(&m->thread, NULL, module_storm_body, m);
	for (i = 0; i < 60000 && (i < STORM_MS || (cpus && c->n < MIN_AWAY) ||
				  (modules && m->loads < MIN_LOADS)); i += 100)
		sleep_ms(100);
	c->stop = true;
	m->stop = true;
	if (cpus)
		pthread_join(c->thread, NULL);
	if (modules)
		pthread_join(m->thread, NULL);
	TH_LOG("%u times a CPU was away (%u refusals), %u times a module there (%u)",
	       c->n, c->failed, m->loads, m->failed);
	EXPECT_LE(cpus ? MIN_AWAY : 0, c->n);
	EXPECT_LE(modules ? MIN_LOADS : 0, m->loads);
	all_run(_metadata, self);
	for (i = 0; i < NOWNERS; i++)
		end_owner(_metadata, self, i);
}

static bool can_switch(const struct cpu_storm *c)
{
	return c->ncpus > 1 && !cpu_set_online(c->cpus[1], false) &&
	       !cpu_set_online(c->cpus[1], true);
}

TEST_F(churn, cpus)
{
	if (!can_switch(&self->cpus))
		SKIP(return, "no CPU can be switched off");
	storm(_metadata, self, true, false);
}

TEST_F(churn, modules)
{
	if (!self->has_module)
		SKIP(return, "no module to load here");
	storm(_metadata, self, false, true);
}

TEST_F(churn, both)
{
	if (!can_switch(&self->cpus))
		SKIP(return, "no CPU can be switched off");
	if (!self->has_module)
		SKIP(return, "no module to load here");
	storm(_metadata, self, true, true);
}

TEST_HARNESS_MAIN
