/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_GUESTLOG_H
#define FUZZ_GUESTLOG_H

#include <stddef.h>

/* Says what is wrong with the log in file @fd, if anything. */
void guestlog_check(int fd, char *what, size_t size);

#endif /* FUZZ_GUESTLOG_H */
