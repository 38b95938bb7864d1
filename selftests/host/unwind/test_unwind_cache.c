// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables on disk: what is put there is what is found there, for the same file
 * only, and nothing that somebody else may have put there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "copy_self.h"
#include "libpmc_cfi.h"
#include "libpmc_unwind_cache.h"
#include "scratch.h"
#include "tap.h"

#define UNWIND	"cache/hwpmc/unwind"

/* A file, and its table as it is compiled */
static struct {
	int	fd;
	struct elf elf;
	struct unwind_key key;
	struct pmc_unwind t;
} file;

/* How often directories were listed; by the library as well */
static unsigned int listed;

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);

DIR *__wrap_fdopendir(int fd)
{
	listed++;
	return __real_fdopendir(fd);
}

static void open_file(void)
{
	file.fd = copy_self("file");
	abort_if(pmc_elf_read(&file.elf, file.fd) ||
		 pmc_unwind_key(&file.elf, &file.key) ||
		 pmc_unwind_compile(file.fd, &file.t));
}

static bool same(const struct pmc_unwind *a, const struct pmc_unwind *b)
{
	return a->len == b->len && !memcmp(a->table, b->table, a->len);
}

/* How many files the cache has; @path: of the last */
static unsigned int entries(char *path)
{
	DIR *d = opendir(UNWIND);
	unsigned int n = 0;
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		sprintf(path, UNWIND "/%s", de->d_name);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static bool only_entry(char *path)
{
	return entries(path) == 1;
}

static void empty(void)
{
	abort_if(shell("rm -rf cache home"));
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mode;
}

/* 0: from the cache */
static int get(struct pmc_unwind *t)
{
	int dir = pmc_unwind_cache_open(), status;

	status = dir < 0 ? -1 : pmc_unwind_cache_get(dir, &file.key, t);
	close(dir);
	return status;
}

static bool is_there(void)
{
	struct pmc_unwind t;

	if (get(&t))
		return false;
	pmc_unwind_free(&t);
	return true;
}

static void put(const struct pmc_unwind *t)
{
	int dir = pmc_unwind_cache_open();

	pmc_unwind_cache_put(dir, &file.key, t, UNWIND_CACHE_MAX);
	close(dir);
}

static void test_first(void)
{
	struct pmc_unwind t;
	char path[512];

	ok(!pmc_unwind_of(file.fd, &t) && same(&t, &file.t),
	   "without a cache: what is compiled");
	pmc_unwind_free(&t);
	ok(only_entry(path) && mode_of(path) == (S_IFREG | 0600),
	   "it is put there, for its user only");
	ok(mode_of(UNWIND) == (S_IFDIR | 0700) &&
	   mode_of("cache") == (S_IFDIR | 0700), "... and so are directories");
	ok(!get(&t) && same(&t, &file.t), "it is found there");
	pmc_unwind_free(&t);
}

/* A table that is sound, and not the file's */
static struct pmc_unwind another_table(void)
{
	struct pmc_unwind t = { malloc(file.t.len), file.t.len };
	struct hwpmc_unwind_table *h = t.table;
	struct hwpmc_unwind_rule *rules = (void *)(h + 1);

	memcpy(t.table, file.t.table, t.len);
	rules[1].cfa_offset += 8;
	return t;
}

static void test_second(void)
{
	struct pmc_unwind other = another_table(), t;

	put(&other);
	ok(!pmc_unwind_of(file.fd, &t) && same(&t, &other),
	   "what is in the cache is not compiled");
	pmc_unwind_free(&t);
	put(&file.t);
	ok(!get(&t) && same(&t, &file.t), "a new file takes an old one's place");
	pmc_unwind_free(&t);
	pmc_unwind_free(&other);
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char byte;

	abort_if(pread(fd, &byte, 1, at) != 1);
	byte ^= 0x10;
	abort_if(pwrite(fd, &byte, 1, at) != 1);
	close(fd);
}

static void test_damaged(void)
{
	unsigned int taken = 0, n = 0;
	struct pmc_unwind t;
	struct stat st;
	char path[512];
	off_t at;

	abort_if(!only_entry(path) || stat(path, &st));
	for (at = 0; at < st.st_size; at += at < 256 ? 1 : st.st_size / 199, n++) {
		flip(path, at);
		taken += is_there();
		flip(path, at);
	}
	ok(n > 400 && !taken && is_there(), "a bit that has flipped, anywhere");
	for (at = taken = 0; at < st.st_size; at += at < 256 ? 1 : 4999) {
		abort_if(truncate(path, at));
		taken += is_there();
		put(&file.t);
	}
	ok(!taken && is_there(), "a file that is shorter");
	abort_if(truncate(path, st.st_size + 1));
	ok(!is_there(), "a file that is longer");
	ok(!pmc_unwind_of(file.fd, &t) && same(&t, &file.t) && is_there(),
	   "what is damaged is compiled again, and mended");
	pmc_unwind_free(&t);
}

/* The sum is right. */
static void test_unsound(void)
{
	struct pmc_unwind t = another_table();
	struct hwpmc_unwind_table *h = t.table;
	struct hwpmc_unwind_rule *rules = (void *)(h + 1);

	rules[0].reserved[0] = 1;
	put(&t);
	ok(!is_there(), "a table that the module would refuse");
	rules[0].reserved[0] = 0;
	h->nrows--;
	put(&t);
	ok(!is_there(), "a table of another length");
	h->nrows++;
	h->machine ^= 1;
	put(&t);
	ok(!is_there(), "a table of another machine");
	pmc_unwind_free(&t);
	put(&file.t);
}

static void test_others(void)
{
	struct stat st;
	char path[512];

	abort_if(!only_entry(path) || rename(path, "target") ||
		 symlink("../../../target", path));
	ok(!access(path, R_OK) && !is_there(), "a symbolic link is not followed");
	abort_if(truncate("target", 5));
	put(&file.t);
	ok(mode_of(path) == (S_IFREG | 0600) && is_there() &&
	   !stat("target", &st) && st.st_size == 5, "... but replaced");
	chmod(path, 0620);
	ok(!is_there(), "a file that others can write to");
	chmod(path, 0600);
	chmod(UNWIND, 0770);
	ok(pmc_unwind_cache_open() < 0, "a directory that others can write to");
	chmod(UNWIND, 0700);
	ok(is_there(), "it is all well again");
	if (geteuid()) {
		ok(true, "others' files # SKIP needs root");
		return;
	}
	abort_if(chown(path, 1, 1));
	ok(!is_there(), "another user's file");
	put(&file.t);
	abort_if(chown(UNWIND, 1, 1));
	ok(pmc_unwind_cache_open() < 0, "another user's directory");
	abort_if(chown(UNWIND, 0, 0));
}

static void test_links(void)
{
	empty();
	abort_if(mkdir("cache", 0700) || mkdir("elsewhere", 0700) ||
		 symlink("../elsewhere", "cache/hwpmc"));
	ok(pmc_unwind_cache_open() < 0 && !rmdir("elsewhere"),
	   "a directory's link is not followed");
}

static bool cache_is(const char *path)
{
	int dir = pmc_unwind_cache_open();
	bool there = mode_of(path) == (S_IFDIR | 0700);

	close(dir);
	return dir >= 0 && there;
}

static void test_places(void)
{
	char home[256], cache[256];

	empty();
	snprintf(home, sizeof(home), "%s/home", scratch);
	snprintf(cache, sizeof(cache), "%s/cache", scratch);
	mkdir(home, 0755);
	setenv("HOME", home, 1);
	setenv("XDG_CACHE_HOME", "cache", 1);
	ok(cache_is("home/.cache/hwpmc/unwind") && !mode_of("cache"),
	   "a path that is relative means nothing");
	empty();
	ok(pmc_unwind_cache_open() < 0 && !mode_of("home"),
	   "nobody's home is made");
	mkdir(home, 0755);
	unsetenv("XDG_CACHE_HOME");
	ok(cache_is("home/.cache/hwpmc/unwind"), "$HOME/.cache");
	if (!geteuid()) {
		abort_if(chown(home, 1, 1));
		ok(pmc_unwind_cache_open() < 0, "another user's home");
	}
	unsetenv("HOME");
	ok(pmc_unwind_cache_open() < 0, "no home");
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	ok(pmc_unwind_cache_open() < 0, "no directory");
	setenv("XDG_CACHE_HOME", cache, 1);
	ok(cache_is(UNWIND), "$XDG_CACHE_HOME");
}

/* The key of the same bytes somewhere else */
static struct unwind_key elsewhere(const struct unwind_key *key)
{
	struct unwind_key k = *key;

	k.dev = k.ino = k.seconds = k.nanoseconds = 0;
	return k;
}

static bool alike(const struct unwind_key *a, const struct unwind_key *b)
{
	const struct unwind_key x = elsewhere(a), y = elsewhere(b);

	return !memcmp(&x, &y, sizeof(x));
}

/* Is it a file of its own for the cache? */
static void differs(int fd, const char *what)
{
	struct unwind_key key;
	struct elf e;

	ok(!pmc_elf_read(&e, fd) && !pmc_unwind_key(&e, &key) &&
	   key.idlen == file.key.idlen &&
	   !memcmp(key.id, file.key.id, key.idlen) &&
	   !alike(&key, &file.key), "of the same build-id, but %s", what);
	pmc_elf_close(&e);
	close(fd);
}

static void patch(int fd, uint64_t at, unsigned char byte)
{
	abort_if(pwrite(fd, &byte, 1, (off_t)at) != 1);
}

static void test_keys(void)
{
	Elf64_Ehdr h;
	struct unwind_key key;
	struct elf e;
	int fd = copy_self("other");

	ok(!pmc_elf_read(&e, fd) && !pmc_unwind_key(&e, &key) &&
	   alike(&key, &file.key) && key.ino != file.key.ino,
	   "a copy is like the file, but another one");
	pmc_elf_close(&e);
	abort_if(pread(fd, &h, sizeof(h), 0) != sizeof(h));
	patch(fd, h.e_shoff + 3 * sizeof(Elf64_Shdr) +
	      offsetof(Elf64_Shdr, sh_addralign), 99);
	differs(fd, "with another section");
	fd = copy_self("other");
	patch(fd, h.e_phoff + 2 * sizeof(Elf64_Phdr) +
	      offsetof(Elf64_Phdr, p_align) + 7, 99);
	differs(fd, "with another segment");
	fd = copy_self("other");
	patch(fd, file.key.size, 0);
	differs(fd, "longer");
	if (geteuid())
		return;
	fd = copy_self("other");
	abort_if(fchown(fd, 1, 1));
	differs(fd, "of another user");
}

/* The headers stay: the build-id is that of the file, what it names is not. */
static void test_changed(void)
{
	struct unwind_key before, after;
	struct timespec times[2];
	int fd = copy_self("other");
	const unsigned char *row;
	struct stat st;
	struct elf e;

	abort_if(pmc_elf_read(&e, fd) || pmc_unwind_key(&e, &before) ||
		 fstat(fd, &st));
	row = pmc_elf_section(&e, ".eh_frame");
	usleep(20000);		/* clocks of files are slow */
	patch(fd, FIELD(&e, row, Shdr, sh_offset) + 40, 99);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	abort_if(futimens(fd, times) || pmc_unwind_key(&e, &after));
	ok(alike(&before, &after) && memcmp(&before, &after, sizeof(before)),
	   "a file that has changed, whatever its time says");
	pmc_elf_close(&e);
	close(fd);
}

static bool is_kept(int fd)
{
	struct pmc_unwind t;
	char path[512];

	abort_if(pmc_unwind_of(fd, &t));
	pmc_unwind_free(&t);
	return only_entry(path);
}

/* Its time would be the same after another change. */
static void test_new(void)
{
	int fd = copy_self("other"), tries = 50;
	bool kept;

	do {
		empty();
		patch(fd, file.key.size, (unsigned char)tries);
		kept = is_kept(fd);	/* a tick may be over */
	} while (kept && --tries);
	ok(!kept, "a file that has just changed is not cached");
	usleep(20000);
	ok(is_kept(fd), "... but later");
	close(fd);
}

/* The exit status of a child that may write @bytes to a file; it is 1 if a table is kept */
static int keeps(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };
	pid_t pid = fork();
	int status;

	if (!pid) {
		abort_if(setrlimit(RLIMIT_FSIZE, &limit));
		_exit(is_kept(file.fd));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_file_size(void)
{
	struct stat st;
	char path[512];

	empty();
	ok(keeps(RLIM_INFINITY) == 1, "files of any size");
	abort_if(!only_entry(path) || stat(path, &st));
	empty();
	ok(!keeps((rlim_t)st.st_size - 1), "a table is too long for a file");
	ok(keeps((rlim_t)st.st_size) == 1, "... and just fits");
}

/* Its note is another one. */
static void test_no_id(void)
{
	int fd = copy_self("other");
	struct pmc_unwind t;
	char path[512];
	const unsigned char *row;
	uint64_t at;

	empty();
	row = pmc_elf_section(&file.elf, ".note.gnu.build-id");
	at = FIELD(&file.elf, row, Shdr, sh_offset);
	patch(fd, at + 8, 99);
	ok(!pmc_unwind_of(fd, &t) && same(&t, &file.t) && !only_entry(path),
	   "without a build-id it is not cached");
	pmc_unwind_free(&t);
	close(fd);
}

static void age(const char *path, time_t seconds)
{
	struct timespec at[2] = { { .tv_nsec = UTIME_OMIT },
				  { .tv_sec = time(NULL) - seconds } };

	abort_if(utimensat(AT_FDCWD, path, at, 0));
}

static void test_full(void)
{
	struct pmc_unwind t = { malloc(1000), 1000 }, found;
	struct unwind_key key = file.key;
	int dir = pmc_unwind_cache_open(), i;
	char path[512];
	struct stat st;

	memset(t.table, 0, t.len);
	put(&file.t);
	abort_if(!only_entry(path));
	age(path, 100000);
	ok(is_there() && !stat(path, &st) && st.st_mtime + 1000 > time(NULL),
	   "what is used is not old");
	age(path, 100);
	/* room for the file's, and some */
	for (i = 0; i < 4; i++) {
		key.uid++;
		pmc_unwind_cache_put(dir, &key, &t, file.t.len + 5 * 1200);
	}
	ok(is_there(), "a cache with room");
	key.uid++;
	pmc_unwind_cache_put(dir, &key, &t, 5 * 1200);
	ok(!is_there(), "the oldest has to go");
	ok(entries(path) == 4, "... and no other that need not");
	pmc_unwind_cache_put(dir, &key, &file.t, file.t.len * 2);
	ok(pmc_unwind_cache_get(dir, &key, &found),
	   "one table is not to drive out all others");
	listed = 0;
	for (i = 0; i < 60; i++) {
		key.uid++;
		pmc_unwind_cache_put(dir, &key, &t, 1 << 20);
	}
	ok(listed >= 1 && listed <= 4 && entries(path) >= 60,
	   "60 tables: the directory is listed %u times", listed);
	listed = 0;
	for (i = 0; i < 200; i++) {
		key.uid++;
		pmc_unwind_cache_put(dir, &key, &t, 120 * 1200);
	}
	ok(listed <= 60 && entries(path) <= 124,
	   "a full cache: it is listed %u times for 200", listed);
	close(dir);
	free(t.table);
}

int main(void)
{
	char cache[64];

	scratch_begin();
	umask(022);
	sprintf(cache, "%s/cache", scratch);
	setenv("XDG_CACHE_HOME", cache, 1);
	open_file();
	test_first();
	test_second();
	test_damaged();
	test_unsound();
	test_others();
	test_links();
	test_places();
	test_keys();
	test_changed();
	test_new();
	test_file_size();
	test_no_id();
	test_full();
	pmc_unwind_free(&file.t);
	pmc_elf_close(&file.elf);
	scratch_end();
	return done();
}
