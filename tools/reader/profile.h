/* SPDX-License-Identifier: BSD-2-Clause */
/* What one pass over a log leaves for report, fold and flame. */
#ifndef READER_PROFILE_H
#define READER_PROFILE_H

#include "chains.h"
#include "events.h"
#include "imagefile.h"
#include "input.h"
#include "objects.h"
#include "pmclog_iter.h"
#include "procs.h"

#define BUILDID_MAX	32

/* build-id of a file as logged */
struct buildid {
	uint32_t name;
	uint32_t len;
	unsigned char id[BUILDID_MAX];
};

/* a MAP_IN whose extent may be told by the next record */
struct pending_map {
	bool valid;
	uint32_t pid;
	uint64_t start;
	uint32_t path;
};

/**
 * struct func - something with a name that frames are in
 * @name:  string number of the raw symbol; 0: none was found
 * @entry: of a function without a name: where it begins in the object; 0: not
 *         known either
 * @shown: string number of the name to show, 0 until it is asked for
 */
struct func {
	uint64_t entry;
	uint32_t name;
	uint32_t obj;
	uint32_t shown;
};

struct funcs {
	struct func *func;
	uint32_t n, cap;
	struct idtab tab;
};

/* what the log says of itself and of its machine */
struct log_facts {
	const char *release, *host;	/* NULL if not logged */
	char cpuid[PMCLOG_CPUID_LEN];
	uint32_t ncpu, machine;
	int64_t ts_sec, ts_nsec;	/* wall clock at @begin */
	uint64_t begin, end;		/* clock of first and last record */
	uint64_t ref_addr;		/* relocation of the kernel */
	const char *ref_symbol;		/* NULL if not logged */
	bool closed;			/* CLOSELOG seen */
	bool has_account;
	struct pmclog_account account;
	uint64_t records;
	char *error;			/* where reading stopped, or NULL */
};

struct profile {
	struct strtab str;
	struct objects objs;
	struct frames frames;
	struct funcs funcs;
	struct chains chains;
	struct procs procs;
	struct events events;
	struct aspace *kernel;
	uint32_t kgen;
	struct pending_map pending;
	struct buildid *bid;
	uint32_t nbid, capbid;
	struct log_facts log;
	const struct image_root *root;
};

void profile_init(struct profile *p, const struct image_root *root);
void profile_free(struct profile *p);

/* Reads a log to its end or first fault (then log.error is set). */
void profile_read(struct profile *p, struct input *in);
const struct buildid *profile_buildid(const struct profile *p, uint32_t name);

/* records that change what is mapped: profile_map.c */
void profile_map_in(struct profile *p, const struct pmclog_rec *r);
void profile_map_out(struct profile *p, const struct pmclog_rec *r);
void profile_ext_mapping(struct profile *p, const struct pmclog_rec *r);
void profile_ext_module(struct profile *p, const struct pmclog_rec *r);
void profile_settle_slow(struct profile *p);

/* Call before anything that depends on what is mapped. */
static inline void profile_settle(struct profile *p)
{
	if (p->pending.valid)
		profile_settle_slow(p);
}

/* Frame of a pc; @ret: it is a return address. */
uint32_t profile_frame(struct profile *p, const struct aspace *as, uint64_t pc,
		       bool ret);

#endif /* READER_PROFILE_H */
