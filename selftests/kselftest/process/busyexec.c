// SPDX-License-Identifier: GPL-2.0-only
/*
 * A target that execs, and is held up in that by a file system: whoever attaches
 * to it waits for it, and nobody else does.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "fusefile.h"
#include "target.h"
#include "test.h"

#define PLACE		"/tmp/busyexec"
#define PATIENCE_MS	scaled(5000, 60000)

FIXTURE(busyexec)
{
	struct fusefile *hold;
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

/* A page of the file is dirty when its memory goes: that goes to the server. */
static void be_victim(int input)
{
	int fd = open(PLACE "/file", O_RDWR);
	volatile char *p = mmap(NULL, FUSEFILE_SIZE, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		_exit(1);
	*p = 1;
	exec_waiter(workload_path("waiter"), input);
}

FIXTURE_SETUP(busyexec)
{
	self->hold = shared_memory(sizeof(*self->hold));
	self->hold->hold_setattr = true;
	self->server = fusefile_begin(PLACE, self->hold);
	if (!self->server)
		SKIP(return, "no FUSE");
	ASSERT_TRUE(target_begin(&self->other, nothing, NULL));
	ASSERT_EQ(0, pipe2(self->input, O_CLOEXEC));
	self->victim = fork_bound();
	if (!self->victim)
		be_victim(self->input[0]);
	OPEN_DEVICE(self->dev);
	self->id = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	self->other_id = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	ASSERT_NE(0, self->id);
	ASSERT_EQ(0, dev_attach(self->dev, self->other_id, self->other.pid));
	ASSERT_EQ(0, dev_start(self->dev, self->other_id));
	ASSERT_TRUE(wait_true(&self->hold->held, PATIENCE_MS));
}

FIXTURE_TEARDOWN(busyexec)
{
	cpu_set_online(1, true);
	self->hold->let_go = true;
	close(self->input[1]);
	wait_for(self->victim);
	fusefile_end(PLACE, self->server);
	close(self->dev);
}

/* @call: the operation that waits; NULL: dev_attach() */
struct attacher {
	FIXTURE_DATA(busyexec) *self;
	int (*call)(FIXTURE_DATA(busyexec) *self);
	volatile pid_t tid;
	volatile bool done;
	int err;
};

static int call_attach(FIXTURE_DATA(busyexec) *self)
{
	return dev_attach(self->dev, self->id, self->victim);
}

static void *attach(void *arg)
{
	struct attacher *a = arg;

	a->tid = gettid();
	a->err = (a->call ?: call_attach)(a->self);
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

/* The owner's other targets come to their ends meanwhile; it is attached to then. */
TEST_F(busyexec, others)
{
	struct attacher a = { .self = self };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &a));
	ASSERT_WAITS(&a, thread);
	target_go(&self->other);
	EXPECT_TRUE(wait_ended(self->other.pid, PATIENCE_MS));
	EXPECT_FALSE(a.done);
	self->hold->let_go = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, a.err);
	EXPECT_EQ(7, wait_for(self->other.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, self->id, self->victim));
}

static volatile unsigned int signals;

static void interrupted(int sig)
{
	signals++;
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

/* The victim is a child of ours: attached to as well. */
static int call_start(FIXTURE_DATA(busyexec) *self)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS,
						      HWPMC_F_DESCENDANTS);

	return dev_run(self->dev, a, &a.id);
}

static int call_atbase(FIXTURE_DATA(busyexec) *self)
{
	return DEV_ASK(self->dev, GETATBASE, atbase, .pid = self->victim);
}

/* The handler of a signal does not end the wait in @call if it asks for that. */
static void restarted(META, FIXTURE_DATA(busyexec) *self,
		      int (*call)(FIXTURE_DATA(busyexec) *self))
{
	struct sigaction act = { .sa_handler = interrupted, .sa_flags = SA_RESTART };
	struct attacher a = { .self = self, .call = call };
	pthread_t thread;
	unsigned int i;

	sigaction(SIGUSR1, &act, NULL);
	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &a));
	ASSERT_WAITS(&a, thread);
	for (i = 1; i <= 5 && !a.done; i++) {
		pthread_kill(thread, SIGUSR1);
		while (signals < i)
			sleep_ms(1);
		waits(&a);
	}
	EXPECT_FALSE(a.done);
	self->hold->let_go = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, a.err);
	target_go(&self->other);
	EXPECT_EQ(7, wait_for(self->other.pid));
}

TEST_F(busyexec, restarted_attach)
{
	restarted(_metadata, self, call_attach);
}

TEST_F(busyexec, restarted_atbase)
{
	restarted(_metadata, self, call_atbase);
}

static uint64_t overflows(int dev)
{
	return OWNER_STAT(dev, account.overflows);
}

/* A CPU that comes online gets its events, whoever waits for the exec in @call. */
static void cpu_comes(META, FIXTURE_DATA(busyexec) *self,
		      int (*call)(FIXTURE_DATA(busyexec) *self))
{
	struct attacher a = { .self = self, .call = call };
	struct hwpmc_allocate clock = pmc_clock(1000);
	pthread_t thread;
	uint64_t before;
	unsigned int ms;
	bool waited;
	pid_t load;

	if (cpu_set_online(1, true) || cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_EQ(0, cpu_set_online(1, true));
	clock.cpu = 1;
	BEGIN_LOG(self->dev, temp_file(), clock, &clock.id);
	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &a));
	ASSERT_WAITS(&a, thread);
	before = overflows(self->dev);
	ASSERT_EQ(0, cpu_set_online(1, true));
	load = load_user(1);
	for (ms = 0; ms < PATIENCE_MS && overflows(self->dev) < before + 20; ms++)
		sleep_ms(1);
	EXPECT_LE(before + 20, overflows(self->dev));
	waited = !a.done;
	self->hold->let_go = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, a.err);
	load_end(load);
	EXPECT_EQ(0, dev_closelog(self->dev));
	/* what it waited in was the log then */
	if (!waited)
		SKIP(return, "exec holds nobody up on this kernel");
}

TEST_F(busyexec, cpu_comes_in_attach)
{
	cpu_comes(_metadata, self, call_attach);
}

TEST_F(busyexec, cpu_comes_in_start)
{
	cpu_comes(_metadata, self, call_start);
}

TEST_F(busyexec, cpu_comes_in_atbase)
{
	cpu_comes(_metadata, self, call_atbase);
}

TEST_HARNESS_MAIN
