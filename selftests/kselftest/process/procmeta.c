// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a log of processes tells besides samples and counts: mappings, names,
 * kernel modules; and CPUs that go away under them.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "proclog.h"
#include "target.h"
#include "test.h"

#define CPU	1

FIXTURE(procmeta)
{
	int dev;
	int file;
	struct target t;
	uint64_t *where;	/* of the target's mappings */
	struct log log;
};

FIXTURE_SETUP(procmeta)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	self->where = shared_memory(4096);
	ASSERT_NE(NULL, self->where);
}

FIXTURE_TEARDOWN(procmeta)
{
	target_kill(&self->t);
	close(self->dev);
}

/* ------------------------------------------------------------------------
 * Mappings and names
 */
static void *map_code(unsigned int pages)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(NULL, pages * page, PROT_READ | PROT_EXEC, MAP_PRIVATE,
		       fd, 0);

	close(fd);
	return p;
}

static int maps_body(struct target *t, void *arg)
{
	long page = sysconf(_SC_PAGESIZE);
	uint64_t *where = arg;

	/* before, and taken away again while it is watched */
	where[0] = (uintptr_t)map_code(3);
	target_pause(t);
	where[1] = (uintptr_t)map_code(4);
	munmap((void *)where[1], 2 * page);
	munmap((void *)where[0], 3 * page);
	prctl(PR_SET_NAME, "renamed-target");
	return target_pause(t);
}

/* MAP_INs of @pid at @start, and MAP_OUTs of just that. */
static unsigned int maps(struct log *log, uint32_t type, uint32_t pid,
			 uint64_t start, uint64_t end)
{
	/* both have pid and start at the same places */
	return COUNT_RECORDS(log, rec,
			     rec.type == type &&
			     (pid == ANY || REC32(&rec, map_out, pid) == pid) &&
			     REC64(&rec, map_out, start) == start &&
			     (type == PMCLOG_T_MAP_IN ||
			      REC64(&rec, map_out, end) == end));
}

TEST_F(procmeta, mappings_and_names)
{
	long page = sysconf(_SC_PAGESIZE);
	struct proc_record p;
	uint32_t pid, last = 0;
	uint64_t mine;
	unsigned int i;
	bool renamed = false;

	ASSERT_TRUE(target_begin(&self->t, maps_body, self->where));
	ASSERT_TRUE(target_step(&self->t));
	pid = self->t.pid;
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(0), pid, NULL));
	/* what others map is not told */
	mine = (uintptr_t)map_code(5);
	ASSERT_TRUE(target_step(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, 0);

	EXPECT_EQ(1, maps(&self->log, PMCLOG_T_MAP_IN, pid, self->where[0], 0));
	EXPECT_EQ(1, maps(&self->log, PMCLOG_T_MAP_IN, pid, self->where[1], 0));
	EXPECT_EQ(1, maps(&self->log, PMCLOG_T_MAP_OUT, pid, self->where[0],
			  self->where[0] + 3 * page));
	EXPECT_EQ(1, maps(&self->log, PMCLOG_T_MAP_OUT, pid, self->where[1],
			  self->where[1] + 2 * page));
	if (mine != self->where[1]) {
		EXPECT_EQ(0, maps(&self->log, PMCLOG_T_MAP_IN, ANY, mine, 0));
	}
	EXPECT_EQ(0, maps(&self->log, PMCLOG_T_MAP_IN, getpid(), mine, 0));
	for (i = 0; proc_find(&self->log, PMCLOG_T_PROC_CREATE, pid, i, &p);
	     i++) {
		renamed = !strcmp(p.text, "renamed-target");
		last = p.pid;
	}
	EXPECT_EQ(2, i);
	EXPECT_EQ(pid, last);
	EXPECT_TRUE(renamed);
}

/* Who only counts is not told of mappings. */
TEST_F(procmeta, counting_tells_no_mappings)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS,
						      HWPMC_F_LOG_PROCEXIT);

	ASSERT_TRUE(target_begin(&self->t, maps_body, self->where));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->t.pid, NULL));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(0, maps(&self->log, PMCLOG_T_MAP_IN, self->t.pid,
			  self->where[1], 0));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PMCATTACH, self->t.pid));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXIT, self->t.pid));
}

/* ------------------------------------------------------------------------
 * While the PMC is stopped
 */
