// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "log/record.h"
#include "log/session.h"

/*
 * A log that begins while others are written repeats forks and execs of the
 * time in which its recorder collected the processes.  Ticks are nanoseconds:
 * logs of other clocks are not merged.
 */
#define REPEATED_WITHIN	10000000000ULL

static void begin(struct session *s)
{
	s->nlogs = s->nclosed = 0;
	s->begun = false;
	pmcmaps_free(&s->maps);
	s->len = sizeof(struct pmclog_closelog);
	memset(&s->sum, 0, sizeof(s->sum));
}

void session_join(struct session *s, struct session_log *log)
{
	if (!s->nactive)
		begin(s);
	else if (!s->event)
		s->event = xcalloc(2 * SESSION_EVENTS, sizeof(*s->event));
	*log = (struct session_log){ .ids.next = s->ids };
	s->ids = &log->ids;
	s->nlogs++;
	s->nactive++;
}

static void forget_events(struct session *s, const struct session_log *log)
{
	size_t i;

	for (i = 0; s->event && i < 2 * SESSION_EVENTS; i++)
		if (s->event[i].by == log)
			s->event[i].by = NULL;
}

void session_leave(struct session *s, struct session_log *log)
{
	struct pmcmap **at = &s->ids;

	while (*at != &log->ids)
		at = &(*at)->next;
	*at = log->ids.next;
	pmcmap_leave(&log->ids, &s->maps);
	/* its memory may be that of another log later */
	forget_events(s, log);
	s->nactive--;
}

void session_free(struct session *s)
{
	free(s->event);
	s->event = NULL;
	pmcmaps_free(&s->maps);
}

/* ------------------------------------------------------------------------
 * INITIALIZE and CLOSELOG
 */
static bool initialize(struct session *s, struct session_log *log)
{
	bool first = !s->begun;

	/* a file may have several logs in a row */
	if (s->nactive == 1 && s->begun) {
		pmcmap_clear(&log->ids, &s->maps);
		log->closed = false;
		begin(s);
		s->nlogs = 1;
		first = true;
	}
	s->begun = true;
	return first;
}

static void take_off(struct pmclog_account *a,
		     const struct pmclog_account *left)
{
	__u64 *n = (__u64 *)a;
	const __u64 *less = (const __u64 *)left;
	size_t i;

	/* the account consists of numbers of this size only */
	for (i = 0; i < sizeof(*a) / sizeof(*n); i++)
		n[i] -= less[i] < n[i] ? less[i] : n[i];
}

/* The last of several logs to end has the account of all. */
static bool closelog(struct session *s, struct session_log *log,
		     struct pmclog_rec *r)
{
	struct pmclog_closelog sum;
	struct pmclog_account one;

	if (!log->closed)
		s->nclosed++;
	log->closed = true;
	if (!record_account(r, &one))
		s->len = sizeof(struct pmclog_hdr);
	else if (r->len < s->len)
		s->len = r->len;
	take_off(&one, &log->left);
	record_account_add(&s->sum, &one);
	if (s->nlogs == 1 && !log->told)
		return true;
	/* without the account of a log that was cut, the sum is not known */
	if (s->nactive > 1 || s->nclosed < s->nlogs)
		return false;
	sum = (struct pmclog_closelog){
		.h = { .header = PMCLOG_HEADER(PMCLOG_T_CLOSELOG, s->len),
		       .tsc = pmclog_get64(r->data +
					   offsetof(struct pmclog_hdr, tsc)) },
		.account = s->sum,
	};
	memcpy(s->buf, &sum, s->len);
	r->data = s->buf;
	r->len = s->len;
	return true;
}

/* ------------------------------------------------------------------------
 * What an earlier log has, too
 */
static void leave_sample(struct pmclog_account *left, uint32_t flags)
{
	int i;

	left->overflows++;
	left->committed++;
	left->written++;
	left->late += !!(flags & PMCLOG_CC_USERLATE);
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		left->cut_by[i] += !!(flags & PMCLOG_CC_CUT(i));
	left->cut += flags & PMCLOG_CC_CUT_ANY && !(flags & PMCLOG_CC_USERLATE);
}

