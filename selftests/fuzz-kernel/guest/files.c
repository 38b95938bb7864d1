// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors of ours, and files of the machine with a line of text.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

int own(int fd)
{
	int to = fcntl(fd, F_DUPFD_CLOEXEC, FD_OWN);

	close(fd);
	return to;
}

static bool write_text(const char *path, const char *text, int how)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | how);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) > 0;
	close(fd);
	return good;
}

bool write_file(const char *path, const char *text)
{
	return write_text(path, text, 0);
}

bool append_file(const char *path, const char *text)
{
	return write_text(path, text, O_APPEND);
}

int number_in(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return atoi(text);
}