static int exec_body(struct target *t, void *arg)
{
	const uint64_t *input = arg;

	exec_waiter(workload_path("waiter"), *input);
	return 1;
}

/* Samples of @pid behind @tsc in a mapping of @file, and all of them. */
static unsigned int samples_in(struct log *log, uint32_t pid, uint64_t tsc,
			       const char *file, unsigned int *all)
{
	struct space *space = space_new();
	const struct space_map *map;
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	*all = 0;
	LOG_FOR_EACH(log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || s.pid != pid || s.tsc < tsc)
			continue;
		map = space_find(space, pid, s.pc[0]);
		n += map && strstr(map->path, file);
		++*all;
	}
	space_free(space);
	return n;
}

/* It runs another program meanwhile: the log knows which when it goes on. */
TEST_F(procmeta, exec_while_stopped)
{
	char comm[40], name[32] = "", bytes[10] = {};
	unsigned int all, i;
	int input[2];
	uint64_t tsc;
	uint32_t id;

	ASSERT_EQ(0, pipe2(input, O_CLOEXEC));
	self->where[0] = input[0];
	ASSERT_TRUE(target_begin(&self->t, exec_body, self->where));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(0), self->t.pid, &id));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	target_go(&self->t);
	snprintf(comm, sizeof(comm), "/proc/%d/comm", self->t.pid);
	for (i = 0; i < 2000 && strcmp(name, "waiter"); i++) {
		sleep_ms(5);
		read_line(comm, name, sizeof(name));
	}
	/* it reads: all of its start is over */
	ASSERT_TRUE(wait_in_call(self->t.pid, self->t.pid, SYS_read));
	tsc = raw_ns();
	ASSERT_EQ(0, dev_start(self->dev, id));
	ASSERT_EQ(10, write(input[1], bytes, 10));
	close(input[1]);
	EXPECT_EQ(0, wait_for(self->t.pid));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_LE(10, samples_in(&self->log, self->t.pid, tsc, "/waiter",
				 &all));
	EXPECT_EQ(all, samples_in(&self->log, self->t.pid, tsc, "/waiter",
				  &all));
}

static int fork_body(struct target *t, void *arg)
{
	volatile uint64_t *where = arg;
	pid_t pid = fork();

	if (!pid) {
		while (!where[0])
			usleep(1000);
		fault_pages(20);
		_exit(0);
	}
	where[1] = pid;
	target_pause(t);
	fault_pages(20);
	wait_for(pid);
	return target_pause(t);
}

/* It forks meanwhile: the log knows the child, and where it runs. */
TEST_F(procmeta, fork_while_stopped)
{
	uint32_t id, other, child;

	ASSERT_TRUE(target_begin(&self->t, fork_body, self->where));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(HWPMC_F_DESCENDANTS),
				self->t.pid, &id));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_start(self->dev, id));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(HWPMC_F_DESCENDANTS),
				self->t.pid, &other));
	self->where[0] = 1;
	ASSERT_TRUE(target_step(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	child = self->where[1];
	EXPECT_LE(20, proc_samples(&self->log, id, child, child));
	/* its first faults may be over before the other one starts */
	EXPECT_LE(10, proc_samples(&self->log, other, child, child));
	EXPECT_LE(proc_samples(&self->log, other, child, child),
		  proc_samples(&self->log, id, child, child));
	EXPECT_LE(20, proc_samples(&self->log, id, self->t.pid, ANY));
}

/* ------------------------------------------------------------------------
 * Kernel modules
 */
/* How often the kernel's code at @start has gone. */
static unsigned int module_goes(struct log *log, uint64_t start)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == PMCLOG_T_MAP_OUT &&
			     REC32(&rec, map_out, pid) == PMCLOG_PID_KERNEL &&
			     REC64(&rec, map_out, start) == start &&
			     REC64(&rec, map_out, end) > start);
}

