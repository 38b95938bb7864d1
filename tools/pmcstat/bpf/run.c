/* SPDX-License-Identifier: BSD-2-Clause */
/* backend.h: the recording as a session drives it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/backend.h"
#include "bpf/recorder.h"
#include "libpmc_event.h"
#include "output/logcontrol.h"

#define NS_PER_S		1000000000ULL
#define INITIAL_PID_NAMESPACE	0xEFFFFFFCU	/* its inode, always */

static struct recorder rec;
static int epoll = -1;

/**
 * struct attached - a process that is attached to, or its descendant at that time
 * @fd: readable when the process has ended; -1: there is none
 */
static struct attached {
	int	pid;
	int	fd;
} *attached;
static size_t nattached;

static int in_initial_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) &&
	       st.st_ino == INITIAL_PID_NAMESPACE;
}

/* Loading an empty program takes the same privileges as loading ours. */
static int may_load(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "pmcstat", "GPL",
			       nothing, 2, NULL);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

const char *bpf_refusal(void)
{
	errno = ENOSYS;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF): --bpf needs it";
	if (!in_initial_namespace())
		return "--bpf sees the pids of the machine, so it does not go in a PID namespace";
	errno = EPERM;
	if (!may_load())
		return "--bpf needs CAP_BPF and CAP_PERFMON, or root";
	return NULL;
}

/* ------------------------------------------------------------------------
 * PMCs
 */
static void cannot_open(const struct counter *c)
{
	int err = errno;
	const char *why = strerror(err);

	if (err == ENOENT || err == EOPNOTSUPP || err == ENODEV)
		why = PMC_IS_SAMPLING_MODE(c->mode) ?
		      "this machine has no such event (cpu-clock is always there)" :
		      "this machine has no such event";
	else if (c->cpu >= 0 && (err == EINVAL || err == ENXIO))
		why = "no such CPU, or it is offline";
	die(err == EACCES || err == EPERM ? EX_NOPERM : EX_UNAVAILABLE,
	    "cannot %s %s: %s", PMC_IS_SAMPLING_MODE(c->mode) ? "sample" :
	    "count", c->event.name, why);
}

static void set_id(struct counter *c, uint32_t row)
{
	uint32_t cpu = c->cpu < 0 ? HWPMC_ID_CPU_NONE : (uint32_t)c->cpu;

	c->id = HWPMC_ID(cpu, (uint32_t)c->mode, HWPMC_CLASS_SOFT, row);
}

/* A clock has the period of its rate; that of -n stays as it is. */
static int has_rate(const struct counter *c)
{
	return (c->flags & PMC_F_FREQ) ||
	       (PMC_IS_SAMPLING_MODE(c->mode) && !c->fixed);
}

/* perf refuses a rate above its maximum, which the kernel lowers on slow machines. */
static void lower_rate(const struct options *o, struct counter *c)
{
	int is_period = !(c->flags & PMC_F_FREQ);
	unsigned long long most, rate = is_period ? NS_PER_S / c->period : c->period;
	char text[32];

	if (pmc_file_text(text, sizeof(text), "/proc/sys/kernel/perf_event_max_sample_rate") < 0 ||
	    sscanf(text, "%llu", &most) != 1 || !most || rate <= most)
		return;
	if (!o->quiet)
		warn_line("%s: %llu samples a second lowered to %llu, "
			  "kernel.perf_event_max_sample_rate",
			  c->event.name, rate, most);
	c->period = is_period ? (NS_PER_S + most - 1) / most : most;
}

void bpf_allocate(struct options *o)
{
	const char *why = bpf_refusal();
	struct counter *c;
	uint32_t row;
	int ncpu;

	if (why)
		die(errno == EPERM ? EX_NOPERM : EX_UNAVAILABLE, "%s", why);
	child_raise_files();
	ncpu = libbpf_num_possible_cpus();
	rec.o = o;
	rec.ncpu = (unsigned int)ncpu;
	rec.events = calloc(o->ncounters, sizeof(*rec.events));
	if (ncpu < 0 || !rec.events)
		die(EX_OSERR, "out of memory");
	for (row = 0; row < o->ncounters; row++) {
		c = &o->counters[row];
		set_id(c, row);
		/* user chains by frame pointers: the log says so */
		c->flags &= ~(uint32_t)PMC_F_UNWIND;
		if (has_rate(c))
			lower_rate(o, c);
		if (PMC_IS_SYSTEM_MODE(c->mode) &&
		    events_of_cpus(&rec.events[row], c, rec.ncpu))
			cannot_open(c);
	}
}

static void attach_programs(uint32_t row, size_t from)
{
	struct counter *c = &rec.o->counters[row];
	struct events *e = &rec.events[row];
	size_t i;

	if (!PMC_IS_SAMPLING_MODE(c->mode))
		return;
	for (i = from; i < e->n; i++)
		if (sampler_attach(&rec.sampler, row, &e->event[i]))
			cannot_open(c);
}

static int is_attached(int pid)
{
	size_t i;

	for (i = 0; i < nattached; i++)
		if (attached[i].pid == pid)
			return 1;
	return 0;
}

static void add_attached(int pid)
{
	struct attached *more = realloc(attached, (nattached + 1) * sizeof(*more));

	if (!more)
		die(EX_OSERR, "out of memory");
	attached = more;
	attached[nattached++] = (struct attached){
		.pid = pid, .fd = (int)syscall(SYS_pidfd_open, pid, 0),
	};
}

