/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as text in FreeBSD's format: a line for each record, and lines with
 * "..." for the program counters of a chain.  With -v, data that only hwpmc has
 * is added to the lines; pmclog dump shows everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <pmc.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <linux/pmclog.h>

#include "base/mem.h"
#include "base/out.h"
#include "base/say.h"
#include "freebsd/log_source.h"
#include "log/detail.h"
#include "log/fields.h"
#include "log/record.h"

static void put_word(struct out *o, const struct pmclog_rec *r)
{
	const char *word = pmclog_iter_type_name(r->type);

	out_printf(o, "%-9s", word ? word : "unknown");
}

static void put_hex(struct out *o, uint64_t v)
{
	out_char(o, ' ');
	out_hex(o, v);
}

static void put_dec(struct out *o, uint32_t v)
{
	out_char(o, ' ');
	out_s64(o, (int32_t)v);
}

static void put_chain(struct out *o, const struct pmclog_rec *r)
{
	uint32_t flags = REC32(r, callchain, cpuflags), i, n;

	n = (uint32_t)(r->len - sizeof(struct pmclog_callchain)) / 8;
	put_dec(o, REC32(r, callchain, pid));
	put_hex(o, REC32(r, callchain, pmcid));
	put_dec(o, PMCLOG_CC_CPU(flags));
	put_dec(o, n);
	out_str(o, flags & PMCLOG_CC_USERSPACE ? " u" : " s");
	for (i = 0; i < n; i++) {
		out_str(o, "\n...      ");
		put_hex(o, pmclog_get64(r->data + 8 * (size_t)i +
					sizeof(struct pmclog_callchain)));
	}
}

/* how a field is written; STRING: up to its NUL */
enum how { NONE, HEX, HEX64, DEC, COUNT, BARE_HEX, EVENT, CPUTYPE, STRING };

#define F(how, record, field)	{ how, offsetof(struct pmclog_##record, field) }

/* the fields of each record, in FreeBSD's order */
static const struct column {
	enum how how;
	size_t offset;
} columns[][6] = {
	[PMCLOG_T_INITIALIZE] = {
		F(HEX, initialize, version), F(CPUTYPE, initialize, cputype) },
	[PMCLOG_T_PMCALLOCATE] = {
		F(HEX, pmcallocatedyn, pmcid), F(EVENT, pmcallocatedyn, event),
		F(HEX, pmcallocatedyn, flags) },
	[PMCLOG_T_PMCALLOCATEDYN] = {
		F(HEX, pmcallocatedyn, pmcid), F(STRING, pmcallocatedyn, name),
		F(HEX, pmcallocatedyn, flags) },
	[PMCLOG_T_PMCATTACH] = {
		F(HEX, pmcattach, pmcid), F(DEC, pmcattach, pid),
		F(STRING, pmcattach, path) },
	[PMCLOG_T_PMCDETACH] = {
		F(HEX, pmcdetach, pmcid), F(DEC, pmcdetach, pid) },
	[PMCLOG_T_PROCCSW] = {
		F(HEX, proccsw, pmcid), F(DEC, proccsw, pid),
		F(COUNT, proccsw, value) },
	[PMCLOG_T_PROCEXIT] = {
		F(HEX, procexit, pmcid), F(DEC, procexit, pid),
		F(COUNT, procexit, value) },
	[PMCLOG_T_USERDATA] = { F(HEX, userdata, userdata) },
	[PMCLOG_T_MAP_IN] = {
		F(DEC, map_in, pid), F(HEX64, map_in, start),
		F(STRING, map_in, path) },
	[PMCLOG_T_MAP_OUT] = {
		F(DEC, map_out, pid), F(HEX64, map_out, start),
		F(HEX64, map_out, end) },
	[PMCLOG_T_PROCEXEC] = {
		F(HEX, procexec, pmcid), F(DEC, procexec, pid),
		F(HEX64, procexec, base), F(HEX64, procexec, dyn),
		F(STRING, procexec, path) },
	[PMCLOG_T_PROCFORK] = {
		F(DEC, procfork, oldpid), F(DEC, procfork, newpid) },
	[PMCLOG_T_SYSEXIT] = { F(DEC, sysexit, pid) },
	[PMCLOG_T_PROC_CREATE] = {
		F(DEC, proc_create, pid), F(BARE_HEX, proc_create, flags),
		F(STRING, proc_create, comm) },
	[PMCLOG_T_THR_CREATE] = {
		F(DEC, thr_create, tid), F(DEC, thr_create, pid),
		F(BARE_HEX, thr_create, flags), F(STRING, thr_create, name) },
	[PMCLOG_T_THR_EXIT] = { F(DEC, thr_exit, tid) },
};

