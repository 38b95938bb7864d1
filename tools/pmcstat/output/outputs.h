/* SPDX-License-Identifier: BSD-2-Clause */
/* Where what is made of a run goes. */
#ifndef PMCSTAT_OUTPUTS_H
#define PMCSTAT_OUTPUTS_H

#include <signal.h>

#include "reader/base/textfile.h"

/* What a shell makes of a program that the end of its reader has ended */
#define OUTPUT_UNREAD	(128 + SIGPIPE)

/*
 * Opens @path as @flags say, to write what is of no use should the recording not
 * begin.  Until outputs_begun() the file that is there stays as it is, and at an
 * end before that no part of a new one is left; where a file has to be written
 * in place it does until output_empty().  The fd, or -1 with errno.
 */
int output_open(const char *path, int flags, unsigned int mode);
/* What is in an open file @path is to go; ends the program if it does not. */
void output_empty(int fd, const char *path);
/* Is that a file, whose writing waits for nobody? */
int output_is_file(const char *path);
/* From now on a pipe whose reader is gone is an error of who writes into it. */
void output_outlive_readers(void);
/*
 * Could not be written, with errno: the exit status, after "cannot @verb
 * @what: ...".  A reader that has seen enough is no error: nothing is said.
 */
int output_failed(const char *verb, const char *what);
/* Recording has begun.  Ends the program if a file cannot be put in place. */
void outputs_begun(void);

#endif /* PMCSTAT_OUTPUTS_H */
