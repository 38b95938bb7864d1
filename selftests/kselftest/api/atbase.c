// SPDX-License-Identifier: GPL-2.0-only
/*
 * GETATBASE: where the run-time loader of a process sits.
 *
 * Guests have no loader, and 32-bit programs only where there is a compiler for
 * them: programs and loaders are made here, by the byte.
 */
#include <elf.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "crowd.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define PROGRAM		"/tmp/atbase-program"
#define LOADER		"/tmp/atbase-loader"
#define PAGE		0x10000		/* no machine's is larger */
#define USER		1000

/* Instructions of a loader; those of @again run PROGRAM, told by its path. */
struct machine {
	int		class;
	int		machine;
	unsigned char	loop[4];
	unsigned char	again[28];
	unsigned int	path_at;	/* in a loader with @again: from its code */
};

static const struct machine machines[] = {
#if defined(__x86_64__)
	{ ELFCLASS64, EM_X86_64, { 0xEB, 0xFE },
	  /* lea 25(%rip), %rdi; push $0; push %rdi; mov %rsp, %rsi */
	  { 0x48, 0x8D, 0x3D, 25, 0, 0, 0, 0x6A, 0, 0x57, 0x48, 0x89, 0xE6,
	  /* xor %edx, %edx; mov $59, %eax; syscall; jmp . */
	    0x31, 0xD2, 0xB8, 59, 0, 0, 0, 0x0F, 0x05, 0xEB, 0xFE }, 32 },
	{ ELFCLASS32, EM_386, { 0xEB, 0xFE } },
#elif defined(__aarch64__)
	{ ELFCLASS64, EM_AARCH64, { 0x00, 0x00, 0x00, 0x14 },
	  /* adr x0, .+32; stp x0, xzr, [sp, #-16]!; mov x1, sp */
	  { 0x00, 0x01, 0x00, 0x10, 0xE0, 0x7F, 0xBF, 0xA9, 0xE1, 0x03, 0x00, 0x91,
	  /* mov x2, #0; mov x8, #221; svc #0; b . */
	    0x02, 0x00, 0x80, 0xD2, 0xA8, 0x1B, 0x80, 0xD2, 0x01, 0x00, 0x00, 0xD4,
	    0x00, 0x00, 0x00, 0x14 }, 32 },
	{ ELFCLASS32, EM_ARM, { 0xFE, 0xFF, 0xFF, 0xEA } },
#endif
};

static int dev_atbase(int dev, pid_t pid, uint64_t *base)
{
	struct hwpmc_atbase a = { .pid = pid };
	int err = dev_ioctl(dev, HWPMC_IOC_GETATBASE, &a);

	*base = a.base;
	return err;
}

/* ------------------------------------------------------------------------
 * Programs
 */
#define CODE_AT		0x200
#define INTERP_AT	0x400

#define FILL(bits, type, vaddr)						\
	do {								\
		Elf##bits##_Ehdr *e = (void *)image;			\
		Elf##bits##_Phdr *p = (void *)(e + 1);			\
		e->e_type = (type);					\
		e->e_machine = m->machine;				\
		e->e_version = EV_CURRENT;				\
		e->e_entry = (vaddr) + CODE_AT;				\
		e->e_phoff = sizeof(*e);				\
		e->e_flags = m->machine == EM_ARM ? 0x05000000 : 0;	\
		e->e_ehsize = sizeof(*e);				\
		e->e_phentsize = sizeof(*p);				\
		e->e_phnum = 2;						\
		p[0].p_type = PT_LOAD;					\
		p[0].p_vaddr = p[0].p_paddr = (vaddr);			\
		p[0].p_filesz = p[0].p_memsz = sizeof(image);		\
		p[0].p_flags = PF_R | PF_X;				\
		p[0].p_align = PAGE;					\
		p[1].p_type = (type) == ET_EXEC ? PT_INTERP : PT_NULL;	\
		p[1].p_offset = INTERP_AT;				\
		p[1].p_filesz = sizeof(LOADER);				\
	} while (0)

