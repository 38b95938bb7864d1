/* SPDX-License-Identifier: BSD-2-Clause */
/* backend.h in a build without libbpf, clang or bpftool. */
#include "bpf/backend.h"

static void refuse(void)
{
	die(EX_UNAVAILABLE, "%s", bpf_refusal());
}

const char *bpf_refusal(void)
{
	return "this pmcstat was built without --bpf: without libbpf, clang or bpftool";
}

void bpf_allocate(struct options *o)
{
	(void)o;
	refuse();
}

int bpf_attach(const struct options *o, int pid)
{
	(void)o;
	(void)pid;
	return ESRCH;
}

void bpf_start(void)
{
	refuse();
}

void bpf_stop(void)
{
	refuse();
}

int bpf_read(const struct counter *c, struct pmc_reading *r)
{
	(void)c;
	(void)r;
	errno = ENOSYS;
	return -1;
}

void bpf_close(void)
{
}

int bpf_poll_fd(void)
{
	return -1;
}

int bpf_look(void)
{
	return -1;
}

int bpf_targets_ended(void)
{
	return 1;
}

const struct log_control *bpf_log(void)
{
	return NULL;
}
