// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs: the files, pipes and sockets that they go to, and the ioctls with a
 * descriptor of one.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/hwpmc.h>

#include "calls.h"
#include "guestlog.h"

/* A log that was opened outside may have the number of one that was opened here. */
static int log_fd(uint8_t slot)
{
	static const int odd[] = { -1, -1, 9999, -5 };
	unsigned int i = slot % (LOGS + SIZE(odd)), n;
	const int fd = sh->log[i % LOGS].fd;

	if (i >= LOGS)
		return odd[i - LOGS];
	for (n = 0; n < LOGS; n++)
		sh->log[n].uses += sh->log[n].fd == fd;
	return fd;
}

/*
 * A word of the argument is any descriptor: another log's, maybe.  Or there is a
 * failure that is made good, and the log is given again.
 */
static void doubt_logs(const struct op *op)
{
	unsigned int i;

	for (i = 0; i < LOGS && ((op->how & HOW_WORD) || fails_all(op)); i++)
		sh->log[i].sound = false;
}

/* arg: log, flags, size */
static void configure(const struct op *op, unsigned long cmd)
{
	static const uint64_t sizes[] = {
		0, 1, 4096, 65536, 262144, 1 << 20, 16 << 20, ~0ULL,
	};
	ARG(hwpmc_configurelog, x, .fd = log_fd(op->arg[0]),
	    .flags = op->arg[1] & 7, .size = sizes[op->arg[2] % SIZE(sizes)]);

	if (!(x.a.flags & 6))
		x.a.size = 0;
	else
		x.a.fd = -1;
	doubt_logs(op);
	io(op, cmd, &x);
}

void do_configurelog(const struct op *op)
{
	configure(op, HWPMC_IOC_CONFIGURELOG);
}

void do_rotatelog(const struct op *op)
{
	configure(op, HWPMC_IOC_ROTATELOG);
}

void do_snapshot(const struct op *op)
{
	ARG(hwpmc_snapshot, x, .fd = log_fd(op->arg[0]),
	    .flags = op->arg[1] & 1);

	doubt_logs(op);
	io(op, HWPMC_IOC_SNAPSHOT, &x);
}

/* ------------------------------------------------------------------------
 * What they go to
 */
static int tmp_file(const char *dir, int how)
{
	return open(dir, O_TMPFILE | O_RDWR | how, 0600);
}

static int log_pipe(struct log_slot *l, int size, int how)
{
	int ends[2];

	if (pipe2(ends, how))
		return -1;
	if (size)
		fcntl(ends[1], F_SETPIPE_SZ, size);
	l->peer = ends[0];
	return ends[1];
}

static int log_socket(struct log_slot *l, int type)
{
	int ends[2];

	if (socketpair(AF_UNIX, type, 0, ends))
		return -1;
	l->peer = ends[0];
	return ends[1];
}

/* One end of a connection of the machine with itself: that is no Unix socket. */
static int log_internet(struct log_slot *l)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);

	if (!bind(listener, (struct sockaddr *)&a, len) &&
	    !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&a, &len) &&
	    !connect(fd, (struct sockaddr *)&a, len))
		l->peer = accept(listener, NULL, NULL);
	close(listener);
	return fd;
}

static int log_sealed(void)
{
	int fd = memfd_create("log", MFD_ALLOW_SEALING);

	if (!ftruncate(fd, 5000))
		fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
	return fd;
}

static int log_make(struct log_slot *l, const struct op *op)
{
	switch (op->arg[1] % 20) {
	case 1:
		return tmp_file("/fz/big", 0);
	case 2:
		return tmp_file("/fz/big", O_APPEND);
	case 3:
		return tmp_file("/fz/full", 0);
	case 4:
		return log_pipe(l, 0, 0);
	case 5:
		return log_pipe(l, 4096, 0);
	case 6:
		return log_pipe(l, 4096, O_NONBLOCK);
	case 7:
		return log_socket(l, SOCK_STREAM);
	case 8:
		return log_socket(l, SOCK_DGRAM);
	case 9:
		return open("/dev/null", O_WRONLY);
	case 10:
		return open("/dev/full", O_WRONLY);
	case 11:
		return log_sealed();
	case 12:
		return eventfd(0, 0);
	case 13:
		return open("/proc/self/exe", O_RDONLY);
	case 14:
		return dup(dev_of(op));
	case 16:
		return log_internet(l);
	case 17:
		return open("/dev/ptmx", O_RDWR | O_NOCTTY);
	case 18:
		return open("/fz/plain", O_PATH);
	default:
		return memfd_create("log", 0);
	}
}

/*
 * A worker may have read the number of the slot's last descriptor, and give the
 * device what has this number next.
 */
static bool workers_run(void)
{
	unsigned int i;

	for (i = 0; i < sh->nops; i++)
		if (sh->program.op[i].how & HOW_WORKER)
			return true;
	return false;
}

static void remember_file(struct log_slot *l)
{
	struct stat st;

	if (fstat(l->fd, &st))
		return;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->sound = true;
}

/* arg: slot, kind */
void do_logopen(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];
	unsigned int kind = op->arg[1] % 20;
	bool alone = l->fd < 0 || !workers_run();

	l->sound = false;
	if (l->fd >= 0)
		close(l->fd);
	if (l->peer >= 0)
		close(l->peer);
	l->peer = -1;
	l->uses = 0;
	l->fd = log_make(l, op);
	if (l->fd >= FD_OWN || l->peer >= FD_OWN)
		l->fd = l->peer = -1;
	/* descriptors of a child are not ours */
	if ((!kind || kind == 1 || kind == 15 || kind == 19) && !in_child() && alone)
		remember_file(l);
}

/*
 * A worker that is told to close a device may close the log that has the device's
 * number by now. What is opened next gets that number.
 */
bool log_is_sound(const struct log_slot *l)
{
	struct stat st;

	return l->sound && !fstat(l->fd, &st) && st.st_dev == l->dev &&
	       st.st_ino == l->ino;
}

void do_logread(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];
	static _Thread_local char buf[65536];
	struct pollfd p = { .fd = l->peer, .events = POLLIN };

	if (poll(&p, 1, op->arg[1] % 16) > 0)
		read(l->peer, buf, op->arg[2] & 1 ? 100 : sizeof(buf));
}

void do_logclose(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];

	l->sound = false;
	close(op->arg[1] & 1 ? l->peer : l->fd);
}

/*
 * The number of a log that was closed as a device is that of the log which was opened
 * next, in another slot.
 */
static void doubt_number(int fd)
{
	unsigned int i;

	for (i = 0; i < LOGS; i++)
		if (sh->log[i].fd == fd)
			sh->log[i].sound = false;
}

void do_logspoil(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];

	doubt_number(l->fd);
	switch (op->arg[1] % 4) {
	case 0:
		ftruncate(l->fd, op->arg[2] * 16);
		break;
	case 1:
		fcntl(l->fd, F_SETFL, op->arg[2] & 1 ? O_NONBLOCK : 0);
		break;
	case 2:
		lseek(l->fd, op->arg[2], SEEK_SET);
		break;
	default:
		write(l->fd, "spoilt", 6);
	}
}

/* The devices are closed: nobody writes to the logs any more. */
void check_logs(void)
{
	unsigned int i;

	for (i = 0; i < LOGS; i++) {
		struct log_slot *l = &sh->log[i];

		if (log_is_sound(l) && l->uses == 1 && !sh->trouble[0])
			guestlog_check(l->fd, sh->cpu_group, sh->trouble,
				       sizeof(sh->trouble));
	}
}
