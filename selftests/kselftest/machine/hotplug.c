// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU goes away and comes back while it is counted and sampled.
 */
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "recorder.h"
#include "snapshot.h"
#include "target.h"
#include "test.h"

#define CPU	1
#define ROUNDS	10
#define PMU	"/sys/module/nmipmu/parameters/present"
#define MOVE	"/sys/module/nmipmu/parameters/move"
#define ATOM	"/sys/bus/event_source/devices/nmipmu_atom"

FIXTURE(hotplug)
{
	pid_t loads[2];
	int dev;
};

FIXTURE_SETUP(hotplug)
{
	self->loads[0] = load_user(-1);
	self->loads[1] = load_kernel(-1);
	OPEN_DEVICE(self->dev);
	if (cpu_set_online(CPU, true) || cpu_set_online(CPU, false) ||
	    cpu_set_online(CPU, true))
		SKIP(return, "CPU 1 cannot be switched off");
}

FIXTURE_TEARDOWN(hotplug)
{
	cpu_set_online(CPU, true);
	close(self->dev);
	load_end(self->loads[0]);
	load_end(self->loads[1]);
}

/* Times between which the CPU was away for sure. */
struct away {
	uint64_t from;
	uint64_t to;
};

/* Samples of the CPU before, in (must be none) and after each absence. */
static void check_absences(META, struct log *log, const struct away *away,
			   unsigned int n)
{
	unsigned int present[ROUNDS + 1] = {}, absent = 0, i;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s) {
		if (s.cpu != CPU)
			continue;
		for (i = 0; i < n && s.tsc > away[i].from; i++)
			absent += s.tsc < away[i].to;
		present[i]++;
	}
	EXPECT_EQ(0, absent);
	for (i = 0; i <= n; i++) {
		EXPECT_LT(5, present[i]) TH_LOG("time %u of presence", i);
	}
}

static void absences(META, int dev, int file, struct away *away, unsigned int n)
{
	uint64_t back = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(wait_samples(dev, file, 6, .cpus = 1 << CPU,
					 .from = back));
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		away[i].from = raw_ns();
		sleep_ms(50);
		away[i].to = raw_ns();
		ASSERT_EQ(0, cpu_set_online(CPU, true));
		back = away[i].to;
	}
	ASSERT_TRUE(wait_samples(dev, file, 6, .cpus = 1 << CPU, .from = back));
}

static void sample(META, int dev, struct hwpmc_allocate a)
{
	unsigned int n = scaled(ROUNDS, 4);
	struct away away[ROUNDS];
	int file = temp_file();
	struct log log;

	BEGIN_LOG(dev, file, a, NULL);
	absences(_metadata, dev, file, away, n);
	END_LOG(dev, file, &log, 0);
	check_absences(_metadata, &log, away, n);
	if (a.cpu == HWPMC_CPU_ALL) {
		EXPECT_LT(log.cpu_samples[CPU] / 2, log.cpu_samples[0]);
	}
}

TEST_F(hotplug, sampling_all)
{
	sample(_metadata, self->dev, pmc_clock(1000));
}

TEST_F(hotplug, sampling_one)
{
	struct hwpmc_allocate a = pmc_clock(1000);

	a.cpu = CPU;
	sample(_metadata, self->dev, a);
}

TEST_F(hotplug, cycles)
{
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	sample(_metadata, self->dev,
	       pmc_sampler(CYCLES, CYCLES_PERIOD));
}

static uint64_t value_of(int dev, uint32_t id, int cpu)
{
	uint64_t value = 0;

	dev_read(dev, id, cpu, &value);
	return value;
}

