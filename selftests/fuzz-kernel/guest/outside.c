// SPDX-License-Identifier: GPL-2.0-only
/*
 * OUTSIDE: an executor's program has processes in the first pid namespace.
 *
 * An executor is the first process of a namespace of its own.  What it opens, it
 * opens there, and all other processes of the machine are strangers without a
 * number.  So a process that the supervisor has begun forks children for it: they
 * see everybody, and those inside do not see them.  The executor cannot end them
 * either, and asks for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "guest.h"

#define CHILDREN_OUTSIDE	16	/* of a program */

/* @n: operations from @at on; END: all children are to end */
struct order {
	unsigned int at;
	unsigned int n;
};
#define END	~0U

static int orders[2] = { -1, -1 };
static pid_t children[CHILDREN_OUTSIDE];
static unsigned int nchildren;
static bool is_outside;

bool outside(void)
{
	return is_outside;
}

static void child_begin(const struct order *o)
{
	unsigned int user = sh->program.user % USERS;
	pid_t pid;

	if (nchildren == CHILDREN_OUTSIDE)
		return;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		signal(SIGCHLD, SIG_DFL);
		is_outside = true;
		cover_select(user);
		become(user);
		run_child(&sh->program.op[o->at], o->at + 1, o->n);
	}
	if (pid < 0)
		return;
	setpgid(pid, pid);
	children[nchildren++] = pid;
}

/* Those of a child are in its group, and come to us when it ends. */
static void children_end(void)
{
	while (nchildren)
		kill(-children[--nchildren], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void notice_ends(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		sh->outside_ended++;
}

static void child_ended(int sig)
{
	(void)sig;
}

static void serve(void)
{
	struct rlimit files = { FD_OWN + 100, FD_OWN + 100 };
	struct sigaction sa = { .sa_handler = child_ended };
	const struct timeval now_and_then = { .tv_sec = 1 };
	struct order o;
	bool again;
	ssize_t n;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	close_range(3, FD_OWN - 1, 0);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	/* a chain that is asked of it on its way to sleep keeps the module: see await_answer() */
	setsockopt(orders[1], SOL_SOCKET, SO_RCVTIMEO, &now_and_then, sizeof(now_and_then));
	for (;;) {
		do {
			n = recv(orders[1], &o, sizeof(o), 0);
			again = n < 0 && (errno == EINTR || errno == EAGAIN);
			notice_ends();	/* which changes errno */
		} while (again);
		if (n != sizeof(o))
			_exit(0);
		if (o.n != END) {
			child_begin(&o);
			continue;
		}
		children_end();
		sh->outside = 0;
	}
}

void outside_init(void)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, orders)) {
		perror("socketpair");
		return;
	}
	orders[0] = own(orders[0]);
	orders[1] = own(orders[1]);
	if (!fork())
		serve();
	close(orders[1]);
}

void outside_begin(unsigned int at, unsigned int n)
{
	struct order o = { at, n };

	sh->outside++;
	if (send(orders[0], &o, sizeof(o), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		sh->outside_ended++;
}

/* The program's time is over: its children there end, too. */
void outside_end(void)
{
	struct order o = { 0, END };
	bool gone;
	char byte;

	if (!sh->outside)
		return;
	gone = send(orders[0], &o, sizeof(o), MSG_NOSIGNAL) < 0;
	while (!gone && sh->outside) {
		usleep(1000);
		/* the connection's end: serve() has ended */
		gone = !recv(orders[0], &byte, 1, MSG_DONTWAIT);
	}
	if (gone && sh->outside)
		snprintf(sh->trouble, sizeof(sh->trouble),
			 "the fuzzer's own process outside has ended");
}
