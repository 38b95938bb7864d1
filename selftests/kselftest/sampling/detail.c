// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches, and accesses to memory, of samples: record by record what the PMU has
 * made, and no address that the owner may not see.  Where the PMU is there that makes
 * them (selftests/nmipmu).
 */
#include "details.h"
#include "recorder.h"
#include "snapshot.h"
#include "target.h"
#include "test.h"
#include "user.h"

/* The PMU's terms */
#define BRANCHES(n)	((uint64_t)(n) << 8)
#define LEAK		(1U << 15)
#define DATA		(1U << 16)
#define LEAK_TO		0xffffffff81234560ULL

#define ANY		PERF_SAMPLE_BRANCH_ANY
#define USER		1000

FIXTURE(detail)
{
	int dev;
	int file;
	pid_t user;
	pid_t kernel;
	struct log log;
};

FIXTURE_SETUP(detail)
{
	if (!perf_can_skid())
		SKIP(return, "no PMU here that has branches");
	self->user = load_user(0);
	self->kernel = load_kernel(1);
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->log = (struct log){};
}

FIXTURE_TEARDOWN(detail)
{
	close(self->dev);
	load_end(self->user);
	load_end(self->kernel);
}

/* Samples of the system with what @config of the PMU adds to them */
static struct hwpmc_allocate sampler(uint64_t config)
{
	struct hwpmc_allocate a = pmc_sampler(PERF_TYPE_RAW, config,
					      scaled(2000000, 10000000));

	if (config & DATA)
		a.flags |= HWPMC_F_DATA;
	if (config & BRANCHES(127)) {
		a.flags |= HWPMC_F_BRANCH;
		a.branch = ANY;
	}
	return a;
}

/**
 * struct right - what is expected, and how many samples have it
 * @n:      branches that the PMU has
 * @hides:  the second of them is not in the log, nor is the access' address
 * @leaks:  the second of them goes to the kernel
 */
struct right {
	unsigned int	n;
	bool		data;
	bool		hides;
	bool		leaks;
	unsigned int	samples;
	unsigned int	right;
	unsigned int	user;
};

static bool is_branch(const struct pmclog_branch *b, uint64_t ip, unsigned int i,
		      bool leaks)
{
	uint64_t from = ip - 16 * (i + 1);

	return b->from == from &&
	       b->to == (leaks && i == 1 ? LEAK_TO : from + 8) &&
	       (b->flags & 3) == (i & 1 ? PMCLOG_BRANCH_MISPRED :
					  PMCLOG_BRANCH_PREDICTED) &&
	       PMCLOG_BRANCH_CYCLES(b->flags) == i &&
	       PMCLOG_BRANCH_TYPE(b->flags) == PERF_BR_COND;
}

static bool has_branches(const struct right *r, const struct sample *s,
			 const struct detail *d)
{
	unsigned int shown = r->n < PMCLOG_BRANCH_MAX ? r->n : PMCLOG_BRANCH_MAX;
	unsigned int i, at = 0;

	for (i = 0; i < shown; i++) {
		if (r->hides && i == 1)
			continue;
		if (!is_branch(&d->branch[at++], s->pc[0], i, r->leaks))
			return false;
	}
	return d->n == at && d->hidden == r->n - at &&
	       !(d->has & PMCLOG_DETAIL_BRANCHES) == !r->n;
}

static bool has_access(const struct right *r, const struct sample *s,
		       const struct detail *d)
{
	bool near = s->pc[0] & 16;
	uint64_t level = near ? PERF_MEM_S(LVL, L2) : PERF_MEM_S(LVL, LOC_RAM);
	uint32_t has = PMCLOG_DETAIL_SOURCE | PMCLOG_DETAIL_WEIGHT |
		       (r->hides ? 0 : PMCLOG_DETAIL_ADDR);

	if (!r->data)
		return !(d->has & ~PMCLOG_DETAIL_BRANCHES) && !d->source &&
		       !d->weight && !d->addr;
	return (d->has & ~PMCLOG_DETAIL_BRANCHES) == has &&
	       d->source == (PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | level) &&
	       d->weight == ((near ? 14 : 300) | 3ULL << 32) &&
	       (r->hides ? !d->addr : r->leaks ? d->addr == LEAK_TO : !!d->addr);
}

static void look(void *arg, const struct sample *s, const struct detail *d)
{
	struct right *r = arg;

	r->samples++;
	r->user += s->user;
	r->right += has_branches(r, s, d) && has_access(r, s, d);
}