/* The process is in the log before it is sampled. */
static void log_target(const struct counter *c, int pid)
{
	char path[64], exe[PMCLOG_PATH_MAX] = "";
	ssize_t n;

	if (!rec.w.buf)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	writer_attach(&rec.w, c->id, (uint32_t)pid, exe);
}

static int attach_one(int pid)
{
	size_t from, got = 0;
	struct counter *c;
	uint32_t row;

	if (rec.w.buf && follow_dump(&rec.procs, (uint32_t)pid))
		return ESRCH;
	for (row = 0; row < rec.o->ncounters; row++) {
		c = &rec.o->counters[row];
		if (!PMC_IS_VIRTUAL_MODE(c->mode))
			continue;
		from = rec.events[row].n;
		if (events_of_process(&rec.events[row], c, pid)) {
			if (errno == ESRCH)
				return got ? 0 : ESRCH;
			if (errno == EACCES || errno == EPERM)
				return EPERM;
			cannot_open(c);
		}
		got++;
		log_target(c, pid);
		attach_programs(row, from);
	}
	return 0;
}

static int add_children_of_thread(void *pid, const char *tid)
{
	char path[300];
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", *(int *)pid, tid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		if (!is_attached(child))
			add_attached(child);
	if (f)
		fclose(f);
	return 0;
}

static void add_children(int pid)
{
	pmc_file_each(add_children_of_thread, &pid, "/proc/%d/task", pid);
}

static int follows_descendants(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].flags & PMC_F_DESCENDANTS)
			return 1;
	return 0;
}

/*
 * The children of a process are listed before it gets its events: what it forks with
 * them inherits them, and must not get others.  A descendant that has ended is no error.
 */
int bpf_attach(const struct options *o, int pid)
{
	size_t i = nattached;
	int err;

	if (is_attached(pid))
		return 0;
	add_attached(pid);
	if (!follows_descendants(o))
		return attach_one(pid);
	add_children(pid);
	err = attach_one(pid);
	while (!err && ++i < nattached) {
		add_children(attached[i].pid);
		attach_one(attached[i].pid);
	}
	return err;
}

/* A pid alone may be that of a zombie, or of another process by now. */
static int has_ended(const struct attached *a)
{
	struct pollfd fd = { .fd = a->fd, .events = POLLIN };

	if (a->fd >= 0)
		return poll(&fd, 1, 0) > 0;
	return kill(a->pid, 0) && errno != EPERM;
}

int bpf_targets_ended(void)
{
	size_t i;

	for (i = 0; i < nattached; i++)
		if (!has_ended(&attached[i]))
			return 0;
	return nattached > 0;
}

void bpf_start(void)
{
	uint32_t row;

	for (row = 0; row < rec.o->ncounters; row++) {
		if (PMC_IS_SYSTEM_MODE(rec.o->counters[row].mode))
			attach_programs(row, 0);
		events_enable(&rec.events[row]);
	}
	if (rec.w.buf)
		__atomic_store_n(rec.sampler.gate, 1, __ATOMIC_SEQ_CST);
}

void bpf_stop(void)
{
	uint32_t row;

	if (rec.w.buf)
		__atomic_store_n(rec.sampler.gate, 0, __ATOMIC_SEQ_CST);
	for (row = 0; row < rec.o->ncounters; row++)
		events_disable(&rec.events[row]);
	if (rec.w.buf)
		recorder_drain(&rec);
}

int bpf_read(const struct counter *c, struct pmc_reading *r)
{
	const struct events *e = &rec.events[c - rec.o->counters];

	return events_read(e, 0, e->n, r);
}

void bpf_close(void)
{
	recorder_free(&rec);
	while (nattached)
		if (attached[--nattached].fd >= 0)
			close(attached[nattached].fd);
	free(attached);
	if (epoll >= 0)
		close(epoll);
}

/* ------------------------------------------------------------------------
 * The log
 */
static void add_poll(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev))
		die(EX_OSERR, "epoll_ctl: %s", strerror(errno));
}

/* read_live() leaves the process out that reads the log: its condition */
static int reader_of(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].filter.n)
			return (int)o->counters[i].filter.condition[0].value;
	return 0;
}

static int begin(void *arg, int fd, uint32_t flags)
{
	unsigned int cpu;

	(void)arg;
	(void)flags;
	recorder_begin(&rec, fd, reader_of(rec.o));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -1;
	for (cpu = 0; cpu < rec.ncpu; cpu++) {
		add_poll(sampler_poll_fd(&rec.sampler, cpu));
		add_poll(rec.sideband.fd[cpu]);
	}
	return 0;
}

static int flush(void *arg)
{
	(void)arg;
	errno = writer_flush(&rec.w) ? rec.w.err : 0;
	return errno ? -1 : 0;
}

static int end(void *arg)
{
	(void)arg;
	recorder_end(&rec);
	return flush(NULL);
}

static int stats(void *arg, struct hwpmc_driverstats *to)
{
	(void)arg;
	*to = rec.w.stats;
	return 0;
}

static int write_records(void *arg, const void *records, size_t len)
{
	(void)arg;
	return writer_metadata(&rec.w, records, len);
}

const struct log_control *bpf_log(void)
{
	static const struct log_control control = {
		.begin = begin, .flush = flush, .end = end, .stats = stats,
		.write = write_records,
	};

	return &control;
}

int bpf_poll_fd(void)
{
	return epoll;
}

int bpf_look(void)
{
	if (!rec.w.buf)
		return 0;
	if (recorder_pass(&rec))
		return -1;
	/* a reader of a pipe gets what there is */
	return writer_flush(&rec.w);
}
