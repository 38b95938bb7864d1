/* SPDX-License-Identifier: GPL-2.0-only */
/* The path of a sample: handlers, call chains, fields of tracepoints. */
#ifndef HWPMC_SAMPLE_H
#define HWPMC_SAMPLE_H

#include <linux/perf_event.h>

#include "hwpmc.h"

struct chain_steps;
struct ring_raw;

/* sample.c */
int sample_init(void);
void sample_exit(void);
void hwpmc_overflow(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs);
void hwpmc_overflow_thread(struct perf_event *event,
			   struct perf_sample_data *data,
			   struct pt_regs *regs);

/* raw.c: the fields of tracepoints */
u32 raw_room(const struct perf_raw_record *raw);
void raw_fill(struct ring_raw *r, const struct perf_raw_record *raw);

/*
 * How a chain ends: a set of these, of PMCLOG_CC_WHOLE and of _TABLES, as in
 * the flags of a sample.
 */
#define CUT(cause)	PMCLOG_CC_CUT(PMCLOG_CUT_##cause)

/* chain_steps.c */
struct chain_steps *chain_steps_new(int node);
void chain_steps_free(struct chain_steps *steps);
void chain_steps_forget(void);
unsigned int chain_by_steps(u64 *pc, unsigned int max, struct pt_regs *regs,
			    struct chain_steps *steps, unsigned int *end);

/* chain_kernel.c */
#define CHAIN_SLACK	32	/* room for the handler's own frames */
unsigned int chain_kernel(u64 *pc, unsigned int max, struct pt_regs *regs,
			  struct chain_steps *steps, unsigned int *end);

/* chain_user.c */
unsigned int chain_user(u64 *pc, unsigned int max, struct pt_regs *regs,
			unsigned int *end);

/* chain_late.c */
bool chain_late_ask(struct hwpmc_owner *o);
void chain_late_forget(struct hwpmc_owner *o);
void chain_late_init(void);
void chain_late_exit(void);

#endif /* HWPMC_SAMPLE_H */
