/* SPDX-License-Identifier: BSD-2-Clause */
/* --branch: which branches, by perf's words. */
#include <linux/perf_event.h>
#include <string.h>

#include "options/options.h"

static const struct {
	const char *name;
	uint64_t bit;
} words[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "priv", PERF_SAMPLE_BRANCH_PRIV_SAVE },
};

#define NWORDS	(sizeof(words) / sizeof(words[0]))

/* These only say where, or what to log; without another word they mean any branch. */
#define NO_KIND	(PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_TYPE_SAVE | \
		 PERF_SAMPLE_BRANCH_PRIV_SAVE)

static uint64_t bit_of(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < NWORDS; i++)
		if (strlen(words[i].name) == len && !strncmp(words[i].name, word, len))
			return words[i].bit;
	return 0;
}

static int unknown(struct parser *p, const char *text, const char *word, size_t len)
{
	char known[256] = "";
	size_t i, n;

	for (i = 0; i < NWORDS; i++) {
		n = strlen(known);
		snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "",
			 words[i].name);
	}
	return options_fail(p, "--branch %s: \"%.*s\": the words are %s, and none", text,
			    (int)len, word, known);
}

int parse_branch(struct parser *p, const char *text)
{
	const char *word = text;
	uint64_t branch = 0, bit;
	size_t len;

	if (!strcmp(text, "none")) {
		p->branch = 0;
		return 0;
	}
	for (;; word += len + 1) {
		len = strcspn(word, ",");
		bit = bit_of(word, len);
		if (!bit)
			return unknown(p, text, word, len);
		branch |= bit;
		if (!word[len])
			break;
	}
	if (!(branch & ~(uint64_t)NO_KIND))
		branch |= PERF_SAMPLE_BRANCH_ANY;
	p->branch = branch;
	return 0;
}
