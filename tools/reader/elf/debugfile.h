/* SPDX-License-Identifier: BSD-2-Clause */
/* Where debug files are kept by their build-id. */
#ifndef READER_DEBUGFILE_H
#define READER_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>

#define DEBUGFILE_DIR	"/usr/lib/debug"
#define DEBUGFILE_ID	64	/* bytes of an id, at most */
#define DEBUGFILE_PATH	(sizeof(DEBUGFILE_DIR) + 2 * DEBUGFILE_ID + 32)

/* False: there is no such path, the id is too short or too long. */
bool debugfile_path(char path[DEBUGFILE_PATH], const void *id, size_t len);

#endif /* READER_DEBUGFILE_H */
