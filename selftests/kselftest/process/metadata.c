// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes and threads, and what is mapped already: what the log tells of them,
 * and when.
 */
#include <elf.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "maplog.h"
#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define LOADED		"/tmp/hwpmc-exec"
#define OVER		"/tmp/hwpmc-over"

/*
 * An overlay at OVER/on, of two file systems: in OVER/low, and at OVER/other.  Its
 * numbers are those of neither.
 */
static bool make_layers(void)
{
	mkdir(OVER, 0755);
	mkdir(OVER "/low", 0755);
	mkdir(OVER "/other", 0755);
	mkdir(OVER "/on", 0755);
	return !mount("tmpfs", OVER "/other", "tmpfs", 0, NULL);
}

/* A negative errno, or 0. */
static int mount_overlay(void)
{
	/* a kernel that has it built in has no such module */
	if (system("modprobe -q overlay 2>/dev/null"))
		errno = 0;
	return mount("overlay", OVER "/on", "overlay", 0,
		      "lowerdir=" OVER "/low:" OVER "/other") ? -errno : 0;
}

static void remove_overlay(void)
{
	umount2(OVER "/on", MNT_DETACH);
	umount2(OVER "/other", MNT_DETACH);
	unlink(OVER "/low/first");
	rmdir(OVER "/low");
	rmdir(OVER "/other");
	rmdir(OVER "/on");
	rmdir(OVER);
}

FIXTURE(metadata)
{
	int dev;
	int file;
	long page;
	struct log log;
};

FIXTURE_SETUP(metadata)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->page = sysconf(_SC_PAGESIZE);
}

FIXTURE_TEARDOWN(metadata)
{
	close(self->dev);
	unlink(LOADED);
	remove_overlay();
}

/* ------------------------------------------------------------------------
 * Finding records
 */

/* PROC_CREATEs (or THR_CREATEs) of @id with this name. */
static unsigned int named(struct log *log, bool thread, uint32_t id,
			  const char *name)
{
	if (thread)
		return COUNT_RECORDS(log, rec, rec.type == PMCLOG_T_THR_CREATE &&
				     REC32(&rec, thr_create, tid) == id &&
				     !strcmp(REC_TEXT(&rec, thr_create, name),
					     name));
	return COUNT_RECORDS(log, rec, rec.type == PMCLOG_T_PROC_CREATE &&
			     REC32(&rec, proc_create, pid) == id &&
			     !strcmp(REC_TEXT(&rec, proc_create, comm), name));
}

/* ------------------------------------------------------------------------
 * What is there when the first PMC starts
 */
struct maps_line {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	uint64_t	ino;
	unsigned int	major;
	unsigned int	minor;
	bool		exec;
	char		path[512];
};

static bool next_line(FILE *f, struct maps_line *m)
{
	char line[1024], prot[8];
	unsigned long long start, end, offset, ino;

	if (!fgets(line, sizeof(line), f))
		return false;
	m->path[0] = '\0';
	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %511[^\n]", &start,
		   &end, prot, &offset, &m->major, &m->minor, &ino,
		   m->path) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->ino = ino;
	m->exec = strchr(prot, 'x');
	return true;
}

/* Each executable line of /proc/@pid/maps is in the log as it is there. */
static void check_maps(META, struct log *log, pid_t pid, const char *maps)
{
	FILE *f = fmemopen((void *)maps, strlen(maps), "r");
	struct maps_line l;
	unsigned int n = 0;
	struct map m;

	while (next_line(f, &l)) {
		if (addr_is_kernel(l.start))
			continue;	/* vsyscall is no mapping */
		if (!l.exec) {
			EXPECT_FALSE(find_map(log, pid, l.start, 0, &m));
			continue;
		}
		n++;
		ASSERT_TRUE(find_map(log, pid, l.start, 0, &m))
			TH_LOG("%s is missing", l.path);
		EXPECT_EQ(l.end - l.start, m.len);
		EXPECT_TRUE(m.prot & PROT_EXEC);
		if (l.path[0] != '/') {
			EXPECT_EQ(0, m.ino);
			if (l.path[0] == '[') {
				EXPECT_STREQ(l.path, m.path);
			}
			continue;
		}
		EXPECT_STREQ(l.path, m.path);
		EXPECT_EQ(l.offset, m.offset);
		EXPECT_EQ(l.ino, m.ino);
		EXPECT_EQ(l.major, m.major);
		EXPECT_EQ(l.minor, m.minor);
	}
	fclose(f);
	EXPECT_LT(0, n);
}

