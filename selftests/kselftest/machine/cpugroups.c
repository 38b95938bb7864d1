// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners for some of the CPUs (SETCPUS): each log has what happens on its CPUs and
 * nothing else, and its account balances on its own.
 */
#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>

#include "latejob.h"
#include "latetally.h"
#include "limit.h"
#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define GROUPS	2
#define USER	1000

/* @mask: a bit for each CPU; 0: all again */
static int set_cpus(int dev, uint64_t mask)
{
	return DEV_ASK(dev, SETCPUS, setcpus, .mask = mask ? (uintptr_t)&mask : 0,
		       .len = mask ? sizeof(mask) : 0);
}

/* Rings that the owner has asked for */
static uint64_t rings_of(int dev)
{
	struct hwpmc_driverstats st;

	return dev_stats(dev, HWPMC_STATS_OWNER, &st) ? ~0ULL : st.buffer_requests;
}

static uint64_t writer_cpus(void)
{
	cpu_set_t set;
	uint64_t mask = 0;
	int cpu;

	CPU_ZERO(&set);
	sched_getaffinity(recorder_pid(), sizeof(set), &set);
	for (cpu = 0; cpu < 64; cpu++)
		mask |= (uint64_t)!!CPU_ISSET(cpu, &set) << cpu;
	return mask;
}

/* dev[i] and file[i] are of CPU i. */
FIXTURE(cpugroups)
{
	int dev[GROUPS];
	int file[GROUPS];
	struct log log[GROUPS];
};

FIXTURE_SETUP(cpugroups)
{
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < GROUPS)
		SKIP(return, "one CPU");
	for (i = 0; i < GROUPS; i++) {
		OPEN_DEVICE(self->dev[i]);
		self->file[i] = temp_file();
	}
}

FIXTURE_TEARDOWN(cpugroups)
{
	int i;

	limit_restore();
	for (i = 0; i < GROUPS; i++) {
		close(self->dev[i]);
		close(self->file[i]);
		log_free(&self->log[i]);
	}
}

TEST_F(cpugroups, rules)
{
	struct hwpmc_allocate all = pmc_clock(100), one = all;
	struct hwpmc_allocate process = pmc_process_faults(0);
	const int dev = self->dev[0];
	uint64_t wide[32];
	uint8_t narrow = 1;
	struct hwpmc_setcpus s = { .mask = (uintptr_t)wide, .len = sizeof(wide) };

	/* CPUs that there cannot be, also beyond the kernel's masks */
	memset(wide, 0xFF, sizeof(wide));
	EXPECT_EQ(0, dev_ioctl(dev, HWPMC_IOC_SETCPUS, &s));
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &process));
	memset(wide, 0, 24);
	EXPECT_EQ(-EINVAL, dev_ioctl(dev, HWPMC_IOC_SETCPUS, &s));
	memset(wide, 0, sizeof(wide));
	EXPECT_EQ(-EINVAL, dev_ioctl(dev, HWPMC_IOC_SETCPUS, &s));
	s = (struct hwpmc_setcpus){ .mask = (uintptr_t)&narrow, .len = 1 };
	EXPECT_EQ(0, dev_ioctl(dev, HWPMC_IOC_SETCPUS, &s));
	/* only CPU 0 */
	one.cpu = 1;
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &one));
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &process));
	one.cpu = 0;
	EXPECT_EQ(0, dev_allocate(dev, &one));
	EXPECT_EQ(-EBUSY, set_cpus(dev, 1));
	EXPECT_EQ(-EBUSY, set_cpus(dev, 0));
	EXPECT_EQ(0, dev_release(dev, one.id));
	ASSERT_EQ(0, dev_configure(dev, self->file[0]));
	EXPECT_EQ(-EBUSY, set_cpus(dev, 1));
	ASSERT_EQ(0, dev_closelog(dev));
	/* all again */
	EXPECT_EQ(0, set_cpus(dev, 0));
	one.cpu = 1;
	EXPECT_EQ(0, dev_allocate(dev, &one));
	EXPECT_EQ(0, dev_allocate(dev, &process));
	EXPECT_EQ(0, dev_allocate(dev, &all));
}

