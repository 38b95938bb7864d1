/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module as a whole: it comes and goes, and leaves nothing behind; others that
 * come and go.
 */
#ifndef TEST_MODULE_H
#define TEST_MODULE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

int module_load(const char *params);	/* a negative errno, or 0 */
int module_unload(void);	/* now: -EAGAIN while it is used */
/* A writer thread may take a moment to end. */
int module_unload_soon(void);
/* References: owners and writer threads; -1: it is not loaded. */
int module_users(void);
/* The device node comes with the module (devtmpfs). */
bool module_wait_for_device(void);

/*
 * Another module, which needs no others: where its file is; false: this kernel has
 * none.  It comes, and goes; a negative errno, or 0.
 */
bool other_module_find(const char *name, char path[PATH_MAX]);
int other_module_load(const char *path);
int other_module_unload(const char *name);

/* What the kernel has allocated, caches dropped. */
uint64_t kernel_memory_kib(void);
/* Prints what kmemleak has; true if that is nothing, or there is none. */
bool no_leaks(void);

#endif /* TEST_MODULE_H */
