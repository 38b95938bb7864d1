/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes messages in the encoding of Protocol Buffers. */
#ifndef READER_PROTOBUF_H
#define READER_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* a message that grows; its length is written before it */
struct pb {
	unsigned char *p;
	size_t n, cap;
};

/* A value of 0 is omitted, as in proto3. */
void pb_uint(struct pb *m, unsigned int field, uint64_t v);
void pb_bytes(struct pb *m, unsigned int field, const void *p, size_t n);
/* Repeated numbers, packed. */
void pb_packed(struct pb *m, unsigned int field, const uint64_t *v, size_t n);
/* Appends @part as a field of @m, and empties it. */
void pb_message(struct pb *m, unsigned int field, struct pb *part);
/* Writes @part to @o as a field, and empties it. */
void pb_write(struct out *o, unsigned int field, struct pb *part);
void pb_free(struct pb *m);

#endif /* READER_PROTOBUF_H */
