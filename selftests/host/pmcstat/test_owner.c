/* SPDX-License-Identifier: BSD-2-Clause */
/* Owners, with a device and with probes that are made up. */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pmc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "tap.h"

static int refusal;	/* errno with which the device refuses PMCs */
static int nprobes;	/* that are made and not removed */
static struct hwpmc_allocate asked;	/* of the device, last */

static int fake_open(const char *path, int flags)
{
	return open("/dev/null", flags);
}

static int fake_ioctl(int fd, unsigned long op, ...)
{
	va_list args;

	if (op != HWPMC_IOC_PMCALLOCATE)
		return 0;
	va_start(args, op);
	asked = *va_arg(args, struct hwpmc_allocate *);
	va_end(args);
	if (!refusal)
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

/* An event with a rate of its own, without a PMU of this machine. */
static int fake_parse(const char *spec, struct pmc_event_desc *desc, char *msg,
		      size_t msglen)
{
	if (strcmp(spec, "at-50"))
		return pmc_event_parse(spec, desc, msg, msglen);
	memset(desc, 0, sizeof(*desc));
	desc->period = 50;
	desc->flags = PMC_EVENT_FREQ;
	return 0;
}

#define open(...)	fake_open(__VA_ARGS__)
#define ioctl(...)	fake_ioctl(__VA_ARGS__)
#define pmc_event_parse	fake_parse
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

/* How many probes a child has removed */
static int close_in_child(struct pmc_owner *owner)
{
	int status, had = nprobes;
	pid_t pid = fork();

	if (!pid) {
		pmc_owner_close(owner);
		_exit(had - nprobes);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_probes(void)
{
	struct pmc_owner *owner = pmc_owner_open(0);

	ok(!allocate(owner) && nprobes == 1, "a PMC with a probe");
	refusal = ENOSPC;
	errno = 0;
	ok(allocate(owner) == -1 && errno == ENOSPC && nprobes == 1,
	   "a PMC that is refused leaves no probe: %d probes", nprobes);
	ok(!close_in_child(owner), "a child that closes removes none");
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

/* What the device is asked for if the caller leaves the number to the library. */
static void test_default(const char *spec, uint32_t flags, uint64_t count, uint32_t inforce)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = PMC_MODE_SS, .cpu = PMC_CPU_ALL, .flags = flags,
	};
	struct pmc_owner *owner = pmc_owner_open(0);
	pmc_id_t id;

	refusal = 0;
	ok(!pmc_owner_allocate(owner, spec, &opts, &id) && asked.count == count &&
	   asked.flags == inforce, "%s, %s: count %llu, flags %#x", spec,
	   flags ? "a rate" : "a period", (unsigned long long)asked.count, asked.flags);
	pmc_owner_close(owner);
}

static void test_defaults(void)
{
	test_default("cpu-clock", 0, 0, 0);
	test_default("cpu-clock", PMC_F_FREQ, 0, PMC_F_FREQ);
	test_default("mem:0x1000:w", 0, 1, 0);
	test_default("mem:0x1000:w", PMC_F_FREQ, 0, PMC_F_FREQ);
	test_default("profile:hz:100", 0, 10000000, 0);
	test_default("profile:hz:100", PMC_F_FREQ, 10000000, 0);
	test_default("at-50", 0, 50, PMC_F_FREQ);
	test_default("at-50", PMC_F_FREQ, 50, PMC_F_FREQ);
}

int main(void)
{
	test_probes();
	test_opts();
	test_defaults();
	return done();
}
