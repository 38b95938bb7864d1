/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people are to read them. */
#ifndef READER_NUMBERS_H
#define READER_NUMBERS_H

#include <stdint.h>

#define GROUPED_MAX	32

/* A number with its thousands told apart: 1,234,567. */
const char *grouped(char buf[GROUPED_MAX], uint64_t v);

/* @part of @whole in percent; 0 of nothing. */
double percent(uint64_t part, uint64_t whole);

#endif /* READER_NUMBERS_H */
