// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that is counted executes something that its user may not look into:
 * nothing of that is counted.
 */
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "recorder.h"
#include "test.h"
#include "user.h"

/* rings are filled, by mapping after mapping */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600

#define USER	1000
#define OTHER	1001
#define PROGRAM	"/tmp/hwpmc-setid"
#define COMM	"hwpmc-setid"
#define STRANGER "hwpmc-stranger"

/* What this program is when it is executed by that name. */
__attribute__((constructor)) static void spin(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	if (!strcmp(name, COMM))
		for (;;)
			;
}

/**
 * struct result - shared with the process that counts
 * @err: of what it did, negative
 * @names: times that the log says what the other is called
 * @early, @late: counts, the latter after some time of the process
 * @hung_up: the owner is told that his targets have gone
 * @pid: it
 * @mapped, @unmapped: samples in user mode where the log knows a mapping, or none
 * @ends: of the target, and @lost: process records, as the log has it
 * @gone: the number that the target had, which has ended; @taken: somebody has
 *	that now
 */
struct result {
	int err;
	int names;
	uint64_t early, late;
	bool hung_up;
	pid_t pid;
	unsigned int mapped, unmapped, ends;
	uint64_t lost;
	volatile pid_t gone;
	volatile bool taken;
};

FIXTURE(setid)
{
	struct result *r;
};

FIXTURE_SETUP(setid)
{
	/* one that was cut off has left its */
	unlink(PROGRAM);
	ASSERT_TRUE(device_for_group());
	self->r = shared_memory(sizeof(*self->r));
	ASSERT_NE(NULL, self->r);
}

FIXTURE_TEARDOWN(setid)
{
	device_for_root();
	unlink(PROGRAM);
}

static bool install(uid_t uid, gid_t gid, mode_t mode)
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(PROGRAM, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, n) != n)
			return false;
	n = fchown(to, uid, gid) || fchmod(to, mode);
	close(from);
	close(to);
	return !n;
}

/* In the process that is counted, or in its child: waits for the word. */
static void execute(int go, bool child)
{
	char c;

	if (!user_stay(USER) || read(go, &c, 1) != 1)
		_exit(1);
	if (child && fork_bound())
		for (;;)
			pause();
	execl(PROGRAM, COMM, NULL);
	_exit(1);
}

/* The one that runs the program, and the ticks that it has run for. */
static bool find_program(pid_t *pid, uint64_t *ticks)
{
	char path[40], line[512];
	unsigned long utime;
	char *p;

	if (!*pid)
		*pid = find_comm(COMM);
	snprintf(path, sizeof(path), "/proc/%d/stat", *pid);
	if (!*pid || !read_line(path, line, sizeof(line)))
		return false;
	p = strrchr(line, ')');
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu",
			 &utime) != 1)
		return false;
	*ticks = utime;
	return true;
}

/* Until the program has run for @ticks of its own. */
static bool wait_program(pid_t *pid, uint64_t ticks)
{
	uint64_t now;

	return WAIT_UNTIL(find_program(pid, &now) && now >= ticks, 60000);
}

static int begin(int dev, pid_t target, uint32_t flags, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK, flags);

	a.caps = HWPMC_CAP_USER;
	return dev_run_on(dev, a, target, id);
}

/* The target becomes the user as well, a little later. */
static int begin_when_allowed(int dev, pid_t target, uint32_t flags, uint32_t *id)
{
	int err;

	WAIT_UNTIL((err = begin(dev, target, flags, id)) != -EPERM, 10000);
	return err;
}

/* In a process that becomes the user. */
static int count(struct result *r, uint32_t flags)
{
	int go[2], dev, err;
	uint32_t id;
	pid_t target;

	if (pipe(go))
		return -errno;
	target = fork_bound();
	if (!target)
		execute(go[0], flags & HWPMC_F_DESCENDANTS);
	if (!user_stay(USER))
		return -EDOM;
	dev = dev_open();
	err = begin_when_allowed(dev, target, flags, &id);
	if (err)
		return err;
	if (write(go[1], "", 1) != 1 || !wait_program(&r->pid, 5))
		return -ETIME;
	err = dev_read(dev, id, HWPMC_CPU_ALL, &r->early);
	if (!wait_program(&r->pid, 25))
		return -ETIME;
	r->hung_up = dev_hung_up(dev);
	return err ?: dev_read(dev, id, HWPMC_CPU_ALL, &r->late);
}

