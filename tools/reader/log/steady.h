/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks that damage has changed.
 *
 * Our logs are in the order of time: a moment that is far from the one before
 * it, and that what follows is not near to, was not written like that.  The
 * record stands where the one before it does.  FreeBSD's logs have an order for
 * each CPU; of those all clocks are believed.
 */
#ifndef READER_STEADY_H
#define READER_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include <pmclog_iter.h>

/**
 * struct steady - of the log that we are in
 * @known: a record was seen: the first at @first, the last at @now
 * @jump:  what is not further from the one before it needs no look
 * @wrong: so many records, of all logs, were not written when they say
 */
struct steady {
	bool known;
	uint64_t first, now, jump;
	uint64_t wrong;
};

/* Does a record follow the one before it so closely that it is right? */
static inline bool steady_goes_on(struct steady *s, const struct pmclog_rec *r)
{
	if (!s->known || r->tsc - s->now > s->jump ||
	    r->type == PMCLOG_T_INITIALIZE)
		return false;
	s->now = r->tsc;
	return true;
}

/*
 * Any other that @it has just handed out is judged by what follows it: was that
 * not read yet?
 */
bool steady_is_alone(const struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r);
/* When it was written. */
uint64_t steady_look(struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r);

#endif /* READER_STEADY_H */
