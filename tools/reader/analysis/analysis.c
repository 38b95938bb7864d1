// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/ahead.h"
#include "analysis/analysis.h"
#include "analysis/shown.h"
#include "analysis/source.h"
#include "base/exit.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/say.h"
#include "elf/debuginfod.h"
#include "log/input.h"

/* The last bytes of a closed log; they include its CLOSELOG. */
#define TAIL	1024U

void analysis_init(struct analysis *a)
{
	memset(a, 0, sizeof(*a));
	a->demangle = true;
}

bool analysis_event(struct analysis *a, const char *arg)
{
	if (a->event)
		warn_line("--event %s: only one event can be given", arg);
	else
		a->event = arg;
	return a->event == arg;
}

/* A view has no --not for the event: it would negate a later condition. */
static int one_event(struct analysis *a, const char *arg)
{
	return filter_complete(&a->filter) && analysis_event(a, arg) ? 1 : -1;
}

int analysis_option(struct analysis *a, int opt, const char *arg)
{
	switch (opt) {
	case 'o':
		a->output = arg;
		return 1;
	case 't':
		a->title = arg;
		return 1;
	case 'k':
		a->kernel = arg;
		return 1;
	case 'r':
		a->root.dir = arg;
		return image_root_is(arg) ? 1 : -1;
	case 'e':
		return one_event(a, arg);
	case 'D':
		a->demangle = false;
		return 1;
	case 'I':
		a->inlines = true;
		return 1;
	case 'B':
		a->by_line = a->lines = true;
		return 1;
	case ANALYSIS_DEBUGINFOD:
		return debuginfod_ask() ? 1 : -1;
	default:
		return filter_option(&a->filter, opt, arg);
	}
}

void analysis_enter(struct analysis *a)
{
	if (!input_is_archive(a->path))
		return;
	a->archive_root = xasprintf("%s/" ARCHIVE_ROOT, a->path);
	a->in_archive = xasprintf("%s/" ARCHIVE_LOG, a->path);
	a->path = a->in_archive;
	if (!a->root.dir)
		a->root.dir = a->archive_root;
}

/* Whoever made the archive could link its root to the files of this machine. */
bool analysis_root_is_own(const struct analysis *a)
{
	struct stat st;

	if (!a->archive_root || a->root.dir != a->archive_root ||
	    lstat(a->archive_root, &st) || S_ISDIR(st.st_mode))
		return true;
	warn_line("%s: is a %s: it must be a directory, with the files of the archive",
		  a->archive_root, S_ISLNK(st.st_mode) ? "symbolic link" : "file");
	return false;
}

bool analysis_argument(struct analysis *a, const char *cmd, int argc,
		       char **argv)
{
	if (!filter_complete(&a->filter))
		return false;
	if (optind == argc - 1) {
		a->path = argv[optind];
		analysis_enter(a);
		return true;
	}
	reader_usage("pmclog %s: %s; see pmclog %s --help\n", cmd, optind < argc ?
		     "one log at a time" : "name a log, or - for standard input", cmd);
	return false;
}

static const char *event_shown(const struct analysis *a, uint32_t event,
			       char buf[SHOWN_MAX])
{
	return shown_str(buf, &a->p.str, a->p.events.event[event].name);
}

/* Marks the events that the user asked for; false after a message if none. */
static bool choose_events(struct analysis *a)
{
	const struct events *t = &a->p.events;
	bool all = !a->event || !strcmp(a->event, "all"), any = false;
	char buf[SHOWN_MAX], *names = NULL;
	uint32_t i;

	a->use = xcalloc((size_t)t->n + 1, sizeof(*a->use));
	for (i = 0; i < t->n; i++) {
		const char *name = strtab_str(&a->p.str, t->event[i].name);

		a->use[i] = all || !strcmp(name, a->event);
		any |= a->use[i];
	}
	if (any || all)
		return true;
	for (i = 0; i < t->n; i++)
		names = xappend(names, " %s", event_shown(a, i, buf));
	warn_line("%s: no event \"%s\"; there is%s", a->path, a->event,
		  names ? names : " none at all");
	free(names);
	return false;
}

