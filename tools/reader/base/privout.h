/* SPDX-License-Identifier: BSD-2-Clause */
/* Files made from a log: readable by their owner only, compressed if wanted. */
#ifndef READER_PRIVOUT_H
#define READER_PRIVOUT_H

#include "base/out.h"
#include "base/zwrite.h"

/**
 * struct privout - a private file
 * @path:  "-": standard output
 * @temp:  name of the file until it is complete; NULL: it is written in place
 * @error: errno of the first write that failed
 */
struct privout {
	const char *path;
	char *temp;
	struct zwrite *z;
	int error;
	struct out out;
};

/*
 * @compress: write zstd; implied if @path ends in ".zst".  @source: descriptor
 * of the log, which the file must not replace.  0, or -1 after a message.
 */
int privout_open(struct privout *o, const char *path, int compress,
		 int source);
void privout_bytes(struct privout *o, const void *p, size_t n);
/* Writes the buffered bytes: a reader may wait for them. */
void privout_flush(struct privout *o);
/*
 * @keep: keep the new file; else the old one stays.  0, or -1 after a message.
 */
int privout_close(struct privout *o, bool keep);

#endif /* READER_PRIVOUT_H */