static void check_log(META, struct log *log, uint32_t id, struct right r)
{
	EXPECT_EQ(0, log_details(log, id, look, &r));
	TH_LOG("%u samples, %u of user mode, %u right", r.samples, r.user, r.right);
	EXPECT_LT(20, r.samples);
	EXPECT_EQ(r.samples, r.right);
}

static void end_log(META, FIXTURE_DATA(detail) *self)
{
	END_LOG(self->dev, self->file, &self->log, LOG_DROPS);
}

static void sample(META, FIXTURE_DATA(detail) *self, struct hwpmc_allocate a,
		   uint32_t flags, uint32_t *id)
{
	ASSERT_EQ(0, dev_configure_flags(self->dev, self->file, flags));
	ASSERT_EQ(0, dev_run(self->dev, a, id));
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, *id));
	end_log(_metadata, self);
}

TEST_F(detail, of_the_system)
{
	uint32_t id;

	sample(_metadata, self, sampler(BRANCHES(4) | DATA), 0, &id);
	check_log(_metadata, &self->log, id, (struct right){ .n = 4, .data = true });
	EXPECT_LT(0, self->log.user);
	EXPECT_LT(0, self->log.kernel);
}

TEST_F(detail, of_a_process)
{
	struct hwpmc_allocate a = sampler(BRANCHES(16) | DATA);
	uint32_t id;

	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->user, &id));
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	end_log(_metadata, self);
	check_log(_metadata, &self->log, id, (struct right){ .n = 16, .data = true });
}

/* One is asked for: only that is there. */
TEST_F(detail, one_of_both)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4) | DATA);
	uint32_t id, other;

	a.flags &= ~HWPMC_F_DATA;
	BEGIN_LOG(self->dev, self->file, a, &id);
	a = sampler(DATA);
	ASSERT_EQ(0, dev_run(self->dev, a, &other));
	ASSERT_TRUE(wait_committed(self->dev, 400));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_stop(self->dev, other));
	end_log(_metadata, self);
	check_log(_metadata, &self->log, id, (struct right){ .n = 4 });
	check_log(_metadata, &self->log, other, (struct right){ .data = true });
}

/* Nothing is asked for, or the PMU has nothing: no record. */
TEST_F(detail, none)
{
	struct hwpmc_allocate a = sampler(0);
	uint32_t id, other;
	struct detail d;

	a.config = BRANCHES(4) | DATA;
	BEGIN_LOG(self->dev, self->file, a, &id);
	a.config = 0;
	a.flags |= HWPMC_F_DATA;
	ASSERT_EQ(0, dev_run(self->dev, a, &other));
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_stop(self->dev, other));
	end_log(_metadata, self);
	EXPECT_EQ(0, COUNT_RECORDS(&self->log, rec, log_detail(&rec, &d)));
	EXPECT_LT(0, log_samples(&self->log, .pmcid = id));
	EXPECT_LT(0, log_samples(&self->log, .pmcid = other));
}

/* Hardware that takes no notice of modes, for root: all is there. */
TEST_F(detail, kernel_addresses)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4) | LEAK | DATA);
	uint32_t id;

	sample(_metadata, self, a, 0, &id);
	check_log(_metadata, &self->log, id,
		  (struct right){ .n = 4, .data = true, .leaks = true });
}

/* ... for a PMC of user mode, also root's: not what is the kernel's. */
TEST_F(detail, hidden)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4) | LEAK | DATA);
	uint32_t id;

	a.caps = HWPMC_CAP_USER;
	sample(_metadata, self, a, 0, &id);
	check_log(_metadata, &self->log, id,
		  (struct right){ .n = 4, .data = true, .hides = true });
	EXPECT_EQ(0, self->log.kernel);
}

/* Root may have the kernel's branches of a PMC of user mode. */
TEST_F(detail, asked_for)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4) | LEAK);
	uint32_t id;

	a.caps = HWPMC_CAP_USER;
	a.branch |= PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL;
	sample(_metadata, self, a, 0, &id);
	check_log(_metadata, &self->log, id, (struct right){ .n = 4, .leaks = true });
}

