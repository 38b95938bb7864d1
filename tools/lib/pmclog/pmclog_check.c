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
 * @name: FreeBSD's word for the type
 * @min:  length of the fixed part
 * @str:  offset of the record's string, 0 for none
 * @size: of the string's field; 0: the string may extend to the end of the record
 */
struct shape {
	const char *name;
	uint16_t min;
	uint16_t str;
	uint16_t size;
};

#define PATH(name, type) { name, sizeof(type), offsetof(type, path), 0 }

static const struct shape shapes[NTYPES] = {
	[PMCLOG_T_CLOSELOG] = { "closelog", sizeof(struct pmclog_hdr), 0, 0 },
	[PMCLOG_T_DROPNOTIFY] = { "drop", sizeof(struct pmclog_hdr), 0, 0 },
	[PMCLOG_T_INITIALIZE] = {
		"initlog", sizeof(struct pmclog_initialize),
		offsetof(struct pmclog_initialize, cpuid), PMCLOG_CPUID_LEN },
	[PMCLOG_T_PMCALLOCATE] = { "allocate", sizeof(struct pmclog_wire_allocate), 0, 0 },
	[PMCLOG_T_PMCATTACH] = PATH("attach", struct pmclog_pmcattach),
	[PMCLOG_T_PMCDETACH] = { "detach", sizeof(struct pmclog_pmcdetach), 0, 0 },
	[PMCLOG_T_PROCCSW] = { "cswval", sizeof(struct pmclog_proccsw), 0, 0 },
	[PMCLOG_T_PROCEXEC] = PATH("exec", struct pmclog_procexec),
	[PMCLOG_T_PROCEXIT] = { "exitval", PMCLOG_PROCEXIT_BASE, 0, 0 },
	[PMCLOG_T_PROCFORK] = { "fork", sizeof(struct pmclog_procfork), 0, 0 },
	[PMCLOG_T_SYSEXIT] = { "exit", sizeof(struct pmclog_sysexit), 0, 0 },
	[PMCLOG_T_USERDATA] = { "userdata", sizeof(struct pmclog_userdata), 0, 0 },
	[PMCLOG_T_MAP_IN] = PATH("map-in", struct pmclog_map_in),
	[PMCLOG_T_MAP_OUT] = { "map-out", sizeof(struct pmclog_map_out), 0, 0 },
	[PMCLOG_T_CALLCHAIN] = { "callchain", sizeof(struct pmclog_callchain), 0, 0 },
	[PMCLOG_T_PMCALLOCATEDYN] = {
		"allocatedyn", PMCLOG_PMCALLOCATEDYN_BASE,
		offsetof(struct pmclog_pmcallocatedyn, name), PMCLOG_NAME_MAX },
	[PMCLOG_T_THR_CREATE] = {
		"thr-create", PMCLOG_THR_CREATE_LEN,
		offsetof(struct pmclog_thr_create, name), PMCLOG_COMM_MAX },
	[PMCLOG_T_THR_EXIT] = { "thr-exit", sizeof(struct pmclog_thr_exit), 0, 0 },
	[PMCLOG_T_PROC_CREATE] = {
		"create", PMCLOG_PROC_CREATE_LEN,
		offsetof(struct pmclog_proc_create, comm), PMCLOG_COMM_MAX },
};

/* @str is where the strings begin, @nstr how many there are */
struct ext_shape {
	uint16_t min;
	uint16_t str;
	uint16_t nstr;
};

#define FIXED(name) { sizeof(struct pmclog_ext_##name), 0, 0 }
#define STRINGS(name, first, n) { \
	sizeof(struct pmclog_ext_##name), \
	offsetof(struct pmclog_ext_##name, first), n }

static const struct ext_shape ext_shapes[] = {
	[PMCLOG_EXT_CLOCK] = FIXED(clock),
	[PMCLOG_EXT_HOST] = STRINGS(host, release, 2),
	[PMCLOG_EXT_KERNEL] = STRINGS(kernel, symbol, 1),
	[PMCLOG_EXT_MAPPING] = FIXED(mapping),
	[PMCLOG_EXT_MODULE] = STRINGS(module, name, 1),
	[PMCLOG_EXT_SECTION] = STRINGS(section, names, 2),
	[PMCLOG_EXT_BUILDID] = STRINGS(buildid, name, 1),
	[PMCLOG_EXT_RATE] = FIXED(rate),
	[PMCLOG_EXT_SAMPLES] = FIXED(samples),
	[PMCLOG_EXT_USERCHAIN] = FIXED(userchain),
	[PMCLOG_EXT_FILTERED] = STRINGS(filtered, conditions, 1),
	[PMCLOG_EXT_RAW] = FIXED(raw),
	[PMCLOG_EXT_FIELDS] = STRINGS(fields, text, 1),
	[PMCLOG_EXT_RECORD] = FIXED(record),
	[PMCLOG_EXT_SNAPSHOT] = FIXED(snapshot),
	[PMCLOG_EXT_PERIOD] = FIXED(period),
	[PMCLOG_EXT_DETAIL] = FIXED(detail),
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

const char *pmclog_iter_type_name(uint32_t type)
{
	return type < NTYPES ? shapes[type].name : NULL;
}
