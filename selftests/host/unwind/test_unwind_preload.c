// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables for what processes have mapped: each file's once, whatever has its name by
 * now, and no more than there is room and time for.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "copy_self.h"
#include "fake_tables.h"
#include "libpmc_mapped.h"
#include "libpmc_unwind.h"
#include "scratch.h"
#include "seconds.h"
#include "tap.h"

#define NFILES	6
#define NPROCS	3

/* Microseconds that each read takes: a file system that does not answer */
static atomic_uint read_nap;
/* How often a file was read from its beginning */
static atomic_uint begun_files;

ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at);

ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at)
{
	if (read_nap)
		usleep(read_nap);
	begun_files += !at && len == EI_NIDENT;
	return syscall(SYS_pread64, fd, to, len, at);
}

static struct pmc_owner owner = { FAKE_DEVICE };
static int pids[NPROCS];

static void map(const char *name, int prot)
{
	int fd = open(name, O_RDONLY);

	abort_if(mmap(NULL, 8192, prot, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	close(fd);
}

/* Process @i has the files from @i on, and "data" not as code. */
static int start(int i)
{
	char name[16];
	int pipes[2], pid;
	char byte;

	abort_if(pipe(pipes));
	pid = fork();
	if (!pid) {
		for (; i < NFILES; i++) {
			sprintf(name, "file%d", i);
			map(name, PROT_READ | PROT_EXEC);
			map(name, PROT_READ);
		}
		map("data", PROT_READ);
		abort_if(write(pipes[1], "", 1) != 1);
		for (;;)
			pause();
	}
	abort_if(read(pipes[0], &byte, 1) != 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void start_all(void)
{
	char name[16];
	int i;

	for (i = 0; i < NFILES; i++) {
		sprintf(name, "file%d", i);
		close(copy_self(name));
	}
	close(copy_self("data"));
	for (i = 0; i < NPROCS; i++)
		pids[i] = start(i);
}

static int preload(const int *who, size_t n, struct pmc_preloaded *did)
{
	struct pmc_preload *p = pmc_preload_begin(&owner, who, n);
	int done = pmc_preload_wait(p, 20000, did);

	pmc_preload_end(p);
	return done;
}

static bool has(const char *name, const struct pmc_unwind *want)
{
	const struct fake_table *t;
	struct stat st;

	if (stat(name, &st))
		return false;
	t = fake_find(&st);
	return t && t->len == want->len && !memcmp(t->data, want->table, t->len);
}

static unsigned int has_files(const struct pmc_unwind *want)
{
	unsigned int n = 0;
	char name[16];
	int i;

	for (i = 0; i < NFILES; i++) {
		sprintf(name, "file%d", i);
		n += has(name, want);
	}
	return n;
}

static void test_processes(const struct pmc_unwind *t)
{
	struct pmc_preloaded did = { 0 };
	struct stat st;

	ok(preload(pids, NPROCS, &did), "of processes");
	ok(has_files(t) == NFILES, "what they have mapped as code");
	ok(has("/proc/self/exe", t), "... the program too");
	ok(!stat("data", &st) && !fake_find(&st), "... and nothing else");
	ok(fake.vdso == 1, "the vdso's");
	ok(!fake.twice && !fake.bad, "each once");
	ok(did.processes == NPROCS && did.objects >= NFILES &&
	   did.bytes >= NFILES * t->len, "it says how many");
	fake_reset();
	ok(preload(pids + 2, 1, &did) && has_files(t) == NFILES - 2,
	   "of one process");
	fake_reset();
	ok(preload(NULL, 0, &did) && has_files(t) == NFILES && !fake.twice &&
	   did.processes > NPROCS, "of all processes");
	fake_reset();
}

/* What is mapped by most goes first: its name comes from there. */
static void test_order(void)
{
	struct stat st;
	unsigned int i, first = 0, last = 0;

	preload(pids, NPROCS, NULL);
	for (i = 0; i < fake.n; i++) {
		if (!stat("file5", &st) && fake.table[i].ino == st.st_ino)
			first = i;
		if (!stat("file0", &st) && fake.table[i].ino == st.st_ino)
			last = i;
	}
	ok(first < last, "first what most have mapped");
	fake_reset();
}

static void test_gone(const struct pmc_unwind *t)
{
	struct pmc_preloaded did = { 0 };
	int gone = 1 << 30, fd;
	struct stat st;

	ok(preload(&gone, 1, &did) && !did.objects && !fake.n,
	   "of a process that has gone");
	fake_reset();
	fd = open("file0", O_RDONLY);
	fstat(fd, &st);
	unlink("file0");
	close(copy_self("file0"));
	preload(pids, NPROCS, NULL);
	if (geteuid())
		ok(true, "of a file without a name # SKIP needs root");
	else
		ok(fake_find(&st) && !has("file0", t),
		   "of a file without a name");
	close(fd);
	fake_reset();
}

static void test_refused(void)
{
	struct pmc_preloaded did = { 0 };
	static const int full[] = { EDQUOT, ENOSPC, ENOMEM };
	size_t i;

	fake = (struct fake){ .err = ENXIO, .deaf = 1 };
	ok(preload(NULL, 0, &did) && !did.processes && fake.vdso == 1,
	   "a device without tables: nothing is looked at");
	for (i = 0; i < 3; i++) {
		fake = (struct fake){ .err = full[i] };
		ok(preload(pids, NPROCS, &did) && !did.objects &&
		   fake.asked == 2, "%s: it ends", strerror(full[i]));
	}
	fake = (struct fake){ .err = EEXIST };
	ok(preload(pids, NPROCS, &did) && !did.objects && fake.asked > NFILES,
	   "what is known already is not counted");
	fake_reset();
}

static void test_crowded(const struct pmc_unwind *t)
{
	struct pmc_preloaded did = { 0 };
	struct pmc_preload *p;
	unsigned int all, read;

	begun_files = 0;
	preload(pids, NPROCS, NULL);
	all = begun_files;
	fake_reset();
	begun_files = 0;
	p = pmc_preload_begin_max(&owner, pids, NPROCS, t->len / 100);
	pmc_preload_wait(p, 20000, &did);
	read = begun_files;
	ok(did.bytes <= t->len / 100 && all >= NFILES + 2 && read && read <= 6,
	   "without room: %u of %u files were read", read, all);
	pmc_preload_end(p);
	fake_reset();
}

static void test_slow(void)
{
	static struct pmc_preload *left;	/* one is never freed */
	struct pmc_preload *p;
	double begun = now();
	unsigned int asked;

	fake = (struct fake){ .nap = 200000 };
	p = pmc_preload_begin(&owner, pids, NPROCS);
	ok(!pmc_preload_wait(p, 50, NULL) && now() - begun < 0.15,
	   "nobody waits for longer than he wants to");
	pmc_preload_end(p);
	ok(now() - begun < 0.45 && fake.n <= 1, "... and it ends when asked to");
	fake_reset();
	read_nap = 1500000;
	left = pmc_preload_begin(&owner, pids, NPROCS);
	while (!fake.vdso)
		usleep(1000);
	usleep(50000);
	begun = now();
	pmc_preload_end(left);
	asked = fake.asked;
	ok(now() - begun < 1.4, "nor for what does not answer");
	read_nap = 0;
	usleep(1500000);
	ok(fake.asked == asked, "... the device is not asked any more");
	pmc_preload_end(NULL);
}

/*
 * A process that holds its mappings, as by a file system of its own: the open never
 * returns.  0, or -1: this user cannot make one.
 */
static int hold_maps(int pid)
{
	char path[40];

	sprintf(path, "/proc/%d/maps", pid);
	return unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mkfifo("held", 0600) || mount("held", path, NULL, MS_BIND, NULL) ? -1 : 0;
}

static void test_held(void)
{
	int held[] = { pids[1], pids[0] };
	struct mapped all;
	atomic_int stop = 0;
	unsigned int n;

	if (hold_maps(pids[1])) {
		ok(errno == EPERM, "a process that holds its mappings # SKIP no right to mount");
		return;
	}
	n = pmc_mapped_find(&all, held, 2, &stop);
	ok(n == 1 && all.n, "a process that holds its mappings does not hold up others");
	pmc_mapped_free(&all);
}

int main(void)
{
	struct pmc_unwind t;
	int i, fd;

	scratch_begin();
	fd = open("/proc/self/exe", O_RDONLY);
	abort_if(pmc_unwind_compile(fd, &t));
	close(fd);
	start_all();
	test_processes(&t);
	test_order();
	test_gone(&t);
	test_refused();
	test_crowded(&t);
	test_slow();
	test_held();
	for (i = 0; i < NPROCS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	pmc_unwind_free(&t);
	scratch_end();
	return done();
}
