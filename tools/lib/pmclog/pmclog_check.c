// SPDX-License-Identifier: BSD-2-Clause
/* Checks of the structure of a single record. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pmclog_check.h"
#include "pmclog_iter.h"
#include "pmclog_wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "fields are read as they lie in the log");

#define NTYPES	(PMCLOG_T_PROC_CREATE + 1)

/*
 * @min:  length of the fixed part
 * @str:  offset of the record's string, 0 for none
 * @size: of the string's field; 0: the string may extend to the end of the record
 */
struct shape {
	uint16_t min;
	uint16_t str;
	uint16_t size;
};

#define PATH(type) { sizeof(type), offsetof(type, path), 0 }

static const struct shape shapes[NTYPES] = {
	[PMCLOG_T_CLOSELOG] = { sizeof(struct pmclog_hdr), 0, 0 },
	[PMCLOG_T_DROPNOTIFY] = { sizeof(struct pmclog_hdr), 0, 0 },
	[PMCLOG_T_INITIALIZE] = {
		sizeof(struct pmclog_initialize),
		offsetof(struct pmclog_initialize, cpuid), PMCLOG_CPUID_LEN },
	[PMCLOG_T_PMCALLOCATE] = { sizeof(struct pmclog_wire_allocate), 0, 0 },
	[PMCLOG_T_PMCATTACH] = PATH(struct pmclog_pmcattach),
	[PMCLOG_T_PMCDETACH] = { sizeof(struct pmclog_pmcdetach), 0, 0 },
	[PMCLOG_T_PROCCSW] = { sizeof(struct pmclog_proccsw), 0, 0 },
	[PMCLOG_T_PROCEXEC] = PATH(struct pmclog_procexec),
	[PMCLOG_T_PROCEXIT] = { PMCLOG_PROCEXIT_BASE, 0, 0 },
	[PMCLOG_T_PROCFORK] = { sizeof(struct pmclog_procfork), 0, 0 },
	[PMCLOG_T_SYSEXIT] = { sizeof(struct pmclog_sysexit), 0, 0 },
	[PMCLOG_T_USERDATA] = { sizeof(struct pmclog_userdata), 0, 0 },
	[PMCLOG_T_MAP_IN] = PATH(struct pmclog_map_in),
	[PMCLOG_T_MAP_OUT] = { sizeof(struct pmclog_map_out), 0, 0 },
	[PMCLOG_T_CALLCHAIN] = { sizeof(struct pmclog_callchain), 0, 0 },
	[PMCLOG_T_PMCALLOCATEDYN] = {
		PMCLOG_PMCALLOCATEDYN_BASE,
		offsetof(struct pmclog_pmcallocatedyn, name), PMCLOG_NAME_MAX },
	[PMCLOG_T_THR_CREATE] = {
		PMCLOG_THR_CREATE_LEN,
		offsetof(struct pmclog_thr_create, name), PMCLOG_COMM_MAX },
	[PMCLOG_T_THR_EXIT] = { sizeof(struct pmclog_thr_exit), 0, 0 },
	[PMCLOG_T_PROC_CREATE] = {
		PMCLOG_PROC_CREATE_LEN,
		offsetof(struct pmclog_proc_create, comm), PMCLOG_COMM_MAX },
};

/* @str is where the strings begin, @nstr how many there are */
struct ext_shape {
	uint16_t min;
	uint16_t str;
	uint16_t nstr;
};

static const struct ext_shape ext_shapes[] = {
	[PMCLOG_EXT_CLOCK] = { sizeof(struct pmclog_ext_clock), 0, 0 },
	[PMCLOG_EXT_HOST] = {
		sizeof(struct pmclog_ext_host),
		offsetof(struct pmclog_ext_host, release), 2 },
	[PMCLOG_EXT_KERNEL] = {
		sizeof(struct pmclog_ext_kernel),
		offsetof(struct pmclog_ext_kernel, symbol), 1 },
	[PMCLOG_EXT_MAPPING] = { sizeof(struct pmclog_ext_mapping), 0, 0 },
	[PMCLOG_EXT_MODULE] = {
		sizeof(struct pmclog_ext_module),
		offsetof(struct pmclog_ext_module, name), 1 },
	[PMCLOG_EXT_SECTION] = {
		sizeof(struct pmclog_ext_section),
		offsetof(struct pmclog_ext_section, names), 2 },
	[PMCLOG_EXT_BUILDID] = {
		sizeof(struct pmclog_ext_buildid),
		offsetof(struct pmclog_ext_buildid, name), 1 },
	[PMCLOG_EXT_RATE] = { sizeof(struct pmclog_ext_rate), 0, 0 },
	[PMCLOG_EXT_SAMPLES] = { sizeof(struct pmclog_ext_samples), 0, 0 },
	[PMCLOG_EXT_USERCHAIN] = { sizeof(struct pmclog_ext_userchain), 0, 0 },
	[PMCLOG_EXT_FILTERED] = {
		sizeof(struct pmclog_ext_filtered),
		offsetof(struct pmclog_ext_filtered, conditions), 1 },
	[PMCLOG_EXT_RAW] = { sizeof(struct pmclog_ext_raw), 0, 0 },
	[PMCLOG_EXT_FIELDS] = {
		sizeof(struct pmclog_ext_fields),
		offsetof(struct pmclog_ext_fields, text), 1 },
	[PMCLOG_EXT_RECORD] = { sizeof(struct pmclog_ext_record), 0, 0 },
	[PMCLOG_EXT_SNAPSHOT] = { sizeof(struct pmclog_ext_snapshot), 0, 0 },
	[PMCLOG_EXT_PERIOD] = { sizeof(struct pmclog_ext_period), 0, 0 },
	[PMCLOG_EXT_DETAIL] = { sizeof(struct pmclog_ext_detail), 0, 0 },
};