static void leave_losses(struct pmclog_account *left,
			 const struct pmclog_rec *r)
{
	uint32_t cause;
	uint64_t n;

	if (r->len < sizeof(struct pmclog_dropnotify))
		return;
	cause = REC32(r, dropnotify, cause);
	n = REC64(r, dropnotify, count);
	if (REC32(r, dropnotify, pmcid) == PMCLOG_PMCID_NONE) {
		left->proc_dropped += n;
	} else if (cause < PMCLOG_DROP_NCAUSE) {
		left->overflows += n;
		left->dropped[cause] += n;
	}
}

/* Leaves out a sample or a loss; records of processes are needed again. */
static bool leave(struct session *s, struct session_log *log,
		  const struct pmclog_rec *r)
{
	uint32_t subtype = pmclog_iter_ext_subtype(r);

	s->repeated += r->type == PMCLOG_T_CALLCHAIN;
	if (r->type == PMCLOG_T_CALLCHAIN)
		leave_sample(&log->left, PMCLOG_CC_FLAGS(REC32(r, callchain, cpuflags)));
	else if (r->type == PMCLOG_T_DROPNOTIFY)
		leave_losses(&log->left, r);
	else if (subtype == PMCLOG_EXT_USERCHAIN)
		log->left.late_answered++;
	else if (subtype != PMCLOG_EXT_RAW && subtype != PMCLOG_EXT_DETAIL &&
		 subtype != PMCLOG_EXT_SAMPLES)
		return false;
	return true;
}

/* ------------------------------------------------------------------------
 * Forks and execs
 */

/* Did another log tell this already? */
static bool is_repeated(struct session *s, const struct session_log *log,
			const struct pmclog_rec *r, bool exec, uint32_t pid,
			uint64_t hash)
{
	struct session_event *e = &s->event[pid % SESSION_EVENTS +
					    (exec ? SESSION_EVENTS : 0)];

	if (e->by && e->by != log && e->pid == pid && e->hash == hash &&
	    r->tsc - e->tsc <= REPEATED_WITHIN)
		return true;
	*e = (struct session_event){
		.by = log, .pid = pid, .tsc = r->tsc, .hash = hash,
	};
	return false;
}

static bool process(struct session *s, const struct session_log *log,
		    const struct pmclog_rec *r)
{
	size_t at = offsetof(struct pmclog_procexec, base);

	if (r->type == PMCLOG_T_PROCEXEC)
		return !is_repeated(s, log, r, true, REC32(r, procexec, pid),
				    hash_bytes(r->data + at, r->len - at, 0));
	if (r->type == PMCLOG_T_PROCFORK)
		return !is_repeated(s, log, r, false, REC32(r, procfork, newpid),
				    REC32(r, procfork, oldpid));
	return true;
}

/* ------------------------------------------------------------------------
 * PMC ids
 */

/* False: no id is left that no other PMC has. */
static bool rename_pmc(struct session *s, struct session_log *log,
		       struct pmclog_rec *r)
{
	size_t at = record_pmcid_at(r);
	uint32_t from, to;

	if (!at || at + sizeof(from) > r->len)
		return true;
	from = pmclog_get32(r->data + at);
	if (from == PMCLOG_PMCID_NONE)
		return true;
	if (!pmcmap_id(&log->ids, s->ids, from, &s->maps, &to))
		return false;
	if (to == from)
		return true;
	memcpy(s->buf, r->data, r->len);
	memcpy(s->buf + at, &to, sizeof(to));
	r->data = s->buf;
	return true;
}

static bool announces(const struct pmclog_rec *r)
{
	return r->type == PMCLOG_T_PMCALLOCATE ||
	       r->type == PMCLOG_T_PMCALLOCATEDYN;
}

bool session_record(struct session *s, struct session_log *log,
		    struct pmclog_rec *r)
{
	if (r->type == PMCLOG_T_INITIALIZE)
		return initialize(s, log);
	if (r->type == PMCLOG_T_CLOSELOG)
		return closelog(s, log, r);
	if (r->tsc <= log->told && leave(s, log, r))
		return false;
	/* the ids of a first log are needed when another one joins */
	if (!s->raw && (s->nlogs > 1 || announces(r)) && !rename_pmc(s, log, r))
		s->full = s->nlogs > 1;
	return !s->full && (s->nlogs == 1 || process(s, log, r));
}
