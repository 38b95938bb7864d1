/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffered output, and strings of a log made safe to print. */
#ifndef READER_OUT_H
#define READER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_SIZE	65536

/* @sink: takes the buffered bytes instead of @fd; or NULL */
struct out {
	int fd;
	int error;		/* errno of the first failed write */
	void (*sink)(struct out *o, const char *p, size_t n);
	size_t n;
	char buf[OUT_SIZE];
};

/* The output to standard output. */
struct out *out_stdout(void);
/* Writes the buffered bytes, for a reader that waits for them. */
void out_flush(struct out *o);
void out_bytes(struct out *o, const void *p, size_t n);
/*
 * Room for @n bytes, at most OUT_SIZE.  The caller fills it and adds the length
 * to @o->n.  For output that is too frequent for function calls.
 */
static inline char *out_room(struct out *o, size_t n)
{
	if (OUT_SIZE - o->n < n)
		out_flush(o);
	return o->buf + o->n;
}

static inline void out_char(struct out *o, char c)
{
	if (o->n == OUT_SIZE)
		out_flush(o);
	o->buf[o->n++] = c;
}

/* Inline, so that the length of a literal is a constant. */
static inline void out_str(struct out *o, const char *s)
{
	size_t n = strlen(s);

	if (OUT_SIZE - o->n < n) {
		out_bytes(o, s, n);
		return;
	}
	memcpy(o->buf + o->n, s, n);
	o->n += n;
}

void out_u64(struct out *o, uint64_t v);
void out_s64(struct out *o, int64_t v);
/* With 0x, without leading zeros. */
void out_hex(struct out *o, uint64_t v);
/* Bytes as two hex digits each. */
void out_hexbytes(struct out *o, const unsigned char *p, size_t n);
void out_printf(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * In double quotes with C escapes.  Characters that could move a terminal's
 * cursor or reorder its text are escaped too.
 */
void out_quoted(struct out *o, const char *s, size_t n);
/* Writes the rest; returns an exit code, after a message on failure. */
int out_finish(struct out *o);
/* The message names @path, if that is not NULL. */
int out_finish_file(struct out *o, const char *path);

/* Is @c a control character, or one that reorders or hides text? */
bool utf8_obeyed(uint32_t c);
/* Length of the valid UTF-8 sequence at @s, 0 if there is none. */
size_t utf8_next(const char *s, size_t n, uint32_t *code);

#endif /* READER_OUT_H */
