/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the formats of pmclog export share.
 *
 * A format either writes each sample as the log is read, or all of it at the
 * end, from the chains.
 */
#ifndef READER_EXPORT_H
#define READER_EXPORT_H

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/resolver.h"
#include "analysis/shown.h"
#include "base/outfile.h"

#ifndef TOOLS_VERSION
#define TOOLS_VERSION "unknown"
#endif

/* what a format can be asked for */
#define TAKES_WEIGHT	1U
#define TAKES_BY	2U
#define TAKES_LOG_ID	4U
#define TAKES_SCHEMA	8U
#define TAKES_INSTR	16U

/* a piece of output that is written again and again; see out_text() */
#define TEXT_ALIGN	32U
struct text {
	const char *s;
	uint32_t n;
};

/* by a number of something; what is not made yet has no @s */
struct texts {
	struct text *text;
	uint32_t n;
	struct arena mem;
};

/**
 * struct export - one run of the command
 * @period:  weights are how often the event happened, not how many samples
 * @by:      BY_* to tell apart
 * @instr:   positions are instructions, too
 * @inlines, @lines: what was inlined, and lines of the source, are wanted
 * @log_id:  what to call this log, or NULL
 * @funcs:   what a format has made of functions
 * @frames:  of frames
 * @strings: of strings of the log
 * @objects: of names of objects, by string
 * @events:  of events
 * @scratch: where a text is made
 * @event:   string number of the event that is wanted, 0: all
 * @opened:  what became of @file: not READER_OK: there is none
 * @bad:     after a message: nothing more can be written
 * @state:   a format's own
 */
struct export {
	struct analysis a;
	const struct export_format *format;
	struct outfile file;
	int opened;
	struct out *out;
	const char *output;
	bool period, schema, instr, inlines, lines;
	struct sources *sources;	/* of export_levels() */
	unsigned int by;
	const char *log_id;
	struct resolver r;
	struct texts funcs, frames, strings, objects, events;
	struct out *scratch;
	uint32_t event;
	bool bad;
	void *state;
};

/**
 * struct export_format - how one is written
 * @file:   OUTFILE_*
 * @places: written at the end, but needs resolver_place()
 * @folded: what was inlined is in the chains
 * @takes:  TAKES_*
 * @by:     told apart unless asked for otherwise
 * @begin:  before the log is read; or NULL
 * @frame:  makes the text of one, before @sample has it among its frames
 * @sample: one that is wanted, its frames are resolved; NULL: not one by one
 * @chains: samples have numbers of chains, rather than frames
 * @end:    after the log was read; or NULL
 * @release: of @state, also after a failure; or NULL
 */
struct export_format {
	const char *name, *help;
	unsigned int file, takes, by;
	bool places, folded, chains;
	void (*begin)(struct export *e);
	const struct text *(*frame)(struct export *e, uint32_t frame);
	void (*sample)(struct export *e, const struct sample *s);
	void (*end)(struct export *e);
	void (*release)(struct export *e);
};

extern const struct export_format export_folded, export_pprof,
	export_speedscope, export_firefox, export_callgrind,
	export_perf_script, export_csv, export_jsonl, export_clickhouse;

/* What makes the table that its blocks go into. */
void clickhouse_schema(struct out *o);

#define LEVELS_MAX	64

/**
 * struct level - a function at a frame
 * @func: of struct funcs
 * @file: string number of the source file, 0: not known
 * @line: 0: not known
 */
struct level {
	uint32_t func, file, line;
};

/*
 * What is at a frame: functions that were inlined there, the innermost first,
 * and last the one that they are in.  Their number, at least 1.
 */
uint32_t export_levels(struct export *e, uint32_t frame,
		       struct level level[LEVELS_MAX]);
void export_levels_free(struct export *e);

void export_start(struct export *e);
void export_free(struct export *e);

/* NULL, or the text number @id if it was made. */
static inline const struct text *texts_get(const struct texts *t, uint32_t id)
{
	return id < t->n && t->text[id].s ? &t->text[id] : NULL;
}

/* Another's text is text number @id, too. */
const struct text *texts_share(struct texts *t, uint32_t id,
			       const struct text *text);
/* What is in @scratch, until something is made there again. */
struct text text_made(struct out *scratch);
/* Takes what is in @scratch as text number @id. */
const struct text *texts_put(struct texts *t, uint32_t id, struct out *scratch);

/* Copies in large steps; behind a text there is as much as that needs. */
static inline void out_text(struct out *o, const struct text *t)
{
	uint32_t i;
	char *to;

	if (OUT_SIZE - o->n < t->n + TEXT_ALIGN) {
		out_bytes(o, t->s, t->n);
		return;
	}
	to = o->buf + o->n;
	for (i = 0; i < t->n; i += TEXT_ALIGN)
		memcpy(to + i, t->s + i, TEXT_ALIGN);
	o->n += t->n;
}

/* That of a frame, which was made. */
static inline void out_frame(struct export *e, uint32_t frame)
{
	out_text(e->out, &e->frames.text[frame]);
}

/* The texts of a sample's frames are made, and soon to be written. */
void texts_prepare(struct export *e, const struct sample *s);

/* Nanoseconds since the log's beginning. */
int64_t export_ns(const struct export *e, uint64_t tsc);
/* The same since 1970, 0 if the log does not tell. */
int64_t export_unix_ns(const struct export *e, uint64_t tsc);
/* @v / 10^@digits, with as many behind the point. */
void out_decimal(struct out *o, int64_t v, unsigned int digits);

uint64_t export_weight(const struct export *e, const struct chain *c);
/* String number of a name for the object a function is in. */
uint32_t export_object(const struct export *e, uint32_t func);
/* Names of events, commands, objects: safe to show. */
void export_shown(const struct export *e, char buf[SHOWN_MAX], uint32_t str);

/* A command of pmclog(1): gets its own name as argv[0], returns the exit code. */
int cmd_export(int argc, char **argv);

#endif /* READER_EXPORT_H */
