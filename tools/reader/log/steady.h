/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs timestamps that were damaged.
 *
 * Our logs are in the order of time.  A timestamp that is far from both its
 * neighbours is corrupt; the record is given the previous record's timestamp.
 * FreeBSD's logs are only in order for each CPU; all their timestamps are
 * trusted.
 */
#ifndef READER_STEADY_H
#define READER_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "log/rec.h"

/**
 * struct steady - timestamps of the current log
 * @known: a record was seen: the first at @first, the last at @now
 * @jump:  a timestamp at most so many ticks later than @now is trusted
 * @wrong: number of records with a corrupt timestamp, in all logs
 */
struct steady {
	bool known;
	uint64_t first, now, jump;
	uint64_t wrong;
};

/* Is a record so close behind the previous one that it can be trusted? */
static inline bool steady_goes_on(struct steady *s, const struct pmclog_rec *r)
{
	if (!s->known || r->tsc - s->now > s->jump ||
	    r->type == PMCLOG_T_INITIALIZE)
		return false;
	s->now = r->tsc;
	return true;
}

/*
 * Any other record that @it has just returned is judged by the next one.  Was
 * that not read yet?
 */
bool steady_is_alone(const struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r);
/* The timestamp of the record, repaired if it is corrupt. */
uint64_t steady_look(struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r);

#endif /* READER_STEADY_H */
