// SPDX-License-Identifier: BSD-2-Clause
/* The fields of every record. */
#include <elf.h>
#include <string.h>

#include <linux/hwpmc.h>

#include <pmclog_wire.h>

#include "base/mem.h"
#include "log/causes.h"
#include "log/chain_end.h"
#include "log/record.h"

/* F: name=value; P: the value alone */
#define F(type, field, kind) \
	{ #field, offsetof(struct type, field), FIELD_##kind, 0, 0 }
#define P(type, field, kind) \
	{ #field, offsetof(struct type, field), FIELD_##kind, 0, 1 }
#define SIZED(type, field, kind, bytes, plain) \
	{ #field, offsetof(struct type, field), FIELD_##kind, bytes, plain }
#define RENAMED(name, type, field, kind) \
	{ name, offsetof(struct type, field), FIELD_##kind, 0, 0 }
#define DROPPED(cause, name, text) \
	{ "dropped_" name, offsetof(struct pmclog_closelog, account.dropped) \
	  + 8 * PMCLOG_DROP_##cause, FIELD_U64, 0, 0 },
#define CUT(cause, name, text) \
	{ "cut_" name, offsetof(struct pmclog_closelog, account.cut_by) \
	  + 8 * PMCLOG_CUT_##cause, FIELD_U64, 0, 0 },
#define ACCOUNT(field) \
	{ #field, offsetof(struct pmclog_closelog, account.field), \
	  FIELD_U64, 0, 0 }

/* fields that a DETAIL has only with their bit */
#define HAD(field, kind, bit) \
	{ #field, offsetof(struct pmclog_ext_detail, field), FIELD_HAD_##kind, \
	  PMCLOG_DETAIL_##bit, 0 }

#define LAYOUT(word, ...) \
	{ word, (const struct field[]){ __VA_ARGS__ }, \
	  sizeof((const struct field[]){ __VA_ARGS__ }) / sizeof(struct field) }

static const struct layout layouts[] = {
	[PMCLOG_T_CLOSELOG] = LAYOUT("closelog",
		ACCOUNT(overflows),
		ACCOUNT(committed),
		DROP_CAUSES(DROPPED)
		ACCOUNT(filtered),
		ACCOUNT(written),
		ACCOUNT(discarded),
		ACCOUNT(in_rings),
		ACCOUNT(proc_committed),
		ACCOUNT(proc_dropped),
		ACCOUNT(made),
		ACCOUNT(cut),
		ACCOUNT(throttled),
		CUT_CAUSES(CUT)
		ACCOUNT(late),
		ACCOUNT(late_answered)),
	[PMCLOG_T_DROPNOTIFY] = LAYOUT("drop",
		F(pmclog_dropnotify, pmcid, X32),
		F(pmclog_dropnotify, cpu, U32),
		F(pmclog_dropnotify, cause, CAUSE),
		F(pmclog_dropnotify, pad, PAD),
		F(pmclog_dropnotify, count, U64),
		F(pmclog_dropnotify, first, U64),
		F(pmclog_dropnotify, last, U64)),
	[PMCLOG_T_INITIALIZE] = LAYOUT("initlog",
		P(pmclog_initialize, version, X32),
		SIZED(pmclog_initialize, cpuid, NAME, PMCLOG_CPUID_LEN, 1),
		F(pmclog_initialize, cputype, X32),
		F(pmclog_initialize, tsc_freq, U64),
		F(pmclog_initialize, ts_sec, S64),
		F(pmclog_initialize, ts_nsec, S64)),
	[PMCLOG_T_PMCALLOCATE] = LAYOUT("allocate",
		P(pmclog_wire_allocate, pmcid, X32),
		P(pmclog_wire_allocate, event, X32),
		P(pmclog_wire_allocate, flags, X32),
		F(pmclog_wire_allocate, pad, PAD),
		F(pmclog_wire_allocate, rate, U64)),
	[PMCLOG_T_PMCATTACH] = LAYOUT("attach",
		P(pmclog_pmcattach, pmcid, X32),
		P(pmclog_pmcattach, pid, S32),
		P(pmclog_pmcattach, path, TAIL)),
	[PMCLOG_T_PMCDETACH] = LAYOUT("detach",
		P(pmclog_pmcdetach, pmcid, X32),
		P(pmclog_pmcdetach, pid, S32)),
	[PMCLOG_T_PROCCSW] = LAYOUT("cswval",
		P(pmclog_proccsw, pmcid, X32),
		P(pmclog_proccsw, pid, S32),
		P(pmclog_proccsw, value, U64),
		F(pmclog_proccsw, tid, S32),
		F(pmclog_proccsw, pad, PAD)),
	[PMCLOG_T_PROCEXEC] = LAYOUT("exec",
		P(pmclog_procexec, pmcid, X32),
		P(pmclog_procexec, pid, S32),
		P(pmclog_procexec, base, X64),
		P(pmclog_procexec, dyn, X64),
		P(pmclog_procexec, path, TAIL)),
	[PMCLOG_T_PROCEXIT] = LAYOUT("exitval",
		P(pmclog_procexit, pmcid, X32),
		P(pmclog_procexit, pid, S32),
		P(pmclog_procexit, value, U64),
		F(pmclog_procexit, enabled, U64),
		F(pmclog_procexit, running, U64)),
	[PMCLOG_T_PROCFORK] = LAYOUT("fork",
		P(pmclog_procfork, oldpid, S32),
		P(pmclog_procfork, newpid, S32)),
	[PMCLOG_T_SYSEXIT] = LAYOUT("exit",
		P(pmclog_sysexit, pid, S32),
		F(pmclog_sysexit, pad, PAD)),
	[PMCLOG_T_USERDATA] = LAYOUT("userdata",
		P(pmclog_userdata, userdata, X32),
		F(pmclog_userdata, pad, PAD)),
	[PMCLOG_T_MAP_IN] = LAYOUT("map-in",
		P(pmclog_map_in, pid, S32),
		F(pmclog_map_in, pad, PAD),
		P(pmclog_map_in, start, X64),
		P(pmclog_map_in, path, TAIL)),
	[PMCLOG_T_MAP_OUT] = LAYOUT("map-out",
		P(pmclog_map_out, pid, S32),
		F(pmclog_map_out, pad, PAD),
		P(pmclog_map_out, start, X64),
		P(pmclog_map_out, end, X64)),
	[PMCLOG_T_CALLCHAIN] = LAYOUT("callchain",
		P(pmclog_callchain, pid, S32),
		P(pmclog_callchain, pmcid, X32),
		P(pmclog_callchain, cpuflags, CHAIN),
		F(pmclog_callchain, tid, S32)),
	[PMCLOG_T_PMCALLOCATEDYN] = LAYOUT("allocatedyn",
		P(pmclog_pmcallocatedyn, pmcid, X32),
		SIZED(pmclog_pmcallocatedyn, name, NAME, PMCLOG_NAME_MAX, 1),
		P(pmclog_pmcallocatedyn, flags, X32),
		F(pmclog_pmcallocatedyn, event, X32),
		F(pmclog_pmcallocatedyn, pad, PAD),
		F(pmclog_pmcallocatedyn, rate, U64),
		F(pmclog_pmcallocatedyn, config, X64),
		F(pmclog_pmcallocatedyn, type, U32),
		F(pmclog_pmcallocatedyn, cpu, S32)),
	[PMCLOG_T_THR_CREATE] = LAYOUT("thr-create",
		P(pmclog_thr_create, tid, S32),
		P(pmclog_thr_create, pid, S32),
		P(pmclog_thr_create, flags, X32),
		F(pmclog_thr_create, pad, PAD),
		SIZED(pmclog_thr_create, name, NAME, PMCLOG_COMM_MAX, 1)),
	[PMCLOG_T_THR_EXIT] = LAYOUT("thr-exit",
		P(pmclog_thr_exit, tid, S32),
		F(pmclog_thr_exit, pad, PAD)),
	[PMCLOG_T_PROC_CREATE] = LAYOUT("create",
		P(pmclog_proc_create, pid, S32),
		P(pmclog_proc_create, flags, X32),
		SIZED(pmclog_proc_create, comm, NAME, PMCLOG_COMM_MAX, 1)),
};

static const struct layout ext_layouts[] = {
	/* unknown subtype or version: pad may be in use there */
	[0] = LAYOUT("unknown",
		F(pmclog_ext, cookie, X32),
		RENAMED("subtype_version", pmclog_ext, subtype, X32)),
	[PMCLOG_EXT_CLOCK] = LAYOUT("clock",
		F(pmclog_ext_clock, raw, U64),
		F(pmclog_ext_clock, mono, U64),
		F(pmclog_ext_clock, real, U64)),
	[PMCLOG_EXT_HOST] = LAYOUT("host",
		F(pmclog_ext_host, ncpu, U32),
		F(pmclog_ext_host, page_size, U32),
		F(pmclog_ext_host, machine, MACHINE),
		F(pmclog_ext_host, owner_pid, S32),
		F(pmclog_ext_host, release, TAIL),
		RENAMED("nodename", pmclog_ext_host, release, TAIL2)),
	[PMCLOG_EXT_KERNEL] = LAYOUT("kernel",
		F(pmclog_ext_kernel, addr, X64),
		F(pmclog_ext_kernel, symbol, TAIL)),
	[PMCLOG_EXT_MAPPING] = LAYOUT("mapping",
		F(pmclog_ext_mapping, pid, S32),
		F(pmclog_ext_mapping, start, X64),
		F(pmclog_ext_mapping, len, X64),
		F(pmclog_ext_mapping, prot, PROT),
		F(pmclog_ext_mapping, offset, X64),
		F(pmclog_ext_mapping, dev_major, U32),
		F(pmclog_ext_mapping, dev_minor, U32),
		F(pmclog_ext_mapping, ino, U64)),
	[PMCLOG_EXT_MODULE] = LAYOUT("module",
		F(pmclog_ext_module, start, X64),
		F(pmclog_ext_module, len, X64),
		F(pmclog_ext_module, name, TAIL)),
	[PMCLOG_EXT_SECTION] = LAYOUT("section",
		F(pmclog_ext_section, addr, X64),
		RENAMED("module", pmclog_ext_section, names, TAIL),
		RENAMED("section", pmclog_ext_section, names, TAIL2)),
	[PMCLOG_EXT_BUILDID] = LAYOUT("buildid",
		{ "id", offsetof(struct pmclog_ext_buildid, len), FIELD_BYTES, 32, 0 },
		F(pmclog_ext_buildid, pad, PAD),
		F(pmclog_ext_buildid, name, TAIL)),
	[PMCLOG_EXT_RATE] = LAYOUT("rate",
		F(pmclog_ext_rate, pmcid, X32),
		F(pmclog_ext_rate, cpu, U32),
		F(pmclog_ext_rate, period, U64),
		F(pmclog_ext_rate, expected, U64),
		F(pmclog_ext_rate, achieved, U64),
		F(pmclog_ext_rate, throttled, U64),
		F(pmclog_ext_rate, enabled, U64),
		F(pmclog_ext_rate, running, U64)),
	[PMCLOG_EXT_SAMPLES] = LAYOUT("samples",
		F(pmclog_ext_samples, samples, U32),
		F(pmclog_ext_samples, pad, PAD)),
	[PMCLOG_EXT_USERCHAIN] = LAYOUT("userchain",
		F(pmclog_ext_userchain, pid, S32),
		F(pmclog_ext_userchain, tid, S32),
		F(pmclog_ext_userchain, first, U64),
		{ "ends", offsetof(struct pmclog_ext, flags), FIELD_ENDS, 1, 0 },
		RENAMED("npcs", pmclog_ext_userchain, pc, PCS)),
	[PMCLOG_EXT_FILTERED] = LAYOUT("filtered",
		F(pmclog_ext_filtered, samples, U64),
		F(pmclog_ext_filtered, conditions, TAIL)),
	[PMCLOG_EXT_RAW] = LAYOUT("raw",
		F(pmclog_ext_raw, pmcid, X32),
		F(pmclog_ext_raw, tid, S32),
		F(pmclog_ext_raw, len, U32),
		F(pmclog_ext_raw, size, U32),
		RENAMED("data", pmclog_ext_raw, len, DATA)),
	[PMCLOG_EXT_FIELDS] = LAYOUT("fields",
		F(pmclog_ext_fields, type, U32),
		F(pmclog_ext_fields, pad, PAD),
		F(pmclog_ext_fields, config, X64),
		F(pmclog_ext_fields, text, TAIL)),
	[PMCLOG_EXT_RECORD] = LAYOUT("record",
		F(pmclog_ext_record, on, U32),
		F(pmclog_ext_record, npmc, U32),
		F(pmclog_ext_record, skew, U64)),
	[PMCLOG_EXT_SNAPSHOT] = LAYOUT("snapshot",
		F(pmclog_ext_snapshot, cause, SNAPSHOT),
		F(pmclog_ext_snapshot, pmcid, X32),
		F(pmclog_ext_snapshot, pid, S32),
		F(pmclog_ext_snapshot, status, X32),
		F(pmclog_ext_snapshot, when, U64),
		F(pmclog_ext_snapshot, since, U64)),
	[PMCLOG_EXT_PERIOD] = LAYOUT("period",
		F(pmclog_ext_period, pmcid, X32),
		F(pmclog_ext_period, cpu, U32),
		F(pmclog_ext_period, period, U64)),
	[PMCLOG_EXT_DETAIL] = LAYOUT("detail",
		F(pmclog_ext_detail, pmcid, X32),
		F(pmclog_ext_detail, tid, S32),
		F(pmclog_ext_detail, has, X32),
		HAD(hidden, U32, BRANCHES),
		HAD(source, SOURCE, SOURCE),
		HAD(weight, X64, WEIGHT),
		HAD(addr, X64, ADDR),
		RENAMED("nbranches", pmclog_ext_detail, branch, BRANCHES)),
};

static int is_ext(const struct pmclog_rec *rec)
{
	return rec->type == PMCLOG_T_USERDATA && REC32(rec, ext, cookie) == PMCLOG_EXT_COOKIE &&
	       /* a user's own value that happens to be the cookie */
	       REC32(rec, ext, subtype);
}

const struct layout *record_layout(const struct pmclog_rec *rec)
{
	uint32_t subtype;

	if (is_ext(rec)) {
		subtype = pmclog_iter_ext_subtype(rec);
		return &ext_layouts[subtype < nitems(ext_layouts) ?
				    subtype : 0];
	}
	if (rec->type >= nitems(layouts) || !layouts[rec->type].word)
		return NULL;
	return &layouts[rec->type];
}

bool record_is_unknown(const struct pmclog_rec *rec)
{
	const struct layout *l = record_layout(rec);

	return !l || l == &ext_layouts[0] || (is_ext(rec) && !l->word);
}

const unsigned char field_sizes[FIELD_BRANCHES + 1] = {
	[FIELD_U32] = 4, [FIELD_S32] = 4, [FIELD_X32] = 4,
	[FIELD_U64] = 8, [FIELD_S64] = 8, [FIELD_X64] = 8,
	[FIELD_PROT] = 4, [FIELD_CAUSE] = 4, [FIELD_MACHINE] = 4,
	[FIELD_BYTES] = 8, [FIELD_NAME] = 0,	/* and @size */
	[FIELD_TAIL] = 1, [FIELD_TAIL2] = 1, [FIELD_PAD] = 4,
	[FIELD_CHAIN] = 4, [FIELD_PCS] = 0, [FIELD_DATA] = 8,
	[FIELD_SNAPSHOT] = 4, [FIELD_ENDS] = 1, [FIELD_HAD_U32] = 4,
	[FIELD_HAD_X64] = 8, [FIELD_HAD_SOURCE] = 8, [FIELD_BRANCHES] = 0,
};

uint64_t field_value(const struct field *f, const struct pmclog_rec *rec)
{
	const unsigned char *p = rec->data + f->offset;

	switch (f->kind) {
	case FIELD_U64:
	case FIELD_S64:
	case FIELD_X64:
	case FIELD_HAD_X64:
	case FIELD_HAD_SOURCE:
		return pmclog_get64(p);
	case FIELD_S32:
		return (int32_t)pmclog_get32(p);
	case FIELD_PCS:
		return (rec->len - f->offset) / 8;
	case FIELD_BRANCHES:
		return (rec->len - f->offset) / sizeof(struct pmclog_branch);
	case FIELD_ENDS:
		return ends_of((uint32_t)*p << 8);
	default:
		return pmclog_get32(p);
	}
}

/* The library has made sure that all strings end inside the record. */
const char *field_string(const struct field *f, const struct pmclog_rec *rec,
			 size_t *n)
{
	const char *s = (const char *)rec->data + f->offset;

	if (f->kind == FIELD_TAIL2)
		s += strlen(s) + 1;
	*n = strlen(s);
	return s;
}

const unsigned char *field_bytes(const struct field *f,
				 const struct pmclog_rec *rec, size_t *n)
{
	const unsigned char *p = rec->data + f->offset;
	uint32_t len = pmclog_get32(p);
	uint32_t room = f->kind == FIELD_DATA ? rec->len - f->offset - 8 :
						f->size;

	*n = len < room ? len : room;
	return p + 8;
}

uint32_t record_pcs(const struct pmclog_rec *rec, size_t *at)
{
	if (rec->type == PMCLOG_T_CALLCHAIN)
		*at = offsetof(struct pmclog_callchain, pc);
	else if (pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_USERCHAIN)
		*at = offsetof(struct pmclog_ext_userchain, pc);
	else
		return 0;
	return (rec->len - *at) / 8;
}

size_t record_pmcid_at(const struct pmclog_rec *rec)
{
	const struct layout *l;
	size_t i;

	if (rec->type == PMCLOG_T_CALLCHAIN)
		return offsetof(struct pmclog_callchain, pmcid);
	l = record_layout(rec);
	for (i = 0; l && i < l->nfields; i++)
		if (!strcmp(l->fields[i].name, "pmcid"))
			return l->fields[i].offset;
	return 0;
}

uint8_t record_ends(const struct pmclog_rec *rec)
{
	return ends_of((uint32_t)rec->data[offsetof(struct pmclog_ext, flags)]
		       << 8);
}

bool record_account(const struct pmclog_rec *rec, struct pmclog_account *a)
{
	size_t at = offsetof(struct pmclog_closelog, account);
	size_t len = rec->len - at;

	memset(a, 0, sizeof(*a));
	if (rec->len < offsetof(struct pmclog_closelog, account.cut_by))
		return false;
	memcpy(a, rec->data + at, len < sizeof(*a) ? len : sizeof(*a));
	return true;
}

void record_account_add(struct pmclog_account *sum,
			const struct pmclog_account *a)
{
	__u64 *to = (__u64 *)sum;
	const __u64 *from = (const __u64 *)a;
	size_t i;

	/* the account consists of numbers of this size only */
	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

bool record_account_has_cuts(const struct pmclog_rec *rec)
{
	/* not sizeof(): the account may grow, and old logs stay what they are */
	return rec->len >= offsetof(struct pmclog_closelog, account.late_answered) +
			   sizeof(__u64);
}

uint32_t record_pmc_flags(const struct pmclog_rec *rec)
{
	const uint32_t ours = HWPMC_F_FREQ | HWPMC_F_BRANCH | HWPMC_F_DATA;

	if (rec->type == PMCLOG_T_PMCALLOCATE)
		return REC32(rec, wire_allocate, flags) & ~ours;
	return REC32(rec, pmcallocatedyn, flags) &
	       (rec->len < sizeof(struct pmclog_pmcallocatedyn) ? ~ours : ~0U);
}

const char *machine_name(uint32_t machine)
{
	switch (machine) {
	case EM_386:		return "i386";
	case EM_X86_64:		return "x86_64";
	case EM_ARM:		return "arm";
	case EM_AARCH64:	return "aarch64";
	case EM_PPC64:		return "ppc64";
	case EM_S390:		return "s390x";
	case EM_RISCV:		return "riscv";
	case EM_LOONGARCH:	return "loongarch";
	default:		return NULL;
	}
}

bool machine_is_x86(uint32_t machine, const char *cpuid)
{
	static const char *const makers[] = {
		"GenuineIntel", "AuthenticAMD", "HygonGenuine",
		"CentaurHauls", "  Shanghai  ",
	};
	size_t i;

	if (machine)
		return machine == EM_X86_64 || machine == EM_386;
	for (i = 0; i < nitems(makers); i++)
		if (!strncmp(cpuid, makers[i], strlen(makers[i])))
			return true;
	return false;
}

const char *cause_name(uint32_t cause)
{
	return cause < PMCLOG_DROP_NCAUSE ? drop_names[cause] : NULL;
}

const char *cut_name(uint32_t cause)
{
	return cause < PMCLOG_CUT_NCAUSE ? cut_names[cause] : NULL;
}

const char *end_name(unsigned int bit)
{
	static const char *const names[] = {
		"whole", "tables", "cut_depth", "cut_user", "cut_kernel",
		"cut_table",
	};

	return bit < nitems(names) ? names[bit] : NULL;
}

const char *snapshot_name(uint32_t cause)
{
	static const char *const names[] = {
		[PMCLOG_SNAPSHOT_ASKED] = "asked",
		[PMCLOG_SNAPSHOT_PMC] = "pmc",
		[PMCLOG_SNAPSHOT_EXIT] = "exit",
	};

	return cause < nitems(names) ? names[cause] : NULL;
}