static char *read_maps(pid_t pid)
{
	static char buf[2][65536];
	static int which;
	char path[40], *p = buf[which ^= 1];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY);
	*p = '\0';
	while ((n = read(fd, p + strlen(p), 65535 - strlen(p))) > 0)
		p[strlen(p) + n] = '\0';
	close(fd);
	return p;
}

/* @pid runs @name: with all its mappings, of which the vdso is the last one. */
static bool wait_runs(pid_t pid, const char *name)
{
	char *maps;

	return WAIT_UNTIL(strstr(maps = read_maps(pid), name) && strstr(maps, "[vdso]"), 60000);
}

/* All of it once, although PMCs are started one after another. */
TEST_F(metadata, dump)
{
	char comm[32] = "", own[32] = "", path[40];
	pid_t other = load_user(1), sleeper = workload_start("truth", 0);
	unsigned int mapped;
	char *maps, *others;
	uint64_t start;

	ASSERT_TRUE(wait_runs(sleeper, "/truth\n"));
	maps = read_maps(getpid());
	others = read_maps(sleeper);
	BEGIN();
	EXPECT_TRUE(wait_samples(self->dev, self->file, 100, .user = true));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(100), NULL));
	END();
	EXPECT_EQ(1, proc_kernel_maps(&self->log, "[kernel]", &start));
	check_maps(_metadata, &self->log, getpid(), maps);
	check_maps(_metadata, &self->log, sleeper, others);
	read_line("/proc/self/comm", own, sizeof(own));
	EXPECT_EQ(1, named(&self->log, false, getpid(), own));
	EXPECT_EQ(1, named(&self->log, false, sleeper, "truth"));
	snprintf(path, sizeof(path), "/proc/%d/comm", 2);
	if (read_line(path, comm, sizeof(comm))) {
		EXPECT_EQ(1, named(&self->log, false, 2, comm));
	}
	EXPECT_EQ(1, named(&self->log, false, 0, "swapper"));
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	EXPECT_LT(50, mapped);
	load_end(other);
	load_end(sleeper);
}

/* It is named once, and ends. */
static void check_ended(META, struct log *log, pid_t pid)
{
	struct pmclog_rec rec;
	unsigned int names = 0, ends = 0;

	LOG_FOR_EACH(log, rec) {
		if (rec.type == PMCLOG_T_PROC_CREATE &&
		    REC32(&rec, proc_create, pid) == (uint32_t)pid) {
			names++;
			EXPECT_EQ(0, ends);
		}
		if (rec.type == PMCLOG_T_SYSEXIT &&
		    REC32(&rec, sysexit, pid) == (uint32_t)pid)
			ends++;
	}
	EXPECT_EQ(1, names);
	EXPECT_EQ(1, ends);
}

/*
 * A process that has ended, and nobody has waited for, may still run the last part of its
 * exit: the samples of that need its name in each log.
 */
