/* SPDX-License-Identifier: BSD-2-Clause */
/* DETAIL records: the branches before a sample, and its access to memory. */
#ifndef READER_DETAIL_H
#define READER_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "base/json.h"
#include "log/rec.h"

/**
 * struct detail - a decoded record; all zeros: a sample has none
 * @has:    PMCLOG_DETAIL_*
 * @hidden: branches that are not in the record
 * @branch: its @n branches, for detail_branch(); valid as long as the record
 */
struct detail {
	uint32_t has, hidden, n;
	uint64_t source, weight, addr;
	const unsigned char *branch;
};

/* @rec is a DETAIL. */
struct detail detail_of(const struct pmclog_rec *rec);
/* Does @rec, which is the next record, belong to the sample? */
bool detail_follows(const struct pmclog_rec *sample, const struct pmclog_rec *rec);
/* The branch number @i, 0: the newest */
struct pmclog_branch detail_branch(const struct detail *d, uint32_t i);

/* "predicted", "mispredicted", or "" if the hardware does not say */
const char *detail_prediction(uint64_t flags);
/* What a branch is, as perf names it: "COND", "CALL"; NULL: it is not known */
const char *detail_branch_type(uint64_t flags);
/* Low part of a weight: mostly a latency, in cycles */
#define DETAIL_LATENCY(weight)	((uint32_t)(weight))

#define DETAIL_SOURCE_MAX	48
/* Where data came from, as perf names it: "L1 hit", "Local RAM hit", "N/A" */
void detail_source(uint64_t source, char text[DETAIL_SOURCE_MAX]);
/* "load", "store", "load store" or "" */
const char *detail_access(uint64_t source);

/* detail_json.c: members "branches"; "mem" and "access" */
void detail_json_branches(struct json *j, const struct detail *d);
void detail_json_source(struct json *j, uint64_t source);

#endif /* READER_DETAIL_H */
