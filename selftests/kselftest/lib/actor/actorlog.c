// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actor.h"
#include "guest.h"

#define READ_MAX	(4U << 20)	/* kept of a log */
#define MAX_READERS	12

#define CUT_FLAGS	(LOG_CUT | LOG_DROPS | LOG_DISCARDS)

/* ------------------------------------------------------------------------
 * Checks
 */

/* Tasks may be unknown, but only if process records were dropped. */
static const char *check(struct log *log, unsigned int flags)
{
	struct log again = { .data = log->data, .len = log->len };
	const char *what = log_check(log, flags);

	if (!what || log_check(&again, flags | LOG_PROC_DROPS) ||
	    !again.proc_dropped)
		return what;
	*log = again;
	return NULL;
}

void actorlog_check(const struct actor *a, struct log *log, bool whole)
{
	const char *what;

	if (!log->len && !whole)
		return;
	what = check(log, whole ? LOG_DROPS : CUT_FLAGS);
	if (what)
		actor_fault(a, what, log);
	a->storm->samples += log->samples;
	*(whole ? &a->storm->whole_logs : &a->storm->cut_logs) += 1;
}

void actorlog_check_cut(const struct actor *a, int fd)
{
	struct log log = { .data = malloc(READ_MAX) };
	ssize_t n = 1;

	while (log.data && log.len < READ_MAX && n > 0) {
		n = pread(fd, log.data + log.len, READ_MAX - log.len, log.len);
		if (n > 0)
			log.len += n;
	}
	if (log.data)
		actorlog_check(a, &log, false);
	free(log.data);
}

/* ------------------------------------------------------------------------
 * Readers
 */
struct log_reader {
	struct actor	actor;		/* whose it is; a copy */
	int		fd;
	enum manner	manner;
	struct rng	rng;
	bool		parses;		/* what comes is the log, byte by byte */
	bool		alone;		/* nobody waits for it */
	uint64_t	end;		/* when it gives up */
	bool		too_much;
	bool		whole;		/* it has read all there was */
	struct log	log;
	pthread_t	thread;
};

static _Atomic int readers;

static bool stopping(const struct log_reader *r)
{
	return r->actor.storm->stop;
}

/* In small steps, so that the end of the storm is seen. */
static void pause_reading(struct log_reader *r, unsigned int ms)
{
	while (ms && !stopping(r)) {
		sleep_ms(ms < 20 ? ms : 20);
		ms -= ms < 20 ? ms : 20;
	}
}

/* The storm is over, and so is the patience with who still writes. */
static bool enough(struct log_reader *r)
{
	if (!stopping(r))
		return false;
	if (!r->end)
		r->end = now_ns() + 2000000000ULL;
	return now_ns() > r->end;
}

/* False at the end of the log, or when it does not come. */
static bool read_some(struct log_reader *r, unsigned char *buf)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	ssize_t n;

	while (!enough(r) && !poll(&p, 1, 50))
		;
	n = p.revents ? read(r->fd, buf, 65536) : 0;
	r->whole = p.revents && !n && !r->too_much;
	if (n <= 0)
		return false;
	r->too_much |= r->log.len + n > READ_MAX;
	if (!r->too_much) {
		memcpy(r->log.data + r->log.len, buf, n);
		r->log.len += n;
	}
	return true;
}

static void read_as_usual(struct log_reader *r, unsigned char *buf)
{
	unsigned int left = r->manner == READS_A_LITTLE ?
			    rng_below(&r->rng, 8) : -1U;

	if (r->manner == READS_LATE)
		pause_reading(r, rng_below(&r->rng, 2500));
	if (r->manner == READS_NOT)
		pause_reading(r, -1U);
	while (left-- && read_some(r, buf))
		if (r->manner == READS_ON_AND_OFF && rng_once(&r->rng, 3))
			pause_reading(r, rng_below(&r->rng, 300));
}

static void *reader_body(void *arg)
{
	unsigned char *buf = malloc(65536);
	struct log_reader *r = arg;

	if (r->alone)
		pthread_detach(pthread_self());
	if (buf && r->log.data)
		read_as_usual(r, buf);
	close(r->fd);
	free(buf);
	if (r->alone) {
		if (r->parses)
			actorlog_check(&r->actor, &r->log, false);
		log_free(&r->log);
		free(r);
	}
	readers--;
	return NULL;
}

static struct log_reader *reader_new(struct actor *a, struct rng *r, int fd,
				     bool parses, bool alone,
				     enum manner manner)
{
	struct log_reader *lr = calloc(1, sizeof(*lr));

	lr->actor = *a;
	lr->fd = fd;
	lr->manner = manner;
	lr->rng = *r;
	lr->parses = parses;
	lr->alone = alone;
	lr->log.data = malloc(READ_MAX);
	readers++;
	if (!pthread_create(&lr->thread, NULL, reader_body, lr))
		return lr;
	readers--;
	close(fd);
	free(lr->log.data);
	free(lr);
	return NULL;
}

void actorlog_wait(void)
{
	while (readers)
		sleep_ms(5);
}

bool actorlog_load(struct actor_log *l, struct log *log)
{
	bool good;

	if (!l->reader) {
		good = log_load(log, l->file);
		close(l->file);
		return good;
	}
	pthread_join(l->reader->thread, NULL);
	*log = l->reader->log;
	good = l->reader->whole;
	free(l->reader);
	return good;
}

/* ------------------------------------------------------------------------
 * Files
 */
static int in_dir(const char *dir, int flags)
{
	return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
}

static int make_file(struct rng *r, struct actor_log *l)
{
	return in_dir(STORM_DIR, rng_once(r, 2) ? O_APPEND : 0);
}

