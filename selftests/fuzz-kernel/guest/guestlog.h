/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_GUESTLOG_H
#define FUZZ_GUESTLOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Says what is wrong with the log in file @fd, if anything.
 * @strangers: a task can have been created where its owner sees nothing
 */
void guestlog_check(int fd, bool strangers, char *what, size_t size);

#endif /* FUZZ_GUESTLOG_H */
