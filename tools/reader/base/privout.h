/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of what is in a log: for their owner alone, and compressed if wanted. */
#ifndef READER_PRIVOUT_H
#define READER_PRIVOUT_H

#include "base/out.h"
#include "base/zwrite.h"

/**
 * struct privout - such a file
 * @path:  "-": standard output
 * @temp:  its name until it is complete; NULL: it is written in place
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
 * @compress: also if @path ends in ".zst"; @source: a descriptor of what it is
 * made from, which it must not replace.  0, or -1 after a message.
 */
int privout_open(struct privout *o, const char *path, int compress,
		 int source);
void privout_bytes(struct privout *o, const void *p, size_t n);
/* Somebody may wait for what there is. */
void privout_flush(struct privout *o);
/*
 * @keep: it is worth keeping; else what was there before stays.  0, or -1 after
 * a message.
 */
int privout_close(struct privout *o, bool keep);

#endif /* READER_PRIVOUT_H */