/* A count never goes back, and goes on when the CPU is there again. */
TEST_F(hotplug, counting)
{
	struct hwpmc_allocate one = pmc_counter(CPU_CLOCK);
	struct hwpmc_allocate all = one;
	uint64_t before, before_one, away, back, sum;
	unsigned int i, k;

	one.cpu = CPU;
	ASSERT_EQ(0, dev_allocate(self->dev, &all));
	ASSERT_EQ(0, dev_allocate(self->dev, &one));
	ASSERT_EQ(0, dev_start(self->dev, all.id));
	ASSERT_EQ(0, dev_start(self->dev, one.id));
	for (i = 0; i < scaled(ROUNDS, 3); i++) {
		sleep_ms(100);
		before = value_of(self->dev, all.id, HWPMC_CPU_ALL);
		before_one = value_of(self->dev, one.id, CPU);
		EXPECT_LT(50 * MSEC, before_one);
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		sleep_ms(100);
		away = value_of(self->dev, all.id, HWPMC_CPU_ALL);
		EXPECT_LT(before, away);
		EXPECT_EQ(-ENXIO, dev_read(self->dev, one.id, CPU, &back));
		EXPECT_EQ(-ENXIO, dev_read(self->dev, one.id, HWPMC_CPU_ALL,
					   &back));
		/* starting and stopping do not need the CPU */
		EXPECT_EQ(0, dev_stop(self->dev, one.id));
		EXPECT_EQ(0, dev_start(self->dev, one.id));
		ASSERT_EQ(0, cpu_set_online(CPU, true));
		for (k = 0; k < 600; k++) {
			sleep_ms(100);
			back = value_of(self->dev, one.id, CPU);
			if (back >= before_one + 50 * MSEC)
				break;
		}
		EXPECT_LE(before_one + 50 * MSEC, back);
		EXPECT_LT(away, value_of(self->dev, all.id, HWPMC_CPU_ALL));
	}
	ASSERT_EQ(0, dev_stop(self->dev, all.id));
	ASSERT_EQ(0, dev_stop(self->dev, one.id));
	sum = value_of(self->dev, all.id, 0) + value_of(self->dev, all.id, CPU);
	EXPECT_EQ(sum, value_of(self->dev, all.id, HWPMC_CPU_ALL));
	EXPECT_LT(value_of(self->dev, all.id, CPU),
		  value_of(self->dev, all.id, 0));
}

/* Allocated and started with the CPU away: sampled from when it is there. */
TEST_F(hotplug, comes_later)
{
	int file = temp_file();
	uint64_t online;
	struct log log;

	ASSERT_EQ(0, cpu_set_online(CPU, false));
	BEGIN_LOG(self->dev, file, pmc_clock(1000), NULL);
	sleep_ms(100);
	online = raw_ns();
	ASSERT_EQ(0, cpu_set_online(CPU, true));
	EXPECT_TRUE(wait_samples(self->dev, file, 30, .cpus = 1 << CPU,
				 .from = online));
	END_LOG(self->dev, file, &log, 0);
	EXPECT_LT(20, log.cpu_samples[CPU]);
	EXPECT_EQ(0, log_samples(&log, .cpus = 1 << CPU, .to = online - 1));
}

#define CGROUPS	"/sys/fs/cgroup"
#define OURS	CGROUPS "/hwpmc-hotplug"

static uint64_t charged(void)
{
	char line[32];

	return read_line(OURS "/memory.current", line, sizeof(line)) ?
		       strtoull(line, NULL, 10) : 0;
}

