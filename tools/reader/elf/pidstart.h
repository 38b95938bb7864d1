/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells a process from a later one of the same number. */
#ifndef READER_PIDSTART_H
#define READER_PIDSTART_H

#include <stdint.h>

/* Clock ticks from the boot to its beginning; 0: no such process runs. */
uint64_t pid_start(uint32_t pid);

#endif /* READER_PIDSTART_H */
