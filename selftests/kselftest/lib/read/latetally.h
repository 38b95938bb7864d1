/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a log, and the user chains that came later. */
#ifndef TEST_LATETALLY_H
#define TEST_LATETALLY_H

#include <sys/types.h>

#include "logfile.h"
#include "symbols.h"

struct late_tally {
	unsigned int	samples;	/* of the process */
	unsigned int	late;		/* with the flag */
	unsigned int	whole_at_once;	/* without it, to the outermost frame */
	unsigned int	lied;		/* with it, but whole all the same */
	unsigned int	joined;
	unsigned int	whole;		/* of these */
	unsigned int	at;		/* of these, in the function asked for */
	unsigned int	whole_at;	/* and whole */
	unsigned int	answers;	/* USERCHAINs of the process */
	/*
	 * Not joined, although an answer to later samples has come; those in the
	 * kernel that were called from another function than the one asked for
	 * are counted apart.
	 */
	unsigned int	passed_over;
	unsigned int	passed_over_elsewhere;
};

/*
 * Counts the samples of process @pid, which runs late_root() (latechain.c).
 * @at: the sampled function; NULL: any
 */
void late_tally(struct late_tally *t, struct log *log, pid_t pid,
		const struct symbols *sy, const char *at);

#define LOG_TALLY(t)							\
	TH_LOG("%u samples: %u whole at once, %u late; %u answers to %u, %u whole, %u where asked for; %u + %u passed over", \
	       (t)->samples, (t)->whole_at_once, (t)->late, (t)->answers,	\
	       (t)->joined, (t)->whole, (t)->at, (t)->passed_over,		\
	       (t)->passed_over_elsewhere)

#endif /* TEST_LATETALLY_H */
