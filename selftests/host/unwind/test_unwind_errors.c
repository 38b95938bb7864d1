// SPDX-License-Identifier: BSD-2-Clause
/*
 * What cannot be read now, or has no memory now: no table is made of what is left, none
 * is kept, and the module is not told that there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libpmc_answer.h"
#include "libpmc_elf.h"
#include "libpmc_unwind.h"
#include "pmc.h"
#include "scratch.h"
#include "tap.h"

#define DEVICE	987
#define SHORT	(-1)		/* a file that has become shorter */

/* The call that fails, counted from 1, and how; 0: none */
static struct fault {
	unsigned int	at, calls;
	int		reads;	/* it is a read */
	int		err;
} fault;

static bool fails(int read)
{
	return read == fault.reads && ++fault.calls == fault.at;
}

ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at);
int __real_uncompress(void *to, unsigned long *n, const void *p, unsigned long len);
int __wrap_uncompress(void *to, unsigned long *n, const void *p, unsigned long len);
int __wrap_ioctl(int fd, unsigned long request, void *arg);

/* One of the C library's that has no memory when it is its turn */
#define ALLOCATOR(name, declared, ...)					\
	void *__real_##name declared;					\
	void *__wrap_##name declared;					\
	void *__wrap_##name declared					\
	{								\
		if (!fails(0))						\
			return __real_##name(__VA_ARGS__);		\
		errno = ENOMEM;						\
		return NULL;						\
	}
ALLOCATOR(malloc, (size_t size), size)
ALLOCATOR(calloc, (size_t n, size_t size), n, size)
ALLOCATOR(reallocarray, (void *p, size_t n, size_t size), p, n, size)

#ifdef WITH_ZLIB
int __wrap_uncompress(void *to, unsigned long *n, const void *p, unsigned long len)
{
	return fails(0) ? -4 /* Z_MEM_ERROR */ : __real_uncompress(to, n, p, len);
}
#endif

ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at)
{
	if (!fails(1))
		return syscall(SYS_pread64, fd, to, len, at);
	if (fault.err == SHORT)
		return 0;
	errno = fault.err;
	return -1;
}

/* ------------------------------------------------------------------------
 * A device that asks for one table
 */
struct pmc_owner {
	int	fd;
	struct pmc_answers answers;
};

static struct device {
	int		file, asked, answers, err;
	uint32_t	id;
	uint64_t	len;
} device;

int pmc_owner_fd(const struct pmc_owner *o)
{
	return o->fd;
}

struct pmc_answers *pmc_owner_answers(struct pmc_owner *o)
{
	return &o->answers;
}

static int next(struct hwpmc_unwindnext *n)
{
	if (device.asked++) {
		errno = EAGAIN;
		return -1;
	}
	n->id = device.id;
	n->fd = dup(device.file);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	abort_if(fd != DEVICE);
	if (request == HWPMC_IOC_UNWINDNEXT)
		return next(arg);
	device.answers++;
	device.len = ((struct hwpmc_unwindtable *)arg)->len;
	errno = device.len ? device.err : 0;
	return errno ? -1 : 0;
}

static void ask_of(struct pmc_owner *owner, uint32_t id, int fd, int err)
{
	device = (struct device){ .file = fd, .err = err, .id = id };
	abort_if(pmc_owner_unwind(owner) != 1);
}

static void ask(int fd, int err)
{
	struct pmc_owner owner = { .fd = DEVICE };

	ask_of(&owner, 1, fd, err);
	free(owner.answers.failed);
}

/* ------------------------------------------------------------------------
 * Tests
 */
static void clear(void)
{
	abort_if(shell("rm -rf hwpmc"));
}

/* Is there a table, from what is kept or not, and is it what there ought to be? */
static bool is_like(int fd, const struct pmc_unwind *want)
{
	struct pmc_unwind t;
	bool same;

	if (pmc_unwind_of(fd, &t))
		return false;
	same = t.len == want->len && !memcmp(t.table, want->table, t.len);
	errno = 0;
	pmc_unwind_free(&t);
	return same;
}

/* One call fails: there is the whole table, or none with that error. */
static bool stands(int fd, const struct pmc_unwind *want, int expect)
{
	bool good;

	clear();
	errno = 0;
	good = is_like(fd, want) || (expect && errno == expect);
	fault.at = 0;
	return good && is_like(fd, want);
}

static void each_call(const char *name, int fd, int reads, int err, int expect)
{
	struct pmc_unwind want;
	unsigned int n = 0, bad = 0;

	fault.at = 0;
	abort_if(pmc_unwind_compile(fd, &want));
	do {
		fault = (struct fault){ .at = ++n, .reads = reads, .err = err };
		bad += !stands(fd, &want, expect);
	} while (fault.calls >= n && n < 1000);
	ok(!bad && n > 5 && n < 1000, "%s, %s: %u of %u calls", name,
	   err == SHORT ? "cut short" : strerror(err), bad, n);
	pmc_unwind_free(&want);
}

static void each_error(const char *name, const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		ok(true, "%s # SKIP it is not built", name);
		return;
	}
	each_call(name, fd, 0, ENOMEM, ENOMEM);
	each_call(name, fd, 1, EIO, EIO);
	each_call(name, fd, 1, ESTALE, ESTALE);
	each_call(name, fd, 1, EINTR, 0);
	each_call(name, fd, 1, SHORT, ESTALE);
	close(fd);
}

