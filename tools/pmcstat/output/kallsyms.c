/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --kallsyms: copies the kernel's symbols during the recording, because that takes
 * seconds and must not delay the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "reader/base/tempfile.h"
#include "output/outputs.h"
#include "pmcstat.h"

/**
 * struct copy - the only copy of the symbols
 * @status: an exit status; belongs to the thread until it has ended
 */
static struct copy {
	const struct options *o;
	FILE		*in;
	FILE		*out;
	pthread_t	thread;
	int		running;
	int		status;
} copy;

/* Hidden addresses are zero; x86 per-CPU symbols have small ones. */
static int has_address(const char *text, size_t len)
{
	static const char zeros[] = "\n00000000";
	const char *line = text, *end = text + len;

	while ((line = memchr(line, '\n', (size_t)(end - line))) &&
	       end - line > 16) {
		if (memcmp(line, zeros, sizeof(zeros) - 1))
			return 1;
		line++;
	}
	return 0;
}

static FILE *open_copy(const char *path)
{
	FILE *out;
	int fd;

	if (!strcmp(path, "-"))
		return stdout;
	/* as the log: where the kernel is may be a secret here */
	fd = output_open(path, O_WRONLY, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	output_empty(fd, path);
	return out;
}

void kallsyms_open(const struct options *o)
{
	if (!o->kallsyms_path)
		return;
	copy.o = o;
	copy.in = fopen("/proc/kallsyms", "re");
	if (!copy.in)
		die(EX_OSFILE, "cannot open /proc/kallsyms: %s",
		    strerror(errno));
	copy.out = open_copy(o->kallsyms_path);
}

/* 0, or -1 with errno.  A pipe of the caller's may be non-blocking. */
static int write_all(int fd, const char *buf, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while (len) {
		n = write(fd, buf, len);
		if (n >= 0) {
			buf += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&pfd, 1, -1);
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

/*
 * 0, or an exit status after a message.  Sets @shown if an address is not
 * hidden.
 */
static int copy_all(FILE *in, int out, const char *path, int *shown)
{
	char buf[65536];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), in)) > 0) {
		*shown |= has_address(buf, n);
		if (write_all(out, buf, n))
			return output_failed("write", path);
	}
	return ferror(in) ? output_failed("write", path) : 0;
}

static void *run(void *arg)
{
	struct copy *c = arg;
	const char *path = c->o->kallsyms_path;
	int shown = 0;

	c->status = copy_all(c->in, fileno(c->out), path, &shown);
	if (!c->status && !shown && !c->o->quiet)
		warn_line("kernel addresses are hidden "
			  "(kernel.kptr_restrict): %s is of no use", path);
	return NULL;
}

void kallsyms_begin(void)
{
	sigset_t all, before;
	int err;

	if (!copy.in)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&copy.thread, NULL, run, &copy);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	copy.running = !err;
	if (err) {
		warn_line("cannot start a thread: %s", strerror(err));
		copy.status = EX_OSERR;
	}
}

/* At this point nothing can be lost: ^C may end the wait for a slow reader. */
static void let_kill(void)
{
	sigset_t set;

	signal(SIGTERM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (!output_is_background()) {
		signal(SIGINT, SIG_DFL);
		sigaddset(&set, SIGINT);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int kallsyms_end(void)
{
	if (!copy.in)
		return 0;
	if (copy.running) {
		let_kill();
		pthread_join(copy.thread, NULL);
	}
	fclose(copy.in);
	if (copy.out != stdout && fclose(copy.out) && !copy.status)
		copy.status = output_failed("write", copy.o->kallsyms_path);
	copy.in = NULL;
	return copy.status;
}
