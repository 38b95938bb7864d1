/* SPDX-License-Identifier: BSD-2-Clause */
/* What the samples of a log are worth, for those that tell it. */
#ifndef READER_QUALITY_H
#define READER_QUALITY_H

#include "analysis.h"

/* Why samples were lost, and why chains end early; NULL: a cause unheard of. */
extern const char *const lost_causes[PMCLOG_DROP_NCAUSE];
extern const char *const cut_causes[PMCLOG_CUT_NCAUSE];

/**
 * struct nameless - how much of an event has no symbol
 * @samples: whose innermost frame has none
 * @frames:  of @all
 */
struct nameless {
	uint64_t samples, frames, all;
};

struct nameless event_nameless(const struct profile *p, uint32_t event);

/*
 * The objects by how many samples without a name are in them, those of one path
 * added up in the first of them; the caller frees it.
 */
uint32_t *nameless_objects(struct profile *p, uint32_t *n);
/* Why names of it are not known. */
const char *nameless_why(const struct analysis *a, const struct object *o);

#endif /* READER_QUALITY_H */
