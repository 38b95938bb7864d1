/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the names nearest to an unknown word, for a suggestion. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "libpmc_event.h"

#define WORD_MAX	256

/* Edit distance of two words, each shorter than WORD_MAX. */
static unsigned int distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned int row[WORD_MAX + 1], diag, up, best;

	for (j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		diag = row[0];
		row[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			up = row[j];
			best = diag + (tolower((unsigned char)a[i - 1]) !=
				       tolower((unsigned char)b[j - 1]));
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = up;
			row[j] = best;
		}
	}
	return row[lb];
}

/* Smaller is nearer; a name that contains the word is nearer than any typo. */
static unsigned int badness(const char *word, const char *name)
{
	size_t lw = strlen(word), ln = strlen(name), limit = 1 + lw / 4;
	unsigned int d;

	if (lw >= WORD_MAX || ln >= WORD_MAX)
		return ~0U;
	if (lw >= 3 && strcasestr(name, word))
		return 0;
	/* the distance is at least the difference of the lengths */
	if (lw > ln + limit || ln > lw + limit)
		return ~0U;
	d = distance(word, name);
	return d <= limit ? d : ~0U;
}

/* Keeps the nearest names first; equally near names in the order offered. */
int pmc_near_offer(void *arg, const char *name)
{
	struct pmc_near *near = arg;
	unsigned int d = badness(near->word, name);
	size_t i, at;

	for (at = 0; at < near->n && near->best[at].distance <= d; at++)
		if (!strcmp(near->best[at].name, name))
			return 0;
	if (d == ~0U || at == NEAR_MAX || strlen(name) >= sizeof(near->best[0].name))
		return 0;
	if (near->n < NEAR_MAX)
		near->n++;
	for (i = near->n - 1; i > at; i--)
		near->best[i] = near->best[i - 1];
	near->best[at].distance = d;
	strcpy(near->best[at].name, name);
	return 0;
}

int pmc_near_say(const struct pmc_near *near, struct pmc_parse *p)
{
	const char *sep = "; did you mean ";
	size_t used, i;

	errno = EINVAL;
	if (!p->msg || !p->msglen || !near->n)
		return -1;
	for (i = 0; i < near->n; i++, sep = ", ") {
		used = strlen(p->msg);
		snprintf(p->msg + used, p->msglen - used, "%s%s", sep,
			 near->best[i].name);
	}
	used = strlen(p->msg);
	if (used + 1 < p->msglen)
		strcpy(p->msg + used, "?");
	return -1;
}
