// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: event specifications, with the PMUs and tracepoints of a tree of
 * their own.  What is behind a NUL is a program that a uprobe goes into.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "libpmc_event.h"

static void parse(const char *root, const char *spec)
{
	struct pmc_event_desc desc;
	char msg[128];
	struct pmc_parse p = {
		.root = root, .desc = &desc, .msg = msg, .msglen = sizeof(msg),
	};

	pmc_parse_spec(&p, spec);
	if (!memchr(desc.name, 0, sizeof(desc.name)) ||
	    !memchr(msg, 0, sizeof(msg)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *root;
	const uint8_t *end = memchr(data, 0, size);
	size_t len = end ? (size_t)(end - data) : size;
	char spec[SPEC_MAX + 128], function[256];

	if (!root)
		root = fuzz_path("tree");
	if (len > SPEC_MAX)
		len = SPEC_MAX;
	memcpy(spec, data, len);
	spec[len] = '\0';
	parse(root, spec);
	if (!end)
		return 0;
	snprintf(function, sizeof(function), "%s", spec);
	snprintf(spec, sizeof(spec), "uprobe:%s:%s",
		 fuzz_file(0, end + 1, size - (size_t)(end + 1 - data)),
		 function);
	parse(root, spec);
	return 0;
}
