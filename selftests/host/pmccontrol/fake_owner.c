/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handle's half of libpmc without a device: a machine with CPUs 0, 2 and
 * 299; 1 is offline, 3 to 298 there are not.  Rows 2, 3 and 9 of CPU 0 are in
 * use, and all of CPU 2.
 *	FAKE_FAIL=NAME:ERRNO,...  the operation NAME fails; "ss", "ss:u",
 *				"ts:u", "unwind": the allocation of such a PMC;
 *				"rows": all are disabled; "hardware": there are
 *				no counters
 *	FAKE_VERSION=NUMBER	the module's
 *	FAKE_TRACE=FILE		what is changed is noted there
 */
#include <errno.h>
#include <linux/hwpmc.h>
#include <linux/perf_event.h>
#include <pmc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct pmc_owner {
	struct hwpmc_cpuinfo info;
};

static int step(const char *name)
{
	const char *fail = getenv("FAKE_FAIL");
	size_t len = strlen(name);

	while (fail && *fail) {
		if (!strncmp(fail, name, len) && fail[len] == ':' &&
		    fail[len + 1] != 'u') {
			errno = atoi(fail + len + 1);
			return -1;
		}
		fail += strcspn(fail, ",");
		fail += *fail == ',';
	}
	return 0;
}

static int check_cpu(int cpu)
{
	if (cpu == 0 || cpu == 2 || cpu == 299)
		return 0;
	errno = cpu == 1 ? ENXIO : EINVAL;
	return -1;
}

struct pmc_owner *pmc_owner_open(unsigned int flags)
{
	return flags || step("open") ? NULL :
	       calloc(1, sizeof(struct pmc_owner));
}

void pmc_owner_close(struct pmc_owner *o)
{
	free(o);
}

int pmc_owner_cpuinfo(struct pmc_owner *o, const struct hwpmc_cpuinfo **info)
{
	o->info.cputype = PMC_CPU_GENERIC;
	o->info.ncpu = 300;
	o->info.ncpu_online = 3;
	o->info.npmc = HWPMC_NROW;
	*info = &o->info;
	return step("cpuinfo");
}

static void use(struct hwpmc_pmcinfo_row *r, uint32_t row, const char *name)
{
	*r = (struct hwpmc_pmcinfo_row){
		.row = row, .pmc_class = HWPMC_CLASS_SOFT, .enabled = 1,
		.disposition = HWPMC_DISP_STANDALONE, .owner_pid = 1234,
		.mode = HWPMC_MODE_SC, .state = HWPMC_STATE_RUNNING,
		.type = PERF_TYPE_SOFTWARE,
	};
	snprintf(r->name, sizeof(r->name), "%s", name);
}

static size_t rows_of_cpu0(struct hwpmc_pmcinfo_row *r)
{
	use(&r[0], 2, "cpu-clock");
	use(&r[1], 3, "cycles:u");
	r[1].mode = HWPMC_MODE_TS;
	r[1].disposition = HWPMC_DISP_THREAD;
	r[1].reload = 1ULL << 40;
	r[1].state = HWPMC_STATE_STOPPED;
	/* another owner, of another pid namespace */
	use(&r[2], 3, "faults");
	r[2].owner_pid = -1;
	/* another user's */
	use(&r[3], 9, "");
	r[3].owner_pid = -1;
	/* the longest name has no room for its NUL */
	use(&r[4], 200, "");
	memset(r[4].name, 'x', sizeof(r[4].name));
	r[5] = (struct hwpmc_pmcinfo_row){
		.row = 255, .pmc_class = HWPMC_CLASS_SOFT, .owner_pid = -1,
		.disposition = HWPMC_DISP_UNKNOWN,
	};
	return 6;
}

int pmc_owner_pmcinfo(struct pmc_owner *o, int cpu,
		      struct hwpmc_pmcinfo_row **rows, size_t *nrows)
{
	uint32_t i;

	if (step("pmcinfo") || check_cpu(cpu))
		return -1;
	*rows = calloc(HWPMC_NROW, sizeof(**rows));
	*nrows = 0;
	if (cpu == 0)
		*nrows = rows_of_cpu0(*rows);
	for (i = 0; cpu == 2 && i < HWPMC_NROW; i++)
		use(&(*rows)[(*nrows)++], i, "cs");
	if (cpu == 299 && step("rows"))
		*nrows = HWPMC_NROW;	/* zeros: none is enabled */
	return 0;
}

static int change(const char *name, int cpu, int row, int busy)
{
	const char *trace = getenv("FAKE_TRACE");
	FILE *f;

	if (step(name) || check_cpu(cpu))
		return -1;
	if (busy && (cpu == 2 || (cpu == 0 && (row == 2 || row == 3 ||
					       row == 9)))) {
		errno = EBUSY;
		return -1;
	}
	f = trace ? fopen(trace, "ae") : NULL;
	if (f) {
		fprintf(f, "%s %d %d\n", name, cpu, row);
		fclose(f);
	}
	return 0;
}

int pmc_owner_enable(struct pmc_owner *o, int cpu, int row)
{
	return change("enable", cpu, row, 0);
}

int pmc_owner_disable(struct pmc_owner *o, int cpu, int row)
{
	return change("disable", cpu, row, 1);
}

int pmc_owner_stats(struct pmc_owner *o, uint32_t scope,
		    struct hwpmc_driverstats *s, size_t size)
{
	memset(s, 0, size);
	if (scope != HWPMC_STATS_MODULE || step("stats"))
		return -1;
	s->intr_processed = UINT64_MAX;
	s->intr_bufferfull = 9;
	s->syscalls = 5000000000ULL;
	s->account.written = 3;
	s->account.dropped[PMCLOG_DROP_FULL] = 7;
	return 0;
}

/* ------------------------------------------------------------------------
 * What doctor asks for
 */
int pmc_owner_fd(const struct pmc_owner *o)
{
	return -1;
}

/* In place of the C library's: the version of the module is asked for by it. */
int ioctl(int fd, unsigned long request, ...)
{
	const char *version = getenv("FAKE_VERSION");
	struct hwpmc_moduleversion *v;
	va_list ap;

	if (request != HWPMC_IOC_GETMODULEVERSION || step("version"))
		return -1;
	va_start(ap, request);
	v = va_arg(ap, struct hwpmc_moduleversion *);
	va_end(ap);
	v->version = version ? (uint32_t)strtoul(version, NULL, 0) :
			       HWPMC_ABI_VERSION;
	return 0;
}

int pmc_owner_allocate(struct pmc_owner *o, const char *spec,
		       struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%s",
		 opts->mode == PMC_MODE_SS ? "ss" : "ts",
		 strstr(spec, ":u") ? ":u" : "");
	*id = 0;
	if ((opts->flags & PMC_F_UNWIND) && step("unwind"))
		return -1;
	return step(name);
}

int pmc_owner_release(struct pmc_owner *o, pmc_id_t id)
{
	return 0;
}

int pmc_owner_record(struct pmc_owner *o, int on, uint32_t *npmc,
		     uint64_t *skew)
{
	return on ? step("record") : 0;
}

int pmc_owner_events(struct pmc_owner *o, struct hwpmc_dynevent **events,
		     size_t *n)
{
	*n = step("hardware") ? 1 : 2;
	*events = calloc(2, sizeof(**events));
	(*events)[0].type = PERF_TYPE_SOFTWARE;
	(*events)[1].type = PERF_TYPE_HARDWARE;
	return 0;
}
