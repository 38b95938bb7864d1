/* SPDX-License-Identifier: BSD-2-Clause */
/* Disables and enables rows, in the order of the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmccontrol.h"

static const char *verb(const struct change *c)
{
	return c->enable ? "enable" : "disable";
}

static void check_range(const struct change *c, const struct hwpmc_cpuinfo *i)
{
	if (c->cpu != ALL && (unsigned int)c->cpu >= i->ncpu)
		die(EX_DATAERR, "cannot %s rows on CPU %d: CPU numbers here "
		    "are below %u", verb(c), c->cpu, i->ncpu);
	if (c->row != ALL && (unsigned int)c->row >= i->npmc)
		die(EX_DATAERR, "cannot %s row %d: rows are numbered from 0 to "
		    "%u", verb(c), c->row, i->npmc - 1);
}

static int change_row(struct pmc_owner *owner, int cpu, int row, int enable)
{
	return enable ? pmc_owner_enable(owner, cpu, row) :
			pmc_owner_disable(owner, cpu, row);
}

/* Reports a busy row; the other rows and CPUs are still changed. */
static int tell_busy(const struct change *c, int cpu,
		     const unsigned char *busy, size_t n)
{
	char *rows = ranges_text(busy, n);
	int none = !rows[0];

	if (!none)
		warn_line("cannot %s row%s %s on CPU %d: in use", verb(c),
			  strpbrk(rows, "-,") ? "s" : "", rows, cpu);
	free(rows);
	return none ? 0 : EX_TEMPFAIL;
}

/* Why no row of the CPU can be changed. */
static int tell_why(const struct change *c, int cpu, int row, int err)
{
	switch (err) {
	case ENXIO:
		warn_line("cannot %s row %d on CPU %d: the CPU is offline",
			  verb(c), row, cpu);
		return EX_UNAVAILABLE;
	case EINVAL:
		warn_line("cannot %s row %d on CPU %d: there is no such CPU",
			  verb(c), row, cpu);
		return EX_DATAERR;
	case EPERM: case EACCES:
		die(EX_NOPERM, "cannot %s row %d on CPU %d: that needs "
		    "CAP_SYS_ADMIN", verb(c), row, cpu);
	default:
		die(EX_OSERR, "cannot %s row %d on CPU %d: %s", verb(c), row,
		    cpu, strerror(err));
	}
}

static int change_on(struct pmc_owner *owner, const struct change *c, int cpu,
		     size_t npmc)
{
	int first = c->row == ALL ? 0 : c->row;
	int last = c->row == ALL ? (int)npmc - 1 : c->row;
	unsigned char *busy = calloc(npmc, 1);
	int row, err = 0, status = 0;

	if (!busy)
		die(EX_OSERR, "out of memory");
	for (row = first; row <= last && !err; row++) {
		if (!change_row(owner, cpu, row, c->enable))
			continue;
		if (errno == EBUSY)
			busy[row] = 1;
		else
			err = errno;
	}
	if (!err)
		status = tell_busy(c, cpu, busy, npmc);
	free(busy);
	/* CPU numbers have gaps: ALL means the CPUs that exist */
	if (c->cpu == ALL && (err == ENXIO || err == EINVAL))
		return 0;
	return err ? tell_why(c, cpu, row - 1, err) : status;
}

/* If any number is invalid, nothing is changed. */
int change_rows(struct pmc_owner *owner, const struct options *o)
{
	const struct hwpmc_cpuinfo *info = cpuinfo(owner);
	int status = 0, one, cpu;
	size_t i;

	for (i = 0; i < o->nchanges; i++)
		check_range(&o->changes[i], info);
	for (i = 0; i < o->nchanges; i++) {
		const struct change *c = &o->changes[i];
		int first = c->cpu == ALL ? 0 : c->cpu;
		int last = c->cpu == ALL ? (int)info->ncpu - 1 : c->cpu;

		for (cpu = first; cpu <= last; cpu++) {
			one = change_on(owner, c, cpu, info->npmc);
			if (!status)
				status = one;
		}
	}
	return status;
}
