/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules a log must keep, fed one record at a time. */
#ifndef READER_VERIFY_H
#define READER_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>
#include <pmclog_iter.h>

#include "idtab.h"

/**
 * struct verify - what the rules need to remember
 * @open:        inside a log: INITIALIZE was seen, CLOSELOG was not
 * @map_in:      @map_pid and @map_start are those of the last MAP_IN
 * @pmcids:      announced in this log
 * @samples, @dropped, @proc_dropped: in this log, against its account
 * @end:         offset behind the last record
 * @n*, @nsec:   over all logs of the stream
 */
struct verify {
	bool open;
	bool map_in;
	uint32_t map_pid;
	uint64_t map_start;
	uint64_t first_tsc;
	uint64_t last_tsc;
	struct idtab pmctab;
	uint32_t *pmcids;
	uint32_t npmcs, pmccap;
	uint64_t samples;
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

	char fault[160];
};

/* NULL, or what is wrong with @rec. */
const char *verify_record(struct verify *v, const struct pmclog_rec *rec);
/* The stream ended: NULL, or what is missing at *@offset. */
const char *verify_end(const struct verify *v, uint64_t *offset);
void verify_free(struct verify *v);

#endif /* READER_VERIFY_H */
