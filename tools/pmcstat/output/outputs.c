/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output files of a run.  They are checked before a failure could lose data, and
 * without a change to existing files.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/base/samefile.h"
#include "reader/base/tempfile.h"
#include "output/outputs.h"
#include "pmcstat.h"

/*
 * Files that go if the recording does not begin: the log, the symbols, the counts.
 * @temp: a temporary name, or a copy of @path if the file is a new one
 * @maker: only this process removes them at exit
 */
static struct pending {
	const char *path;
	char *temp;
	pid_t maker;
} pending[3];

#define NPENDING	(sizeof(pending) / sizeof(pending[0]))

static void drop_pending(void)
{
	size_t i;

	for (i = 0; i < NPENDING; i++)
		if (pending[i].temp && pending[i].maker == getpid())
			unlink(pending[i].temp);
}

static void add_pending(const char *path, char *temp)
{
	size_t i = 0;

	while (pending[i].temp)
		i++;
	if (!i)
		atexit(drop_pending);
	pending[i] = (struct pending){ path, temp, getpid() };
	tempfile_guard(temp);
}

int output_open(const char *path, int flags, unsigned int mode)
{
	char *temp;
	int fd = tempfile_open(path, mode, &temp);

	if (fd < 0)
		return open(path, flags | O_CREAT | O_CLOEXEC, mode);
	add_pending(path, temp);
	return fd;
}

int output_append(const char *path, unsigned int mode)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	int fd = open(path, flags | O_EXCL, mode);
	char *temp;

	if (fd < 0)
		return open(path, flags, mode);
	temp = strdup(path);
	if (!temp)
		die(EX_OSERR, "out of memory");
	add_pending(path, temp);
	return fd;
}

void output_empty(int fd, const char *path)
{
	struct stat st;

	/* only a regular file can have old content */
	if (strcmp(path, "-") && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size && ftruncate(fd, 0))
		die(EX_CANTCREAT, "cannot empty %s: %s", path, strerror(errno));
}

int output_settle(int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return again >= 0 && close(again) ? errno : 0;
}

static int is_named(const struct output *out)
{
	return out->path && strcmp(out->path, "-");
}

int outputs_distinct(const struct output *out, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++) {
			if (!is_named(&out[i]) || !is_named(&out[j]) ||
			    !same_path(out[i].path, out[j].path))
				continue;
			warn_line("%s %s and %s %s are one file: one output would "
				  "be lost", out[i].option, out[i].path,
				  out[j].option, out[j].path);
			return EX_USAGE;
		}
	return 0;
}

int output_is_file(const char *path)
{
	struct stat st;

	return !net_is_address(path) && strcmp(path, "-") &&
	       (stat(path, &st) || S_ISREG(st.st_mode));
}

void outputs_begun(void)
{
	struct pending *p;

	for (p = pending; p < pending + NPENDING; p++) {
		if (!p->temp)
			continue;
		if (rename(p->temp, p->path))
			die(EX_CANTCREAT, "cannot create %s: %s", p->path,
			    strerror(errno));
		tempfile_forget(p->temp);
		p->temp = NULL;
	}
}

static int die_with_readers;
static int die_by_size;

void output_outlive_readers(void)
{
	/* if the caller ignores SIGPIPE, a closed pipe gets a message */
	if (signal(SIGPIPE, SIG_IGN) != SIG_IGN)
		die_with_readers = 1;
	/* a file that may not grow is an error of its write, as a full disk is */
	if (signal(SIGXFSZ, SIG_IGN) != SIG_IGN)
		die_by_size = 1;
}

void output_inherit_sigpipe(void)
{
	if (die_with_readers)
		signal(SIGPIPE, SIG_DFL);
	if (die_by_size)
		signal(SIGXFSZ, SIG_DFL);
}

int output_failed(const char *verb, const char *what)
{
	if (errno == EPIPE && die_with_readers)
		return OUTPUT_UNREAD;
	warn_line("cannot %s %s: %s", verb, what, strerror(errno));
	return EX_IOERR;
}

/* ------------------------------------------------------------------------
 * Outputs whose readers are slow
 */
#define CHUNK		4096	/* a pipe that is ready takes so much at once */

/**
 * struct waiting - signals while an output is waited for
 * @fd:      of signalfd(2); -1: they are not blocked
 * @ended:   the run has: the next signal ends the wait
 * @over:    a signal has ended one
 * @background: SIGINT was ignored at the start, as in a script's background job: kill(1)
 *	     means us with it, the terminal does not
 * @kept:    by number: they came during a wait, and the session has not had them yet
 * @wake:    eventfd(2), which is readable after one of those that are let through; -1
 */
