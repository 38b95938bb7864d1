/* SPDX-License-Identifier: BSD-2-Clause */
/* Says why a recording would not work on this machine, and what mends it. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "pmccontrol.h"

/* In the order in which they are mended: one may be why the next fails. */
static const struct check {
	const char	*name;
	void		(*look)(struct doctor *d);
	bool		by_device;
} checks[] = {
	{ "kernel headers", look_at_headers, false },
	{ "module", look_at_module, false },
	{ "signature", look_at_signature, false },
	{ "loaded", look_at_loaded, false },
	{ "lockdown", look_at_lockdown, false },
	{ "device", look_at_device, false },
	{ "version", look_at_version, false },
	{ "perf's rules", look_at_rules, false },
	{ "recording", look_at_recording, true },
	{ "processes", look_at_processes, true },
	{ "user chains", look_at_chains, true },
	{ "table cache", look_at_cache, false },
	{ "kernel symbols", look_at_symbols, false },
	{ "hardware counters", look_at_counters, false },
};

void answer(struct doctor *d, enum mark mark, const char *fmt, ...)
{
	static const char *const words[] = {
		[MARK_OK] = "ok", [MARK_NOTE] = "note",
		[MARK_PROBLEM] = "problem",
	};
	va_list ap;

	printf("%-8s %s: ", words[mark], d->name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	d->problems += mark == MARK_PROBLEM;
}

void mend(const char *fmt, ...)
{
	va_list ap;

	printf("             ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

int doctor_examine(struct doctor *d)
{
	size_t i;

	find_module(d);
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		d->name = checks[i].name;
		if (d->owner || !checks[i].by_device)
			checks[i].look(d);
		else
			answer(d, MARK_NOTE, "not known before the device can "
			       "be opened");
	}
	pmc_owner_close(d->owner);
	d->owner = NULL;
	return d->problems != 0;
}

/* All groups of the caller: the effective one need not be among the others. */
static gid_t *groups_of_caller(size_t *n)
{
	int room = getgroups(0, NULL), got;
	gid_t *groups;

	if (room < 0)
		die(EX_OSERR, "cannot ask for the groups: %s", strerror(errno));
	groups = calloc((size_t)room + 1, sizeof(*groups));
	if (!groups)
		die(EX_OSERR, "out of memory");
	got = getgroups(room, groups);
	if (got < 0)
		die(EX_OSERR, "cannot ask for the groups: %s", strerror(errno));
	groups[got] = getegid();
	*n = (size_t)got + 1;
	return groups;
}

int doctor(void)
{
	struct doctor d = { .root = "", .uid = geteuid() };
	struct utsname uts;
	gid_t *groups;
	int status;

	if (uname(&uts))
		die(EX_OSERR, "cannot ask for the kernel: %s", strerror(errno));
	groups = groups_of_caller(&d.ngroups);
	d.groups = groups;
	d.release = uts.release;
	status = doctor_examine(&d);
	free(groups);
	return status;
}
