/* SPDX-License-Identifier: BSD-2-Clause */
/* Output to a file that is there only when all of it is. */
#ifndef READER_OUTFILE_H
#define READER_OUTFILE_H

#include <stdbool.h>

#include "base/out.h"

#define OUTFILE_BINARY	1U	/* nothing for a terminal */
#define OUTFILE_GZIP	2U

/**
 * struct outfile - where output goes
 * @path: what was asked for, NULL: standard output
 * @temp: the name it has until it is complete; NULL: it is written in place
 */
struct outfile {
	struct out *out;
	const char *path;
	char *temp;
	int fd;
	bool gzip;
};

/*
 * NULL or "-" is standard output; what ends in .gz is compressed.  An exit
 * code, after a message.
 */
int outfile_open(struct outfile *f, const char *path, unsigned int flags);
/* @keep: it is worth keeping.  The exit code, after a message. */
int outfile_close(struct outfile *f, bool keep);

/*
 * Would what is written to @path (as of outfile_open()) take the place of @log,
 * a path or "-"?  True after a message.
 */
bool outfile_is_log(const char *path, const char *log);
/* The same of an open file @log. */
bool outfile_is(const char *path, int log);

/* An output that compresses into another, which is written to fd @fd. */
struct out *gzip_open(int fd);
/* As out_finish(); @o is freed. */
int gzip_finish(struct out *o);

#endif /* READER_OUTFILE_H */
