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
	uint32_t id;

	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), &id));
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
	free(ev);
}

TEST_HARNESS_MAIN
