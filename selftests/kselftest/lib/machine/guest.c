// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

bool guest_is_slow(void)
{
	static int slow = -1;

	if (slow < 0)
		slow = env_number("HWPMC_SLOW", 0) ||
		       !access("/sys/kernel/debug/kmemleak", F_OK) ||
		       !access("/sys/kernel/debug/kcsan", F_OK);
	return slow;
}

unsigned int scaled(unsigned int fast, unsigned int slow)
{
	return guest_is_slow() ? slow : fast;
}

unsigned long env_number(const char *name, unsigned long otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 0) : otherwise;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t raw_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000L,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

unsigned int online_cpus(int *cpus, unsigned int max)
{
	char line[256], *p = line;
	unsigned int n = 0;
	long from, to;

	if (!read_line("/sys/devices/system/cpu/online", line, sizeof(line)))
		return 0;
	while (*p) {
		from = to = strtol(p, &p, 10);
		if (*p == '-')
			to = strtol(p + 1, &p, 10);
		for (; from <= to && n < max; from++)
			cpus[n++] = from;
		if (*p++ != ',')
			break;
	}
	return n;
}

void pin_to(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int cpu_set_online(int cpu, bool online)
{
	char path[80];
	int fd, err = 0;

	/* a machine that others work on */
	if (getenv("HWPMC_KEEP_CPUS"))
		return -EPERM;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, online ? "1" : "0", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

bool read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (!f)
		return false;
	good = fgets(buf, size, f);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
	return good;
}

bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

bool read_key(const char *path, const char *key, uint64_t *value)
{
	size_t len = strlen(key);
	char line[512];
	FILE *f = fopen(path, "re");
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) || !strchr(": \t", line[len]))
			continue;
		*value = strtoull(line + len + strspn(line + len, ": \t"),
				  NULL, 10);
		found = true;
	}
	fclose(f);
	return found;
}

uint64_t module_param(const char *name)
{
	char path[120], line[32];

	snprintf(path, sizeof(path), "/sys/module/hwpmc/parameters/%s", name);
	return read_line(path, line, sizeof(line)) ?
	       strtoull(line, NULL, 0) : 0;
}

uint64_t kallsyms_addr(const char *symbol)
{
	char line[512], name[256];
	unsigned long long addr;
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t found = 0;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &addr, name) == 2 &&
		    !strcmp(name, symbol))
			found = addr;
	fclose(f);
	return found;
}

static bool has_comm(const char *pid, const char *comm)
{
	char path[300], line[64];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	return atoi(pid) > 0 && read_line(path, line, sizeof(line)) &&
	       !strcmp(line, comm);
}

pid_t find_comm(const char *comm)
{
	struct dirent *e;
	pid_t pid = 0;
	DIR *d = opendir("/proc");

	while (d && !pid && (e = readdir(d)))
		if (has_comm(e->d_name, comm))
			pid = atoi(e->d_name);
	if (d)
		closedir(d);
	return pid;
}

unsigned int count_comm(const char *comm)
{
	struct dirent *e;
	unsigned int n = 0;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d)))
		n += has_comm(e->d_name, comm);
	if (d)
		closedir(d);
	return n;
}

const char *program_dir(void)
{
	static char dir[4096];
	ssize_t n;

	if (*dir)
		return dir;
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	dir[n > 0 ? n : 0] = '\0';
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = '\0';
	return dir;
}

int keep_caps(uint64_t caps)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &h, d);
}

pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

pid_t fork_pinned(int cpu, void (*fn)(void))
{
	pid_t pid = fork_bound();

	if (!pid) {
		pin_to(cpu);
		fn();
	}
	return pid;
}

pid_t fork_begun(bool (*begin)(void *arg), void (*go_on)(void *arg), void *arg)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork_bound();
	if (!pid) {
		close(ready[0]);
		/* who has become another user has lost the signal */
		if (begin(arg) && !prctl(PR_SET_PDEATHSIG, SIGKILL) &&
		    write(ready[1], "", 1) == 1) {
			close(ready[1]);
			go_on(arg);
		}
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

struct load {
	int		cpu;
	void		(*body)(void);
};

static bool load_begin(void *arg)
{
	pin_to(((struct load *)arg)->cpu);
	return true;
}

static void load_go_on(void *arg)
{
	for (;;)
		((struct load *)arg)->body();
}

static pid_t load(int cpu, void (*body)(void))
{
	struct load l = { cpu, body };

	return fork_begun(load_begin, load_go_on, &l);
}

static void compute(void)
{
	static volatile unsigned long sink;
	unsigned long i;

	for (i = 0; i < 1000000; i++)
		sink = sink * 2862933555777941757UL + 3037000493UL;
}

static void call_kernel(void)
{
	char buf[4096];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

static void doze(void)
{
	usleep(500);
}

pid_t load_user(int cpu)
{
	return load(cpu, compute);
}

pid_t load_kernel(int cpu)
{
	return load(cpu, call_kernel);
}

pid_t load_sleeper(int cpu)
{
	return load(cpu, doze);
}

void load_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int wait_for(pid_t pid)
{
	int status;
	pid_t got;

	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

int temp_file(void)
{
	char path[] = "/tmp/hwpmc-test.XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	return fd;
}

bool small_tmpfs(const char *dir, size_t bytes)
{
	char options[40];

	mkdir(dir, 0700);
	umount2(dir, MNT_DETACH);
	snprintf(options, sizeof(options), "size=%zu", bytes);
	return !mount("tmpfs", dir, "tmpfs", 0, options);
}

static unsigned int cpus_of(const char *path)
{
	char line[80];
	const char *last;

	if (!read_line(path, line, sizeof(line)))
		return 0;
	last = strpbrk(line, "-,");
	return atoi(last ? last + 1 : line) + 1;
}

unsigned int cpus_possible(void)
{
	return cpus_of("/sys/devices/system/cpu/possible");
}

unsigned int cpus_present(void)
{
	return cpus_of("/sys/devices/system/cpu/present");
}
