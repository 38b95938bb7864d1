// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "guest.h"
#include "passing.h"

#define KEPT	6

/*
 * Descriptors of devices come from here and are not used again for long: a
 * thread that still has the number of one just closed hits nobody else's.
 */
#define FD_FIRST	100
#define FD_COUNT	800

/* What the threads of a process share.  Devices: owner << 32 | fd + 1. */
static struct {
	_Atomic uint64_t dev[ACTOR_DEVS];
	_Atomic int	kept[KEPT];	/* logs: fd + 1 */
	_Atomic unsigned int fds;
} mine;

/* ------------------------------------------------------------------------
 * Telling
 */
void actor_fault(const struct actor *a, const char *what, struct log *log)
{
	struct storm *st = a->storm;
	unsigned int n = ++st->faults;
	char path[64];
	int fd;

	printf("# HWPMC_SEED=%llu round %u process %u life %u thread %u step %llu: %s\n",
	       (unsigned long long)st->seed, st->round, a->process, a->life,
	       a->thread, (unsigned long long)a->step, what);
	fflush(stdout);
	if (!log || access("/out", W_OK))
		return;
	snprintf(path, sizeof(path), "/out/fault%u-%d.pmclog", n, getpid());
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, log->data, log->len) < 0)
		perror(path);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Devices
 */
static uint64_t dev_pack(struct dev d)
{
	return d.fd < 0 ? 0 : (uint64_t)d.owner << 32 | (d.fd + 1);
}

static struct dev dev_unpack(uint64_t word)
{
	return (struct dev) {
		.fd = (int)(uint32_t)word - 1,
		.owner = word >> 32,
	};
}

struct dev actor_pick(struct rng *r)
{
	unsigned int first = rng_below(r, ACTOR_DEVS), i = 0;

	if (!rng_once(r, 12))
		while (i < ACTOR_DEVS - 1 && !mine.dev[(first + i) % ACTOR_DEVS])
			i++;
	return dev_unpack(mine.dev[(first + i) % ACTOR_DEVS]);
}

void actor_close(struct actor *a, int fd)
{
	watch_begin(&a->storm->watch, a->slot, "close", WAITS_NOT);
	close(fd);
	watch_end(&a->storm->watch, a->slot);
}

/* Gives @fd, which is @owner's, a number of its own. */
static struct dev dev_new(struct actor *a, int fd, uint32_t owner)
{
	int to = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST + mine.fds++ % FD_COUNT);

	actor_close(a, fd);
	return (struct dev) { .fd = to, .owner = owner };
}

struct dev actor_open(struct actor *a)
{
	struct dev none = { .fd = -1 };
	int fd;

	watch_begin(&a->storm->watch, a->slot, "open", WAITS_NOT);
	fd = dev_open();
	watch_end(&a->storm->watch, a->slot);
	return fd < 0 ? none : dev_new(a, fd, a->storm->owners++);
}

/* Into a place for all; what was there is closed. */
static void dev_share(struct actor *a, struct rng *r, struct dev d)
{
	struct dev old;

	old = dev_unpack(atomic_exchange(&mine.dev[rng_below(r, ACTOR_DEVS)],
					 dev_pack(d)));
	if (old.fd >= 0)
		actor_close(a, old.fd);
}

static void close_all(struct actor *a)
{
	struct dev d;
	int i;

	for (i = 0; i < ACTOR_DEVS; i++) {
		d = dev_unpack(atomic_exchange(&mine.dev[i], 0));
		if (d.fd >= 0)
			actor_close(a, d.fd);
	}
}

int actor_call(struct actor *a, struct dev d, const char *name,
	       enum patience patience, unsigned long cmd, void *arg)
{
	struct storm *st = a->storm;
	int err;

	if (!st->may_wait[d.owner % STORM_NOWNER])
		patience = WAITS_NOT;
	st->watch.slot[a->slot].step = a->step;
	watch_begin(&st->watch, a->slot, name, patience);
	err = dev_ioctl(d.fd, cmd, arg);
	watch_end(&st->watch, a->slot);
	st->calls++;
	st->good += !err;
	return err;
}

/* ------------------------------------------------------------------------
 * Steps: descriptors
 */
static void do_open(struct actor *a, struct rng *r)
{
	struct dev d = actor_open(a);

	if (d.fd >= 0)
		dev_share(a, r, d);
}

static void do_close(struct actor *a, struct rng *r)
{
	dev_share(a, r, (struct dev) { .fd = -1 });
}

