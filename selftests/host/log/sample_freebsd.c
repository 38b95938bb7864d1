// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program as one would write it on FreeBSD: samples per PMC and process of
 * a log on standard input.  It is compiled against what is installed.
 */

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <pmclog.h>

static void
print_event(const struct pmclog_ev *ev)
{
	uint32_t flags;

	switch (ev->pl_type) {
	case PMCLOG_TYPE_INITIALIZE:
		printf("version %x cpu \"%s\"\n", ev->pl_u.pl_i.pl_version,
		    ev->pl_u.pl_i.pl_cpuid);
		break;
	case PMCLOG_TYPE_PMCALLOCATEDYN:
		printf("pmc %x \"%s\"\n", ev->pl_u.pl_ad.pl_pmcid,
		    ev->pl_u.pl_ad.pl_evname);
		break;
	case PMCLOG_TYPE_MAP_IN:
		printf("map %d %p %s\n", ev->pl_u.pl_mi.pl_pid,
		    (void *)ev->pl_u.pl_mi.pl_start,
		    ev->pl_u.pl_mi.pl_pathname);
		break;
	case PMCLOG_TYPE_CALLCHAIN:
		flags = ev->pl_u.pl_cc.pl_cpuflags;
		printf("sample %u cpu %u %s %p\n", ev->pl_u.pl_cc.pl_pid,
		    PMC_CALLCHAIN_CPUFLAGS_TO_CPU(flags),
		    PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(flags) ? "user" :
		    "kernel", (void *)ev->pl_u.pl_cc.pl_pc[0]);
		break;
	default:
		break;
	}
}

int
main(void)
{
	struct pmclog_ev ev;
	void *parser;

	if ((parser = pmclog_open(STDIN_FILENO)) == NULL)
		err(1, "pmclog_open");
	while (pmclog_read(parser, &ev) == 0)
		print_event(&ev);
	if (ev.pl_state != PMCLOG_EOF)
		errx(1, "record %zu at %jd is bad", ev.pl_count + 1,
		    (intmax_t)ev.pl_offset);
	printf("%zu records\n", ev.pl_count);
	pmclog_close(parser);
	return (0);
}
