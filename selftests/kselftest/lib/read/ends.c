// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "ends.h"

int make_tcp(int *ends)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&addr, len) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    connect(ends[1], (struct sockaddr *)&addr, len))
		return -1;
	ends[0] = accept(listener, NULL, NULL);
	close(listener);
	return ends[0] < 0 ? -1 : 0;
}

int make_terminal(int *ends)
{
	struct termios raw;

	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	if (ends[0] < 0 || unlockpt(ends[0]))
		return -1;
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	if (ends[1] < 0 || tcgetattr(ends[1], &raw))
		return -1;
	cfmakeraw(&raw);
	return tcsetattr(ends[1], TCSANOW, &raw);
}

bool small_ext4(const char *dir, unsigned int kib)
{
	char command[400];

	snprintf(command, sizeof(command),
		 "modprobe -q loop; modprobe -q ext4; mkdir -p %s &&"
		 "truncate -s %uK %s.image &&"
		 "mke2fs -F %s.image >/dev/null 2>&1 &&"
		 "mount -t ext4 -o loop %s.image %s 2>/dev/null",
		 dir, kib, dir, dir, dir, dir);
	return !system(command);
}

void small_ext4_end(const char *dir)
{
	char path[200];

	umount(dir);
	snprintf(path, sizeof(path), "%s.image", dir);
	unlink(path);
}

bool fill_but(const char *path, size_t spare)
{
	static const char block[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stat st;
	bool good;

	if (fd < 0)
		return false;
	while (write(fd, block, sizeof(block)) > 0)
		;
	good = !fstat(fd, &st) && (size_t)st.st_size > spare &&
	       !ftruncate(fd, st.st_size - spare) && !fsync(fd);
	close(fd);
	return good;
}
