// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "guest.h"
#include "passing.h"

int send_fd(int sock, int fd, uint32_t word)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec iov = { .iov_base = &word, .iov_len = sizeof(word) };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int receive_fd(int sock, uint32_t *word)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = word, .iov_len = sizeof(*word) };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	if (!CMSG_FIRSTHDR(&m))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

int await_fd(int sock)
{
	uint32_t word;
	int fd;

	WAIT_UNTIL((fd = receive_fd(sock, &word)) != -EAGAIN, 60000);
	return fd;
}
