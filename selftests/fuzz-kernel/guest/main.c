// SPDX-License-Identifier: GPL-2.0-only
/*
 * The supervisor: takes programs from the host, has them run, and says what they
 * have reached and what is wrong.
 *
 * fuzz-guest PORT	the host is at the virtio port of that name, or at the
 *			program's standard input and output ("-")
 */
#include <dirent.h>
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/hwpmc.h>

#include "calls.h"
#include "guest.h"
#include "inject.h"

#define HANGS_S		280	/* without an answer; more than executor.c's limits */

struct shared *sh;

static int host_in, host_out, kmsg;

static struct executor {
	pid_t	pid;
	int	commands;
	int	answers;
} executors[USERS];

/* ------------------------------------------------------------------------
 * The host
 */
static bool read_all(void *buf, size_t len)
{
	ssize_t n;

	for (; len; len -= n, buf = (char *)buf + n) {
		n = read(host_in, buf, len);
		if (n <= 0)
			return false;
	}
	return true;
}

static void write_all(const void *buf, size_t len)
{
	ssize_t n;

	for (; len; len -= n, buf = (const char *)buf + n) {
		n = write(host_out, buf, len);
		if (n <= 0)
			err(1, "the host has gone");
	}
}

static void answer(uint32_t status, const char *text)
{
	struct answer a = { .status = status, .nkeys = sh->nkeys,
			    .text = strlen(text) };

	if (a.nkeys > KEYS)
		a.nkeys = KEYS;
	if (status == ANSWER_READY)
		a.nkeys = 0;
	write_all(&a, sizeof(a));
	write_all(sh->keys, a.nkeys * sizeof(sh->keys[0]));
	write_all(text, a.text);
}

/* As the guest's init finds its own. */
static void open_port(const char *name)
{
	char command[200], path[100] = "", port[41];
	FILE *f;

	if (!strcmp(name, "-")) {
		host_in = fcntl(0, F_DUPFD_CLOEXEC, FD_OWN);
		host_out = fcntl(1, F_DUPFD_CLOEXEC, FD_OWN);
		dup2(2, 1);
		return;
	}
	snprintf(command, sizeof(command),
		 "grep -lx %s /sys/class/virtio-ports/*/name", name);
	f = popen(command, "re");
	if (!f || fscanf(f, "/sys/class/virtio-ports/%40[^/]", port) != 1)
		err(1, "%s", name);
	pclose(f);
	snprintf(path, sizeof(path), "/dev/%s", port);
	host_in = host_out = open(path, O_RDWR | O_CLOEXEC);
	if (host_in < 0)
		err(1, "%s", path);
	host_in = host_out = fcntl(host_in, F_DUPFD_CLOEXEC, FD_OWN);
}

/* ------------------------------------------------------------------------
 * Executors
 */

/* In between, a process that puts its children into a new namespace. */
static pid_t fork_first(void)
{
	int pipefd[2];
	pid_t pid = 0, between;

	if (pipe2(pipefd, O_CLOEXEC))
		err(1, "pipe");
	between = fork();
	if (between < 0)
		err(1, "fork");
	if (!between) {
		if (unshare(CLONE_NEWPID))
			err(1, "unshare");
		pid = fork();
		if (!pid) {
			close(pipefd[0]);
			close(pipefd[1]);
			return 0;
		}
		(void)!write(pipefd[1], &pid, sizeof(pid));
		_exit(0);
	}
	(void)!read(pipefd[0], &pid, sizeof(pid));
	close(pipefd[0]);
	close(pipefd[1]);
	waitpid(between, NULL, 0);
	return pid;
}

