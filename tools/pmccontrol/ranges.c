/* SPDX-License-Identifier: BSD-2-Clause */

#include "pmccontrol.h"

/* The end of the run of members that begins at @i. */
static size_t run_end(const unsigned char *set, size_t n, size_t i)
{
	while (i < n && set[i])
		i++;
	return i;
}

/* The caller frees the text. */
char *ranges_text(const unsigned char *set, size_t n)
{
	const char *sep = "";
	size_t i, end, len;
	char *text = NULL;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		die(EX_OSERR, "out of memory");
	for (i = 0; i < n; i = end + 1) {
		end = run_end(set, n, i);
		if (end == i)
			continue;
		fprintf(f, "%s%zu", sep, i);
		if (end - i > 1)
			fprintf(f, "-%zu", end - 1);
		sep = ", ";
	}
	if (fclose(f))
		die(EX_OSERR, "out of memory");
	return text;
}
