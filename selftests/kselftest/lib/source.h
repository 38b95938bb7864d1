/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PMCs of tracepoints and breakpoints, and what the log says of those.
 */
#ifndef TEST_SOURCE_H
#define TEST_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "dev.h"
#include "logfile.h"
#include "symbols.h"
#include "tracefs.h"

/* As perf_event_open() has them. */
#define BP_W	2
#define BP_X	4

/* Whether breakpoints can be sampled; the length of one on an instruction. */
#if defined(__x86_64__)
#define BREAKS_SAMPLE	1
#define BP_X_LEN	8
#else
#define BREAKS_SAMPLE	0
#define BP_X_LEN	4
#endif

/* With call chains if that is the mode; of the process modes without a CPU. */
struct hwpmc_allocate pmc_tracepoint(uint32_t mode, uint64_t id);
/* In user mode. */
struct hwpmc_allocate pmc_breakpoint(uint32_t mode, uint32_t type,
				     volatile const void *addr, uint64_t len);

/**
 * struct tally - what the samples of a PMC of a process say
 * @pmcid, @pid: whose are looked at
 * @arg, @nth: fields whose values are @want (32 bits) and @plus, @plus + 1 ...;
 *	not there: size 0
 * @fn:    where the first pc has to be; NULL: anywhere
 * @n:     samples
 * @raws:  with raw data
 * @right: whose fields are as they should be; @next: the @nth to come
 * @there: that are in @fn
 * @cut:   raw records of fewer bytes than there were
 * @loose: raw records that do not stand behind a sample
 */
struct tally {
	uint32_t	pmcid;
	uint32_t	pid;
	struct tracefs_field arg, nth;
	uint32_t	want;
	uint64_t	plus;
	const char	*fn;
	struct symbols	*symbols;

	unsigned int	n, raws, right, there, cut, loose;
	uint64_t	next;
	char		elsewhere[80];
};

void tally(struct tally *t, struct log *log);

/* FIELDS records in front of the first RAW, and RAWs. */
void log_fields(struct log *log, unsigned int *fields, unsigned int *raws);
#define RAW_DATA(rec)	((rec)->data + offsetof(struct pmclog_ext_raw, data))

#endif /* TEST_SOURCE_H */
