// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pmclog.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/say.h"
#include "log/input.h"
#include "log/logdir.h"
#include "log/merge.h"
#include "log/session.h"

#define NSEC_PER_SEC	1000000000

/*
 * Two logs of one boot agree so well on the time of day at a moment of their
 * clock, and logs of two machines or boots are known to overlap if they do for
 * longer.
 */
#define AGREE		(2LL * NSEC_PER_SEC)

/**
 * struct member - a log that is open
 * @head:   its next record
 * @key:    time of @head; never decreases
 * @tsc, @wall: the latest moment known on the log's clock and the wall clock
 * @begun:  its INITIALIZE was read
 * @snapshot: it is one of a flight recorder
 */
struct member {
	struct input in;
	struct session_log log;
	const struct logdir_log *file;
	struct pmclog_rec head;
	uint64_t key;
	uint64_t tsc;
	int64_t wall;
	bool begun, snapshot;
};

/**
 * struct merge
 * @next:    number of the first log that was not opened
 * @member:  the open logs, in the order of their beginnings
 * @current: member of the record returned last; NULL: none, or it ended
 * @before:  the next log waits for the end of this one; NULL: for none
 * @limit:   up to this time all records are those of @current
 * @format, @name: of the log of the record returned last
 * @nbad:    logs that are damaged, or could not be read to their end
 * @error:   the final error
 * @wrong:   repaired timestamps
 * @bytes:   of the logs closed so far
 */
struct merge {
	struct logdir dir;
	uint32_t next;
	struct member **member;
	uint32_t n, cap;
	struct member *current, *before;
	uint64_t limit;
	struct session session;
	struct pmclog_format format;
	const char *name;
	bool repairs, raw, stopped;
	uint32_t nbad;
	char *error;
	uint64_t serial, wrong, bytes;
};

/* ------------------------------------------------------------------------
 * Members
 */
static void note_record(struct merge *m, struct member *b)
{
	const struct pmclog_rec *r = &b->head;
	uint32_t subtype = pmclog_iter_ext_subtype(r);
	uint64_t tsc, wall;

	if (subtype == PMCLOG_EXT_SNAPSHOT)
		b->snapshot = true;
	if (subtype != PMCLOG_EXT_CLOCK)
		return;
	tsc = REC64(r, ext_clock, raw);
	wall = REC64(r, ext_clock, real);
	/* it is read when the record is written, not before */
	if (tsc < r->tsc || !wall || wall > INT64_MAX)
		return;
	b->tsc = tsc;
	b->wall = (int64_t)wall;
	/* whether another log is of the same clock may be known better now */
	m->limit = 0;
}

static void close_member(struct merge *m, struct member *b)
{
	uint32_t i;

	for (i = 0; m->member[i] != b; i++)
		;
	m->n--;
	memmove(m->member + i, m->member + i + 1,
		(m->n - i) * sizeof(*m->member));
	if (m->current == b)
		m->current = NULL;
	if (m->before == b) {
		m->before = NULL;
		m->dir.logs[m->next].told = b->key;
	}
	m->bytes += b->head.offset;
	session_leave(&m->session, &b->log);
	input_close(&b->in);
	free(b);
}

/* Reads the next record of a log; closes it at its end. */
static void advance(struct merge *m, struct member *b)
{
	uint64_t wrong = b->in.steady.wrong;

	switch (input_poll(&b->in, &b->head)) {
	case PMCLOG_ITER_RECORD:
		m->wrong += b->in.steady.wrong - wrong;
		if (b->head.tsc > b->key)
			b->key = b->head.tsc;
		note_record(m, b);
		return;
	case PMCLOG_ITER_ERROR:
		input_complain(&b->in);
		m->nbad++;
		break;
	default:
		break;
	}
	close_member(m, b);
}

static void stop(struct merge *m, char *error)
{
	free(m->error);
	m->error = error;
	m->stopped = true;
}

