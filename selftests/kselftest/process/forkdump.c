// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that fork while others are dumped into the log: all of a lineage are
 * mapped there, even if each lives for a moment only.  A lineage that is not is lost
 * for as long as it forks.
 */
#include <sched.h>

#include "recorder.h"
#include "target.h"
#include "test.h"

#define NMAPPERS	20
#define NLINEAGES	3
#define NLOGS		3
#define LIFE_MS		20
#define JOINS		scaled(30, 10)
/* few of them are in user mode on a slow kernel */
#define SAMPLES		scaled(150, 600)

struct control {
	bool	go;
	bool	stop;
	pid_t	test;
};

FIXTURE(forkdump)
{
	int dev;
	pid_t mapper[NMAPPERS];
	pid_t lineage[NLINEAGES];
	volatile struct control *control;
};

static void spin_for(unsigned int ms)
{
	uint64_t end = raw_ns() + ms * MSEC;

	while (raw_ns() < end)
		;
}

/* A test that is killed has no teardown. */
static bool is_alive(pid_t test)
{
	return !kill(test, 0);
}

/* Runs for a moment, makes a child that does the same, and ends. */
static void live(volatile struct control *c)
{
	while (!c->go && is_alive(c->test))
		sleep_ms(1);
	while (!c->stop && is_alive(c->test)) {
		spin_for(LIFE_MS);
		if (fork())
			_exit(0);
	}
	_exit(0);
}

/* Those that are listed first take long to dump. */
FIXTURE_SETUP(forkdump)
{
	unsigned int i;

	OPEN_DEVICE(self->dev);
	for (i = 0; i < NMAPPERS; i++) {
		self->mapper[i] = mapper_begin(scaled(150, 50));
		ASSERT_LT(0, self->mapper[i]);
	}
	self->control = shared_memory(sizeof(*self->control));
	self->control->test = getpid();
	for (i = 0; i < NLINEAGES; i++) {
		self->lineage[i] = fork();
		if (!self->lineage[i])
			live(self->control);
	}
}

FIXTURE_TEARDOWN(forkdump)
{
	unsigned int i;

	self->control->go = true;
	self->control->stop = true;
	for (i = 0; i < NLINEAGES; i++)
		wait_for(self->lineage[i]);
	for (i = 0; i < NMAPPERS; i++)
		mapper_end(self->mapper[i]);
	close(self->dev);
	sleep_ms(5 * LIFE_MS);
}

static void check_mapped(META, int file)
{
	unsigned int mapped, unmapped;
	struct log log;

	/* there a process ends before a second look at its mappings */
	LOAD_LOG(&log, file, scaled(0, LOG_PROC_DROPS));
	unmapped = unmapped_samples(&log, &mapped);
	TH_LOG("%u samples in user mode, %u where nothing is mapped",
	       mapped + unmapped, unmapped);
	/* but for the first moment of a process whose parent was not there yet */
	EXPECT_LE(unmapped, 2 + mapped / 10);
	EXPECT_LT(3, mapped);
	log_free(&log);
}

/* While the processes of the system are listed and dumped, at the start. */
TEST_F(forkdump, system)
{
	uint32_t id;
	int file;
	unsigned int i;

	self->control->go = true;
	for (i = 0; i < NLOGS; i++) {
		file = temp_file();
		BEGIN_LOG(self->dev, file, pmc_clock(scaled(500, 100)), &id);
		ASSERT_TRUE(wait_committed(self->dev, SAMPLES));
		ASSERT_EQ(0, dev_release(self->dev, id));
		ASSERT_EQ(0, dev_closelog(self->dev));
		check_mapped(_metadata, file);
	}
}

