// SPDX-License-Identifier: BSD-2-Clause
/* Numbers as printf() writes them. */
#include <float.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"
#include "tap.h"

static bool same(const char *what, const char *got, const char *end,
		 const char *want)
{
	size_t n = (size_t)(end - got);

	if (n == strlen(want) && !memcmp(got, want, n))
		return true;
	printf("# %s: \"%.*s\", not \"%s\"\n", what, (int)n, got, want);
	return false;
}

static bool check_number(uint64_t v)
{
	char got[64], want[64];
	uint64_t most = v & INT64_MAX;
	bool good;

	sprintf(want, "%" PRIu64, v);
	good = same("number", got, put_number(got, v), want);
	sprintf(want, "%07" PRIu64, v);
	good &= same("with zeros", got, put_digits(got, v, 7), want);
	sprintf(want, "%06" PRIu64, v % 1000000);
	good &= same("the last", got, put_last(got, v, 6), want);
	sprintf(want, "-%" PRIu64 ".%09" PRIu64, most / 1000000000,
		most % 1000000000);
	good &= same("parts", got, put_parts(got, -(int64_t)most, 1000000000, 9),
		   most ? want : want + 1);
	sprintf(want, "%" PRIx64, v);
	good &= same("hexadecimal", got, put_hex(got, v), want);
	return good;
}

static bool small_ones(void)
{
	bool good = true;
	uint64_t v;

	for (v = 0; v < 200000; v++)
		good &= check_number(v);
	return good;
}

static bool round_ones(void)
{
	uint64_t power;
	bool good = check_number(UINT64_MAX);
	uint32_t i;

	for (power = 1; power <= UINT64_MAX / 10; power *= 10)
		for (i = 0; i < 20; i++)
			good &= check_number(power * 10 - 10 + i);
	return good;
}

static bool others(void)
{
	bool good = true;
	uint64_t v = 0;
	uint32_t i;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		v = v << 31 ^ (uint64_t)random();
		good &= check_number(v >> i % 64);
	}
	return good;
}

static bool check_hundredths(double v)
{
	char got[64], want[64];

	sprintf(want, "%.2f", v);
	return same("hundredths", got, put_hundredths(got, v), want);
}

/* Percentages, many of which are next to where they are rounded. */
static bool shares(void)
{
	bool good = true;
	uint32_t all, part;

	for (all = 1; all <= 400000; all += all < 1000 ? 1 : 39900)
		for (part = 0; part <= all; part += 1 + all / 5000)
			good &= check_hundredths(100.0 * part / all);
	for (part = 0; part < 1000; part++)
		good &= check_hundredths(part / 64.0);
	return good;
}

int main(void)
{
	bool exact = LDBL_MANT_DIG >= 60;

	ok(small_ones(), "small numbers");
	ok(round_ones(), "numbers where there is one more digit");
	ok(others(), "numbers of all lengths");
	ok(!exact || shares(), "two digits behind the point");
	return done();
}
