/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files from the servers in DEBUGINFOD_URLS.  Only used on request: it
 * takes time, and discloses to the servers what the user looks at.
 */
#ifndef READER_DEBUGINFOD_H
#define READER_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

/* Call first: hides DEBUGINFOD_URLS from the libraries. */
void debuginfod_hide(void);
/* Enables it.  False after a message: there is no server, or no library. */
bool debuginfod_ask(void);
bool debuginfod_on(void);
/* A file descriptor, or -1.  Each build-id is requested once. */
int debuginfod_fetch(const void *id, size_t len);

#endif /* READER_DEBUGINFOD_H */
