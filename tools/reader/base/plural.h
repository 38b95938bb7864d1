/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_PLURAL_H
#define READER_PLURAL_H

#include <stdint.h>

/* What @n of something are called, and do: "sample was", "samples were" */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

#endif /* READER_PLURAL_H */
