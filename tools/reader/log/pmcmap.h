/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PMC ids of a log in a stream that has records of other logs, too.
 *
 * An id is the number of a PMC in its own log.  Another log may have the same
 * id for another PMC, which then has another id in the stream.
 */
#ifndef READER_PMCMAP_H
#define READER_PMCMAP_H

#include "base/idtab.h"

/*
 * Ids of the logs of one time: recorders do not have so many PMCs.  They are few
 * of those that a mode and class has, so a free one is soon found.
 */
#define PMCMAP_MAX	65536U
#define PMCMAP_PAST	4096U	/* remembered of logs that have ended */

/* id @from of the log is id @to of the stream */
struct pmcmap_id {
	uint32_t from, to;
};

/* the same of a log that has ended; @owner: its recorder */
struct pmcmap_past {
	uint32_t owner, from, to;
};

/**
 * struct pmcmaps - what the logs of a stream share
 * @n_ids:  ids of the logs that have not ended
 * @chosen: number of the last id that was made up for any of them
 * @past:   ids of logs that have ended: the next log of their recorder gets them
 */
struct pmcmaps {
	uint32_t n_ids, chosen;
	struct pmcmap_past *past;
	uint32_t n, cap;
};

/**
 * struct pmcmap - one log
 * @owner: its recorder; 0: not known
 * @next: the other logs of the stream
 * @last: number of the pair that was looked up last
 */
struct pmcmap {
	struct pmcmap *next;
	uint32_t owner;
	struct pmcmap_id *id;
	uint32_t n, cap, last;
	struct idtab from, to;
};

/*
 * Sets *@to to the id of the stream for id @from of @m.  @all: all logs of the
 * stream.  False: they have PMCMAP_MAX ids.
 */
bool pmcmap_id(struct pmcmap *m, const struct pmcmap *all, uint32_t from,
	       struct pmcmaps *maps, uint32_t *to);
/* The log has ended. */
void pmcmap_leave(struct pmcmap *m, struct pmcmaps *maps);
/* It begins again. */
void pmcmap_clear(struct pmcmap *m, struct pmcmaps *maps);
void pmcmaps_free(struct pmcmaps *maps);

#endif /* READER_PMCMAP_H */
