/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -m: the lines of sampled places, for pmcannotate; -a: the lines of their
 * chains. Equal samples are together, in the order of the first of each kind.
 */
#include <sysexits.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/say.h"
#include "freebsd/log_view.h"

/* False: the sample is in no function, which a line needs. */
static bool annotate_chain(struct log *l, const struct chain *c, FILE *f)
{
	char name[NAME_MAX_SHOWN];
	struct place at;
	uint64_t i;

	resolver_place(&l->r, &l->p, c->frame, &at);
	if (!at.name || !at.end)
		return false;
	log_name(l, l->same[l->p.frames.frame[c->frame].func], name);
	for (i = 0; i < c->count; i++)
		fprintf(f, "%#llx %s %#llx %#llx\n",
			(unsigned long long)at.addr, name,
			(unsigned long long)at.start,
			(unsigned long long)at.end);
	return true;
}

int read_annotate(struct log *l)
{
	const char *path = l->o->annotate;
	FILE *f = text_open(path);
	uint64_t left_out = 0;
	uint32_t i;

	if (!f)
		return EX_CANTCREAT;
	for (i = 0; i < l->p.chains.n; i++)
		if (!annotate_chain(l, &l->p.chains.chain[i], f))
			left_out += l->p.chains.chain[i].count;
	if (left_out && !l->o->quiet)
		warn_line("%llu %s not in the lines of -m: in no function "
			  "with a symbol", (unsigned long long)left_out,
			  plural(left_out, "sample is", "samples are"));
	return text_close(f, path);
}

static void print_frame(struct log *l, const struct chain *c, uint32_t i,
			FILE *f)
{
	const char *file = "??";
	char shown[NAME_MAX_SHOWN];
	uint32_t frame = chain_frames(&l->p.chains, c)[i];
	struct place at;
	int line = 0;
	uint32_t func;

	resolver_place(&l->r, &l->p, frame, &at);
	log_line(l, &at, &file, &line);
	shown_name(shown, file, false);
	func = l->p.frames.frame[frame].func;
	fprintf(f, "%#llx %s %s:%d\n", (unsigned long long)at.addr +
		(unsigned long long)log_is_return(l, c, i), at.name ?
		strtab_str(&l->p.str, func_shown(&l->p, func, true)) :
		"<unknown>", shown, line);
}

/* Repeats the lines for each sample, so that adding up lines counts samples. */
int read_annotate_graph(struct log *l)
{
	const char *path = l->o->annotate_graph;
	FILE *f = text_open(path);
	uint32_t i, j;
	uint64_t k;

	if (!f)
		return EX_CANTCREAT;
	for (i = 0; i < l->p.chains.n; i++) {
		const struct chain *c = &l->p.chains.chain[i];
		uint32_t n = log_depth(l, c);

		for (k = 0; k < c->count; k++) {
			for (j = 0; j < n; j++)
				print_frame(l, c, j, f);
			fputs("--\n", f);
		}
	}
	return text_close(f, path);
}
