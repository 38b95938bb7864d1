// SPDX-License-Identifier: BSD-2-Clause
/*
 * ClickHouse's Native format: blocks of columns with their types, which are
 * inserted into a table as they are.  A table can hold the logs of many
 * machines.  Each block has its own dictionaries of strings.
 */
#include <time.h>

#include "export/export.h"

#define ROWS_MAX	65536U
#define FRAMES_MAX	1048576U
#define FIELDS_MAX	(16U << 20)	/* bytes */

/* a dictionary: its version, and flags of what follows */
#define LC_VERSION	1U
#define LC_KEYS		0x600U	/* keys are of this block only */

/* a text column of a block: the distinct texts, by string number, and the rows */
struct dictionary {
	uint32_t *key, nkeys, capkeys;
	uint32_t *index, n, cap;
	uint32_t *at, *block, nat;	/* by string number, valid in @block */
};

enum { HOST, LOG, COMM, EVENT, MODE, SYMBOL, OBJECT, STACK, NTEXTS };
enum { NUMBER = -1, FIELDS = -2 };
enum number { TIME, TIME_NS, CPU, PID, TID, PERIOD, NNUMBERS };

static const struct column {
	const char *name, *type;
	int text;		/* NUMBER, FIELDS: not in a dictionary */
	int number;
	unsigned int size;
} columns[] = {
	{ "host", "LowCardinality(String)", HOST, 0, 0 },
	{ "log", "LowCardinality(String)", LOG, 0, 0 },
	{ "time", "DateTime('UTC')", NUMBER, TIME, 4 },
	{ "time_ns", "UInt64", NUMBER, TIME_NS, 8 },
	{ "cpu", "UInt32", NUMBER, CPU, 4 },
	{ "pid", "UInt32", NUMBER, PID, 4 },
	{ "tid", "UInt32", NUMBER, TID, 4 },
	{ "comm", "LowCardinality(String)", COMM, 0, 0 },
	{ "event", "LowCardinality(String)", EVENT, 0, 0 },
	{ "period", "UInt64", NUMBER, PERIOD, 8 },
	{ "mode", "LowCardinality(String)", MODE, 0, 0 },
	{ "symbol", "LowCardinality(String)", SYMBOL, 0, 0 },
	{ "object", "LowCardinality(String)", OBJECT, 0, 0 },
	{ "stack", "Array(LowCardinality(String))", STACK, 0, 0 },
	{ "fields", "String", FIELDS, 0, 0 },
};

/**
 * struct clickhouse - a block that is being filled
 * @number: of each row
 * @ends:   by row: where its stack ends in the frames of the block
 * @fields: of tracepoints, a JSON object per row, encoded; @with of the rows have
 * 	    any
 * @block:  number of the block
 * @host, @log, @user, @kernel: string numbers
 */
struct clickhouse {
	struct dictionary text[NTEXTS];
	uint64_t *number[NNUMBERS];
	uint64_t *ends;
	unsigned char *fields;
	size_t nfields, capfields;
	uint32_t with;
	uint32_t rows, block;
	bool began, has_fields;
	uint32_t host, log, user, kernel;
};

void clickhouse_schema(struct out *o)
{
	size_t i;

	out_str(o, "CREATE TABLE IF NOT EXISTS samples\n(\n");
	for (i = 0; i < nitems(columns); i++)
		out_printf(o, "    %s %s%s\n", columns[i].name,
			   columns[i].type, i + 1 < nitems(columns) ? "," : "");
	out_str(o, ")\nENGINE = MergeTree\nPARTITION BY toYYYYMM(time)\n"
		   "ORDER BY (host, time);\n");
}

static void varint(struct out *o, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		out_char(o, (char)(v | 0x80));
	out_char(o, (char)v);
}

static void put_string(struct out *o, const char *s)
{
	varint(o, strlen(s));
	out_str(o, s);
}

/* Numbers are little-endian. */
static void put_number(struct out *o, uint64_t v, unsigned int size)
{
	unsigned char b[8];
	unsigned int i;

	for (i = 0; i < size; i++)
		b[i] = (unsigned char)(v >> 8 * i);
	out_bytes(o, b, size);
}