/* While targets are dumped, into the log after a rotation, too. */
TEST_F(forkdump, targets)
{
	struct hwpmc_allocate a =
		pmc_process_sampler(CPU_CLOCK, scaled(2, 10) * MSEC, HWPMC_F_DESCENDANTS);
	int file[NLOGS];
	unsigned int i;

	file[0] = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, file[0]));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	for (i = 0; i < NMAPPERS; i++)
		ASSERT_EQ(0, dev_attach(self->dev, a.id, self->mapper[i]));
	/* from the first of each on */
	for (i = 0; i < NLINEAGES; i++)
		ASSERT_EQ(0, dev_attach(self->dev, a.id, self->lineage[i]));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	self->control->go = true;
	for (i = 1; i < NLOGS; i++) {
		ASSERT_TRUE(wait_committed(self->dev, SAMPLES));
		file[i] = temp_file();
		ASSERT_EQ(0, dev_rotate(self->dev, file[i]));
	}
	ASSERT_TRUE(wait_committed(self->dev, SAMPLES));
	ASSERT_EQ(0, dev_closelog(self->dev));
	for (i = 0; i < NLOGS; i++)
		check_mapped(_metadata, file[i]);
}

/*
 * Has the hooks of context switches registered and removed, over and over: whoever
 * needs hooks then waits for that, some ten milliseconds.
 */
static void keep_hooks_busy(volatile struct control *c)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK,
						      HWPMC_F_LOG_PROCCSW);
	int dev;

	while (!c->stop) {
		dev = dev_open();
		if (!dev_allocate(dev, &a))
			dev_attach(dev, a.id, 0);
		close(dev);
		sleep_ms(20);
	}
	_exit(0);
}

/* Children, one after the other, that each live for a moment. */
static void breed(volatile struct control *c)
{
	uint64_t end;
	pid_t pid;

	while (!c->stop) {
		pid = fork();
		if (pid) {
			wait_for(pid);
			continue;
		}
		end = raw_ns() + scaled(5, 20) * MSEC;
		while (raw_ns() < end)
			;
		_exit(0);
	}
	_exit(0);
}

static struct hwpmc_allocate clock_of_family(void)
{
	return pmc_process_sampler(CPU_CLOCK, scaled(1, 10) * MSEC, HWPMC_F_DESCENDANTS);
}

/* log_check() asks who a sample is of. */
static void check_names(META, int file)
{
	struct log log;

	LOAD_LOG(&log, file, 0);
	log_free(&log);
	close(file);
}

/* @target: has one child after the other */
FIXTURE(forknames)
{
	volatile struct control *control;
	pid_t target;
	int dev;
};

FIXTURE_SETUP(forknames)
{
	self->control = shared_memory(sizeof(*self->control));
	self->target = fork();
	if (!self->target)
		breed(self->control);
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(forknames)
{
	self->control->stop = true;
	wait_for(self->target);
	close(self->dev);
}

/* A log of a target, which a PMC of the whole system joins: then it has all processes. */
TEST_F(forknames, system_joins_target)
{
	pid_t busy = fork();
	unsigned int i;
	uint32_t of_target, of_all;
	int file;

	if (!busy)
		keep_hooks_busy(self->control);
	for (i = 0; i < JOINS; i++) {
		file = temp_file();
		ASSERT_EQ(0, dev_configure(self->dev, file));
		ASSERT_EQ(0, dev_run_on(self->dev, clock_of_family(),
					self->target, &of_target));
		ASSERT_TRUE(wait_committed(self->dev, 5));
		ASSERT_EQ(0, dev_run(self->dev, pmc_clock(100), &of_all));
		ASSERT_EQ(0, dev_release(self->dev, of_all));
		ASSERT_EQ(0, dev_release(self->dev, of_target));
		ASSERT_EQ(0, dev_closelog(self->dev));
		check_names(_metadata, file);
	}
	self->control->stop = true;
	wait_for(busy);
}

/* A log begins while a target that is attached already forks. */
TEST_F(forknames, log_begins)
{
	uint32_t id = allocated(self->dev, clock_of_family());
	unsigned int i;
	int file;

	ASSERT_EQ(0, dev_attach(self->dev, id, self->target));
	for (i = 0; i < 2 * JOINS; i++) {
		file = temp_file();
		ASSERT_EQ(0, dev_configure(self->dev, file));
		ASSERT_EQ(0, dev_start(self->dev, id));
		ASSERT_TRUE(wait_committed(self->dev, 5));
		ASSERT_EQ(0, dev_stop(self->dev, id));
		ASSERT_EQ(0, dev_closelog(self->dev));
		check_names(_metadata, file);
	}
}

/*
 * @parent: forks when @go is set, and ends
 * @hog: has CPU 1 for itself, so that the child does not run yet
 */
FIXTURE(forkwaits)
{
	volatile struct late {
		bool	go;
		bool	hogged;
		pid_t	child;
		pid_t	test;
	} *late;
	pid_t parent, hog;
	int dev;
	uint32_t id;
};

static void set_priority(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	pin_to(1);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p);
}

