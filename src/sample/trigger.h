/* SPDX-License-Identifier: GPL-2.0-only */
/* The triggers of a flight recorder's snapshot: see trigger.c. */
#ifndef HWPMC_TRIGGER_H
#define HWPMC_TRIGGER_H

#include <linux/types.h>

struct hwpmc_owner;
struct hwpmc_pmc;
struct owner_ring;
struct task_struct;

enum trigger_state {
	TRIGGER_NONE,
	TRIGGER_ARMED,
	TRIGGER_FIRING,		/* the cause is being filled in */
	TRIGGER_FIRED,		/* the thread has not seen it yet */
};

/**
 * struct trigger - the cause of a snapshot
 * @state: enum trigger_state; changed by cmpxchg(), see trigger.c
 *
 * The rest is as in struct pmclog_ext_snapshot: written by trigger_fire(), then
 * the thread's.
 */
struct trigger {
	u32		state;
	u32		cause;
	u32		pmcid;
	u32		pid;
	s32		status;
	u64		when;
};

/* trigger.c */
int hwpmc_trigger_exits(struct hwpmc_owner *o,
			const struct hwpmc_exittrigger *e);
void hwpmc_trigger_arm(struct trigger *t);
void hwpmc_trigger_disarm(struct trigger *t);
bool hwpmc_trigger_fired(const struct trigger *t);
void hwpmc_trigger_overflow(struct owner_ring *or,
			    const struct hwpmc_pmc *pmc);
void hwpmc_trigger_exit(struct hwpmc_owner *o, struct task_struct *p, u32 pid);

#endif /* HWPMC_TRIGGER_H */
