/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat: records and counts with hwpmc, and reads the logs.
 */
#include "pmcstat.h"
#include "reader/base/stdfds.h"
#include "reader/base/textfile.h"

/* Information that nobody gets is a failure. */
static int printed(int status)
{
	return text_close(stdout, "-") && !status ? EX_IOERR : status;
}

int main(int argc, char **argv)
{
	struct options o;
	char msg[512];
	int status;

	stdfds_keep();
	status = options_parse(&o, argc, argv, msg, sizeof(msg));
	if (status) {
		warn_line("%s%s", msg, status == EX_USAGE ?
			  " (try pmcstat --help)" : "");
		options_free(&o);
		return status;
	}
	switch (o.action) {
	case ACTION_HELP:
		usage(stdout);
		status = printed(0);
		break;
	case ACTION_VERSION:
		printf("pmcstat " TOOLS_VERSION ", hwpmc interface %u.%u.%u\n",
		       HWPMC_ABI_VERSION >> 24, HWPMC_ABI_VERSION >> 16 & 0xFF,
		       HWPMC_ABI_VERSION & 0xFFFF);
		status = printed(0);
		break;
	case ACTION_LIST:
		status = printed(list_events(&o));
		break;
	case ACTION_DESCRIBE:
		status = printed(describe_event(o.describe));
		break;
	case ACTION_READ:
		status = read_run(&o);
		break;
	case ACTION_LIVE:
		status = read_live(&o);
		break;
	case ACTION_RUN:
		status = session_run(&o);
		break;
	}
	options_free(&o);
	return status;
}
