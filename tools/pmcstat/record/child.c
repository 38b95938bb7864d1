/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command to run.  It is forked early and waits before it execs, so that
 * the PMCs run from its first instruction on.  If pmcstat dies before, the end
 * of the pipe ends the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output/outputs.h"
#include "pmcstat.h"

#define GRACE_NS	2000000000ULL	/* between two signals */
#define NAP_NS		5000000L

/* Limit of open files before child_raise_files(): the command's */
static struct rlimit files;

/* The signals that the caller has blocked: the command's */
static sigset_t blocked;

void child_block_signals(const sigset_t *set)
{
	sigprocmask(SIG_BLOCK, set, &blocked);
}

void child_raise_files(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	most = (struct rlimit){ files.rlim_max, files.rlim_max };
	if (files.rlim_cur == files.rlim_max || setrlimit(RLIMIT_NOFILE, &most))
		files.rlim_max = 0;
}

/*
 * The child reports when it begins to wait.  Otherwise the page faults after
 * the fork would be counted in some runs only.  Its path to the exec is as
 * short as possible, because that is counted too.
 */
static void run_command(int go, int failed, const char *path, char **command,
			int keep_stdout)
{
	char byte;
	int err;

	sigprocmask(SIG_SETMASK, &blocked, NULL);
	output_inherit_sigpipe();
	probes_leave();
	if (files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files);
	if (write(failed, "", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(0);
	/* standard output belongs to the log: the command writes to stderr */
	if (keep_stdout || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execvp(path, command);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/*
 * Searches PATH in the parent, so that the child need not.  As in a shell, an
 * empty directory is the working directory.  If the name is not found, exec
 * fails and reports it.
 */
static const char *find_program(const char *name, char *buf, size_t len)
{
	const char *dir = getenv("PATH");
	size_t n;

	for (; dir && *dir && !strchr(name, '/'); dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if ((size_t)snprintf(buf, len, "%.*s%s%s", (int)n, dir,
				     n ? "/" : "./", name) < len &&
		    is_program(buf))
			return buf;
	}
	return name;
}

void child_fork(struct child *c, char **command, int keep_stdout)
{
	static char found[PATH_MAX];
	int go[2], failed[2];
	char byte;

	c->path = find_program(command[0], found, sizeof(found));
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		die(EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	c->pid = fork();
	if (c->pid < 0)
		die(EX_OSERR, "cannot fork: %s", strerror(errno));
	if (!c->pid) {
		close(go[1]);
		close(failed[0]);
		run_command(go[0], failed[1], c->path, command, keep_stdout);
	}
	close(go[0]);
	close(failed[1]);
	while (read(failed[0], &byte, 1) < 0 && errno == EINTR)
		;	/* child_exec() reports a child that has died */
	c->go = go[1];
	c->failed = failed[0];
}

/* The command until child_end(); 0: none */
static pid_t running;

/* A run that fails leaves no command behind, as one that ends does not. */
static void end_running(void)
{
	struct child c = { .pid = running };

	child_end(&c, SIGTERM);
}

/* 0, or the errno of its exec; ECHILD: it has ended before */
static int go_on(const struct child *c)
{
	int err = 0;
	ssize_t n;

	if (write(c->go, "", 1) != 1)
		return ECHILD;
	do
		n = read(c->failed, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err) ? err : 0;
}

void child_exec(struct child *c, const char *command)
{
	int err = go_on(c);

	close(c->go);
	close(c->failed);
	if (!err) {
		running = c->pid;
		atexit(end_running);
		return;
	}
	child_end(c, 0);
	/* ^C during the set-up comes to both */
	if (err == ECHILD && c->status > 128)
		die(c->status, "%s was not begun: %s", command,
		    strsignal(c->status - 128));
	die(err == ENOENT ? 127 : 126, "cannot run %s: %s", command, strerror(err));
}

static void set_status(struct child *c, int status)
{
	c->pid = 0;
	running = 0;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					  WEXITSTATUS(status);
}

int child_reap(struct child *c)
{
	int status;

	if (!c->pid)
		return 1;
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return 0;
	set_status(c, status);
	return 1;
}

static int child_wait(struct child *c, uint64_t ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t end = now_ns() + ns;

	while (!child_reap(c)) {
		if (now_ns() >= end)
			return 0;
		nanosleep(&nap, NULL);
	}
	return 1;
}

/* One that is stopped gets the signal when it is continued. */
static void ask_to_end(const struct child *c, int signal)
{
	kill(c->pid, signal);
	kill(c->pid, SIGCONT);
}

void child_end(struct child *c, int signal)
{
	running = 0;
	if (!c->pid)
		return;
	if (signal)
		ask_to_end(c, signal);
	if (child_wait(c, GRACE_NS))
		return;
	ask_to_end(c, SIGTERM);
	if (child_wait(c, GRACE_NS))
		return;
	kill(c->pid, SIGKILL);
	child_wait(c, GRACE_NS);
}