#define NEXT_SHAPES (sizeof(ext_shapes) / sizeof(ext_shapes[0]))

/*
 * Subtype, version and flags share a word.  A version other than 0 makes the result
 * too large for a known subtype, and so do flags of a subtype that has none.
 */
static uint32_t ext_subtype(const unsigned char *p)
{
	uint32_t word = pmclog_get32(p + offsetof(struct pmclog_ext, subtype));

	if ((word & 0xFFFFFF) == PMCLOG_EXT_USERCHAIN)
		word = PMCLOG_EXT_USERCHAIN;
	if (pmclog_get32(p + offsetof(struct pmclog_ext, cookie)) !=
	    PMCLOG_EXT_COOKIE)
		return 0;
	return word < NEXT_SHAPES ? word : 0;
}

uint32_t pmclog_iter_ext_subtype(const struct pmclog_rec *rec)
{
	if (rec->type != PMCLOG_T_USERDATA ||
	    rec->len < sizeof(struct pmclog_ext))
		return 0;
	return ext_subtype(rec->data);
}

/* A reader must not skip such a pack: it would lose samples silently. */
static int unknown_pack(const unsigned char *p)
{
	uint32_t word = pmclog_get32(p + offsetof(struct pmclog_ext, subtype));

	return pmclog_get32(p + offsetof(struct pmclog_ext, cookie)) ==
	       PMCLOG_EXT_COOKIE && (word & 0xFFFF) == PMCLOG_EXT_SAMPLES;
}

static const char *check_ext(const unsigned char *p, uint32_t len)
{
	const unsigned char *end = p + len;
	const struct ext_shape *s;
	uint32_t subtype, i;

	subtype = ext_subtype(p);
	if (!subtype)
		return unknown_pack(p) ? "samples packed in an unknown way" :
					 NULL;	/* the reader skips it */
	s = &ext_shapes[subtype];
	if (len < s->min)
		return "extension record too short";
	if (subtype == PMCLOG_EXT_USERCHAIN && (len - s->min) % sizeof(uint64_t))
		return "user chain with a part of a pc";
	if (subtype == PMCLOG_EXT_DETAIL &&
	    (len - s->min) % sizeof(struct pmclog_branch))
		return "detail with a part of a branch";
	if (subtype == PMCLOG_EXT_RAW &&
	    pmclog_get32(p + offsetof(struct pmclog_ext_raw, len)) >
	    len - s->min)
		return "raw data longer than its record";
	for (p += s->str, i = 0; i < s->nstr; i++) {
		p = memchr(p, '\0', end - p);
		if (!p)
			return "string not terminated in an extension record";
		p++;
	}
	return NULL;
}

const char *pmclog_check_record(const unsigned char *p, uint32_t len,
				uint32_t type)
{
	const struct shape *s;

	if (type >= NTYPES || !shapes[type].min)
		return NULL;	/* unknown, the reader skips it */
	s = &shapes[type];
	if (len < s->min)
		return "record too short for its type";
	if (s->str && !memchr(p + s->str, '\0',
			      s->size ? s->size : len - s->str))
		return "string not terminated";
	if (type == PMCLOG_T_CALLCHAIN && (len - s->min) % sizeof(uint64_t))
		return "call chain with a part of a pc";
	if (type == PMCLOG_T_USERDATA)
		return check_ext(p, len);
	return NULL;
}

const char *pmclog_check_header(uint32_t header, uint32_t min)
{
	uint32_t len = PMCLOG_HEADER_LEN(header);

	if (PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC)
		return "bad magic";
	if (len < min)
		return "record shorter than its header";
	if (len % 4)
		return "record length not a multiple of 4";
	return NULL;
}

const char *pmclog_iter_type_name(uint32_t type)
{
	static const char *const names[NTYPES] = {
		[PMCLOG_T_CLOSELOG] = "closelog",
		[PMCLOG_T_DROPNOTIFY] = "drop",
		[PMCLOG_T_INITIALIZE] = "initlog",
		[PMCLOG_T_PMCALLOCATE] = "allocate",
		[PMCLOG_T_PMCATTACH] = "attach",
		[PMCLOG_T_PMCDETACH] = "detach",
		[PMCLOG_T_PROCCSW] = "cswval",
		[PMCLOG_T_PROCEXEC] = "exec",
		[PMCLOG_T_PROCEXIT] = "exitval",
		[PMCLOG_T_PROCFORK] = "fork",
		[PMCLOG_T_SYSEXIT] = "exit",
		[PMCLOG_T_USERDATA] = "userdata",
		[PMCLOG_T_MAP_IN] = "map-in",
		[PMCLOG_T_MAP_OUT] = "map-out",
		[PMCLOG_T_CALLCHAIN] = "callchain",
		[PMCLOG_T_PMCALLOCATEDYN] = "allocatedyn",
		[PMCLOG_T_THR_CREATE] = "thr-create",
		[PMCLOG_T_THR_EXIT] = "thr-exit",
		[PMCLOG_T_PROC_CREATE] = "create",
	};

	return type < NTYPES ? names[type] : NULL;
}
