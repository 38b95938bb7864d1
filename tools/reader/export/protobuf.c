// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/protobuf.h"

#define WIRE_VARINT	0U
#define WIRE_LEN	2U
#define VARINT_MAX	10U

static void append(struct pb *m, const void *p, size_t n)
{
	while (m->cap - m->n < n) {
		m->cap = m->cap ? 2 * m->cap : 256;
		m->p = xreallocarray(m->p, m->cap, 1);
	}
	if (n)
		memcpy(m->p + m->n, p, n);
	m->n += n;
}

static size_t encode(unsigned char buf[VARINT_MAX], uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		buf[n++] = (unsigned char)(v | 0x80);
	buf[n++] = (unsigned char)v;
	return n;
}

static void varint(struct pb *m, uint64_t v)
{
	unsigned char buf[VARINT_MAX];

	append(m, buf, encode(buf, v));
}

void pb_uint(struct pb *m, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	varint(m, field << 3 | WIRE_VARINT);
	varint(m, v);
}

void pb_bytes(struct pb *m, unsigned int field, const void *p, size_t n)
{
	varint(m, field << 3 | WIRE_LEN);
	varint(m, n);
	append(m, p, n);
}

void pb_packed(struct pb *m, unsigned int field, const uint64_t *v, size_t n)
{
	unsigned char buf[VARINT_MAX];
	size_t len = 0, i;

	for (i = 0; i < n; i++)
		len += encode(buf, v[i]);
	varint(m, field << 3 | WIRE_LEN);
	varint(m, len);
	for (i = 0; i < n; i++)
		varint(m, v[i]);
}

void pb_message(struct pb *m, unsigned int field, struct pb *part)
{
	pb_bytes(m, field, part->p, part->n);
	part->n = 0;
}

void pb_write(struct out *o, unsigned int field, struct pb *part)
{
	unsigned char buf[VARINT_MAX];

	out_bytes(o, buf, encode(buf, field << 3 | WIRE_LEN));
	out_bytes(o, buf, encode(buf, part->n));
	out_bytes(o, part->p, part->n);
	part->n = 0;
}

void pb_free(struct pb *m)
{
	free(m->p);
	memset(m, 0, sizeof(*m));
}
