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

#include "base/out.h"
#include "base/say.h"
#include "freebsd/log_source.h"
#include "log/fields.h"
#include "log/record.h"

#define U32(type, field)	PMCLOG_FIELD32(r, struct type, field)
#define U64(type, field)	PMCLOG_FIELD64(r, struct type, field)

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

static void put_value(struct out *o, uint64_t v)
{
	out_char(o, ' ');
	out_u64(o, v);
}

static void put_string(struct out *o, const struct pmclog_rec *r, size_t off)
{
	const char *s = (const char *)r->data + off;

	out_char(o, ' ');
	out_quoted(o, s, strlen(s));
}

#define STRING(type, field)	put_string(o, r, offsetof(struct type, field))

static void put_chain(struct out *o, const struct pmclog_rec *r)
{
	uint32_t flags = U32(pmclog_callchain, cpuflags), i, n;

	n = (uint32_t)(r->len - sizeof(struct pmclog_callchain)) / 8;
	put_dec(o, U32(pmclog_callchain, pid));
	put_hex(o, U32(pmclog_callchain, pmcid));
	put_dec(o, PMCLOG_CC_CPU(flags));
	put_dec(o, n);
	out_str(o, flags & PMCLOG_CC_USERSPACE ? " u" : " s");
	for (i = 0; i < n; i++) {
		out_str(o, "\n...      ");
		put_hex(o, pmclog_get64(r->data + 8 * (size_t)i +
					sizeof(struct pmclog_callchain)));
	}
}

static void put_pmc(struct out *o, const struct pmclog_rec *r)
{
	switch (r->type) {
	case PMCLOG_T_INITIALIZE:
		put_hex(o, U32(pmclog_initialize, version));
		out_printf(o, " \"%s\"", pmc_name_of_cputype((enum pmc_cputype)
				U32(pmclog_initialize, cputype)));
		break;
	case PMCLOG_T_PMCALLOCATE:
		/* the pmcid, then the event: FreeBSD prints a number if it has no name */
		put_hex(o, U32(pmclog_pmcallocatedyn, pmcid));
		out_printf(o, " \"%#x\"", U32(pmclog_pmcallocatedyn, event));
		put_hex(o, U32(pmclog_pmcallocatedyn, flags));
		break;
	case PMCLOG_T_PMCALLOCATEDYN:
		put_hex(o, U32(pmclog_pmcallocatedyn, pmcid));
		STRING(pmclog_pmcallocatedyn, name);
		put_hex(o, U32(pmclog_pmcallocatedyn, flags));
		break;
	case PMCLOG_T_PMCATTACH:
		put_hex(o, U32(pmclog_pmcattach, pmcid));
		put_dec(o, U32(pmclog_pmcattach, pid));
		STRING(pmclog_pmcattach, path);
		break;
	case PMCLOG_T_PMCDETACH:
		put_hex(o, U32(pmclog_pmcdetach, pmcid));
		put_dec(o, U32(pmclog_pmcdetach, pid));
		break;
	case PMCLOG_T_PROCCSW:
		put_hex(o, U32(pmclog_proccsw, pmcid));
		put_dec(o, U32(pmclog_proccsw, pid));
		put_value(o, U64(pmclog_proccsw, value));
		break;
	case PMCLOG_T_PROCEXIT:
		put_hex(o, U32(pmclog_procexit, pmcid));
		put_dec(o, U32(pmclog_procexit, pid));
		put_value(o, U64(pmclog_procexit, value));
		break;
	case PMCLOG_T_USERDATA:
		put_hex(o, U32(pmclog_userdata, userdata));
		break;
	}
}

static void put_process(struct out *o, const struct pmclog_rec *r)
{
	switch (r->type) {
	case PMCLOG_T_MAP_IN:
		put_dec(o, U32(pmclog_map_in, pid));
		put_hex(o, U64(pmclog_map_in, start));
		STRING(pmclog_map_in, path);
		break;
	case PMCLOG_T_MAP_OUT:
		put_dec(o, U32(pmclog_map_out, pid));
		put_hex(o, U64(pmclog_map_out, start));
		put_hex(o, U64(pmclog_map_out, end));
		break;
	case PMCLOG_T_PROCEXEC:
		put_hex(o, U32(pmclog_procexec, pmcid));
		put_dec(o, U32(pmclog_procexec, pid));
		put_hex(o, U64(pmclog_procexec, base));
		put_hex(o, U64(pmclog_procexec, dyn));
		STRING(pmclog_procexec, path);
		break;
	case PMCLOG_T_PROCFORK:
		put_dec(o, U32(pmclog_procfork, oldpid));
		put_dec(o, U32(pmclog_procfork, newpid));
		break;
	case PMCLOG_T_SYSEXIT:
		put_dec(o, U32(pmclog_sysexit, pid));
		break;
	case PMCLOG_T_PROC_CREATE:
		put_dec(o, U32(pmclog_proc_create, pid));
		out_printf(o, " %x", U32(pmclog_proc_create, flags));
		STRING(pmclog_proc_create, comm);
		break;
	case PMCLOG_T_THR_CREATE:
		put_dec(o, U32(pmclog_thr_create, tid));
		put_dec(o, U32(pmclog_thr_create, pid));
		out_printf(o, " %x", U32(pmclog_thr_create, flags));
		STRING(pmclog_thr_create, name);
		break;
	case PMCLOG_T_THR_EXIT:
		put_dec(o, U32(pmclog_thr_exit, tid));
		break;
	}
}

static void put_raw(struct out *o, const struct pmclog_rec *r,
		    const struct tracepoints *tps)
{
	struct tp_raw raw = tp_raw(r);

	out_char(o, ' ');
	tp_put_text(o, tp_of(tps, U32(pmclog_ext_raw, pmcid)), &raw, false);
}

static void put_snapshot(struct out *o, const struct pmclog_rec *r)
{
	const char *cause = snapshot_name(U32(pmclog_ext_snapshot, cause));

	out_printf(o, " cause=%s pmcid=%#x pid=%d status=%#x when=%llu"
		   " since=%llu", cause ? cause : "?",
		   U32(pmclog_ext_snapshot, pmcid),
		   (int)U32(pmclog_ext_snapshot, pid),
		   U32(pmclog_ext_snapshot, status),
		   (unsigned long long)U64(pmclog_ext_snapshot, when),
		   (unsigned long long)U64(pmclog_ext_snapshot, since));
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
	case PMCLOG_EXT_RECORD:
		out_printf(o, " on=%u npmc=%u skew=%llu",
			   U32(pmclog_ext_record, on),
			   U32(pmclog_ext_record, npmc),
			   (unsigned long long)U64(pmclog_ext_record, skew));
		break;
	case PMCLOG_EXT_SNAPSHOT:
		put_snapshot(o, r);
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
		cause = cause_name(U32(pmclog_dropnotify, cause));
		out_printf(o, " count=%llu cause=%s cpu=%u pmcid=%#x",
			   (unsigned long long)U64(pmclog_dropnotify, count),
			   cause ? cause : "?", U32(pmclog_dropnotify, cpu),
			   U32(pmclog_dropnotify, pmcid));
		break;
	case PMCLOG_T_USERDATA:
		put_ext(o, r, tps);
		break;
	case PMCLOG_T_PROCEXIT:
		if (r->len < sizeof(struct pmclog_procexit))
			break;
		out_printf(o, " enabled=%llu running=%llu",
			   (unsigned long long)U64(pmclog_procexit, enabled),
			   (unsigned long long)U64(pmclog_procexit, running));
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
		put_pmc(o, r);
		put_process(o, r);
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
	if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_RAW)
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