bool analysis_is_stream(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") ||
	       (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

bool analysis_find_end(const char *path, uint64_t *last)
{
	struct logclock clock = { .moved = false };
	struct pmclog_passed passed;
	struct pmclog_rec r;
	struct input in;
	bool first = true;
	uint64_t at;

	if (analysis_is_stream(path)) {
		warn_line("--time: of what is read as it comes, parts are not known: "
			  "give seconds");
		return false;
	}
	if (input_open(&in, path))
		return false;
	while (input_read(&in, &r) == PMCLOG_ITER_RECORD) {
		if (r.type == PMCLOG_T_INITIALIZE && first)
			logclock_first(&clock, &r);
		else if (r.type == PMCLOG_T_INITIALIZE)
			logclock_next(&clock, &r, *last);
		first &= r.type != PMCLOG_T_INITIALIZE;
		at = logclock_at(&clock, r.tsc);
		if (at > *last)
			*last = at;
		/* the window [0, 0) is empty: skips all samples */
		while (!clock.moved && input_pass(&in, 0, 0, &passed))
			if (passed.latest > *last)
				*last = passed.latest;
	}
	input_close(&in);
	return true;
}

static void begin(struct analysis *a)
{
	profile_init(&a->p, &a->root);
	if (filter_any(&a->filter))
		a->p.filter = &a->filter;
	a->p.innermost = a->innermost;
	a->p.chains.lists = a->lists;
	a->p.groups.by = a->by;
	a->p.groups.length = a->slice;
	a->p.field.name = a->field;
	a->p.on_begin = a->on_begin;
	a->p.on_sample = a->on_sample;
	a->p.on_samples = a->on_samples;
	a->p.on_sample_ctx = a->on_sample_ctx;
	a->p.by_line = a->by_line;
}

/*
 * Guesses the clock at the end, from the CLOSELOG in the last bytes of a closed
 * log.  0: the end has to be searched.
 */
static uint64_t guess_end(const struct input *in)
{
	unsigned char tail[TAIL];
	size_t n, at;
	struct stat st;

	if (fstat(in->fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(tail) ||
	    pread(in->fd, tail, sizeof(tail), st.st_size - sizeof(tail)) !=
			(ssize_t)sizeof(tail))
		return 0;
	for (n = sizeof(struct pmclog_hdr); n <= sizeof(tail); n += 4) {
		at = sizeof(tail) - n;
		if (pmclog_get32(tail + at) ==
		    PMCLOG_HEADER(PMCLOG_T_CLOSELOG, n))
			return pmclog_get64(tail + at +
					    offsetof(struct pmclog_hdr, tsc));
	}
	return 0;
}

/*
 * Reads the log once if its end can be guessed.  The end is known afterwards;
 * if the guess was wrong, the caller reads the log again.  No guess is made
 * with callbacks, which would see samples of the wrong window.
 */
static bool read_guessing(struct analysis *a, struct input *in)
{
	uint64_t end;

	if (a->on_sample || a->on_samples)
		return false;
	a->p.log.last = guess_end(in);
	if (!a->p.log.last)
		return false;
	profile_read(&a->p, in);
	if (a->p.log.end == a->p.log.last)
		return true;
	end = a->p.log.end;
	profile_free(&a->p);
	begin(a);
	a->p.log.last = end;
	return false;
}

static bool read_log(struct analysis *a)
{
	bool parts = filter_needs_end(&a->filter), done = false;
	struct input in;

	if (parts && !analysis_is_stream(a->path)) {
		if (input_open(&in, a->path))
			return false;
		done = read_guessing(a, &in);
		input_close(&in);
	}
	if (parts && !a->p.log.last &&
	    !analysis_find_end(a->path, &a->p.log.last))
		return false;
	/* the samples are named as they come */
	if (a->resolves && (a->on_sample || a->on_samples))
		a->ids_last = !ahead_ids(&a->p, a->path);
	if (!done) {
		if (input_open(&in, a->path))
			return false;
		profile_read(&a->p, &in);
		input_close(&in);
	}
	if (a->p.log.wrong_times)
		warn_line("%s: repaired %" PRIu64 " damaged %s", a->path, a->p.log.wrong_times,
			  plural(a->p.log.wrong_times, "time", "times"));
	if (a->p.log.error)
		warn_line("%s: %s", a->path, a->p.log.error);
	else if (!a->p.log.records)
		warn_line("%s: is empty", a->path);
	/* the records before the error are worth showing */
	return a->p.log.records > 0;
}

int analysis_run(struct analysis *a)
{
	analysis_enter(a);
	begin(a);
	if (!analysis_root_is_own(a) || !read_log(a) || !choose_events(a))
		return READER_FAIL;
	if (a->resolves)
		return READER_OK;
	if (!ksyms_open(&a->k, &a->p, a->kernel,
			strcmp(a->path, "-") ? a->path : NULL))
		return READER_FAIL;
	resolve_frames(&a->p, &a->k, a->use);
	if (a->inlines || a->lines)
		source_expand(&a->p, &a->k, a->inlines, a->lines);
	return READER_OK;
}

void analysis_tell_others(const struct analysis *a, uint32_t shown)
{
	const struct events *t = &a->p.events;
	uint32_t i, others = 0;
	char buf[SHOWN_MAX];

	for (i = 0; i < t->n; i++)
		others += i != shown && t->event[i].samples;
	if (others)
		warn_line("%s: showing %s; there %s %u more %s (--event NAME, or all)", a->path,
			  event_shown(a, shown, buf), plural(others, "is", "are"), others,
			  plural(others, "event", "events"));
}

void analysis_one_event(struct analysis *a)
{
	const struct events *t = &a->p.events;
	uint32_t i, first = 0;

	if (a->event)
		return;
	while (first < t->n && !t->event[first].samples)
		first++;
	for (i = 0; i < t->n; i++)
		a->use[i] = i == first;
	if (first < t->n)
		analysis_tell_others(a, first);
}

void analysis_window(const struct analysis *a, uint64_t *from, uint64_t *to)
{
	const struct log_facts *log = &a->p.log;
	const struct filter *f = &a->filter;

	*from = log->begin;
	*to = log->end;
	if (f->timed && f->begin > *from)
		*from = f->begin < *to ? f->begin : *to;
	if (f->timed && f->end < *to)
		*to = f->end > *from ? f->end : *from;
}

uint64_t analysis_samples(const struct analysis *a)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < a->p.events.n; i++)
		n += a->use[i] ? a->p.events.event[i].samples : 0;
	return n;
}

bool analysis_weighs(const struct analysis *a)
{
	uint64_t weighed = 0;
	uint32_t i;

	for (i = 0; i < a->p.events.n; i++)
		if (a->use[i] && event_is_freq(&a->p.events.event[i]))
			weighed += a->p.events.event[i].samples;
	return weighed && weighed == analysis_samples(a);
}

bool analysis_mix(struct analysis *a)
{
	if (analysis_weighs(a))
		return true;
	chains_unweigh(&a->p.chains);
	return false;
}

uint64_t analysis_count(const struct profile *p, const struct chain *c,
			enum unit unit)
{
	const struct event *e = &p->events.event[c->event];

	if (unit == UNIT_SAMPLES)
		return c->count;
	if (unit == UNIT_PERIOD && !event_is_freq(e))
		return c->count * e->rate;
	return chain_weight(&p->chains, c);
}

void analysis_forget(struct analysis *a)
{
	free(a->in_archive);
	free(a->archive_root);
	filter_free(&a->filter);
}

int analysis_close(struct analysis *a)
{
	int ret = a->p.log.error ? READER_FAIL : READER_OK;

	free(a->use);
	analysis_forget(a);
	ksyms_close(&a->k);
	profile_free(&a->p);
	return ret;
}
