// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads numbers in DWARF's encodings.
 */
#include "libpmc_cfi.h"

#define LEB_BITS_MAX	112	/* 16 bytes; 64 bits need 10, and some are padded */

const unsigned char *pmc_cfi_skip(struct cfi_reader *r, uint64_t n)
{
	const unsigned char *block = r->at;

	if (n > (uint64_t)(r->end - r->at)) {
		r->bad = 1;
		r->at = r->end;
		return NULL;
	}
	r->at += n;
	return block;
}

/* Both of our machines are little-endian. */
uint64_t pmc_cfi_bytes(struct cfi_reader *r, unsigned int n)
{
	const unsigned char *p = pmc_cfi_skip(r, n);
	uint64_t value = 0;

	while (p && n--)
		value = value << 8 | p[n];
	return value;
}

/*
 * @bits: number of bits read; @negative: the highest of them.  A number of any length
 * would be read again for each row or function that it belongs to.
 */
static uint64_t leb(struct cfi_reader *r, unsigned int *bits, int *negative)
{
	uint64_t value = 0, byte;

	*bits = 0;
	do {
		byte = pmc_cfi_byte(r);
		if (*bits < 64)
			value |= (byte & 0x7f) << *bits;
		*bits += 7;
	} while (byte & 0x80 && *bits < LEB_BITS_MAX);
	if (byte & 0x80)
		r->bad = 1;
	*negative = !!(byte & 0x40);
	return value;
}

uint64_t pmc_cfi_long_uleb(struct cfi_reader *r)
{
	unsigned int bits;
	int negative;

	return leb(r, &bits, &negative);
}

int64_t pmc_cfi_sleb(struct cfi_reader *r)
{
	unsigned int bits;
	int negative;
	uint64_t value = leb(r, &bits, &negative);

	if (bits < 64 && negative)
		value |= ~0ULL << bits;
	return (int64_t)value;
}
