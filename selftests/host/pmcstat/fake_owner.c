/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handle's half of libpmc without a device, so that pmcstat can be run
 * anywhere.  What it should do is told by environment variables:
 *	FAKE_FAIL=NAME:ERRNO[:N]	the operation NAME fails; the first N times
 *	FAKE_WAIT=NAME:FILE	the operation NAME waits until the file is there
 *	FAKE_BREAK=MS		the log breaks (ENOSPC) after so long
 *	FAKE_LOST=MS		after so long the last target has gone
 *	FAKE_GONE=PID		there is no such process
 *	FAKE_FOREIGN=PID	this one is not to be attached to
 *	FAKE_USER=1		there is no privilege: user mode only
 *	FAKE_RUNNING=PERCENT	of the time events have a counter
 *	FAKE_TRACE=FILE		operations are noted there
 *	FAKE_LOG=FILE		a log, to be written as ours
 *	FAKE_RECORDS=1		and records that are sent, into it and what follows
 *	FAKE_TRIGGER=MS		after so long an armed snapshot is taken
 *	FAKE_FIRED=cut|whole	its trigger has fired: a flush begins it, the next
 *				ends it, and that is what disarming leaves of it
 *	FAKE_PMC=ID		the first PMC's: the log's
 *	FAKE_PRELOAD=MS		unwind tables of what runs are there after so long;
 *				files of a command are noted as they are found
 *	FAKE_REFUSED=1		there is no room for unwind tables
 *	FAKE_CLOSE=NAME		closing a file of this name, or whose name begins so, fails
 *				(EDQUOT)
 *	FAKE_SCALE=MILLIONTHS	of the rates are in force when a budget is asked for
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pmc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abort.h"
#include "libpmc_command.h"
#include "libpmc_unwinder.h"

struct pmc_owner {
	int	fd;		/* POLLHUP and SIGIO when @peer is closed */
	int	peer;
	int	log;
	int	broken;
	unsigned int nids;
	int armed;		/* a file for a snapshot, or -1 */
	int snapped;		/* errno of that, -1: none */
	int fired;		/* FAKE_FIRED: 1, 2 when it is being written */
	int narmed;
	void *records;		/* all that were sent */
	size_t nrecords;
	uint64_t count[HWPMC_NROW];
	struct timespec started;
};

static struct pmc_owner *the_owner;

/*
 * Timers of the process run in threads of their own, and may come when the owner has been
 * closed.  Held by them, by the close, and for what is armed.
 */
static pthread_mutex_t timers = PTHREAD_MUTEX_INITIALIZER;
static int closed;

/* What follows "NAME:" in the variable, or NULL */
static const char *said_of(const char *name, const char *variable)
{
	const char *value = getenv(variable);
	size_t len = strlen(name);

	return value && !strncmp(value, name, len) && value[len] == ':' ?
	       value + len + 1 : NULL;
}

static int step(const char *name, long arg)
{
	const char *fail = said_of(name, "FAKE_FAIL"), *trace = getenv("FAKE_TRACE");
	const char *file = said_of(name, "FAKE_WAIT"), *times;
	static int failed;
	FILE *f;

	f = trace ? fopen(trace, "ae") : NULL;
	if (f) {
		fprintf(f, "%s %ld\n", name, arg);
		fclose(f);
	}
	while (file && access(file, F_OK))
		usleep(20000);
	if (!fail)
		return 0;
	times = strchr(fail, ':');
	if (times && failed++ >= atoi(times + 1))
		return 0;
	errno = atoi(fail);
	return -1;
}

/* In the place of the C library's */
int close(int fd)
{
	const char *name = getenv("FAKE_CLOSE"), *slash;
	char link[32], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = name ? readlink(link, path, sizeof(path) - 1) : -1;
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (syscall(SYS_close, fd))
		return -1;
	if (!slash || strncmp(slash + 1, name, strlen(name)))
		return 0;
	errno = EDQUOT;
	return -1;
}

