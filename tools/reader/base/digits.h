/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats numbers into a buffer, for output of millions of numbers. */
#ifndef READER_DIGITS_H
#define READER_DIGITS_H

#include <endian.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MAX	20	/* of 64 bits */

/* 00 to 99, and the powers of 10 that fit */
extern const char digit_pairs[];
extern const uint64_t digit_powers[DIGITS_MAX];

/* Number of digits of @v; its bit count determines it within one. */
static inline unsigned int count_digits(uint64_t v)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int n = bits * 1233 >> 12;	/* log10(2), rounded down */

	return n + (v >= digit_powers[n]) + !v;
}

/*
 * Puts the last 8 digits of @v in parallel: halves of 4 digits are divided by
 * 100, their halves by 10.  Division is a multiplication and a shift.
 */
static inline void put_8(char *to, uint64_t v)
{
	uint64_t q;

	v %= 100000000;
	v = v / 10000 | v % 10000 << 32;
	q = v * 10486 >> 20 & 0x0000007f0000007fULL;
	v = q | (v - 100 * q) << 16;
	q = v * 103 >> 10 & 0x000f000f000f000fULL;
	v = htole64((q | (v - 10 * q) << 8) + 0x3030303030303030ULL);
	memcpy(to, &v, 8);
}

/* Puts the last @n digits of @v; returns the end of the text. */
static inline char *put_last(char *to, uint64_t v, unsigned int n)
{
	char *end = to + n;

	for (to = end; n >= 8; n -= 8) {
		put_8(to -= 8, v);
		v /= 100000000;
	}
	for (; n >= 2; n -= 2) {
		memcpy(to -= 2, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (n)
		*--to = (char)('0' + v % 10);
	return end;
}

/* Puts @v with at least @n digits. */
static inline char *put_digits(char *to, uint64_t v, unsigned int n)
{
	unsigned int has = count_digits(v);

	return put_last(to, v, has > n ? has : n);
}

static inline char *put_number(char *to, uint64_t v)
{
	return put_last(to, v, count_digits(v));
}

/* Puts @v / @scale, where @scale is 10^@n, with @n decimal places. */
static inline char *put_parts(char *to, int64_t v, uint64_t scale,
			      unsigned int n)
{
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	if (v < 0)
		*to++ = '-';
	to = put_number(to, u / scale);
	*to++ = '.';
	return put_last(to, u % scale, n);
}

/*
 * Puts @v, which must not be too large, with two decimal places.  The product
 * is exact where a long double has 60 bits, so it is rounded as by printf().
 */
static inline char *put_hundredths(char *to, double v)
{
	return put_parts(to, llrintl(v * 100.0L), 100, 2);
}

#define HEX_MAX	16	/* of 64 bits */

/* Puts 8 hexadecimal digits in parallel, one nibble per byte. */
static inline void put_hex8(char *to, uint32_t v)
{
	uint64_t x = v;

	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	/* adding 6 to a nibble above 9 sets the bit above the nibble */
	x += ((x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL) *
	     ('a' - '0' - 10) + 0x3030303030303030ULL;
	x = htobe64(x);
	memcpy(to, &x, 8);
}

/* Without leading zeros; writes HEX_MAX bytes, whatever the number. */
static inline char *put_hex(char *to, uint64_t v)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int n = (bits + 3) / 4;

	v <<= 64 - 4 * n;
	put_hex8(to, (uint32_t)(v >> 32));
	put_hex8(to + 8, (uint32_t)v);
	return to + n;
}

#endif /* READER_DIGITS_H */
