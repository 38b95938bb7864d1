// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure at every point, where processes are followed: what is done to PMCs of
 * the process modes, and what their targets do themselves.  A target is followed
 * whatever has failed in it, or the log says that somebody is missing.
 */
#include <pthread.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#include "faults.h"
#include "proclog.h"
#include "target.h"

#define PAGES		20
#define RSEQ_AREA	32	/* bytes; what glibc registers */

/* ------------------------------------------------------------------------
 * Operations
 */
static OP(run_attach, dev_attach(w->dev, w->id, w->pid))
static OP(run_detach, dev_detach(w->dev, w->id, w->pid))

static STATE(not_attached, run_detach(w) == -EINVAL)
static STATE(attached, run_attach(w) == -EEXIST)
static STATE(is_running, run_attach(w) == -EBUSY)

static OP(undo_release, run_allocate(w) ?: run_attach(w))

static OP(run_atbase, DEV_ASK(w->dev, GETATBASE, atbase, .pid = w->pid))

static int record(struct world *w, bool on)
{
	struct hwpmc_record r;
	int err = dev_record(w->dev, on, &r);

	return err ?: r.npmc == 1 ? 0 : -EBADMSG;
}

static OP(run_record, record(w, 1))
static OP(run_record_end, record(w, 0))

static STATE(not_recording, record(w, 0) == -EINVAL)
static STATE(is_recording, record(w, 1) == -EBUSY)

/* Onto the caller, who is no target yet. */
static STATE(not_on_caller,
	     never_started(w) && dev_detach(w->dev, w->id, 0) == -EINVAL)

static OP(undo_self, run_release(w) ?: run_allocate(w))

/* It has children, and then faults in each step. */
static int family(struct target *t, void *arg)
{
	int i;

	for (i = 0; i < 3; i++)
		if (!fork_bound())
			for (;;)
				pause();
	for (i = 0; i < 2; i++) {
		target_pause(t);
		fault_pages(PAGES);
	}
	return 0;
}

static void fail_process(META, struct hwpmc_allocate a)
{
	static const struct op ops[] = {
		{ "PMCALLOCATE, process", run_allocate, run_release },
		{ "PMCSTART, of the caller", run_start, undo_self,
		  not_on_caller },
	}, of_target[] = {
		{ "PMCATTACH", run_attach, run_detach, not_attached },
		{ "PMCDETACH", run_detach, run_attach, attached },
	}, of_attached[] = {
		{ "GETATBASE", run_atbase },
		{ "RECORD, on", run_record, run_record_end, not_recording },
		{ "RECORD, off", run_record_end, run_record, is_recording },
		{ "PMCSTART, process", run_start, run_stop, attached },
		{ "PMCRW, process", run_read },
		{ "PMCSTOP, process", run_stop, run_start, is_running },
		{ "PMCRELEASE, process", run_release, undo_release, attached },
	};
	struct world w = { .a = a, .file = new_file() };
	struct target t;
	struct log log;

	ASSERT_TRUE(target_begin(&t, family, NULL));
	ASSERT_TRUE(target_step(&t));
	w.pid = t.pid;
	w.dev = dev_open();
	ASSERT_EQ(0, run_configure(&w));
	EXPECT_ALL_FAIL(&w, ops);
	ASSERT_EQ(0, undo_self(&w));
	EXPECT_ALL_FAIL(&w, of_target);
	ASSERT_EQ(0, run_attach(&w));
	EXPECT_ALL_FAIL(&w, of_attached);
	ASSERT_EQ(0, undo_release(&w));
	ASSERT_EQ(0, run_start(&w));
	ASSERT_TRUE(target_step(&t));
	ASSERT_EQ(0, run_stop(&w));
	EXPECT_LE(PAGES, dev_value(w.dev, w.id));
	END_PROCLOG(w.dev, w.file, &log, 0);
	log_free(&log);
	target_kill(&t);
	close(w.dev);
	close(w.file);
	EXPECT_TRUE(recorders_are(0));
}

TEST(sampling)
{
	NEED_POINTS();
	fail_process(_metadata, pmc_process_faults(HWPMC_F_DESCENDANTS));
}

TEST(counting)
{
	NEED_POINTS();
	fail_process(_metadata,
		     pmc_process_counter(FAULTS, HWPMC_F_DESCENDANTS |
					 HWPMC_F_LOG_PROCEXIT |
					 HWPMC_F_LOG_PROCCSW));
}

/* ------------------------------------------------------------------------
 * What targets do.  We are one; our children are.
 */
