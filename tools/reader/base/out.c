// SPDX-License-Identifier: BSD-2-Clause
/* Buffered output, and strings of a log made safe to print. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/exit.h"
#include "base/out.h"

struct out *out_stdout(void)
{
	static struct out o = { .fd = STDOUT_FILENO };

	return &o;
}

void out_flush(struct out *o)
{
	size_t done = 0;
	ssize_t n;

	if (o->sink && !o->error) {
		o->sink(o, o->buf, o->n);
		done = o->n;
	}
	while (done < o->n && !o->error) {
		n = write(o->fd, o->buf + done, o->n - done);
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			o->error = errno;
	}
	o->n = 0;
}

int out_finish_file(struct out *o, const char *path)
{
	out_flush(o);
	if (!o->error)
		return READER_OK;
	return reader_fail("cannot write%s%s: %s", path ? " " : "", path ? path : "",
			   strerror(o->error));
}

int out_finish(struct out *o)
{
	return out_finish_file(o, NULL);
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	size_t part;

	while (n) {
		if (o->n == OUT_SIZE)
			out_flush(o);
		part = OUT_SIZE - o->n < n ? OUT_SIZE - o->n : n;
		memcpy(o->buf + o->n, p, part);
		o->n += part;
		p = (const char *)p + part;
		n -= part;
	}
}

void out_u64(struct out *o, uint64_t v)
{
	char *to = out_room(o, DIGITS_MAX);

	o->n += (size_t)(put_number(to, v) - to);
}

void out_s64(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	out_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void out_hex(struct out *o, uint64_t v)
{
	char *to = out_room(o, HEX_MAX + 2);

	to[0] = '0';
	to[1] = 'x';
	o->n = (size_t)(put_hex(to + 2, v) - o->buf);
}

void out_hexbytes(struct out *o, const unsigned char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		out_char(o, "0123456789abcdef"[p[i] >> 4]);
		out_char(o, "0123456789abcdef"[p[i] & 15]);
	}
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > 0)
		out_bytes(o, line, (size_t)n < sizeof(line) ?
			  (size_t)n : sizeof(line) - 1);
}

size_t utf8_next(const char *s, size_t n, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = s[0];
	uint32_t v;
	size_t len, i;

	if (c < 0x80)
		len = 1, v = c;
	else if (c >= 0xC2 && c < 0xE0)
		len = 2, v = c & 0x1F;
	else if (c >= 0xE0 && c < 0xF0)
		len = 3, v = c & 0x0F;
	else if (c >= 0xF0 && c < 0xF5)
		len = 4, v = c & 0x07;
	else
		return 0;
	if (len > n)
		return 0;
	for (i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xC0) != 0x80)
			return 0;
		v = v << 6 | ((unsigned char)s[i] & 0x3F);
	}
	if (v < least[len] || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
		return 0;
	*code = v;
	return len;
}

bool utf8_obeyed(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) ||
	       (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

static void out_escape(struct out *o, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r";
	static const char to[] = "\"\\ntr";
	const char *p = c ? strchr(from, c) : NULL;

	out_char(o, '\\');
	if (p) {
		out_char(o, to[p - from]);
		return;
	}
	out_char(o, '0' + (c >> 6));
	out_char(o, '0' + ((c >> 3) & 7));
	out_char(o, '0' + (c & 7));
}

void out_quoted(struct out *o, const char *s, size_t n)
{
	uint32_t code;
	size_t len, i;

	out_char(o, '"');
	for (; n; s += len, n -= len) {
		len = utf8_next(s, n, &code);
		if (len && !utf8_obeyed(code) && code != '"' && code != '\\') {
			out_bytes(o, s, len);
			continue;
		}
		len = len ? len : 1;
		for (i = 0; i < len; i++)
			out_escape(o, s[i]);
	}
	out_char(o, '"');
}
