// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "log/detail.h"

static void put_branch(struct json *array, const struct pmclog_branch *b)
{
	const char *prediction = detail_prediction(b->flags);
	const char *type = detail_branch_type(b->flags);
	struct json branch;

	json_array_object(array, &branch);
	json_hex(&branch, "from", b->from);
	json_hex(&branch, "to", b->to);
	json_hex(&branch, "flags", b->flags);
	if (*prediction)
		json_str(&branch, "prediction", prediction, strlen(prediction));
	json_u64(&branch, "cycles", PMCLOG_BRANCH_CYCLES(b->flags));
	if (type)
		json_str(&branch, "type", type, strlen(type));
	json_object_end(&branch);
}

void detail_json_branches(struct json *j, const struct detail *d)
{
	struct pmclog_branch b;
	uint32_t i;

	json_array_begin(j, "branches");
	for (i = 0; i < d->n; i++) {
		b = detail_branch(d, i);
		put_branch(j, &b);
	}
	json_array_end(j);
}

void detail_json_source(struct json *j, uint64_t source)
{
	const char *access = detail_access(source);
	char text[DETAIL_SOURCE_MAX];

	detail_source(source, text);
	json_str(j, "mem", text, strlen(text));
	if (*access)
		json_str(j, "access", access, strlen(access));
}
