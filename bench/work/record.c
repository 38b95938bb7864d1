// SPDX-License-Identifier: GPL-2.0-only
/*
 * record [-o OWNERS] [-e PMCS] [-n PERIOD] [-g] [-a PID] COMMAND [ARGUMENT...]
 *
 * Samples the whole system by cpu-clock while COMMAND runs, as OWNERS owners with
 * PMCS PMCs each, all with PERIOD (-g: with call chains, the user's too). With -a
 * process PID and its descendants instead, whose context switches are logged too.
 * Each owner has a log of its own, which is deleted. Prints, after what COMMAND
 * prints,
 *	samples= lost= filtered= bytes= passes=	sums over the owners
 *	memory_kb=	less memory that is free with all PMCs started than before
 *			the first owner was opened
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/hwpmc.h>
#include <pmc.h>

#define MAX_OWNERS	256

static struct pmc_owner *owners[MAX_OWNERS];
static int nowners = 1, npmcs = 1;
static uint64_t period = 1000000;
static uint32_t flags;
static pid_t target;

static long free_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[100];
	long kb = -1;

	if (!f)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

static struct pmc_owner *open_owner(void)
{
	struct pmc_owner *o = pmc_owner_open(0);
	char path[] = "/tmp/record.XXXXXX";
	int fd;

	if (!o)
		err(1, "/dev/hwpmc");
	fd = mkstemp(path);
	if (fd < 0 || unlink(path))
		err(1, "%s", path);
	if (pmc_owner_configure_logfile(o, fd))
		err(1, "log");
	close(fd);
	return o;
}

static void start(struct pmc_owner *o)
{
	for (int i = 0; i < npmcs; i++) {
		struct pmc_allocate_opts opts = {
			.size = sizeof(opts),
			.mode = target ? PMC_MODE_TS : PMC_MODE_SS,
			.flags = flags,
			.cpu = target ? PMC_CPU_ANY : PMC_CPU_ALL,
			.count = period,
		};
		pmc_id_t id;

		if (pmc_owner_allocate(o, "cpu-clock", &opts, &id) ||
		    (target && pmc_owner_attach(o, id, target)) ||
		    pmc_owner_start(o, id))
			err(1, "PMC");
	}
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void report(long kb)
{
	uint64_t samples = 0, lost = 0, filtered = 0, bytes = 0, passes = 0;

	for (int i = 0; i < nowners; i++) {
		struct hwpmc_driverstats st;

		if (pmc_owner_flush_logfile(owners[i]) ||
		    pmc_owner_stats(owners[i], HWPMC_STATS_OWNER, &st, sizeof(st)))
			err(1, "statistics");
		samples += st.account.committed;
		filtered += st.account.filtered;
		for (int k = 0; k < PMCLOG_DROP_NCAUSE; k++)
			lost += st.account.dropped[k];
		bytes += st.bytes_written;
		passes += st.log_sweeps;
	}
	printf("samples=%" PRIu64 " lost=%" PRIu64 " filtered=%" PRIu64
	       " bytes=%" PRIu64 " passes=%" PRIu64 " memory_kb=%ld\n",
	       samples, lost, filtered, bytes, passes, kb);
}

int main(int argc, char **argv)
{
	int opt, status;
	long kb;

	while ((opt = getopt(argc, argv, "+a:o:e:n:g")) != -1) {
		switch (opt) {
		case 'o':
			nowners = atoi(optarg);
			break;
		case 'e':
			npmcs = atoi(optarg);
			break;
		case 'n':
			period = strtoull(optarg, NULL, 10);
			break;
		case 'a':
			target = atoi(optarg);
			flags |= PMC_F_DESCENDANTS | PMC_F_LOG_PROCCSW;
			break;
		case 'g':
			flags |= PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc || nowners < 1 || nowners > MAX_OWNERS)
		errx(2, "usage: record [-o OWNERS] [-e PMCS] [-n PERIOD] [-g] [-a PID] COMMAND");
	kb = free_kb();
	for (int i = 0; i < nowners; i++)
		owners[i] = open_owner();
	for (int i = 0; i < nowners; i++)
		start(owners[i]);
	kb -= free_kb();
	status = run(argv + optind);
	fflush(stdout);
	report(kb);
	for (int i = 0; i < nowners; i++)
		pmc_owner_close(owners[i]);
	return status;
}
