// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include <sys/utsname.h>

#include "profile/here.h"

bool logged_here(const struct log_facts *log)
{
	struct utsname uts;

	return log->release && !uname(&uts) &&
	       !strcmp(uts.release, log->release) &&
	       !strcmp(uts.nodename, log->host);
}
