/* SPDX-License-Identifier: BSD-2-Clause */
/* A log named on the command line. */
#ifndef READER_INPUT_H
#define READER_INPUT_H

#include <stdbool.h>

#include "log/rec.h"
#include "log/steady.h"

/* paths in an unpacked archive: the log, and the machine's files */
#define ARCHIVE_LOG	"log.pmclog"
#define ARCHIVE_ROOT	"root"

struct mapped;
struct merge;

struct input {
	const char *path;	/* name of the log in messages */
	int fd;
	struct pmclog_iter *it;	/* NULL: a directory of logs: */
	struct merge *merge;	/* else NULL */
	struct mapped *map;	/* NULL: the log is read, not mapped */
	bool gaps;		/* the only error: something was skipped */
	bool repairs;		/* damaged timestamps are repaired: */
	struct steady steady;
	unsigned char *kept;	/* a record, while the next one is read */
	char skipped[80];	/* what was skipped, set at the end; or "" */
	void (*idle)(void *arg);	/* called before a wait, or NULL */
	void *idle_arg;
};

/* Is it the directory of an unpacked archive? */
bool input_is_archive(const char *path);
/*
 * @path may be "-", or a directory: that of an unpacked archive, or one whose
 * logs are read as one, see log/merge.h.  0, or -1 after a message.  Damaged
 * parts of the log are skipped; the end is then an ERROR.  Timestamps that are
 * plainly wrong are repaired.
 */
int input_open(struct input *in, const char *path);
/*
 * As input_open(), but damage is an ERROR at once; timestamps stay.  The logs
 * of a directory cannot be read so in one.
 */
int input_open_strict(struct input *in, const char *path);
/*
 * As input_open(), but timestamps stay.  @idle is called before the reader
 * waits for more of a pipe that still has a writer.
 */
int input_open_live(struct input *in, const char *path,
		    void (*idle)(void *arg), void *arg);
/*
 * As input_open(), for a caller that passes records on as they come.  @idle is
 * called as with input_open_live().  A record whose timestamp is judged by the
 * next record is not kept back for long.
 */
int input_open_passing(struct input *in, const char *path,
		       void (*idle)(void *arg), void *arg);
/*
 * Returns @fd, or a descriptor that replaces it and does not block in read(2).
 * A pipe is reopened, because all its users share the flags.
 */
int input_not_waiting(int fd);
/*
 * Opens a log from descriptor @fd, which input_close() closes.  Damage is
 * skipped; timestamps stay.
 */
int input_fd(struct input *in, const char *path, int fd);
/* The same for a file, as input_open() and input_open_strict() do it. */
int input_fd_repairing(struct input *in, const char *path, int fd);
int input_fd_strict(struct input *in, const char *path, int fd);
/* As pmclog_iter_raw() */
void input_raw(struct input *in);
/* As pmclog_iter_pass(); false also if samples cannot be skipped. */
bool input_pass(struct input *in, uint64_t from, uint64_t to,
		struct pmclog_passed *passed);
/* As pmclog_iter_format() */
const struct pmclog_format *input_format(const struct input *in);
/*
 * Of a directory: name of the log that the last record is from; NULL: a file.
 */
const char *input_log_name(const struct input *in);
/* Of a directory: samples left out so far, because an earlier log has them, too */
uint64_t input_repeated(const struct input *in);
/* Bytes read up to a record that was just returned. */
uint64_t input_bytes(const struct input *in, const struct pmclog_rec *rec);
/* As pmclog_iter_next(); if something was skipped, the end is an ERROR. */
enum pmclog_iter_status input_poll(struct input *in, struct pmclog_rec *rec);
/* RECORD, EOF or ERROR; waits if a pipe has no data yet. */
enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec);
/* The error message, and its offset in the log; for a directory that is 0. */
const char *input_error(const struct input *in, uint64_t *offset);
/* The same as text: what, where, and what was skipped; the caller frees it. */
char *input_error_text(const struct input *in);
/* Did the error stop the reading, before the end? */
bool input_stopped(const struct input *in);
/* Prints the error, and what was skipped. */
void input_complain(const struct input *in);
/* As input_read(), but ERROR only after a message. */
enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec);
void input_close(struct input *in);

#endif /* READER_INPUT_H */