static void begin_self(META, struct world *w, struct hwpmc_allocate a)
{
	*w = (struct world){
		.dev = dev_open(), .file = new_file(), .a = a,
	};
	ASSERT_EQ(0, run_configure(w));
	ASSERT_EQ(0, run_allocate(w));
	ASSERT_EQ(0, dev_attach(w->dev, w->id, 0));
	ASSERT_EQ(0, run_start(w));
}

static void end_self(META, struct world *w, struct log *log)
{
	ASSERT_EQ(0, run_stop(w));
	END_PROCLOG(w->dev, w->file, log, LOG_PROC_DROPS);
	close(w->dev);
	close(w->file);
	EXPECT_TRUE(recorders_are(0));
}

/*
 * After a fork the first write to a page copies it.  Where the kernel is who
 * writes, and cannot, we would be killed: in the rseq area.
 */
static bool leave_rseq(void)
{
	char *self = __builtin_thread_pointer();

	return !__rseq_size ||
	       !syscall(SYS_rseq, self + __rseq_offset, RSEQ_AREA,
			RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

static struct hwpmc_allocate counter_of_children(void)
{
	return pmc_process_counter(FAULTS, HWPMC_F_DESCENDANTS |
					   HWPMC_F_LOG_PROCEXIT);
}

/* @value: how many there were */
static int run_child(struct world *w)
{
	w->pid = fork();
	if (!w->pid) {
		fault_pages(PAGES);
		_exit(0);
	}
	if (w->pid < 0)
		return -errno;
	w->value++;
	return wait_for(w->pid) ? -ECHILD : 0;
}

/* Each child has its count in the log, or is counted there as lost. */
static void check_children(META, struct world *w)
{
	struct proc_record last;
	struct proc_record exited;
	struct pmclog_rec rec;
	uint64_t told;
	struct log log;

	/* what failed last may have been meant for the next one */
	ASSERT_EQ(0, run_child(w));
	ASSERT_EQ(0, run_child(w));
	end_self(_metadata, w, &log);
	told = proc_count(&log, PMCLOG_T_PROCEXIT, ANY);
	TH_LOG("%llu children, %llu of them followed, %llu records lost",
	       (unsigned long long)w->value, (unsigned long long)told,
	       (unsigned long long)log.proc_dropped);
	EXPECT_GE(w->value, told);
	EXPECT_LE(w->value, told + log.proc_dropped);
	EXPECT_TRUE(proc_find(&log, PMCLOG_T_PROCEXIT, w->pid, 0, &last));
	EXPECT_LE(PAGES, last.value);
	/* an end is told of who has ended, not of who lives on uncounted */
	LOG_FOR_EACH(&log, rec)
		if (proc_record(&rec, &exited) &&
		    exited.type == PMCLOG_T_PROCEXIT)
			EXPECT_LE(PAGES, exited.value);
	log_free(&log);
}

TEST(parent_of_many)
{
	static const struct op child = { "fork", run_child };
	struct world w;

	NEED_POINTS();
	ASSERT_TRUE(leave_rseq());
	begin_self(_metadata, &w, counter_of_children());
	EXPECT_TRUE(fail_each(&w, &child, INJECT_MEMORY, NULL));
	check_children(_metadata, &w);
}

/* What follows it fails in the child itself: always, sometimes. */
TEST(child)
{
	static const unsigned int percent[] = { 100, 30 };
	struct code work;
	unsigned int i, n;
	struct world w;

	NEED_POINTS();
	ASSERT_TRUE(code_of_function("fork_work", &work));
	begin_self(_metadata, &w, counter_of_children());
	inject_select(INJECT_MEMORY, &work);
	for (i = 0; i < ARRAY_SIZE(percent); i++) {
		inject_percent(percent[i]);
		for (n = 0; n < 20; n++) {
			EXPECT_EQ(0, run_child(&w));
		}
		inject_percent(0);
	}
	check_children(_metadata, &w);
}

static void *nap(void *arg)
{
	pid_t *tid = arg;
	int i;

	*tid = gettid();
	for (i = 0; i < PAGES; i++)
		sleep_ms(1);
	return NULL;
}

/* EAGAIN is what it has for all that it lacks. */
static int run_thread(struct world *w)
{
	pthread_t thread;
	pid_t tid;
	int err = pthread_create(&thread, NULL, nap, &tid);

	if (err)
		return err == EAGAIN ? -ENOMEM : -err;
	err = pthread_join(thread, NULL);
	/* it is joined before it has ended */
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		sleep_ms(1);
	return -err;
}

TEST(thread)
{
	static const struct op thread = { "a thread", run_thread };
	uint64_t before;
	struct world w;
	struct log log;

	NEED_POINTS();
	begin_self(_metadata, &w, pmc_process_counter(SWITCHES, 0));
	EXPECT_TRUE(fail_each(&w, &thread, INJECT_MEMORY, NULL));
	ASSERT_EQ(0, run_thread(&w));
	before = dev_value(w.dev, w.id);
	ASSERT_EQ(0, run_thread(&w));
	/* our own are few: we wait for its end */
	EXPECT_LE(before + PAGES, dev_value(w.dev, w.id));
	end_self(_metadata, &w, &log);
}

static void *outlive(void *arg)
{
	char path[40], line[400] = "";
	int *begun = arg;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	if (write(*begun, "", 1) != 1)
		_exit(3);
	while (!strstr(line, ") Z"))
		if (!read_line(path, line, sizeof(line)))
			_exit(4);
	_exit(0);
}

/* Its second thread is not followed, and outlives the first. */
static void be_outlived(void)
{
	pthread_t thread;
	int begun[2];
	char c;

	if (pipe(begun))
		_exit(1);
	inject_percent(100);
	if (pthread_create(&thread, NULL, outlive, &begun[1]) ||
	    read(begun[0], &c, 1) != 1)
		_exit(2);
	inject_percent(0);
	pthread_exit(NULL);
}

/*
 * It has not ended when the last of those that are followed has.  Neither the thread
 * itself nor the one that created it, which tries again, gets memory.
 */
TEST(last_thread)
{
	struct code work;
	struct world w;
	struct log log;

	NEED_POINTS();
	ASSERT_TRUE(code_of_function("hwpmc_thread_follow", &work));
	begin_self(_metadata, &w, counter_of_children());
	inject_select(INJECT_MEMORY, &work);
	w.pid = fork();
	if (!w.pid)
		be_outlived();
	EXPECT_EQ(0, wait_for(w.pid));
	end_self(_metadata, &w, &log);
	EXPECT_EQ(1, proc_count(&log, PMCLOG_T_PMCDETACH, w.pid));
	EXPECT_EQ(0, proc_count(&log, PMCLOG_T_PROCEXIT, w.pid));
	EXPECT_LT(0, log.proc_dropped);
}

static int run_map(struct world *w)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, w->other,
		       0);

	if (p == MAP_FAILED)
		return -errno;
	w->value = (uintptr_t)p;
	return 0;
}

