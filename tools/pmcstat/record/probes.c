/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes that events need.  They are made before their PMCs, and removed at the
 * end of this program, after the PMCs.  After SIGKILL or a crash they stay
 * until the next program that makes probes removes them.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_unwinder.h"
#include "pmcstat.h"

static const int deadly[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,
};

#define NDEADLY	(sizeof(deadly) / sizeof(deadly[0]))

/* Written with the signals blocked: the handler sees a consistent state */
static struct {
	struct pmc_probe *probe[HWPMC_NROW];
	const char	*spec[HWPMC_NROW];
	struct pmc_event_desc event[HWPMC_NROW];
	size_t		n;
	int		device;
	struct pmc_unwinder *_Atomic unwinder;	/* that has the device, too, or NULL */
	int		quiet;
	pid_t		maker;	/* not its children */
} made;

static void deadly_signals(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	for (i = 0; i < NDEADLY; i++)
		sigaddset(set, deadly[i]);
}

/* Also in a signal handler */
static void leave_device(void)
{
	struct pmc_unwinder *u = made.unwinder;

	if (u)
		pmc_unwinder_stop(u);
	close(made.device);
}

static void end_by(int signal_number)
{
	size_t i;

	if (getpid() == made.maker) {
		leave_device();
		for (i = 0; i < made.n; i++)
			pmc_probe_remove(made.probe[i]);
	}
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* After exit() in the middle of a run the device is still open, with its PMCs. */
static void at_exit(void)
{
	if (!made.n || getpid() != made.maker)
		return;
	leave_device();
	probes_remove();
}

/* Installs the handlers; called once, before the first probe is made */
static void expect_the_end(struct pmc_owner *owner)
{
	struct sigaction act = { .sa_handler = end_by }, old;
	size_t i;

	made.device = pmc_owner_fd(owner);
	made.maker = getpid();
	deadly_signals(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGVTALRM);	/* demangle.c would leave this handler, too */
	for (i = 0; i < NDEADLY; i++) {
		sigaction(deadly[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)	/* nohup: stay ignored */
			sigaction(deadly[i], &act, NULL);
	}
	atexit(at_exit);
}

/* An event that is counted on several CPUs has one probe. */
static int reuse(struct counter *c)
{
	uint32_t caps = c->event.caps;
	size_t i;

	for (i = 0; i < made.n; i++) {
		if (strcmp(made.spec[i], c->spec))
			continue;
		c->event = made.event[i];
		c->event.caps = caps;
		return 1;
	}
	return 0;
}

static void make(struct counter *c)
{
	struct pmc_probe *probe;
	sigset_t set, old;
	char why[512];
	int err;

	deadly_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	probe = pmc_probe_make(c->spec, &c->event, why, sizeof(why));
	err = errno;
	if (probe) {
		made.spec[made.n] = c->spec;
		made.event[made.n] = c->event;
		made.probe[made.n++] = probe;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!probe)
		die(err == EACCES || err == EPERM ? EX_NOPERM : EX_UNAVAILABLE,
		    "%s", why);
}

void probes_make(const struct options *o, struct pmc_owner *owner)
{
	struct counter *c;
	size_t i;

	made.quiet = o->quiet;
	for (i = 0; i < o->ncounters; i++) {
		c = &o->counters[i];
		if (!(c->event.flags & PMC_EVENT_PROBE))
			continue;
		if (!made.maker)
			expect_the_end(owner);
		if (!reuse(c))
			make(c);
	}
}

void probes_remove(void)
{
	while (made.n) {
		made.n--;
		if (pmc_probe_remove(made.probe[made.n]) && !made.quiet)
			warn_line("cannot remove the probe %s: %s",
				  pmc_probe_name(made.probe[made.n]),
				  strerror(errno));
		pmc_probe_free(made.probe[made.n]);
	}
}

void probes_unwinder(struct pmc_unwinder *u)
{
	made.unwinder = u;
}

void probes_leave(void)
{
	if (made.n)
		close(made.device);
}
