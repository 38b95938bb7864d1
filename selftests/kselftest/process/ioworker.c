// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of io_uring and vhost: threads of a program that the kernel has made,
 * and that never run in user mode.
 */
#include <linux/io_uring.h>
#include <linux/vhost.h>
#include <sys/syscall.h>

#include "module.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define WORKERS	20

static int io_uring_setup(unsigned int n, struct io_uring_params *p)
{
	return syscall(SYS_io_uring_setup, n, p);
}

/* Has a worker of the kernel's read /dev/zero for ever. */
static void worker_load(void)
{
	struct io_uring_params p = {};
	int fd = io_uring_setup(1, &p), zero = open("/dev/zero", O_RDONLY);
	struct io_uring_sqe *sqe;
	unsigned int *tail, *head;
	size_t len = 16 << 20;
	void *sq, *buf = malloc(len);

	if (fd < 0)
		_exit(1);
	sq = mmap(NULL, p.cq_off.cqes + 4096, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED)
		_exit(1);
	for (;;) {
		memset(sqe, 0, sizeof(*sqe));
		sqe->opcode = IORING_OP_READ;
		sqe->flags = IOSQE_ASYNC;
		sqe->fd = zero;
		sqe->addr = (uintptr_t)buf;
		sqe->len = len;
		*(unsigned int *)((char *)sq + p.sq_off.array) = 0;
		tail = (unsigned int *)((char *)sq + p.sq_off.tail);
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1,
			    IORING_ENTER_GETEVENTS, NULL, 0) != 1)
			_exit(1);
		head = (unsigned int *)((char *)sq + p.cq_off.head);
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
}

/*
 * Workers have a program's memory, but no registers of it: not when they end
 * either, which before 6.5 they do as if they were threads like others.
 */
TEST(no_user_part)
{
	unsigned int workers = 0, user = 0, late = 0, i;
	struct io_uring_params p = {};
	int fd = io_uring_setup(1, &p);
	struct pmclog_rec rec;
	struct sample s;
	struct log log;
	int dev, file;
	pid_t pid;

	if (fd < 0)
		SKIP(return, "no io_uring here");
	close(fd);
	dev = dev_open();
	file = temp_file();
	BEGIN_LOG(dev, file, pmc_clock(997), NULL);
	for (i = 0; i < WORKERS; i++) {
		pid = fork_bound();
		if (!pid)
			worker_load();
		/* one of two CPUs is its worker's */
		EXPECT_TRUE(wait_committed(dev, (i + 1) * 1000 / WORKERS));
		EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
		load_end(pid);
	}
	END_LOG(dev, file, &log, 0);
	LOG_FOR_EACH(&log, rec) {
		/* no program here has threads of its own */
		if (!log_sample(&rec, &s) || !s.pid || s.tid == s.pid)
			continue;
		workers++;
		late += s.late;
		if (sample_kernel_part(&s) == s.npc)
			continue;
		user++;
		TH_LOG("%#llx of user mode", (unsigned long long)
		       s.pc[sample_kernel_part(&s)]);
	}
	TH_LOG("%u samples of workers", workers);
	EXPECT_LT(50, workers);
	EXPECT_EQ(0, user);
	EXPECT_EQ(0, late);
}

static int vhost_owner(struct target *t, void *arg)
{
	int fd = open("/dev/vhost-vsock", O_RDWR);

	if (fd < 0 || ioctl(fd, VHOST_SET_OWNER))
		return 1;
	return target_pause(t);
}

/*
 * vhost's, unlike io_uring's, never look whether something is left with them: the
 * module, which would have to stay until they do, leaves them nothing.
 */
TEST(nothing_left_with_vhost)
{
	struct target t;
	int dev;

	system("modprobe -q vhost_vsock");
	if (access("/dev/vhost-vsock", R_OK | W_OK))
		SKIP(return, "no vhost here");
	ASSERT_TRUE(target_begin(&t, vhost_owner, NULL));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_counter(SWITCHES, 0), t.pid,
				NULL));
	ASSERT_TRUE(target_step(&t));
	close(dev);
	EXPECT_EQ(0, module_users());
	EXPECT_EQ(0, target_end(&t));
}

TEST_HARNESS_MAIN
