/* SPDX-License-Identifier: BSD-2-Clause */
/* A log named on the command line. */
#ifndef READER_INPUT_H
#define READER_INPUT_H

#include <pmclog_iter.h>

struct input {
	const char *path;	/* as it is to be called in messages */
	int fd;
	struct pmclog_iter *it;
};

/* @path may be "-".  0, or -1 after a message. */
int input_open(struct input *in, const char *path);
/* RECORD, EOF or ERROR; waits where a pipe would not. */
enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec);
/* Prints the error that was met. */
void input_complain(const struct input *in);
/* As input_read(), but ERROR only after a message. */
enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec);
void input_close(struct input *in);

#endif /* READER_INPUT_H */
