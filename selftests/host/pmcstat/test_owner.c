/* SPDX-License-Identifier: BSD-2-Clause */
/* Owners, with a device and with probes that are made up. */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pmc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tap.h"

static int refusal;	/* errno with which the device refuses PMCs */
static int nprobes;	/* that are made and not removed */

static int fake_open(const char *path, int flags)
{
	return open("/dev/null", flags);
}

static int fake_ioctl(int fd, unsigned long op, ...)
{
	if (op != HWPMC_IOC_PMCALLOCATE || !refusal)
		return 0;
	errno = refusal;
	return -1;
}

static struct pmc_probe *fake_make(const char *spec, struct pmc_event_desc *desc,
				   char *msg, size_t msglen)
{
	nprobes++;
	return malloc(1);
}

static int fake_remove(const struct pmc_probe *probe)
{
	nprobes--;
	errno = 0;
	return 0;
}

#define open(...)	fake_open(__VA_ARGS__)
#define ioctl(...)	fake_ioctl(__VA_ARGS__)
#define pmc_probe_make	fake_make
#define pmc_probe_remove fake_remove
#include "../../../tools/lib/pmc/libpmc_owner.c"

static int allocate(struct pmc_owner *owner)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = PMC_MODE_SC, .cpu = PMC_CPU_ALL,
	};
	pmc_id_t id;

	return pmc_owner_allocate(owner, "kprobe:vfs_read", &opts, &id);
}

static void test_probes(void)
{
	struct pmc_owner *owner = pmc_owner_open(0);

	ok(!allocate(owner) && nprobes == 1, "a PMC with a probe");
	refusal = ENOSPC;
	errno = 0;
	ok(allocate(owner) == -1 && errno == ENOSPC && nprobes == 1,
	   "a PMC that is refused leaves no probe: %d probes", nprobes);
	pmc_owner_close(owner);
	ok(!nprobes, "closing removes the others");
}

/* The caller may try another event with the same options. */
static void test_opts(void)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = PMC_MODE_SS, .cpu = PMC_CPU_ALL,
	};
	struct pmc_owner *owner = pmc_owner_open(0);
	pmc_id_t id;

	refusal = ENOENT;
	ok(pmc_owner_allocate(owner, "profile:hz:97", &opts, &id) == -1 &&
	   errno == ENOENT && !opts.count && !opts.flags,
	   "options of a PMC that is refused: count %llu", (unsigned long long)opts.count);
	pmc_owner_close(owner);
}

int main(void)
{
	test_probes();
	test_opts();
	return done();
}