/* The ring of a CPU that comes online is charged to the group that configured the log. */
TEST_F(hotplug, charged)
{
	uint64_t ring = module_param("ringsize") * 1024, before;

	if (!write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no control groups of memory");
	mkdir(OURS, 0700);
	ASSERT_EQ(0, cpu_set_online(CPU, false));
	ASSERT_EQ(0, IN_CHILD(!write_text(OURS "/cgroup.procs", "0") ||
			      dev_configure(self->dev, temp_file())));
	ASSERT_EQ(0, dev_flush(self->dev));
	before = charged();
	/* with the other CPU's ring */
	EXPECT_LT(ring / 2, before);
	ASSERT_EQ(0, cpu_set_online(CPU, true));
	EXPECT_TRUE(WAIT_UNTIL(charged() >= before + ring / 2, 5000));
	ASSERT_EQ(0, dev_closelog(self->dev));
	close(self->dev);
	WAIT_UNTIL(!rmdir(OURS), 10000);
	self->dev = dev_open();
}

static unsigned int online_ms(void)
{
	uint64_t began = now_ns();

	return cpu_set_online(CPU, true) ? UINT_MAX :
					   (now_ns() - began) / MSEC;
}

static unsigned int offline_ms(void)
{
	uint64_t began = now_ns();

	return cpu_set_online(CPU, false) ? UINT_MAX :
					    (now_ns() - began) / MSEC;
}

/*
 * A group that has more than it should: a process charged to it is delayed, for two
 * seconds here.  A CPU that comes online is not, and has its ring.
 */
TEST_F(hotplug, full_group)
{
	unsigned int alone, took = UINT_MAX, i;
	struct hwpmc_driverstats st;

	if (!write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no control groups of memory");
	mkdir(OURS, 0700);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		alone = online_ms();
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		ASSERT_TRUE(write_text(OURS "/memory.high", "max"));
		ASSERT_EQ(0, IN_CHILD(!write_text(OURS "/cgroup.procs", "0") ||
				      dev_configure(self->dev, temp_file())));
		ASSERT_TRUE(write_text(OURS "/memory.high", "0"));
		took = online_ms();
		ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
		EXPECT_EQ(0, st.buffer_requests_failed);
		close(self->dev);
		self->dev = dev_open();
		/* a busy machine is slow at times */
		if (took < alone + 1500)
			break;
	}
	EXPECT_GT(5, i) TH_LOG("%u ms, without a log %u ms", took, alone);
	WAIT_UNTIL(!rmdir(OURS), 10000);
}

/* Does the process sleep in an ioctl? */
static bool in_ioctl(pid_t pid)
{
	char path[64], text[256] = {};
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 10) == SYS_ioctl;
}

static unsigned int come_and_go_ms(void)
{
	unsigned int took = offline_ms();

	return took + online_ms();
}

/* The same while @pid sleeps in an ioctl; UINT_MAX: @pid does not. */
static unsigned int meanwhile_ms(pid_t pid)
{
	return WAIT_UNTIL(in_ioctl(pid), 10000) ? come_and_go_ms() : UINT_MAX;
}

/*
 * A process that is delayed like that while the rings of its log are charged to its group.
 * CPUs come and go meanwhile.
 */
TEST_F(hotplug, opener_delayed)
{
	unsigned int alone, took = UINT_MAX, i;
	int file = temp_file();
	pid_t pid;

	if (!write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no control groups of memory");
	mkdir(OURS, 0700);
	ASSERT_TRUE(write_text(OURS "/memory.high", "0"));
	for (i = 0; i < 5; i++) {
		alone = come_and_go_ms();
		pid = fork_bound();
		if (!pid)
			_exit(!write_text(OURS "/cgroup.procs", "0") ||
			      dev_configure(self->dev, file));
		took = meanwhile_ms(pid);
		load_end(pid);
		close(self->dev);
		self->dev = dev_open();
		/* a busy machine is slow at times */
		if (took < alone + 1500)
			break;
	}
	EXPECT_GT(5, i) TH_LOG("%u ms, without a log %u ms", took, alone);
	WAIT_UNTIL(!rmdir(OURS), 10000);
}

/* Closed with the CPU away, and opened again; with a thread that never waits. */
TEST_F(hotplug, closed_while_away)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		BEGIN_LOG(self->dev, temp_file(), pmc_clock(1000), NULL);
		sleep_ms(50);
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		close(self->dev);
		OPEN_DEVICE(self->dev);
		ASSERT_EQ(0, cpu_set_online(CPU, true));
	}
}

/*
 * The PMU is removed, as by an unbound driver: perf takes it from the events.  What
 * was counted stays, and nothing that is done with the PMC looks for the PMU.
 */
