/* SPDX-License-Identifier: GPL-2.0-only */
/* The path of a sample: handlers, call chains, fields of tracepoints. */
#ifndef HWPMC_SAMPLE_H
#define HWPMC_SAMPLE_H

#include <linux/perf_event.h>

#include "hwpmc.h"

struct chain_cache;
struct hwpmc_pmc;
struct ring_detail;
struct ring_raw;
struct unwind_state;

/* sample.c */
int hwpmc_sample_init(void);
void hwpmc_sample_exit(void);
void hwpmc_overflow(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs);
void hwpmc_overflow_thread(struct perf_event *event,
			   struct perf_sample_data *data,
			   struct pt_regs *regs);

/* raw.c: the fields of tracepoints */
u32 hwpmc_raw_room(const struct perf_raw_record *raw);
void hwpmc_raw_fill(struct ring_raw *r, const struct perf_raw_record *raw);

/* detail.c: what only a PMU knows */
u32 hwpmc_detail_room(const struct hwpmc_pmc *pmc,
		      const struct perf_sample_data *data);
void hwpmc_detail_fill(struct ring_detail *d, const struct hwpmc_pmc *pmc,
		       const struct perf_sample_data *data, u32 room);

/*
 * Has perf replaced the interrupted address in @regs?  AMD's IBS passes the registers
 * of its interrupt, but with the address of an earlier instruction, which it has
 * followed, and the code segment of that address.  The stack pointer and the frame
 * pointer do not belong to that instruction, so no chain can begin with these
 * registers.  Intel's PEBS sets the flag, too, and may pass the other registers of its
 * record.  The task's own registers are right for both.
 *
 * In registers of software events, and in those of a real interrupt, the bit is 0.
 */
static inline bool hwpmc_sample_ip_is_replaced(const struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return regs->flags & PERF_EFLAGS_EXACT;
#else
	return false;
#endif
}

/*
 * How a chain ends: a set of these, of PMCLOG_CC_WHOLE and of _TABLES, as in
 * the flags of a sample.
 */
#define CUT(cause)	PMCLOG_CC_CUT(PMCLOG_CUT_##cause)

/* chain_cache.c */
struct chain_cache *hwpmc_chain_cache_new(int node);
void hwpmc_chain_cache_free(struct chain_cache *cache);
void hwpmc_chain_cache_forget(void);
unsigned int hwpmc_chain_cache_walk(u64 *pc, unsigned int max,
				    struct pt_regs *regs,
				    struct chain_cache *cache,
				    unsigned int *end);

/* chain_kernel.c */
#define CHAIN_SLACK	32	/* room for the handler's own frames */
unsigned int hwpmc_chain_kernel_walk(u64 *pc, unsigned int max,
				     struct pt_regs *regs,
				     struct chain_cache *cache,
				     unsigned int *end);
unsigned long hwpmc_chain_kernel_caller(struct unwind_state *u);

/* chain_user.c */
bool hwpmc_chain_user_is_known(const struct pt_regs *regs);
unsigned int hwpmc_chain_user_walk(u64 *pc, unsigned int max,
				   struct pt_regs *regs, unsigned int *end);

/* chain_late.c */

/**
 * struct late_stack - the user stack of a deferred walk
 * @sp: the stack pointer that the walk begins with
 * @known: @start and @end are set
 * @start: of the mapping that has @sp
 * @end: likewise; 0: there is none, or a userfaultfd supplies its pages
 *
 * A local variable of the task that walks: needs no protection.
 */
struct late_stack {
	unsigned long	sp;
	bool		known;
	unsigned long	start;
	unsigned long	end;
};

bool hwpmc_chain_late_read(struct late_stack *stack, void *to,
			   unsigned long from, size_t len);

/* chain_deferred.c */
bool hwpmc_chain_deferred_ask(const struct hwpmc_pmc *pmc, struct pt_regs *regs,
			      const u64 *pc);
void hwpmc_chain_deferred_forget(struct hwpmc_owner *o);
int hwpmc_chain_deferred_init(void);
void hwpmc_chain_deferred_exit(void);

#endif /* HWPMC_SAMPLE_H */