static struct waiting {
	int	fd;
	int	ended;
	int	over;
	int	background;
	struct signalfd_siginfo kept[NSIG];
	int	wake;
} waiting = { .fd = -1, .wake = -1 };

void output_signals(int fd, int background)
{
	waiting.fd = fd;
	waiting.background = background;
}

int output_is_background(void)
{
	return waiting.background;
}

/* Also in a signal handler */
static int is_for_others(int signal, int code)
{
	return signal == SIGINT && code == SI_KERNEL && waiting.background;
}

/* The next one from the terminal or kill(1); 0: there is none */
static int read_signal(struct signalfd_siginfo *info)
{
	while (read(waiting.fd, info, sizeof(*info)) == sizeof(*info))
		if (!is_for_others((int)info->ssi_signo, info->ssi_code))
			return 1;
	return 0;
}

void output_run_ended(void)
{
	waiting.ended = 1;
}

/* It may come just before the poll(2) of a wait, which then finds the eventfd readable. */
static void wake(int signal, siginfo_t *info, void *context)
{
	int err = errno;

	(void)context;
	if (!is_for_others(signal, info->si_code))
		eventfd_write(waiting.wake, 1);
	errno = err;
}

/* poll(2) finds a signalfd(2) readable before the handler of such a signal has run. */
void output_let_interrupt(void)
{
	struct sigaction act = { .sa_sigaction = wake, .sa_flags = SA_SIGINFO };
	sigset_t set;

	waiting.fd = -1;
	waiting.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&act.sa_mask, SIGVTALRM);	/* demangle.c would leave this handler, too */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int output_interrupted(void)
{
	struct pollfd pfd = { .fd = waiting.wake, .events = POLLIN };

	return waiting.over || poll(&pfd, 1, 0) > 0;
}

int output_has_signals(void)
{
	int i;

	for (i = 0; i < NSIG; i++)
		if (waiting.kept[i].ssi_signo)
			return 1;
	return 0;
}

int output_next_signal(struct signalfd_siginfo *info)
{
	int i;

	for (i = 0; i < NSIG; i++) {
		if (!waiting.kept[i].ssi_signo)
			continue;
		*info = waiting.kept[i];
		waiting.kept[i].ssi_signo = 0;
		return 1;
	}
	return read_signal(info);
}

/* Keeps the signals for the session.  -1: the second of those that end a run has come. */
static int keep_signals(void)
{
	struct signalfd_siginfo info;
	int end;

	while (read_signal(&info)) {
		end = info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM;
		if (info.ssi_signo < NSIG)
			waiting.kept[info.ssi_signo] = info;
		if (end && waiting.ended) {
			waiting.over = 1;
			errno = EINTR;
			return -1;
		}
		waiting.ended |= end;
	}
	return 0;
}

static int wait_for_room(int fd)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = waiting.fd, .events = POLLIN },
		{ .fd = waiting.wake, .events = POLLIN },
	};

	do {
		if (poll(fds, 3, -1) < 0) {
			if (errno != EINTR || output_interrupted())
				return -1;
			continue;	/* a signal for others */
		}
		if (fds[1].revents && keep_signals())
			return -1;
		if (fds[2].revents && !fds[0].revents) {
			errno = EINTR;
			return -1;
		}
	} while (!fds[0].revents);
	return 0;
}

static ssize_t write_some(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	struct stat st;

	if (n >= 0 || errno != ENOTSOCK)
		return n;
	if (len > CHUNK && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		len = CHUNK;
	return write(fd, data, len);
}

size_t output_write(int fd, const void *data, size_t len)
{
	const char *p = data;
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		if (wait_for_room(fd))
			break;
		n = write_some(fd, p + done, len - done);
		if (n < 0 && errno != EAGAIN)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	return done;
}

/**
 * struct stream - a stream's descriptor
 * @err: errno of the first write that failed: closing does not wait once more
 */
static struct stream {
	int	fd;
	int	err;
} stream;

static ssize_t stream_write(void *cookie, const char *data, size_t len)
{
	struct stream *s = cookie;

	if (!s->err && output_write(s->fd, data, len) < len)
		s->err = errno;
	errno = s->err;
	return s->err ? 0 : (ssize_t)len;
}

static int stream_close(void *cookie)
{
	struct stream *s = cookie;

	return s->fd > STDERR_FILENO ? close(s->fd) : 0;
}

FILE *output_stream(int fd)
{
	static const cookie_io_functions_t io = {
		.write = stream_write, .close = stream_close,
	};

	stream.fd = fd;
	return fopencookie(&stream, "w", io);
}