static void do_dup(struct actor *a, struct rng *r)
{
	struct dev d = actor_pick(r);
	int fd = fcntl(d.fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		dev_share(a, r, dev_new(a, fd, d.owner));
}

static void do_send(struct actor *a, struct rng *r)
{
	struct dev d = actor_pick(r);

	if (d.fd >= 0 && !a->storm->sparse)
		send_fd(a->storm->mail[0], d.fd, d.owner);
}

static void do_receive(struct actor *a, struct rng *r)
{
	uint32_t owner;
	int fd = receive_fd(a->storm->mail[1], &owner);

	if (fd >= 0)
		dev_share(a, r, dev_new(a, fd, owner));
}

/* What a descriptor can be asked, and this one has not, or not much of. */
static void do_other_calls(struct actor *a, struct rng *r)
{
	struct dev d = actor_pick(r);
	struct pollfd p = { .fd = d.fd, .events = POLLIN | POLLOUT };
	char byte = 0;
	void *map;

	poll(&p, 1, rng_below(r, 5));
	fcntl(d.fd, F_SETOWN, getpid());
	fcntl(d.fd, F_SETFL, (rng_once(r, 2) ? O_NONBLOCK : 0) |
			     (rng_once(r, 2) ? O_ASYNC : 0));
	if (write(d.fd, &byte, 1) > 0)
		actor_fault(a, "the device can be written", NULL);
	lseek(d.fd, rng_next(r), SEEK_SET);
	fsync(d.fd);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0);
	if (map != MAP_FAILED) {
		actor_fault(a, "the device can be mapped", NULL);
		munmap(map, 4096);
	}
}

/* ------------------------------------------------------------------------
 * Steps: logs
 */

/* What the kernel still writes to is checked when its place is needed. */
static void keep(struct actor *a, unsigned int place, int fd)
{
	int old = atomic_exchange(&mine.kept[place], fd + 1) - 1;

	if (old < 0)
		return;
	actorlog_check_cut(a, old);
	close(old);
}

/* A log that may be in use elsewhere: nobody can say what comes of it. */
static void use_again(struct actor *a, struct rng *r, struct dev d,
		      unsigned long cmd, const char *name)
{
	struct hwpmc_configurelog c = { .flags = rng_once(r, 9) };

	c.fd = atomic_exchange(&mine.kept[rng_below(r, KEPT)], 0) - 1;
	actor_call(a, d, name, WAITS_KILL, cmd, &c);
	if (c.fd >= 0)
		close(c.fd);
}

static void use_log(struct actor *a, struct rng *r, unsigned long cmd,
		    const char *name)
{
	struct hwpmc_configurelog c = {};
	struct dev d = actor_pick(r);
	struct actor_log l;

	if (rng_once(r, 8)) {
		use_again(a, r, d, cmd, name);
		return;
	}
	actorlog_any(a, r, &l, actor_pick(r).fd);
	if (l.may_wait)
		a->storm->may_wait[d.owner % STORM_NOWNER] = true;
	c.fd = l.fd;
	actor_call(a, d, name, WAITS_KILL, cmd, &c);
	if (l.fd >= 0)
		close(l.fd);
	if (l.file >= 0)
		keep(a, rng_below(r, KEPT), l.file);
}

static void do_configure(struct actor *a, struct rng *r)
{
	use_log(a, r, HWPMC_IOC_CONFIGURELOG, "CONFIGURELOG");
}

static void do_rotate(struct actor *a, struct rng *r)
{
	use_log(a, r, HWPMC_IOC_ROTATELOG, "ROTATELOG");
}

static void do_flush(struct actor *a, struct rng *r)
{
	CALL(a, actor_pick(r), FLUSHLOG, WAITS_SIGNAL, NULL);
}

static void do_closelog(struct actor *a, struct rng *r)
{
	CALL(a, actor_pick(r), CLOSELOG, WAITS_SIGNAL, NULL);
}

static void do_writelog(struct actor *a, struct rng *r)
{
	struct hwpmc_writelog w = {};
	char records[400];

	switch (rng_below(r, 4)) {
	case 0:
		w.len = args_records(r, records, sizeof(records));
		w.records = (uintptr_t)records;
		break;
	case 1:
		w.len = rng_below(r, 3 * HWPMC_WRITELOG_MAX);
		w.records = (uintptr_t)args_bad_address(r);
		break;
	default:
		w.userdata = rng_next(r);
	}
	CALL(a, actor_pick(r), WRITELOG, WAITS_KILL, &w);
}

/* ------------------------------------------------------------------------
 * Steps: questions, and nonsense
 */
