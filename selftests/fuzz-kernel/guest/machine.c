// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program on what is the whole machine's: parameters of the
 * module, a CPU, control groups, another module, tracing, failures.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/hwpmc.h>

#include "calls.h"

#define CGROUPS		"/sys/fs/cgroup"
#define FREEZER		"/fz/freezer"	/* of cgroup v1 */
#define TRACING		"/sys/kernel/tracing"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"
#define MODULE		"fuzz_nothing"
#define WRITERS		"hwpmc/"	/* names of the module's threads */

static const char * const groups[] = {
	CGROUPS, CGROUPS "/fuzz/gone", CGROUPS "/fuzz", CGROUPS "/fuzz/a",
};

/* a group that comes and goes, with memory of its own */
#define GROUP		CGROUPS "/fuzz-own"

static int group_fd[SIZE(groups)] = { -1, -1, -1, -1 };
static int own_group_fd = -1;
static int module_fd = -1;

void machine_init(void)
{
	unsigned int i;

	if (system("chmod 666 /sys/module/hwpmc/parameters/max_* /sys/module/hwpmc/parameters/perf_rules"))
		fprintf(stderr, "fuzz-guest: parameters are root's\n");
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(FREEZER, 0755);
	if (mount("freezer", FREEZER, "cgroup", 0, "freezer"))
		perror("fuzz-guest: " FREEZER);
	mkdir(FREEZER "/fuzz", 0755);
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
	return n & 64 ? own_group_fd : group_fd[n % SIZE(groups)];
}

/* While others use it; the supervisor puts it back. */
void do_param(const struct op *op)
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
void do_hotplug(const struct op *op)
{
	if (sh->hotplugs++ < 2)
		write_file(CPU1, op->arg[0] & 1 ? "1" : "0");
}

/* Threads of the kernel: strangers to an executor, but in the files of /proc. */
static void for_threads(const char *prefix, void (*fn)(const char *pid))
{
	char path[300], name[16];
	DIR *d = opendir("/proc");
	struct dirent *e;
	int fd;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		memset(name, 0, sizeof(name));
		(void)!read(fd, name, sizeof(name) - 1);
		close(fd);
		if (!strncmp(name, prefix, strlen(prefix)))
			fn(e->d_name);
	}
	if (d)
		closedir(d);
}

void machine_for_writers(void (*fn)(const char *pid))
{
	for_threads(WRITERS, fn);
}

static void put_into_freezer(const char *pid)
{
	write_file(FREEZER "/fuzz/cgroup.procs", pid);
}

/* Only for processes of the first pid namespace: others cannot name the threads. */
static void freeze_writers(void)
{
	for_threads(WRITERS, put_into_freezer);
	write_file(FREEZER "/fuzz/freezer.state", "FROZEN");
	usleep(100000);
	write_file(FREEZER "/fuzz/freezer.state", "THAWED");
}

/*
 * arg: 0: the caller goes elsewhere; 1: a group comes and goes; 2: one comes that can
 * be gone to, 3: and goes; 4: the module's threads are frozen for a while.  Where: 4:
 * there
 */
void do_cgroup(const struct op *op)
{
	char path[80];

	sh->machine = true;
	switch (op->arg[0] % 5) {
	case 0:
		snprintf(path, sizeof(path), "%s/cgroup.procs",
			 op->arg[1] & 4 ? GROUP : groups[op->arg[1] % SIZE(groups)]);
		write_file(path, "0");
		break;
	case 1:
		mkdir(CGROUPS "/fuzz/b", 0755);
		rmdir(CGROUPS "/fuzz/b");
		break;
	case 2:
		mkdir(GROUP, 0755);
		close(own_group_fd);
		own_group_fd = own(open(GROUP, O_RDONLY | O_DIRECTORY));
		break;
	case 3:
		rmdir(GROUP);
		break;
	default:
		freeze_writers();
	}
}

/* A module that does nothing comes, or goes. */
void do_module(const struct op *op)
{
	sh->machine = true;
	if (op->arg[0] & 1)
		syscall(SYS_delete_module, MODULE, O_NONBLOCK);
	else
		syscall(SYS_finit_module, module_fd, "", 0);
}