/* The thread still writes the rest of a log that has ended. */
TEST_F(cpugroups, busy_to_the_end)
{
	const int dev = self->dev[0];
	int pipe[2];

	ASSERT_EQ(0, small_pipe(pipe));
	ASSERT_EQ(0, pipe_fill(pipe[1]));
	ASSERT_EQ(0, dev_configure(dev, pipe[1]));
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_configure(dev, -1));
	alarm_every(0, NULL, 0);
	EXPECT_EQ(-EBUSY, set_cpus(dev, 1));
	close(pipe[0]);
	close(pipe[1]);
}

static int begin_clock(int dev, int file, int cpu)
{
	return set_cpus(dev, 1ULL << cpu) ?: dev_configure(dev, file) ?:
	       dev_run(dev, pmc_clock(scaled(1000, 200)), NULL);
}

/* Its parent is on CPU 1, too. */
static pid_t exec_on_one(void)
{
	pid_t pid = fork();

	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), 1);
		execlp("pmcstat", "pmcstat", "--version", (char *)NULL);
		_exit(126);
	}
	return pid;
}

static int forks_on_one(void)
{
	unsigned int n = 20;

	pin_to(1);
	while (n--)
		CHECK(0, wait_for(exec_on_one()));
	return 0;
}

/* PROCFORKs by @pid, and PROCEXECs of its children */
static void count_family(struct log *log, uint32_t pid, unsigned int *forks,
			 unsigned int *execs)
{
	struct proc_record p;
	unsigned int i;

	*forks = 0;
	*execs = 0;
	for (i = 0; proc_find(log, PMCLOG_T_PROCFORK, ANY, i, &p); i++)
		if (p.parent == pid) {
			++*forks;
			*execs += proc_count(log, PMCLOG_T_PROCEXEC, p.pid);
		}
}

/*
 * Two owners: what CPU 1 does is in the log of CPU 1, and no loss of the other one.
 */
TEST_F(cpugroups, each_its_own)
{
	unsigned int forks[GROUPS], execs[GROUPS], others;
	pid_t load[GROUPS], family;
	uint64_t from, to;
	struct log *log;
	int i;

	for (i = 0; i < GROUPS; i++) {
		load[i] = load_user(i);
		ASSERT_EQ(0, begin_clock(self->dev[i], self->file[i], i));
	}
	from = raw_ns();
	family = fork_bound();
	if (!family)
		_exit(forks_on_one());
	EXPECT_EQ(0, wait_for(family));
	for (i = 0; i < GROUPS; i++)
		ASSERT_TRUE(wait_samples(self->dev[i], self->file[i], 50,
					 .cpus = 1 << i, .pid = load[i]));
	to = raw_ns();
	for (i = 0; i < GROUPS; i++) {
		/* a process that has come from the other CPU is named there */
		log = &self->log[i];
		END_LOG(self->dev[i], self->file[i], log, LOG_PROC_DROPS | LOG_STRANGERS);
		load_end(load[i]);
		others = log_samples(log, .cpus = ~(1ULL << i));
		count_family(log, family, &forks[i], &execs[i]);
		TH_LOG("CPU %d: %" PRIu64 " samples, %u of others, %u between; %u forks, %u execs; %" PRIu64 " records of processes lost",
		       i, log->samples, others, log_samples(log, .from = from, .to = to),
		       forks[i], execs[i], log->proc_dropped);
		EXPECT_EQ(0, others);
		EXPECT_LE(50, log_samples(log, .pid = load[i], .from = from, .to = to));
		EXPECT_EQ(0, log->proc_dropped);
		EXPECT_EQ(0, log->account.proc_dropped);
		EXPECT_EQ(0, log_dropped(log));
		EXPECT_EQ(log->samples, log->account.overflows - log->account.filtered);
	}
	EXPECT_EQ(0, forks[0]);
	EXPECT_EQ(20, forks[1]);
	EXPECT_EQ(20, execs[1]);
}