/* They are told to who samples processes, too. */
TEST_F(procmeta, kernel_modules)
{
	uint64_t kernel = 0, loop = 0;

	if (!access("/sys/module/loop", F_OK) && system("rmmod loop"))
		SKIP(return, "the module to load is in use");
	ASSERT_TRUE(target_begin(&self->t, maps_body, self->where));
	ASSERT_EQ(0, dev_run_on(self->dev,
				pmc_process_sampler(FAULTS, 1, 0),
				self->t.pid, NULL));
	if (system("modprobe -q loop && [ -e /sys/module/loop/sections ]"))
		SKIP(return, "no module to load here");
	EXPECT_EQ(0, system("rmmod loop"));
	ASSERT_TRUE(target_step(&self->t));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(1, proc_kernel_maps(&self->log, "[kernel]", &kernel));
	EXPECT_EQ(0, module_goes(&self->log, kernel));
	EXPECT_EQ(1, proc_kernel_maps(&self->log, "[loop]", &loop));
	EXPECT_EQ(1, module_goes(&self->log, loop));
}

/* ------------------------------------------------------------------------
 * CPUs
 */
static int wanderer(struct target *t, void *arg)
{
	volatile uint64_t *stop = arg;
	unsigned int i;

	for (i = 0; !*stop; i++) {
		pin_to(i % 2 ? CPU : 0);	/* while there is one */
		fault_pages(5);
		usleep(2000);
	}
	return target_pause(t);
}

/* A CPU goes and comes: nothing of its processes is lost. */
TEST_F(procmeta, cpu_comes_and_goes)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, 0);
	unsigned int i, rounds = scaled(8, 3);
	uint32_t ts, tc;
	uint64_t value;

	if (cpu_set_online(CPU, true) || cpu_set_online(CPU, false) ||
	    cpu_set_online(CPU, true))
		SKIP(return, "CPU 1 cannot be switched off");
	a.caps = HWPMC_CAP_USER;
	ASSERT_TRUE(target_begin(&self->t, wanderer, self->where));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(0), self->t.pid, &ts));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->t.pid, &tc));
	target_go(&self->t);
	for (i = 0; i < rounds || (i < 300 && dev_value(self->dev, tc) <= 100);
	     i++) {
		EXPECT_EQ(0, cpu_set_online(CPU, false));
		sleep_ms(30);
		EXPECT_EQ(0, cpu_set_online(CPU, true));
		sleep_ms(30);
	}
	self->where[0] = 1;
	EXPECT_EQ(0, target_end(&self->t));
	value = dev_value(self->dev, tc);
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_LT(100, value);
	EXPECT_EQ(value, proc_samples(&self->log, ts, ANY, ANY));
	EXPECT_LT(0, self->log.cpu_samples[CPU]);
}

/* ------------------------------------------------------------------------
 * Statistics
 */
static int faults_body(struct target *t, void *arg)
{
	fault_pages(200);
	return target_pause(t);
}

/* Of an owner: each overflow, operation and byte; the module's have them too. */
TEST_F(procmeta, statistics)
{
	struct hwpmc_driverstats all[2], own[2];
	uint32_t id;

	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_MODULE, &all[0]));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &own[0]));
	ASSERT_TRUE(target_begin(&self->t, faults_body, NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(0), self->t.pid, &id));
	EXPECT_EQ(-EINVAL, dev_start(self->dev, ~id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &own[1]));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_MODULE, &all[1]));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	/* allocate, attach, start, the failure, flush, and the question */
	EXPECT_EQ(6, own[1].syscalls - own[0].syscalls);
	EXPECT_EQ(1, own[1].syscall_errors - own[0].syscall_errors);
	EXPECT_EQ(self->log.samples, own[1].intr_processed);
	EXPECT_EQ(self->log.samples, own[1].account.overflows);
	EXPECT_EQ(self->log.samples, own[1].account.written);
	EXPECT_EQ(0, own[1].account.in_rings);
	EXPECT_EQ(0, own[1].intr_bufferfull);
	EXPECT_LT(own[0].log_sweeps, own[1].log_sweeps);
	EXPECT_LT(own[0].bytes_written, own[1].bytes_written);
	EXPECT_LE(self->log.samples,
		  own[1].records_written - own[0].records_written);
	EXPECT_LE(2, own[1].buffer_requests);
	EXPECT_EQ(0, own[1].buffer_requests_failed);
	EXPECT_EQ(0, own[1].log_errno);
	EXPECT_EQ(own[1].account.overflows, all[1].account.overflows -
					    all[0].account.overflows);
	EXPECT_EQ(1, all[1].syscall_errors - all[0].syscall_errors);
}

TEST_HARNESS_MAIN
