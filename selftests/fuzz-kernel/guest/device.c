// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device as a file.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "calls.h"

static void set_slot(int *slot, int fd)
{
	/* our own stay clear of what programs close */
	if (fd >= FD_OWN) {
		close(fd);
		return;
	}
	if (fd >= 0)
		*slot = fd;
}

void do_open(const struct op *op)
{
	static const int how[] = {
		O_RDWR, O_RDWR | O_NONBLOCK, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK,
		O_PATH,
	};
	int fail = fail_arm(op);
	int fd = open("/dev/hwpmc", how[op->arg[0] % SIZE(how)]);

	fail_disarm(fail);
	if (op->arg[1] & 1)
		close(dev_of(op));
	set_slot(&sh->dev[op->dev % DEVS], fd);
}

void do_close(const struct op *op)
{
	close(dev_of(op));
}

void do_dup(const struct op *op)
{
	set_slot(&sh->dev[op->arg[0] % DEVS], dup(dev_of(op)));
}

void do_read(const struct op *op)
{
	static const unsigned int sizes[] = { 65536, 1, 0, 100, 4096, 8 };
	static _Thread_local char buf[65536];
	unsigned int i, size = sizes[op->arg[0] % SIZE(sizes)];
	void *to = op->how & HOW_BAD ? bad_address(op) : buf;
	int fail = fail_arm(op);

	for (i = 0; i <= op->arg[1] % 4; i++) {
		struct iovec iov = { to, size };

		if ((op->arg[2] & 1 ?
		     preadv2(dev_of(op), &iov, 1, -1, RWF_NOWAIT) :
		     read(dev_of(op), to, size)) <= 0)
			break;
	}
	fail_disarm(fail);
}

void do_poll(const struct op *op)
{
	struct pollfd p = { .fd = dev_of(op), .events = op->arg[0] };

	poll(&p, 1, op->arg[1] % 16);
}

void do_fcntl(const struct op *op)
{
	int fd = dev_of(op);

	switch (op->arg[0] % 4) {
	case 0:
		fcntl(fd, F_SETFL, O_NONBLOCK);
		break;
	case 1:
		fcntl(fd, F_SETFL, 0);
		break;
	case 2:
		fcntl(fd, F_SETOWN, getpid());
		fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
		break;
	default:
		fcntl(fd, F_SETSIG, SIGUSR1);
	}
}

/* What a device of ours has no answer for. */
void do_odd(const struct op *op)
{
	char buf[16] = "";
	int fd = dev_of(op);
	void *p;

	switch (op->arg[0] % 5) {
	case 0:
		op->arg[1] & 1 ? write(fd, buf, 16) : pread(fd, buf, 16, 1);
		break;
	case 1:
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			munmap(p, 4096);
		break;
	case 2:
		lseek(fd, op->arg[1], SEEK_SET);
		break;
	case 3:
		fsync(fd);
		break;
	default:
		ioctl(fd, TIOCGWINSZ, buf);
	}
}