static void put_column(struct out *o, const unsigned char *p, enum how how)
{
	out_char(o, ' ');
	switch (how) {
	case NONE:
		break;
	case HEX:
		out_hex(o, pmclog_get32(p));
		break;
	case HEX64:
		out_hex(o, pmclog_get64(p));
		break;
	case DEC:
		out_s64(o, (int32_t)pmclog_get32(p));
		break;
	case COUNT:
		out_u64(o, pmclog_get64(p));
		break;
	case BARE_HEX:
		out_printf(o, "%x", pmclog_get32(p));
		break;
	case EVENT:	/* FreeBSD prints a number for want of its name */
		out_printf(o, "\"%#x\"", pmclog_get32(p));
		break;
	case CPUTYPE:
		out_printf(o, "\"%s\"", pmc_name_of_cputype(
				(enum pmc_cputype)pmclog_get32(p)));
		break;
	case STRING:
		out_quoted(o, (const char *)p, strlen((const char *)p));
		break;
	}
}

static void put_columns(struct out *o, const struct pmclog_rec *r)
{
	const struct column *c;

	if (r->type >= nitems(columns))
		return;
	for (c = columns[r->type]; c->how; c++)
		put_column(o, r->data + c->offset, c->how);
}

static void put_raw(struct out *o, const struct pmclog_rec *r,
		    const struct tracepoints *tps)
{
	struct tp_raw raw = tp_raw(r);

	out_char(o, ' ');
	tp_put_text(o, tp_of(tps, REC32(r, ext_raw, pmcid)), &raw, false);
}

static void put_detail(struct out *o, const struct pmclog_rec *r)
{
	struct detail d = detail_of(r);
	char text[DETAIL_SOURCE_MAX];

	if (d.has & PMCLOG_DETAIL_SOURCE) {
		detail_source(d.source, text);
		out_printf(o, " mem=\"%s\"", text);
	}
	if (d.has & PMCLOG_DETAIL_WEIGHT)
		out_printf(o, " weight=%u", DETAIL_LATENCY(d.weight));
	if (d.has & PMCLOG_DETAIL_ADDR)
		out_printf(o, " addr=%#llx", (unsigned long long)d.addr);
	if (d.has & PMCLOG_DETAIL_BRANCHES)
		out_printf(o, " branches=%u", d.n);
}

static void put_snapshot(struct out *o, const struct pmclog_rec *r)
{
	const char *cause = snapshot_name(REC32(r, ext_snapshot, cause));

	out_printf(o, " cause=%s pmcid=%#x pid=%d status=%#x when=%llu"
		   " since=%llu", cause ? cause : "?",
		   REC32(r, ext_snapshot, pmcid),
		   (int)REC32(r, ext_snapshot, pid),
		   REC32(r, ext_snapshot, status),
		   (unsigned long long)REC64(r, ext_snapshot, when),
		   (unsigned long long)REC64(r, ext_snapshot, since));
}

static void put_ext(struct out *o, const struct pmclog_rec *r,
		    const struct tracepoints *tps)
{
	uint32_t subtype = pmclog_iter_ext_subtype(r);

	if (!subtype)
		return;
	out_printf(o, " hwpmc %s", record_layout(r)->word);
	switch (subtype) {
	case PMCLOG_EXT_RAW:
		put_raw(o, r, tps);
		break;
	case PMCLOG_EXT_DETAIL:
		put_detail(o, r);
		break;
	case PMCLOG_EXT_RECORD:
		out_printf(o, " on=%u npmc=%u skew=%llu",
			   REC32(r, ext_record, on),
			   REC32(r, ext_record, npmc),
			   (unsigned long long)REC64(r, ext_record, skew));
		break;
	case PMCLOG_EXT_SNAPSHOT:
		put_snapshot(o, r);
		break;
	case PMCLOG_EXT_PERIOD:
		out_printf(o, " pmcid=%#x cpu=%u period=%llu",
			   REC32(r, ext_period, pmcid),
			   REC32(r, ext_period, cpu),
			   (unsigned long long)REC64(r, ext_period, period));
		break;
	}
}

