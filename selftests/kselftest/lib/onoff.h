/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMCs that RECORD turns on and off, and the records that a log has of it.
 */
#ifndef TEST_ONOFF_H
#define TEST_ONOFF_H

#include "dev.h"
#include "logfile.h"

/* HWPMC_STATE_*, of a PMC of this process; HWPMC_STATE_FREE: there is none. */
uint32_t state_of(int dev, uint32_t id);

/* PMC @id is in that state; in a test with test.h whose fixture has dev. */
#define EXPECT_STATE(id, state) \
	EXPECT_EQ(HWPMC_STATE_##state, state_of(self->dev, id))

#define MAX_RECORDS	8

struct told {
	unsigned int	n;
	struct {
		uint64_t tsc, skew;
		uint32_t on, npmc;
	} r[MAX_RECORDS];
};

/* Fills @t with the first MAX_RECORDS RECORD records of @log. */
void find_told(struct log *log, struct told *t);

#endif /* TEST_ONOFF_H */
