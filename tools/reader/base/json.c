// SPDX-License-Identifier: BSD-2-Clause
/* Writes flat JSON objects, one a line. */
#include <string.h>

#include "base/json.h"

void json_begin(struct json *j, struct out *o)
{
	j->o = o;
	j->more = false;
	out_char(o, '{');
}

void json_end(struct json *j)
{
	out_str(j->o, "}\n");
}

static void comma(struct json *j)
{
	if (j->more)
		out_char(j->o, ',');
	j->more = true;
}

/* Keys are literals of the program and need no escapes. */
void json_key(struct json *j, const char *key)
{
	comma(j);
	out_char(j->o, '"');
	out_str(j->o, key);
	out_str(j->o, "\":");
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	out_u64(j->o, v);
}

void json_s64(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	out_s64(j->o, v);
}

static void put_hex(struct json *j, uint64_t v)
{
	out_char(j->o, '"');
	out_hex(j->o, v);
	out_char(j->o, '"');
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	put_hex(j, v);
}

void json_bytes(struct json *j, const char *key, const unsigned char *p,
		size_t n)
{
	json_key(j, key);
	out_char(j->o, '"');
	out_hexbytes(j->o, p, n);
	out_char(j->o, '"');
}

void json_text(struct out *o, const char *s, size_t n)
{
	uint32_t code;
	size_t len;

	out_char(o, '"');
	for (; n; s += len, n -= len) {
		len = utf8_next(s, n, &code);
		if (!len) {
			out_str(o, "\\ufffd");
			len = 1;
		} else if (utf8_obeyed(code) && code < 0x10000) {
			out_printf(o, "\\u%04x", code);
		} else {
			if (code == '"' || code == '\\')
				out_char(o, '\\');
			out_bytes(o, s, len);
		}
	}
	out_char(o, '"');
}

void json_str(struct json *j, const char *key, const char *s, size_t n)
{
	json_key(j, key);
	json_text(j->o, s, n);
}

void json_array_begin(struct json *j, const char *key)
{
	json_key(j, key);
	out_char(j->o, '[');
	j->more = false;
}

void json_array_hex(struct json *j, uint64_t v)
{
	comma(j);
	put_hex(j, v);
}

void json_array_str(struct json *j, const char *s)
{
	comma(j);
	json_text(j->o, s, strlen(s));
}

void json_array_object(struct json *j, struct json *member)
{
	comma(j);
	json_begin(member, j->o);
}

void json_object_end(struct json *member)
{
	out_char(member->o, '}');
}

void json_array_end(struct json *j)
{
	out_char(j->o, ']');
	j->more = true;
}
