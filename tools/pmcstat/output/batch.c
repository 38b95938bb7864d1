/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for the log, gathered into few writes. */
#include <string.h>

#include "output/batch.h"

void batch_flush(struct batch *b)
{
	if (b->len && !b->failed)
		b->failed = b->sink->write(b->sink->arg, b->data, b->len) != 0;
	b->len = 0;
}

void record_begin(struct record *r, const void *fixed, size_t len)
{
	memset(r, 0, sizeof(*r));
	memcpy(r->data, fixed, len);
	r->len = (uint32_t)len;
}

void record_string(struct record *r, const char *s)
{
	size_t len = strlen(s) + 1;

	if (len > sizeof(r->data) - r->len) {
		r->full = 1;
		return;
	}
	memcpy(r->data + r->len, s, len);
	r->len += (uint32_t)len;
}

void record_end(struct record *r, uint32_t type, struct batch *b)
{
	struct metadata_sink *sink = b->sink;
	uint32_t header;

	r->len = (r->len + 3) & ~3U;
	if (r->full || r->len > sink->budget) {
		sink->dropped++;
		return;
	}
	header = PMCLOG_HEADER(type, r->len);
	memcpy(r->data, &header, sizeof(header));
	if (b->len + r->len > sizeof(b->data))
		batch_flush(b);
	memcpy(b->data + b->len, r->data, r->len);
	b->len += r->len;
	sink->budget -= r->len;
}

struct pmclog_ext record_ext(enum pmclog_ext_subtype subtype)
{
	return (struct pmclog_ext){
		.cookie = PMCLOG_EXT_COOKIE,
		.subtype = (uint16_t)subtype,
	};
}

void batch_build_id(struct batch *b, const char *name, const unsigned char *id,
		    uint32_t len)
{
	struct pmclog_ext_buildid fixed = {
		.e = record_ext(PMCLOG_EXT_BUILDID), .len = len,
	};
	struct record r;

	if (!len || len > sizeof(fixed.id))
		return;
	memcpy(fixed.id, id, len);
	record_begin(&r, &fixed, offsetof(struct pmclog_ext_buildid, name));
	record_string(&r, name);
	record_end(&r, PMCLOG_T_USERDATA, b);
}
