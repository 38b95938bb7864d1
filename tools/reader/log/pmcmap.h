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
 * Further ids of a log stay as they are; a recorder does not have so many PMCs.
 */
#define PMCMAP_MAX	65536U

/* id @from of the log is id @to of the stream */
struct pmcmap_id {
	uint32_t from, to;
};

/**
 * struct pmcmap - one log
 * @next: the other logs of the stream
 * @last: number of the pair that was looked up last
 */
struct pmcmap {
	struct pmcmap *next;
	struct pmcmap_id *id;
	uint32_t n, cap, last;
	struct idtab from, to;
};

/*
 * Id of the stream for id @from of @m.  @all: all logs of the stream; *@chosen:
 * number of the last id that was made up for any of them.
 */
uint32_t pmcmap_id(struct pmcmap *m, const struct pmcmap *all, uint32_t from,
		   uint32_t *chosen);
void pmcmap_free(struct pmcmap *m);

#endif /* READER_PMCMAP_H */
