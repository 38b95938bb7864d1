/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes and threads that do nothing. */
#ifndef TEST_CROWD_H
#define TEST_CROWD_H

#include <sys/types.h>

void *wait_for_ever(void *arg);
/* A process of so many threads, without our descriptors. */
pid_t crowd(unsigned int threads);

#endif /* TEST_CROWD_H */