static int make_small(struct rng *r, struct actor_log *l)
{
	return in_dir(STORM_SMALL, rng_once(r, 2) ? O_APPEND : 0);
}

static int make_memfd(struct rng *r, struct actor_log *l)
{
	return memfd_create("log", MFD_CLOEXEC);
}

/* Takes a little, then refuses. */
static int make_sealed(struct rng *r, struct actor_log *l)
{
	int fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (!ftruncate(fd, rng_below(r, 20000)))
		fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
	return fd;
}

/* @ends[1] is the log's; somebody shall read @ends[0]. */
static int paired(struct rng *r, struct actor_log *l, int *ends)
{
	if (rng_once(r, 3))
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	l->file = ends[0];
	l->may_wait = true;
	return ends[1];
}

static int make_pipe(struct rng *r, struct actor_log *l)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	if (rng_once(r, 2))
		fcntl(ends[1], F_SETPIPE_SZ, rng_once(r, 2) ? 4096 : 1 << 20);
	return paired(r, l, ends);
}

static int make_socket(struct rng *r, struct actor_log *l)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -1 :
	       paired(r, l, ends);
}

static int make_datagrams(struct rng *r, struct actor_log *l)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) ? -1 :
	       paired(r, l, ends);
}

static int make_terminal(struct rng *r, struct actor_log *l)
{
	int ends[2] = { posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), -1 };
	char name[64];

	if (ends[0] < 0 || grantpt(ends[0]) || unlockpt(ends[0]) ||
	    ptsname_r(ends[0], name, sizeof(name)) ||
	    (ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		close(ends[0]);
		return -1;
	}
	return paired(r, l, ends);
}

static int make_eventfd(struct rng *r, struct actor_log *l)
{
	return eventfd(0, EFD_CLOEXEC);
}

/* Opened, and no good as a log for some reason. */
static int make_odd(struct rng *r, struct actor_log *l)
{
	static const struct {
		const char *path;
		int flags;
	} odd[] = {
		{ "/dev/null", O_WRONLY },
		{ "/dev/full", O_RDWR },
		{ "/dev/zero", O_WRONLY },
		{ "/dev/hwpmc", O_RDWR },
		{ "/proc/self/exe", O_RDONLY },
		{ "/proc/self/exe", O_PATH },
		{ "/proc/self/comm", O_WRONLY },
		{ "/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY },
		{ "/tmp", O_RDONLY | O_DIRECTORY },
		{ "/tmp", O_PATH },
	};
	unsigned int i = rng_below(r, sizeof(odd) / sizeof(*odd));

	return open(odd[i].path, odd[i].flags | O_CLOEXEC);
}

static int make_none(struct rng *r, struct actor_log *l)
{
	static const int none[] = { -1, -2, 9999, INT32_MAX, INT32_MIN };

	return none[rng_below(r, 5)];
}

static const struct {
	int	(*make)(struct rng *r, struct actor_log *l);
	unsigned int weight;
	bool	keeps;			/* what was written is there later */
	bool	parses;			/* what is read is what was written */
} kinds[] = {
	{ make_file,	  4, true,  true },
	{ make_memfd,	  4, true,  true },
	{ make_small,	  2, true,  true },
	{ make_pipe,	  4, false, true },
	{ make_socket,	  3, false, true },
	{ make_datagrams, 1, false, false },
	{ make_terminal,  1, false, false },
	{ make_sealed,	  1, false, false },
	{ make_eventfd,	  1, false, false },
	{ make_odd,	  2, false, false },
	{ make_none,	  1, false, false },
};

static unsigned int pick_kind(struct rng *r)
{
	unsigned int i, sum = 0;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		sum += kinds[i].weight;
	sum = rng_below(r, sum);
	for (i = 0; sum >= kinds[i].weight; i++)
		sum -= kinds[i].weight;
	return i;
}

void actorlog_any(struct actor *a, struct rng *r, struct actor_log *l,
		  int device)
{
	unsigned int kind = pick_kind(r);
	enum manner manner = rng_below(r, MANNERS);

	*l = (struct actor_log) { .fd = -1, .file = -1 };
	if (device >= 0 && rng_once(r, 20)) {
		l->fd = fcntl(device, F_DUPFD_CLOEXEC, 0);
		return;
	}
	l->fd = kinds[kind].make(r, l);
	if (kinds[kind].keeps && l->fd >= 0)
		l->file = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	if (!l->may_wait)
		return;
	if (readers < MAX_READERS)
		reader_new(a, r, l->file, kinds[kind].parses, true, manner);
	else
		close(l->file);		/* the log's end is a broken one then */
	l->file = -1;
}

void actorlog_good(struct actor *a, struct rng *r, struct actor_log *l)
{
	*l = (struct actor_log) { .fd = -1, .file = -1 };
	if (rng_once(r, 2) || readers >= MAX_READERS) {
		l->fd = memfd_create("log", MFD_CLOEXEC);
		l->file = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
		return;
	}
	l->fd = rng_once(r, 2) ? make_pipe(r, l) : make_socket(r, l);
	l->reader = reader_new(a, r, l->file, true, false,
			       rng_once(r, 2) ? READS : READS_ON_AND_OFF);
	l->file = -1;
}

bool actorlog_stream(struct actor *a, struct rng *r, struct actor_log *l,
		     int device)
{
	*l = (struct actor_log) { .fd = -1, .file = -1 };
	if (readers >= MAX_READERS)
		return false;
	l->reader = reader_new(a, r, fcntl(device, F_DUPFD_CLOEXEC, 0), true,
			       false, rng_once(r, 2) ? READS :
						       READS_ON_AND_OFF);
	return l->reader;
}