static void executor_begin(unsigned int user)
{
	struct executor *e = &executors[user];
	int commands[2], answers[2];

	if (pipe2(commands, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		err(1, "pipe");
	commands[0] = own(commands[0]);
	answers[1] = own(answers[1]);
	e->commands = own(commands[1]);
	e->answers = own(answers[0]);
	e->pid = fork_first();
	if (e->pid)
		goto parent;
	close(e->commands);
	close(e->answers);
	executor(user, commands[0], answers[1]);
parent:
	close(commands[0]);
	close(answers[1]);
}

static void executor_end(struct executor *e)
{
	kill(e->pid, SIGKILL);
	waitpid(e->pid, NULL, 0);
	close(e->commands);
	close(e->answers);
	e->pid = 0;
}

/* ------------------------------------------------------------------------
 * What is wrong
 */
static bool is_trouble(const char *line)
{
	static const char * const signs[] = {
		"BUG: ", "WARNING: ", "UBSAN: ", "ODEBUG: ", "DEBUG_LOCKS",
		"refcount_t: ", "INFO: task ", "rcu: INFO", "possible recursive",
		"circular locking", "suspicious RCU", "corruption",
		"is stuck in", "overwritten", "unable to handle",
	};
	unsigned int i;

	/* the runner, which reads all of a report, says whether it is the module's */
	if (strstr(line, "BUG: KCSAN: "))
		return false;
	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strstr(line, signs[i]))
			return true;
	return false;
}

/* What the kernel has said, except by us. */
static void look_at_kmsg(void)
{
	char rec[2048];
	ssize_t n;

	while ((n = read(kmsg, rec, sizeof(rec) - 1)) > 0 || errno == EPIPE) {
		if (n <= 0)
			continue;
		rec[n] = '\0';
		if (!sh->trouble[0] && is_trouble(rec))
			snprintf(sh->trouble, sizeof(sh->trouble),
				 "kernel: %.300s", strchr(rec, ';') ?: rec);
	}
}

/* All that was sampled since the module came has become something. */
static void look_at_account(void)
{
	struct hwpmc_driverstats st = { .scope = HWPMC_STATS_MODULE };
	struct pmclog_account *a = &st.account;
	unsigned long long dropped = 0;
	int dev = open("/dev/hwpmc", O_RDWR | O_CLOEXEC), i;

	if (dev < 0 || ioctl(dev, HWPMC_IOC_GETDRIVERSTATS, &st)) {
		snprintf(sh->trouble, sizeof(sh->trouble),
			 "the device cannot be used any more: %s",
			 strerror(errno));
		close(dev);
		return;
	}
	close(dev);
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		dropped += a->dropped[i];
	if (a->in_rings || a->committed != a->written + a->discarded ||
	    a->overflows != a->committed + dropped + a->filtered)
		snprintf(sh->trouble, sizeof(sh->trouble),
			 "the account: %llu overflows, %llu committed, %llu dropped, %llu filtered, %llu written, %llu discarded, %lld in rings",
			 (unsigned long long)a->overflows,
			 (unsigned long long)a->committed, dropped,
			 (unsigned long long)a->filtered,
			 (unsigned long long)a->written,
			 (unsigned long long)a->discarded,
			 (long long)a->in_rings);
}

static void show_file(pid_t pid, const char *tid, const char *name)
{
	char path[300], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid, tid, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		fprintf(stderr, "fuzz-guest: task %s: %s: %s", tid, name, line);
	if (f)
		fclose(f);
}

/* A writer thread may be what does not end. */
static void show_writer(const char *pid)
{
	show_file(atoi(pid), pid, "stat");
	show_file(atoi(pid), pid, "stack");
}

/* Where the executor's threads are, and what they were told to do. */
static void show_executor(pid_t pid)
{
	static const char * const ops[CODES] = {
#define X(code, name) [OP_##code] = #name,
		PROGRAM_CODES(X)
#undef X
	};
	struct dirent *e;
	char path[40];
	unsigned int i;
	DIR *d;

	for (i = 0; i < WORKERS; i++)
		fprintf(stderr, "fuzz-guest: worker %u: %s\n", i,
			ops[sh->at[COVER_WORKER + i] % CODES]);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		show_file(pid, e->d_name, "syscall");
		show_file(pid, e->d_name, "stack");
	}
	if (d)
		closedir(d);
}