TEST_F(metadata, zombie)
{
	int next = temp_file();
	pid_t pid = fork();
	struct log log;

	if (!pid)
		_exit(0);
	wait_zombie(pid);
	BEGIN();
	ASSERT_EQ(0, dev_rotate(self->dev, next));
	ASSERT_EQ(0, dev_closelog(self->dev));
	LOAD_LOG(&self->log, self->file, 0);
	check_ended(_metadata, &self->log, pid);
	LOAD_LOG(&log, next, 0);
	check_ended(_metadata, &log, pid);
	log_free(&log);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

/* ------------------------------------------------------------------------
 * Processes and threads
 */
TEST_F(metadata, fork_rename_exit)
{
	static const char odd[] = "\x01\xff \"\n'\\";
	struct pmclog_rec rec;
	unsigned int forks = 0, exits = 0;
	uint64_t forked = 0, created = 0, gone = 0;
	char own[32] = "";
	pid_t child;

	read_line("/proc/self/comm", own, sizeof(own));
	BEGIN();
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "second");
		sleep_ms(50);
		prctl(PR_SET_NAME, odd);
		_exit(0);
	}
	wait_for(child);
	END();
	LOG_FOR_EACH(&self->log, rec) {
		if (rec.type == PMCLOG_T_PROCFORK &&
		    REC32(&rec, procfork, newpid) == child) {
			forks++;
			forked = rec.tsc;
			EXPECT_EQ(getpid(), REC32(&rec, procfork, oldpid));
		}
		if (rec.type == PMCLOG_T_PROC_CREATE && !created &&
		    REC32(&rec, proc_create, pid) == child)
			created = rec.tsc;
		if (rec.type == PMCLOG_T_SYSEXIT &&
		    REC32(&rec, sysexit, pid) == child) {
			exits++;
			gone = rec.tsc;
		}
	}
	EXPECT_EQ(1, forks);
	EXPECT_EQ(1, exits);
	EXPECT_LE(forked, created);
	EXPECT_LT(created, gone);
	EXPECT_EQ(1, named(&self->log, false, child, own));
	EXPECT_EQ(1, named(&self->log, false, child, "second"));
	EXPECT_EQ(1, named(&self->log, false, child, odd));
}

static void *thread_body(void *arg)
{
	uint32_t *tid = arg;

	*tid = syscall(SYS_gettid);
	prctl(PR_SET_NAME, "worker-of-test");
	return NULL;
}

TEST_F(metadata, threads)
{
	uint32_t tid[3] = {};
	pthread_t t;
	int i;

	BEGIN();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_create(&t, NULL, thread_body, &tid[i]));
		pthread_join(t, NULL);
	}
	END();
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(1, named(&self->log, true, tid[i], "worker-of-test"));
		EXPECT_EQ(2, LOG_COUNT(&self->log, THR_CREATE, thr_create, tid,
				       tid[i]));
		EXPECT_EQ(1, LOG_COUNT(&self->log, THR_EXIT, thr_exit, tid,
				       tid[i]));
	}
	EXPECT_EQ(6, LOG_COUNT(&self->log, THR_CREATE, thr_create, pid, getpid()));
	EXPECT_EQ(0, LOG_COUNT(&self->log, SYSEXIT, sysexit, pid, getpid()));
}

/* ------------------------------------------------------------------------
 * exec
 */
#ifdef __aarch64__
#define MACHINE	EM_AARCH64
static const unsigned char endless[] = { 0x00, 0x00, 0x00, 0x14 };
#else
#define MACHINE	EM_X86_64
static const unsigned char endless[] = { 0xeb, 0xfe };
#endif

#define CODE_AT	0x400
#define ALIGN	0x10000		/* whole pages: before 6.5 the rest is zeroed */
#define FIXED	0x10000000UL

struct image {
	Elf64_Ehdr	eh;
	Elf64_Phdr	ph[2];
	char		interp[64];
};

/* A program that does nothing, at a fixed place or anywhere, with a loader. */
static void make_program(const char *path, uint16_t type, const char *interp)
{
	uint64_t base = type == ET_EXEC ? FIXED : 0;
	static unsigned char file[ALIGN];
	struct image i = {
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = type,
			.e_machine = MACHINE,
			.e_version = EV_CURRENT,
			.e_entry = base + CODE_AT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = interp ? 2 : 1,
		},
		.ph[0] = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = base,
			.p_filesz = sizeof(file),
			.p_memsz = sizeof(file),
			.p_align = ALIGN,
		},
		.ph[1] = {
			.p_type = PT_INTERP,
			.p_offset = offsetof(struct image, interp),
			.p_filesz = interp ? strlen(interp) + 1 : 0,
		},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (interp)
		strcpy(i.interp, interp);
	memset(file, 0, sizeof(file));
	memcpy(file, &i, sizeof(i));
	memcpy(file + CODE_AT, endless, sizeof(endless));
	if (write(fd, file, sizeof(file)) != sizeof(file))
		perror(path);
	close(fd);
}

