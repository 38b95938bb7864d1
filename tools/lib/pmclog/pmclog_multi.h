/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of several parts (PMCLOG_CC_MULTIPART): data of AMD's instruction based
 * sampling, followed by the call chain.  Private to the library.
 */
#ifndef PMCLOG_MULTI_H
#define PMCLOG_MULTI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the pcs in the parts between *@p and *@end, with addresses of @word bytes:
 * the call chain, or, without one, the pc from the hardware.  Sets *@p and *@end
 * to them.  False: the parts do not fit.
 */
bool pmclog_multi_pcs(const unsigned char **p, const unsigned char **end,
		      uint32_t word);

#endif /* PMCLOG_MULTI_H */
