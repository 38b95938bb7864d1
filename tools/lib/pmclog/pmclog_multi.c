// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include "pmclog_multi.h"

#define NPARTS		4	/* pairs of type and length, one byte each */

enum { PART_NONE, PART_CHAIN, PART_IBS_FETCH, PART_IBS_OP, NPART_TYPES };

/* the index of the word with the sampled instruction's address; 0: none */
static const unsigned char pc_word[NPART_TYPES] = {
	[PART_IBS_FETCH] = 2,
	[PART_IBS_OP] = 1,
};

bool pmclog_multi_pcs(const unsigned char **p, const unsigned char **end,
		      uint32_t word)
{
	const unsigned char *pairs = *p, *pc = *end;
	size_t room = *end - *p, at = 2 * NPARTS;
	unsigned int i, type, len;

	if (room < at)
		return false;
	for (i = 0; i < NPARTS && pairs[2 * i] != PART_NONE; i++) {
		type = pairs[2 * i];
		len = pairs[2 * i + 1] * word;
		if (type == PART_CHAIN) {
			*p = pairs + at;	/* the chain extends to the end */
			return true;
		}
		if (len > room - at)
			return false;
		if (type < NPART_TYPES && pc_word[type] &&
		    (pc_word[type] + 1) * word <= len)
			pc = pairs + at + pc_word[type] * word;
		at += len;
	}
	*p = pc;
	if (pc < *end)
		*end = pc + word;
	return true;
}
