/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recorder's snapshots.
 */
#ifndef TEST_SNAPSHOT_H
#define TEST_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "logfile.h"

/**
 * struct snapshot - what the record PMCLOG_EXT_SNAPSHOT of a log says
 * @count: of such records
 * @before: bytes of the log in front of it: what there was to know at the start
 */
struct snapshot {
	unsigned int	count;
	uint64_t	before;
	uint32_t	cause;
	uint32_t	pmcid;
	uint32_t	pid;
	int		status;
	uint64_t	when;
	uint64_t	since;
};

void snapshot_look(struct log *log, struct snapshot *s);

/*
 * Waits until more than @bytes went into @dev's log; false: for a minute nothing
 * has.
 */
bool wait_bytes(int dev, uint64_t bytes);
/* ... for a minute at most, until an armed snapshot has been taken */
bool wait_snapshot(int dev);
/* ... and until a moment of @ms has not brought one */
bool no_snapshot(int dev, unsigned int ms);

#endif /* TEST_SNAPSHOT_H */
