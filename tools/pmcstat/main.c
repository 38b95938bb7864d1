/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat: records and counts with hwpmc.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmcstat.h"

static void vwarn_line(const char *fmt, va_list ap)
{
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "pmcstat: %s\n", line);
}

void warn_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn_line(fmt, ap);
	va_end(ap);
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn_line(fmt, ap);
	va_end(ap);
	exit(status);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int list_events(void)
{
	const char **names;
	int i, n;

	if (pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &n))
		die(EX_OSERR, "out of memory");
	for (i = 0; i < n; i++)
		printf("%-26s %s\n", names[i], pmc_event_description(i));
	printf("%-26s %s\n", "rHEX", "the CPU's own event of this number");
	printf("%-26s %s\n", "type=N,config=N",
	       "any event, by perf_event_open(2)'s numbers");
	free(names);
	return fflush(stdout) ? EX_IOERR : 0;
}

int main(int argc, char **argv)
{
	struct options o;
	char msg[512];
	int status = 0;

	if (options_parse(&o, argc, argv, msg, sizeof(msg))) {
		warn_line("%s (try pmcstat --help)", msg);
		options_free(&o);
		return EX_USAGE;
	}
	switch (o.action) {
	case ACTION_HELP:
		usage(stdout);
		break;
	case ACTION_VERSION:
		printf("pmcstat " TOOLS_VERSION ", hwpmc interface %u.%u.%u\n",
		       HWPMC_ABI_VERSION >> 24, HWPMC_ABI_VERSION >> 16 & 0xFF,
		       HWPMC_ABI_VERSION & 0xFFFF);
		break;
	case ACTION_LIST:
		status = list_events();
		break;
	case ACTION_RUN:
		status = session_run(&o);
		break;
	}
	options_free(&o);
	return status;
}
