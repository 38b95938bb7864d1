/* SPDX-License-Identifier: BSD-2-Clause */
/* The module's statistics since it was loaded. */
#include <errno.h>
#include <string.h>

#include "pmccontrol.h"
#include "reader/log/causes.h"

static void line(const char *what, unsigned long long n)
{
	printf("%-40s %llu\n", what, n);
}

static void print_dropped(const struct pmclog_account *a)
{
	char what[64];
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		snprintf(what, sizeof(what), "samples dropped, %s:",
			 drop_texts[i]);
		line(what, a->dropped[i]);
	}
}

static void print_account(const struct pmclog_account *a)
{
	line("overflows:", a->overflows);
	line("samples committed:", a->committed);
	print_dropped(a);
	line("samples filtered:", a->filtered);
	line("samples written:", a->written);
	line("samples discarded:", a->discarded);
	line("samples still in rings:", a->in_rings);
	line("process records committed:", a->proc_committed);
	line("process records dropped:", a->proc_dropped);
	line("call chains cut:", a->cut);
	line("user call chains left for later:", a->late);
	line("user call chains that came later:", a->late_answered);
	line("times throttled by the kernel:", a->throttled);
}

int print_stats(struct pmc_owner *owner)
{
	struct hwpmc_driverstats s;

	if (pmc_owner_stats(owner, HWPMC_STATS_MODULE, &s, sizeof(s)))
		die(EX_OSERR, "cannot read statistics: %s", strerror(errno));
	line("interrupts processed:", s.intr_processed);
	line("interrupts ignored:", s.intr_ignored);
	line("interrupts with a dropped sample:", s.intr_bufferfull);
	line("system calls:", s.syscalls);
	line("system calls with errors:", s.syscall_errors);
	line("buffer requests:", s.buffer_requests);
	line("buffer requests failed:", s.buffer_requests_failed);
	line("sampling log sweeps:", s.log_sweeps);
	line("bytes written:", s.bytes_written);
	line("records written:", s.records_written);
	print_account(&s.account);
	return 0;
}
