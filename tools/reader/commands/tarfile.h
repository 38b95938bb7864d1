/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a tar archive (POSIX ustar, with GNU long names). */
#ifndef READER_TARFILE_H
#define READER_TARFILE_H

#include <stdint.h>

#include "base/privout.h"

/* Begins a member: the caller writes @size bytes, then calls tar_end(). */
void tar_begin(struct privout *o, const char *name, uint64_t size,
	       int64_t mtime);
/* Pads a member of @size bytes. */
void tar_end(struct privout *o, uint64_t size);
/* The end of the archive */
void tar_finish(struct privout *o);

#endif /* READER_TARFILE_H */
