/* SPDX-License-Identifier: BSD-2-Clause */
/* The output files of a run. */
#ifndef PMCSTAT_OUTPUTS_H
#define PMCSTAT_OUTPUTS_H

#include <signal.h>
#include <stdio.h>

#include "reader/base/textfile.h"

/* The exit status in a shell of a program ended by SIGPIPE */
#define OUTPUT_UNREAD	(128 + SIGPIPE)

/**
 * struct output - an output file
 * @option: the option that names it
 * @path:   NULL: not given; "-": standard output
 */
struct output {
	const char *option;
	const char *path;
};

/* 0, or EX_USAGE after a message: two of the @n outputs go to one file. */
int outputs_distinct(const struct output *out, size_t n);

/*
 * Opens @path with @flags, for output that is useless if the recording does not
 * begin.  Until outputs_begun() an existing file stays unchanged.  If the program
 * ends before, no part of a new file is left.  A file that has to be written in
 * place stays unchanged until output_empty().  Returns the fd, or -1 with errno.
 */
int output_open(const char *path, int flags, unsigned int mode);
/*
 * Opens @path to append to.  A new file goes if the program ends before outputs_begun().
 * Returns the fd, or -1 with errno.
 */
int output_append(const char *path, unsigned int mode);
/* Empties the open file @path; ends the program on failure. */
void output_empty(int fd, const char *path);
/*
 * 0, or an errno: what was written to @fd cannot be stored, which some file systems
 * (NFS, FUSE) tell only when a descriptor is closed.
 */
int output_settle(int fd);
/* Is @path a regular file, so that writing does not wait for a reader? */
int output_is_file(const char *path);
/* From now on, a write to a pipe without a reader fails instead of ending us. */
void output_outlive_readers(void);
/* Has a signal ended a wait, or come since output_let_interrupt()? */
int output_interrupted(void);
/* In a child: SIGPIPE is what it was for us at the start. */
void output_inherit_sigpipe(void);
/*
 * Reports a failed write, with errno: prints "cannot @verb @what: ..." and returns
 * the exit status.  Prints nothing if the reader has closed the pipe.
 */
int output_failed(const char *verb, const char *what);
/* Recording has begun.  Ends the program if a file cannot be put in place. */
void outputs_begun(void);

/*
 * The session's signalfd(2): a wait for an output looks at it, too.  @background: a SIGINT
 * from the terminal is for others.
 */
void output_signals(int fd, int background);
int output_is_background(void);
/* The session's next signal, also of those that came during such a wait; 0: none */
struct signalfd_siginfo;
int output_next_signal(struct signalfd_siginfo *info);
int output_has_signals(void);
/* From now on one SIGINT or SIGTERM ends a wait; before, the second one does. */
void output_run_ended(void);
/* SIGINT and SIGTERM are let through from now on: they end a wait in the kernel, too. */
void output_let_interrupt(void);
/*
 * Writes all of it, to a slow reader, too.  Returns how much was written: less than
 * @len with errno; EINTR: a signal
 */
size_t output_write(int fd, const void *data, size_t len);
/* The stream of counts, which writes in this way; NULL: no memory */
FILE *output_stream(int fd);

#endif /* PMCSTAT_OUTPUTS_H */