/* How many descriptors of the device it has */
static unsigned int devices_of(const char *pid)
{
	char path[300], to[64];
	unsigned int n = 0;
	struct dirent *e;
	ssize_t len;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		len = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
		to[len > 0 ? len : 0] = '\0';
		n += strstr(to, "hwpmc") != NULL;
	}
	if (d)
		closedir(d);
	return n;
}

/* One that holds the device, or was asked for a chain on its way to sleep, keeps it. */
static void show_processes(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (atoi(e->d_name) <= 0)
			continue;
		fprintf(stderr, "fuzz-guest: %u of the device in %s\n",
			devices_of(e->d_name), e->d_name);
		show_file(atoi(e->d_name), e->d_name, "stat");
		show_file(atoi(e->d_name), e->d_name, "stack");
	}
	if (d)
		closedir(d);
}

/* Where everybody else is, for the console, which shows little otherwise. */
static void dump_tasks(pid_t pid)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	show_executor(pid);
	show_processes();
	machine_for_writers(show_writer);
	(void)!write(fd, "8", 1);
	(void)!write(fd, "w", 1);
	(void)!write(fd, "d", 1);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Programs
 */
static void write_param(const char *name, const char *value)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/hwpmc/parameters/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err(1, "%s", path);
	close(fd);
}

static bool has_param(void)
{
	unsigned int i;

	for (i = 0; i < sh->nops; i++)
		if (sh->program.op[i].code % CODES == OP_PARAM)
			return true;
	return false;
}

/* The first spare byte of the program: 1: system modes for all; 2: narrow limits */
static void set_params(uint8_t how, bool always)
{
	static uint8_t last = 0xFF;

	how &= 3;
	if (how == last && !always)
		return;
	last = how;
	write_param("unprivileged_syspmcs", how & 1 ? "1" : "0");
	write_param("max_owners", how & 2 ? "2" : "64");
	write_param("max_pmcs", how & 2 ? "3" : "1024");
	write_param("max_ringmem", how & 2 ? "1" : "256");
	write_param("max_counters", how & 2 ? "4" : "65536");
	write_param("perf_rules", "0");
	write_param("max_cpu", "100");
}

/*
 * Programs sample this process, too.  It returns to user mode now and then: as long as
 * a chain is asked of it, the module is in use, and the executor waits for its end.
 */
static bool await_answer(const struct executor *e)
{
	struct pollfd p = { .fd = e->answers, .events = POLLIN };
	unsigned int s;

	for (s = 0; s < HANGS_S; s++)
		if (poll(&p, 1, 1000) == 1)
			return true;
	return false;
}

/* Returns ANSWER_*. */
static uint32_t run(void)
{
	unsigned int user = sh->program.user % USERS;
	struct executor *e = &executors[user];
	char byte = 0;

	set_params(sh->program.spare[0], false);
	if (!e->pid)
		executor_begin(user);
	if (write(e->commands, &byte, 1) != 1) {
		executor_end(e);
		return ANSWER_DIED;
	}
	if (!await_answer(e)) {
		snprintf(sh->trouble, sizeof(sh->trouble), "the program hangs");
		dump_tasks(e->pid);
		return ANSWER_TROUBLE;
	}
	if (has_param())
		set_params(sh->program.spare[0], true);
	if (read(e->answers, &byte, 1) != 1) {
		executor_end(e);
		return ANSWER_DIED;
	}
	if (byte) {
		dump_tasks(e->pid);
		kill(e->pid, SIGKILL);
	}
	return byte ? ANSWER_TROUBLE : ANSWER_GOOD;
}

static uint32_t handle(void)
{
	uint32_t status;

	calls_reset();
	cover_reset();
	status = run();
	cover_take_whole();
	look_at_kmsg();
	if (!sh->trouble[0] && status == ANSWER_GOOD)
		look_at_account();
	return sh->trouble[0] ? ANSWER_TROUBLE : status;
}

