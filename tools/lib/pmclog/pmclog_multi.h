/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of several parts (PMCLOG_CC_MULTIPART): what AMD's instruction based
 * sampling tells, before the call chain.  Private to the library.
 */
#ifndef PMCLOG_MULTI_H
#define PMCLOG_MULTI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Of the parts between *@p and *@end, with addresses of @word bytes: the pcs;
 * without a chain, the one that the hardware tells.  False: they do not fit.
 */
bool pmclog_multi_pcs(const unsigned char **p, const unsigned char **end,
		      uint32_t word);

#endif /* PMCLOG_MULTI_H */
