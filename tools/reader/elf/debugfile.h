/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of debug files by build-id. */
#ifndef READER_DEBUGFILE_H
#define READER_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>

#define DEBUGFILE_DIR	"/usr/lib/debug"
#define DEBUGFILE_ID	64	/* bytes of an id, at most */
#define DEBUGFILE_PATH	(sizeof(DEBUGFILE_DIR) + 2 * DEBUGFILE_ID + 32)

/* False: no path, since the build-id is too short or too long. */
bool debugfile_path(char path[DEBUGFILE_PATH], const void *id, size_t len);

#endif /* READER_DEBUGFILE_H */