static bool take_program(void)
{
	static char rest[65536];
	uint32_t len, ours;

	if (!read_all(&len, sizeof(len)) || !len)
		return false;
	memset(&sh->program, 0, sizeof(sh->program));
	ours = len < PROGRAM_MAX ? len : PROGRAM_MAX;
	if (len - ours > sizeof(rest) || !read_all(&sh->program, ours) ||
	    (len > ours && !read_all(rest, len - ours)))
		return false;
	sh->nops = ours < PROGRAM_HEADER ? 0 :
		   (ours - PROGRAM_HEADER) / sizeof(struct op);
	return true;
}

/* ------------------------------------------------------------------------
 * The machine
 */
static void copy_self(const char *to, unsigned int mode)
{
	char command[200];

	snprintf(command, sizeof(command),
		 "cp /proc/%d/exe %s && chmod %o %s", getpid(), to, mode, to);
	if (system(command))
		err(1, "%s", to);
}

/* Only what the module asks for fails: that is found soon. */
static void prepare_faults(void)
{
	static const char * const dirs[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
	};
	struct code text;
	unsigned int i;
	char command[200];

	if (!inject_init() || !code_of_module(&text)) {
		fprintf(stderr, "fuzz-guest: no fault injection here\n");
		return;
	}
	for (i = 0; i < 3; i++) {
		snprintf(command, sizeof(command),
			 "cd /sys/kernel/debug/%s && echo %llu >require-start && echo %llu >require-end",
			 dirs[i], (unsigned long long)text.start,
			 (unsigned long long)text.end);
		if (system(command))
			err(1, "%s", dirs[i]);
	}
}

/*
 * A 32-bit program for arm64: it touches memory, gives way, computes and ends.  At
 * first it has a chain of two frames, the second of which is nowhere; then one of
 * a hundred.
 */
static void write_arm32(const char *path)
{
	static const uint32_t code[] = {
		0xe24dd010,	/* sub	sp, sp, #16 */
		0xe28db00c,	/* add	fp, sp, #12 */
		0xe3a00a02,	/* mov	r0, #8192 */
		0xe50b0004,	/* str	r0, [fp, #-4] */
		0xe58be000,	/* str	lr, [fp] */
		0xe3a06002,	/* mov	r6, #2 */
		0xe3a05014,	/* begin: mov r5, #20 */
		0xe3a0709e,	/* again: mov r7, #158 (sched_yield) */
		0xef000000,	/* svc	0 */
		0xe3a04a10,	/* mov	r4, #65536 */
		0xe2544001,	/* subs	r4, r4, #1 */
		0x1afffffd,	/* bne	.-4 */
		0xe2555001,	/* subs	r5, r5, #1 */
		0x1afffff8,	/* bne	again */
		0xe2566001,	/* subs	r6, r6, #1 */
		0x0a00000a,	/* beq	end */
		0xe24ddb01,	/* sub	sp, sp, #1024 */
		0xe28db004,	/* add	fp, sp, #4 */
		0xe1a0000b,	/* mov	r0, fp */
		0xe3a01064,	/* mov	r1, #100 */
		0xe2802008,	/* frame: add r2, r0, #8 */
		0xe5002004,	/* str	r2, [r0, #-4] */
		0xe580f000,	/* str	pc, [r0] */
		0xe1a00002,	/* mov	r0, r2 */
		0xe2511001,	/* subs	r1, r1, #1 */
		0x1afffff9,	/* bne	frame */
		0xeaffffea,	/* b	begin */
		0xe3a00000,	/* end:	mov r0, #0 */
		0xe3a07001,	/* mov	r7, #1 (exit) */
		0xef000000,	/* svc	0 */
	};
	struct {
		Elf32_Ehdr e;
		Elf32_Phdr p;
		uint32_t code[sizeof(code) / 4];
	} image = {
		.e = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				     ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_ARM,
			.e_version = EV_CURRENT,
			.e_entry = 0x10000 + sizeof(Elf32_Ehdr) +
				   sizeof(Elf32_Phdr),
			.e_phoff = sizeof(Elf32_Ehdr),
			.e_flags = 0x05000000,		/* EABI 5 */
			.e_ehsize = sizeof(Elf32_Ehdr),
			.e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1,
		},
		.p = {
			.p_type = PT_LOAD, .p_vaddr = 0x10000,
			.p_paddr = 0x10000, .p_filesz = sizeof(image),
			.p_memsz = sizeof(image), .p_flags = PF_R | PF_X,
			.p_align = 0x10000,
		},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	memcpy(image.code, code, sizeof(code));
	if (write(fd, &image, sizeof(image)) != sizeof(image))
		perror(path);
	close(fd);
}

