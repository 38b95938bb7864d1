// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fusefile.h"
#include "guest.h"

#define FILE_NODE	(FUSE_ROOT_ID + 1)

static void answer(int fd, uint64_t unique, int error, const void *what,
		   size_t len)
{
	struct fuse_out_header h = {
		.len = sizeof(h) + len,
		.error = error,
		.unique = unique,
	};
	struct iovec v[] = { { &h, sizeof(h) }, { (void *)what, len } };

	writev(fd, v, len ? 2 : 1);
}

/* A directory, and the one file that there is, by whatever name. */
static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = FUSEFILE_SIZE,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0700,
		.nlink = 1,
	};
}

static void answer_attr(int fd, const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr = attr_of(in->nodeid) };

	answer(fd, in->unique, 0, &out, sizeof(out));
}

static void answer_lookup(int fd, const struct fuse_in_header *in)
{
	struct fuse_entry_out out = {
		.nodeid = FILE_NODE,
		.attr = attr_of(FILE_NODE),
	};

	answer(fd, in->unique, 0, &out, sizeof(out));
}

static void answer_read(int fd, const struct fusefile *f,
			const struct fuse_in_header *in)
{
	const struct fuse_read_in *r = (const void *)(in + 1);
	uint64_t at = r->offset < FUSEFILE_SIZE ? r->offset : FUSEFILE_SIZE;
	uint64_t left = FUSEFILE_SIZE - at;

	answer(fd, in->unique, 0, f->content + at, r->size < left ? r->size : left);
}

static void serve_one(int fd, struct fusefile *f,
		      const struct fuse_in_header *in)
{
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.flags = FUSE_WRITEBACK_CACHE,
		.max_write = FUSEFILE_SIZE,
	};
	static const struct fuse_open_out opened;
	const struct fuse_write_in *w = (const void *)(in + 1);
	const struct fuse_interrupt_in *i = (const void *)(in + 1);
	struct fuse_write_out written = { .size = w->size };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fd, in);
		break;
	case FUSE_SETATTR:
		f->held = f->hold_setattr;
		while (f->hold_setattr && !f->let_go)
			sleep_ms(1);
		/* fall through */
	case FUSE_GETATTR:
		answer_attr(fd, in);
		break;
	case FUSE_FLUSH:
		f->held = f->hold_flush;
		while (f->hold_flush && !f->let_go)
			sleep_ms(1);
		answer(fd, in->unique, 0, NULL, 0);
		break;
	case FUSE_OPEN:
		if (f->hold_open) {
			f->opens++;
			break;
		}
		answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (f->hold_read) {
			f->reads++;
			break;
		}
		if (f->read_ms)
			sleep_ms(f->read_ms);
		answer_read(fd, f, in);
		break;
	case FUSE_WRITE:
		answer(fd, in->unique, 0, &written, sizeof(written));
		break;
	case FUSE_INTERRUPT:
		/* has no effect if it has been answered */
		if (!f->deaf)
			answer(fd, i->unique, -EINTR, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd, struct fusefile *f)
{
	static uint64_t buf[(FUSE_MIN_READ_BUFFER + FUSEFILE_SIZE) / sizeof(uint64_t)];

	while (read(fd, buf, sizeof(buf)) > 0 || errno == EINTR)
		serve_one(fd, f, (const void *)buf);
}

pid_t fusefile_begin(const char *place, struct fusefile *f)
{
	char options[100];
	pid_t pid;
	int fd;

	mkdir(place, 0700);
	system("modprobe -q fuse");
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40700,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("fusefile", place, "fuse", 0, options)) {
		close(fd);
		return 0;
	}
	pid = fork_bound();
	if (!pid) {
		serve(fd, f);
		_exit(0);
	}
	close(fd);
	return pid;
}

void fusefile_end(const char *place, pid_t server)
{
	umount2(place, MNT_DETACH);
	if (server > 0) {
		kill(server, SIGKILL);
		wait_for(server);
	}
	rmdir(place);
}
