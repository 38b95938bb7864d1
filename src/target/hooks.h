/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks into changes of processes: tracepoints and probes. */
#ifndef HWPMC_HOOKS_H
#define HWPMC_HOOKS_H

#include <linux/rculist.h>

#include "hwpmc.h"

struct area;
struct hwpmc_target;

/* hooks.c */
enum hook_set_id {
	HOOK_TASKS,		/* fork, exec, exit, names */
	HOOK_MAPS,		/* mappings, kernel modules */
	HOOK_SWITCHES,		/* context switches */
	HOOK_SETS,
};

int hwpmc_hooks_hold(struct hwpmc_owner *o, unsigned long mask);
void hwpmc_hooks_close(struct hwpmc_owner *o);
void hwpmc_hooks_let_go(struct hwpmc_owner *o);
void hwpmc_hooks_undo(struct hwpmc_owner *o, unsigned long held, bool hooked);
int hwpmc_hooks_follow(struct hwpmc_owner *o, bool all);
void hwpmc_hooks_join(struct hwpmc_owner *o);
void hwpmc_hooks_unfollow(struct hwpmc_owner *o);
void hwpmc_hooks_exit(void);
/* read under RCU; changed under hooks_lock */
extern struct list_head hwpmc_hooks_owners, hwpmc_hooks_followers;

/* for each owner that follows processes; in an RCU read section */
#define for_each_hook_owner(o)                                                 \
	list_for_each_entry_rcu(o, &hwpmc_hooks_owners, hooks.node)

/* for each owner that follows all processes, not only its targets */
#define for_each_hook_follower(o)                                              \
	list_for_each_entry_rcu(o, &hwpmc_hooks_followers, hooks.follow_node)

/* @t: @o's target for the process; NULL: none, @o follows all processes */
typedef void (*hook_fn)(struct hwpmc_owner *o, struct hwpmc_target *t,
			void *arg);

void hwpmc_hooks_each(struct rhlist_head *list, hook_fn fn, void *arg);

/* No owner's log follows the process that has the targets @list. */
static inline bool hwpmc_hooks_nobody(const struct rhlist_head *list)
{
	return !list && list_empty(&hwpmc_hooks_followers);
}

/* Commits @rec, a record of process @pid; any context that hooks run in. */
#define hook_commit(o, pid, rec, type, size)                                   \
	do {                                                                   \
		(rec)->h.header = PMCLOG_HEADER(type, size);                   \
		hwpmc_record_commit(o, rec, size, pid);                        \
	} while (0)

/* proc.c: tracepoints */
u64 hwpmc_proc_auxv_base(struct mm_struct *mm, bool is32);
int hwpmc_proc_tasks_register(void);
void hwpmc_proc_tasks_unregister(void);
int hwpmc_proc_switch_register(void);
void hwpmc_proc_switch_unregister(void);

/* mapping.c: kprobes */
bool hwpmc_mapping_is_wanted(const struct hwpmc_owner *o,
			     const struct hwpmc_target *t);
void hwpmc_mapping_commit(struct hwpmc_owner *o, const struct hwpmc_target *t,
			  struct vm_area_struct *vma, const struct area *a);
bool hwpmc_mapping_commit_all(struct hwpmc_owner *o, const struct hwpmc_target *t);
int hwpmc_mapping_hooks_register(void);
void hwpmc_mapping_hooks_unregister(void);

/* kmod.c */
int hwpmc_kmod_register(void);
void hwpmc_kmod_unregister(void);

#endif /* HWPMC_HOOKS_H */
