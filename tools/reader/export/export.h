/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common code of the formats of pmclog export.
 *
 * A format either writes each sample as the log is read, or everything at the
 * end, from the chains.
 */
#ifndef READER_EXPORT_H
#define READER_EXPORT_H

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/resolver.h"
#include "analysis/shown.h"
#include "base/outfile.h"
#include "export/inorder.h"

/* options that a format takes */
#define TAKES_WEIGHT	1U
#define TAKES_BY	2U
#define TAKES_LOG_ID	4U
#define TAKES_SCHEMA	8U
#define TAKES_INSTR	16U
#define TAKES_OBJECT	32U

/* a piece of output that is written many times; see out_text() */
#define TEXT_ALIGN	32U
struct text {
	const char *s;
	uint32_t n;
};

/* texts by number; one that was not made yet has no @s */
struct texts {
	struct text *text;
	uint32_t n;
	struct arena mem;
};

/**
 * struct export - one run of the command
 * @unit:    what is counted
 * @by:      BY_* to group samples by
 * @instr:   positions are instructions, too
 * @inlines, @lines: inlined functions, and source lines, are wanted
 * @log_id:  name for this log, or NULL
 * @object:  file name or path of the object that is wanted, or NULL
 * @funcs:   texts that the format has made of functions
 * @frames:  ... of frames
 * @strings: ... of strings of the log
 * @objects: ... of names of objects, by string
 * @events:  ... of events
 * @scratch: buffer to make a text in
 * @event:   string number of the event that is wanted, 0: all
 * @order:   samples that wait for one before them
 * @opened:  exit code of opening @file; not READER_OK: there is no file
 * @bad:     after a message: nothing more can be written
 * @misnamed: after a message: names are those of another file
 * @state:   private data of the format
 */
struct export {
	struct analysis a;
	const struct export_format *format;
	struct outfile file;
	int opened;
	struct out *out;
	enum unit unit;
	bool schema, instr, inlines, lines;
	struct sources *sources;	/* of export_levels() */
	unsigned int by;
	const char *log_id, *object;
	struct resolver r;
	struct texts funcs, frames, strings, objects, events;
	struct out *scratch;
	uint32_t event;
	struct inorder order;
	bool bad, misnamed;
	void *state;
};

/**
 * struct export_format - an output format
 * @file:   OUTFILE_*
 * @places: written at the end, but needs resolver_place()
 * @folded: inlined functions are frames of the chains
 * @takes:  TAKES_*
 * @by:     BY_* to group samples by unless the user chooses
 * @begin:  called before the log is read; or NULL
 * @frame:  makes the text of a frame, before @sample gets the frame
 * @sample: writes a wanted sample, its frames are resolved; NULL: not used
 * @chains: samples have numbers of chains, rather than frames
 * @end:    called after the log was read; or NULL
 * @release: frees @state, also after a failure; or NULL
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
	export_perf_script, export_csv, export_jsonl, export_clickhouse, export_bolt;

/* Writes the statement that creates the table for the blocks. */
void clickhouse_schema(struct out *o);

/* Is the event wanted, and has it samples? */
bool export_has_event(const struct export *e, uint32_t event);
/*
 * String numbers of the names of these events, of which no two are the same; 0 for others.
 * The caller frees them.
 */
uint32_t *export_event_names(struct export *e);
/* Makes the names in @names, by event and 0 for none, such ones: a later one gets a number. */
void export_number_names(struct export *e, uint32_t *names);

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
 * Sets @level to the functions inlined at a frame, the innermost first, and
 * last the function they are inlined into.  Returns their number, at least 1.
 */
uint32_t export_levels(struct export *e, uint32_t frame,
		       struct level level[LEVELS_MAX]);
void export_levels_free(struct export *e);

void export_start(struct export *e);
void export_free(struct export *e);

/* Text number @id, or NULL if it was not made yet. */
static inline const struct text *texts_get(const struct texts *t, uint32_t id)
{
	return id < t->n && t->text[id].s ? &t->text[id] : NULL;
}

/* Sets text number @id to a text of another number. */
const struct text *texts_share(struct texts *t, uint32_t id,
			       const struct text *text);
/* The text in @scratch, valid until the next text is made there. */
struct text text_made(struct out *scratch);
/* Copies the text in @scratch as text number @id. */
const struct text *texts_put(struct texts *t, uint32_t id, struct out *scratch);

/* Copies in steps of TEXT_ALIGN; each text is padded in memory for that. */
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

/* Writes the text of a frame, which must have been made. */
static inline void out_frame(struct export *e, uint32_t frame)
{
	out_text(e->out, &e->frames.text[frame]);
}

/* Makes the texts of a sample's frames, which are soon to be written. */
void texts_prepare(struct export *e, const struct sample *s);

/* Nanoseconds since the log's beginning. */
int64_t export_ns(const struct export *e, uint64_t tsc);
/* Nanoseconds since 1970, 0 if the log has no wall clock. */
int64_t export_unix_ns(const struct export *e, uint64_t tsc);
/* Writes @v / 10^@digits with @digits decimal places. */
void out_decimal(struct out *o, int64_t v, unsigned int digits);

uint64_t export_weight(const struct export *e, const struct chain *c);
/* How many events a sample stands for; 0: not known. */
uint64_t export_period(const struct export *e, const struct sample *s);
/* Has each sample of the event a period of its own? */
static inline bool export_varies(const struct export *e, uint32_t event)
{
	return event_is_freq(&e->a.p.events.event[event]);
}

/* String number of a name for the object a function is in. */
uint32_t export_object(const struct export *e, uint32_t func);
/* Names of events, commands, objects: safe to show. */
void export_shown(const struct export *e, char buf[SHOWN_MAX], uint32_t str);

/* A command of pmclog(1): gets its own name as argv[0], returns the exit code. */
int cmd_export(int argc, char **argv);

#endif /* READER_EXPORT_H */
