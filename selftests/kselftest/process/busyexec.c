// SPDX-License-Identifier: GPL-2.0-only
/*
 * A target that execs, and is held up in that by a file system: whoever attaches
 * to it waits for it, and nobody else does.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "target.h"
#include "test.h"

#define PLACE		"/tmp/busyexec"
#define FILE_NODE	(FUSE_ROOT_ID + 1)
#define PAGE		4096
#define FAULTS		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define PATIENCE_MS	scaled(5000, 60000)

/* What the file system's process shares with the test. */
struct hold {
	volatile bool held;	/* somebody waits for an answer ... */
	volatile bool let_go;	/* ... which is given when this is set */
};

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
		.size = PAGE,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600,
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

static void serve_one(int fd, struct hold *hold, const struct fuse_in_header *in)
{
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.flags = FUSE_WRITEBACK_CACHE,
		.max_write = PAGE,
	};
	static const struct fuse_open_out opened;
	static const char zeros[PAGE];
	const struct fuse_write_in *w = (const void *)(in + 1);
	struct fuse_write_out written = { .size = w->size };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fd, in);
		break;
	case FUSE_SETATTR:
		hold->held = true;
		while (!hold->let_go)
			sleep_ms(1);
		/* fall through */
	case FUSE_GETATTR:
		answer_attr(fd, in);
		break;
	case FUSE_OPEN:
		answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer(fd, in->unique, 0, zeros, PAGE);
		break;
	case FUSE_WRITE:
		answer(fd, in->unique, 0, &written, sizeof(written));
		break;
	case FUSE_FORGET:
		break;
	default:
		answer(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd, struct hold *hold)
{
	static uint64_t buf[(FUSE_MIN_READ_BUFFER + PAGE) / sizeof(uint64_t)];

	while (read(fd, buf, sizeof(buf)) > 0 || errno == EINTR)
		serve_one(fd, hold, (const void *)buf);
}

FIXTURE(busyexec)
{
	struct hold *hold;
	struct target other;	/* ends when it is told to */
	pid_t server, victim;	/* the victim execs a program that waits */
	int input[2];		/* ... for the end of this */
	int dev;
	uint32_t id, other_id;
};

static int nothing(struct target *t, void *arg)
{
	return 7;
}

/* 0, or the file system's process; the file is there when this returns. */
static pid_t mount_it(struct hold *hold)
{
	char options[100];
	pid_t pid;
	int fd;

	mkdir(PLACE, 0700);
	system("modprobe -q fuse");
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40700,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("busyexec", PLACE, "fuse", 0, options)) {
		close(fd);
		return 0;
	}
	pid = fork_bound();
	if (!pid) {
		serve(fd, hold);
		_exit(0);
	}
	close(fd);
	return pid;
}

/* A page of the file is dirty when its memory goes: that goes to the server. */
static void be_victim(int input)
{
	int fd = open(PLACE "/file", O_RDWR);
	volatile char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);

	if (p == MAP_FAILED)
		_exit(1);
	*p = 1;
	exec_waiter(workload_path("waiter"), input);
}

static bool soon(volatile bool *what)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS && !*what; ms++)
		sleep_ms(1);
	return *what;
}

static uint32_t allocated(int dev)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, 0);

	return dev_allocate(dev, &a) ? 0 : a.id;
}

FIXTURE_SETUP(busyexec)
{
	self->hold = shared_memory(sizeof(*self->hold));
	self->server = mount_it(self->hold);
	if (!self->server)
		SKIP(return, "no FUSE");
	ASSERT_TRUE(target_begin(&self->other, nothing, NULL));
	ASSERT_EQ(0, pipe2(self->input, O_CLOEXEC));
	self->victim = fork_bound();
	if (!self->victim)
		be_victim(self->input[0]);
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
	self->id = allocated(self->dev);
	self->other_id = allocated(self->dev);
	ASSERT_NE(0, self->id);
	ASSERT_EQ(0, dev_attach(self->dev, self->other_id, self->other.pid));
	ASSERT_EQ(0, dev_start(self->dev, self->other_id));
	ASSERT_TRUE(soon(&self->hold->held));
}

FIXTURE_TEARDOWN(busyexec)
{
	self->hold->let_go = true;
	close(self->input[1]);
	wait_for(self->victim);
	umount2(PLACE, MNT_DETACH);
	kill(self->server, SIGKILL);
	wait_for(self->server);
	close(self->dev);
	rmdir(PLACE);
}

struct attacher {
	FIXTURE_DATA(busyexec) *self;
	volatile pid_t tid;
	volatile bool done;
	int err;
};

static void *attach(void *arg)
{
	struct attacher *a = arg;

	a->tid = gettid();
	a->err = dev_attach(a->self->dev, a->self->id, a->self->victim);
	a->done = true;
	return NULL;
}

static bool waits(struct attacher *a)
{
	while (!a->tid)
		sleep_ms(1);
	return wait_in_call(getpid(), a->tid, SYS_ioctl);
}

/*
 * Newer kernels take the old memory apart when nobody can be kept waiting by it any
 * more: the caller is attached at once then.
 */
#define ASSERT_WAITS(a, thread) do {					\
	if (!waits(a)) {						\
		pthread_join(thread, NULL);				\
		ASSERT_EQ(0, (a)->err);					\
		SKIP(return, "exec holds nobody up on this kernel");	\
	}								\
} while (0)

static bool ends_soon(pid_t pid)
{
	siginfo_t info = {};
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS && !info.si_pid; ms++) {
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG);
		sleep_ms(1);
	}
	return info.si_pid;
}

/* The owner's other targets come to their ends meanwhile; it is attached to then. */
TEST_F(busyexec, others)
{
	struct attacher a = { .self = self };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &a));
	ASSERT_WAITS(&a, thread);
	target_go(&self->other);
	EXPECT_TRUE(ends_soon(self->other.pid));
	EXPECT_FALSE(a.done);
	self->hold->let_go = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, a.err);
	EXPECT_EQ(7, wait_for(self->other.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, self->id, self->victim));
}

static void interrupted(int sig)
{
}

TEST_F(busyexec, signal)
{
	struct sigaction act = { .sa_handler = interrupted };
	struct attacher a = { .self = self };
	pthread_t thread;

	sigaction(SIGUSR1, &act, NULL);
	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &a));
	ASSERT_WAITS(&a, thread);
	while (!a.done) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(10);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(-EINTR, a.err);
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, self->id, self->victim));
	target_go(&self->other);
	EXPECT_EQ(7, wait_for(self->other.pid));
}

TEST_HARNESS_MAIN
