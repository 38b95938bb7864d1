/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes logs for tests, record by record, in memory. */
#ifndef LOGGEN_H
#define LOGGEN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/pmclog.h>

/**
 * struct loggen - a log being made
 * @tsc:     clock of the next record; every record moves it on by @step
 * @last:    offset of the record made last
 * @account: filled as samples and drops are made, written by lg_close()
 */
struct loggen {
	unsigned char *buf;
	size_t len, cap, last;
	uint64_t tsc;
	uint64_t step;
	struct pmclog_account account;
};

/* Begins a log in the place of the last one of @g, or of none if @g is zeros. */
void lg_start(struct loggen *g);
void lg_free(struct loggen *g);
/* A record of zeros with its header; valid until the next one is made. */
void *lg_record(struct loggen *g, unsigned int type, size_t len);
/* @len bytes of zeros at the end, without a header. */
void *lg_room(struct loggen *g, size_t len);
void *lg_ext(struct loggen *g, unsigned int subtype, size_t len);
void lg_write(const struct loggen *g, const char *path);

/* A record with the fields of @r, all but its header, and @len bytes behind them */
void lg_put(struct loggen *g, unsigned int type, const void *r, size_t fixed,
	    const void *tail, size_t len);

/* A record of struct pmclog_@name with these fields, and what comes behind it */
#define LG_TAILED(g, type, name, tail, len, ...)			\
	lg_put(g, PMCLOG_T_##type, &(struct pmclog_##name){ __VA_ARGS__ }, \
	       sizeof(struct pmclog_##name), tail, len)
#define LG_RECORD(g, type, name, ...)	\
	LG_TAILED(g, type, name, NULL, 0, __VA_ARGS__)
#define LG_NAMED(g, type, name, s, ...)	\
	LG_TAILED(g, type, name, s, strlen(s) + 1, __VA_ARGS__)

/* The same of an extension record */
#define LG_EXT_TAILED(g, type, name, tail, len, ...)			\
	LG_TAILED(g, USERDATA, ext_##name, tail, len,			\
		  .e.cookie = PMCLOG_EXT_COOKIE,			\
		  .e.subtype = PMCLOG_EXT_##type, __VA_ARGS__)
#define LG_EXT(g, type, name, ...)	\
	LG_EXT_TAILED(g, type, name, NULL, 0, __VA_ARGS__)
#define LG_EXT_NAMED(g, type, name, s, ...)	\
	LG_EXT_TAILED(g, type, name, s, strlen(s) + 1, __VA_ARGS__)

void lg_init(struct loggen *g);
/* Begins with that. */
void lg_begin(struct loggen *g);
void lg_close(struct loggen *g);
void lg_allocatedyn(struct loggen *g, uint32_t pmcid, const char *name,
		    uint64_t rate, int32_t cpu);
void lg_sample(struct loggen *g, uint32_t pid, uint32_t tid, uint32_t pmcid,
	       uint32_t cpuflags, unsigned int npc, const uint64_t *pcs);
/* A sample of thread @pid + 1 */
void lg_stack(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, const uint64_t *pcs);
/* ... whose pcs are base, base + 16, ... */
void lg_chain(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, uint64_t base);
/* The user chain of samples of thread @pid + 1 from @first on. */
void lg_userchain(struct loggen *g, uint32_t pid, uint64_t first,
		  unsigned int npc, const uint64_t *pcs);
void lg_drop(struct loggen *g, uint32_t pmcid, uint32_t cpu, uint32_t cause,
	     uint64_t count);
void lg_mapping(struct loggen *g, uint32_t pid, uint64_t start, uint64_t len,
		uint64_t offset);
void lg_thr_create(struct loggen *g, uint32_t tid, uint32_t pid,
		   const char *name);
void lg_proc_create(struct loggen *g, uint32_t pid, const char *name);
void lg_host(struct loggen *g, const char *release, const char *node);
void lg_section(struct loggen *g, uint64_t addr, const char *module,
		const char *section);
void lg_buildid(struct loggen *g, unsigned int len, const char *name);
/* A PMC of a tracepoint, with its fields; the text of its format file. */
void lg_tracepoint(struct loggen *g, uint32_t pmcid, const char *name,
		   uint64_t config);
void lg_fields(struct loggen *g, uint64_t config, const char *text);
/* A PMC that asks for branches and accesses to memory, of @flags: HWPMC_F_* of these */
void lg_hardware(struct loggen *g, uint32_t pmcid, const char *name, uint32_t flags);
/* What the hardware knows of the sample before it, with @d's branches @b. */
void lg_detail(struct loggen *g, const struct pmclog_ext_detail *d,
	       const struct pmclog_branch *b, uint32_t n);
/* A pack of @samples, whose @n words are those of @w. */
void lg_samples(struct loggen *g, uint32_t samples, const uint32_t *w,
		uint32_t n);
/* A PMC that samples @rate times a second, of hardware cycles. */
void lg_freq(struct loggen *g, uint32_t pmcid, const char *name, uint64_t rate);

/* A function lg_@name, with these arguments behind @g, that does what @make says */
#define LG_FUNCTION(name, make, ...)					\
	static inline void lg_##name(struct loggen *g, ## __VA_ARGS__)	\
	{								\
		make;							\
	}

LG_FUNCTION(map_in, LG_NAMED(g, MAP_IN, map_in, path, .pid = pid, .start = start),
	    uint32_t pid, uint64_t start, const char *path)
LG_FUNCTION(map_out, LG_RECORD(g, MAP_OUT, map_out, .pid = pid, .start = start, .end = end),
	    uint32_t pid, uint64_t start, uint64_t end)
LG_FUNCTION(exec, LG_NAMED(g, PROCEXEC, procexec, path, .pid = pid, .pmcid = pmcid,
	    .base = base, .dyn = dyn),
	    uint32_t pid, uint32_t pmcid, uint64_t base, uint64_t dyn, const char *path)
LG_FUNCTION(attach, LG_NAMED(g, PMCATTACH, pmcattach, path, .pmcid = pmcid, .pid = pid),
	    uint32_t pmcid, uint32_t pid, const char *path)
LG_FUNCTION(detach, LG_RECORD(g, PMCDETACH, pmcdetach, .pmcid = pmcid, .pid = pid),
	    uint32_t pmcid, uint32_t pid)
LG_FUNCTION(csw, LG_RECORD(g, PROCCSW, proccsw, .value = value, .pmcid = pmcid, .pid = pid,
	    .tid = tid),
	    uint32_t pmcid, uint32_t pid, uint32_t tid, uint64_t value)
/* It ran four fifths of the time that it was enabled. */
LG_FUNCTION(procexit, LG_RECORD(g, PROCEXIT, procexit, .pmcid = pmcid, .pid = pid,
	    .value = value, .enabled = 5000000, .running = 4000000),
	    uint32_t pmcid, uint32_t pid, uint64_t value)
LG_FUNCTION(fork, LG_RECORD(g, PROCFORK, procfork, .oldpid = oldpid, .newpid = newpid),
	    uint32_t oldpid, uint32_t newpid)
LG_FUNCTION(exit, LG_RECORD(g, SYSEXIT, sysexit, .pid = pid), uint32_t pid)
LG_FUNCTION(userdata, LG_RECORD(g, USERDATA, userdata, .userdata = value), uint32_t value)
LG_FUNCTION(thr_exit, LG_RECORD(g, THR_EXIT, thr_exit, .tid = tid), uint32_t tid)
LG_FUNCTION(clock, LG_EXT(g, CLOCK, clock, .raw = g->tsc, .mono = g->tsc + 17,
	    .real = 1767225600999999000ULL))
LG_FUNCTION(kernel, LG_EXT_NAMED(g, KERNEL, kernel, symbol, .addr = addr),
	    uint64_t addr, const char *symbol)
LG_FUNCTION(module, LG_EXT_NAMED(g, MODULE, module, name, .start = start, .len = len),
	    uint64_t start, uint64_t len, const char *name)
LG_FUNCTION(rate, LG_EXT(g, RATE, rate, .pmcid = pmcid, .cpu = cpu, .period = 1000000,
	    .expected = expected, .achieved = achieved, .throttled = 1, .enabled = 5000000,
	    .running = 4000000),
	    uint32_t pmcid, uint32_t cpu, uint64_t expected, uint64_t achieved)
/* What the sample before it of thread @tid has: @len of @size bytes. */
LG_FUNCTION(raw, (g->tsc -= g->step, LG_EXT_TAILED(g, RAW, raw, data, len, .pmcid = pmcid,
	    .tid = tid, .len = len, .size = size)),
	    uint32_t pmcid, uint32_t tid, const void *data, uint32_t len, uint32_t size)
LG_FUNCTION(recording, LG_EXT(g, RECORD, record, .on = on, .npmc = npmc, .skew = skew),
	    uint32_t on, uint32_t npmc, uint64_t skew)
/* Samples of the PMC on the CPU stand for @period events from now on. */
LG_FUNCTION(period, LG_EXT(g, PERIOD, period, .pmcid = pmcid, .cpu = cpu, .period = period),
	    uint32_t pmcid, uint32_t cpu, uint64_t period)
LG_FUNCTION(snapshot, LG_EXT(g, SNAPSHOT, snapshot, .cause = cause, .pmcid = pmcid,
	    .pid = pid, .status = status, .when = when, .since = since),
	    uint32_t cause, uint32_t pmcid, uint32_t pid, int32_t status, uint64_t when,
	    uint64_t since)

/*
 * Whole logs: small, full, strings, twice, long, big, stacks, packed (which is
 * stacks, packed), rates (of a PMC that samples at a rate, and of one that does
 * not), periods (rates, packed), FreeBSD's (see era_named()); -1: no such log.
 */
int lg_make(struct loggen *g, const char *name);
/*
 * Makes @g of the log @plain with its samples in packs, as the module does it;
 * chains of more than @depth pcs stay as they are.
 */
void lg_pack(struct loggen *g, const struct loggen *plain, unsigned int depth);

/* A file without a name that has these bytes; its position is 0. */
int lg_file(const unsigned char *buf, size_t len);

#define LG_PMC	0xFFF00F00U		/* system sampling, row 0 */

#endif /* LOGGEN_H */
