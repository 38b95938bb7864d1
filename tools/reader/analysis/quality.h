/* SPDX-License-Identifier: BSD-2-Clause */
/* The quality of a log's samples: losses, missing names and callers. */
#ifndef READER_QUALITY_H
#define READER_QUALITY_H

#include "analysis/analysis.h"

/**
 * struct nameless - samples and frames of an event without a symbol
 * @samples: samples whose innermost frame has no symbol
 * @frames:  frames without a symbol, of @all
 */
struct nameless {
	uint64_t samples, frames, all;
};

/**
 * struct losses - samples that could not be recorded
 * @by:   by cause
 * @all:  sum of @by
 * @kept: samples that were recorded, wanted or not
 */
struct losses {
	uint64_t by[PMCLOG_DROP_NCAUSE];
	uint64_t all, kept;
};

void losses_add(struct losses *l, const struct event *e);
/* The losses of all events in use. */
struct losses losses_of(const struct analysis *a);
/*
 * "10 (9.09 %): 7 ring full, 3 nested too deep", with @what after the first
 * number; the caller frees it.
 */
char *losses_text(const struct losses *l, const char *what);
/*
 * How many records of processes were lost, why, and what that means for samples;
 * NULL: none was.  The caller frees it.
 */
char *procs_lost_text(const struct profile *p);
/* That the log, or one of the stream, was cut; or NULL.  The caller frees it. */
char *no_end_text(const struct log_facts *log);
/* How many records this reader cannot use; or NULL.  The caller frees it. */
char *unknown_text(const struct log_facts *log);
/* How many samples several logs of a directory have; or NULL.  The caller frees it. */
char *repeated_text(const struct log_facts *log);
/* How many samples the log's end left behind; or NULL.  The caller frees it. */
char *unwritten_text(const struct log_facts *log);
/* The losses and the cut in few words, for views with little room; or NULL. */
char *short_text(const struct profile *p);
/* Prints those that are of the whole log, if there is anything to say. */
void log_tell(const struct profile *p, const char *path);
/*
 * Prints the same and the lost samples, for output formats without a place for
 * them.  Every view calls it, or shows all of this itself.
 */
void losses_tell(const struct analysis *a);

/*
 * A short text about the user chains of the events in @use, for views with
 * little room; NULL if nearly all are whole.  The caller frees it.
 */
char *chains_text(const struct profile *p, const bool *use);
/* Prints the losses and the share of incomplete user chains, if any. */
void chains_tell(const struct analysis *a);

/*
 * Do the numbers of RATE count more than the log has?  They are since the PMC was
 * allocated, and the log may be the last of those of a rotation, or a snapshot.
 */
bool event_rate_is_more(const struct profile *p, uint32_t event,
			const struct event_rate *sum);
/* Are callers of an event's user code missing? */
bool event_misses(const struct profile *p, uint32_t event,
		  const struct ends_sum *sum);
/* Text: how the callers were found; the caller frees it. */
char *event_callers(const struct profile *p, uint32_t event,
		    const struct ends_sum *sum);

struct nameless event_nameless(const struct profile *p, uint32_t event);

/*
 * The objects sorted by their number of samples without a name.  Objects of the
 * same path are added up in the first of them, which gets the reason of most of
 * the samples.  The caller frees it.
 */
uint32_t *nameless_objects(struct profile *p, uint32_t *n);
/* Why names of an object are not known. */
const char *nameless_why(const struct analysis *a, const struct object *o);

#endif /* READER_QUALITY_H */
