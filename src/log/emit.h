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
void hwpmc_emit_ring_record(void *arg, unsigned int cpu, u32 kind,
			    struct ring_stamp *s, u32 len);
void *hwpmc_emit_reserve(struct hwpmc_owner *o, u32 type, u32 len, u64 tsc);
void *hwpmc_emit_ext(struct hwpmc_owner *o, u16 subtype, u32 len, u64 tsc);
void hwpmc_emit_begin(struct hwpmc_owner *o, u64 tsc);
u64 hwpmc_emit_wall_ahead(void);
void hwpmc_emit_initialize(struct hwpmc_owner *o, u64 tsc, u64 real);
void hwpmc_emit_snapshot(struct hwpmc_owner *o, const struct trigger *t,
			 u64 since);
void hwpmc_emit_pmcs(struct hwpmc_owner *o);
void hwpmc_emit_meta(struct hwpmc_owner *o, const struct log_meta *m);
void hwpmc_emit_news(struct hwpmc_owner *o);
void hwpmc_emit_clock(struct hwpmc_owner *o);
void hwpmc_emit_end(struct hwpmc_owner *o, struct pmclog_account *account);
void hwpmc_emit_names(struct hwpmc_owner *o, u32 pid, u32 tid, const char *comm,
		      u64 tsc);
void hwpmc_emit_mapping(struct hwpmc_owner *o, const struct ring_map *m,
			u64 tsc);
void hwpmc_emit_attach(struct hwpmc_owner *o, u32 pmcid, u32 pid,
		       struct file *exe, u64 tsc);
void hwpmc_emit_sysexit(struct hwpmc_owner *o, u32 pid, u64 tsc);

/* emit_loss.c */
void hwpmc_emit_process_drops(struct hwpmc_owner *o);
void hwpmc_emit_drops(struct hwpmc_owner *o, u64 tsc);
void hwpmc_emit_rates(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void hwpmc_emit_all_rates(struct hwpmc_owner *o);

/* emit_period.c */
void hwpmc_emit_period(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		       u32 code, u32 room);

/* pack.c: samples in packs; all but hwpmc_pack_new() are the writer thread's */
struct pack *hwpmc_pack_new(void);
bool hwpmc_pack_sample(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		       u64 tsc);
void hwpmc_pack_end(struct hwpmc_log *log);
void hwpmc_pack_forget(struct hwpmc_log *log);
u32 hwpmc_pack_count(const void *rec, u32 len);

/* dump.c, dump_process.c, dump_lost.c */
void hwpmc_dump_all(struct hwpmc_owner *o);
void hwpmc_dump_news(struct hwpmc_owner *o);
void hwpmc_dump_failed(struct hwpmc_owner *o);
void hwpmc_dump_lost(struct hwpmc_owner *o, bool last);
void hwpmc_dump_forget_lost(struct hwpmc_owner *o);
void hwpmc_dump_young(struct hwpmc_owner *o, u64 since);
struct task_struct *hwpmc_dump_find_mm_user(struct task_struct *leader);

#endif /* HWPMC_EMIT_H */