static bool write_image(const char *path, const struct machine *m, int type,
			bool again)
{
	unsigned long vaddr = type == ET_EXEC ? 0x400000 : 0;
	static _Alignas(8) unsigned char image[0x1000];
	bool good;
	int fd;

	memset(image, 0, sizeof(image));
	memcpy(image, ELFMAG, SELFMAG);
	image[EI_CLASS] = m->class;
	image[EI_DATA] = ELFDATA2LSB;
	image[EI_VERSION] = EV_CURRENT;
	if (m->class == ELFCLASS64)
		FILL(64, type, vaddr);
	else
		FILL(32, type, vaddr);
	if (again)
		memcpy(image + CODE_AT, m->again, sizeof(m->again));
	else
		memcpy(image + CODE_AT, m->loop, sizeof(m->loop));
	if (again)
		strcpy((char *)image + CODE_AT + m->path_at, PROGRAM);
	strcpy((char *)image + INTERP_AT, LOADER);
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	good = write(fd, image, sizeof(image)) == sizeof(image);
	close(fd);
	return good;
}

static bool write_program(const struct machine *m, bool again)
{
	return write_image(PROGRAM, m, ET_EXEC, false) &&
	       write_image(LOADER, m, ET_DYN, again);
}

/* A child that runs it, and is there; 0: this kernel has no such programs. */
static pid_t start_program(const char *path, const char *mapped)
{
	char line[300], maps[40];
	bool there = false;
	FILE *f;
	pid_t pid = fork_bound();

	if (!pid) {
		execl(path, path, NULL);
		_exit(127);
	}
	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	while (!there) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return 0;
		f = fopen(maps, "re");
		while (f && fgets(line, sizeof(line), f))
			there |= !!strstr(line, mapped);
		if (f)
			fclose(f);
	}
	return pid;
}

/* What /proc says: of the vector, and of where the file is mapped. */
static bool auxv_base(pid_t pid, int class, uint64_t *base)
{
	union {
		uint64_t v64[256];
		uint32_t v32[512];
	} v = {};
	char path[40];
	unsigned int i;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, &v, sizeof(v));
	close(fd);
	*base = 0;
	for (i = 0; i < 512 && n > 0; i += 2) {
		if (class == ELFCLASS32 && v.v32[i] == AT_BASE) {
			*base = v.v32[i + 1];
			return true;
		}
		if (class == ELFCLASS64 && i < 256 && v.v64[i] == AT_BASE) {
			*base = v.v64[i + 1];
			return true;
		}
	}
	return false;
}

