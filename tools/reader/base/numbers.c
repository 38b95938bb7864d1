// SPDX-License-Identifier: BSD-2-Clause
/* Numbers for human readers. */
#include "base/numbers.h"

const char *grouped(char buf[GROUPED_MAX], uint64_t v)
{
	char *p = buf + GROUPED_MAX - 1;
	int digits = 0;

	*p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + v % 10);
		v /= 10;
		digits++;
	} while (v);
	return p;
}

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
