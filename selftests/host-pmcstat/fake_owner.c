/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handle's half of libpmc without a device, so that pmcstat can be run
 * anywhere.  What it should do is told by environment variables:
 *	FAKE_FAIL=NAME:ERRNO	the operation NAME fails
 *	FAKE_BREAK=MS		the log breaks (ENOSPC) after so long
 *	FAKE_TRACE=FILE		operations are noted there
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pmc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct pmc_owner {
	int	fd;		/* writing end of a pipe: POLLERR without reader */
	int	reader;
	int	log;
	int	broken;
	unsigned int nids;
	uint64_t count[HWPMC_NROW];
	struct timespec started;
};

static struct pmc_owner *the_owner;

static int step(const char *name, long arg)
{
	const char *fail = getenv("FAKE_FAIL"), *trace = getenv("FAKE_TRACE");
	size_t len = strlen(name);
	FILE *f;

	f = trace ? fopen(trace, "ae") : NULL;
	if (f) {
		fprintf(f, "%s %ld\n", name, arg);
		fclose(f);
	}
	if (!fail || strncmp(fail, name, len) || fail[len] != ':')
		return 0;
	errno = atoi(fail + len + 1);
	return -1;
}

static void break_log(union sigval v)
{
	(void)v;
	the_owner->broken = ENOSPC;
	close(the_owner->reader);
}

static void break_later(const char *ms)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD };
	struct itimerspec t = { .it_value.tv_nsec = atol(ms) * 1000000 };
	timer_t timer;

	ev.sigev_notify_function = break_log;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) ||
	    timer_settime(timer, 0, &t, NULL))
		abort();
}

struct pmc_owner *pmc_owner_open(unsigned int flags)
{
	int pair[2];

	if (flags || step("open", 0) || pipe2(pair, O_CLOEXEC | O_NONBLOCK))
		return NULL;
	the_owner = calloc(1, sizeof(*the_owner));
	the_owner->reader = pair[0];
	the_owner->fd = pair[1];
	the_owner->log = -1;
	return the_owner;
}

void pmc_owner_close(struct pmc_owner *o)
{
	step("close", 0);
	close(o->fd);
	free(o);
}

int pmc_owner_fd(const struct pmc_owner *o)
{
	return o->fd;
}

int pmc_owner_allocate_event(struct pmc_owner *o,
			     const struct pmc_event_desc *desc,
			     struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	if (step("allocate", desc->config))
		return -1;
	if (opts->count && opts->count < 1000)
		opts->count = 1000;
	*id = o->nids++;
	return 0;
}

int pmc_owner_start(struct pmc_owner *o, pmc_id_t id)
{
	(void)o;
	return step("start", id);
}

int pmc_owner_stop(struct pmc_owner *o, pmc_id_t id)
{
	(void)o;
	return step("stop", id);
}

/* Each reading is 100 more than the one before. */
int pmc_owner_read(struct pmc_owner *o, pmc_id_t id, int cpu,
		   struct pmc_reading *r)
{
	if (step("read", cpu))
		return -1;
	o->count[id] += 100;
	*r = (struct pmc_reading){ o->count[id], 1000000, 1000000 };
	return 0;
}

int pmc_owner_configure_logfile(struct pmc_owner *o, int fd)
{
	if (step("configure", fd))
		return -1;
	if (getenv("FAKE_BREAK"))
		break_later(getenv("FAKE_BREAK"));
	o->log = fd;
	return write(fd, "begin\n", 6) == 6 ? 0 : -1;
}

int pmc_owner_write_records(struct pmc_owner *o, const void *records,
			    size_t len)
{
	(void)o;
	(void)records;
	return step("records", (long)!!len);
}

int pmc_owner_flush_logfile(struct pmc_owner *o)
{
	if (step("flush", 0))
		return -1;
	errno = o->broken;
	return o->broken ? -1 : 0;
}

int pmc_owner_close_logfile(struct pmc_owner *o)
{
	if (step("closelog", 0))
		return -1;
	return write(o->log, "end\n", 4) == 4 ? 0 : -1;
}

int pmc_owner_stats(struct pmc_owner *o, uint32_t scope,
		    struct hwpmc_driverstats *s, size_t size)
{
	if (step("stats", scope))
		return -1;
	memset(s, 0, size);
	s->bytes_written = 12345;
	s->records_written = 600;
	s->log_errno = (uint32_t)o->broken;
	s->account.written = 500;
	s->account.dropped[PMCLOG_DROP_FULL] = 7;
	s->account.dropped[PMCLOG_DROP_NESTED] = 2;
	s->account.throttled = 3;
	return 0;
}
