// SPDX-License-Identifier: BSD-2-Clause
/* pmclog(3) on top of the iterator. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/pmclog.h>
#include <pmclog.h>

#include "pmclog_decode.h"
#include "pmclog_iter_parts.h"

struct parser {
	struct pmclog_iter *it;
	bool feeding;
	bool unread;		/* fed bytes may still hold a record */
	bool broken;
	size_t count;
	uint64_t offset;	/* of a record that could not be decoded */
	struct pmclog_clock clock;
	char evname[16];
};

void *pmclog_open(int fd)
{
	struct parser *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->feeding = fd == PMCLOG_FD_NONE;
	ps->it = ps->feeding ? pmclog_iter_new() : pmclog_iter_fd(fd);
	if (!ps->it) {
		free(ps);
		return NULL;
	}
	return ps;
}

void pmclog_close(void *cookie)
{
	struct parser *ps = cookie;

	if (!ps)
		return;
	pmclog_iter_close(ps->it);
	free(ps);
}

int pmclog_feed(void *cookie, char *data, int len)
{
	struct parser *ps = cookie;

	if (!ps->feeding || len < 0) {
		errno = EINVAL;
		return -1;
	}
	if (ps->broken || (ps->unread && ps->it->p != ps->it->end)) {
		errno = EBUSY;
		return -1;
	}
	if (pmclog_iter_feed(ps->it, data, len))
		return -1;
	ps->unread = len > 0;
	return 0;
}

static int no_event(struct parser *ps, struct pmclog_ev *ev,
		    enum pmclog_state state)
{
	uint64_t offset = ps->offset;

	if (state == PMCLOG_ERROR && !ps->broken)
		pmclog_iter_error(ps->it, &offset);
	if (state == PMCLOG_ERROR)
		ev->pl_offset = offset;
	ev->pl_count = ps->count;
	ev->pl_state = state;
	return -1;
}

/* The library has no table of FreeBSD's events: the code serves as the name. */
static void name_event(struct parser *ps, struct pmclog_ev *ev)
{
	snprintf(ps->evname, sizeof(ps->evname), "0x%x",
		 ev->pl_u.pl_a.pl_event);
	ev->pl_u.pl_a.pl_evname = ps->evname;
}

static int read_record(struct parser *ps, struct pmclog_ev *ev,
		       const struct pmclog_rec *rec)
{
	if (rec->type == PMCLOG_T_INITIALIZE)
		pmclog_clock_set(&ps->clock, rec);
	ev->pl_offset = rec->offset;
	ev->pl_ts = pmclog_clock_wall(&ps->clock, rec->tsc);
	ev->pl_type = rec->type;
	ev->pl_data = (void *)rec->data;
	ev->pl_len = rec->len;
	/* FreeBSD's programs treat the end of a log as the end of the stream */
	if (rec->type == PMCLOG_T_CLOSELOG)
		return no_event(ps, ev, PMCLOG_EOF);
	if (pmclog_decode(ev, rec)) {
		ps->broken = true;
		ps->offset = rec->offset;
		return no_event(ps, ev, PMCLOG_ERROR);
	}
	if (rec->type == PMCLOG_T_PMCALLOCATE)
		name_event(ps, ev);
	ev->pl_count = ++ps->count;
	ev->pl_state = PMCLOG_OK;
	return 0;
}

int pmclog_read(void *cookie, struct pmclog_ev *ev)
{
	struct parser *ps = cookie;
	struct pmclog_rec rec;

	ev->pl_type = 0;
	ev->pl_offset = 0;
	ev->pl_ts = (struct timespec){ 0 };
	ev->pl_data = NULL;
	ev->pl_len = 0;
	if (ps->broken)
		return no_event(ps, ev, PMCLOG_ERROR);
	switch (pmclog_iter_next(ps->it, &rec)) {
	case PMCLOG_ITER_RECORD:
		return read_record(ps, ev, &rec);
	case PMCLOG_ITER_MORE:
		ps->unread = false;
		return no_event(ps, ev, PMCLOG_REQUIRE_DATA);
	case PMCLOG_ITER_EOF:
		return no_event(ps, ev, PMCLOG_EOF);
	default:
		return no_event(ps, ev, PMCLOG_ERROR);
	}
}
