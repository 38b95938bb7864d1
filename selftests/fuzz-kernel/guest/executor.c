// SPDX-License-Identifier: GPL-2.0-only
/*
 * An executor runs programs, and afterwards is as it was before.
 *
 * It is the first process of a pid namespace: all others there are its programs',
 * and one kill() reaches them.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "executor.h"

#define MSEC		1000000ULL
#define TIME		(3000 * MSEC)	/* of a program; then it is ended */
#define TIME_TO_WAIT	(300 * MSEC)	/* of an operation; then it is interrupted */
#define TIME_TO_WAIT_AGAIN (100 * MSEC)	/* of the next ones that wait */
#define TIME_TO_STOP	(40000 * MSEC)	/* after that it hangs, see turn() */
#define TIME_AT_MOST	(240000 * MSEC)	/* likewise, by the clock */
#define TURN_WORK	(20 * MSEC)
#define TURN		(TURN_WORK + 50 * MSEC)
#define TIME_TO_CLOSE	20000		/* ms until the last close has its effect */

/* Worker 0 runs the program, the others what it queues for them. */
static struct worker {
	unsigned int	number;
	pthread_t	thread;
	pid_t		tid;
	sem_t		go;
	uint8_t		queue[256];
	atomic_uchar	head;
	unsigned char	tail;		/* the worker's */
} workers[WORKERS];

static atomic_uint busy;		/* operations queued or running */
static atomic_uint begun;		/* operations, by all workers */
static sem_t ended;

static _Thread_local unsigned int cover;
static _Thread_local unsigned int repeating;
static _Thread_local int fail_fd = -1;
static _Thread_local pid_t fail_tid;
static bool child;

bool in_child(void)
{
	return child;
}

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Another thread's is no good: who forks has it, too. */
int fail_nth_fd(void)
{
	int fd;

	if (fail_tid == gettid())
		return fail_fd;
	fail_tid = gettid();
	fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	fail_fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_OWN);
	close(fd);
	return fail_fd;
}

/* ------------------------------------------------------------------------
 * Running
 */
static void child_end(const struct op *op)
{
	switch (op->arg[1] % 5) {
	case 1:
		_exit(3);
	case 2:
		raise(SIGKILL);
		break;
	case 3:
		while (!sh->stop)
			usleep(20000);
		break;
	case 4:
		execl("/proc/self/exe", "small", "13", NULL);
		break;
	}
	_exit(0);
}

/* A child's life: operations, and its end. */
void run_child(const struct op *op, unsigned int from, unsigned int n)
{
	child = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cover = COVER_CHILD + sh->child++;
	if (cover < COVERS)
		cover_self(cover);
	run_range(from, from + n, cover);
	if (cover < COVERS)
		cover_take(cover);
	child_end(op);
}

/* arg: how many of the next operations are the child's, its end, wait for it */
static unsigned int run_fork(unsigned int at)
{
	const struct op *op = &sh->program.op[at];
	unsigned int n = op->arg[0] % 16, c = sh->child;
	pid_t pid;
	int fail;

	/* forks of forks, and not too many */
	if (c > 24 || n + at >= sh->nops)
		n = sh->nops - at - 1;
	fail = fail_arm(op);
	pid = c > 24 ? -1 : fork();
	if (!pid)
		run_child(op, at + 1, n);
	fail_disarm(fail);
	if (pid > 0) {
		sh->pid[sh->npids++ % PIDS] = pid;
		if (op->arg[2] & 1)
			waitpid(pid, NULL, 0);
	}
	return n;
}

/* arg: as FORK's */
static unsigned int run_outside(unsigned int at)
{
	const struct op *op = &sh->program.op[at];
	unsigned int n = op->arg[0] % 32, before = sh->outside_ended, i;

	if (n + at >= sh->nops)
		n = sh->nops - at - 1;
	outside_begin(at, n);
	for (i = 0; op->arg[2] & 1 && i < 200 && !sh->stop; i++) {
		if (sh->outside_ended != before)
			break;
		usleep(10000);
	}
	return n;
}