/* What ioctls on another CPU write is in the log. */
TEST_F(cpugroups, from_another_cpu)
{
	const int dev = self->dev[0];
	uint64_t period = 5 * MSEC;
	unsigned int words = 0, periods = 0, records = 0;
	struct hwpmc_allocate a = pmc_clock(100);
	struct hwpmc_record on;
	struct pmclog_rec rec;
	struct log *log = &self->log[0];

	pin_to(1);
	fcntl(dev, F_SETFL, O_NONBLOCK);
	ASSERT_EQ(0, set_cpus(dev, 1));
	ASSERT_EQ(0, dev_configure(dev, self->file[0]));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_EQ(0, dev_userdata(dev, 0x1234));
	EXPECT_EQ(0, dev_setcount(dev, a.id, &period));
	EXPECT_EQ(0, dev_record(dev, true, &on));
	EXPECT_EQ(0, dev_userdata(dev, 0x1234));
	EXPECT_EQ(0, dev_record(dev, false, &on));
	END_LOG(dev, self->file[0], log, LOG_PROC_DROPS | LOG_STRANGERS);
	EXPECT_EQ(0, log->proc_dropped);
	LOG_FOR_EACH(log, rec) {
		words += rec.type == PMCLOG_T_USERDATA &&
			 REC32(&rec, userdata, userdata) == 0x1234;
		records += IS_EXT(&rec, RECORD);
		periods += rec.type == PMCLOG_T_PMCALLOCATEDYN &&
			   REC64(&rec, pmcallocatedyn, rate) == period;
	}
	EXPECT_EQ(2, words);
	EXPECT_EQ(2, records);
	EXPECT_LE(1, periods);
	pin_to(0);
}

/* The thread of @pid that is not its first; 0: there is none */
static pid_t second_thread(pid_t pid)
{
	struct dirent *e;
	pid_t tid = 0;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0 && atoi(e->d_name) != pid)
			tid = atoi(e->d_name);
	if (d)
		closedir(d);
	return tid;
}

/*
 * The thread, asleep in read(2), wakes up on CPU 1, then on CPU 0, and so on.  Each time
 * it sleeps on CPU 0 it is sampled there.
 */
static bool sleep_and_move(const struct job *job, pid_t pid, pid_t tid, int wake,
			   unsigned int n)
{
	unsigned int rounds;
	cpu_set_t cpu[2];
	int i;

	for (i = 0; i < 2; i++) {
		CPU_ZERO(&cpu[i]);
		CPU_SET(i, &cpu[i]);
	}
	for (i = 2 * n - 1; i >= 0; i--) {
		if (!wait_in_call(pid, tid, SYS_read))
			return false;
		rounds = __atomic_load_n(job->rounds, __ATOMIC_RELAXED);
		if (sched_setaffinity(tid, sizeof(cpu[0]), &cpu[i % 2]) ||
		    write(wake, "", 1) != 1)
			return false;
		/* it has been awake */
		while (__atomic_load_n(job->rounds, __ATOMIC_RELAXED) == rounds)
			sleep_ms(1);
	}
	return wait_in_call(pid, tid, SYS_read);
}

/*
 * A thread that was sampled on CPU 0 returns to user mode on CPU 1: its sample stays
 * without its callers, and is counted as such.  CPU 1 has a ring of an earlier log.
 */
TEST_F(cpugroups, late_chain_elsewhere)
{
	struct symbols *sy = symbols_elf("/proc/self/exe");
	struct job job = { .body = body_read, .len = 1, .cpu = 0 };
	struct late_tally t;
	struct log *log = &self->log[0];
	pid_t pid, tid;
	int ends[2];

	NEEDS_LATER();
	ASSERT_NE(NULL, sy);
	ASSERT_EQ(0, dev_configure(self->dev[0], temp_file()));
	ASSERT_EQ(0, dev_closelog(self->dev[0]));
	ASSERT_EQ(0, set_cpus(self->dev[0], 1));
	job.rounds = shared_memory(sizeof(*job.rounds));
	ASSERT_NE(NULL, job.rounds);
	ASSERT_EQ(0, pipe(ends));
	job.fd = ends[0];
	pid = start_job(job, 1, ends[1]);
	while (!(tid = second_thread(pid)))
		sleep_ms(1);
	BEGIN_LOG(self->dev[0], self->file[0], pmc_sampler(SWITCHES, 1), NULL);
	ASSERT_TRUE(sleep_and_move(&job, pid, tid, ends[1], 20));
	END_LOG(self->dev[0], self->file[0], log, LOG_PROC_DROPS | LOG_STRANGERS);
	load_end(pid);
	late_tally(&t, log, pid, sy, "syscall");
	LOG_TALLY(&t);
	/* of twenty sleeps there; a slow kernel also has others, after which it stays there */
	EXPECT_LE(10, t.late - t.joined);
	EXPECT_LE(t.late, log->account.late);
	EXPECT_EQ(log->late_answered, log->account.late_answered);
	EXPECT_EQ(0, log->proc_dropped);
	close(ends[0]);
	close(ends[1]);
}