/* @first: the read that fails */
static void test_asked(int fd, unsigned int first, int err)
{
	clear();
	fault = (struct fault){ .at = first, .reads = 1, .err = err };
	ask(fd, 0);
	fault.at = 0;
	ok(!device.answers, "read %u, %s: no answer", first, strerror(err));
}

static void test_full(int fd)
{
	static const int full[] = { EDQUOT, ENOSPC, ENOMEM };
	size_t i;

	for (i = 0; i < 3; i++) {
		ask(fd, full[i]);
		ok(device.answers == 1 && device.len,
		   "%s: not that there is none", strerror(full[i]));
	}
	ask(fd, EINVAL);
	ok(device.answers == 2 && !device.len,
	   "a table that is refused: there is none");
}

/* What the device hears when the file fails now: 'n'othing, 'f'rame pointers, 't'able */
static char heard(struct pmc_owner *owner, uint32_t id, int fd, int err)
{
	clear();
	fault = (struct fault){ .at = err != 0, .reads = err != ENOMEM, .err = err };
	ask_of(owner, id, fd, 0);
	fault.at = 0;
	return !device.answers ? 'n' : device.len ? 't' : 'f';
}

static void test_thrice(int fd)
{
	static const int errors[] = { EIO, ESTALE, ENOTCONN, ETIMEDOUT };
	struct pmc_owner owner = { .fd = DEVICE };
	unsigned int i, bad = 0;
	char said[4] = "";

	for (i = 0; i < 3; i++)
		said[i] = heard(&owner, 1, fd, errors[i]);
	ok(!strcmp(said, "nnf"), "a file that fails thrice: %s", said);
	said[0] = heard(&owner, 1, fd, EIO);
	ok(said[0] == 'n' && owner.answers.n == 1,
	   "it is forgotten with the answer");
	for (i = 0; i < 2; i++)
		said[i] = heard(&owner, 2, fd, EIO);
	said[2] = heard(&owner, 2, fd, 0);
	ok(!strcmp(said, "nnt"), "fails twice, then there it is: %s", said);
	for (i = 0; i < 3; i++)
		said[i] = heard(&owner, 10 + i, fd, EIO);
	ok(!strcmp(said, "nnn"), "three files fail once: %s", said);
	for (i = 0; i < 9; i++)
		bad += heard(&owner, 3, fd, ENOMEM) != 'n';
	ok(!bad, "the caller's want of memory is not the file's");
	/* more than there is room for, and all thrice */
	for (i = 0; i < 3 * 100; i++)
		bad += heard(&owner, 100 + i % 100, fd, errors[i % 4]) !=
		       (i < 200 ? 'n' : 'f');
	ok(!bad, "a hundred files fail");
	free(owner.answers.failed);
}

static void test_refused(int fd)
{
	struct pmc_owner owner = { .fd = DEVICE };

	ask_of(&owner, 1, fd, ENOSPC);
	ok(!owner.answers.refused, "ENOSPC: the owner's limit");
	ask_of(&owner, 1, fd, EDQUOT);
	ok(owner.answers.refused == EDQUOT, "EDQUOT: the user's limit");
	free(owner.answers.failed);
}

static void test_owner(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), none = open("none", O_RDWR | O_CREAT, 0600);

	ask(fd, 0);
	ok(device.answers == 1 && device.len, "a table that is asked for");
	ask(none, 0);
	ok(device.answers == 1 && !device.len, "a file that has none");
	test_asked(fd, 1, EIO);
	test_asked(fd, 2, EIO);
	test_asked(fd, 4, ESTALE);
	test_full(fd);
	test_thrice(fd);
	test_refused(fd);
	close(fd);
	close(none);
}

/* A preload without memory does not say that the vdso has no table. */
static void test_vdso(void)
{
	struct pmc_owner owner = { .fd = DEVICE };
	unsigned int n, bad = 0, given = 0;
	struct pmc_preload *p;
	int gone = 1 << 30;

	for (n = 3; n < 40; n++) {	/* the first two are the preload's own */
		device = (struct device){ 0 };
		fault = (struct fault){ .at = n };
		p = pmc_preload_begin(&owner, &gone, 1);
		pmc_preload_wait(p, 20000, NULL);
		pmc_preload_end(p);
		bad += device.answers && !device.len;
		given += device.len != 0;
	}
	fault.at = 0;
	ok(!bad && given, "the vdso: %u wrong of %u", bad, n - 3);
}

/* Without section headers */
static void make_bare(const char *bin)
{
	const uint64_t zero = 0;
	int fd;

	if (shell("cp %s/unwind-omit bare 2>/dev/null", bin))
		return;
	fd = open("bare", O_RDWR);
	abort_if(pwrite(fd, &zero, 8, offsetof(Elf64_Ehdr, e_shoff)) != 8 ||
		 pwrite(fd, &zero, 4, offsetof(Elf64_Ehdr, e_shnum)) != 4);
	close(fd);
}

static void make_packed(const char *bin)
{
#ifdef WITH_ZLIB
	if (shell("objcopy --compress-debug-sections=zlib %s/unwind-debug packed "
		  "2>/dev/null", bin))
		unlink("packed");
#endif
}

int main(void)
{
	char bin[3000], text[4096];

	if (!getenv("BIN") || !realpath(getenv("BIN"), bin))
		return 2;
	scratch_begin();
	make_bare(bin);
	make_packed(bin);
	snprintf(text, sizeof(text), "%s/unwind-omit", bin);
	each_error(".eh_frame", text);
	each_error("no section headers", "bare");
	each_error(".debug_frame, packed", "packed");
	test_owner();
	test_vdso();
	scratch_end();
	return done();
}
