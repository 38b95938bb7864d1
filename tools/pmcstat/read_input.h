/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a log comes from, and its text: what needs no ELF library. */
#ifndef PMCSTAT_READ_INPUT_H
#define PMCSTAT_READ_INPUT_H

#include "../reader/input.h"
#include "pmcstat.h"

/*
 * A file, "-" or "host:port"; NULL: descriptor @fd.  0, or an exit status after
 * a message.  Reading does not wait where that can be had, and skips damage.
 */
int input_open_log(struct input *in, const char *path, int fd);
/* Waits for more; @ms as in poll(2). */
void input_wait(const struct input *in, int ms);
/* The exit status for an input that ended in an error; says what it was. */
int input_failed(const struct input *in);
/* The one for an input that had nothing in it; says so. */
int input_was_empty(const struct input *in);
/* A sample that -c and -i leave out. */
int input_unwanted(const struct options *o, const struct pmclog_rec *rec);

/* read_dump.c: a line of text for each record; an exit status */
int read_dump(const struct options *o, struct input *in);

/* read_analyse.c, top.c: the other things to do with it; an exit status */
int read_analyse(const struct options *o, struct input *in);
int top_run(const struct options *o, struct input *in);
/* read_gprof.c: can it be written? Of a log, that shows when it is. */
int read_gprof_check(const struct options *o);

/* A file for text, "-" is standard output; NULL after a message. */
FILE *text_open(const char *path);
/* 0, or EX_IOERR after a message. */
int text_close(FILE *f, const char *path);

#endif /* PMCSTAT_READ_INPUT_H */
