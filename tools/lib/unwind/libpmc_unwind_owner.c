// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables for the objects that an owner has sampled without a table: what the
 * answers are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_answer.h"
#include "libpmc_fail.h"
#include "libpmc_unwind.h"

#define VDSO_MAX	(1UL << 16)
/* The module asks every two seconds: a server has four of them to come back. */
#define TRIES		3
#define FAILED_MAX	(1U << 14)	/* as many objects as the module has */

/* The vdso's end is where its section headers end. */
static size_t vdso_size(const void *image)
{
	const Elf64_Ehdr *h = image;
	size_t end = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;

	return end < VDSO_MAX ? end : 0;
}

int pmc_unwind_vdso(struct pmc_unwind *t)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!image || sizeof(long) != 8)
		return fail_with(ENOEXEC);
	return pmc_unwind_compile_image(image, vdso_size(image), t);
}

/* Devices may do something when they are opened. */
int pmc_unwind_reopen(int fd)
{
	char name[40];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode))
		return fail_with(ENOEXEC);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* A caller that may not read the file has no table. */
static int table_of_file(int fd, struct pmc_unwind *t)
{
	int status, err, file = pmc_unwind_reopen(fd);

	if (file < 0)
		return -1;
	status = pmc_unwind_of(file, t);
	err = errno;
	close(file);
	errno = err;
	return status;
}

/* These errors are permanent: there will be no table.  Others may not occur again. */
static int is_lasting(int err)
{
	return err == ENOEXEC || err == EFBIG || err == EACCES || err == EPERM;
}

/* It is this process that lacks something: that says nothing about the file. */
static int is_shortage(int err)
{
	return err == ENOMEM || err == EMFILE || err == ENFILE || err == EINTR;
}

/*
 * The module has refused the table itself.  EDQUOT and ENOSPC only mean that there is
 * no room: the module makes some, and asks again.
 */
static int is_refusal(int err)
{
	return err == EINVAL || err == E2BIG;
}

/* ------------------------------------------------------------------------
 * Files that cannot be read
 */
static struct pmc_failed *find_failed(struct pmc_answers *a, uint32_t id)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->failed[i].id == id)
			return &a->failed[i];
	return NULL;
}

static struct pmc_failed *add_failed(struct pmc_answers *a)
{
	size_t room = a->room ? a->room * 2 : 16;
	struct pmc_failed *grown;

	/* some of them have lost their object without an answer */
	if (a->n == FAILED_MAX)
		return &a->failed[a->next++ % FAILED_MAX];
	if (a->n == a->room) {
		grown = reallocarray(a->failed, room, sizeof(*grown));
		if (!grown)
			return NULL;
		a->failed = grown;
		a->room = room;
	}
	return &a->failed[a->n++];
}

/* True if the file has failed so often that it is not worth another try. */
static int fails_again(struct pmc_answers *a, uint32_t id)
{
	struct pmc_failed *f = find_failed(a, id);

	if (!f) {
		f = add_failed(a);
		if (f)
			*f = (struct pmc_failed){ .id = id, .times = 1 };
		return 0;
	}
	return ++f->times >= TRIES;
}

/* Ids are not used twice soon: an object that is answered is not asked for again. */
static void forget_failed(struct pmc_answers *a, uint32_t id)
{
	struct pmc_failed *f = find_failed(a, id);

	if (f)
		*f = a->failed[--a->n];
}

/* ------------------------------------------------------------------------
 * Answers
 */
int pmc_answer_make(const struct hwpmc_unwindnext *next, struct pmc_unwind *t)
{
	int status;

	*t = (struct pmc_unwind){ 0 };
	status = next->fd < 0 ? pmc_unwind_vdso(t) : table_of_file(next->fd, t);
	if (!status)
		return 0;
	*t = (struct pmc_unwind){ 0 };
	return errno;
}

static int supply(struct pmc_answers *a, int device, uint32_t id,
		  const struct pmc_unwind *t)
{
	struct hwpmc_unwindtable table = {
		.id = id, .fd = -1, .data = (uintptr_t)t->table, .len = t->len,
	};

	if (!ioctl(device, HWPMC_IOC_UNWINDTABLE, &table))
		return 0;
	if (errno == EDQUOT)
		a->refused = EDQUOT;
	return errno;
}

void pmc_answer_give(struct pmc_answers *a, int device, uint32_t id,
		     struct pmc_unwind *t, int err)
{
	const struct pmc_unwind none = { 0 };

	/* no answer: the module asks again */
	if (err && !is_lasting(err) &&
	    (is_shortage(err) || !fails_again(a, id)))
		return;
	forget_failed(a, id);
	if (is_refusal(supply(a, device, id, t)) && t->len)
		supply(a, device, id, &none);
	pmc_unwind_free(t);
}