TEST_F(hotplug, pmu_removed)
{
	struct hwpmc_allocate a = pmc_counter(CYCLES);
	struct hwpmc_allocate s = pmc_sampler(CYCLES, 10 * MSEC);
	uint64_t value, later, period = 12345678;

	if (access(PMU, W_OK))
		SKIP(return, "no PMU that can be removed while it has events");
	ASSERT_EQ(0, dev_configure(self->dev, temp_file()));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_allocate(self->dev, &s));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_EQ(0, dev_start(self->dev, s.id));
	ASSERT_TRUE(wait_committed(self->dev, 10));
	ASSERT_TRUE(write_text(PMU, "N"));
	value = dev_value(self->dev, a.id);
	EXPECT_LT(0, value);
	/* all CPUs are looked at when one comes */
	EXPECT_EQ(0, cpu_set_online(CPU, false));
	EXPECT_EQ(0, cpu_set_online(CPU, true));
	sleep_ms(500);
	later = dev_value(self->dev, a.id);
	EXPECT_EQ(value, later);
	EXPECT_EQ(0, dev_stop(self->dev, s.id));
	EXPECT_EQ(0, dev_setcount(self->dev, s.id, &period));
	EXPECT_EQ(0, dev_stop(self->dev, a.id));
	EXPECT_EQ(0, dev_release(self->dev, a.id));
	EXPECT_GT(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(0, close(self->dev));
	EXPECT_TRUE(write_text(PMU, "Y"));
	self->dev = dev_open();
	EXPECT_EQ(0, dev_run(self->dev, a, &a.id));
	sleep_ms(100);
	EXPECT_LT(0, dev_value(self->dev, a.id));
}

static uint64_t dropped(int dev)
{
	struct hwpmc_driverstats st;

	return dev_stats(dev, HWPMC_STATS_OWNER, &st) ? 0 : st.intr_bufferfull;
}

/*
 * perf moves an event to another CPU.  A handler there does not write to the ring of
 * the event's CPU: its samples are dropped and counted, and nothing else is touched.
 */
TEST_F(hotplug, event_moved)
{
	struct hwpmc_allocate a = pmc_sampler(CYCLES, 10 * MSEC);
	uint32_t there, moved;
	int file = temp_file();
	struct log log;

	if (access(MOVE, W_OK) || !access(ATOM, F_OK))
		SKIP(return, "no PMU whose events can be moved to any CPU");
	a.cpu = CPU;
	BEGIN_LOG(self->dev, file, a, &moved);
	a.cpu = 0;
	ASSERT_EQ(0, dev_run(self->dev, a, &there));
	ASSERT_TRUE(wait_samples(self->dev, file, 10, .cpus = 3));
	EXPECT_EQ(0, dropped(self->dev));
	ASSERT_TRUE(write_text(MOVE, "1 0"));
	EXPECT_TRUE(WAIT_UNTIL(dropped(self->dev) >= 20, 30000));
	/* it can be stopped, started and released there */
	EXPECT_EQ(0, dev_stop(self->dev, moved));
	EXPECT_EQ(0, dev_start(self->dev, moved));
	ASSERT_TRUE(wait_samples(self->dev, file, 10, .cpus = 1, .from = raw_ns()));
	EXPECT_EQ(0, dev_release(self->dev, moved));
	END_LOG(self->dev, file, &log, LOG_DROPS);
	EXPECT_LE(20, log.dropped[PMCLOG_DROP_NORING]);
	EXPECT_EQ(log.account.dropped[PMCLOG_DROP_NORING],
		  log.dropped[PMCLOG_DROP_NORING]);
}

/* A sample without a ring is lost, but an overflow it was: it takes the snapshot. */
TEST_F(hotplug, moved_event_triggers)
{
	struct hwpmc_allocate a = pmc_sampler(CYCLES, 10 * MSEC);
	struct snapshot s = {};
	int file = temp_file();
	struct log log;
	uint32_t id;

	if (access(MOVE, W_OK) || !access(ATOM, F_OK))
		SKIP(return, "no PMU whose events can be moved to any CPU");
	a.cpu = CPU;
	a.flags |= HWPMC_F_TRIGGER;
	ASSERT_EQ(0, dev_flight(self->dev, 4 << 20, 0));
	ASSERT_EQ(0, dev_run(self->dev, a, &id));
	ASSERT_TRUE(write_text(MOVE, "1 0"));
	ASSERT_EQ(0, dev_snapshot(self->dev, file, HWPMC_SNAPSHOT_ARM));
	EXPECT_TRUE(wait_snapshot(self->dev));
	LOAD_LOG(&log, file, LOG_DROPS);
	snapshot_look(&log, &s);
	EXPECT_EQ(PMCLOG_SNAPSHOT_PMC, s.cause);
	EXPECT_EQ(id, s.pmcid);
}

