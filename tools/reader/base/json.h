/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes flat JSON objects, one a line, valid for any bytes in strings. */
#ifndef READER_JSON_H
#define READER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

struct json {
	struct out *o;
	bool more;		/* the next member needs a comma */
};

/* Writes a quoted string. */
void json_text(struct out *o, const char *s, size_t n);

void json_begin(struct json *j, struct out *o);
void json_end(struct json *j);
/* Writes the key; the caller writes the member's value next. */
void json_key(struct json *j, const char *key);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_s64(struct json *j, const char *key, int64_t v);
/* A string: many programs lose bits of an address in a JSON number. */
void json_hex(struct json *j, const char *key, uint64_t v);
void json_str(struct json *j, const char *key, const char *s, size_t n);
void json_bytes(struct json *j, const char *key, const unsigned char *p,
		size_t n);
void json_array_begin(struct json *j, const char *key);
void json_array_hex(struct json *j, uint64_t v);
void json_array_str(struct json *j, const char *s);
/* An object in the array: @member is for its members, and ends it. */
void json_array_object(struct json *j, struct json *member);
void json_object_end(struct json *member);
void json_array_end(struct json *j);

#endif /* READER_JSON_H */
