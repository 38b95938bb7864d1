/* SPDX-License-Identifier: GPL-2.0-only */
/* process.c's, for executor.c */
#ifndef FUZZ_EXECUTOR_H
#define FUZZ_EXECUTOR_H

#include <stdatomic.h>

/* a socket pair for descriptors, to whoever asks first */
extern int mail[2];
/* that THREAD has made and that have not ended */
extern atomic_int extra_threads;

/* -1: a message without one, -2: no message */
int mail_receive(void);
void mail_send(int fd);
void unmap_all(void);
void unmap_hostile(void);

#endif /* FUZZ_EXECUTOR_H */
