// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/samefile.h"

bool same_file(int fd, const char *path)
{
	struct stat x, y;

	if (path && strcmp(path, "-") ? stat(path, &x) :
					fstat(STDOUT_FILENO, &x))
		return false;
	return !fstat(fd, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}
