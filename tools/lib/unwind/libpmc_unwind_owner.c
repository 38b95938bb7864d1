// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables for the objects that an owner has sampled without a table.
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

#include "libpmc_elf.h"
#include "libpmc_unwind.h"
#include "pmc.h"

#define VDSO_MAX	(1UL << 16)

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

	if (!image || sizeof(long) != 8) {
		errno = ENOEXEC;
		return -1;
	}
	return pmc_unwind_compile_image(image, vdso_size(image), t);
}

/* Devices may do something when they are opened. */
int pmc_unwind_reopen(int fd)
{
	char name[40];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ENOEXEC;
		return -1;
	}
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

/*
 * The module has refused the table itself.  EDQUOT and ENOSPC only mean that there is
 * no room: the module makes some, and asks again.
 */
static int is_refusal(int err)
{
	return err == EINVAL || err == E2BIG;
}

static int answer(int device, uint32_t id, const struct pmc_unwind *t)
{
	struct hwpmc_unwindtable a = {
		.id = id, .fd = -1, .data = (uintptr_t)t->table, .len = t->len,
	};

	return ioctl(device, HWPMC_IOC_UNWINDTABLE, &a);
}

/* Supplies the table of one object.  If it is refused, selects frame pointers. */
static void unwind_one(int device, const struct hwpmc_unwindnext *next)
{
	struct pmc_unwind t = { 0 };
	int status = next->fd < 0 ? pmc_unwind_vdso(&t) :
		     table_of_file(next->fd, &t);

	if (status)
		t = (struct pmc_unwind){ 0 };
	if (status && !is_lasting(errno))
		return;			/* the module asks again */
	if (answer(device, next->id, &t) && t.len && is_refusal(errno)) {
		pmc_unwind_free(&t);
		answer(device, next->id, &t);
	}
	pmc_unwind_free(&t);
}

int pmc_owner_unwind(struct pmc_owner *owner)
{
	int device = pmc_owner_fd(owner), n = 0;
	struct hwpmc_unwindnext next = { 0 };

	while (!ioctl(device, HWPMC_IOC_UNWINDNEXT, &next)) {
		unwind_one(device, &next);
		if (next.fd >= 0)
			close(next.fd);
		next = (struct hwpmc_unwindnext){ 0 };
		n++;
	}
	return errno == EAGAIN ? n : -1;
}
