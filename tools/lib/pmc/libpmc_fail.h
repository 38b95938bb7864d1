/* SPDX-License-Identifier: BSD-2-Clause */
/* How functions fail that return -1. */
#ifndef LIBPMC_FAIL_H
#define LIBPMC_FAIL_H

#include <errno.h>

static inline int fail_with(int err)
{
	errno = err;
	return -1;
}

#endif /* LIBPMC_FAIL_H */
