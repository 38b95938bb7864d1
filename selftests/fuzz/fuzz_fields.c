// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: any lines of a tracepoint's format file on any data. */
#include <stdlib.h>
#include <string.h>

#include "sample/byfield.h"
#include "fuzz.h"

static size_t written;

static void count(struct out *o, const char *p, size_t n)
{
	(void)o;
	(void)p;
	written += n;
}

static void put_all(const struct tp_format *f, const struct tp_raw *raw)
{
	static struct out o = { .sink = count };
	struct byfield by = { .name = "a" };
	struct strtab str;

	written = 0;
	tp_put_text(&o, f, raw, true);
	tp_put_json(&o, f, raw, true);
	tp_put_text(&o, NULL, raw, true);
	tp_put_json(&o, NULL, raw, false);
	out_flush(&o);
	/* what is shown follows what there is to show, and names */
	abort_if(written > 64 * (size_t)raw->len + 4096 + 256 * 2 * 1024);
	strtab_init(&str);
	byfield_value(&by, &str, f, raw);
	byfield_free(&by);
	strtab_free(&str);
}

/* The lines end with a NUL; then come bytes, which may be told to be more. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, '\0', size);
	struct tp_format *f;
	struct tp_raw raw;

	if (!nul || nul + 1 == data + size)
		return 0;
	raw.len = (uint32_t)(data + size - (nul + 2));
	raw.size = raw.len + nul[1];
	/* where nothing is behind it that a sanitizer lets pass */
	raw.data = memcpy(malloc(raw.len + !raw.len), nul + 2, raw.len);
	f = tp_parse((const char *)data);
	put_all(f, &raw);
	tp_format_free(f);
	free((void *)raw.data);
	return 0;
}
