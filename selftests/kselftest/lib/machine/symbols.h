/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of addresses: functions of an ELF file, or of the running kernel.
 */
#ifndef TEST_SYMBOLS_H
#define TEST_SYMBOLS_H

#include <stdint.h>

struct symbols;

/* NULL when the file cannot be read or has no symbols. */
struct symbols *symbols_elf(const char *path);
struct symbols *symbols_kernel(void);
void symbols_free(struct symbols *sy);
/* The function that @addr lies in, or "?". */
const char *symbols_name(const struct symbols *sy, uint64_t addr);

/* Path of the workload program @name; NULL: it is not here. */
const char *workload_path(const char *name);
/*
 * Starts it (it dies with us), pinned to @cpu unless negative.  It runs the program
 * when this returns.
 */
int workload_start(const char *name, int cpu);

#endif /* TEST_SYMBOLS_H */