struct exec {
	unsigned int	n;
	uint64_t	base;
	uint64_t	dyn;
	uint64_t	tsc;
	char		path[256];
};

static void find_exec(struct log *log, uint32_t pid, struct exec *x)
{
	struct pmclog_rec rec;

	memset(x, 0, sizeof(*x));
	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_PROCEXEC ||
		    REC32(&rec, procexec, pid) != pid)
			continue;
		x->n++;
		x->tsc = rec.tsc;
		x->base = REC64(&rec, procexec, base);
		x->dyn = REC64(&rec, procexec, dyn);
		snprintf(x->path, sizeof(x->path), "%s",
			 REC_TEXT(&rec, procexec, path));
	}
}

static pid_t start_program(const char *path)
{
	pid_t pid = fork_bound();

	if (!pid) {
		execl(path, path, NULL);
		_exit(127);
	}
	return pid;
}

#define NPROGRAMS	3
#define NSAMPLES	6	/* of each */

/* All have got there, and have been sampled. */
static bool have_run(struct log *log, void *arg)
{
	const pid_t *pid = arg;
	struct exec x;
	int i;

	for (i = 0; i < NPROGRAMS; i++) {
		find_exec(log, pid[i], &x);
		if (!x.n || log_samples(log, .pid = pid[i]) < NSAMPLES)
			return false;
	}
	return true;
}

TEST_F(metadata, exec)
{
	static const char * const paths[] = {
		LOADED, LOADED "-pie", LOADED "-dyn", LOADED "-loader",
	};
	unsigned int mapped, i;
	struct exec x;
	struct map m;
	pid_t pid[NPROGRAMS];

	make_program(paths[0], ET_EXEC, NULL);
	make_program(paths[1], ET_DYN, NULL);
	make_program(paths[2], ET_DYN, paths[3]);
	make_program(paths[3], ET_DYN, NULL);
	BEGIN();
	for (i = 0; i < NPROGRAMS; i++)
		pid[i] = start_program(paths[i]);
	EXPECT_TRUE(wait_log(self->dev, self->file, have_run, pid));
	EXPECT_TRUE(wait_samples(self->dev, self->file, 100, .user = true));
	for (i = 0; i < NPROGRAMS; i++) {
		kill(pid[i], SIGKILL);
		EXPECT_EQ(128 + SIGKILL, wait_for(pid[i]))
			TH_LOG("%s does not run", paths[i]);
	}
	END();
	for (i = 0; i < NPROGRAMS; i++) {
		find_exec(&self->log, pid[i], &x);
		EXPECT_EQ(1, x.n);
		EXPECT_STREQ(paths[i], x.path);
		EXPECT_EQ(i == 2, !!x.base);
		EXPECT_EQ(i >= 1, !!x.dyn);
		ASSERT_TRUE(find_map(&self->log, pid[i], i ? x.dyn : FIXED, 0,
				     &m));
		EXPECT_STREQ(paths[i], m.path);
		EXPECT_LE(x.tsc, m.tsc);
		if (x.base) {
			ASSERT_TRUE(find_map(&self->log, pid[i], x.base, 0,
					     &m));
			EXPECT_STREQ(paths[3], m.path);
		}
		/* of the name: the path's last part */
		EXPECT_EQ(1, named(&self->log, false, pid[i], i == 0 ?
				   "hwpmc-exec" : i == 1 ? "hwpmc-exec-pie" :
				   "hwpmc-exec-dyn"));
		EXPECT_EQ(1, LOG_COUNT(&self->log, SYSEXIT, sysexit, pid, pid[i]));
		EXPECT_LE(NSAMPLES, log_samples(&self->log, .pid = pid[i]));
	}
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	EXPECT_LT(20, mapped);
	for (i = 0; i < 4; i++)
		unlink(paths[i]);
}