static void open_next(struct merge *m)
{
	const struct logdir_log *file = &m->dir.logs[m->next++];
	const char *why;
	int fd = logdir_open(&m->dir, file, &why);
	struct member *b;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		stop(m, xasprintf("%s: %s: %u logs of the same time are open",
				  file->label, why, m->n));
		return;
	}
	if (fd < 0) {
		warn_line("%s: %s", file->label, why);
		m->nbad++;
		return;
	}
	b = xcalloc(1, sizeof(*b));
	if (input_fd_repairing(&b->in, file->label, fd)) {
		free(b);
		m->nbad++;
		return;
	}
	if (m->raw)
		pmclog_iter_raw(b->in.it);
	b->file = file;
	b->tsc = file->origin.tsc;
	b->wall = file->origin.wall;
	APPEND(m->member, m->n, m->cap) = b;
	session_join(&m->session, &b->log);
	b->log.told = file->told;
	b->log.ids.owner = file->origin.owner;
	advance(m, b);
}

/* ------------------------------------------------------------------------
 * The next log, and those that are open
 */

/*
 * The time of day at a moment of a log's clock, which is that of nanoseconds.
 */
static int64_t wall_at(const struct member *b, uint64_t tsc)
{
	int64_t wall;

	return __builtin_add_overflow(b->wall, (int64_t)(tsc - b->tsc),
				      &wall) ? 0 : wall;
}

/* Can both be of one boot, by all that is known but the time of day? */
static bool alike(const struct member *b, const struct logdir_log *file)
{
	const struct log_origin *x = &b->file->origin, *y = &file->origin;

	return x->ours && y->ours && x->freq == NSEC_PER_SEC &&
	       y->freq == NSEC_PER_SEC &&
	       (!x->machine || !y->machine || x->machine == y->machine) &&
	       (!x->kernel || !y->kernel || x->kernel == y->kernel);
}

static bool same_clock(const struct member *b, const struct logdir_log *file)
{
	const struct log_origin *y = &file->origin;
	int64_t apart;

	if (!alike(b, file))
		return false;
	if (!b->wall || !y->wall)
		return true;
	return !__builtin_sub_overflow(wall_at(b, y->tsc), y->wall, &apart) &&
	       apart <= AGREE && apart >= -AGREE;
}

/*
 * The time of a log until which another one, of another clock, has not begun.
 */
static uint64_t time_before(const struct member *b,
			    const struct logdir_log *file)
{
	double ticks = (double)b->file->origin.freq / NSEC_PER_SEC;

	if (!b->wall || !file->origin.wall || !b->file->origin.freq)
		return UINT64_MAX;
	ticks *= (double)file->origin.wall + (double)AGREE - (double)b->wall;
	if (ticks < 0)
		return ticks < -(double)b->tsc ? 0 :
						 b->tsc - (uint64_t)-ticks;
	return ticks > 0x1p62 ? UINT64_MAX : b->tsc + (uint64_t)ticks;
}

/*
 * Snapshots of one flight recorder may have the same samples.  They are read
 * one after the other.
 */
static bool waits(struct merge *m, const struct logdir_log *file)
{
	uint32_t i;

	for (i = 0; i < m->n && !m->before; i++)
		if (m->member[i]->snapshot && same_clock(m->member[i], file) &&
		    m->member[i]->file->origin.owner == file->origin.owner &&
		    logdir_is_snapshot(&m->dir, file))
			m->before = m->member[i];
	return m->before;
}

/*
 * Opens the next log if it begins before the record that is next; @b is the log
 * of this record.  Returns false if it did, or if it cannot be read together
 * with @b.
 */
static bool meet_next(struct merge *m, const struct member *b)
{
	const struct logdir_log *file;
	uint64_t begins;
	bool same;

	if (m->next == m->dir.n || m->before)
		return true;
	file = &m->dir.logs[m->next];
	same = same_clock(b, file);
	begins = same ? file->origin.tsc : time_before(b, file);
	/* or the wall clock was set between two logs of a boot */
	if (!same && alike(b, file) && begins < file->origin.tsc)
		begins = file->origin.tsc;
	if (b->key <= begins) {
		if (begins < m->limit)
			m->limit = begins;
		return true;
	}
	if (waits(m, file))
		return true;
	if (same)
		open_next(m);
	else
		stop(m, xasprintf("%s and %s are of the same time, but not of "
				  "the same machine and boot: they cannot be "
				  "merged", b->file->label, file->label));
	return false;
}

