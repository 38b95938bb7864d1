/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a log has told so far: the processes there are, and what they map.
 */
#ifndef TEST_SPACE_H
#define TEST_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <pmclog_iter.h>

#include "logfile.h"

struct space;

struct space_map {
	uint32_t	pid;
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	char		path[1024];
};

struct space *space_new(void);
void space_free(struct space *sp);
/* Takes in one record, in the order of the log. */
void space_apply(struct space *sp, const struct pmclog_rec *rec);
/* The mapping of @pid around @addr, or NULL; valid until the next record. */
const struct space_map *space_find(struct space *sp, uint32_t pid,
				   uint64_t addr);
/* Whether process and thread have been named. */
bool space_knows_task(const struct space *sp, uint32_t pid, uint32_t tid);

/*
 * Samples of @log in user mode of which nobody had said what is mapped there;
 * *mapped: the others
 */
unsigned int unmapped_samples(struct log *log, unsigned int *mapped);

#endif /* TEST_SPACE_H */