static void do_ask(struct actor *a, struct rng *r)
{
	struct hwpmc_driverstats st = { .scope = rng_below(r, 3) };
	struct hwpmc_moduleversion version = { .version = rng_below(r, 2) };
	struct hwpmc_atbase atbase = { .pid = args_pid(r) };
	struct hwpmc_cpuinfo cpu;

	CALL(a, actor_pick(r), GETATBASE, WAITS_SIGNAL, &atbase);
	CALL(a, actor_pick(r), GETDRIVERSTATS, WAITS_SIGNAL, &st);
	CALL(a, actor_pick(r), GETMODULEVERSION, WAITS_SIGNAL, &version);
	CALL(a, actor_pick(r), GETCPUINFO, WAITS_SIGNAL, &cpu);
}

/* Any request number of any size, with an argument that is none. */
static void do_nonsense(struct actor *a, struct rng *r)
{
	static const unsigned long cmds[] = {
		HWPMC_IOC_CONFIGURELOG, HWPMC_IOC_GETCPUINFO,
		HWPMC_IOC_GETDRIVERSTATS, HWPMC_IOC_GETMODULEVERSION,
		HWPMC_IOC_PMCALLOCATE, HWPMC_IOC_PMCRELEASE, HWPMC_IOC_PMCRW,
		HWPMC_IOC_PMCSETCOUNT, HWPMC_IOC_PMCSTART, HWPMC_IOC_PMCSTOP,
		HWPMC_IOC_WRITELOG, HWPMC_IOC_ROTATELOG, HWPMC_IOC_PMCATTACH,
		HWPMC_IOC_PMCDETACH, HWPMC_IOC_GETPMCINFO, HWPMC_IOC_PMCADMIN,
		HWPMC_IOC_GETDYNEVENTINFO, HWPMC_IOC_PMCGETMSR,
		HWPMC_IOC_PMCFILTER, HWPMC_IOC_RECORD, HWPMC_IOC_GETATBASE,
		HWPMC_IOC_SETBUDGET, HWPMC_IOC_GETBUDGET, HWPMC_IOC_SETCPUS,
	};
	unsigned long cmd = cmds[rng_below(r, sizeof(cmds) / sizeof(*cmds))];
	uint64_t arg[1024];
	unsigned int i;

	if (rng_once(r, 3))	/* of another size */
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd),
			   rng_below(r, sizeof(arg)));
	else if (rng_once(r, 3))
		cmd ^= 1UL << rng_below(r, 32);
	for (i = 0; i < 1024; i++)
		arg[i] = rng_once(r, 40) ? rng_next(r) : 0;
	actor_call(a, actor_pick(r), "nonsense", WAITS_KILL, cmd,
		   rng_once(r, 2) ? args_bad_address(r) : arg);
}

/* An id that cannot be told is not kept: argument read-only. */
static void do_untellable(struct actor *a, struct rng *r)
{
	struct hwpmc_allocate *pmc = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pmc == MAP_FAILED)
		return;
	*pmc = args_pmc(r);
	mprotect(pmc, 4096, PROT_READ);
	if (!CALL(a, actor_pick(r), PMCALLOCATE, WAITS_SIGNAL, pmc))
		actor_fault(a, "PMCALLOCATE wrote to what is read-only", NULL);
	munmap(pmc, 4096);
}

/* ------------------------------------------------------------------------
 * Steps: processes
 */

/* Nothing but system calls: other threads may hold any lock of the C library. */
static void child(struct actor *a, struct rng *r)
{
	unsigned int left = rng_below(r, 12);
	struct hwpmc_allocate pmc;
	struct hwpmc_attach at;
	struct hwpmc_simple s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(1);
	while (left-- && !a->storm->stop) {
		struct dev d = actor_pick(r);

		pmc = args_pmc(r);
		s.id = actor_pick_id(r);
		s.reserved = 0;
		switch (rng_below(r, 7)) {
		case 0:
			dev_ioctl(d.fd, HWPMC_IOC_PMCALLOCATE, &pmc);
			break;
		case 5:
			at.id = s.id;
			at.pid = args_pid(r);
			dev_ioctl(d.fd, HWPMC_IOC_PMCATTACH, &at);
			break;
		case 1:
			dev_ioctl(d.fd, HWPMC_IOC_PMCSTART, &s);
			break;
		case 2:
			dev_ioctl(d.fd, HWPMC_IOC_PMCRELEASE, &s);
			break;
		case 3:
			dev_ioctl(d.fd, HWPMC_IOC_CLOSELOG, NULL);
			break;
		case 4:
			fcntl(d.fd, F_SETFD, 0);
			execl("/bin/sleep", "sleep", "0.2", NULL);
			break;
		default:
			usleep(rng_below(r, 20000));
		}
	}
	_exit(0);
}