/* arg: how many of the last operations, how often */
static void run_repeat(unsigned int at)
{
	const struct op *op = &sh->program.op[at];
	unsigned int n = 1 + op->arg[0] % 8, times = op->arg[1] % 64;

	if (repeating || n > at)
		return;
	repeating++;
	while (times-- && !sh->stop)
		run_range(at - n, at, cover);
	repeating--;
}

/* Returns how many more operations that was. */
static unsigned int run_one(unsigned int at)
{
	const struct op *op = &sh->program.op[at];

	begun++;
	if (cover < COVERS)
		cover_op(cover, op->code % CODES);
	switch (op->code % CODES) {
	case OP_FORK:
		return run_fork(at);
	case OP_OUTSIDE:
		return run_outside(at);
	case OP_REPEAT:
		run_repeat(at);
		return 0;
	default:
		call(op);
		return 0;
	}
}

static void post(struct worker *w, unsigned int at)
{
	busy++;
	w->queue[w->head] = at;
	w->head++;
	sem_post(&w->go);
}

static bool for_other(const struct op *op, unsigned int mine)
{
	unsigned int n = op->how & HOW_WORKER;

	return !child && mine == COVER_WORKER && n && n < WORKERS &&
	       op->code % CODES != OP_FORK && op->code % CODES != OP_REPEAT &&
	       op->code % CODES != OP_OUTSIDE;
}

void run_range(unsigned int from, unsigned int to, unsigned int mine)
{
	unsigned int i;

	for (i = from; i < to && i < sh->nops && !sh->stop; i++) {
		const struct op *op = &sh->program.op[i];

		if (for_other(op, mine))
			post(&workers[op->how & HOW_WORKER], i);
		else
			i += run_one(i);
	}
}

static void *worker_body(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	cover = COVER_WORKER + w->number;
	cover_self(cover);
	sem_post(&ended);
	for (;;) {
		while (sem_wait(&w->go))
			;
		if (!w->number)
			run_range(0, sh->nops, cover);
		else if (!sh->stop)
			run_one(w->queue[w->tail++]);
		else
			w->tail++;
		cover_take(cover);
		busy--;
		sem_post(&ended);
	}
	return NULL;
}

static void wait_ended(unsigned int ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += ms * MSEC;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	sem_timedwait(&ended, &ts);
}

/* What waits, waits no longer. */
static void interrupt(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		syscall(SYS_tgkill, getpid(), workers[i].tid, SIGUSR1);
}

/* ... and nothing more begins. */
static void stop(void)
{
	sh->stop = true;
	/* operations may wait for children */
	kill(-1, SIGKILL);
	interrupt();
}

/* System calls that the machine does in so much time, at best. */
static unsigned int turn_calls;

static void measure_turn(void)
{
	uint64_t end = now() + TURN_WORK;
	unsigned int n;

	for (n = 0; now() < end; n++)
		syscall(SYS_getppid);
	if (n > turn_calls)
		turn_calls = n;
}

/*
 * A machine that has its processors seldom gets little done, and its clock goes on:
 * how long an operation may take is counted in work that takes TURN_WORK elsewhere.
 */
static uint64_t turn(void)
{
	unsigned int i;

	for (i = 0; i < turn_calls && busy; i++) {
		now();
		syscall(SYS_getppid);
	}
	return TURN;
}