/* The result is @r, of a group of its own: its error is @expr. */
#define IN_GROUP(r, expr) do {						\
	pid_t child_;							\
	memset(r, 0, sizeof(*(r)));					\
	child_ = group_fork();						\
	if (!child_) {							\
		(r)->err = (expr);					\
		_exit(0);						\
	}								\
	group_end(child_);						\
	unlink(PROGRAM);						\
} while (0)

/* What is counted of the program, in ns, after its first 5 ticks. */
static int64_t counted(struct result *r, uint32_t flags)
{
	IN_GROUP(r, count(r, flags));
	return r->err ?: (int64_t)(r->late - r->early);
}

/* 20 ticks passed; an emulated processor can stand still through most of them */
#define SOME	((int64_t)MSEC)

#define EXPECT_NONE(install, flags) do {				\
	ASSERT_TRUE(install);						\
	EXPECT_EQ(0, counted(self->r, flags));			\
} while (0)

TEST_F(setid, plain)
{
	ASSERT_TRUE(install(0, 0, 0755));
	EXPECT_LT(SOME, counted(self->r, 0));
	EXPECT_FALSE(self->r->hung_up);
	ASSERT_TRUE(install(0, 0, 0755));
	EXPECT_LT(SOME, counted(self->r, HWPMC_F_DESCENDANTS));
	/* which does not make it anybody else */
	ASSERT_TRUE(install(USER, USER, 06755));
	EXPECT_LT(SOME, counted(self->r, 0));
}

TEST_F(setid, user)
{
	EXPECT_NONE(install(0, 0, 04755), 0);
	EXPECT_TRUE(self->r->hung_up);
	EXPECT_NONE(install(OTHER, 0, 04755), 0);
	EXPECT_NONE(install(0, 0, 04755), HWPMC_F_DESCENDANTS);
}

TEST_F(setid, group)
{
	EXPECT_NONE(install(0, OTHER, 02755), 0);
	EXPECT_NONE(install(0, DEV_GROUP, 02755), 0);
}

TEST_F(setid, capabilities)
{
	struct vfs_cap_data cap = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_NET_RAW,
	};

	ASSERT_TRUE(install(0, 0, 0755));
	if (setxattr(PROGRAM, "security.capability", &cap, sizeof(cap), 0))
		SKIP(return, "no capabilities in files here");
	EXPECT_EQ(0, counted(self->r, 0));
}

TEST_F(setid, not_readable)
{
	EXPECT_NONE(install(0, 0, 0711), 0);
}

/* ------------------------------------------------------------------------
 * A child that has not begun to run when its parent leaves
 */

/* Processor 1 is for whoever has this priority. */
static bool take_processor(int priority)
{
	struct sched_param p = { .sched_priority = priority };
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(1, &cpu);
	return !sched_setaffinity(0, sizeof(cpu), &cpu) &&
	       !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p);
}

/* It has a processor for itself, and its child waits for that. */
static void fork_and_execute(int go)
{
	char c;

	if (!take_processor(50) || !user_stay(USER) || read(go, &c, 1) != 1)
		_exit(1);
	if (!fork_bound())
		for (;;)
			pause();
	execl(PROGRAM, COMM, NULL);
	_exit(1);
}

