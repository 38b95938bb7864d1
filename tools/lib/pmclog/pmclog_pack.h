/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacks packed samples.  Private to the library. */
#ifndef PMCLOG_PACK_H
#define PMCLOG_PACK_H

#include <stdbool.h>
#include <stdint.h>

struct pmclog_pack;

/* NULL if there is no memory. */
struct pmclog_pack *pmclog_pack_new(void);
void pmclog_pack_free(struct pmclog_pack *pk);
/* At the start of a log: makes all slots undefined. */
void pmclog_pack_reset(struct pmclog_pack *pk);

/* Begins a SAMPLES record at @p.  The caller has checked its length. */
void pmclog_pack_begin(struct pmclog_pack *pk, const unsigned char *p);
/*
 * Makes the next sample of the record of @len bytes, which may have moved to @p.
 * Returns NULL, or what is wrong; further calls return the same.
 */
const char *pmclog_pack_next(struct pmclog_pack *pk, const unsigned char *p,
			     uint32_t len);
/*
 * Skips a sample whose chain or context is not defined, because the definition was
 * in a damaged part of the log.  False: the next entry is not such a sample.
 */
bool pmclog_pack_pass(struct pmclog_pack *pk, const unsigned char *p,
		      uint32_t len);
/* The sample as a CALLCHAIN of *@len bytes; valid until the next one is made. */
const unsigned char *pmclog_pack_sample(const struct pmclog_pack *pk,
					uint32_t *len);
/* Number of samples made so far, and of those left. */
uint32_t pmclog_pack_done(const struct pmclog_pack *pk);
uint32_t pmclog_pack_left(const struct pmclog_pack *pk);

#endif /* PMCLOG_PACK_H */
