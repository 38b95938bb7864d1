// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables for what a command will have mapped: found by its loader, whatever this prints,
 * inherits or waits for, and without a program that runs.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "copy_self.h"
#include "fake_tables.h"
#include "libpmc_command.h"
#include "rnd.h"
#include "scratch.h"
#include "seconds.h"
#include "tap.h"

static struct pmc_owner owner = { FAKE_DEVICE };

/* ------------------------------------------------------------------------
 * What a loader prints
 */
/* The paths of a list of @len bytes, with a blank between two */
static const char *paths(const char *list, size_t len)
{
	static char all[4 * PATH_MAX];
	/* nothing behind its end */
	char *copy = malloc(len + !len), path[PATH_MAX];
	const char *at = copy, *end = copy + len;

	memcpy(copy, list, len);
	*all = '\0';
	while (pmc_loader_next(&at, end, path)) {
		strcat(all, *all ? " " : "");
		strcat(all, path);
	}
	free(copy);
	return all;
}

static void check(const char *list, size_t len, const char *want,
		  const char *name)
{
	const char *got = paths(list, len);

	ok(!strcmp(got, want), "%s: \"%s\"", name, got);
}

#define CHECK(list, want, name)	check(list, sizeof(list) - 1, want, name)

static void test_lines(void)
{
	CHECK("\tlinux-vdso.so.1 (0x00007ffd3c5f2000)\n"
	      "\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f0f53e21000)\n"
	      "\t/lib64/ld.so.2 (0x00007f0f54020000)\n",
	      "/lib/x/libc.so.6 /lib64/ld.so.2", "of glibc");
	CHECK("\t/lib/ld-musl.so.1 (0x7f1)\n\tlibc.so => /lib/ld-musl.so.1 (0x7f1)\n",
	      "/lib/ld-musl.so.1 /lib/ld-musl.so.1", "of musl");
	CHECK("\tlibnone.so.1 => not found\n\ta => /a (0x1)\n", "/a",
	      "what is not found");
	CHECK("\tstatically linked\n", "", "statically linked");
	CHECK("\ta => /b c/(0x1) (0x2)\n", "/b c/(0x1)", "blanks and brackets");
	CHECK("", "", "nothing");
}

static void test_hostile_lines(void)
{
	CHECK("\ta => b/c (0x1)\n\tb/c (0x1)\n\t../x (0x1)\n\ta =>  /x (0x1)\n",
	      "", "relative paths");
	CHECK("\ta => /a (0x1)\n\tb => /b (0x1)", "/a", "no newline");
	CHECK("\ta => /a\0b (0x1)\n\tb => /b (0x1)\n\0\n", "/b", "NULs");
	CHECK("a => /a (0x1)\n/a (0x1)\n /a (0x1)\n", "", "no tab");
	CHECK("\t/a\n\t/a (1)\n\t/a (0xg)\n\t/a(0x1)\n\t/a (0x1) \n\t(0x1)\n"
	      "\t (0x1)\n\t)\n)\n\t\n\n(0x)\n\t/a (0x1\n\t/a (0x1)\r\n", "",
	      "addresses that are none");
}

static void test_long_lines(void)
{
	char list[2 * PATH_MAX], want[PATH_MAX + 8];
	size_t len;
	int n;

	for (n = PATH_MAX - 1; n <= PATH_MAX; n++) {
		memset(want, 'x', PATH_MAX);
		want[0] = '/';
		len = (size_t)sprintf(list, "\ta => %.*s (0x1)\n\t/b (0x1)\n", n,
				      want);
		strcpy(want + PATH_MAX - 1, " /b");
		ok(!strcmp(paths(list, len), n < PATH_MAX ? want : "/b"),
		   "a path of %d bytes", n);
	}
}

static void test_random(void)
{
	static const char part[][12] = { "\n\t", "\n", " => ", "/a", "/", " (0x1)\n",
					 " (0x", ")\n", "", "f", "\t" };
	char list[400], path[PATH_MAX], *copy;
	unsigned int i, n = 0, bad = 0;
	const char *at;
	size_t len, k;

	for (i = 0; i < 100000; i++) {
		for (len = 0; len < sizeof(list) - 12 && rnd(40);) {
			k = rnd(sizeof(part) / sizeof(*part));
			/* a NUL where it is empty */
			memcpy(list + len, part[k], strlen(part[k]) + !*part[k]);
			len += strlen(part[k]) + !*part[k];
		}
		copy = malloc(len + !len);
		memcpy(copy, list, len);
		for (at = copy; pmc_loader_next(&at, copy + len, path); n++)
			bad += *path != '/' || strchr(path, '\n') != NULL;
		bad += at != copy + len;
		free(copy);
	}
	ok(n > 1000 && !bad, "%u paths of 100000 lists", n);
}

/* ------------------------------------------------------------------------
 * Commands
 */