static void do_fork(struct actor *a, struct rng *r)
{
	pid_t pid = fork();

	if (!pid)
		child(a, r);
	if (pid > 0 && rng_once(r, 3)) {
		usleep(rng_below(r, 5000));
		kill(pid, SIGKILL);
	}
}

static void do_names_and_maps(struct actor *a, struct rng *r)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *map[4];
	char name[16];
	int i;

	snprintf(name, sizeof(name), "actor%u-%u", a->process,
		 rng_below(r, 1000));
	prctl(PR_SET_NAME, name);
	for (i = 0; i < 4; i++)
		map[i] = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			      fd, 65536 * i);
	close(fd);
	for (i = 0; i < 4; i++)
		if (map[i] != MAP_FAILED)
			munmap(map[i], 65536);
}

static void do_pause(struct actor *a, struct rng *r)
{
	sleep_ms(rng_below(r, 40));
}

/* ------------------------------------------------------------------------
 * The life of an actor
 */
static const struct {
	void	(*fn)(struct actor *a, struct rng *r);
	unsigned int weight;
} steps[] = {
	{ do_open,		 6 },
	{ do_close,		 2 },
	{ do_dup,		 2 },
	{ do_send,		 2 },
	{ do_receive,		 2 },
	{ do_other_calls,	 3 },
	{ actor_allocate,	12 },
	{ actor_attach,		 8 },
	{ actor_start,		12 },
	{ actor_stop,		 4 },
	{ actor_release,	 4 },
	{ actor_setcount,	 3 },
	{ actor_rw,		 4 },
	{ actor_filter,		 4 },
	{ actor_record,		 4 },
	{ do_configure,		10 },
	{ do_rotate,		 6 },
	{ do_flush,		 4 },
	{ do_closelog,		 3 },
	{ actor_stream,		 5 },
	{ actor_read,		10 },
	{ actor_flight,		 5 },
	{ actor_snapshot,	10 },
	{ actor_exit_trigger,	 2 },
	{ do_writelog,		 5 },
	{ do_ask,		 3 },
	{ do_nonsense,		 5 },
	{ do_untellable,	 2 },
	{ do_fork,		 3 },
	{ do_names_and_maps,	 3 },
	{ do_pause,		 4 },
	{ session,		 3 },
};

static void take_step(struct actor *a, struct rng *r)
{
	unsigned int i, sum = 0;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		sum += steps[i].weight;
	sum = rng_below(r, sum);
	for (i = 0; sum >= steps[i].weight; i++)
		sum -= steps[i].weight;
	steps[i].fn(a, r);
}

/* The numbers of a step do not depend on how earlier ones went. */
static void *actor_body(void *arg)
{
	/* lives can be short */
	static void (* const first[])(struct actor *a, struct rng *r) = {
		do_open, do_configure, actor_allocate, actor_start,
	};
	struct actor *a = arg;
	struct rng own = rng_branch(a->storm->seed, a->storm->round);

	own = rng_branch(own.state, a->process);
	own = rng_branch(own.state, a->life);
	own = rng_branch(own.state, a->thread);
	for (a->step = 0; !a->storm->stop; a->step++) {
		struct rng r = rng_branch(own.state, a->step);

		if (a->storm->sparse && rng_once(&r, 6))
			close_all(a);
		if (a->step < sizeof(first) / sizeof(*first))
			first[a->step](a, &r);
		else
			take_step(a, &r);
		a->storm->steps++;
	}
	return NULL;
}

static void nothing(int sig)
{
}

static void end_process(struct actor *a)
{
	int i;

	close_all(a);
	actorlog_wait();
	for (i = 0; i < KEPT; i++)
		keep(a, i, -1);
}

void actor_process(struct storm *st, uint32_t process, uint32_t life)
{
	struct sigaction wake = { .sa_handler = nothing };
	struct actor a[ACTOR_THREADS];
	pthread_t thread[ACTOR_THREADS];
	uint32_t i;

	sigaction(WATCH_SIGNAL, &wake, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < ACTOR_THREADS; i++) {
		a[i] = (struct actor) {
			.storm = st,
			.slot = process * ACTOR_THREADS + i,
			.process = process,
			.life = life,
			.thread = i,
		};
		if (pthread_create(&thread[i], NULL, actor_body, &a[i]))
			_exit(2);
	}
	for (i = 0; i < ACTOR_THREADS; i++)
		pthread_join(thread[i], NULL);
	end_process(&a[0]);
}