static OP(undo_map, munmap((void *)w->value, 4096) ? -errno : 0)

TEST(mapping)
{
	static const struct op map = { "mmap", run_map, undo_map };
	struct world w;
	struct log log;

	NEED_POINTS();
	begin_self(_metadata, &w, pmc_process_faults(0));
	w.other = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, w.other);
	EXPECT_TRUE(fail_each(&w, &map, INJECT_MEMORY, NULL));
	end_self(_metadata, &w, &log);
	EXPECT_TRUE(proc_maps_logged(&log, getpid()));
}

/*
 * In an exec at point @n: whether anything has failed.  Whoever it fails for
 * behind the point of no return is killed.
 */
static bool exec_with_failure(META, unsigned int n)
{
	pid_t pid = fork();
	bool hit;
	int end;

	if (!pid) {
		if (inject_arm(0, n))
			execl("/bin/true", "true", NULL);
		/* what it says when a page of arguments is missing */
		_exit(errno == ENOMEM || errno == E2BIG ? 9 : 99);
	}
	wait_zombie(pid);
	hit = inject_disarm(pid);
	end = wait_for(pid);
	EXPECT_TRUE(end == 0 || end == 9 || end == 128 + SIGKILL ||
		    end == 128 + SIGSEGV)
		TH_LOG("exec, point %u: %d", n, end);
	EXPECT_TRUE(hit || !end);
	return hit;
}

TEST(exec)
{
	struct proc_record last;
	unsigned int n = 1;
	struct code exec;
	struct world w;
	struct log log;

	NEED_POINTS();
	ASSERT_TRUE(code_of_function("do_execveat_common", &exec));
	begin_self(_metadata, &w, pmc_process_faults(HWPMC_F_DESCENDANTS));
	inject_select(INJECT_MEMORY, &exec);
	while (exec_with_failure(_metadata, n))
		n++;
	TH_LOG("exec: %u allocations failed", n - 1);
	EXPECT_LT(1, n);
	end_self(_metadata, &w, &log);
	EXPECT_LE(1, proc_count(&log, PMCLOG_T_PROCEXEC, ANY));
	EXPECT_TRUE(proc_find(&log, PMCLOG_T_SYSEXIT, ANY, 0, &last));
}

TEST(nothing_is_left)
{
	NEED_POINTS();
	EXPECT_TRUE(nothing_stays());
}

TEST_HARNESS_MAIN