/* In a process that becomes the user: how many processes were lost. */
static int lose_child(struct result *r)
{
	struct hwpmc_driverstats st = {};
	int go[2], dev, err, i;
	uint32_t id;
	pid_t target;

	if (pipe(go))
		return -errno;
	target = fork_bound();
	if (!target)
		fork_and_execute(go[0]);
	if (!user_stay(USER))
		return -EDOM;
	dev = dev_open();
	err = begin_when_allowed(dev, target, HWPMC_F_DESCENDANTS, &id);
	if (err)
		return err;
	if (write(go[1], "", 1) != 1)
		return -errno;
	r->hung_up = WAIT_UNTIL(dev_hung_up(dev), 60000);
	/* the child gets the processor */
	load_end(target);
	for (i = 0; i < 500 && !err && !st.account.proc_dropped; i++) {
		sleep_ms(10);
		err = dev_stats(dev, HWPMC_STATS_OWNER, &st);
	}
	return err ?: (int)st.account.proc_dropped;
}

/* The child cannot get PMCs that its parent has no more: it counts as lost. */
TEST_F(setid, child_of_who_leaves)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_TRUE(install(0, 0, 04755));
	IN_GROUP(self->r, lose_child(self->r));
	EXPECT_TRUE(self->r->hung_up);
	EXPECT_EQ(1, self->r->err);
}

/* ------------------------------------------------------------------------
 * Where its image lies is not told either
 */
#define BATCH	4	/* mappings; fewer than what is dumped one by one */

/*
 * For each word that comes it maps some code, or renames itself; at the last it executes,
 * or nobody may look into it any more.  All on one CPU: at its exec a task goes to the
 * CPU that is least busy, whose ring has room.
 */
static void map_and_execute(int go, int done)
{
	char c = 0;
	int i;

	pin_to(0);
	if (!user_stay(USER))
		_exit(1);
	while (read(go, &c, 1) == 1 && c != 'x') {
		for (i = 0; i < BATCH && c == 'm'; i++) {
			void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p == MAP_FAILED || munmap(p, 4096))
				_exit(1);
		}
		if (c == 'n' && prctl(PR_SET_NAME, "renamed"))
			_exit(1);
		if ((c == 'u' && prctl(PR_SET_DUMPABLE, 0)) ||
		    write(done, "", 1) != 1)
			_exit(1);
		while (c == 'u')
			;
	}
	if (c == 'x')
		execl(PROGRAM, COMM, NULL);
	_exit(1);
}

/* Until a record of @kind is lost: nobody reads the log. */
static int lose_one(int dev, int go, int done, const char *kind)
{
	struct hwpmc_driverstats st;
	uint64_t dropped;
	int i, err;
	char c;

	err = dev_stats(dev, HWPMC_STATS_OWNER, &st);
	dropped = st.account.proc_dropped;
	for (i = 0; i < 20000 && !err; i++) {
		if (write(go, kind, 1) != 1 || read(done, &c, 1) != 1)
			return -EPIPE;
		err = dev_stats(dev, HWPMC_STATS_OWNER, &st);
		if (!err && st.account.proc_dropped > dropped)
			return 0;
	}
	return err ?: -ENOSPC;
}

/* A mapping, and a name, which is shorter: the name at exec finds no room either. */
static int lose_some(int dev, int go, int done)
{
	return lose_one(dev, go, done, "m") ?: lose_one(dev, go, done, "n");
}

static int start_sampling(int dev, pid_t target, int file, int *tries)
{
	struct hwpmc_allocate a = pmc_sampler(TASK_CLOCK, 10000000);
	struct hwpmc_attach at = { .pid = target };
	int err;

	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.caps = HWPMC_CAP_USER;
	a.flags = 0;
	err = dev_configure(dev, file) ?: dev_allocate(dev, &a);
	at.id = a.id;
	/* it becomes the user too */
	while (!err && (err = dev_ioctl(dev, HWPMC_IOC_PMCATTACH, &at))) {
		if (err != -EPERM || !--*tries)
			return err;
		sleep_ms(10);
		err = 0;
	}
	return err ?: dev_start(dev, a.id);
}

