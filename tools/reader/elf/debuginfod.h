/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files from the servers that DEBUGINFOD_URLS names: only if the user
 * asks for it, since it tells others what he looks at, and takes time.
 */
#ifndef READER_DEBUGINFOD_H
#define READER_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything else: hides the variable from the libraries. */
void debuginfod_hide(void);
/* False after a message: there is no server, or no library. */
bool debuginfod_ask(void);
bool debuginfod_on(void);
/* A file descriptor, or -1.  Each build-id is asked for once. */
int debuginfod_fetch(const void *id, size_t len);

#endif /* READER_DEBUGINFOD_H */
