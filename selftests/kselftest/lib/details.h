/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a log has of the branches and of the access to memory of its samples.
 */
#ifndef TEST_DETAILS_H
#define TEST_DETAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfile.h"

/* A sample's DETAIL, decoded; @has 0: it has none. */
struct detail {
	uint32_t	has;
	uint32_t	hidden;
	uint64_t	source;
	uint64_t	weight;
	uint64_t	addr;
	unsigned int	n;
	struct pmclog_branch branch[PMCLOG_BRANCH_MAX];
};

/* Whether @rec is a DETAIL; then it is decoded. */
bool log_detail(const struct pmclog_rec *rec, struct detail *d);

/*
 * Calls @fn for each sample of @pmcid, with what follows it.  Returns how many DETAILs
 * do not follow their sample.
 */
unsigned int log_details(struct log *log, uint32_t pmcid,
			 void (*fn)(void *arg, const struct sample *s,
				    const struct detail *d), void *arg);

#endif /* TEST_DETAILS_H */