/* A CPU outside comes online: no ring for it. */
TEST_F(cpugroups, hotplug_outside)
{
	const int dev = self->dev[0];
	struct log *log = &self->log[0];

	if (cpu_set_online(1, false) || cpu_set_online(1, true))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_EQ(0, begin_clock(dev, self->file[0], 0));
	/* of CPU 0, and of ioctls */
	EXPECT_EQ(2, rings_of(dev));
	EXPECT_EQ(1, writer_cpus());
	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_TRUE(wait_samples(dev, self->file[0], 10, .from = raw_ns()));
	EXPECT_EQ(2, rings_of(dev));
	EXPECT_EQ(1, writer_cpus());
	END_LOG(dev, self->file[0], log, LOG_PROC_DROPS | LOG_STRANGERS);
	EXPECT_EQ(0, log->proc_dropped);
	EXPECT_EQ(log->samples, log->cpu_samples[0]);
}

/* All of the owner's CPUs are offline, and come back; the thread returns there. */
TEST_F(cpugroups, none_online)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	const int dev = self->dev[1];
	struct log *log = &self->log[1];

	ASSERT_EQ(0, set_cpus(dev, 2));
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_EQ(0, dev_configure(dev, self->file[1]));
	EXPECT_EQ(-ENXIO, dev_allocate(dev, &a));
	EXPECT_EQ(1, rings_of(dev));
	EXPECT_EQ(0, dev_userdata(dev, 1));
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_NE(2, writer_cpus());
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_EQ(0, dev_run(dev, a, &a.id));
	EXPECT_EQ(2, rings_of(dev));
	ASSERT_TRUE(wait_samples(dev, self->file[1], 10, .cpus = 2));
	EXPECT_EQ(2, writer_cpus());
	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_TRUE(wait_samples(dev, self->file[1], 10, .from = raw_ns()));
	EXPECT_EQ(2, writer_cpus());
	END_LOG(dev, self->file[1], log, LOG_PROC_DROPS | LOG_STRANGERS);
	EXPECT_EQ(log->samples, log->cpu_samples[1]);
}

/* A user's limits count what the owner has, not what the machine has. */
TEST_F(cpugroups, limits)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	struct hwpmc_driverstats st;
	int dev[3], i;

	if (cpus_possible() < 2)
		SKIP(return, "one CPU");
	a.caps = HWPMC_CAP_USER;
	close(limit_open());
	ASSERT_TRUE(limit("max_counters", 1));
	/* two rings of a CPU and two of ioctls, but not four of CPUs */
	ASSERT_TRUE(limit("max_ringmem", owner_mib() + 1));
	ASSERT_TRUE(user_become(USER));
	for (i = 0; i < 3; i++) {
		OPEN_DEVICE(dev[i]);
	}
	EXPECT_EQ(-EDQUOT, dev_allocate(dev[0], &a));
	ASSERT_EQ(0, set_cpus(dev[0], 1));
	EXPECT_EQ(0, dev_allocate(dev[0], &a));
	EXPECT_EQ(-EDQUOT, dev_allocate(dev[0], &a));
	EXPECT_EQ(0, dev_release(dev[0], a.id));
	/* it was given back as it was charged */
	EXPECT_EQ(0, dev_allocate(dev[0], &a));
	ASSERT_EQ(0, set_cpus(dev[1], 2));
	EXPECT_EQ(0, dev_configure(dev[0], self->file[0]));
	EXPECT_EQ(0, dev_configure(dev[1], self->file[1]));
	EXPECT_EQ(-EDQUOT, dev_configure(dev[2], temp_file()));
	ASSERT_EQ(0, dev_stats(dev[1], HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(2, st.buffer_requests);
	EXPECT_EQ(0, st.buffer_requests_failed);
	for (i = 0; i < 3; i++)
		close(dev[i]);
}

TEST_HARNESS_MAIN
