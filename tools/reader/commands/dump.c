// SPDX-License-Identifier: BSD-2-Clause
/* pmclog dump: every record as a line of text or a JSON object. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/pmclog.h>

#include "base/digits.h"
#include "base/json.h"
#include "base/out.h"
#include "commands/commands.h"
#include "log/detail.h"
#include "log/fields.h"
#include "log/input.h"
#include "log/record.h"
#include "sample/ends.h"

static const char usage[] =
"usage: pmclog dump [--json] [--raw] FILE\n"
"Prints one line a record; the program counters of a call chain follow on\n"
"lines of their own that begin with \"...\", and so do the fields of a\n"
"tracepoint and the branches of a sample.  Times are the log's clock.\n"
"  -j, --json   one JSON object a record\n"
"  --raw        packs of samples as they are, not the samples in them\n"
"  FILE         a log, a directory of logs, or - for standard input\n";

enum { OPT_RAW = 256 };

/* Bytes after the known fields; 0 if a string or a chain ends the record. */
static size_t extra_len(const struct layout *l, const struct pmclog_rec *rec)
{
	size_t known = sizeof(struct pmclog_hdr), end, i;

	for (i = 0; i < l->nfields; i++) {
		if (l->fields[i].kind == FIELD_TAIL ||
		    l->fields[i].kind == FIELD_CHAIN ||
		    l->fields[i].kind == FIELD_DATA ||
		    l->fields[i].kind == FIELD_PCS ||
		    l->fields[i].kind == FIELD_BRANCHES)
			return 0;
		if (!field_present(&l->fields[i], rec))
			continue;
		end = l->fields[i].offset + field_size(&l->fields[i]);
		if (end > known)
			known = end;
	}
	return rec->len - known;
}

static void prot_string(uint32_t prot, char s[4])
{
	s[0] = prot & PROT_READ ? 'r' : '-';
	s[1] = prot & PROT_WRITE ? 'w' : '-';
	s[2] = prot & PROT_EXEC ? 'x' : '-';
	s[3] = '\0';
}

/* Names stand for some numbers; NULL: print the number. */
static const char *value_name(const struct field *f, uint64_t v, char buf[4])
{
	switch (f->kind) {
	case FIELD_PROT:
		prot_string(v, buf);
		return buf;
	case FIELD_CAUSE:
		return cause_name(v);
	case FIELD_MACHINE:
		return machine_name(v);
	case FIELD_SNAPSHOT:
		return snapshot_name(v);
	default:
		return NULL;
	}
}

static void text_ends(struct out *o, uint32_t ends, char sep)
{
	for (; ends; ends &= ends - 1) {
		if (sep)
			out_char(o, sep);
		out_str(o, end_name((unsigned int)__builtin_ctz(ends)));
		sep = sep ? sep : ',';
	}
}

static void text_chain(struct out *o, const struct field *f,
		       const struct pmclog_rec *rec)
{
	uint32_t cpuflags = field_value(f, rec);
	size_t at;

	out_u64(o, PMCLOG_CC_CPU(cpuflags));
	out_char(o, ' ');
	out_u64(o, record_pcs(rec, &at));
	out_str(o, cpuflags & PMCLOG_CC_USERSPACE ? " u" : " s");
	if (cpuflags & PMCLOG_CC_USERLATE)
		out_str(o, " late");
	if (ends_of(cpuflags))
		text_ends(o, ends_of(cpuflags), ' ');
}

static void text_number(struct out *o, const struct field *f, uint64_t v)
{
	char buf[4];
	const char *name = value_name(f, v, buf);

	if (name)
		out_str(o, name);
	else if (f->kind == FIELD_X32 || f->kind == FIELD_X64 ||
		 f->kind == FIELD_HAD_X64)
		out_hex(o, v);
	else if (f->kind == FIELD_S32 || f->kind == FIELD_S64)
		out_s64(o, v);
	else
		out_u64(o, v);
}

/* The number has more than the names. */
static void text_source(struct out *o, uint64_t source)
{
	char text[DETAIL_SOURCE_MAX];

	detail_source(source, text);
	out_hex(o, source);
	out_printf(o, " (%s%s%s)", detail_access(source),
		   *detail_access(source) ? ", " : "", text);
}