/* What the log has of @comm: where its image lies, and its name. */
static int records_of(struct log *log, const char *comm, int *names)
{
	struct pmclog_rec rec;
	int n = 0;

	*names = 0;
	LOG_FOR_EACH(log, rec) {
		if (!memmem(rec.data, rec.len, comm, strlen(comm)))
			continue;
		n += rec.type == PMCLOG_T_MAP_IN || rec.type == PMCLOG_T_PROCEXEC;
		*names += rec.type == PMCLOG_T_PROC_CREATE;
	}
	return n;
}

/* The target executes the program. */
static int run_program(struct result *r, int go)
{
	return write(go, "x", 1) == 1 && wait_program(&r->pid, 5) ? 0 : -ETIME;
}

/* The target ends, and somebody else gets its number. */
static int leave_number(struct result *r, pid_t target)
{
	load_end(target);
	r->gone = target;
	return WAIT_UNTIL(r->taken, 60000) ? 0 : -ETIME;
}

/* In a process that becomes the user: what its log has of the process that comes later. */
static int record(struct result *r, bool lose, bool leave)
{
	struct reader reader = { .chunk = 65536 };
	int go[2], done[2], log[2], dev, err, tries = 1000;
	pid_t target;

	if (pipe(go) || pipe(done) || pipe2(log, O_CLOEXEC))
		return -errno;
	target = fork_bound();
	if (!target)
		map_and_execute(go[0], done[1]);
	if (!user_stay(USER))
		return -EDOM;
	dev = dev_open();
	err = start_sampling(dev, target, log[1], &tries);
	close(log[1]);
	if (!err && lose)
		err = lose_some(dev, go[1], done[0]);
	if (!err)
		err = leave ? leave_number(r, target) : run_program(r, go[1]);
	if (err)
		return err;
	reader_begin(&reader, log[0], reader.chunk, 0);
	err = dev_closelog(dev);
	close(dev);
	reader_end(&reader);
	return err ?: records_of(&reader.log, leave ? STRANGER : COMM,
				 &r->names);
}

static int told(struct result *r, bool lose)
{
	IN_GROUP(r, record(r, lose, false));
	return r->err;
}

TEST_F(setid, image)
{
	ASSERT_TRUE(install(0, 0, 0755));
	EXPECT_LE(2, told(self->r, false));
	ASSERT_TRUE(install(0, 0, 04755));
	EXPECT_EQ(0, told(self->r, false));
	ASSERT_TRUE(install(0, 0, 0711));
	EXPECT_EQ(0, told(self->r, false));
}

/* What is told again of a process of which a record was lost. */
TEST_F(setid, image_after_a_loss)
{
	/* minutes on a slow kernel: there without what shows that we would see it */
	if (scaled(true, false)) {
		ASSERT_TRUE(install(0, 0, 0755));
		EXPECT_LE(1, told(self->r, true));
	}
	ASSERT_TRUE(install(0, 0, 04755));
	EXPECT_EQ(0, told(self->r, true));
	EXPECT_EQ(0, self->r->names);
}

/* Root's, with this number and a name; an error if the number is taken. */
static pid_t stranger(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	pid_t got = syscall(SYS_clone3, &args, sizeof(args));

	if (got)
		return got < 0 ? -errno : got;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, STRANGER);
	for (;;)
		pause();
}

/*
 * A record of the target was lost, and before the log goes on somebody else has its
 * number: of whom nothing is told.
 */
TEST_F(setid, number_after_a_loss)
{
	pid_t child, other = -ESRCH;
	char name[32] = "";
	char path[40];
	int i;

	if (scaled(false, true))
		SKIP(return, "minutes on a slow kernel");
	memset(self->r, 0, sizeof(*self->r));
	child = group_fork();
	if (!child) {
		self->r->err = record(self->r, true, true);
		_exit(0);
	}
	WAIT_UNTIL(self->r->gone || self->r->err, 600000);
	if (self->r->gone)
		other = stranger(self->r->gone);
	snprintf(path, sizeof(path), "/proc/%d/comm", other);
	for (i = 0; i < 1000 && other > 0 && strcmp(name, STRANGER); i++) {
		read_line(path, name, sizeof(name));
		sleep_ms(1);
	}
	self->r->taken = true;
	group_end(child);
	if (other == -ENOSYS || other == -EPERM)
		SKIP(return, "this kernel gives no number that is asked for");
	EXPECT_EQ(self->r->gone, other);
	EXPECT_EQ(0, self->r->err);
	EXPECT_EQ(0, self->r->names);
	if (other > 0)
		load_end(other);
}

