/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of kernel modules for the next log. */
#ifndef HWPMC_KEPT_H
#define HWPMC_KEPT_H

#include <linux/list.h>
#include <linux/types.h>

struct hwpmc_owner;
struct pmclog_hdr;

/**
 * struct log_kept - kernel modules that came or went during the owner's logs
 * @records: struct log_meta of one record each, in the order of time
 * @n: their number
 * @lost: records that could not be kept
 * @no_room: records that found no room in a ring, so that no later log has them either;
 *	any context
 *
 * The writer thread's; used under owner->mutex while there is none.
 */
struct log_kept {
	struct list_head records;
	unsigned int	n;
	u64		lost;
	atomic64_t	no_room;
};

bool hwpmc_kept_wants(const struct pmclog_hdr *h);
bool hwpmc_kept_is_end(const struct pmclog_hdr *h);
u64 hwpmc_kept_start(const struct pmclog_hdr *h);
void hwpmc_kept_add(struct log_kept *k, const struct pmclog_hdr *h);
void hwpmc_kept_emit(struct hwpmc_owner *o);
void hwpmc_kept_begin(struct hwpmc_owner *o);
void hwpmc_kept_forget(struct log_kept *k);

#endif /* HWPMC_KEPT_H */
