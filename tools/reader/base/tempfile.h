/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary file that replaces another one when it is complete. */
#ifndef READER_TEMPFILE_H
#define READER_TEMPFILE_H

#include <stdbool.h>

/* Default permissions of a new file */
unsigned int tempfile_mode(void);

/*
 * Opens a temporary file beside @path to write and read; *@temp is its name.
 * It has the owner and permissions of an existing @path, else @mode.  -1: @path
 * has to be written in place.
 */
int tempfile_open(const char *path, unsigned int mode, char **temp);

/*
 * SIGHUP, SIGINT, SIGQUIT and SIGTERM remove @temp until it is settled or forgotten, if
 * nothing else handles them.
 */
void tempfile_guard(char *temp);

/* @temp has its name, or is gone.  Frees it. */
void tempfile_forget(char *temp);

/*
 * Closes @fd, renames @temp to @path if @keep, and frees @temp.  @temp is NULL
 * if @path was written in place.  0 or an errno.
 */
int tempfile_settle(int fd, const char *path, char *temp, bool keep);

#endif /* READER_TEMPFILE_H */
