/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a tar (POSIX ustar, with GNU's way of long names). */
#ifndef READER_TARFILE_H
#define READER_TARFILE_H

#include <stdint.h>

#include "base/privout.h"

/* Begins a member: @size bytes have to follow, then tar_end(). */
void tar_begin(struct privout *o, const char *name, uint64_t size,
	       int64_t mtime);
/* Pads a member of that size. */
void tar_end(struct privout *o, uint64_t size);
/* The end of the archive */
void tar_finish(struct privout *o);

#endif /* READER_TARFILE_H */
