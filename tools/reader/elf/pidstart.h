/* SPDX-License-Identifier: BSD-2-Clause */
/* Distinguishes a process from a later one with the same pid. */
#ifndef READER_PIDSTART_H
#define READER_PIDSTART_H

#include <stdint.h>

/* Start of a process in clock ticks since boot; 0: no such process. */
uint64_t pid_start(uint32_t pid);

#endif /* READER_PIDSTART_H */
