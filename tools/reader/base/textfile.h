/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files of pmcstat(8); errors are exit statuses of sysexits(3). */
#ifndef READER_TEXTFILE_H
#define READER_TEXTFILE_H

#include <stdio.h>

/* Opens a text file; "-" is standard output.  NULL after a message. */
FILE *text_open(const char *path);
/* 0, or EX_IOERR after a message.  A stream that could not be flushed is still to be closed. */
int text_flush(FILE *f, const char *path);
int text_close(FILE *f, const char *path);
/* 0 if @path can be written or is NULL, or EX_CANTCREAT after a message. */
int output_check(const char *path);
/* 0 if @path is a directory, or @status after a message. */
int directory_check(const char *option, const char *path, int status);

#endif /* READER_TEXTFILE_H */
