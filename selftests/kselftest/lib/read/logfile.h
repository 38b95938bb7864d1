/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole log in memory: loading it, and checking that it is sound.
 */
#ifndef TEST_LOGFILE_H
#define TEST_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/hwpmc.h>
#include <pmclog_iter.h>

#define LOG_MAX_CPU	64
#define LOG_MAX_PMC	512
#define LOG_MAX_DEPTH	PMCLOG_CHAIN_MAX

/* log_check()'s flags */
#define LOG_CUT		1U	/* may end anywhere, without a CLOSELOG */
#define LOG_DROPS	2U	/* samples may have been dropped */
#define LOG_DISCARDS	4U	/* the file may have refused some */
#define LOG_PROC_DROPS	8U	/* process records may have been dropped; samples after
				 * the DROPNOTIFY may be of tasks without a name */
#define LOG_STRANGERS	16U	/* any sample may be of a task without a name */

/**
 * struct log
 * @samples, @cpu_samples, @user, @kernel: CALLCHAINs
 * @deepest: frames of the longest chain
 * @dropped, @proc_dropped: sums of the DROPNOTIFYs; @proc_cause: the last one's, of
 * process records
 * @late, @late_answered: samples with PMCLOG_CC_USERLATE, and USERCHAINs
 * @cut, @cut_by: samples whose flags say that, as in the account
 * @by_tables: a PMC asked for unwind tables
 * @closed, @account: CLOSELOG's
 * @fault: what log_check() found wrong, and where
 */
struct log {
	unsigned char	*data;
	size_t		len;

	uint64_t	records;
	uint64_t	samples;
	uint64_t	cpu_samples[LOG_MAX_CPU];
	uint64_t	user;
	uint64_t	kernel;
	unsigned int	deepest;
	uint64_t	dropped[PMCLOG_DROP_NCAUSE];
	uint64_t	proc_dropped;
	uint32_t	proc_cause;
	uint64_t	late;
	uint64_t	late_answered;
	uint64_t	cut;
	uint64_t	cut_by[PMCLOG_CUT_NCAUSE];
	bool		by_tables;
	uint64_t	first_tsc;
	uint64_t	last_tsc;
	uint32_t	owner_pid;
	bool		closed;
	struct pmclog_account account;

	uint32_t	pmcs[LOG_MAX_PMC];
	unsigned int	npmcs;
	char		fault[200];
};

/* All of @fd from its start (a file) or to its end (a pipe, the device). */
bool log_load(struct log *log, int fd);
void log_free(struct log *log);

/*
 * log_check - is this a whole and truthful log?
 *
 * Structure, time order, INITIALIZE first, CLOSELOG last, PMCs announced before
 * use, processes and threads named before their samples, and the account: what
 * CLOSELOG says is what is in the log, and adds up.  Returns NULL, or the first
 * fault.  Fills in the figures of @log.
 */
const char *log_check(struct log *log, unsigned int flags);

/* Sum of all causes. */
uint64_t log_dropped(const struct log *log);

/* A sample, decoded. */
struct sample {
	uint64_t	tsc;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	pmcid;
	uint32_t	cpu;
	bool		user;
	bool		late;		/* its user chain comes later */
	uint32_t	flags;		/* PMCLOG_CC_* */
	unsigned int	npc;
	uint64_t	pc[LOG_MAX_DEPTH];
};

/* Whether @rec is a CALLCHAIN; then it is decoded. */
bool log_sample(const struct pmclog_rec *rec, struct sample *s);

/**
 * struct sample_wanted - samples that are looked for: those to which all of this
 * applies; a member that is 0 applies to all
 * @cpus: a bit for each CPU
 * @from, @to: when it was taken, both included
 * @user, @kernel: in that mode
 */
struct sample_wanted {
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	pmcid;
	uint64_t	cpus;
	uint64_t	from;
	uint64_t	to;
	bool		user;
	bool		kernel;
};

/* How many there are; log_samples(log, .pid = pid, .user = true). */
unsigned int log_samples_of(struct log *log, const struct sample_wanted *w);
#define log_samples(log, ...) \
	log_samples_of(log, &(struct sample_wanted){ __VA_ARGS__ })

/* An address of the kernel's half. */
static inline bool addr_is_kernel(uint64_t addr)
{
	return addr >> 63;
}

/* How many frames are the kernel's, which come first. */
unsigned int sample_kernel_part(const struct sample *s);

/* Addresses of the kernel's half that it tells of. */
unsigned int log_kernel_addresses(struct log *log);

/* Only whole records are in @n bytes. */
bool records_are_whole(const unsigned char *p, size_t n);

/* USERDATA records that are not extensions */
unsigned int log_words(struct log *log);

/* A field of a record, which is a struct pmclog_@type; is it extension @name? */
#define REC32(rec, type, field)	PMCLOG_FIELD32(rec, struct pmclog_##type, field)
#define REC64(rec, type, field)	PMCLOG_FIELD64(rec, struct pmclog_##type, field)
#define REC_TEXT(rec, type, field) \
	((const char *)(rec)->data + offsetof(struct pmclog_##type, field))
#define IS_EXT(rec, name) \
	(pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_##name)

/* Walks @log: struct pmclog_rec rec; LOG_FOR_EACH(log, rec) { ... } */
#define LOG_FOR_EACH(log, rec)						\
	for (struct pmclog_iter *it_ = pmclog_iter_mem((log)->data, (log)->len); \
	     it_ && (pmclog_iter_next(it_, &(rec)) == PMCLOG_ITER_RECORD || \
		     (pmclog_iter_close(it_), it_ = NULL));)

/* Walks its samples: struct sample s; LOG_FOR_EACH_SAMPLE(log, s) { ... } */
#define LOG_FOR_EACH_SAMPLE(log, s)					\
	for (struct pmclog_iter *it_ = pmclog_iter_mem((log)->data, (log)->len); \
	     log_next_sample(&it_, &(s));)

/* The next one; false: there is none, and *@it has been closed. */
bool log_next_sample(struct pmclog_iter **it, struct sample *s);

/* How many records of @log are such that @cond, which calls each @rec, is true. */
#define COUNT_RECORDS(log, rec, cond) ({				\
	struct pmclog_rec rec;						\
	unsigned int n_ = 0;						\
	LOG_FOR_EACH(log, rec)						\
		n_ += !!(cond);						\
	n_;								\
})

/* ... how many samples, each of which is @s */
#define COUNT_SAMPLES(log, s, cond) ({					\
	struct sample s;						\
	unsigned int n_ = 0;						\
	LOG_FOR_EACH_SAMPLE(log, s)					\
		n_ += !!(cond);						\
	n_;								\
})

/*
 * Whether @of of @n samples are nearly @percent: as near as chance takes them, but
 * for once in 16000 times, and 1 per cent.
 */
bool is_share(unsigned int of, unsigned int n, unsigned int percent);

/* Records of @type whose 32-bit field at @offset is @value. */
unsigned int log_count(struct log *log, uint32_t type, size_t offset,
		       uint32_t value);
/* ... whose @field, of struct pmclog_@type, is @value; @TYPE: PMCLOG_T_* */
#define LOG_COUNT(log, TYPE, type, field, value)			\
	log_count(log, PMCLOG_T_##TYPE,					\
		  offsetof(struct pmclog_##type, field), value)

/* BUILDIDs of a path that ends in @name */
unsigned int log_build_ids(struct log *log, const char *name);

#endif /* TEST_LOGFILE_H */
