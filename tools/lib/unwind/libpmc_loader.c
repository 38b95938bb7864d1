// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists what a dynamic loader would load: "ld.so --list PROGRAM", of glibc and of
 * musl.  Both map the program and its libraries, but execute no code of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libpmc_command.h"

#define LIST_MAX	(256U << 10)
#define LIST_MS		1000
#define LOOK_MS		50	/* interval of checks of @stop */

/* ------------------------------------------------------------------------
 * Running it
 */
/*
 * Of the loader's own variables, keeps those that say where libraries are.  Others make
 * it write files (LD_DEBUG_OUTPUT) or run code (LD_AUDIT; LD_BIND_NOW with LD_WARN).
 */
static int is_kept(const char *variable)
{
	return strncmp(variable, "LD_", 3) ||
	       !strncmp(variable, "LD_PRELOAD=", 11) ||
	       !strncmp(variable, "LD_LIBRARY_PATH=", 16);
}

char **pmc_loader_env(void)
{
	size_t n = 0, len = 0, kept = 0, i;
	char **env, *to;

	for (; environ && environ[n]; n++)
		len += strlen(environ[n]) + 1;
	env = malloc((n + 1) * sizeof(*env) + len);
	if (!env)
		return NULL;
	to = (char *)(env + n + 1);
	for (i = 0; i < n; i++) {
		if (!is_kept(environ[i]))
			continue;
		env[kept++] = to;
		to = stpcpy(to, environ[i]) + 1;
	}
	env[kept] = NULL;
	return env;
}

int pmc_loader_knows_list(const char *loader)
{
	const char *name = strrchr(loader, '/');

	name = name ? name + 1 : loader;
	return !strncmp(name, "ld", 2) && strstr(name, ".so");
}

/*
 * Runs in a child of a program that may have threads, handlers and descriptors.  Resets
 * the handlers before it unblocks signals.  Closes the descriptors before a file system
 * that does not respond could keep them open.
 */
static void run_loader(int out, char *const *argv, char *const *env)
{
	int null, high = fcntl(out, F_DUPFD, 3), i;
	sigset_t none;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	null = open("/dev/null", O_RDWR);
	if (high >= 0 && null >= 0 && dup2(null, 0) == 0 && dup2(null, 2) == 2 &&
	    dup2(high, 1) == 1 && !syscall(SYS_close_range, 3U, ~0U, 0U))
		execve(argv[0], argv, env);
	_exit(127);
}

/* Starts the loader; returns the descriptor of its output, or -1 */
static int begin(char *const *argv, char *const *env, pid_t *pid)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return -1;
	*pid = fork();
	if (!*pid)
		run_loader(pipes[1], argv, env);
	close(pipes[1]);
	if (*pid > 0)
		return pipes[0];
	close(pipes[0]);
	return -1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Reads the output up to its end, to the size limit, or to the time limit */
static size_t read_list(int fd, char *list, const atomic_int *stop)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = now_ms() + LIST_MS;
	size_t len = 0;
	ssize_t n;

	while (len < LIST_MAX && !*stop && now_ms() < end) {
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, list + len, LIST_MAX - len);
		if (!n || (n < 0 && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	return len;
}

/* Ends the loader.  Its pid is not reused before it is waited for. */
static void end(pid_t pid)
{
	if (waitpid(pid, NULL, WNOHANG))
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

char *pmc_loader_list(const char *loader, const char *program,
		      char *const *env, const atomic_int *stop, size_t *len)
{
	char *argv[] = { (char *)loader, (char *)"--list", (char *)program,
			 NULL };
	char *list = malloc(LIST_MAX);
	pid_t pid;
	int fd;

	fd = list ? begin(argv, env, &pid) : -1;
	if (fd < 0) {
		free(list);
		return NULL;
	}
	*len = read_list(fd, list, stop);
	close(fd);
	end(pid);
	return list;
}

/* ------------------------------------------------------------------------
 * Parsing the output:
 *	linux-vdso.so.1 (0x00007ffd3c5f2000)
 *	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0f53e21000)
 *	libnone.so.1 => not found
 *	/lib64/ld-linux-x86-64.so.2 (0x00007f0f54020000)
 */
/* The start of the address in brackets at the end of a line; NULL: there is none */
static const char *address_in(const char *line, size_t len)
{
	const char *p = line + len;

	if (!len || *--p != ')')
		return NULL;
	while (p > line && strchr("0123456789abcdefABCDEF", p[-1]))
		p--;
	if (p - line < 5 || memcmp(p - 4, " (0x", 4))
		return NULL;
	return p - 4;
}

/* @line has no NUL up to @len. */
static int path_in(const char *line, size_t len, char path[PATH_MAX])
{
	const char *end = address_in(line, len), *arrow;

	if (!end || *line != '\t')
		return 0;
	line++;
	arrow = memmem(line, (size_t)(end - line), " => ", 4);
	if (arrow)
		line = arrow + 4;
	len = (size_t)(end - line);
	if (!len || *line != '/' || len >= PATH_MAX)
		return 0;
	memcpy(path, line, len);
	path[len] = '\0';
	return 1;
}

int pmc_loader_next(const char **at, const char *end, char path[PATH_MAX])
{
	const char *line, *newline;
	size_t len;

	while (*at < end) {
		line = *at;
		newline = memchr(line, '\n', (size_t)(end - line));
		*at = newline ? newline + 1 : end;
		len = newline ? (size_t)(newline - line) : 0;
		if (!memchr(line, '\0', len) && path_in(line, len, path))
			return 1;
	}
	return 0;
}
