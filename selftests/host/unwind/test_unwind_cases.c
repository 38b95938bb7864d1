// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of ours, each built as distributions build theirs, instruction by
 * instruction: their call chains by tables are those that elfutils finds, and those
 * that unwind/cases.c makes.
 */
#include <stdlib.h>
#include <string.h>

#include "rnd.h"
#include "tap.h"
#include "truth.h"

#define ALL_UP_TO	300	/* instructions; of more, some */
#define STOPS_MAX	300

/*
 * What calls bottom(), innermost first.  "*": any functions; "name?": perhaps;
 * "name+": once or more.  Several chains: any of them.
 */
struct shape {
	const char	*name;
	const char	*chains[4];
	bool		alone;		/* elfutils cannot judge */
	bool		cut;		/* nobody says where such a thread begins */
};

static const struct shape shapes[] = {
	{ .name = "leaf", .chains = {
		"bottom leaf_inner leaf_outer? case_leaf? run main? *" } },
	{ .name = "tail", .chains = {
		"bottom tail_last? tail_first? case_tail? run main? *" } },
	{ .name = "plt", .chains = {
		"bottom compare * case_plt? run main? *" } },
	{ .name = "recursion", .chains = {
		"bottom recurse+ case_recursion? run main? *" } },
	{ .name = "signal", .chains = {
		"bottom handler * interrupted case_signal? run main? *" } },
	{ .name = "altstack", .chains = {
		"bottom handler * interrupted case_altstack? run main? *" } },
	{ .name = "first", .chains = {
		"bottom past_hlt * first_instruction case_first? run main? *" } },
	{ .name = "alloca", .chains = {
		"bottom with_vla case_alloca? run main? *",
		"bottom with_alloca case_alloca? run main? *" } },
	{ .name = "aligned", .chains = {
		"bottom aligned case_aligned? run main? *",
		"bottom aligned_args case_aligned? run main? *" } },
	{ .name = "context", .chains = {
		"bottom coroutine *" }, .cut = true },
	{ .name = "vfork", .chains = {
		"bottom case_vfork? run main? *" } },
	{ .name = "big", .chains = {
		"bottom big_frame bigger_frame case_big? run main? *" } },
	{ .name = "asm", .chains = {
		"bottom asm_pushes case_asm? run main? *",
		"bottom asm_word case_asm? run main? *" } },
	{ .name = "nocfi", .chains = {
		"bottom leaf_inner no_cfi case_nocfi? run main? *" }, .alone = true },
	{ .name = "exception", .chains = {
		"bottom * passes catches case_exception? run main? *",
		"bottom catches case_exception? run main? *" } },
};

static const char *const builds[] = {
	"omit", "fp", "static", "realign", "clang", "debug",
};

/* Do the functions from @i on match the rest of a chain's names? */
static bool matches(struct truth *t, const struct truth_chain *c,
		    unsigned int i, const char *names)
{
	size_t len = strcspn(names, " ");
	const char *rest = names + len + (names[len] == ' ');
	char last = len ? names[len - 1] : '\0', name[64];
	bool same;

	if (!len)
		return i == c->n;
	if (!strncmp(names, "*", len)) {
		for (; i <= c->n; i++)
			if (matches(t, c, i, rest))
				return true;
		return false;
	}
	snprintf(name, sizeof(name), "%.*s",
		 (int)(len - (last == '?' || last == '+')), names);
	same = i < c->n && !strcmp(truth_frame_name(t, c, i), name);
	if (last == '?' && matches(t, c, i, rest))
		return true;
	if (last == '+' && same && matches(t, c, i + 1, names))
		return true;
	return same && matches(t, c, i + 1, rest);
}

static bool as_made(struct truth *t, const struct truth_chain *c,
		    const struct shape *s)
{
	unsigned int i;

	for (i = 0; i < sizeof(s->chains) / sizeof(*s->chains); i++)
		if (s->chains[i] && matches(t, c, 0, s->chains[i]))
			return true;
	return false;
}

/* In bottom() we know all that is above. */
static void check_bottom(struct truth *t, const struct shape *s,
			 unsigned int *seen, unsigned int *wrong)
{
	static struct truth_chain c;

	if (strcmp(truth_name(t, truth_pc(t)), "bottom"))
		return;
	++*seen;
	truth_ours(t, &c);
	if ((c.whole || s->cut) && as_made(t, &c, s))
		return;
	if (!(*wrong)++)
		truth_show(t, "in bottom()", &c);
}

static void walk_all(struct truth *t, const struct shape *s,
		     struct truth_count *count, unsigned int *seen,
		     unsigned int *wrong)
{
	unsigned int n = 0, next = 0;

	while (truth_step(t) && !truth_at_trap(t)) {
		check_bottom(t, s, seen, wrong);
		if (s->alone || n++ < next || count->stops == STOPS_MAX)
			continue;
		truth_compare(t, count);
		next += 1 + (n < ALL_UP_TO ? 0 : (unsigned int)rnd(n / 100));
	}
}

static void test_shape(const char *program, const char *build,
		       const struct shape *s)
{
	const char *const argv[] = { program, s->name, NULL };
	unsigned int seen = 0, wrong = 0;
	struct truth_count c = { 0 };
	struct truth *t = truth_start(argv);

	if (!t || !truth_until_trap(t)) {
		ok(true, "%s, %s # SKIP it is not built", build, s->name);
	} else {
		walk_all(t, s, &c, &seen, &wrong);
		ok(seen && !wrong, "%s, %s: %u times all that has called bottom()",
		   build, s->name, seen);
	}
	if (c.stops) {
		printf("# %lu stops, %lu frames, %lu the same, %lu of %lu whole, "
		       "%lu longer than elfutils', %lu beyond tables\n",
		       c.stops, c.frames, c.same, c.whole, c.their_whole,
		       c.longer, c.beyond);
		ok(c.same == c.frames && c.whole == c.their_whole,
		   "%s, %s: all frames are elfutils'", build, s->name);
	}
	if (t)
		truth_end(t);
}

int main(int argc, char **argv)
{
	const char *bin = getenv("BIN");
	char program[4096];
	size_t i, k;

	if (!bin)
		return 2;
	unsetenv("DEBUGINFOD_URLS");
	for (i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		if (argc > 1 && strcmp(argv[1], builds[i]))
			continue;
		snprintf(program, sizeof(program), "%s/unwind-%s", bin,
			 builds[i]);
		for (k = 0; k < sizeof(shapes) / sizeof(*shapes); k++)
			if (argc < 3 || !strcmp(argv[2], shapes[k].name))
				test_shape(program, builds[i], &shapes[k]);
	}
	return done();
}