static const struct text *string_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->strings, id);
	char *s;

	if (t)
		return t;
	s = shown_whole(strtab_str(&e->a.p.str, id));
	put_string(e->scratch, s);
	free(s);
	return texts_put(&e->strings, id, e->scratch);
}

static void add_text(struct clickhouse *x, int text, uint32_t str)
{
	struct dictionary *d = &x->text[text];
	uint32_t n = d->nat;

	if (str >= n) {
		d->at = xgrow_zero(d->at, &n, str, 1024, sizeof(*d->at));
		d->block = xgrow_zero(d->block, &d->nat, str, 1024,
				      sizeof(*d->block));
	}
	if (d->block[str] != x->block) {
		d->block[str] = x->block;
		GROW(d->key, d->nkeys, d->capkeys);
		d->at[str] = d->nkeys;
		d->key[d->nkeys++] = str;
	}
	APPEND(d->index, d->n, d->cap) = d->at[str];
}

static void put_dictionary(struct export *e, const struct dictionary *d)
{
	unsigned int log2 = d->nkeys <= 0x100 ? 0 : d->nkeys <= 0x10000 ? 1 : 2;
	uint32_t i;

	if (!d->n)
		return;
	put_number(e->out, LC_KEYS | log2, 8);
	put_number(e->out, d->nkeys, 8);
	for (i = 0; i < d->nkeys; i++)
		out_text(e->out, string_text(e, d->key[i]));
	put_number(e->out, d->n, 8);
	for (i = 0; i < d->n; i++)
		put_number(e->out, d->index[i], 1U << log2);
}

static void put_column(struct export *e, struct clickhouse *x,
		       const struct column *c)
{
	uint32_t i;

	put_string(e->out, c->name);
	put_string(e->out, c->type);
	if (c->text == FIELDS) {
		out_bytes(e->out, x->fields, x->nfields);
		return;
	}
	if (c->text == NUMBER) {
		for (i = 0; i < x->rows; i++)
			put_number(e->out, x->number[c->number][i], c->size);
		return;
	}
	put_number(e->out, LC_VERSION, 8);
	for (i = 0; c->text == STACK && i < x->rows; i++)
		put_number(e->out, x->ends[i], 8);
	put_dictionary(e, &x->text[c->text]);
	x->text[c->text].n = x->text[c->text].nkeys = 0;
}

static void put_block(struct export *e, struct clickhouse *x)
{
	size_t i;

	if (!x->rows)
		return;
	/*
	 * A table may have been created without this column.  All blocks have it if one has:
	 * readers take the columns of the first.
	 */
	x->has_fields |= x->with || e->a.p.tps.n;
	varint(e->out, nitems(columns) - !x->has_fields);
	varint(e->out, x->rows);
	for (i = 0; i < nitems(columns); i++)
		if (columns[i].text != FIELDS || x->has_fields)
			put_column(e, x, &columns[i]);
	x->rows = x->with = 0;
	x->nfields = 0;
	x->block++;
}

static void begin(struct export *e)
{
	struct clickhouse *x = xcalloc(1, sizeof(*x));
	int i;

	for (i = 0; i < NNUMBERS; i++)
		x->number[i] = xcalloc(ROWS_MAX, sizeof(**x->number));
	x->ends = xcalloc(ROWS_MAX, sizeof(*x->ends));
	x->block = 1;
	e->state = x;
}

