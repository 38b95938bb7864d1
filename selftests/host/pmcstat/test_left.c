/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever ends pmcstat, it removes its probes when the device is closed.  The
 * library's half only tells of it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpmc_unwinder.h"
#include "pmcstat.h"
#include "tap.h"

struct pmc_probe {
	int	made;
};

static struct pmc_probe the_probe;
static int device, report;

int pmc_owner_fd(const struct pmc_owner *owner)
{
	return device;
}

struct pmc_probe *pmc_probe_make(const char *spec, struct pmc_event_desc *desc,
				 char *msg, size_t msglen)
{
	the_probe.made = 1;
	return &the_probe;
}

int pmc_probe_remove(const struct pmc_probe *probe)
{
	const char *how = fcntl(device, F_GETFD) < 0 ? "+" : "-";

	return probe->made && write(report, how, 1) == 1 ? 0 : -1;
}

void pmc_probe_free(struct pmc_probe *probe)
{
	probe->made = 0;
}

const char *pmc_probe_name(const struct pmc_probe *probe)
{
	return probe->made ? "made" : "not made";
}

/* It keeps the device open until it is told to stop. */
void pmc_unwinder_stop(struct pmc_unwinder *u)
{
	abort_if(write(report, "s", 1) != 1);
}

/* In a process of its own: what it has told of goes to @told */
static int end_by(int signal_number, bool unwinder, char *told)
{
	struct counter c = {
		.event.flags = PMC_EVENT_PROBE, .spec = "kprobe:f",
	};
	struct options o = { .counters = &c, .ncounters = 1 };
	struct rlimit none = { 0 };
	int status, ends[2];
	ssize_t n;
	pid_t pid;

	abort_if(pipe(ends));
	fflush(stdout);	/* the child has none of it to tell */
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		report = ends[1];
		device = dup(ends[1]);
		probes_make(&o, NULL);
		if (unwinder)
			probes_unwinder((struct pmc_unwinder *)&the_probe);
		if (signal_number)
			raise(signal_number);
		exit(3);
	}
	close(ends[1]);
	waitpid(pid, &status, 0);
	n = read(ends[0], told, 7);
	told[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	return status;
}

int main(void)
{
	static const int deadly[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
		SIGXCPU,
	};
	char told[8];
	size_t i;
	int status;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		signal(deadly[i], SIG_DFL);
		status = end_by(deadly[i], false, told);
		ok(WIFSIGNALED(status) && WTERMSIG(status) == deadly[i] &&
		   !strcmp(told, "+"), "%s leaves no probe",
		   strsignal(deadly[i]));
	}
	status = end_by(SIGTERM, true, told);
	ok(WIFSIGNALED(status) && !strcmp(told, "s+"), "a thread with the device is stopped first");
	status = end_by(0, true, told);
	ok(WIFEXITED(status) && !strcmp(told, "s+"), "by exit(), too");
	signal(SIGHUP, SIG_IGN);
	status = end_by(SIGHUP, false, told);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 3 && !strcmp(told, "+"),
	   "nohup: exit() leaves none");
	return done();
}