static void break_log(union sigval v)
{
	pthread_mutex_lock(&timers);
	if (!closed) {
		the_owner->broken = ENOSPC;
		/* and POLLERR, when not all has been read from it */
		abort_if(write(the_owner->fd, "", 1) != 1);
		close(the_owner->peer);
	}
	pthread_mutex_unlock(&timers);
}

struct pmc_unwinder {
	int	unused;
};

struct pmc_unwinder *pmc_unwinder_begin(struct pmc_owner *o)
{
	static struct pmc_unwinder u;

	return step("unwinder", 0) ? NULL : &u;
}

int pmc_unwinder_refused(const struct pmc_unwinder *u)
{
	return getenv("FAKE_REFUSED") ? EDQUOT : 0;
}

void pmc_unwinder_stop(struct pmc_unwinder *u)
{
	step("unwinder stop", 0);
}

void pmc_unwinder_end(struct pmc_unwinder *u)
{
	if (u)
		step("unwound", 0);
}

static void lose_targets(union sigval v)
{
	pthread_mutex_lock(&timers);
	if (!closed)
		close(the_owner->peer);
	pthread_mutex_unlock(&timers);
}

static void later(const char *ms, void (*what)(union sigval))
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD };
	struct itimerspec t = { .it_value.tv_nsec = ms ? atol(ms) * 1000000 : 0 };
	timer_t timer;

	if (!ms)
		return;
	ev.sigev_notify_function = what;
	abort_if(timer_create(CLOCK_MONOTONIC, &ev, &timer) ||
		 timer_settime(timer, 0, &t, NULL));
}

struct pmc_owner *pmc_owner_open(unsigned int flags)
{
	int pair[2];

	if (flags || step("open", 0) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				 0, pair))
		return NULL;
	the_owner = calloc(1, sizeof(*the_owner));
	the_owner->peer = pair[0];
	the_owner->fd = pair[1];
	the_owner->log = -1;
	the_owner->armed = -1;
	the_owner->snapped = -1;
	return the_owner;
}