/* Writes data that FreeBSD's lines have no field for. */
static void put_ours(struct out *o, const struct pmclog_rec *r,
		     const struct tracepoints *tps)
{
	const char *cause;

	switch (r->type) {
	case PMCLOG_T_DROPNOTIFY:
		if (r->len < sizeof(struct pmclog_dropnotify))
			break;
		cause = cause_name(REC32(r, dropnotify, cause));
		out_printf(o, " count=%llu cause=%s cpu=%u pmcid=%#x",
			   (unsigned long long)REC64(r, dropnotify, count),
			   cause ? cause : "?", REC32(r, dropnotify, cpu),
			   REC32(r, dropnotify, pmcid));
		break;
	case PMCLOG_T_USERDATA:
		put_ext(o, r, tps);
		break;
	case PMCLOG_T_PROCEXIT:
		if (r->len < sizeof(struct pmclog_procexit))
			break;
		out_printf(o, " enabled=%llu running=%llu",
			   (unsigned long long)REC64(r, procexit, enabled),
			   (unsigned long long)REC64(r, procexit, running));
		break;
	}
}

static void put_record(struct out *o, const struct pmclog_rec *r,
		       const struct tracepoints *tps, int verbose)
{
	put_word(o, r);
	if (r->type == PMCLOG_T_CALLCHAIN) {
		put_chain(o, r);
	} else {
		put_columns(o, r);
		if (!pmclog_iter_type_name(r->type))
			out_printf(o, " type %u", r->type);
		if (verbose)
			put_ours(o, r, tps);
	}
	out_char(o, '\n');
}

/* A RAW record is shown if its sample was. */
static bool is_wanted(const struct reading *o, const struct pmclog_rec *r,
		      bool last)
{
	if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_RAW ||
	    pmclog_iter_ext_subtype(r) == PMCLOG_EXT_DETAIL)
		return last;
	return !input_unwanted(o, r);
}

/* Called at the first record: an invalid log must not overwrite a file. */
static int open_out(const struct reading *o, struct out *out)
{
	const char *path = o->text_path;

	if (!path || !strcmp(path, "-"))
		return 0;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd >= 0)
		return 0;
	warn_line("cannot open %s: %s", path, strerror(errno));
	return EX_CANTCREAT;
}

static int dump(const struct reading *o, struct input *in, struct out *out)
{
	struct tracepoints tps = { .tp = NULL };
	enum pmclog_iter_status status;
	struct pmclog_rec r;
	bool wanted = true, any = false;

	do {
		status = input_poll(in, &r);
		if (status == PMCLOG_ITER_RECORD && !any && open_out(o, out))
			return EX_CANTCREAT;
		any |= status == PMCLOG_ITER_RECORD;
		if (status == PMCLOG_ITER_MORE) {
			/* show what has arrived before waiting for more */
			out_flush(out);
			input_wait(in, -1);
		} else if (status == PMCLOG_ITER_RECORD) {
			tp_record(&tps, &r);
			wanted = is_wanted(o, &r, wanted);
			if (wanted)
				put_record(out, &r, &tps, o->verbose);
		}
	} while (status > 0 && !out->error);
	tp_free(&tps);
	if (status == PMCLOG_ITER_ERROR) {
		out_flush(out);
		return input_failed(in);
	}
	return any ? 0 : input_was_empty(in);
}

int read_dump(const struct reading *o, struct input *in)
{
	struct out *out = out_stdout();
	int status = dump(o, in, out);

	if (out_finish(out))
		status = EX_IOERR;
	if (out->fd != STDOUT_FILENO && out->fd >= 0 && close(out->fd)) {
		warn_line("cannot write %s: %s", o->text_path, strerror(errno));
		status = EX_IOERR;
	}
	out->fd = STDOUT_FILENO;
	return status;
}
