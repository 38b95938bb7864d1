// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings made, changed, moved and undone while sampling: what the log tells.
 */
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "maplog.h"
#include "test.h"

#define LOADED		"/tmp/hwpmc-exec"
#define LOADED_TOO	"/tmp/hwpmc-exec-too"

/* Of this process, what the log says of @addr; and MAP_OUTs of that memory */
#define MAPPED(addr, nth, m) \
	find_map(&self->log, getpid(), (uintptr_t)(addr), nth, m)
#define MAP_OUTS(start, end) \
	map_outs(&self->log, getpid(), (uintptr_t)(start), (uintptr_t)(end))

FIXTURE(mappings)
{
	int dev;
	int file;
	long page;
	struct log log;
};

FIXTURE_SETUP(mappings)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->page = sysconf(_SC_PAGESIZE);
}

FIXTURE_TEARDOWN(mappings)
{
	close(self->dev);
	unlink(LOADED);
	unlink(LOADED_TOO);
}

TEST_F(mappings, mmap_munmap)
{
	int fd = exec_file(LOADED, 8, self->page);
	long page = self->page;
	char *a, *b, *c, *plain;
	struct stat st;
	struct map m;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fstat(fd, &st));
	BEGIN();
	a = mmap(NULL, 4 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		 2 * page);
	b = mmap(NULL, 8 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	c = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	plain = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, a);
	ASSERT_NE(MAP_FAILED, b);
	ASSERT_NE(MAP_FAILED, c);
	ASSERT_NE(MAP_FAILED, plain);
	/* not an munmap, although the pages go */
	(void)*(volatile char *)a;
	ASSERT_EQ(0, madvise(a, 4 * page, MADV_DONTNEED));
	ASSERT_EQ(0, munmap(a, 4 * page));
	ASSERT_EQ(0, munmap(b + 2 * page, 3 * page));
	ASSERT_EQ(0, munmap(plain, 4 * page));
	ASSERT_EQ(0, munmap(c, 2 * page));
	END();

	ASSERT_TRUE(MAPPED(a, 0, &m));
	EXPECT_STREQ(LOADED, m.path);
	EXPECT_EQ(4 * page, m.len);
	EXPECT_EQ(2 * page, m.offset);
	EXPECT_EQ(PROT_READ | PROT_EXEC, m.prot);
	EXPECT_EQ(st.st_ino, m.ino);
	EXPECT_EQ(major(st.st_dev), m.major);
	EXPECT_EQ(minor(st.st_dev), m.minor);
	EXPECT_FALSE(MAPPED(a, 1, &m));
	EXPECT_EQ(1000, MAP_OUTS(a, a + 4 * page));
	ASSERT_TRUE(MAPPED(b, 0, &m));
	EXPECT_EQ(1000, MAP_OUTS(b + 2 * page, b + 5 * page));
	EXPECT_EQ(0, MAP_OUTS(b, b + 2 * page));
	ASSERT_TRUE(MAPPED(c, 0, &m));
	EXPECT_EQ(2 * page, m.len);
	EXPECT_EQ(0, m.ino);
	/* the kernel has no place that says when memory without a file goes */
	EXPECT_EQ(0, MAP_OUTS(c, c + 2 * page));
	EXPECT_FALSE(MAPPED(plain, 0, &m));
	EXPECT_EQ(0, MAP_OUTS(plain, plain + 4 * page));
}

/* A loader's way: read first, executable afterwards; a JIT's way as well. */
TEST_F(mappings, mprotect)
{
	int fd = exec_file(LOADED, 4, self->page);
	long page = self->page;
	char *a, *jit;
	struct map m;

	ASSERT_LE(0, fd);
	a = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE, fd, 0);
	jit = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, a);
	ASSERT_NE(MAP_FAILED, jit);
	BEGIN();
	ASSERT_EQ(0, mprotect(a + page, 2 * page, PROT_READ | PROT_EXEC));
	ASSERT_EQ(0, mprotect(jit, 4 * page, PROT_READ | PROT_EXEC));
	END();
	ASSERT_TRUE(MAPPED(a + page, 0, &m));
	EXPECT_STREQ(LOADED, m.path);
	EXPECT_EQ(2 * page, m.len);
	EXPECT_EQ(page, m.offset);
	ASSERT_TRUE(MAPPED(jit, 0, &m));
}

/*
 * What is moved is told at its new place, then taken away from its old one;
 * what grows where it is, is told again; what is no code is not told.
 */