void pmc_owner_close(struct pmc_owner *o)
{
	char byte;

	step("close", 0);
	pthread_mutex_lock(&timers);
	closed = 1;
	pthread_mutex_unlock(&timers);
	close(o->fd);
	/* nothing else holds it: what PMCs used could not be removed */
	abort_if(recv(o->peer, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	free(o->records);
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
	const char *first = getenv("FAKE_PMC");

	if (step("allocate", desc->config))
		return -1;
	if (getenv("FAKE_USER") && (desc->caps & PMC_CAP_SYSTEM)) {
		errno = EPERM;
		return -1;
	}
	step(desc->name, desc->caps);
	if (opts->count && opts->count < 1000)
		opts->count = 1000;
	*id = o->nids++ + (first ? (pmc_id_t)strtoul(first, NULL, 0) : 0);
	return 0;
}

static int is_named(const char *variable, pid_t pid)
{
	return getenv(variable) && atoi(getenv(variable)) == pid;
}

int pmc_owner_attach(struct pmc_owner *o, pmc_id_t id, pid_t pid)
{
	if (step("attach", pid))
		return -1;
	errno = is_named("FAKE_GONE", pid) ? ESRCH :
		is_named("FAKE_FOREIGN", pid) ? EPERM : 0;
	return errno ? -1 : 0;
}

int pmc_owner_start(struct pmc_owner *o, pmc_id_t id)
{
	if (step("start", id))
		return -1;
	if (!id)
		later(getenv("FAKE_LOST"), lose_targets);
	return 0;
}

static uint32_t budget;

int pmc_owner_set_budget(struct pmc_owner *o, uint32_t ppm)
{
	budget = ppm;
	return step("setbudget", ppm);
}

/* Its argument in the trace: how many CPUs */
int pmc_owner_set_cpus(struct pmc_owner *o, const void *mask, size_t len)
{
	const unsigned char *byte = mask;
	long n = 0;

	for (; len; len--, byte++)
		n += __builtin_popcount(*byte);
	return step("cpus", n);
}

/* CPU 3 has paid 12.5 ms of 2 s. */
int pmc_owner_budget(struct pmc_owner *o, struct hwpmc_getbudget *b)
{
	const char *scale = getenv("FAKE_SCALE");

	if (step("getbudget", 0))
		return -1;
	*b = (struct hwpmc_getbudget){
		.ppm = budget, .cpu = 3, .spent = 12500000,
		.scale = scale ? (uint32_t)atoi(scale) : 1000000,
		.elapsed = budget ? 2000000000 : 0,
	};
	return 0;
}

/* FAKE_FAIL of one of those that are started is its failure, too. */
int pmc_owner_record(struct pmc_owner *o, int on, uint32_t *npmc,
		     uint64_t *skew)
{
	pmc_id_t first = getenv("FAKE_PMC") ?
			 (pmc_id_t)strtoul(getenv("FAKE_PMC"), NULL, 0) : 0;
	unsigned int i;

	if (step("record", on))
		return -1;
	for (i = 0; i < o->nids; i++)
		if (on ? pmc_owner_start(o, first + i) :
			 pmc_owner_stop(o, first + i))
			return -1;
	if (npmc)
		*npmc = o->nids;
	if (skew)
		*skew = 4711;
	return 0;
}

int pmc_owner_filter(struct pmc_owner *o, pmc_id_t id,
		     const struct hwpmc_condition *c, size_t n)
{
	if (step("filter", id))
		return -1;
	for (; n--; c++) {
		step(c->op == HWPMC_COND_EQ ? "is" : "is not", c->what);
		if (c->what == HWPMC_COND_CGROUP ?
		    fcntl((int)c->value, F_GETFD) < 0 :
		    step(c->comm, c->value))
			return -1;
	}
	return 0;
}

int pmc_owner_stop(struct pmc_owner *o, pmc_id_t id)
{
	return step("stop", id);
}

/* Each reading is 100 and a millisecond more than the one before. */
int pmc_owner_read(struct pmc_owner *o, pmc_id_t id, int cpu,
		   struct pmc_reading *r)
{
	const char *running = getenv("FAKE_RUNNING");

	if (step("read", cpu))
		return -1;
	id %= HWPMC_NROW;
	o->count[id] += 100;
	r->value = o->count[id];
	r->enabled = o->count[id] * 10000;
	r->running = r->enabled / 100 * (running ? strtoul(running, NULL, 10) :
					 100);
	return 0;
}

/*
 * The log is FAKE_LOG's file, of which the CLOSELOG is written at the end, or
 * a line at the start and one at the end.
 */
static int write_log(const struct pmc_owner *o, int end)
{
	const char *path = getenv("FAKE_LOG"), *line = end ? "end\n" : "begin\n";
	long tail = (long)sizeof(struct pmclog_closelog), left, n;
	char buf[4096];
	FILE *f;

	if (!path)
		return dprintf(o->log, "%s", line) > 0 ? 0 : -1;
	f = fopen(path, "re");
	abort_if(!f || fseek(f, -tail, SEEK_END));
	left = end ? tail : ftell(f);
	if (!end)
		rewind(f);
	for (; left > 0; left -= n) {
		n = left < (long)sizeof(buf) ? left : (long)sizeof(buf);
		abort_if(fread(buf, 1, (size_t)n, f) != (size_t)n);
		if (write(o->log, buf, (size_t)n) != n)
			break;
	}
	fclose(f);
	return left ? -1 : 0;
}

int pmc_owner_configure_logfile_flags(struct pmc_owner *o, int fd,
				      uint32_t flags)
{
	if (flags && step("packed", flags))
		return -1;
	if (step("configure", fd))
		return -1;
	later(getenv("FAKE_BREAK"), break_log);
	o->log = dup(fd);
	return write_log(o, 0);
}

/* At the time at which FAKE_LOG ends. */
static int add_records(const struct pmc_owner *o, const void *records,
		       size_t len)
{
	unsigned char *copy = malloc(len);
	FILE *f = fopen(getenv("FAKE_LOG"), "re");
	struct pmclog_hdr h, end;
	size_t at, n;

	abort_if(!f || fseek(f, -(long)sizeof(struct pmclog_closelog), SEEK_END) ||
		 fread(&end, sizeof(end), 1, f) != 1);
	fclose(f);
	memcpy(copy, records, len);
	for (at = 0; at < len; at += PMCLOG_HEADER_LEN(h.header)) {
		memcpy(&h, copy + at, sizeof(h));
		h.tsc = end.tsc;
		memcpy(copy + at, &h, sizeof(h));
	}
	n = (size_t)write(o->log, copy, len);
	free(copy);
	return n == len ? 0 : -1;
}

static void keep_records(struct pmc_owner *o, const void *records, size_t len)
{
	o->records = realloc(o->records, o->nrecords + len);
	memcpy((char *)o->records + o->nrecords, records, len);
	o->nrecords += len;
}

int pmc_owner_write_records(struct pmc_owner *o, const void *records,
			    size_t len)
{
	if (step("records", (long)!!len))
		return -1;
	if (!getenv("FAKE_RECORDS"))
		return 0;
	keep_records(o, records, len);
	return add_records(o, records, len);
}

/* ------------------------------------------------------------------------
 * The flight recorder: a snapshot is SNAPSHOT's record, or FAKE_FAIL
 */
static int put_begin(int fd)
{
	struct pmclog_initialize begin = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_INITIALIZE, sizeof(begin)),
		.h.tsc = 1000000000, .version = PMCLOG_VERSION,
		.cputype = PMCLOG_CPUTYPE_GENERIC, .tsc_freq = 1000000000,
	};

	return write(fd, &begin, sizeof(begin)) == (ssize_t)sizeof(begin) ?
	       0 : errno;
}

