/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel writes into a pipe.  A thread reads the log from it, compresses it
 * and writes it to its destination.  So the kernel waits for compression only
 * when the pipe and its own rings are full.
 *
 * After a failed write the thread closes its end of the pipe.  The kernel then
 * gets EPIPE, which ends the recording as a full disk would; @error has the cause.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader/base/zwrite.h"
#include "output/compress.h"
#include "pmcstat.h"

#define PIPE_SIZE	(1 << 20)
#define READ_SIZE	(128U << 10)
#define TAIL_SIZE	(1U << 20)	/* of the log; twice that is stored */
#define FLUSH_NS	500000000ULL	/* longest delay for a reader */
#define NS_PER_MS	1000000
#define END		(1ULL << 32)

/*
 * @wanted: an eventfd: requests a flush of the pipe's contents (1), or says that
 *	    no more will follow (END)
 * @done:   an eventfd: the request is done, or the thread has ended with an error
 * @since:  when the first byte not yet flushed arrived; 0: all is flushed
 * @error:  error of the thread; read after @done
 */
struct compress {
	int		in;
	int		out;
	int		wanted;
	int		done;
	struct zwrite	*z;
	pthread_t	thread;
	uint64_t	since;
	int		error;
	int		joined;
	size_t		ntail;
	unsigned char	tail[2 * TAIL_SIZE];
	unsigned char	buf[READ_SIZE];
};

static void keep_tail(struct compress *c, size_t n)
{
	if (n > sizeof(c->tail) - c->ntail) {
		memmove(c->tail, c->tail + c->ntail - TAIL_SIZE, TAIL_SIZE);
		c->ntail = TAIL_SIZE;
	}
	memcpy(c->tail + c->ntail, c->buf, n);
	c->ntail += n;
}

/* 0, an errno, or -1 at the end of the log */
static int take(struct compress *c)
{
	ssize_t n;

	do {
		n = read(c->in, c->buf, sizeof(c->buf));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? errno : -1;
	keep_tail(c, (size_t)n);
	if (!c->since)
		c->since = now_ns();
	return zwrite_bytes(c->z, c->buf, (size_t)n);
}

static int flush_in_time(struct compress *c)
{
	if (!c->since || now_ns() - c->since < FLUSH_NS)
		return 0;
	c->since = 0;
	return zwrite_flush(c->z);
}

static int timeout(const struct compress *c)
{
	uint64_t now = now_ns(), until = c->since + FLUSH_NS;

	if (!c->since)
		return -1;
	return until > now ? (int)((until - now) / NS_PER_MS) + 1 : 0;
}

static void tell(int fd, uint64_t what)
{
	if (write(fd, &what, sizeof(what)) < 0)
		die(EX_OSERR, "eventfd: %s", strerror(errno));
}

/* Handles a request when the pipe is empty.  Returns as take(). */
static int obey(struct compress *c)
{
	struct pollfd more = { .fd = c->in, .events = POLLIN };
	uint64_t what = 0;
	int err;

	/* poll(2) looked there first: what was written since comes before the request */
	if (poll(&more, 1, 0) > 0)
		return take(c);
	if (read(c->wanted, &what, sizeof(what)) < 0)
		return errno;
	if (what & END)
		return -1;
	c->since = 0;
	err = zwrite_flush(c->z);
	if (!err)
		tell(c->done, 1);
	return err;
}

static int compress_all(struct compress *c)
{
	struct pollfd fds[] = {
		{ .fd = c->in, .events = POLLIN },
		{ .fd = c->wanted, .events = POLLIN },
	};
	int err = 0;

	while (!err) {
		if (poll(fds, 2, timeout(c)) < 0) {
			err = errno == EINTR ? 0 : errno;
			continue;
		}
		if (fds[0].revents)
			err = take(c);
		else if (fds[1].revents)
			err = obey(c);
		if (!err)
			err = flush_in_time(c);
	}
	return err < 0 ? zwrite_end(c->z) : err;
}

static void *run(void *arg)
{
	struct compress *c = arg;

	c->error = compress_all(c);
	close(c->in);
	tell(c->done, END);
	return NULL;
}

/* All signals are blocked in the thread: the main thread waits for them. */
static int start_thread(struct compress *c)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

void compress_check(void)
{
	struct zwrite *z = zwrite_new(-1);

	if (!z && errno == ENOSYS)
		die(EX_UNAVAILABLE, "-Z: this pmcstat was built without zstd");
	zwrite_free(z);
}

/* Of one that has not begun; errno stays. */
static void give_up(struct compress *c, const int *ends)
{
	int err = errno;

	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
	if (c->wanted >= 0)
		close(c->wanted);
	if (c->done >= 0)
		close(c->done);
	zwrite_free(c->z);
	free(c);
	errno = err;
}

struct compress *compress_start(int out, int *in)
{
	struct compress *c = calloc(1, sizeof(*c));
	int ends[2] = { -1, -1 };

	if (!c)
		return NULL;
	c->out = out;
	c->z = zwrite_new(out);
	c->wanted = eventfd(0, EFD_CLOEXEC);
	c->done = eventfd(0, EFD_CLOEXEC);
	if (!c->z || c->wanted < 0 || c->done < 0 || pipe2(ends, O_CLOEXEC)) {
		give_up(c, ends);
		return NULL;
	}
	/* a smaller pipe is only slower */
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) < 0)
		errno = 0;
	c->in = ends[0];
	errno = start_thread(c);
	if (errno) {
		give_up(c, ends);
		return NULL;
	}
	*in = ends[1];
	return c;
}

int compress_out(const struct compress *c)
{
	return c->out;
}

/* 0, or EINTR: a signal arrived before the request was done */
static int ask(struct compress *c, uint64_t what)
{
	struct pollfd pfd = { .fd = c->done, .events = POLLIN };

	if (c->joined)
		return 0;
	tell(c->wanted, what);
	if (poll(&pfd, 1, -1) < 0 || read(c->done, &what, sizeof(what)) < 0)
		return errno;
	if (what & END) {
		pthread_join(c->thread, NULL);
		c->joined = 1;
	}
	return 0;
}

int compress_sync(struct compress *c)
{
	int err = ask(c, 1);

	return err ? err : c->joined ? c->error : 0;
}

int compress_finish(struct compress *c)
{
	int err = ask(c, END);

	if (err)
		return err;
	/* the peer sees the end of the log before this program ends */
	if (!c->error)
		shutdown(c->out, SHUT_WR);
	return c->error;
}

int compress_fd(const struct compress *c)
{
	return c->joined ? -1 : c->done;
}

int compress_failed(const struct compress *c)
{
	struct pollfd pfd = { .fd = c->done, .events = POLLIN };

	return c->joined ? c->error : poll(&pfd, 1, 0) > 0;
}

int compress_is_whole(const struct compress *c)
{
	return c->joined && !c->error;
}

uint64_t compress_total(const struct compress *c)
{
	return c->joined ? zwrite_total(c->z) : 0;
}

const unsigned char *compress_tail(const struct compress *c, size_t *len)
{
	size_t n = c->ntail < TAIL_SIZE ? c->ntail : TAIL_SIZE;

	*len = n & ~(size_t)3;
	return c->tail + c->ntail - *len;
}

void compress_free(struct compress *c)
{
	if (!c || !c->joined)
		return;		/* the thread may still run */
	close(c->wanted);
	close(c->done);
	close(c->out);
	zwrite_free(c->z);
	free(c);
}
