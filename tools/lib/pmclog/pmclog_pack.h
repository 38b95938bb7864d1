/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples out of packs.  Private to the library. */
#ifndef PMCLOG_PACK_H
#define PMCLOG_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmclog_pack;

/* NULL when memory runs out. */
struct pmclog_pack *pmclog_pack_new(void);
void pmclog_pack_free(struct pmclog_pack *pk);
/* A log begins: nothing is known. */
void pmclog_pack_reset(struct pmclog_pack *pk);

/* Begins with the SAMPLES record at @p, of a length that has been checked. */
void pmclog_pack_begin(struct pmclog_pack *pk, const unsigned char *p);
/*
 * Makes the next sample of the record of @len bytes, which may have moved to
 * @p.  NULL, or what is wrong, for good.
 */
const char *pmclog_pack_next(struct pmclog_pack *pk, const unsigned char *p,
			     uint32_t len);
/*
 * Passes over a sample whose chain or context nobody defined (it was in what a
 * damaged log has lost).  False: the entry that is next is no such one.
 */
bool pmclog_pack_pass(struct pmclog_pack *pk, const unsigned char *p,
		      uint32_t len);
/* The sample as a CALLCHAIN, until the next is made; and its length. */
const unsigned char *pmclog_pack_sample(const struct pmclog_pack *pk,
					uint32_t *len);
/* Samples made so far, and those to come. */
uint32_t pmclog_pack_done(const struct pmclog_pack *pk);
uint32_t pmclog_pack_left(const struct pmclog_pack *pk);

#endif /* PMCLOG_PACK_H */