static int put_end(int fd, uint32_t cause, int status)
{
	struct pmclog_ext_snapshot s = {
		.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(s)),
		.e.h.tsc = 1000000000, .e.cookie = PMCLOG_EXT_COOKIE,
		.e.subtype = PMCLOG_EXT_SNAPSHOT, .cause = cause, .pmcid = 1,
		.pid = 77, .status = status, .since = 1000000000,
		.when = 3500000000,
	};

	return write(fd, &s, sizeof(s)) == (ssize_t)sizeof(s) ? 0 : errno;
}

static int put_snapshot(int fd, uint32_t cause, int status)
{
	int err = put_begin(fd);

	return err ? err : put_end(fd, cause, status);
}

int pmc_owner_flight(struct pmc_owner *o, uint64_t size, uint32_t flags)
{
	return step(flags ? "packed flight" : "flight", (long)size);
}

int pmc_owner_exit_trigger(struct pmc_owner *o, uint32_t what, int status,
			   pid_t pid)
{
	return step(what == HWPMC_EXIT_STATUS ? "exit with" : "exit", status);
}

/* timers */
static void has_written(struct pmc_owner *o, int err)
{
	o->snapped = err;
	close(o->armed);
	o->armed = -1;
	o->fired = 0;
	/* POLLPRI */
	abort_if(send(o->peer, "!", 1, MSG_OOB) != 1);
}

static void pull_trigger(union sigval v)
{
	uint32_t cause = getenv("FAKE_CAUSE") ?
			 (uint32_t)atoi(getenv("FAKE_CAUSE")) :
			 PMCLOG_SNAPSHOT_PMC;

	pthread_mutex_lock(&timers);
	if (!closed && the_owner->armed >= 0)
		has_written(the_owner, put_snapshot(the_owner->armed, cause,
						    3 << 8));
	pthread_mutex_unlock(&timers);
}

/* The thread gets a step further with what has fired.  timers */
static void write_fired(struct pmc_owner *o)
{
	if (o->fired == 1 && !put_begin(o->armed))
		o->fired = 2;
	else if (o->fired == 2)
		has_written(o, put_end(o->armed, PMCLOG_SNAPSHOT_EXIT, 3 << 8));
}

/* What is being written is broken off, or has just been.  timers */
static void break_off(struct pmc_owner *o)
{
	if (strcmp(getenv("FAKE_FIRED"), "cut")) {
		write_fired(o);
		return;
	}
	close(o->armed);
	o->armed = -1;
	o->fired = 0;
	o->snapped = EINTR;
}