static void text_field(struct out *o, const struct field *f,
		       const struct pmclog_rec *rec)
{
	const unsigned char *bytes;
	const char *s;
	size_t n;

	out_char(o, ' ');
	if (!f->plain) {
		out_str(o, f->name);
		out_char(o, '=');
	}
	switch (f->kind) {
	case FIELD_NAME:
	case FIELD_TAIL:
	case FIELD_TAIL2:
		s = field_string(f, rec, &n);
		out_quoted(o, s, n);
		break;
	case FIELD_BYTES:
	case FIELD_DATA:
		bytes = field_bytes(f, rec, &n);
		out_hexbytes(o, bytes, n);
		break;
	case FIELD_CHAIN:
		text_chain(o, f, rec);
		break;
	case FIELD_ENDS:
		text_ends(o, field_value(f, rec), '\0');
		break;
	case FIELD_HAD_SOURCE:
		text_source(o, field_value(f, rec));
		break;
	default:
		text_number(o, f, field_value(f, rec));
	}
}

#define PC_HEAD	"...         0x"
#define PC_LINE	(sizeof(PC_HEAD) + HEX_MAX)

static void text_pcs(struct out *o, const struct pmclog_rec *rec)
{
	size_t at = 0;
	uint32_t n = record_pcs(rec, &at);

	for (; n--; at += 8) {
		char *to = out_room(o, PC_LINE);

		memcpy(to, PC_HEAD, sizeof(PC_HEAD) - 1);
		to = put_hex(to + sizeof(PC_HEAD) - 1,
			     pmclog_get64(rec->data + at));
		*to++ = '\n';
		o->n = (size_t)(to - o->buf);
	}
}

/* From, to, and what the hardware says of a branch; the newest first. */
static void text_branches(struct out *o, const struct pmclog_rec *rec)
{
	struct detail d;
	uint32_t i;

	if (pmclog_iter_ext_subtype(rec) != PMCLOG_EXT_DETAIL)
		return;
	d = detail_of(rec);
	for (i = 0; i < d.n; i++) {
		struct pmclog_branch b = detail_branch(&d, i);
		const char *type = detail_branch_type(b.flags);

		out_str(o, "...         ");
		out_hex(o, b.from);
		out_char(o, ' ');
		out_hex(o, b.to);
		out_printf(o, " flags=%#llx", (unsigned long long)b.flags);
		if (*detail_prediction(b.flags))
			out_printf(o, " %s", detail_prediction(b.flags));
		if (PMCLOG_BRANCH_CYCLES(b.flags))
			out_printf(o, " cycles=%u", PMCLOG_BRANCH_CYCLES(b.flags));
		if (type)
			out_printf(o, " %s", type);
		out_char(o, '\n');
	}
}

static void text_word(struct out *o, const char *word)
{
	size_t n = strlen(word);

	out_bytes(o, word, n);
	for (; n < 11; n++)
		out_char(o, ' ');
}

static void text_unknown(struct out *o, const struct pmclog_rec *rec)
{
	text_word(o, "unknown");
	out_printf(o, " type=%u len=%u tsc=", rec->type, rec->len);
	out_u64(o, rec->tsc);
	out_char(o, '\n');
}

/* The format of the data of a record; NULL: not known. */
static const struct tp_format *data_format(const struct tracepoints *tps,
					   const struct pmclog_rec *rec)
{
	if (pmclog_iter_ext_subtype(rec) != PMCLOG_EXT_RAW)
		return NULL;
	return tp_of(tps, REC32(rec, ext_raw, pmcid));
}

/* Is it a field of a DETAIL that the PMU has not supplied? */
static bool is_not_had(const struct field *f, const struct pmclog_rec *rec)
{
	return f->kind >= FIELD_HAD_U32 && f->kind <= FIELD_HAD_SOURCE &&
	       !(REC32(rec, ext_detail, has) & f->size);
}

