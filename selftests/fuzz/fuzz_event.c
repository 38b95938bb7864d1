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
	abort_if(!memchr(desc.name, 0, sizeof(desc.name)) ||
		 !memchr(msg, 0, sizeof(msg)));
}

/* Every name that is listed is an event, and has a description. */
static void check_names(const char *root)
{
	const char **names, *descr;
	int n, i;

	abort_if(pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &n));
	for (i = 0; i < n; i++) {
		abort_if(!pmc_event_description(i));
		parse(root, names[i]);
	}
	free(names);
	for (i = 0; pmc_event_spelling(i, &descr); i++)
		abort_if(!descr);
	pmc_event_list(stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *root, *bare;
	const uint8_t *end = memchr(data, 0, size);
	size_t len = end ? (size_t)(end - data) : size;
	char spec[SPEC_MAX + 512], function[256];

	if (!root) {
		root = fuzz_path("tree");
		bare = fuzz_path("nothing");
		check_names(root);
	}
	if (len > SPEC_MAX + 64)	/* more than there may be */
		len = SPEC_MAX + 64;
	memcpy(spec, data, len);
	spec[len] = '\0';
	parse(root, spec);
	parse(bare, spec);
	if (!end)
		return 0;
	snprintf(function, sizeof(function), "%s", spec);
	snprintf(spec, sizeof(spec), "uprobe:%s:%s",
		 fuzz_file(0, end + 1, size - (size_t)(end + 1 - data)),
		 function);
	parse(root, spec);
	return 0;
}
