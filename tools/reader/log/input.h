/* SPDX-License-Identifier: BSD-2-Clause */
/* A log named on the command line. */
#ifndef READER_INPUT_H
#define READER_INPUT_H

#include <stdbool.h>

#include <pmclog_iter.h>

#include "log/steady.h"

/* of an archive that was unpacked: the log, and the machine's files */
#define ARCHIVE_LOG	"log.pmclog"
#define ARCHIVE_ROOT	"root"

struct mapped;

struct input {
	const char *path;	/* as it is to be called in messages */
	int fd;
	struct pmclog_iter *it;
	struct mapped *map;	/* NULL: it is read */
	bool gaps;		/* all the error is that something was skipped */
	bool repairs;		/* moments that damage has changed: */
	struct steady steady;
	unsigned char *kept;	/* a record that what follows was read for */
	char skipped[80];	/* what, at the end or the error; or "" */
	void (*idle)(void *arg);	/* before it waits for more, or NULL */
	void *idle_arg;
};

/*
 * @path may be "-".  0, or -1 after a message.  What is damaged in it is
 * skipped: then the end is an ERROR, if all before it was read; clocks that are
 * plainly wrong are made right.
 */
int input_open(struct input *in, const char *path);
/* As input_open(), but damage is an ERROR where it is, and clocks stay. */
int input_open_strict(struct input *in, const char *path);
/*
 * As input_open(), but clocks stay; before it waits for more of a pipe that
 * somebody still writes to, @idle is called.
 */
int input_open_live(struct input *in, const char *path,
		    void (*idle)(void *arg), void *arg);
/*
 * As input_open(), for who passes records on as they come: as with
 * input_open_live() @idle is called, and a record whose clock is to be judged by
 * what follows it is not kept back for long.
 */
int input_open_passing(struct input *in, const char *path,
		       void (*idle)(void *arg), void *arg);
/*
 * @fd, or in its place one that does not wait in read(2): a pipe is opened once
 * more, its flags belong to all who have it.
 */
int input_not_waiting(int fd);
/* Of a descriptor that is open, which input_close() closes. */
int input_fd(struct input *in, const char *path, int fd);
/* As pmclog_iter_next(); what was skipped is an ERROR at the end. */
enum pmclog_iter_status input_poll(struct input *in, struct pmclog_rec *rec);
/* RECORD, EOF or ERROR; waits where a pipe would not. */
enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec);
/* The error that was met, and where. */
const char *input_error(const struct input *in, uint64_t *offset);
/* Prints it, and what was skipped. */
void input_complain(const struct input *in);
/* As input_read(), but ERROR only after a message. */
enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec);
void input_close(struct input *in);

#endif /* READER_INPUT_H */