/* POLLPRI is over. */
static void no_news(const struct pmc_owner *o)
{
	char byte;

	if (recv(o->fd, &byte, 1, MSG_OOB) < 0)
		errno = 0;
}

/* timers */
static int disarm(struct pmc_owner *o)
{
	if (o->fired == 2)
		break_off(o);
	no_news(o);
	if (o->armed >= 0)
		close(o->armed);
	errno = o->armed >= 0 ? 0 : o->snapped < 0 ? EINVAL : o->snapped;
	o->armed = -1;
	o->snapped = -1;
	return errno ? -1 : 0;
}

/* timers */
static int arm(struct pmc_owner *o, int fd)
{
	no_news(o);
	o->armed = dup(fd);
	o->fired = getenv("FAKE_FIRED") && !o->narmed++;
	later(getenv("FAKE_TRIGGER"), pull_trigger);
	return 0;
}

int pmc_owner_snapshot(struct pmc_owner *o, int fd, uint32_t flags)
{
	int err;

	if (step(fd < 0 ? "disarm" : flags ? "arm" : "snapshot", 0))
		return -1;
	if (fd >= 0 && !flags) {
		no_news(o);
		errno = put_snapshot(fd, PMCLOG_SNAPSHOT_ASKED, 0);
		return errno ? -1 : 0;
	}
	pthread_mutex_lock(&timers);
	err = fd < 0 ? disarm(o) : arm(o, fd);
	pthread_mutex_unlock(&timers);
	return err;
}

/* One log ends, another begins. */
int pmc_owner_rotate_logfile_flags(struct pmc_owner *o, int fd,
				   uint32_t flags)
{
	if (step("rotate", flags) || write_log(o, 1))
		return -1;
	close(o->log);
	o->log = dup(fd);
	if (write_log(o, 0))
		return -1;
	return o->nrecords ? add_records(o, o->records, o->nrecords) : 0;
}

int pmc_owner_flush_logfile(struct pmc_owner *o)
{
	pthread_mutex_lock(&timers);
	write_fired(o);
	pthread_mutex_unlock(&timers);
	if (step("flush", 0))
		return -1;
	errno = o->broken;
	return o->broken ? -1 : 0;
}

int pmc_owner_close_logfile(struct pmc_owner *o)
{
	int err;

	if (step("closelog", 0))
		return -1;
	err = write_log(o, 1);
	close(o->log);
	return err;
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
	s->account.cut = 20;
	s->account.cut_by[PMCLOG_CUT_DEPTH] = getenv("FAKE_SHALLOW") ? 2 : 15;
	s->account.cut_by[PMCLOG_CUT_USER] = 21 - s->account.cut_by[PMCLOG_CUT_DEPTH];
	return 0;
}

struct pmc_preload {
	long	ms;
};

static struct pmc_preload *preload(void)
{
	static struct pmc_preload all;
	const char *ms = getenv("FAKE_PRELOAD");

	all.ms = ms ? atol(ms) : 0;
	return &all;
}

struct pmc_preload *pmc_preload_begin(struct pmc_owner *o, const int *pids,
				      size_t n)
{
	return step("preload", (long)n) ? NULL : preload();
}

static int note_file(void *arg, int fd, const char *path)
{
	return step(path, 0);
}

struct pmc_preload *pmc_preload_command(struct pmc_owner *o, const char *path)
{
	static atomic_int stop;
	char **env = pmc_loader_env();
	const struct command c = {
		.path = path, .env = env, .stop = &stop, .file = note_file,
	};

	if (step("preload program", 0))
		return NULL;
	pmc_command_files(&c);
	free(env);
	return preload();
}

int pmc_preload_wait(struct pmc_preload *p, unsigned int ms,
		     struct pmc_preloaded *did)
{
	long wait = p->ms < (long)ms ? p->ms : (long)ms;

	usleep((unsigned int)wait * 1000);
	if (p->ms > (long)ms)
		return 0;
	*did = (struct pmc_preloaded){ 500, 300, 30000000 };
	return 1;
}

void pmc_preload_end(struct pmc_preload *p)
{
	if (p)
		step("preloaded", 0);
}
