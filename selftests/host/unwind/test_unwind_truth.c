// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of the machine, stopped at places that nobody has chosen: their call
 * chains by tables are those that elfutils finds by itself.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rnd.h"
#include "scratch.h"
#include "tap.h"
#include "truth.h"

#define STOPS		400
#define STOPS_MIN	40
#define STARTS		500
#define SECONDS		3	/* then STOPS_MIN are enough */
#define STEPS		6	/* instructions at most, at each of the stops */
#define ARGS_MAX	16

struct program {
	const char	*name;
	const char	*argv[ARGS_MAX];
};

#define WORDS	"words"		/* text, in the current directory */
#define NOISE	"noise"		/* bytes that look random */

static const struct program programs[] = {
	{ "perl", { "perl", "-e", "my %h; for my $i (1..9e6) {"
		"my $s = join ':', map { $_ * $i } 1..9;"
		"$h{$s =~ s/\\d(\\d)/$1/gr} = sub { sort { $b <=> $a } @_ }->($i, 7);"
		"%h = () if $i % 999 == 0 }" } },
	{ "python3", { "/usr/bin/python3", "-c", "import re, json\n"
		"def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n"
		"while 1:\n"
		" f(16)\n"
		" json.loads(json.dumps([{'a': x, 'b': [1.5, None]} for x in range(999)]))\n"
		" sorted(re.findall(r'(\\w+)\\s', 'the quick brown fox ' * 999))\n"
		" str(3 ** 9999)\n" } },
	{ "xz", { "xz", "-9e", "-T1", "-c", NOISE, WORDS } },
	{ "gzip", { "gzip", "-9", "-c", WORDS, NOISE } },
	{ "sort", { "sort", "--parallel=1", "-f", WORDS } },
	{ "bash", { "bash", "-c", "f() { local s=$1; ((s > 0)) && f $((s - 1));"
		"x=${s//[0-4]/ab}; [[ $x =~ a+b ]]; };"
		"while :; do f 9; printf -v y '%s' {1..50}; done" } },
	{ "tar", { "tar", "--sort=name", "-cvf", "-", "/usr/include" } },
	{ "cc1", { "cc1", "-quiet", "-O2", "code.c", "-o", "/dev/null" } },
	{ "openssl rsa", { "openssl", "speed", "-seconds", "9", "rsa2048" } },
	{ "openssl aes", { "openssl", "speed", "-seconds", "1", "-evp",
		"aes-128-gcm" } },
	{ "openssl sha", { "openssl", "speed", "-seconds", "1", "sha256",
		"sha512", "md5" } },
	{ "awk", { "awk", "BEGIN { for (;;) { for (i = 0; i < 999; i++) {"
		"a[i % 97] = sprintf(\"%d %g\", i, i / 7); gsub(/[1-3]/, \"x\", a[i % 97]);"
		"n = split(a[i % 97], b); s += length(b[1]) } } }" } },
	{ "gdb", { "gdb", "-nx", "-batch", "-ex", "info functions x",
		"-ex", "info types", "/usr/bin/gdb" } },
};

/* The bytes of a file that a program of ours has made: text, or not */
static void make_input(const char *name, bool text, size_t len)
{
	FILE *f = fopen(name, "w");
	size_t i;

	abort_if(!f);
	for (i = 0; i < len; i++)
		putc(!text ? (int)rnd(256) : rnd(7) ? 'a' + (int)rnd(20) :
		     rnd(9) ? ' ' : '\n', f);
	fclose(f);
}

static void make_code(const char *name)
{
	FILE *f = fopen(name, "w");
	int i;

	abort_if(!f);
	for (i = 0; i < 3000; i++)
		fprintf(f, "int f%d(int *a, int n) { int s = 0; "
			"for (int i = 0; i < n; i++) switch (a[i] & 7) { "
			"case %d: s += a[i] * %d; break; "
			"case 7: s ^= f%d(a + i, n - i - 1); break; "
			"default: a[i] = s / %d; } return s; }\n",
			i, i % 7, i, i ? i - 1 : 0, i + 3);
	fclose(f);
}

/* The compiler itself is not in the path. */
static const char *path_of_cc1(void)
{
	static char path[4096];
	FILE *f = popen("gcc -print-prog-name=cc1 2>/dev/null", "r");

	if (!f)
		return NULL;
	if (!fgets(path, sizeof(path), f))
		path[0] = '\0';
	pclose(f);
	path[strcspn(path, "\n")] = '\0';
	return path[0] == '/' ? path : NULL;
}

static bool is_there(const char *name)
{
	if (!name)
		return false;
	if (name[0] == '/')
		return !access(name, X_OK);
	return !shell("command -v %s >/dev/null 2>&1", name);
}

/* Some way on, and a few instructions more: waits are where signals come. */
static bool next_stop(struct truth *t)
{
	uint64_t steps = rnd(STEPS + 1);

	if (!truth_run(t, 300 + (unsigned int)rnd(4000)))
		return false;
	while (steps--)
		if (!truth_step(t))
			return false;
	return true;
}

/* A slow machine has longer. */
static bool wants_more(const struct truth_count *count, time_t end)
{
	return count->stops < (time(NULL) < end ? STOPS : STOPS_MIN);
}

/* As often as it takes; a program may be done early. */
static void stop_often(const char *const *argv, struct truth_count *count)
{
	time_t end = time(NULL) + SECONDS;
	unsigned int starts = 0;

	while (wants_more(count, end) && starts++ < STARTS) {
		struct truth *t = truth_start(argv);

		if (!t)
			return;
		while (wants_more(count, end) && next_stop(t))
			truth_compare(t, count);
		truth_end(t);
	}
}

static void test_program(const struct program *p)
{
	struct truth_count c = { 0 };
	const char *argv[ARGS_MAX];

	memcpy(argv, p->argv, sizeof(argv));
	if (!strcmp(p->name, "cc1"))
		argv[0] = path_of_cc1();
	if (!is_there(argv[0])) {
		ok(true, "%s: same frames # SKIP it is not installed", p->name);
		return;
	}
	stop_often(argv, &c);
	printf("# %s: %lu stops, %lu frames, %lu the same, %lu of %lu whole, "
	       "%lu longer than elfutils', %lu beyond tables\n",
	       p->name, c.stops, c.frames, c.same, c.whole, c.their_whole,
	       c.longer, c.beyond);
	ok(c.stops >= STOPS_MIN, "%s: stopped often enough", p->name);
	ok(c.same * 1000 >= c.frames * 995, "%s: same frames", p->name);
	ok(c.their_whole && c.whole * 100 >= c.their_whole * 98,
	   "%s: whole chains", p->name);
}

int main(int argc, char **argv)
{
	size_t i;

	scratch_begin();
	setenv("LC_ALL", "C", 1);
	unsetenv("DEBUGINFOD_URLS");
#ifdef __aarch64__
	/* Elfutils takes glibc at its word, and ends in _dl_runtime_resolve(). */
	setenv("LD_BIND_NOW", "1", 1);
#endif
	make_input(WORDS, true, 16 << 20);
	make_input(NOISE, false, 1 << 20);
	make_code("code.c");
	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (argc < 2 || !strcmp(argv[1], programs[i].name))
			test_program(&programs[i]);
	scratch_end();
	return done();
}