/* A child that runs another program; *arg: what it took, in nanoseconds. */
static int parent_body(struct target *t, void *arg)
{
	uint64_t *spent = arg;
	struct rusage ru;

	if (!fork()) {
		execl("/bin/sh", "sh", "-c",
		      "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done", NULL);
		_exit(1);
	}
	wait(NULL);
	getrusage(RUSAGE_CHILDREN, &ru);
	*spent = ru.ru_utime.tv_sec * 1000 * MSEC + ru.ru_utime.tv_usec * 1000ULL;
	return target_pause(t);
}

/* ... under the events of targets: the other PMCs follow forks and execs as before. */
TEST_F(hotplug, pmu_removed_under_targets)
{
	struct hwpmc_allocate a = pmc_process_counter(CYCLES,
						      HWPMC_F_DESCENDANTS);
	struct hwpmc_allocate b = pmc_process_counter(TASK_CLOCK,
						      HWPMC_F_DESCENDANTS);
	uint64_t *spent = shared_memory(sizeof(*spent)), value;
	struct target t;

	if (access(PMU, W_OK))
		SKIP(return, "no PMU that can be removed while it has events");
	ASSERT_TRUE(target_begin(&t, parent_body, spent));
	ASSERT_EQ(0, dev_run_on(self->dev, a, t.pid, &a.id));
	ASSERT_EQ(0, dev_run_on(self->dev, b, t.pid, &b.id));
	ASSERT_TRUE(write_text(PMU, "N"));
	value = dev_value(self->dev, a.id);
	ASSERT_TRUE(target_step(&t));
	EXPECT_LT(0, *spent);
	EXPECT_LT(*spent / 2, dev_value(self->dev, b.id));
	EXPECT_EQ(value, dev_value(self->dev, a.id));
	EXPECT_FALSE(dev_hung_up(self->dev));
	EXPECT_EQ(0, target_end(&t));
	EXPECT_TRUE(dev_hung_up(self->dev));
	EXPECT_TRUE(write_text(PMU, "Y"));
}

/* ... nor do children or other processes get events of the PMU that has its number then. */
TEST_F(hotplug, pmu_replaced_under_targets)
{
	struct hwpmc_allocate a = pmc_process_counter(CYCLES,
						      HWPMC_F_DESCENDANTS);
	uint64_t *spent = shared_memory(sizeof(*spent)), value;
	struct target t, other;

	if (access(PMU, W_OK))
		SKIP(return, "no PMU that can be removed while it has events");
	ASSERT_TRUE(target_begin(&t, parent_body, spent));
	ASSERT_TRUE(target_begin(&other, parent_body, spent));
	ASSERT_EQ(0, dev_run_on(self->dev, a, t.pid, &a.id));
	ASSERT_TRUE(write_text(PMU, "N"));
	ASSERT_TRUE(write_text(PMU, "Y"));
	value = dev_value(self->dev, a.id);
	ASSERT_TRUE(target_step(&t));
	EXPECT_LT(0, *spent);
	EXPECT_EQ(value, dev_value(self->dev, a.id));
	EXPECT_EQ(0, dev_stop(self->dev, a.id));
	EXPECT_EQ(0, dev_attach(self->dev, a.id, other.pid));
	EXPECT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_TRUE(target_step(&other));
	EXPECT_EQ(value, dev_value(self->dev, a.id));
	EXPECT_EQ(0, target_end(&t));
	EXPECT_EQ(0, target_end(&other));
}

TEST_HARNESS_MAIN
