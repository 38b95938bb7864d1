/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a log comes from, and its text: what needs no ELF library. */
#ifndef READER_LOG_SOURCE_H
#define READER_LOG_SOURCE_H

#include "base/textfile.h"
#include "freebsd/reading.h"
#include "log/input.h"

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
int input_unwanted(const struct reading *o, const struct pmclog_rec *rec);

/* print_log.c: a line of text for each record; an exit status */
int read_dump(const struct reading *o, struct input *in);

/* analyse.c: the other things to do with it; an exit status */
int read_analyse(const struct reading *o, struct input *in);
/*
 * gprof.c: can profiles of @n events be written?  Of a log, whose events are not
 * known yet, that shows when they are.
 */
int read_gprof_check(const struct reading *o, const char *const *events,
		     size_t n);

#endif /* READER_LOG_SOURCE_H */