/* The log with the earliest record; of several, the one that was current. */
static struct member *earliest(struct merge *m)
{
	struct member *first = m->current;
	uint32_t i;

	for (i = 0; i < m->n; i++)
		if (!first || m->member[i]->key < first->key)
			first = m->member[i];
	m->limit = UINT64_MAX;
	for (i = 0; i < m->n; i++)
		if (m->member[i] != first && m->member[i]->key < m->limit)
			m->limit = m->member[i]->key;
	return first;
}

/* Decides from which log the next record comes.  False: from none. */
static bool choose(struct merge *m)
{
	while (!m->stopped) {
		m->current = earliest(m);
		if (m->current && meet_next(m, m->current))
			return true;
		if (m->n)
			continue;
		if (m->next == m->dir.n)
			break;
		open_next(m);
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Records
 */
static enum pmclog_iter_status end(struct merge *m)
{
	uint32_t bad = m->nbad + m->dir.unread;

	if (bad && !m->error)
		m->error = xasprintf("%u of %u %s not complete", bad,
				     m->dir.n + m->dir.unread,
				     plural(bad, "logs is", "logs are"));
	return m->error ? PMCLOG_ITER_ERROR : PMCLOG_ITER_EOF;
}

static void stop_full(struct merge *m, const struct member *b)
{
	static const char what[] =
		"%s and the logs of the same time have more than %u PMCs: they cannot be merged";

	stop(m, xasprintf(what, b->file->label, PMCMAP_MAX));
}

/*
 * Takes the next record of the current log.  False: it is not for the reader.
 */
static bool take(struct merge *m, struct pmclog_rec *rec)
{
	struct member *b = m->current;

	*rec = b->head;
	if (rec->type == PMCLOG_T_INITIALIZE && b->begun &&
	    session_shared(&m->session)) {
		stop(m, xasprintf("%s has several logs in a row, and others "
				  "are of the same time: they cannot be merged",
				  b->file->label));
		return false;
	}
	b->begun |= rec->type == PMCLOG_T_INITIALIZE;
	if (!session_record(&m->session, &b->log, rec)) {
		if (m->session.full)
			stop_full(m, b);
		return false;
	}
	rec->serial = ++m->serial;
	if (!m->repairs)
		rec->tsc = pmclog_get64(rec->data +
					offsetof(struct pmclog_hdr, tsc));
	m->format = *pmclog_iter_format(b->in.it);
	m->name = b->file->name;
	return true;
}

enum pmclog_iter_status merge_next(struct merge *m, struct pmclog_rec *rec)
{
	do {
		if (m->stopped)
			return end(m);
		/* the record returned last was valid up to here */
		if (m->current)
			advance(m, m->current);
		if ((!m->current || m->current->key > m->limit) && !choose(m))
			return end(m);
	} while (!take(m, rec));
	return PMCLOG_ITER_RECORD;
}

const char *merge_error(const struct merge *m)
{
	return m->error ? m->error : "no error";
}

const struct logdir *merge_logs(const struct merge *m)
{
	return &m->dir;
}

bool merge_stopped(const struct merge *m)
{
	return m->stopped;
}

const struct pmclog_format *merge_format(const struct merge *m)
{
	return &m->format;
}

const char *merge_log_name(const struct merge *m)
{
	return m->name;
}

uint64_t merge_bytes(const struct merge *m, const struct pmclog_rec *rec)
{
	return m->bytes + rec->offset;
}

uint64_t merge_wrong(const struct merge *m)
{
	return m->wrong;
}

uint64_t merge_repeated(const struct merge *m)
{
	return m->session.repeated;
}

void merge_raw(struct merge *m)
{
	m->raw = m->session.raw = true;
}

void merge_repairs(struct merge *m)
{
	m->repairs = true;
}

struct merge *merge_open(int fd, const char *path, const char **why)
{
	struct merge *m = xcalloc(1, sizeof(*m));

	if (!logdir_read(&m->dir, fd, path, why))
		return m;
	merge_close(m);
	return NULL;
}

void merge_close(struct merge *m)
{
	if (!m)
		return;
	while (m->n)
		close_member(m, m->member[0]);
	session_free(&m->session);
	logdir_free(&m->dir);
	free(m->member);
	free(m->error);
	free(m);
}