/* Fields that are shown in another way, or have no information. */
static bool is_hidden(const struct field *f, const struct pmclog_rec *rec,
		      const struct tp_format *format)
{
	return is_not_had(f, rec) || (f->kind == FIELD_DATA && format) ||
	       (f->kind == FIELD_ENDS && !field_value(f, rec));
}

static inline bool is_shown(const struct field *f,
			    const struct pmclog_rec *rec,
			    const struct tp_format *format)
{
	return f->kind != FIELD_PAD && field_present(f, rec) &&
	       (f->kind < FIELD_DATA || !is_hidden(f, rec, format));
}

static void text_data(struct out *o, const struct pmclog_rec *rec,
		      const struct tp_format *format)
{
	struct tp_raw raw;

	if (!format)
		return;
	raw = tp_raw(rec);
	out_str(o, "...         ");
	tp_put_text(o, format, &raw, true);
	out_char(o, '\n');
}

static void dump_text(struct out *o, const struct pmclog_rec *rec,
		      const struct tracepoints *tps)
{
	const struct tp_format *format = data_format(tps, rec);
	const struct layout *l = record_layout(rec);
	const struct field *f;
	size_t extra;

	if (!l) {
		text_unknown(o, rec);
		return;
	}
	text_word(o, pmclog_iter_type_name(rec->type));
	if (rec->type == PMCLOG_T_USERDATA && strcmp(l->word, "userdata")) {
		out_str(o, " hwpmc ");
		out_str(o, l->word);
	}
	for (f = l->fields; f < l->fields + l->nfields; f++)
		if (is_shown(f, rec, format))
			text_field(o, f, rec);
	out_str(o, " tsc=");
	out_u64(o, rec->tsc);
	extra = extra_len(l, rec);
	if (extra)
		out_printf(o, " extra=%zu", extra);
	out_char(o, '\n');
	text_pcs(o, rec);
	text_branches(o, rec);
	text_data(o, rec, format);
}

static void json_pcs(struct json *j, const struct pmclog_rec *rec)
{
	size_t at = 0;
	uint32_t n = record_pcs(rec, &at);

	json_array_begin(j, "pcs");
	for (; n--; at += 8)
		json_array_hex(j, pmclog_get64(rec->data + at));
	json_array_end(j);
}

static void json_ends(struct json *j, uint32_t ends)
{
	json_array_begin(j, "ends");
	for (; ends; ends &= ends - 1)
		json_array_str(j, end_name((unsigned int)__builtin_ctz(ends)));
	json_array_end(j);
}

static void json_chain(struct json *j, const struct field *f,
		       const struct pmclog_rec *rec)
{
	uint32_t cpuflags = field_value(f, rec);

	json_u64(j, "cpu", PMCLOG_CC_CPU(cpuflags));
	json_u64(j, "flags", PMCLOG_CC_FLAGS(cpuflags));
	json_str(j, "mode",
		 cpuflags & PMCLOG_CC_USERSPACE ? "user" : "kernel",
		 cpuflags & PMCLOG_CC_USERSPACE ? 4 : 6);
	if (ends_of(cpuflags))
		json_ends(j, ends_of(cpuflags));
	json_pcs(j, rec);
}

static void json_number(struct json *j, const struct field *f, uint64_t v)
{
	char buf[4];
	const char *name = value_name(f, v, buf);

	if (name)
		json_str(j, f->name, name, strlen(name));
	else if (f->kind == FIELD_X32 || f->kind == FIELD_X64 ||
		 f->kind == FIELD_HAD_X64)
		json_hex(j, f->name, v);
	else if (f->kind == FIELD_S32 || f->kind == FIELD_S64)
		json_s64(j, f->name, v);
	else
		json_u64(j, f->name, v);
}