static uint64_t mapped_at(pid_t pid, const char *file)
{
	unsigned long long start, found = 0;
	char path[40], line[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (strstr(line, file) && sscanf(line, "%llx", &start) == 1)
			found = start;
	if (f)
		fclose(f);
	return found;
}

/* ------------------------------------------------------------------------
 * Tests
 */
FIXTURE(atbase)
{
	int dev;
};

FIXTURE_SETUP(atbase)
{
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(atbase)
{
	unlink(PROGRAM);
	unlink(LOADER);
}

TEST_F(atbase, self)
{
	uint64_t base, want;

	ASSERT_EQ(0, dev_atbase(self->dev, 0, &base));
	EXPECT_EQ(getauxval(AT_BASE), base);
	ASSERT_TRUE(auxv_base(getpid(), ELFCLASS64, &want));
	ASSERT_EQ(0, dev_atbase(self->dev, getpid(), &base));
	EXPECT_EQ(want, base);
}

/* As it stands in /proc, and where the loader is. */
TEST_F(atbase, loader)
{
	uint64_t base, want;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		ASSERT_TRUE(write_program(&machines[i], false));
		pid = start_program(PROGRAM, LOADER);
		if (!pid && machines[i].class == ELFCLASS32)
			SKIP(return, "this kernel runs no 32-bit programs");
		ASSERT_LT(0, pid);
		ASSERT_EQ(0, dev_atbase(self->dev, pid, &base));
		EXPECT_NE(0, base);
		ASSERT_TRUE(auxv_base(pid, machines[i].class, &want));
		EXPECT_EQ(want, base);
		EXPECT_EQ(mapped_at(pid, LOADER), base);
		load_end(pid);
		EXPECT_EQ(-ESRCH, dev_atbase(self->dev, pid, &base));
	}
}

TEST_F(atbase, no_loader)
{
	const char *path = workload_path("waiter");
	uint64_t base = 1, want = 1;
	int input[2];
	pid_t pid;

	ASSERT_NE(NULL, path);
	ASSERT_EQ(0, pipe(input));
	pid = fork_bound();
	if (!pid)
		exec_waiter(path, input[0]);
	while (!mapped_at(pid, path))
		sleep_ms(1);
	ASSERT_TRUE(wait_asleep(pid, pid));
	ASSERT_EQ(0, dev_atbase(self->dev, pid, &base));
	ASSERT_TRUE(auxv_base(pid, ELFCLASS64, &want));
	EXPECT_EQ(want, base);
	EXPECT_EQ(0, base);
	load_end(pid);
}

/* A program that runs itself again and again has a loader at every moment. */
TEST_F(atbase, between_execs)
{
	uint64_t base, last = 0, end = now_ns() + 240 * NSEC;
	unsigned int moved = 0, enough = scaled(300, 30);
	pid_t pid;

	ASSERT_TRUE(write_program(&machines[0], true));
	pid = start_program(PROGRAM, LOADER);
	ASSERT_LT(0, pid);
	while (moved < enough && now_ns() < end) {
		ASSERT_EQ(0, dev_atbase(self->dev, pid, &base));
		ASSERT_NE(0, base);
		ASSERT_EQ(0, base % 0x1000);
		moved += base != last;
		last = base;
	}
	EXPECT_EQ(enough, moved);
	load_end(pid);
}

/* The first thread's end is not the process'. */
TEST_F(atbase, threads)
{
	uint64_t base = 1;
	pthread_t thread;
	pid_t pid = fork_bound();

	if (!pid) {
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		syscall(SYS_exit, 0);
	}
	wait_asleep(pid, pid);
	EXPECT_EQ(0, dev_atbase(self->dev, pid, &base));
	EXPECT_EQ(getauxval(AT_BASE), base);
	load_end(pid);
}

TEST_F(atbase, refused)
{
	struct hwpmc_atbase a = { .reserved = 1 };
	uint64_t base;
	pid_t pid;

	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_GETATBASE, &a));
	EXPECT_EQ(-EINVAL, dev_atbase(self->dev, -1, &base));
	EXPECT_EQ(-EINVAL, dev_atbase(self->dev, INT32_MIN, &base));
	EXPECT_EQ(-ESRCH, dev_atbase(self->dev, INT32_MAX, &base));
	EXPECT_EQ(-ESRCH, dev_atbase(self->dev, gone_pid(), &base));
	/* the kernel's own */
	EXPECT_EQ(-ESRCH, dev_atbase(self->dev, 2, &base));
	pid = fork_bound();
	if (!pid)
		_exit(0);
	wait_zombie(pid);
	EXPECT_EQ(-ESRCH, dev_atbase(self->dev, pid, &base));
	wait_for(pid);
}

/* What a child of root that has become a user is told. */
static int ask_as_user(pid_t foreign)
{
	uint64_t base;
	pid_t own;
	int dev;

	if (!user_stay(USER))
		return 200;
	dev = dev_open();
	if (dev < 0)
		return 201;
	own = fork_bound();
	if (!own)
		for (;;)
			pause();
	if (dev_atbase(dev, 0, &base))
		return 202;
	if (dev_atbase(dev, own, &base))
		return 203;
	return -dev_atbase(dev, foreign, &base);
}

static bool become(void *uid)
{
	return !*(uid_t *)uid || user_stay(*(uid_t *)uid);
}

static void idle(void *unused)
{
	wait_for_ever(unused);
}

static pid_t idle_user(uid_t uid)
{
	return fork_begun(become, idle, &uid);
}

/* Oneself and one's children; nobody else's process, though the same user's. */
TEST_F(atbase, permissions)
{
	static const uid_t of[] = { 0, USER, USER + 1 };
	unsigned int i;
	uint64_t base;
	pid_t other;

	ASSERT_TRUE(device_for_group());
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		other = idle_user(of[i]);
		ASSERT_LT(0, other);
		EXPECT_EQ(0, dev_atbase(self->dev, other, &base));
		EXPECT_EQ(EPERM, IN_CHILD(ask_as_user(other)));
		load_end(other);
	}
	device_for_root();
}

TEST_HARNESS_MAIN
