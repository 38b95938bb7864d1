/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the rules that a log must keep, one record at a time. */
#ifndef READER_VERIFY_H
#define READER_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "base/idtab.h"
#include "log/periods.h"
#include "log/rec.h"
#include "sample/ends_log.h"

/* a process; @pmc: a bit for each PMC that is attached to it, by its number in pmcids */
struct verify_target {
	uint32_t pid, nword;
	uint64_t *pmc;
};

/**
 * struct verify_procs - PMCs of process modes, and their targets
 * @inherited: bits of the PMCs that are for descendants, too
 * @later: a fault, valid unless records of processes were lost
 */
struct verify_procs {
	uint64_t *inherited;
	uint32_t nword;
	struct verify_target *target;
	uint32_t n, cap;
	struct idtab tab;
	char later[128];
};

struct announced {
	uint32_t pmcid;
	uint32_t flags;
};

/**
 * struct verify - state of the rules
 * @format:      format of the log; the caller sets it first
 * @open:        inside a log: INITIALIZE was seen, CLOSELOG was not
 * @map_in:      @map_pid and @map_start are those of the last MAP_IN
 * @chain:       the last record was a CALLCHAIN of PMC @chain_pmc and thread
 *               @chain_tid, at @last_tsc
 * @snapshot:    this log had a record with the cause of the snapshot
 * @last_of:     of FreeBSD's logs: clock by CPU, in the kernel and not
 * @pmcids:      PMCs announced in this log
 * @ncpu:        number of CPUs, 0: this log has no HOST
 * @periods:     of PMCs that sample at a rate, in this log
 * @ends:        how user chains end, for all PMCs together
 * @asked_tables: a PMC asked for chains by unwind tables, if available
 * @samples, @late, @cut_by, @answers, @dropped, @proc_dropped: in this log, against its
 *               account
 * @end:         offset after the last record
 * @n*, @nsec:   over all logs of the stream
 */
struct verify {
	const struct pmclog_format *format;
	bool open;
	bool map_in;
	uint32_t map_pid;
	uint64_t map_start;
	bool chain;
	uint32_t chain_pmc, chain_tid;
	bool snapshot;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t freq;
	uint64_t *last_of;
	uint32_t nlast_of, caplast_of;
	struct idtab pmctab;
	struct announced *pmcids;
	uint32_t npmcs, pmccap;
	uint32_t last_pmc;	/* looked up last */
	uint32_t ncpu;
	struct periods periods;
	bool asked_tables;
	uint64_t samples;
	uint64_t late;
	uint64_t cut_by[PMCLOG_CUT_NCAUSE];
	uint64_t answers;
	uint64_t dropped[PMCLOG_DROP_NCAUSE];
	uint64_t proc_dropped;
	uint64_t end;

	uint64_t nrecords;
	uint64_t nsamples;
	uint64_t ndropped;
	uint64_t nproc_dropped;
	uint64_t nsec;
	uint32_t npmcs_total;
	uint32_t nsessions;
	uint32_t nforeign;	/* of these, logs of FreeBSD */

	struct verify_procs procs;
	struct ends_log ends;
	char fault[160];
};

/* Saturates: an invalid account must not add up by wrapping around. */
static inline uint64_t verify_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void verify_init(struct verify *v);
/* The text of a fault; valid until the next one. */
__attribute__((format(printf, 2, 3)))
const char *verify_fault(struct verify *v, const char *fmt, ...);
/* NULL, or what is wrong with @rec. */
const char *verify_record(struct verify *v, const struct pmclog_rec *rec);
/* Number of a PMC in @pmcids, or IDTAB_NONE. */
uint32_t verify_find_pmc(struct verify *v, uint32_t pmcid);
/* verify_account.c: the same for a CLOSELOG. */
const char *verify_account(struct verify *v, const struct pmclog_rec *rec);
/* verify_periods.c: for a PERIOD and for a sample, of a PMC with these flags. */
const char *verify_period(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags);
const char *verify_weight(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags);
/* verify_detail.c: for a DETAIL, of a PMC with these flags */
const char *verify_detail(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags);
/* verify_procs.c: the same for process modes, after the other rules. */
const char *verify_procs(struct verify *v, const struct pmclog_rec *rec);
void verify_procs_free(struct verify_procs *t);
/* At the end of the stream: NULL, or what is missing at *@offset. */
const char *verify_end(const struct verify *v, uint64_t *offset);
void verify_free(struct verify *v);

#endif /* READER_VERIFY_H */
