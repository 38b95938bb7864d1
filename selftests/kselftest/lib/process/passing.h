/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A descriptor through a Unix socket, with a word that says what it is.
 */
#ifndef TEST_PASSING_H
#define TEST_PASSING_H

#include <stdint.h>

/* 0 or a negative errno. */
int send_fd(int sock, int fd, uint32_t word);
/* Neither waits; the descriptor or a negative errno. */
int receive_fd(int sock, uint32_t *word);
/* ... It may be sent within a minute. */
int await_fd(int sock);

#endif /* TEST_PASSING_H */