/* The default name of a log: the time at which it begins. */
static uint32_t log_id(struct export *e)
{
	const struct log_facts *log = &e->a.p.log;
	char buf[64], *s;
	time_t t = log->ts_sec;
	struct tm tm;
	uint32_t id;

	if (e->log_id)
		return strtab_id(&e->a.p.str, e->log_id);
	if (!t || !gmtime_r(&t, &tm) ||
	    !strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	s = xasprintf("%s.%09lldZ", buf, (long long)log->ts_nsec % 1000000000);
	id = strtab_id(&e->a.p.str, s);
	free(s);
	return id;
}

static void begin_rows(struct export *e, struct clickhouse *x)
{
	struct strtab *str = &e->a.p.str;

	x->began = true;
	x->host = e->a.p.log.host ? strtab_id(str, e->a.p.log.host) : 0;
	x->log = log_id(e);
	x->user = strtab_id(str, "user");
	x->kernel = strtab_id(str, "kernel");
}

static void add_stack(struct export *e, struct clickhouse *x,
		      const struct sample *s)
{
	struct level level[LEVELS_MAX];
	uint32_t i, k, n, func;

	for (i = 0; i < s->nframes; i++) {
		n = export_levels(e, s->frames[i], level);
		for (k = 0; k < n; k++) {
			func = level[k].func;
			if (!i && !k)
				add_text(x, OBJECT, export_object(e, func));
			func = func_shown(&e->a.p, func, e->a.demangle);
			if (!i && !k)
				add_text(x, SYMBOL, func);
			add_text(x, STACK, func);
		}
	}
	x->ends[x->rows] = x->text[STACK].n;
}

static void add_bytes(struct clickhouse *x, const void *p, size_t n)
{
	if (x->capfields - x->nfields < n) {
		x->capfields = 2 * (x->nfields + n);
		x->fields = xreallocarray(x->fields, x->capfields, 1);
	}
	memcpy(x->fields + x->nfields, p, n);
	x->nfields += n;
}

/* Adds the fields of a tracepoint; other events have none. */
static void add_fields(struct export *e, struct clickhouse *x,
		       const struct sample *s)
{
	unsigned char len[5];
	struct text text = { NULL, 0 };
	uint32_t left, n = 0;

	if (sample_more(s)->raw.data) {
		tp_put_json(e->scratch, profile_format(&e->a.p, s->event),
			    &sample_more(s)->raw, false);
		text = text_made(e->scratch);
		x->with++;
	}
	for (left = text.n; left >= 0x80; left >>= 7)
		len[n++] = (unsigned char)(left | 0x80);
	len[n++] = (unsigned char)left;
	add_bytes(x, len, n);
	if (text.n)
		add_bytes(x, text.s, text.n);
}

static void sample(struct export *e, const struct sample *s)
{
	const struct event *event = &e->a.p.events.event[s->event];
	struct clickhouse *x = e->state;
	int64_t ns = export_unix_ns(e, s->tsc);

	if (!x->began)
		begin_rows(e, x);
	if (ns < 0)
		ns = 0;
	x->number[TIME][x->rows] = (uint64_t)ns / 1000000000;
	x->number[TIME_NS][x->rows] = (uint64_t)ns;
	x->number[CPU][x->rows] = s->cpu;
	x->number[PID][x->rows] = s->pid;
	x->number[TID][x->rows] = s->tid;
	x->number[PERIOD][x->rows] = export_period(e, s);
	add_text(x, HOST, x->host);
	add_text(x, LOG, x->log);
	add_text(x, COMM, s->comm);
	add_text(x, EVENT, event->name);
	add_text(x, MODE, s->kernel ? x->kernel : x->user);
	add_stack(e, x, s);
	add_fields(e, x, s);
	if (++x->rows == ROWS_MAX || x->text[STACK].n >= FRAMES_MAX ||
	    x->nfields >= FIELDS_MAX)
		put_block(e, x);
}

static void end(struct export *e)
{
	put_block(e, e->state);
}

static void release(struct export *e)
{
	struct clickhouse *x = e->state;
	int i;

	for (i = 0; i < NTEXTS; i++) {
		free(x->text[i].key);
		free(x->text[i].index);
		free(x->text[i].at);
		free(x->text[i].block);
	}
	for (i = 0; i < NNUMBERS; i++)
		free(x->number[i]);
	free(x->ends);
	free(x->fields);
	free(x);
}

const struct export_format export_clickhouse = {
	.name = "clickhouse",
	.help = "Native format: clickhouse-client, clickhouse-local",
	.file = OUTFILE_BINARY,
	.takes = TAKES_LOG_ID | TAKES_SCHEMA,
	.begin = begin,
	.sample = sample,
	.end = end,
	.release = release,
};
