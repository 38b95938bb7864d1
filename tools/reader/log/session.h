/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes one log of the records of several logs that were written at the same
 * time.
 *
 * Such logs have much in common: each begins with INITIALIZE, the machine and
 * the processes, and has each fork, exec and exit.  The one log has one
 * INITIALIZE, one CLOSELOG with the sum of the accounts, and each fork and exec
 * once, because a second copy would take away what the process has mapped since
 * the first.  All other records that describe the machine and its processes may
 * be repeated.
 *
 * The snapshots of a flight recorder may have the same samples.  Each is there
 * once: those that an earlier snapshot has are left out, and taken off the
 * account.
 *
 * A session is such a group of logs.  A log without others is a session, too:
 * its records stay as they are.
 */
#ifndef READER_SESSION_H
#define READER_SESSION_H

#include <linux/pmclog.h>

#include "log/pmcmap.h"
#include "log/rec.h"

/**
 * struct session_log - a log of the session
 * @closed: its CLOSELOG was read
 * @told:   up to this time samples and losses are in an earlier log, too, and
 *	    are left out; set after session_join()
 * @left:   account of what was left out
 */
struct session_log {
	struct pmcmap ids;
	bool closed;
	uint64_t told;
	struct pmclog_account left;
};

/* A fork or an exec that a log has recorded: @by is the first log that has it. */
struct session_event {
	const struct session_log *by;
	uint32_t pid;
	uint64_t tsc, hash;
};

#define SESSION_EVENTS	4096U	/* remembered, by pid; a power of 2 */

/**
 * struct session
 * @nlogs:   logs that have joined
 * @nclosed: those that were closed
 * @nactive: those that have not left; their ids are the list @ids
 * @maps:    of their ids, and of those that have left
 * @begun:   INITIALIZE was passed on
 * @raw:     ids stay as they are
 * @full:    the logs have more ids of PMCs than PMCMAP_MAX: a record has none
 * @repeated: samples left out so far, in all sessions
 * @sum, @len: account of the closed logs, and length of the shortest CLOSELOG
 * @event:   forks, then execs; allocated when the first log joins others
 */
struct session {
	uint32_t nlogs, nclosed, nactive;
	struct pmcmap *ids;
	struct pmcmaps maps;
	bool begun, raw, full;
	uint64_t repeated;
	struct pmclog_account sum;
	uint32_t len;
	struct session_event *event;
	unsigned char buf[65536];	/* longer than any record */
};

/*
 * A log begins: it joins those that have not left, or begins another session.
 */
void session_join(struct session *s, struct session_log *log);
void session_leave(struct session *s, struct session_log *log);
/* Is this a log in the middle of others?  Then it cannot begin again. */
static inline bool session_shared(const struct session *s)
{
	return s->nactive > 1;
}

/*
 * Adapts a record of @log to the session.  False: the session does not have it.
 * The record may be in the session's memory then, until the next call.
 */
bool session_record(struct session *s, struct session_log *log,
		    struct pmclog_rec *r);
void session_free(struct session *s);

#endif /* READER_SESSION_H */
