/* SPDX-License-Identifier: BSD-2-Clause */
/* What one pass over a log leaves for report, fold and flame. */
#ifndef READER_PROFILE_H
#define READER_PROFILE_H

#include "elf/imagefile.h"
#include "log/events.h"
#include "log/input.h"
#include "log/logclock.h"
#include "machine/buildids.h"
#include "machine/objects.h"
#include "machine/procs.h"
#include "pmclog_iter.h"
#include "profile/callers.h"
#include "profile/chains.h"
#include "profile/jits.h"
#include "profile/kmods.h"
#include "profile/live.h"
#include "sample/byfield.h"
#include "sample/ends.h"
#include "sample/filter.h"
#include "sample/late.h"
#include "sample/sample.h"

/* a MAP_IN whose extent may be told by the next record */
struct pending_map {
	bool valid;
	uint32_t pid;
	uint64_t start;
	uint32_t path;
};

/* a sample of a tracepoint, whose fields may be in the next record */
struct held_sample {
	bool valid;
	uint32_t event;
	struct pmclog_rec rec;	/* in @buf */
	unsigned char *buf;
	size_t cap;
};

/* Kernels are moved by whole pages at least: else it is another kernel. */
#define SLIDE_GRAIN	4096

/**
 * struct func - something with a name that frames are in
 * @name:  string number of the raw symbol; 0: none was found
 * @entry: of a function without a name: where it begins in the object; 0: not
 *         known either
 * @shown: string number of the name to show, 0 until it is asked for
 * @file:  string number of a path, and @line: functions are told apart by what
 *         was sampled in them; 0: they are not, or it is not known
 * @inlined: into another
 */
struct func {
	uint64_t entry;
	uint32_t name;
	uint32_t obj;
	uint32_t shown;
	uint32_t file, line;
	bool inlined;
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
	uint32_t version;		/* of its format */
	uint64_t freq;			/* ticks of the clock a second, or 0 */
	struct logclock clock;		/* where several logs follow each other */
	uint64_t begin, end;		/* clock of first and last record */
	uint64_t last;			/* @end to be, if known before; or 0 */
	uint64_t ref_addr;		/* relocation of the kernel */
	const char *ref_symbol;		/* NULL if not logged */
	const char *ref_release;	/* whose that is, or NULL */
	bool initialized;		/* INITIALIZE seen */
	/* of which it is a part: its samples, and why these; or 0, NULL */
	uint64_t part_of;
	const char *conditions;
	bool told_part;			/* by the log that we are in */
	bool closed;			/* CLOSELOG seen */
	bool unaccounted;		/* an earlier log told none */
	bool has_account;
	struct pmclog_account account;	/* of all logs together */
	uint64_t records;
	uint64_t wrong_times;		/* of them; they were made right */
	char *error;			/* what is not as it should be, or NULL */
	bool cut;			/* it is where reading stopped */
};

/**
 * struct other_boot - of logs that follow each other: the kernel of this one is
 * not where the first one's was
 * @moved: how far it was moved since then
 * @alien: it is another kernel, so that is not known
 */
struct other_boot {
	uint64_t moved;
	bool alien;
};

/* what a frame is of */
struct place_id {
	uint64_t addr;
	uint32_t obj;
};

#include "profile/profile_batch.h"
#include "profile/profile_self.h"

/**
 * struct profile - what is known of what was read
 * @filter:    which samples are wanted; NULL: all
 * @on_begin:  is told that there is a log, with its first record; false: no
 *	       more of it is wanted
 * @on_sample: is told of each wanted one when its chain is known: in the order
 *	       of the log, but for those whose user chain came later
 * @on_samples: the same for who wants their frames, and no chains; of some at
 *	       a time
 * @innermost: chains are cut to their first frame
 * Set these five, groups.by (and .length) and field.name after profile_init().
 */
struct profile {
	struct filter *filter;
	bool (*on_begin)(void *ctx);
	void (*on_sample)(void *ctx, const struct sample *s);
	void (*on_samples)(void *ctx, const struct sample *s, uint32_t n);
	void *on_sample_ctx;
	bool innermost;
	struct groups groups;
	struct strtab str;
	struct objects objs;
	struct frames frames;
	struct funcs funcs;
	struct chains chains;
	struct callers callers;
	struct batch batch;
	struct roll roll;
	struct selfs self;
	struct late late;
	struct ends ends;
	struct held_sample held;
	struct tracepoints tps;
	struct byfield field;
	struct procs procs;
	struct events events;
	struct aspace *kernel;
	struct other_boot other;
	uint32_t kgen;
	struct pending_map pending;
	struct buildids ids;
	struct kmods kmods;
	struct jits jits;
	struct lives lives;	/* for what is not found otherwise */
	struct log_facts log;
	const struct image_root *root;
	bool by_line;			/* names are shown with lines */
};

void profile_init(struct profile *p, const struct image_root *root);
void profile_free(struct profile *p);

/*
 * A record, in the log's order.  Chains and their counts are complete after
 * profile_finish(); profile_look() makes them right for now (some may have no
 * samples left), and the log may go on.
 */
void profile_record(struct profile *p, const struct pmclog_rec *r);
/*
 * Of a record, that it was there, on the stream's clock: for who looks into
 * some himself.
 */
void profile_moment(struct profile *p, uint64_t tsc);
void profile_look(struct profile *p);
void profile_finish(struct profile *p);

/* Reads a log to its end or first fault (then log.error is set). */
void profile_read(struct profile *p, struct input *in);

/* Forgets chains and samples that wait, but not what is known of processes. */
void profile_forget(struct profile *p);

/* samples: profile_sample.c */
void profile_callchain(struct profile *p, const struct pmclog_rec *r);
void profile_userchain(struct profile *p, const struct pmclog_rec *r);
/*
 * Between two records: passes over samples of other times than the filter's.
 * Most of a log is outside of a short time.
 */
void profile_pass(struct profile *p, struct input *in);
/* There is a sample held: @r is what follows it, NULL: nothing. */
void profile_release(struct profile *p, const struct pmclog_rec *r);
/* What the raw data of an event's samples is; NULL: it is not known. */
const struct tp_format *profile_format(const struct profile *p, uint32_t event);
/* The log's clock is known, or better known. */
void profile_clock(struct profile *p);

/* records that change what is mapped: profile_map.c */
void profile_map_in(struct profile *p, const struct pmclog_rec *r);
void profile_map_out(struct profile *p, const struct pmclog_rec *r);
void profile_ext_kernel(struct profile *p, const struct pmclog_rec *r);
/* A log begins behind another: it tells all it needs of its own machine. */
void profile_next_log(struct profile *p);
void profile_ext_mapping(struct profile *p, const struct pmclog_rec *r);
void profile_ext_module(struct profile *p, const struct pmclog_rec *r);
void profile_settle_slow(struct profile *p);

/* Ticks a second; what a log without a clock has is taken for nanoseconds. */
static inline uint64_t log_freq(const struct log_facts *log)
{
	return log->freq ? log->freq : 1000000000;
}

/* Seconds from the log's beginning; FreeBSD's logs are not in order. */
static inline double log_seconds(const struct log_facts *log, uint64_t tsc)
{
	return (double)(int64_t)(tsc - log->begin) / (double)log_freq(log);
}

/* Call before anything that depends on what is mapped. */
static inline void profile_settle(struct profile *p)
{
	if (p->pending.valid)
		profile_settle_slow(p);
}

#endif /* READER_PROFILE_H */
