// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program on what is the whole machine's: parameters of the
 * module, a CPU, control groups, another module, tracing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/hwpmc.h>

#include "calls.h"

#define CGROUPS		"/sys/fs/cgroup"
#define TRACING		"/sys/kernel/tracing"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"
#define MODULE		"fuzz_nothing"

static const char * const groups[] = {
	CGROUPS, CGROUPS "/fuzz/gone", CGROUPS "/fuzz", CGROUPS "/fuzz/a",
};

static int group_fd[SIZE(groups)] = { -1, -1, -1, -1 };
static int module_fd = -1;

static int own(int fd)
{
	int to = fcntl(fd, F_DUPFD_CLOEXEC, FD_OWN);

	close(fd);
	return to;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) > 0;
	close(fd);
	return good;
}

static int number_in(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return atoi(text);
}

void machine_init(void)
{
	unsigned int i;

	if (system("chmod 666 /sys/module/hwpmc/parameters/max_* /sys/module/hwpmc/parameters/perf_rules"))
		fprintf(stderr, "fuzz-guest: parameters are root's\n");
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(CGROUPS "/fuzz", 0755);
	mkdir(CGROUPS "/fuzz/a", 0755);
	mkdir(CGROUPS "/fuzz/gone", 0755);
	for (i = 0; i < SIZE(groups); i++)
		group_fd[i] = own(open(groups[i], O_RDONLY | O_DIRECTORY));
	rmdir(CGROUPS "/fuzz/gone");
	module_fd = own(open("/in/" MODULE ".ko", O_RDONLY));
}

int machine_cgroup_fd(unsigned int n)
{
	return group_fd[n % SIZE(groups)];
}

/* While others use it; the supervisor puts it back. */
void machine_param(const struct op *op)
{
	static const char * const names[] = {
		"unprivileged_syspmcs", "max_owners", "max_pmcs",
		"max_ringmem", "max_counters", "perf_rules", "max_cpu",
		"callchaindepth",
	};
	char path[80], text[8];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/hwpmc/parameters/%s",
		 names[op->arg[0] % SIZE(names)]);
	snprintf(text, sizeof(text), "%u", op->arg[1] % 4);
	write_file(path, text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)!read(fd, text, sizeof(text));
	close(fd);
}

/* Takes a second. */
void machine_hotplug(const struct op *op)
{
	if (sh->hotplugs++ < 2)
		write_file(CPU1, op->arg[0] & 1 ? "1" : "0");
}

/* arg: 0: the caller goes elsewhere; 1: a group comes and goes */
void machine_cgroup(const struct op *op)
{
	char path[80];

	sh->machine = true;
	snprintf(path, sizeof(path), "%s/cgroup.procs",
		 groups[op->arg[1] % SIZE(groups)]);
	if (!(op->arg[0] & 1)) {
		write_file(path, "0");
		return;
	}
	mkdir(CGROUPS "/fuzz/b", 0755);
	rmdir(CGROUPS "/fuzz/b");
}

/* A module that does nothing comes, or goes. */
void machine_module(const struct op *op)
{
	sh->machine = true;
	if (op->arg[0] & 1)
		syscall(SYS_delete_module, MODULE, O_NONBLOCK);
	else
		syscall(SYS_finit_module, module_fd, "", 0);
}

/* arg: the module's own events are traced, no longer, or shown */
void machine_trace(const struct op *op)
{
	char text[4096];
	int fd;

	sh->machine = true;
	if (op->arg[0] % 4 < 2) {
		write_file(TRACING "/events/hwpmc/enable",
			   op->arg[0] & 1 ? "0" : "1");
		return;
	}
	fd = open(TRACING "/trace", O_RDONLY | O_CLOEXEC);
	while (read(fd, text, sizeof(text)) > 0 && !sh->stop)
		;
	close(fd);
}

/* All rows of the program are free again. */
static void enable_rows(void)
{
	struct hwpmc_admin a = { .state = HWPMC_STATE_FREE };
	unsigned int i;
	int fd;

	for (i = 0; i < sh->nops; i++)
		if (sh->program.op[i].code % CODES == OP_PMCADMIN)
			break;
	if (i == sh->nops)
		return;
	fd = open("/dev/hwpmc", O_RDWR);
	for (i = 0; i < 12; i++) {
		a.cpu = i / 4;
		a.row = i % 4;
		ioctl(fd, HWPMC_IOC_PMCADMIN, &a);
	}
	close(fd);
}

void machine_restore(void)
{
	if (sh->hotplugs && !number_in(CPU1))
		write_file(CPU1, "1");
	if (sh->machine) {
		write_file(CGROUPS "/cgroup.procs", "0");
		syscall(SYS_delete_module, MODULE, O_NONBLOCK);
		write_file(TRACING "/events/hwpmc/enable", "0");
		close(open(TRACING "/trace", O_WRONLY | O_TRUNC));
	}
	enable_rows();
}
