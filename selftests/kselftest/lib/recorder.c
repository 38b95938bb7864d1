// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "module.h"
#include "recorder.h"

#define STEP_MS		20
#define STEPS		3000

static void *reader_body(void *arg)
{
	struct reader *r = arg;
	size_t size = 64 << 20;
	ssize_t n;

	r->log.data = malloc(size);
	while ((n = read(r->fd, r->log.data + r->log.len, r->chunk)) > 0 &&
	       r->log.len + 2 * r->chunk < size) {
		__atomic_add_fetch(&r->log.len, n, __ATOMIC_RELEASE);
		sleep_ms(__atomic_load_n(&r->pause_ms, __ATOMIC_RELAXED));
	}
	return NULL;
}

void reader_begin(struct reader *r, int fd, size_t chunk,
		  unsigned int pause_ms)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->chunk = chunk;
	r->pause_ms = pause_ms;
	pthread_create(&r->thread, NULL, reader_body, r);
}

void reader_slower(struct reader *r)
{
	__atomic_store_n(&r->pause_ms, 2 * r->pause_ms, __ATOMIC_RELAXED);
}

bool reader_has(struct reader *r, size_t bytes)
{
	return WAIT_UNTIL(__atomic_load_n(&r->log.len, __ATOMIC_ACQUIRE) >= bytes, STEPS * STEP_MS);
}

void reader_end(struct reader *r)
{
	pthread_join(r->thread, NULL);
}

pid_t reader_process(int fd)
{
	pid_t pid = fork_bound();
	char buf[4096];
	int other;

	if (pid) {
		close(fd);
		return pid;
	}
	/* the devices, and the other end of @fd, are not to be kept open */
	for (other = 3; other < 256; other++)
		if (other != fd)
			close(other);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	_exit(0);
}

static const char *recorder_comm(void)
{
	static char comm[32];

	snprintf(comm, sizeof(comm), "hwpmc/%d", getpid());
	return comm;
}

uint64_t task_ran(pid_t tid)
{
	char path[40], line[80];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	return read_line(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

pid_t recorder_pid(void)
{
	return find_comm(recorder_comm());
}

unsigned int recorder_count(void)
{
	return count_comm(recorder_comm());
}

bool recorders_are(int users)
{
	return WAIT_UNTIL(module_users() <= users, STEPS * STEP_MS);
}

short dev_events(int dev)
{
	struct pollfd p = { .fd = dev };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

static void ignore(int sig)
{
}

void alarm_every(unsigned int ms, void (*handler)(int sig), int flags)
{
	struct sigaction sa = { .sa_handler = handler ?: ignore,
				.sa_flags = flags };
	struct itimerval it = {
		.it_interval = { .tv_usec = ms * 1000 },
		.it_value = { .tv_usec = ms * 1000 },
	};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

int small_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	return 0;
}

int pipe_fill(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	char junk[512] = {};
	ssize_t n;

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while ((n = write(fd, junk, sizeof(junk))) > 0)
		;
	fcntl(fd, F_SETFL, flags);
	return n < 0 && errno == EAGAIN ? 0 : -1;
}

bool wait_error(int dev)
{
	return WAIT_UNTIL(dev_events(dev) & POLLERR, STEPS * STEP_MS);
}

bool wait_committed(int dev, uint64_t n)
{
	struct hwpmc_driverstats st;
	uint64_t from = 0;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
			return false;
		if (!i)
			from = st.account.committed;
		else if (st.account.committed - from >= n)
			return true;
		sleep_ms(STEP_MS);
	}
	return false;
}

bool wait_log(int dev, int file, bool (*enough)(struct log *log, void *arg),
	      void *arg)
{
	uint64_t start, end = now_ns() + STEPS * STEP_MS * 1000000ULL;
	unsigned int pause_ms = 3 * STEP_MS;
	struct log log = {};
	bool is;

	do {
		sleep_ms(pause_ms);
		start = now_ns();
		is = !dev_flush(dev) && log_load(&log, file) &&
		     enough(&log, arg);
		log_free(&log);
		/* the load is what is to be sampled, not this */
		pause_ms = STEP_MS + 2 * ((now_ns() - start) / 1000000);
	} while (!is && start < end);
	return is;
}

struct awaited {
	const struct sample_wanted *w;
	unsigned int	n;
};

static bool has_samples(struct log *log, void *arg)
{
	const struct awaited *a = arg;

	return log_samples_of(log, a->w) >= a->n;
}

bool wait_samples_of(int dev, int file, unsigned int n,
		     const struct sample_wanted *w)
{
	struct awaited a = { w, n };

	return wait_log(dev, file, has_samples, &a);
}

/* Samples come, but for half a second nothing has been written. */
bool wait_stalled(int dev)
{
	struct hwpmc_driverstats st;
	uint64_t bytes = 0;
	int i, same = 0;

	for (i = 0; i < STEPS && same < 500 / STEP_MS; i++) {
		if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
			return false;
		same = bytes && bytes == st.bytes_written ? same + 1 : 0;
		bytes = st.bytes_written;
		sleep_ms(STEP_MS);
	}
	return i < STEPS && st.account.in_rings;
}

unsigned int close_ms(int dev)
{
	uint64_t start = now_ns();

	close(dev);
	return (now_ns() - start) / 1000000;
}

int bystander_begin(struct bystander *b)
{
	int err;

	b->dev = dev_open();
	if (b->dev < 0)
		return b->dev;
	b->file = temp_file();
	err = dev_configure(b->dev, b->file);
	return err ? err : dev_run(b->dev, pmc_clock(500), NULL);
}

bool bystander_goes_on(struct bystander *b)
{
	return wait_committed(b->dev, 20) && !dev_flush(b->dev);
}

const char *bystander_end(struct bystander *b, struct log *log)
{
	const char *fault = NULL;

	memset(log, 0, sizeof(*log));
	if (dev_closelog(b->dev) || !log_load(log, b->file))
		fault = "no log";
	close(b->dev);
	close(b->file);
	if (!fault)
		fault = log_check(log, 0);
	if (!fault && log->samples < 20)	/* bystander_goes_on() saw them */
		fault = "hardly any samples";
	return fault;
}