/* With rings that are full soon, and that take no time to make. */
static void reload_module(void)
{
	static const char path[] = "/hwpmc/hwpmc.ko";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_delete_module, "hwpmc", O_NONBLOCK) ||
	    syscall(SYS_finit_module, fd, "ringsize=32 logbuffersize=16", 0))
		perror(path);
	close(fd);
}

/* Files whose mappings are of another file, which lies below. */
static void prepare_overlay(void)
{
	mkdir("/fz/low", 0755);
	mkdir("/fz/low2", 0755);
	mkdir("/fz/over", 0755);
	copy_self("/fz/low/plain", 0755);
	if (mount("overlay", "/fz/over", "overlay", 0, "lowerdir=/fz/low:/fz/low2"))
		perror("fuzz-guest: /fz/over");
}

/* A file whose path is too long to be told. */
static void prepare_deep(void)
{
	char name[201];
	int at = open("/fz", O_PATH | O_DIRECTORY), next;
	unsigned int i;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 24; i++) {
		mkdirat(at, name, 0755);
		next = openat(at, name, O_PATH | O_DIRECTORY);
		close(at);
		at = next;
	}
	if (linkat(AT_FDCWD, "/fz/plain", at, "plain", 0))
		perror("fuzz-guest: a long path");
	next = openat(at, "plain", O_RDONLY);
	if (dup3(next, FD_DEEP, O_CLOEXEC) < 0)
		perror("fuzz-guest: a long path");
	close(next);
	close(at);
}

static void prepare(void)
{
	reload_module();
	mkdir("/fz", 0755);
	mkdir("/fz/big", 0755);
	mkdir("/fz/full", 0755);
	if (mount("tmpfs", "/fz/big", "tmpfs", 0, "size=64m,mode=1777") ||
	    mount("tmpfs", "/fz/full", "tmpfs", 0, "size=8k,mode=1777"))
		err(1, "tmpfs");
	copy_self("/fz/plain", 0755);
	copy_self("/fz/setuid", 04755);
	copy_self("/fz/unreadable", 0711);
	write_arm32("/fz/arm32");
	prepare_overlay();
	prepare_deep();
	chmod("/dev/hwpmc", 0666);
	prepare_faults();
	calls_init();
	kmsg = own(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	lseek(kmsg, 0, SEEK_END);
}

/* The executors' parts, and all the rest of @all ns. */
static void tell_times(unsigned int programs, uint64_t all)
{
	static const char * const names[] = {
#define X(phase, name) #name,
		PHASES(X)
#undef X
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < PHASE_REST; i++)
		sum += sh->spent[i];
	sh->spent[PHASE_REST] = all - sum;
	fprintf(stderr, "fuzz-guest: %u programs; ms each:", programs);
	for (i = 0; i < PHASES_ && programs; i++)
		fprintf(stderr, " %s %llu", names[i],
			(unsigned long long)sh->spent[i] / 1000000 / programs);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	unsigned int programs = 0;
	uint64_t taken = 0, begun;
	bool covers;

	if (!strcmp(argv[0], "small"))
		return small_main(argc, argv);
	if (argc != 2) {
		fprintf(stderr, "usage: fuzz-guest PORT\n");
		return 2;
	}
	open_port(argv[1]);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		err(1, "mmap");
	prepare();
	covers = cover_init();
	outside_init();
	close_range(3, FD_OWN - 1, 0);
	answer(ANSWER_READY, covers ? "" :
	       "this kernel does not say what code is reached");
	while (take_program()) {
		begun = now();
		answer(handle(), sh->trouble);
		taken += now() - begun;
		programs++;
	}
	tell_times(programs, taken);
	return 0;
}
