/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for human readers. */
#ifndef READER_NUMBERS_H
#define READER_NUMBERS_H

#include <stdint.h>

#define GROUPED_MAX	32

/* A number with thousands separators: 1,234,567. */
const char *grouped(char buf[GROUPED_MAX], uint64_t v);

/* @part of @whole in percent; 0 if @whole is 0. */
double percent(uint64_t part, uint64_t whole);

/* What @n of something are called, and do: "sample was", "samples were" */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

#endif /* READER_NUMBERS_H */
