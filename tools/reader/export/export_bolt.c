// SPDX-License-Identifier: BSD-2-Clause
/*
 * Branches for BOLT: text that "perf2bolt -pa" reads.
 *
 *	B FROM TO COUNT MISPREDICTED	a branch was taken
 *	F START END COUNT		no branch was taken from START to END
 *
 * Addresses are those of the program's file, in hex; "X:0" is anywhere else.  perf2bolt
 * takes any other name before a colon for the program, so the file is about one
 * program only.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/say.h"
#include "export/export.h"

/* an end of a branch: an object, and an offset in its file */
struct spot {
	uint32_t obj;
	uint64_t at;
};

/**
 * struct jump - a branch, or what ran between two branches
 * @runs: the latter
 */
struct jump {
	struct spot from, to;
	bool runs;
	uint64_t count, mispredicted;
};

/**
 * struct bolt - the branches so far
 * @taken: by object: how often a branch has left it for a place in it
 */
struct bolt {
	struct jump *jump;
	uint32_t n, cap;
	struct idtab tab;
	uint64_t *taken;
	uint32_t ntaken;
};

static void count(struct bolt *b, struct spot from, struct spot to, bool runs,
		  bool mispredicted)
{
	struct jump key = { .from = from, .to = to, .runs = runs };
	uint64_t hash = hash_mix(hash_mix(from.at, to.at),
				 ((uint64_t)from.obj << 32 | to.obj) + runs);
	uint32_t id = IDTAB_ID(&b->tab, hash, b->jump, b->n, b->cap, &key, e,
			       e->from.obj == from.obj && e->from.at == from.at &&
			       e->to.obj == to.obj && e->to.at == to.at && e->runs == runs);

	b->jump[id].count++;
	b->jump[id].mispredicted += mispredicted;
}

static bool is_file(const struct export *e, struct spot s)
{
	return e->a.p.objs.obj[s.obj].kind == OBJ_FILE;
}

static void sample(struct export *e, const struct sample *s)
{
	struct profile *p = &e->a.p;
	const struct aspace *as = procs_get(&p->procs, &p->str, s->pid)->as;
	struct spot from, to, newer = { .obj = OBJ_ID_UNKNOWN };
	struct bolt *b = e->state;
	uint32_t i;

	for (i = 0; i < sample_more(s)->detail.n; i++, newer = from) {
		struct pmclog_branch br = detail_branch(&sample_more(s)->detail, i);

		profile_look_up(p, as, br.from, &from.obj, &from.at);
		profile_look_up(p, as, br.to, &to.obj, &to.at);
		b->taken = xgrow_zero(b->taken, &b->ntaken, from.obj, 16, sizeof(*b->taken));
		if (is_file(e, from) || is_file(e, to))
			count(b, from, to, false, br.flags & PMCLOG_BRANCH_MISPRED);
		if (is_file(e, from) && from.obj == to.obj)
			b->taken[from.obj]++;
		/* up to the branch that came next */
		if (i && is_file(e, to) && to.obj == newer.obj && to.at <= newer.at)
			count(b, to, newer, true, false);
	}
}

/* Is the object @name, or is that the last part of its path? */
static bool is_named(const struct export *e, uint32_t obj, const char *name)
{
	const struct object *o = &e->a.p.objs.obj[obj];
	const char *path = strtab_str(&e->a.p.str, o->path);

	return o->kind == OBJ_FILE && (!strcmp(path, name) || !strcmp(basename(path), name));
}

/* The object that is wanted, by default the one with the most branches, or 0 */
static uint32_t choose(const struct export *e, const struct bolt *b)
{
	uint32_t best = OBJ_ID_UNKNOWN, obj;

	for (obj = 0; obj < b->ntaken && obj < e->a.p.objs.n; obj++)
		if (b->taken[obj] && (!e->object || is_named(e, obj, e->object)) &&
		    (best == OBJ_ID_UNKNOWN || b->taken[obj] > b->taken[best]))
			best = obj;
	return best;
}

static void fail(struct export *e, const char *why, const char *name)
{
	warn_line("%s: %s%s", e->a.path, why, name);
	e->bad = true;
}

DEFINE_ORDER(by_place, struct jump, ORDER(a->runs, b->runs) ?: ORDER(a->from.obj, b->from.obj) ?:
	     ORDER(a->from.at, b->from.at) ?: ORDER(a->to.at, b->to.at) ?:
	     ORDER(a->to.obj, b->to.obj))

/* False: the offset is in no segment of the file, or there is no such file. */
static bool put_spot(struct export *e, struct spot s, uint32_t obj)
{
	uint64_t addr;

	if (s.obj != obj) {
		out_str(e->out, " X:0");
		return true;
	}
	if (!resolver_vaddr(&e->r, &e->a.p, obj, s.at, &addr))
		return false;
	out_printf(e->out, " %llx", (unsigned long long)addr);
	return true;
}

static bool put_jump(struct export *e, const struct jump *j, uint32_t obj)
{
	out_char(e->out, j->runs ? 'F' : 'B');
	if (!put_spot(e, j->from, obj) || !put_spot(e, j->to, obj))
		return false;
	out_printf(e->out, " %llu", (unsigned long long)j->count);
	if (!j->runs)
		out_printf(e->out, " %llu", (unsigned long long)j->mispredicted);
	out_char(e->out, '\n');
	return true;
}

static void tell(const struct export *e, const struct bolt *b, uint32_t obj)
{
	char name[SHOWN_MAX];
	uint64_t others = 0;
	uint32_t i;

	for (i = 0; i < b->ntaken; i++)
		others += i == obj ? 0 : b->taken[i];
	export_shown(e, name, e->a.p.objs.obj[obj].path);
	if (others)
		warn_line("%" PRIu64 " branches in %s; %" PRIu64 " in other files are left out "
			  "(--object NAME)", b->taken[obj], name, others);
	else
		warn_line("%" PRIu64 " branches in %s", b->taken[obj], name);
}

static void end(struct export *e)
{
	struct bolt *b = e->state;
	uint32_t obj = choose(e, b), i;
	char name[SHOWN_MAX];

	if (obj == OBJ_ID_UNKNOWN) {
		if (e->object)
			fail(e, "no branches in ", e->object);
		else
			fail(e, "has no branches of programs: pmcstat --branch records "
			     "them", "");
		return;
	}
	qsort(b->jump, b->n, sizeof(*b->jump), by_place);
	for (i = 0; i < b->n; i++) {
		const struct jump *j = &b->jump[i];

		if (j->from.obj != obj && j->to.obj != obj)
			continue;
		if (!put_jump(e, j, obj)) {
			export_shown(e, name, e->a.p.objs.obj[obj].path);
			fail(e, "BOLT needs the program's own addresses: cannot read ",
			     name);
			return;
		}
	}
	tell(e, b, obj);
}

static void begin(struct export *e)
{
	e->state = xcalloc(1, sizeof(struct bolt));
}

static void release(struct export *e)
{
	struct bolt *b = e->state;

	free(b->jump);
	free(b->taken);
	idtab_free(&b->tab);
	free(b);
}

const struct export_format export_bolt = {
	.name = "bolt",
	.help = "branches of one program: perf2bolt -pa",
	.takes = TAKES_OBJECT,
	.chains = true,
	.begin = begin,
	.sample = sample,
	.end = end,
	.release = release,
};
