/* SPDX-License-Identifier: BSD-2-Clause */
/* The counts of pmclog info for one log of a stream. */
#ifndef READER_SUMMARY_H
#define READER_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "base/idtab.h"
#include "log/periods.h"
#include "log/rec.h"
#include "sample/ends_log.h"

/* one CPU of one PMC; asked and achieved come from the last RATE record */
struct sum_cpu {
	uint32_t pmc;		/* index */
	uint32_t cpu;
	bool rated;
	uint64_t samples;
	uint64_t weight;	/* of PMCs that sample at a rate */
	uint64_t lost;
	uint64_t asked;
	uint64_t achieved;
	uint64_t throttled;
};

struct sum_pmc {
	uint32_t id;
	bool current;		/* no later PMC took over its id */
	bool announced;
	char name[PMCLOG_NAME_MAX];	/* or made from event, if foreign */
	uint32_t flags;
	uint32_t type;
	int32_t cpu;
	uint64_t rate, rate_least;	/* of samples a second: most, fewest */
	uint32_t event;		/* FreeBSD's number for it */
	bool foreign;		/* the log has only this number */
	uint64_t config;
	uint64_t samples;
	uint64_t user;
	uint64_t frames;
	uint64_t nprocs;
	/* if it samples at a rate: sums and limits of its samples' periods */
	uint64_t weight, user_weight, least, most;
	uint64_t guessed;	/* samples without a PERIOD */
	uint64_t lost[PMCLOG_DROP_NCAUSE];
	/* process modes: attached, values at exits and at switches */
	uint64_t attached;
	uint64_t exits, exit_value, enabled, running;
	uint64_t switches, switch_value;
};

struct sum_proc {
	uint32_t pmc;
	uint32_t pid;
};

/**
 * struct summary - one log
 * @format: format of the log; the caller sets it
 * @offset, @bytes: offset of its INITIALIZE, and its length
 * @types: records by type; @unknown: of a kind that is not known
 * @wrong_times: records with a damaged timestamp that was repaired; the caller
 *	counts them
 * @packs, @packed, @pack_bytes: packs of samples, the samples in them, and the
 *	packs' bytes; @plain_bytes: bytes of these samples without packing
 * @release, @node: of the HOST extension; copies, NULL without one
 * @recorded: how often RECORD stopped all PMCs, and started them; at most @npmc
 *	PMCs, the last one @skew nanoseconds after the first
 * @snapshot: why it was taken, if the log is one (@is_snapshot)
 * @ends: how user chains end, by index of the PMC
 * @periods: in force
 * @closed: CLOSELOG was seen, with an account when @accounted, and in it why
 *	chains were cut when @cuts
 */
struct summary {
	struct pmclog_format format;
	uint64_t offset;
	uint64_t bytes;
	uint64_t nrecords;
	uint64_t unknown;
	uint64_t wrong_times;
	uint64_t types[256];
	uint64_t packs;
	uint64_t packed;
	uint64_t pack_bytes;
	uint64_t plain_bytes;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t tsc_freq;
	int64_t ts_sec;
	int64_t ts_nsec;
	uint32_t version;
	char cpuid[PMCLOG_CPUID_LEN];
	uint32_t ncpu;
	uint32_t page_size;
	uint32_t machine;
	int32_t owner_pid;
	char *release;
	char *node;
	uint64_t recorded[2];
	uint32_t npmc;
	uint64_t skew;
	bool is_snapshot;
	struct pmclog_ext_snapshot snapshot;
	struct ends_log ends;
	struct periods periods;
	bool closed;
	bool accounted;
	bool cuts;
	struct pmclog_account account;
	uint64_t proc_lost, proc_lost_by[PMCLOG_DROP_NCAUSE];
	struct idtab pmctab, cputab, proctab;
	struct sum_pmc *pmcs;
	struct sum_cpu *cpus;
	struct sum_proc *procs;
	uint32_t npmcs, pmccap;
	uint32_t last_pmc;	/* looked up last */
	uint32_t ncpus, cpucap;
	uint32_t nprocs, proccap;
};

void summary_init(struct summary *s);
void summary_add(struct summary *s, const struct pmclog_rec *rec);
/* Sorts s->cpus by PMC, then CPU; nothing can be added after it. */
void summary_sort(struct summary *s);
void summary_free(struct summary *s);

#endif /* READER_SUMMARY_H */