/* ------------------------------------------------------------------------
 * A target that its user may not look into any more stays one
 */
static bool judge(struct result *r, struct log *log)
{
	const char *fault = log_check(log, LOG_DROPS | LOG_PROC_DROPS);

	if (fault)
		printf("# %s\n", fault);
	r->unmapped = unmapped_samples(log, &r->mapped);
	r->lost = log->proc_dropped;
	r->ends = LOG_COUNT(log, SYSEXIT, sysexit, pid, r->pid);
	return !fault;
}

static int rotate_later(struct result *r, int dev, int go, int done)
{
	int file = temp_file(), err;
	struct log log;
	char c;

	if (write(go, "u", 1) != 1 || read(done, &c, 1) != 1)
		return -EPIPE;
	err = dev_rotate(dev, file);
	if (err || !wait_committed(dev, 5))
		return err ?: -ETIME;
	err = dev_closelog(dev);
	if (err || !log_load(&log, file))
		return err ?: -EIO;
	return judge(r, &log) ? 0 : -EBADMSG;
}

/* What the log lacks, once a record of the target is lost. */
static int lose_later(struct result *r, int dev, int go, int done, int log)
{
	struct reader reader = { .chunk = 65536 };
	int err = lose_one(dev, go, done, "m");
	char c;

	if (err || write(go, "u", 1) != 1 || read(done, &c, 1) != 1)
		return err ?: -EPIPE;
	reader_begin(&reader, log, reader.chunk, 0);
	/* the second one comes after what was logged again by the first */
	err = dev_flush(dev) ?: dev_flush(dev);
	if (err || !wait_committed(dev, 5))
		return err ?: -ETIME;
	err = dev_closelog(dev);
	reader_end(&reader);
	return err ?: judge(r, &reader.log) ? 0 : -EBADMSG;
}

static int sample_unreadable(struct result *r, bool lose)
{
	int go[2], done[2], log[2], dev, err, tries = 1000;
	pid_t target;

	if (pipe(go) || pipe(done))
		return -errno;
	target = fork_bound();
	if (!target)
		map_and_execute(go[0], done[1]);
	/* the target must not hold the log */
	if (!user_stay(USER) || pipe2(log, O_CLOEXEC))
		return -EDOM;
	dev = dev_open();
	err = start_sampling(dev, target, lose ? log[1] : temp_file(), &tries);
	close(log[1]);
	r->pid = target;
	return err ?: lose ? lose_later(r, dev, go[1], done[0], log[0]) :
			     rotate_later(r, dev, go[1], done[0]);
}

static int unreadable(struct result *r, bool lose)
{
	IN_GROUP(r, sample_unreadable(r, lose));
	return r->err;
}

/*
 * The next log has samples of it, so it says whose they are, and that something is
 * missing: where they are.
 */
TEST_F(setid, unreadable_later)
{
	EXPECT_EQ(0, unreadable(self->r, false));
	EXPECT_EQ(0, self->r->mapped);
	EXPECT_LT(0, self->r->unmapped);
	EXPECT_EQ(1, self->r->lost);
}

/* What the log has of it stays, although what it lacks cannot be told. */
TEST_F(setid, unreadable_after_a_loss)
{
	if (scaled(false, true))
		SKIP(return, "minutes on a slow kernel");
	EXPECT_EQ(0, unreadable(self->r, true));
	EXPECT_LT(0, self->r->mapped);
	EXPECT_EQ(0, self->r->unmapped);
	EXPECT_EQ(0, self->r->ends);
	EXPECT_LT(1, self->r->lost);
}

TEST_HARNESS_MAIN
