// SPDX-License-Identifier: GPL-2.0-only
/*
 * fromdevice PID PERIOD SECONDS: samples a process by unwind tables, with libpmc, and
 * writes to standard output what it reads from the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pmc.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static struct pmc_owner *begin(pid_t pid, uint64_t period)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts),
		.mode = PMC_MODE_TS,
		.cpu = PMC_CPU_ANY,
		.flags = PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN | PMC_F_UNWIND,
		.count = period,
	};
	struct pmc_owner *o = pmc_owner_open(0);
	struct pmc_preload *preload;
	pmc_id_t id;

	must(o != NULL, "/dev/hwpmc");
	must(!pmc_owner_stream(o, 1 << 20, 0), "stream");
	must(!pmc_owner_allocate(o, "cpu-clock", &opts, &id), "allocate");
	must(!pmc_owner_attach(o, id, pid), "attach");
	preload = pmc_preload_begin(o, &pid, 1);
	must(preload != NULL, "preload");
	pmc_preload_wait(preload, 60000, NULL);
	pmc_preload_end(preload);
	must(!pmc_owner_start(o, id), "start");
	return o;
}

/* What can be read now; returns 0 at the log's end. */
static int take(int fd)
{
	static char buf[1 << 16];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		must(write(STDOUT_FILENO, buf, n) == n, "write");
	must(n == 0 || errno == EAGAIN, "read");
	return n != 0;
}

int main(int argc, char **argv)
{
	struct pmc_owner *o;
	struct pollfd p;
	time_t end;

	if (argc != 4) {
		fputs("usage: fromdevice PID PERIOD SECONDS\n", stderr);
		return 2;
	}
	o = begin(atoi(argv[1]), strtoull(argv[2], NULL, 10));
	end = time(NULL) + atoi(argv[3]);
	p = (struct pollfd){ .fd = pmc_owner_fd(o), .events = POLLIN | POLLRDBAND };
	must(!fcntl(p.fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	while (time(NULL) < end) {
		poll(&p, 1, 100);
		if (p.revents & POLLRDBAND)
			pmc_owner_unwind(o);
		take(p.fd);
	}
	must(!pmc_owner_close_logfile(o), "end of the log");
	while (take(p.fd))
		poll(&p, 1, 100);
	pmc_owner_close(o);
	return 0;
}
