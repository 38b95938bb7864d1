/* SPDX-License-Identifier: BSD-2-Clause */
/* Output to a file that appears under its name only when it is complete. */
#ifndef READER_OUTFILE_H
#define READER_OUTFILE_H

#include <stdbool.h>

#include "base/out.h"

#define OUTFILE_BINARY	1U	/* not to be written to a terminal */
#define OUTFILE_GZIP	2U

/**
 * struct outfile - an output file
 * @path: path that the user gave, NULL: standard output
 * @temp: name of the file until it is complete; NULL: it is written in place
 */
struct outfile {
	struct out *out;
	const char *path;
	char *temp;
	int fd;
	bool gzip;
};

/*
 * A @path of NULL or "-" is standard output; a file *.gz is compressed.
 * Returns an exit code, after a message on failure.
 */
int outfile_open(struct outfile *f, const char *path, unsigned int flags);
/* @keep: keep the file.  Returns an exit code, after a message on failure. */
int outfile_close(struct outfile *f, bool keep);

/*
 * Would output to @path (as of outfile_open()) replace @log, a path or "-"?
 * True after a message.
 */
bool outfile_is_log(const char *path, const char *log);
/* As outfile_is_log(), for an open file @log. */
bool outfile_is(const char *path, int log);

/* An output that is compressed and written to file descriptor @fd. */
struct out *gzip_open(int fd);
/* As out_finish_file(); frees @o. */
int gzip_finish(struct out *o, const char *path);

#endif /* READER_OUTFILE_H */