static void json_field(struct json *j, const struct field *f,
		       const struct pmclog_rec *rec)
{
	const unsigned char *bytes;
	struct detail d;
	const char *s;
	size_t n;

	switch (f->kind) {
	case FIELD_NAME:
	case FIELD_TAIL:
	case FIELD_TAIL2:
		s = field_string(f, rec, &n);
		json_str(j, f->name, s, n);
		break;
	case FIELD_BYTES:
	case FIELD_DATA:
		bytes = field_bytes(f, rec, &n);
		json_bytes(j, f->name, bytes, n);
		break;
	case FIELD_CHAIN:
		json_chain(j, f, rec);
		break;
	case FIELD_PCS:
		json_pcs(j, rec);
		break;
	case FIELD_ENDS:
		json_ends(j, field_value(f, rec));
		break;
	case FIELD_HAD_SOURCE:
		json_hex(j, f->name, field_value(f, rec));
		detail_json_source(j, field_value(f, rec));
		break;
	case FIELD_BRANCHES:
		d = detail_of(rec);
		detail_json_branches(j, &d);
		break;
	default:
		json_number(j, f, field_value(f, rec));
	}
}

static void json_data(struct json *j, const struct pmclog_rec *rec,
		      const struct tp_format *format)
{
	struct tp_raw raw;

	if (!format)
		return;
	raw = tp_raw(rec);
	json_key(j, "fields");
	tp_put_json(j->o, format, &raw, true);
}

/* @log: name of the log in its directory, or NULL */
static void dump_json(struct out *o, const struct pmclog_rec *rec,
		      const struct tracepoints *tps, const char *log)
{
	const struct tp_format *format = data_format(tps, rec);
	const struct layout *l = record_layout(rec);
	const char *word = l ? pmclog_iter_type_name(rec->type) : "unknown";
	const struct field *f;
	struct json j;
	size_t extra;

	json_begin(&j, o);
	json_str(&j, "record", word, strlen(word));
	if (rec->type == PMCLOG_T_USERDATA && strcmp(l->word, word))
		json_str(&j, "extension", l->word, strlen(l->word));
	if (log)
		json_str(&j, "log", log, strlen(log));
	json_u64(&j, "offset", rec->offset);
	json_u64(&j, "tsc", rec->tsc);
	if (!l)
		json_u64(&j, "number", rec->type);
	for (f = l ? l->fields : NULL; f && f < l->fields + l->nfields; f++)
		if (is_shown(f, rec, format))
			json_field(&j, f, rec);
	json_data(&j, rec, format);
	extra = l ? extra_len(l, rec) : rec->len - sizeof(struct pmclog_hdr);
	if (extra)
		json_bytes(&j, "extra", rec->data + rec->len - extra, extra);
	json_end(&j);
}

/* Flushes the output before a wait for more of the log. */
static void show(void *arg)
{
	out_flush(arg);
}

static int dump_file(const char *path, bool json, bool raw)
{
	enum pmclog_iter_status status;
	struct out *o = out_stdout();
	struct tracepoints tps = { .tp = NULL };
	struct pmclog_rec rec;
	struct input in;
	uint32_t type = PMCLOG_T_CLOSELOG;
	bool any = false;
	int ret;

	if (input_open_live(&in, path, show, o))
		return READER_FAIL;
	if (raw)
		input_raw(&in);
	while ((status = input_next(&in, &rec)) == PMCLOG_ITER_RECORD &&
	       !o->error) {
		any = true;
		type = rec.type;
		tp_record(&tps, &rec);
		if (json)
			dump_json(o, &rec, &tps, input_log_name(&in));
		else
			dump_text(o, &rec, &tps);
	}
	ret = out_finish(o);
	if (status == PMCLOG_ITER_EOF && !any)
		ret = reader_fail("%s: is empty", in.path);
	if (status == PMCLOG_ITER_EOF && type != PMCLOG_T_CLOSELOG)
		warn_line("%s: the log has no end: what came last is missing", in.path);
	tp_free(&tps);
	input_close(&in);
	return status == PMCLOG_ITER_ERROR ? READER_FAIL : ret;
}

int cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "raw", no_argument, NULL, OPT_RAW },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool json = false, raw = false;
	int c;

	while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case OPT_RAW:
			raw = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return READER_OK;
		default:
			return reader_usage(usage);
		}
	}
	if (argc - optind > 1)
		fputs("pmclog dump: one log at a time\n", stderr);
	if (argc - optind != 1)
		return reader_usage(usage);
	return dump_file(argv[optind], json, raw);
}
