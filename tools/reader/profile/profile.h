/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of one pass over a log, for report, fold and flame. */
#ifndef READER_PROFILE_H
#define READER_PROFILE_H

#include "elf/imagefile.h"
#include "log/events.h"
#include "log/input.h"
#include "log/logclock.h"
#include "log/periods.h"
#include "log/rec.h"
#include "log/wallclock.h"
#include "machine/buildids.h"
#include "machine/objects.h"
#include "machine/procs.h"
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

/* a MAP_IN whose extent may be in the next record */
struct pending_map {
	bool valid;
	uint32_t pid;
	uint64_t start;
	uint32_t path;
};

/* a sample of which the next record may have more */
struct held_sample {
	bool valid;
	uint32_t event;
	struct pmclog_rec rec;	/* in @buf */
	unsigned char *buf;
	size_t cap;
};

/* KASLR moves a kernel by whole pages; any other offset: another kernel. */
#define SLIDE_GRAIN	4096

/**
 * struct func - a function, with or without a name
 * @name:  string number of the raw symbol; 0: none was found
 * @entry: start in the object of a function without a name; 0: not known
 *         either
 * @shown: string number of the name to show, 0 until it is needed
 * @file:  string number of a path; with @line, functions are grouped by the
 *         line that was sampled; 0: they are not, or it is not known
 * @inlined: it was inlined into another function
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

/* facts about the log and the recorded machine */
struct log_facts {
	const char *release, *host;	/* NULL if not logged */
	char cpuid[PMCLOG_CPUID_LEN];
	uint32_t ncpu, machine;
	uint64_t owner;			/* hash of the recorder; 0: not known */
	uint32_t owner_session;		/* number of the log that told it */
	int64_t ts_sec, ts_nsec;	/* wall clock at @begin */
	uint32_t version;		/* of its format */
	uint64_t freq;			/* clock ticks per second, or 0 */
	struct logclock clock;		/* for several logs in a stream */
	struct wallclock wall;		/* time of day */
	int64_t wall_end;		/* at the end, in seconds, if known ahead, or 0 */
	uint64_t begin, end;		/* clock of first and last record */
	uint64_t last;			/* final @end if known ahead, or 0 */
	uint64_t ref_addr;		/* relocation of the kernel */
	const char *ref_symbol;		/* NULL if not logged */
	const char *ref_release;	/* its kernel release, or NULL */
	bool initialized;		/* INITIALIZE seen */
	/* of the log it is a part of: samples, and the filter; or 0, NULL */
	uint64_t part_of;
	const char *conditions;
	bool told_part;			/* by the current log */
	bool closed;			/* CLOSELOG seen, of the last log */
	uint32_t unclosed;		/* logs before it that have none */
	bool unaccounted;		/* an earlier log had no account */
	bool has_account;
	struct pmclog_account account;	/* of all logs together */
	uint64_t records;
	uint64_t unknown;		/* of @records: of a kind not known */
	uint64_t wrong_times;		/* records with a repaired timestamp */
	uint64_t repeated;		/* samples left out, see input_repeated() */
	char *error;			/* what is wrong, or NULL */
	bool cut;			/* reading stopped at @error */
};

/**
 * struct other_boot - in a stream of logs: the kernel of the current log is at
 * another address than that of the first log
 * @moved: the difference of the addresses
 * @alien: it is another kernel, so the difference is not known
 */
struct other_boot {
	uint64_t moved;
	bool alien;
};

/* the place of a frame */
struct place_id {
	uint64_t addr;
	uint32_t obj;
};

#include "profile/profile_batch.h"
#include "profile/profile_self.h"

/**
 * struct profile - the contents of the log read so far
 * @filter:    which samples are wanted; NULL: all
 * @on_begin:  called at the first record of the log; returns false to stop
 *	       reading
 * @on_sample: called for each wanted sample when its chain is known, in the
 *	       order of the log except for samples whose user chain came later
 * @on_samples: the same for several samples at a time, with frames instead of
 *	       chains
 * @enough:    set by those functions: they want no more of the log
 * @innermost: chains are cut to their innermost frame
 * @wanted:    number of wanted samples so far
 * Set these five, groups.by (and .length) and field.name after profile_init().
 */
struct profile {
	struct filter *filter;
	bool (*on_begin)(void *ctx);
	void (*on_sample)(void *ctx, const struct sample *s);
	void (*on_samples)(void *ctx, const struct sample *s, uint32_t n);
	void *on_sample_ctx;
	bool enough;
	bool innermost;
	uint64_t wanted;
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
	struct periods periods;
	struct aspace *kernel;
	struct other_boot other;
	uint32_t kgen;
	struct pending_map pending;
	struct buildids ids;
	struct kmods kmods;
	struct jits jits;
	struct lives lives;	/* for files not found elsewhere */
	struct log_facts log;
	const struct image_root *root;
	bool by_line;			/* names are shown with lines */
};

void profile_init(struct profile *p, const struct image_root *root);
void profile_free(struct profile *p);

/*
 * Adds a record, in the log's order.  Chains and their counts are complete
 * after profile_finish().  profile_look() brings them up to date in the middle
 * of the log; some chains may have no samples left then.
 */
void profile_record(struct profile *p, const struct pmclog_rec *r);
/*
 * Notes the time of a record, on the stream's clock, for a caller that handles
 * the record itself.
 */
void profile_moment(struct profile *p, uint64_t tsc);
void profile_look(struct profile *p);
void profile_finish(struct profile *p);

/* Reads a log to its end or first error (log.error is set then). */
void profile_read(struct profile *p, struct input *in);

/* Forgets chains and waiting samples, but not the processes. */
void profile_forget(struct profile *p);

/* Adds the build-id of a BUILDID record. */
void profile_buildid(struct profile *p, const struct pmclog_rec *r);

/* samples: profile_sample.c */
void profile_callchain(struct profile *p, const struct pmclog_rec *r);
void profile_userchain(struct profile *p, const struct pmclog_rec *r);
/*
 * Call it between two records: skips samples outside of the filter's window
 * quickly, since most of a log is outside of a short window.
 */
void profile_pass(struct profile *p, struct input *in);
/* Releases the held sample: @r is the next record, NULL if there is none. */
void profile_release(struct profile *p, const struct pmclog_rec *r);
/* profile_hw.c: sets the sample's keys of its detail */
struct hw_keys profile_hw_keys(struct profile *p, const struct aspace *as,
			       const struct detail *d);
/* The format of raw data in an event's samples; NULL: not known. */
const struct tp_format *profile_format(const struct profile *p, uint32_t event);
/* The log's clock is known, or known better. */
void profile_clock(struct profile *p);

/* records that change what is mapped: profile_map.c */
void profile_map_in(struct profile *p, const struct pmclog_rec *r);
void profile_map_out(struct profile *p, const struct pmclog_rec *r);
void profile_ext_kernel(struct profile *p, const struct pmclog_rec *r);
/* A further log of the stream begins; it describes its machine itself. */
void profile_next_log(struct profile *p);
void profile_ext_mapping(struct profile *p, const struct pmclog_rec *r);
void profile_ext_module(struct profile *p, const struct pmclog_rec *r);
void profile_settle_slow(struct profile *p);

/* Ticks per second; without a known rate, ticks are assumed nanoseconds. */
static inline uint64_t log_freq(const struct log_facts *log)
{
	return log->freq ? log->freq : 1000000000;
}

/* Seconds from the log's start; may be negative, as in FreeBSD's logs. */
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