/* Probes where the module will have its own. */
static void set_probes(bool on)
{
	static const char * const names[] = {
		"perf_event_mmap", "uprobe_munmap", "copy_vma",
		"vma_merge_extend",
	};
	char text[64];
	unsigned int i;

	write_file(TRACING "/events/fuzz/enable", "0");
	for (i = 0; i < SIZE(names); i++) {
		snprintf(text, sizeof(text), on ? "p:fuzz/%s %s" : "-:fuzz/%s",
			 names[i], names[i]);
		append_file(TRACING "/kprobe_events", text);
	}
	if (on)
		write_file(TRACING "/events/fuzz/enable", "1");
}

static void show_trace(const char *path, size_t size)
{
	static _Thread_local char text[65536];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	while (read(fd, text, size) > 0 && !sh->stop)
		;
	close(fd);
}

/*
 * arg: the module's own events are traced, no longer, or shown (2, 3: in few or many
 * bytes, 6: and taken out); 4: of one process only, 5: of all; 7: others' probes
 */
void do_trace(const struct op *op)
{
	sh->machine = true;
	switch (op->arg[0] % 8) {
	case 0:
	case 1:
		write_file(TRACING "/events/hwpmc/enable",
			   op->arg[0] & 1 ? "0" : "1");
		break;
	case 2:
		show_trace(TRACING "/trace", 4096);
		break;
	case 3:
		show_trace(TRACING "/trace", 65536);
		break;
	case 4:
		write_file(TRACING "/set_event_pid", "1");
		break;
	case 5:
		close(open(TRACING "/set_event_pid", O_WRONLY | O_TRUNC));
		break;
	case 6:
		show_trace(TRACING "/trace_pipe", 65536);
		break;
	default:
		set_probes(true);
	}
}

/* ------------------------------------------------------------------------
 * Failures by chance, of what the module asks for only: see prepare_faults()
 */
static void set_faulty(const char *pid)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/make-it-fail", pid);
	write_file(path, "1");
}

static void set_percent(unsigned int percent)
{
	static const char * const kinds[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
	};
	char path[80], text[8];
	unsigned int i;

	snprintf(text, sizeof(text), "%u", percent);
	for (i = 0; i < SIZE(kinds); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/probability",
			 kinds[i]);
		write_file(path, text);
	}
}

/* arg: 1: for the caller and its children, 2: writer threads, 4: works; how many */
void do_faults(const struct op *op)
{
	static const unsigned int percents[] = { 100, 50, 20, 5, 1, 0 };

	sh->machine = true;
	if (op->arg[0] & 1)
		set_faulty("thread-self");
	if (op->arg[0] & 2)
		for_threads(WRITERS, set_faulty);
	if (op->arg[0] & 4)
		for_threads("kworker/", set_faulty);
	set_percent(percents[op->arg[1] % SIZE(percents)]);
}

static void end_faults(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	char path[300];

	set_percent(0);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/make-it-fail",
			 e->d_name);
		if (e->d_name[0] != '.')
			write_file(path, "0");
	}
	if (d)
		closedir(d);
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

/* A process that froze the module's threads may have been killed before it thawed them. */
void machine_thaw(void)
{
	if (sh->machine)
		write_file(FREEZER "/fuzz/freezer.state", "THAWED");
}

void machine_restore(void)
{
	if (sh->hotplugs && !number_in(CPU1))
		write_file(CPU1, "1");
	if (sh->machine) {
		end_faults();
		write_file(CGROUPS "/cgroup.procs", "0");
		rmdir(GROUP);
		set_probes(false);
		close(open(TRACING "/set_event_pid", O_WRONLY | O_TRUNC));
		syscall(SYS_delete_module, MODULE, O_NONBLOCK);
		write_file(TRACING "/events/hwpmc/enable", "0");
		close(open(TRACING "/trace", O_WRONLY | O_TRUNC));
	}
	enable_rows();
}
