/* SPDX-License-Identifier: BSD-2-Clause */
/* What the samples of a log are worth, for those that tell it. */
#ifndef READER_QUALITY_H
#define READER_QUALITY_H

#include "analysis/analysis.h"

/* Why samples were lost; NULL: a cause unheard of. */
extern const char *const lost_causes[PMCLOG_DROP_NCAUSE];

/**
 * struct nameless - how much of an event has no symbol
 * @samples: whose innermost frame has none
 * @frames:  of @all
 */
struct nameless {
	uint64_t samples, frames, all;
};

/**
 * struct losses - samples that could not be recorded
 * @by:   by cause
 * @all:  sum of these
 * @kept: samples that were, whether they are wanted or not
 */
struct losses {
	uint64_t by[PMCLOG_DROP_NCAUSE];
	uint64_t all, kept;
};

void losses_add(struct losses *l, const struct event *e);
/* Of all events that were asked for. */
struct losses losses_of(const struct analysis *a);
/*
 * "10 (9.09 %): 7 ring full, 3 nested too deep", with @what behind the first
 * number; the caller frees it.
 */
char *losses_text(const struct losses *l, const char *what);
/* Says it, where what is written has no place for it; if there are any. */
void losses_tell(const struct analysis *a);

/*
 * What views without room for more say of user chains, of the events that @use is
 * true for; NULL where nearly all are whole.  The caller frees it.
 */
char *chains_text(const struct profile *p, const bool *use);
/* Says what was lost, and what of user chains is missing, where there is any. */
void chains_tell(const struct analysis *a);

/* Whether callers of an event's user code are missing. */
bool event_misses(const struct profile *p, uint32_t event,
		  const struct ends_sum *sum);
/* What they are known by; the caller frees it. */
char *event_callers(const struct profile *p, uint32_t event,
		    const struct ends_sum *sum);

struct nameless event_nameless(const struct profile *p, uint32_t event);

/*
 * The objects by how many samples without a name are in them, those of one path
 * added up in the first of them; the caller frees it.
 */
uint32_t *nameless_objects(struct profile *p, uint32_t *n);
/* Why names of it are not known. */
const char *nameless_why(const struct analysis *a, const struct object *o);

#endif /* READER_QUALITY_H */
