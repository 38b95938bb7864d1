/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --writers: a process for each group of CPUs, each with a device, PMCs and a log of its
 * own.  The first is the one that was started: it has the command and the signals, tells
 * the others when to start and to end, and prints the sums.
 *
 * Each of the others has a socket to the first.  It gets the number of the first's log
 * when that is set up: so an error that all would have is told once.  It sends a byte when
 * it is ready, and gets one to start.  The end of what the first sends asks for the end;
 * then it sends the budget, if there is one, and the report.  A process that dies at any
 * point ends the recording, because its socket does; it has said why.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/base/numbers.h"
#include "pmcstat.h"

struct report {
	int		status;
	unsigned int	files;
	struct hwpmc_driverstats stats;
};

/* Of the first process: one for each of the others; of these: one, to the first */
static int *sockets;
static pid_t *pids;
static unsigned int nsockets;

static int is_first(const struct options *o)
{
	return !o->writer;
}

/* False: the other side has gone. */
static int send_all(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static int receive_all(int fd, void *data, size_t len)
{
	ssize_t n;

	do
		n = recv(fd, data, len, MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

/* In the new process: ^C is for the first one only. */
static void become(struct options *o, unsigned int i, int fd)
{
	while (nsockets)
		close(sockets[--nsockets]);
	setpgid(0, 0);
	sockets[nsockets++] = fd;
	o->writer = i;
	o->command = NULL;
	o->kallsyms_path = NULL;
	o->text_path = NULL;
	o->limit = 0;
	o->verbose = 0;
	/* the first one has failed, and has said why */
	if (!receive_all(fd, &o->number, sizeof(o->number)))
		exit(EX_SOFTWARE);
}

/* Returns in both processes. */
static void fork_writer(struct options *o, unsigned int i)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die(EX_OSERR, "--writers: %s", strerror(errno));
	fflush(NULL);
	pids[nsockets] = fork();
	if (pids[nsockets] < 0)
		die(EX_OSERR, "--writers: %s", strerror(errno));
	if (!pids[nsockets]) {
		close(pair[0]);
		become(o, i, pair[1]);
		return;
	}
	close(pair[1]);
	sockets[nsockets++] = pair[0];
}

void writers_begin(struct options *o)
{
	static struct cpugroup *groups;		/* o->cpus is one of them */
	unsigned int n, i;
	char msg[256];

	if (!o->writers)
		return;
	if (cpugroups_make("", o->writers, &groups, &n, msg, sizeof(msg)))
		die(EX_USAGE, "%s", msg);
	sockets = calloc(n, sizeof(*sockets));
	pids = calloc(n, sizeof(*pids));
	if (!sockets || !pids)
		die(EX_OSERR, "out of memory");
	o->named = time(NULL);
	if (o->verbose)
		warn_line("%u %s, each of a part of the CPUs", n, plural(n, "log", "logs"));
	for (i = 1; i < n && is_first(o); i++)
		fork_writer(o, i);
	o->cpus = &groups[o->writer];
}

void writers_set_up(const struct options *o, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < nsockets && is_first(o); i++)
		send_all(sockets[i], &number, sizeof(number));
}

/* The other process has said why. */
static void other_has_gone(const struct options *o, unsigned int i)
{
	int status = EX_SOFTWARE;

	if (is_first(o) && waitpid(pids[i], &status, 0) == pids[i])
		status = WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
	exit(status);
}

void writers_meet(const struct options *o)
{
	unsigned int i;
	char byte = 0;

	if (!is_first(o) && !send_all(sockets[0], &byte, 1))
		exit(EX_SOFTWARE);
	for (i = 0; i < nsockets; i++)
		if (!receive_all(sockets[i], &byte, 1))
			other_has_gone(o, i);
	for (i = 0; i < nsockets && is_first(o); i++)
		send_all(sockets[i], &byte, 1);
}

int writers_fd(const struct options *o, unsigned int i)
{
	(void)o;
	return i < nsockets ? sockets[i] : -1;
}

/*
 * The first process sends nothing more but the end.  What one of the others sends before
 * it is told to end is its report.
 */
int writers_look(const struct options *o)
{
	struct pollfd fd = { .events = POLLIN };
	unsigned int i;

	for (i = 0; i < nsockets; i++) {
		fd.fd = writers_fd(o, i);
		if (poll(&fd, 1, 0) > 0)
			return 1;
	}
	return 0;
}

void writers_stop(const struct options *o)
{
	unsigned int i;

	for (i = 0; i < nsockets && is_first(o); i++)
		shutdown(sockets[i], SHUT_WR);
}

static int paid_more(const struct hwpmc_getbudget *a, const struct hwpmc_getbudget *b)
{
	return a->elapsed && (!b->elapsed ||
			      (double)a->spent / (double)a->elapsed >
			      (double)b->spent / (double)b->elapsed);
}

void writers_budget(const struct options *o, struct hwpmc_getbudget *b)
{
	struct hwpmc_getbudget other;
	unsigned int i;

	for (i = 0; i < nsockets; i++)
		if (!is_first(o))
			send_all(sockets[i], b, sizeof(*b));
		else if (receive_all(sockets[i], &other, sizeof(other)) &&
			 paid_more(&other, b))
			*b = other;
}

static void add_account(struct pmclog_account *to, const struct pmclog_account *a)
{
	const uint64_t *from = (const void *)a;
	uint64_t *words = (void *)to;
	size_t i;

	for (i = 0; i < sizeof(*a) / sizeof(*from); i++)
		words[i] += from[i];
}

static void add_stats(struct hwpmc_driverstats *to, const struct hwpmc_driverstats *s)
{
	to->bytes_written += s->bytes_written;
	to->records_written += s->records_written;
	add_account(&to->account, &s->account);
}

/* 0, or an exit status */
static int take_report(unsigned int i, struct hwpmc_driverstats *stats,
		       unsigned int *files)
{
	struct report r;

	if (!receive_all(sockets[i], &r, sizeof(r))) {
		warn_line("--writers: a process has died, its log may be incomplete");
		return EX_SOFTWARE;
	}
	add_stats(stats, &r.stats);
	*files += r.files;
	return r.status;
}

int writers_end(const struct options *o, int status, struct hwpmc_driverstats *stats,
		unsigned int *files)
{
	struct report r = { .status = status, .stats = *stats, .files = *files };
	unsigned int i;
	int other;

	if (!is_first(o)) {
		send_all(sockets[0], &r, sizeof(r));
		return status;
	}
	for (i = 0; i < nsockets; i++) {
		other = take_report(i, stats, files);
		if (!status)
			status = other;
	}
	/* the device is closed by all when this program ends */
	for (i = 0; i < nsockets; i++)
		waitpid(pids[i], NULL, 0);
	return status;
}