/* False: an operation does not return. */
static bool run_program(void)
{
	uint64_t start = now(), progress = start, patience = TIME_TO_WAIT, waited = 0;
	unsigned int last = 0;

	busy = 1;
	sem_post(&workers[0].go);
	while (busy) {
		wait_ended(50);
		if (begun != last)
			progress = now();
		last = begun;
		if (busy && now() > progress + patience) {
			interrupt();
			patience = TIME_TO_WAIT_AGAIN;
		}
		if (busy && now() > start + TIME) {
			stop();
			waited += turn();
		}
		if (busy && (waited > TIME_TO_STOP ||
			     now() > start + TIME + TIME_AT_MOST)) {
			snprintf(sh->trouble, sizeof(sh->trouble),
				 "an operation does not end when it is interrupted");
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Clearing up
 */
/*
 * The device's last user may be a thread of the module's, or a worker that was asked for
 * its chain on its way to sleep: it answers when it is back in user mode.
 */
static bool wait_for_idle(void)
{
	unsigned int i;

	for (i = 0; i < TIME_TO_CLOSE / 5; i++) {
		if (!number_in("/sys/module/hwpmc/refcnt"))
			return true;
		if (i % 20 == 19)
			interrupt();
		usleep(5000);
	}
	snprintf(sh->trouble, sizeof(sh->trouble),
		 "the module is in use, %u s after the last close",
		 TIME_TO_CLOSE / 1000);
	return false;
}

/*
 * First what would read the logs, if it did: the last close of a device whose log
 * is stuck takes a second.  Programs close some themselves before that.
 */
static void close_devices(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < LOGS; i++)
		close(sh->log[i].peer);
	while ((fd = mail_receive()) != -2)
		if (fd >= 0)
			close(fd);
	/* the logs are looked at first */
	for (i = 3; i < FD_OWN; i++) {
		unsigned int l;

		for (l = 0; l < LOGS; l++)
			if (sh->log[l].fd == (int)i && log_is_sound(&sh->log[l]))
				break;
		if (l == LOGS)
			close(i);
	}
}

static void end_processes(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	while (extra_threads)
		usleep(1000);
	unmap_all();
	unmap_hostile();
	prctl(PR_SET_NAME, "executor");
	prctl(PR_SET_KEEPCAPS, 0);
}

/* Says that the time since the last one went into @phase. */
static void spend(enum phase phase)
{
	static uint64_t last;
	uint64_t t = now();

	if (last && phase != PHASE_REST)
		sh->spent[phase] += t - last;
	last = t;
}

/* False: something is as it must not be. */
static bool clear_up(void)
{
	unsigned int i;

	sh->stop = true;
	outside_end();
	end_processes();
	spend(PHASE_KILL);
	machine_thaw();
	close_devices();
	spend(PHASE_CLOSE);
	for (i = COVER_CHILD; i < COVERS; i++)
		cover_take(i);
	if (!wait_for_idle())
		return false;
	machine_restore();
	spend(PHASE_IDLE);
	check_logs();
	close_range(3, FD_OWN - 1, 0);
	spend(PHASE_LOGS);
	return true;
}

/* False: likewise. */
static bool execute(void)
{
	bool good;

	spend(PHASE_REST);
	good = run_program();
	spend(PHASE_RUN);
	return good && clear_up();
}

/* ------------------------------------------------------------------------
 * Beginning
 */
static void nothing(int sig)
{
	(void)sig;
}

static void write_or_say(const char *path, const char *text)
{
	if (!write_file(path, text))
		perror(path);
}

void become(unsigned int user)
{
	if (user == USER_ROOT)
		return;
	if (setgroups(0, NULL) || setresgid(1000, 1000, 1000) ||
	    setresuid(1000, 1000, 1000))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	if (user == USER_PLAIN)
		return;
	if (unshare(CLONE_NEWUSER))
		_exit(1);
	write_or_say("/proc/self/setgroups", "deny");
	write_or_say("/proc/self/uid_map", "0 1000 1");
	write_or_say("/proc/self/gid_map", "0 1000 1");
}

static void prepare(unsigned int user)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct rlimit files = { FD_OWN + 100, FD_OWN + 100 };
	unsigned int i;

	become(user);
	setrlimit(RLIMIT_NOFILE, &files);
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, mail);
	mail[0] = own(mail[0]);
	mail[1] = own(mail[1]);
	cover_select(user);
	sem_init(&ended, 0, 0);
	for (i = 0; i < WORKERS; i++) {
		workers[i].number = i;
		sem_init(&workers[i].go, 0, 0);
		if (pthread_create(&workers[i].thread, NULL, worker_body,
				   &workers[i]))
			_exit(1);
		sem_wait(&ended);
	}
}

/* @commands: a byte for each program; @answers: likewise, 0 when all is well */
void executor(unsigned int user, int commands, int answers)
{
	unsigned int i;
	char byte;

	prepare(user);
	close_range(3, FD_OWN - 1, 0);
	for (i = 0; i < 3; i++)
		measure_turn();
	while (read(commands, &byte, 1) == 1) {
		byte = !execute();
		if (write(answers, &byte, 1) != 1)
			break;
		/* the supervisor looks where we are, and ends us */
		while (byte)
			pause();
	}
	_exit(0);
}