static bool is_clock_of(const struct pmclog_rec *rec, uint64_t real)
{
	return IS_EXT(rec, CLOCK) && REC64(rec, ext_clock, real) >= real;
}

/* After a suspend, or by whoever sets it: the log says so before its end. */
TEST_F(metadata, wall_clock_jumps)
{
	struct timespec real, ahead;
	struct pmclog_rec rec;
	uint64_t first = 0, moment;

	BEGIN();
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &real));
	ahead = real;
	ahead.tv_sec += 3600;
	ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &ahead));
	moment = raw_ns();
	EXPECT_TRUE(wait_committed(self->dev, 50));
	sleep_ms(scaled(1000, 10000));
	EXPECT_EQ(0, clock_settime(CLOCK_REALTIME, &real));
	END();
	LOG_FOR_EACH(&self->log, rec)
		if (!first && is_clock_of(&rec, ahead.tv_sec * 1000 * MSEC))
			first = rec.tsc;
	ASSERT_NE(0, first);
	EXPECT_GT(moment + scaled(1000, 10000) * MSEC, first);
}

static bool has_exec(struct log *log, void *pid)
{
	struct exec x;

	find_exec(log, *(pid_t *)pid, &x);
	return x.n && log_samples(log, .pid = *(pid_t *)pid) >= NSAMPLES;
}

/*
 * Files of an overlay, as containers have them, are told as /proc/PID/maps shows
 * them: one that runs already, and one that is run now.
 */
TEST_F(metadata, overlay)
{
	static const char * const paths[] = { OVER "/on/first", OVER "/on/second" };
	char *maps[2];
	struct exec x;
	struct map m;
	pid_t pid[2];
	int err, i;

	ASSERT_TRUE(make_layers());
	make_program(OVER "/low/first", ET_DYN, NULL);
	make_program(OVER "/other/second", ET_DYN, NULL);
	err = mount_overlay();
	if (err == -ENODEV)
		SKIP(return, "no overlayfs");
	ASSERT_EQ(0, err);
	pid[0] = start_program(paths[0]);
	ASSERT_TRUE(wait_runs(pid[0], "/first\n"));
	BEGIN();
	pid[1] = start_program(paths[1]);
	EXPECT_TRUE(wait_log(self->dev, self->file, has_exec, &pid[1]));
	for (i = 0; i < 2; i++)
		maps[i] = read_maps(pid[i]);
	for (i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		EXPECT_EQ(128 + SIGKILL, wait_for(pid[i]));
	}
	END();
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(strstr(maps[i], paths[i]));
		check_maps(_metadata, &self->log, pid[i], maps[i]);
	}
	find_exec(&self->log, pid[1], &x);
	EXPECT_EQ(1, x.n);
	EXPECT_STREQ(paths[1], x.path);
	ASSERT_TRUE(find_map(&self->log, pid[1], x.dyn, 0, &m));
	EXPECT_STREQ(paths[1], m.path);
}

/* Everything at once, many times: each sample finds its mapping. */
TEST_F(metadata, before_the_sample)
{
	unsigned int mapped, i, n = scaled(60, 12);
	int fd = exec_file(LOADED, 4, self->page);
	void *p;
	pid_t pid;

	make_program(LOADED "-pie", ET_DYN, NULL);
	BEGIN();
	for (i = 0; i < n; i++) {
		p = mmap(NULL, 4 * self->page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE, fd, 0);
		pid = start_program(i % 2 ? LOADED "-pie" : "/bin/true");
		EXPECT_TRUE(wait_committed(self->dev, 20));
		load_end(pid);
		munmap(p, 4 * self->page);
	}
	END();
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	EXPECT_LT(scaled(10, 2), mapped);
	unlink(LOADED "-pie");
}

TEST_HARNESS_MAIN
