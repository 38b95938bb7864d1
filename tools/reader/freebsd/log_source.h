/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and printing a log: the part that needs no ELF library. */
#ifndef READER_LOG_SOURCE_H
#define READER_LOG_SOURCE_H

#include <stdbool.h>

#include "base/textfile.h"
#include "freebsd/reading.h"
#include "log/input.h"

/*
 * @path is a file, "-" or "host:port"; NULL: use descriptor @fd.  0, or an exit
 * status after a message.  Reads do not block if possible; damage is skipped.
 */
int input_open_log(struct input *in, const char *path, int fd);
/* Is @path a file or a directory, so that there may be files beside it? */
bool input_is_file(const char *path);
/* Waits for more; @ms as in poll(2). */
void input_wait(const struct input *in, int ms);
/* Exit status for an input that ended in an error; prints the error. */
int input_failed(const struct input *in);
/* Exit status for an empty input; prints a message. */
int input_was_empty(const struct input *in);
/* Is the record a sample that -c or -i leaves out? */
int input_unwanted(const struct reading *o, const struct pmclog_rec *rec);

/* print_log.c: a line of text for each record; an exit status */
int read_dump(const struct reading *o, struct input *in);

/* analyse.c: the other things to do with it; an exit status */
int read_analyse(const struct reading *o, struct input *in);
/*
 * gprof.c: can profiles of @n events be written?  For a log this is checked
 * when its events are known.
 */
int read_gprof_check(const struct reading *o, const char *const *events,
		     size_t n);

/*
 * False: a number that is no port.  getaddrinfo(3) would take another one for it.
 */
bool port_is_valid(const char *port);

#endif /* READER_LOG_SOURCE_H */