/* A user's process, which samples itself.  Returns what it exits with. */
static int sample_oneself(struct hwpmc_allocate a, int file)
{
	int dev;

	if (!user_stay(USER))
		return 1;
	dev = dev_open();
	if (dev < 0 || dev_configure(dev, file))
		return 2;
	a.branch = ANY | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL;
	if (dev_allocate(dev, &a) != -EPERM)
		return 3;
	a.branch = ANY | PERF_SAMPLE_BRANCH_HV;
	if (dev_allocate(dev, &a) != -EPERM)
		return 4;
	a.caps = HWPMC_CAP_USER;
	if (dev_allocate(dev, &a) != -EPERM)
		return 5;
	a.caps = 0;
	a.branch = ANY;
	if (dev_allocate(dev, &a) || dev_attach(dev, a.id, 0) ||
	    dev_start(dev, a.id))
		return 6;
	compute_ms(2000);
	return dev_stop(dev, a.id) || dev_closelog(dev) ? 7 : 0;
}

/* A user without privilege has branches of user mode, and no address of the kernel. */
TEST_F(detail, without_privilege)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4) | LEAK | DATA);
	struct right r = { .n = 4, .data = true, .hides = true };
	struct pmclog_rec rec;
	uint32_t id = 0;

	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	ASSERT_EQ(0, chmod(DEV_PATH, 0666));
	EXPECT_EQ(0, IN_CHILD(sample_oneself(a, self->file)));
	ASSERT_EQ(0, chmod(DEV_PATH, 0600));
	LOAD_LOG(&self->log, self->file, LOG_DROPS);
	LOG_FOR_EACH(&self->log, rec)
		if (rec.type == PMCLOG_T_PMCALLOCATEDYN)
			id = REC32(&rec, pmcallocatedyn, pmcid);
	check_log(_metadata, &self->log, id, r);
	EXPECT_EQ(0, log_kernel_addresses(&self->log));
}

TEST_F(detail, more_than_a_record_has)
{
	uint32_t id;

	sample(_metadata, self, sampler(BRANCHES(100)), 0, &id);
	check_log(_metadata, &self->log, id, (struct right){ .n = 100 });
}

/* Their samples are not packed. */
TEST_F(detail, packed)
{
	uint32_t id;

	sample(_metadata, self, sampler(BRANCHES(4) | DATA), HWPMC_LOG_PACKED, &id);
	check_log(_metadata, &self->log, id, (struct right){ .n = 4, .data = true });
}

/* A sample and its DETAIL are in the same log. */
TEST_F(detail, rotated)
{
	struct hwpmc_allocate a = sampler(BRANCHES(64) | DATA);
	struct right r = { .n = 64, .data = true };
	int next = temp_file();
	struct log log;
	uint32_t id;

	BEGIN_LOG(self->dev, self->file, a, &id);
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_rotate(self->dev, next));
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	end_log(_metadata, self);
	check_log(_metadata, &self->log, id, r);
	LOAD_LOG(&log, next, LOG_DROPS);
	check_log(_metadata, &log, id, r);
}

TEST_F(detail, stream)
{
	struct right r = { .n = 64, .data = true };
	struct reader reader;
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	reader_begin(&reader, self->dev, 8192, 0);
	ASSERT_EQ(0, dev_run(self->dev, sampler(BRANCHES(64) | DATA), &id));
	ASSERT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&reader);
	ASSERT_LOG(&reader.log, LOG_DROPS);
	check_log(_metadata, &reader.log, id, r);
}

/* A flight recorder forgets a sample and its DETAIL together. */
TEST_F(detail, flight)
{
	const uint64_t size = 256 << 10;
	struct right r = { .n = 32, .data = true };
	uint32_t id;

	ASSERT_EQ(0, dev_flight(self->dev, size, 0));
	ASSERT_EQ(0, dev_run(self->dev, sampler(BRANCHES(32) | DATA), &id));
	ASSERT_TRUE(wait_bytes(self->dev, 2 * size));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_snapshot(self->dev, self->file, 0));
	LOAD_LOG(&self->log, self->file, LOG_DROPS);
	check_log(_metadata, &self->log, id, r);
}

/* The PMU grants 2 of perf's 3 steps. */
TEST_F(detail, precise)
{
	struct hwpmc_allocate a = sampler(0);

	a.caps = HWPMC_CAP_PRECISE;
	a.precise = 77;
	EXPECT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(2, a.precise);
	a.caps = 0;
	EXPECT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(0, a.precise);
}

static int refused(int dev, struct hwpmc_allocate a)
{
	return dev_allocate(dev, &a);
}

/* By the PMU, which has no branches without its term */
TEST_F(detail, refused)
{
	struct hwpmc_allocate a = sampler(BRANCHES(4));

	a.config = 0;
	EXPECT_EQ(-EOPNOTSUPP, refused(self->dev, a));
	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	EXPECT_EQ(-EOPNOTSUPP, refused(self->dev, a));
}

TEST_HARNESS_MAIN
