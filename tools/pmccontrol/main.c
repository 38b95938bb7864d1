/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmccontrol: the administrator's view of the PMCs of all owners.
 */
#include <errno.h>
#include <string.h>

#include "pmccontrol.h"
#include "reader/base/stdfds.h"

const struct hwpmc_cpuinfo *cpuinfo(struct pmc_owner *owner)
{
	const struct hwpmc_cpuinfo *info;

	if (pmc_owner_cpuinfo(owner, &info))
		die(EX_OSERR, "cannot ask for the CPUs: %s", strerror(errno));
	return info;
}

static struct pmc_owner *open_owner(void)
{
	struct pmc_owner *owner = pmc_owner_open(0);
	const char *hint = "";

	if (owner)
		return owner;
	switch (errno) {
	case EPROTONOSUPPORT:
		die(EX_UNAVAILABLE,
		    "the hwpmc module is older than this pmccontrol");
	case EACCES: case EPERM:
		die(EX_NOPERM, "cannot open /dev/hwpmc: %s; are you root? "
		    "See pmccontrol doctor", strerror(errno));
	case ENOENT: case ENODEV: case ENXIO:
		hint = "; is the module loaded (modprobe hwpmc)? Without it "
		       "pmcstat records by BPF, if it can. See pmccontrol "
		       "doctor";
	}
	die(EX_UNAVAILABLE, "cannot open /dev/hwpmc: %s%s", strerror(errno),
	    hint);
}

static int on_device(const struct options *o)
{
	struct pmc_owner *owner = open_owner();
	int status;

	if (o->action == ACTION_CHANGE)
		status = change_rows(owner, o);
	else if (o->action == ACTION_ROWS)
		status = list_rows(owner);
	else
		status = print_stats(owner);
	pmc_owner_close(owner);
	return status;
}

static int run(const struct options *o)
{
	switch (o->action) {
	case ACTION_HELP:
		usage(stdout);
		return 0;
	case ACTION_VERSION:
		printf("pmccontrol " TOOLS_VERSION
		       ", hwpmc interface %u.%u.%u\n",
		       HWPMC_ABI_VERSION >> 24, HWPMC_ABI_VERSION >> 16 & 0xFF,
		       HWPMC_ABI_VERSION & 0xFFFF);
		return 0;
	case ACTION_EVENTS:
		pmc_event_list(stdout);
		return 0;
	case ACTION_DOCTOR:
		return doctor();
	default:
		return on_device(o);
	}
}

int main(int argc, char **argv)
{
	struct options o;
	char msg[256];
	int status;

	stdfds_keep();
	/* messages must appear after the output printed before */
	setlinebuf(stdout);
	if (options_parse(&o, argc, argv, msg, sizeof(msg))) {
		warn_line("%s (try pmccontrol --help)", msg);
		options_free(&o);
		return EX_USAGE;
	}
	status = run(&o);
	options_free(&o);
	if (fflush(stdout) || ferror(stdout)) {
		warn_line("cannot write: %s", strerror(errno));
		return status ? status : EX_IOERR;
	}
	return status;
}
