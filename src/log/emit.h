/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that the writer thread makes, and its buffer for all records.
 */
#ifndef HWPMC_EMIT_H
#define HWPMC_EMIT_H

#include "hwpmc.h"

struct hwpmc_pmc;
struct ring_map;
struct ring_stamp;

/* emit.c */
void emit_ring_record(void *arg, unsigned int cpu, u32 kind,
		      struct ring_stamp *s, u32 len);
void *emit_reserve(struct hwpmc_owner *o, u32 type, u32 len, u64 tsc);
void emit_begin(struct hwpmc_owner *o, u64 tsc);
void emit_initialize(struct hwpmc_owner *o, u64 tsc);
void emit_snapshot(struct hwpmc_owner *o, const struct trigger *t, u64 since);
void emit_pmcs(struct hwpmc_owner *o);
void emit_all_rates(struct hwpmc_owner *o);
void emit_meta(struct hwpmc_owner *o, const struct log_meta *m);
void emit_news(struct hwpmc_owner *o);
void emit_drops(struct hwpmc_owner *o, u64 tsc);
void emit_rates(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void emit_clock(struct hwpmc_owner *o);
void emit_end(struct hwpmc_owner *o, struct pmclog_account *account);
void emit_names(struct hwpmc_owner *o, u32 pid, u32 tid, const char *comm,
		u64 tsc);
void emit_mapping(struct hwpmc_owner *o, const struct ring_map *m, u64 tsc);
void emit_attach(struct hwpmc_owner *o, u32 pmcid, u32 pid, struct file *exe,
		 u64 tsc);
void emit_sysexit(struct hwpmc_owner *o, u32 pid, u64 tsc);

/* pack.c: samples in packs; all but pack_new() are the writer thread's */
struct pack *pack_new(void);
bool pack_sample(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		 u64 tsc);
void pack_end(struct hwpmc_log *log);
void pack_forget(struct hwpmc_log *log);
u32 pack_count(const void *rec, u32 len);

/* dump.c */
void dump_all(struct hwpmc_owner *o);
void dump_news(struct hwpmc_owner *o);
void dump_failed(struct hwpmc_owner *o);
void dump_pid(struct hwpmc_owner *o, u32 pid);
struct task_struct *memory_user(struct task_struct *leader);

#endif /* HWPMC_EMIT_H */
