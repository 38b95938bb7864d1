// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/stdfds.h"

void stdfds_keep(void)
{
	int fd;

	/* the lowest free number is the one that is missing */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EX_OSERR);	/* nobody can be told */
}
