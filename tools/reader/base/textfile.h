/* SPDX-License-Identifier: BSD-2-Clause */
/* Files for text, as pmcstat(8) writes them; errors are exit statuses of sysexits(3). */
#ifndef READER_TEXTFILE_H
#define READER_TEXTFILE_H

#include <stdio.h>

/* A file for text, "-" is standard output; NULL after a message. */
FILE *text_open(const char *path);
/* 0, or EX_IOERR after a message. */
int text_close(FILE *f, const char *path);
/* Can a file be written there? 0, or EX_CANTCREAT after a message; NULL can. */
int output_check(const char *path);
/* Is it a directory? 0, or @status after a message. */
int directory_check(const char *option, const char *path, int status);

#endif /* READER_TEXTFILE_H */