static void fork_late(volatile struct late *l)
{
	pid_t child;

	set_priority(10);
	while (!l->go)
		sleep_ms(1);
	child = fork();
	while (!child && is_alive(l->test))
		spin_for(LIFE_MS);
	if (!child)
		_exit(0);
	l->child = child;
	_exit(child < 0);
}

static void hog(volatile struct late *l)
{
	set_priority(5);
	for (;;)
		l->hogged = true;
}

FIXTURE_SETUP(forkwaits)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	/* RCU's threads have a lower priority than the hog: grace periods would not end */
	if (!access("/sys/kernel/realtime", F_OK))
		SKIP(return, "RCU needs the CPU on PREEMPT_RT");
	self->late = shared_memory(sizeof(*self->late));
	self->late->test = getpid();
	self->parent = fork_bound();
	if (!self->parent)
		fork_late(self->late);
	OPEN_DEVICE(self->dev);
	self->id = allocated(self->dev, clock_of_family());
	ASSERT_EQ(0, dev_attach(self->dev, self->id, self->parent));
}

FIXTURE_TEARDOWN(forkwaits)
{
	if (self->late->child > 0)
		kill(self->late->child, SIGKILL);
	close(self->dev);
}

static void fork_and_end(META, FIXTURE_DATA(forkwaits) *self)
{
	self->hog = fork_bound();
	if (!self->hog)
		hog(self->late);
	while (!self->late->hogged)
		sleep_ms(1);
	self->late->go = true;
	ASSERT_EQ(0, wait_for(self->parent));
	ASSERT_LT(0, self->late->child);
}

static void let_it_run(META, FIXTURE_DATA(forkwaits) *self, int file)
{
	unsigned int mapped, unmapped;
	struct log log;

	load_end(self->hog);
	ASSERT_TRUE(wait_committed(self->dev, scaled(500, 100)));
	END_LOG(self->dev, file, &log, 0);
	unmapped = unmapped_samples(&log, &mapped);
	TH_LOG("%u samples in user mode, %u where nothing is mapped",
	       mapped + unmapped, unmapped);
	EXPECT_GE(2, unmapped);
	EXPECT_LT(10, mapped);
	log_free(&log);
}

/* Its parent has gone when the next log begins, which has all processes. */
TEST_F(forkwaits, rotated)
{
	int first = temp_file(), next = temp_file();

	ASSERT_EQ(0, dev_configure(self->dev, first));
	ASSERT_EQ(0, dev_start(self->dev, self->id));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(scaled(500, 100)), NULL));
	fork_and_end(_metadata, self);
	ASSERT_EQ(0, dev_rotate(self->dev, next));
	let_it_run(_metadata, self, next);
}

/* ... or the first one. */
TEST_F(forkwaits, first_log)
{
	int file = temp_file();

	fork_and_end(_metadata, self);
	BEGIN_LOG(self->dev, file, pmc_clock(scaled(500, 100)), NULL);
	let_it_run(_metadata, self, file);
}

TEST_HARNESS_MAIN