TEST_F(mappings, mremap)
{
	int fd = exec_file(LOADED, 8, self->page);
	char *room, *code, *part, *plain, *jit, *to;
	long page = self->page;
	struct map m;

	ASSERT_LE(0, fd);
	room = mmap(NULL, 64 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	ASSERT_NE(MAP_FAILED, room);
	to = room + 32 * page;
	code = mmap(room, 4 * page, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_FIXED, fd, page);
	plain = mmap(room + 8 * page, 4 * page, PROT_READ,
		     MAP_PRIVATE | MAP_FIXED, fd, 0);
	jit = mmap(room + 16 * page, 2 * page, PROT_READ | PROT_EXEC,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASSERT_EQ(room, code);
	ASSERT_EQ(room + 8 * page, plain);
	ASSERT_EQ(room + 16 * page, jit);
	ASSERT_EQ(0, munmap(room + 4 * page, 4 * page));
	BEGIN();
	/* grows to 6 pages; moves two from its middle; the rest stays */
	ASSERT_EQ(code, mremap(code, 4 * page, 6 * page, 0));
	part = mremap(code + 2 * page, 2 * page, 2 * page,
		      MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ(to, part);
	ASSERT_EQ(to + 8 * page,
		  mremap(plain, 4 * page, 4 * page,
			 MREMAP_MAYMOVE | MREMAP_FIXED, to + 8 * page));
	ASSERT_EQ(to + 16 * page,
		  mremap(jit, 2 * page, 2 * page,
			 MREMAP_MAYMOVE | MREMAP_FIXED, to + 16 * page));
	END();

	ASSERT_TRUE(MAPPED(code, 1, &m));
	EXPECT_STREQ(LOADED, m.path);
	EXPECT_EQ(6 * page, m.len);
	EXPECT_EQ(page, m.offset);
	EXPECT_FALSE(MAPPED(code, 2, &m));
	ASSERT_TRUE(MAPPED(to, 0, &m));
	EXPECT_STREQ(LOADED, m.path);
	EXPECT_EQ(2 * page, m.len);
	EXPECT_EQ(3 * page, m.offset);
	EXPECT_EQ(PROT_READ | PROT_EXEC, m.prot);
	EXPECT_FALSE(MAPPED(to, 1, &m));
	EXPECT_EQ(1000, MAP_OUTS(code + 2 * page, code + 4 * page));
	EXPECT_FALSE(MAPPED(to + 8 * page, 0, &m));
	ASSERT_TRUE(MAPPED(to + 16 * page, 0, &m));
	EXPECT_EQ(2 * page, m.len);
	EXPECT_EQ(0, m.ino);
	munmap(room, 64 * page);
	close(fd);
}

/* What is moved right behind other code does not make that longer. */
TEST_F(mappings, mremap_behind_other_code)
{
	int fd = exec_file(LOADED, 8, self->page);
	int other = exec_file(LOADED_TOO, 8, self->page);
	long page = self->page;
	char *room, *from;
	struct map m;
	int i;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	room = mmap(NULL, 64 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	ASSERT_NE(MAP_FAILED, room);
	from = room + 32 * page;
	/* another file; and the same, where it does not go on */
	for (i = 0; i < 2; i++) {
		ASSERT_NE(MAP_FAILED,
			  mmap(room + 16 * i * page, 2 * page,
			       PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			       fd, 0));
		ASSERT_NE(MAP_FAILED,
			  mmap(from + 16 * i * page, 2 * page,
			       PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			       i ? fd : other, 5 * page));
	}
	BEGIN();
	for (i = 0; i < 2; i++)
		ASSERT_EQ(room + (16 * i + 2) * page,
			  mremap(from + 16 * i * page, 2 * page, 2 * page,
				 MREMAP_MAYMOVE | MREMAP_FIXED,
				 room + (16 * i + 2) * page));
	END();

	for (i = 0; i < 2; i++) {
		uintptr_t at = (uintptr_t)room + 16 * i * page;

		ASSERT_TRUE(find_map(&self->log, getpid(), at + 2 * page, 0,
				     &m));
		EXPECT_STREQ(i ? LOADED : LOADED_TOO, m.path);
		EXPECT_EQ(2 * page, m.len);
		EXPECT_EQ(5 * page, m.offset);
		EXPECT_FALSE(find_map(&self->log, getpid(), at, 1, &m))
			TH_LOG("%d: %" PRIu64 " bytes", i, m.len);
	}
	munmap(room, 64 * page);
	close(other);
	close(fd);
}

/* Page faults in @p are @fd's: the kernel keeps that apart from what is around. */
static bool watch_faults(int fd, char *p, size_t len)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = {
		.range = { .start = (uintptr_t)p, .len = len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &r);
}

/* Mappings become one by what another process does: it has no part in ours. */
TEST_F(mappings, merged_by_another)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	long page = self->page;
	struct map m;
	pid_t child;
	char *p;

	if (fd < 0)
		SKIP(return, "no userfaultfd");
	p = mmap(NULL, 16 * page, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	ASSERT_TRUE(watch_faults(fd, p + 4 * page, 4 * page));
	BEGIN();
	child = fork();
	if (!child) {
		/* it watches no more when the last descriptor goes */
		sleep_ms(100);
		_exit(close(fd));
	}
	close(fd);
	EXPECT_EQ(0, wait_for(child));
	END();
	EXPECT_FALSE(MAPPED(p, 1, &m));
	munmap(p, 16 * page);
}

static void check_path(META, const char *path, const char *want)
{
	long page = sysconf(_SC_PAGESIZE);
	int dev = dev_open(), file = temp_file(), fd;
	struct log log;
	struct map m;
	void *a;

	fd = exec_file(path, 1, page);
	ASSERT_LE(0, fd);
	BEGIN_LOG(dev, file, pmc_clock(100), NULL);
	a = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, a);
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	LOAD_LOG(&log, file, 0);
	ASSERT_TRUE(find_map(&log, getpid(), (uintptr_t)a, 0, &m));
	EXPECT_STREQ(want, m.path);
	munmap(a, page);
	close(fd);
	unlink(path);
}

/* Paths are bytes: they are logged as they are, up to the format's limit. */
TEST_F(mappings, paths)
{
	char path[1100] = "/tmp", dir[1100];
	size_t n = 4;

	check_path(_metadata, "/tmp/a b\tc\nd", "/tmp/a b\tc\nd");
	check_path(_metadata, "/tmp/\xff\xfe\x80%s\"'\\",
		   "/tmp/\xff\xfe\x80%s\"'\\");
	while (n < 900) {
		n += snprintf(path + n, sizeof(path) - n, "/%0200d", 1);
		mkdir(path, 0700);
	}
	strcpy(dir, path);
	/* the longest that has room with its NUL, and one more */
	snprintf(path + n, sizeof(path) - n, "/%0*d", (int)(1023 - n - 1), 2);
	ASSERT_EQ(1023, strlen(path));
	check_path(_metadata, path, path);
	snprintf(path + n, sizeof(path) - n, "/%0*d", (int)(1024 - n - 1), 2);
	check_path(_metadata, path, "//toolong");
}

#define ROOT	"/tmp/hwpmc-root"

/* Another root, of the same mount namespace; in one of its own, as containers. */
static bool enter_root(bool container)
{
	if (container && (unshare(CLONE_NEWNS) ||
			  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return false;
	if ((mkdir(ROOT, 0755) && errno != EEXIST) ||
	    mount("tmpfs", ROOT, "tmpfs", 0, NULL) || chdir(ROOT) ||
	    (container && mount(".", "/", NULL, MS_MOVE, NULL)))
		return false;
	return !chroot(".") && !chdir("/");
}

/* Logs itself while it maps a file there; its exit status. */
static int log_elsewhere(int dev, int file, bool container, void **at)
{
	pid_t child = fork_bound();
	long page = sysconf(_SC_PAGESIZE);
	int fd;

	if (child)
		return wait_for(child);
	if (!enter_root(container))
		_exit(1);
	fd = exec_file("/program", 1, page);
	if (dev_configure(dev, file) || dev_run(dev, pmc_clock(100), NULL))
		_exit(2);
	*at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	_exit(*at == MAP_FAILED || dev_closelog(dev) ? 3 : 0);
}

static void check_root(META, int dev, bool container, const char *want)
{
	void **at = shared_memory(sizeof(*at));
	struct pmclog_rec rec;
	unsigned int found = 0;
	int file = temp_file();
	struct log log;

	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, log_elsewhere(dev, file, container, at));
	LOAD_LOG(&log, file, 0);
	LOG_FOR_EACH(&log, rec)
		if (rec.type == PMCLOG_T_MAP_IN &&
		    REC64(&rec, map_in, start) == (uintptr_t)*at) {
			EXPECT_STREQ(want, (const char *)rec.data +
				     sizeof(struct pmclog_map_in));
			found++;
		}
	EXPECT_LT(0, found);
	log_free(&log);
	munmap(at, sizeof(*at));
}

/* A path begins where its mount namespace does, wherever the process' root is. */
TEST_F(mappings, roots)
{
	check_root(_metadata, self->dev, false, ROOT "/program");
	umount2(ROOT, MNT_DETACH);
	check_root(_metadata, self->dev, true, "/program");
	rmdir(ROOT);
}

TEST_HARNESS_MAIN
