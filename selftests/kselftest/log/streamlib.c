// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device, by the libraries that programs have.
 */
#include <pmc.h>
#include <pmclog.h>

#include "test.h"

#define SMALL	(64 << 10)	/* the shortest queue there is */

/* The library, on the device as on any other file. */
TEST(iterator)
{
	enum pmclog_iter_status st = PMCLOG_ITER_RECORD;
	struct pmclog_rec rec;
	struct pmclog_iter *it;
	unsigned int n = 0;
	int dev = dev_open();

	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), NULL));
	it = pmclog_iter_fd(dev);
	while (n < 300 && st == PMCLOG_ITER_RECORD) {
		st = pmclog_iter_next(it, &rec);
		n += st == PMCLOG_ITER_RECORD &&
		     rec.type == PMCLOG_T_CALLCHAIN;
	}
	ASSERT_EQ(PMCLOG_ITER_RECORD, st)
		TH_LOG("%s", pmclog_iter_error(it, NULL));
	ASSERT_EQ(0, dev_closelog(dev));
	while ((st = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD)
		n = rec.type;
	EXPECT_EQ(PMCLOG_ITER_EOF, st);
	EXPECT_EQ(PMCLOG_T_CLOSELOG, n);
	pmclog_iter_close(it);
	close(dev);
}

/* libpmc, and what programs for FreeBSD read with. */
TEST(libpmc)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts),
		.mode = PMC_MODE_SS,
		.cpu = PMC_CPU_ALL,
		.flags = PMC_F_CALLCHAIN,
		.count = 1000000,
	};
	struct pmc_owner *owner = pmc_owner_open(0);
	struct pmclog_ev *ev = malloc(sizeof(*ev));
	unsigned int n = 0;
	void *parser;
	pmc_id_t id;

	ASSERT_NE(NULL, owner);
	EXPECT_EQ(-1, pmc_owner_stream(owner, 1, 0));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmc_owner_stream(owner, SMALL, PMC_LOG_PACKED));
	ASSERT_EQ(0, pmc_owner_allocate(owner, "cpu-clock", &opts, &id));
	ASSERT_EQ(0, pmc_owner_start(owner, id));
	parser = pmclog_open(pmc_owner_fd(owner));
	ASSERT_NE(NULL, parser);
	while (n < 200 && !pmclog_read(parser, ev))
		n += ev->pl_type == PMCLOG_TYPE_CALLCHAIN;
	EXPECT_EQ(200, n);
	ASSERT_EQ(0, pmc_owner_close_logfile(owner));
	while (!pmclog_read(parser, ev))
		;
	EXPECT_EQ(PMCLOG_EOF, ev->pl_state);
	pmclog_close(parser);
	pmc_owner_close(owner);
}

/* A PMC with a rate of its own, and how many samples each CPU has */
struct rate {
	struct pmc_owner	*owner;
	struct pmclog_iter	*it;
	pmc_id_t		id;
	uint64_t		period;		/* as the log has it */
	unsigned int		n[LOG_MAX_CPU];
};

static bool rate_begin(struct rate *r, const char *spec, int cpu)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts),
		.mode = PMC_MODE_SS,
		.cpu = cpu,
	};

	*r = (struct rate){};
	r->owner = pmc_owner_open(0);
	if (!r->owner || pmc_owner_stream(r->owner, 0, 0) ||
	    pmc_owner_allocate(r->owner, spec, &opts, &r->id) ||
	    pmc_owner_start(r->owner, r->id))
		return false;
	r->it = pmclog_iter_fd(pmc_owner_fd(r->owner));
	return r->it;
}

/* Reads until it has @enough samples. */
static bool rate_read(struct rate *r, unsigned int enough)
{
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	while (n < enough) {
		if (pmclog_iter_next(r->it, &rec) != PMCLOG_ITER_RECORD)
			return false;
		if (rec.type == PMCLOG_T_PMCALLOCATEDYN)
			r->period = REC64(&rec, pmcallocatedyn, rate);
		if (!log_sample(&rec, &s) || s.pmcid != r->id)
			continue;
		r->n[s.cpu]++;
		n++;
	}
	return true;
}

static void rate_end(struct rate *r)
{
	pmclog_iter_close(r->it);
	pmc_owner_close(r->owner);
}

/* dt's probe: so many samples a second, on each CPU. */
TEST(profile)
{
	pid_t load[2] = { load_user(0), load_user(1) };
	uint64_t began = now_ns(), turns;
	struct rate r;

	ASSERT_TRUE(rate_begin(&r, "profile:hz:50", PMC_CPU_ALL));
	EXPECT_TRUE(rate_read(&r, 40));
	EXPECT_EQ(NSEC / 50, r.period);
	/* what an emulated CPU sleeps through is lost: no more than that */
	turns = (now_ns() - began) / (NSEC / 50) + 2;
	EXPECT_GE(turns, r.n[0]);
	EXPECT_GE(turns, r.n[1]);
	EXPECT_LT(0, r.n[0]);
	EXPECT_LT(0, r.n[1]);
	rate_end(&r);
	load_end(load[0]);
	load_end(load[1]);
}

/* ... and on one CPU, which pmc_event_cpus() names */
TEST(interval)
{
	struct pmc_event_desc desc;
	pid_t load = load_user(0);
	struct rate r;
	char list[80];

	ASSERT_EQ(0, pmc_event_parse("interval:ms:20", &desc, NULL, 0));
	EXPECT_TRUE(desc.flags & PMC_EVENT_ONE_CPU);
	ASSERT_EQ(1, pmc_event_cpus(&desc, list, sizeof(list)));
	EXPECT_STREQ("0", list);
	ASSERT_TRUE(rate_begin(&r, "interval:ms:20", atoi(list)));
	EXPECT_TRUE(rate_read(&r, 20));
	EXPECT_EQ(20 * MSEC, r.period);
	EXPECT_EQ(20, r.n[0]);
	rate_end(&r);
	load_end(load);
}

/* What dt's reader gets of an event: probe, CPU, pid, tid, time, name, stack. */
TEST(event)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	unsigned int n = 0, named = 0;
	pid_t pid = load_user(1);
	struct pmclog_iter *it;
	struct pmclog_rec rec;
	char comm[32] = "";
	uint64_t began;
	struct sample s;
	char path[40];
	int dev = dev_open();

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	ASSERT_TRUE(read_line(path, comm, sizeof(comm)));
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	began = raw_ns();
	ASSERT_EQ(0, dev_run(dev, a, &a.id));
	it = pmclog_iter_fd(dev);
	while (n < 50) {
		ASSERT_EQ(PMCLOG_ITER_RECORD, pmclog_iter_next(it, &rec));
		if (rec.type == PMCLOG_T_PROC_CREATE &&
		    REC32(&rec, proc_create, pid) == (uint32_t)pid)
			named += !strcmp(REC_TEXT(&rec, proc_create, comm), comm);
		if (!log_sample(&rec, &s) || s.pid != (uint32_t)pid)
			continue;
		n++;
		EXPECT_EQ(1, named);
		EXPECT_EQ(a.id, s.pmcid);
		EXPECT_EQ(1, s.cpu);
		EXPECT_EQ(pid, s.tid);
		EXPECT_LT(began, s.tsc);
		EXPECT_GT(raw_ns(), s.tsc);
		EXPECT_LT(0, s.npc);
		EXPECT_EQ(s.user, !addr_is_kernel(s.pc[0]));
	}
	pmclog_iter_close(it);
	close(dev);
	load_end(pid);
}

TEST_HARNESS_MAIN