static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	abort_if(fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
		 fchmod(fd, mode));
	close(fd);
}

/* A loader that says how it was run, and does what @script says */
static void put_loader(const char *script)
{
	char text[2000];

	snprintf(text, sizeof(text), "#!/bin/sh\n"
		 "echo \"$*\" >%s/args\n"
		 "env >%s/env\n"
		 "readlink /proc/$$/fd/* >%s/fds\n"
		 "%s\n",
		 scratch, scratch, scratch, script);
	put("ld.so", text, 0700);
}

/* This program with the loader of the test; it would say that it has run. */
static void put_program(const char *name)
{
	char *image = malloc(1 << 24), loader[32];
	int fd = copy_self(name);
	Elf64_Ehdr *h = (void *)image;
	Elf64_Phdr *row;
	ssize_t len = pread(fd, image, 1 << 24, 0);

	abort_if(len <= 0 || len == 1 << 24);
	row = (void *)(image + h->e_phoff);
	while (row->p_type != PT_INTERP)
		row++;
	sprintf(loader, "%s/ld.so", scratch);
	abort_if(strlen(loader) >= row->p_filesz ||
		 pwrite(fd, loader, strlen(loader) + 1, (off_t)row->p_offset) < 0);
	close(fd);
	free(image);
}

static int preload(const char *path, struct pmc_preloaded *did)
{
	struct pmc_preload *p;
	int done;

	fake_reset();
	unlink("args");
	p = pmc_preload_command(&owner, path);
	done = pmc_preload_wait(p, 20000, did);
	pmc_preload_end(p);
	return done;
}

static bool has(const char *name)
{
	struct stat st;

	return !stat(name, &st) && fake_find(&st);
}

/* Does the file have the text? */
static bool says(const char *name, const char *text)
{
	char buf[65536];
	FILE *f = fopen(name, "r");
	size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	buf[n] = '\0';
	if (f)
		fclose(f);
	return f && strstr(buf, text);
}

static bool listed(void)
{
	return !access("args", F_OK);
}

static unsigned int tables_of(const char *path)
{
	return preload(path, NULL) ? fake.n : 99;
}

static void test_program(void)
{
	struct pmc_preloaded did = { 0 };
	struct pmc_preload *p;

	close(copy_self("copy"));
	ok(preload("./copy", &did) && has("./copy") && !access("copy", F_OK),
	   "the program");
	ok(has("/lib64/ld-linux-x86-64.so.2") ||
	   has("/lib/ld-linux-aarch64.so.1"), "its loader");
	ok(fake.n >= 4 && did.objects >= 4 && did.bytes && !did.processes,
	   "its libraries: %u files", fake.n);
	ok(!fake.twice && !fake.bad && fake.vdso == 1, "each once");
	ok(access("ran", F_OK), "the program did not run");
	fake_reset();
	fake.deaf = 1;
	fake.err = ENXIO;
	put_loader("");
	p = pmc_preload_command(&owner, "./patched");
	ok(pmc_preload_wait(p, 20000, &did) && !did.objects && !listed() && fake.asked == 1, "not for a device without tables");
	pmc_preload_end(p);
}

/* None but the two that are the C library's own */
static bool has_all_signals(void)
{
	unsigned long long mask, others = 0;
	unsigned int n = 0;
	FILE *f = fopen("signals", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &mask) == 1 ||
		    sscanf(line, "SigIgn: %llx", &mask) == 1) {
			others |= mask & ~(3ULL << 31);
			n++;
		}
	if (f)
		fclose(f);
	return n == 2 && !others;
}

/* A program with sanitizers, on a machine that has much to do, may not get far in time. */
static void test_signals(void)
{
	int tries;

	unlink("ld.so");
	close(copy_self("ld.so"));
	for (tries = 0; tries < 10 && !has_all_signals(); tries++)
		preload("./patched", NULL);
	ok(has_all_signals(), "with all signals");
}

static void test_loader(void)
{
	char want[PATH_MAX + 16];
	sigset_t set;
	int fd = open("/dev/zero", O_RDONLY);

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGINT, SIG_IGN);
	setenv("LD_PRELOAD", "kept", 1);
	setenv("LD_DEBUG_OUTPUT", "gone", 1);
	close(copy_self("library"));
	put_loader("exec 2>&1; printf '\\tlib => %s (0x1)\\n' $PWD/library "
		   "$PWD/library $PWD/none $PWD/fifo $PWD /dev/null; exit 1");
	mkfifo("fifo", 0600);
	unlink("link");
	abort_if(symlink("patched", "link"));
	ok(preload("link", NULL) && has("patched") && has("library"),
	   "what it lists, and no directory, device or pipe");
	ok(fake.n == 3 && !fake.twice, "... %u files", fake.n);
	snprintf(want, sizeof(want), "--list %s/patched\n", scratch);
	ok(says("args", want), "by the program's real name");
	ok(says("env", "LD_PRELOAD=kept") && !says("env", "LD_DEBUG"),
	   "of the loader's variables those that name libraries");
	ok(!says("fds", "/dev/zero") && says("fds", "/dev/null"),
	   "without descriptors of ours");
	test_signals();
	unsetenv("LD_PRELOAD");
	unsetenv("LD_DEBUG_OUTPUT");
	signal(SIGINT, SIG_DFL);
	close(fd);
}

static bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0;
}

static void test_bad_loaders(void)
{
	struct pmc_preload *p;
	double begun = now();

	put_loader("exit 1");
	ok(tables_of("./patched") == 2 && has("patched") && has("ld.so"),
	   "one that fails: the program and its loader");
	put_loader("kill -KILL $$");
	ok(tables_of("./patched") == 2, "one that is killed");
	put_loader("yes '\tlib => /none (0x1)'");
	ok(tables_of("./patched") == 2, "one that prints no end of it");
	ok(now() - begun < 5, "... which is not waited for");
	put_loader("printf '\\tlib => %s (0x1)\\n' $PWD/library; exec sleep 60");
	begun = now();
	ok(tables_of("./patched") == 3 && now() - begun > 0.9 &&
	   now() - begun < 8, "one that hangs: what it has listed, a second later");
	ok(!has_children(), "... and nothing is left of it");
	begun = now();
	unlink("args");
	p = pmc_preload_command(&owner, "./patched");
	while (!listed())
		usleep(1000);
	pmc_preload_end(p);
	ok(now() - begun < 0.9, "it ends when asked to");
	put("ld.so", "", 0600);
	ok(tables_of("./patched") == 2, "one that does not run");
	unlink("ld.so");
	ok(tables_of("./patched") == 1, "one that is not there");
}

static void put_script(int n)
{
	char name[16], text[64];

	sprintf(name, "script%d", n);
	if (n)
		sprintf(text, "#! \t%s/script%d arg\n", scratch, n - 1);
	else
		sprintf(text, "#!%s/copy", scratch);
	put(name, text, 0700);
}

static void test_scripts(void)
{
	char text[400] = "#!/";
	int i;

	for (i = 0; i < 6; i++)
		put_script(i);
	ok(tables_of("./script0") >= 4 && has("copy") && !has("script0"),
	   "what executes a script");
	ok(tables_of("./script4") >= 4 && has("copy"), "... and that, five times");
	ok(!tables_of("./script5"), "... not more often");
	put("script", "echo", 0700);
	ok(tables_of("./script") && has("/bin/sh"), "the shell's");
	sprintf(text, "#!%s/script", scratch);
	put("script", text, 0700);
	ok(!tables_of("./script"), "one that executes itself");
	put("script", "#!\n", 0700);
	ok(!tables_of("./script"), "one by nobody");
	/* 256 bytes end behind the first name */
	memset(text + 2, '/', 300);
	strcpy(text + 249, "bin/sh\n");
	put("script", text, 0700);
	ok(tables_of("./script") && has("/bin/sh"), "a long name");
	strcpy(text + 249, "/bin/shell\n");
	put("script", text, 0700);
	ok(!tables_of("./script"), "one that the kernel would cut");
}

static void test_refused(void)
{
	put_loader("");
	ok(!tables_of("./none") && !tables_of(".") && !tables_of("fifo") &&
	   !tables_of(""), "what is no file");
	chmod("patched", 0600);
	ok(!tables_of("./patched") && !listed(), "what cannot be executed");
	if (geteuid()) {
		chmod("patched", 0100);
		ok(!tables_of("./patched") && !listed(), "nor read");
	} else if (chown("patched", 1, 1) || chmod("patched", 04755)) {
		abort();
	} else {
		ok(!tables_of("./patched") && !listed(), "another user's program");
	}
	chmod("patched", 0700);
	unlink("ld.so");
	abort_if(link("patched", "ld.so"));
	ok(tables_of("./patched") == 1, "what is its own loader does not run");
	ok(access("ran", F_OK), "... nor does any program");
}

/* As a loader: shells have masks of their own. */
static int tell_signals(void)
{
	FILE *from = fopen("/proc/self/status", "r"), *to = fopen("signals", "w");
	char line[256];

	while (from && to && fgets(line, sizeof(line), from))
		fputs(line, to);
	return !from || !to || fclose(from) || fclose(to);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--list"))
		return tell_signals();
	/* as a command: that it has run is what is not to be */
	if (argc > 1 || strcmp(basename(argv[0]), "test_unwind_command")) {
		close(open("ran", O_WRONLY | O_CREAT, 0600));
		return 0;
	}
	scratch_begin();
	test_lines();
	test_hostile_lines();
	test_long_lines();
	test_random();
	put_program("patched");
	test_program();
	test_loader();
	test_bad_loaders();
	test_scripts();
	test_refused();
	fake_reset();
	scratch_end();
	return done();
}
