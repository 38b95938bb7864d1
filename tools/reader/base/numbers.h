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

#endif /* READER_NUMBERS_H */
