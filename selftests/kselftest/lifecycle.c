// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners and the module come and go: nothing is left, nothing is said.
 */
#include <linux/capability.h>
#include <sys/syscall.h>

#include "test.h"

#define MODULE		"hwpmc"
#define MODULE_PATH	"/hwpmc/hwpmc.ko"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

static int module_unload(void)
{
	return syscall(SYS_delete_module, MODULE, O_NONBLOCK) ? -errno : 0;
}

static int module_load(const char *params)
{
	const char *path = getenv("HWPMC_MODULE");
	int fd = open(path ? path : MODULE_PATH, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

static int module_users(void)
{
	char line[32];

	return read_line("/sys/module/" MODULE "/refcnt", line, sizeof(line)) ?
	       atoi(line) : -1;
}

/* The device node comes with the module (devtmpfs). */
static bool wait_for_device(void)
{
	int i;

	for (i = 0; i < 100 && access(DEV_PATH, F_OK); i++)
		sleep_ms(20);
	return i < 100;
}

/* A writing thread may take a moment to end. */
static int unload_soon(void)
{
	int i, err;

	for (i = 0; i < 100; i++) {
		err = module_unload();
		if (err != -EAGAIN && err != -EBUSY)
			return err;
		sleep_ms(20);
	}
	return err;
}

/* Kernel messages of level warning or worse, and the module's own. */
static int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(fd, 0, SEEK_END);
	return fd;
}

static unsigned int kmsg_bad(int fd, unsigned int *ours)
{
	char rec[2048], *text;
	unsigned int n = 0;
	ssize_t len;

	while ((len = read(fd, rec, sizeof(rec) - 1)) > 0 || errno == EPIPE) {
		if (len <= 0)
			continue;
		rec[len] = '\0';
		text = strchr(rec, ';');
		if (!text)
			continue;
		rec[strcspn(rec, "\n")] = '\0';
		if (strstr(text, "hrtimer: interrupt took") ||
		    strstr(text, "out-of-tree") || strstr(text, "verification"))
			continue;	/* of emulation, and of loading us */
		if (strstr(text, MODULE))
			++*ours;
		if ((atoi(rec) & 7) > 4 && !strstr(text, MODULE))
			continue;
		n++;
		printf("# kernel: %s\n", text + 1);
	}
	return n;
}

static uint64_t kernel_memory_kib(void)
{
	static const char * const keys[] = { "Slab", "VmallocUsed", "Percpu" };
	uint64_t sum = 0, value;
	unsigned int i;

	write_text("/proc/sys/vm/drop_caches", "3");
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (read_key("/proc/meminfo", keys[i], &value))
			sum += value;
	return sum;
}

/* Prints what kmemleak has; true if that is nothing, or there is none. */
static bool no_leaks(void)
{
	char line[256];
	bool none = true;
	FILE *f;

	if (access(KMEMLEAK, F_OK))
		return true;
	sleep_ms(6000);		/* younger objects are not reported */
	write_text(KMEMLEAK, "scan");
	sleep_ms(1000);
	write_text(KMEMLEAK, "scan");
	f = fopen(KMEMLEAK, "re");
	while (f && fgets(line, sizeof(line), f)) {
		printf("# %s", line);
		none = false;
	}
	if (f)
		fclose(f);
	return none;
}

/* ------------------------------------------------------------------------
 * Killed anywhere
 */
static struct hwpmc_allocate random_pmc(void)
{
	struct hwpmc_allocate a;

	if (rand() % 3 == 0) {
		a = pmc_counter(PERF_TYPE_SOFTWARE,
				rand() % PERF_COUNT_SW_ALIGNMENT_FAULTS);
	} else if (rand() % 4 == 0) {
		a = pmc_sampler(PERF_TYPE_SOFTWARE,
				PERF_COUNT_SW_CONTEXT_SWITCHES, 1);
	} else {
		a = pmc_clock(100 + rand() % 5000);
	}
	if (rand() % 3 == 0)
		a.cpu = rand() % 2;
	return a;
}

/* A file, a pipe that is read by nobody, or one that has no reader at all. */
static int random_log(void)
{
	int ends[2];

	if (rand() % 3 == 0 && !pipe(ends)) {
		if (rand() % 3 == 0)
			close(ends[0]);
		return ends[1];
	}
	return temp_file();
}

static void random_step(int dev, uint32_t *ids, unsigned int *n)
{
	struct hwpmc_allocate a;
	uint64_t value;
	uint32_t id = *n ? ids[rand() % *n] : 0;

	switch (rand() % 11) {
	case 0:
	case 1:
		a = random_pmc();
		if (!dev_allocate(dev, &a) && *n < 64)
			ids[(*n)++] = a.id;
		break;
	case 2:
		dev_configure(dev, random_log());
		break;
	case 3:
	case 4:
	case 5:
		dev_start(dev, id);
		break;
	case 6:
		dev_stop(dev, id);
		break;
	case 7:
		dev_read(dev, id, HWPMC_CPU_ALL, &value);
		break;
	case 8:
		dev_rotate(dev, temp_file());
		break;
	case 9:
		rand() % 2 ? dev_userdata(dev, rand()) : dev_flush(dev);
		break;
	case 10:
		if (rand() % 4 == 0)
			dev_release(dev, id);
		else if (rand() % 4 == 0)
			dev_closelog(dev);
		else if (!fork())
			_exit(0);
		break;
	}
}

static void victim(unsigned int seed)
{
	uint32_t ids[64];
	unsigned int n = 0;
	int dev = dev_open();

	srand(seed);
	signal(SIGCHLD, SIG_IGN);
	for (;;)
		random_step(dev, ids, &n);
}

static void cycle(struct __test_metadata *_metadata, unsigned int seed)
{
	pid_t pid;
	int busy;

	pid = fork_bound();
	if (!pid)
		victim(seed);
	srand(seed);
	sleep_ms(rand() % scaled(250, 1000));
	if (module_users() > 0) {
		busy = module_unload();
		EXPECT_TRUE(busy == -EAGAIN || busy == -EBUSY)
			TH_LOG("rmmod of a busy module: %d", busy);
	}
	kill(pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(pid));
	EXPECT_EQ(0, unload_soon()) TH_LOG("seed %u", seed);
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(wait_for_device());
}

TEST(cycles)
{
	unsigned int n = env_number("HWPMC_CYCLES", scaled(30, 15)), i;
	unsigned int seed = env_number("HWPMC_SEED", 1), ours = 0;
	uint64_t before, after;
	int kmsg = kmsg_open();

	TH_LOG("%u cycles, HWPMC_SEED=%u", n, seed);
	for (i = 0; i < 5; i++)		/* caches fill */
		cycle(_metadata, seed + i);
	before = kernel_memory_kib();
	for (; i < n + 5; i++)
		cycle(_metadata, seed + i);
	after = kernel_memory_kib();
	TH_LOG("kernel memory %llu KiB, then %llu KiB",
	       (unsigned long long)before, (unsigned long long)after);
	/* a lost ring is 1 MiB, a lost PMC or owner at least 1 KiB */
	EXPECT_GT(before + 1500 + n * scaled(4, 40), after);
	EXPECT_EQ(0, kmsg_bad(kmsg, &ours));
	EXPECT_TRUE(no_leaks());
}

/* ------------------------------------------------------------------------
 * Who keeps an owner alive
 */
static bool still_counting(int dev, uint32_t id)
{
	uint64_t a = 0, b = 0;

	if (dev_read(dev, id, HWPMC_CPU_ALL, &a))
		return false;
	sleep_ms(50);
	return !dev_read(dev, id, HWPMC_CPU_ALL, &b) && b > a;
}

static uint32_t start_clock(int dev)
{
	uint32_t id = 0;

	dev_run(dev, pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
		&id);
	return id;
}

TEST(dup_keeps)
{
	int dev = dev_open(), other = dup(dev);
	uint32_t id = start_clock(dev);

	EXPECT_TRUE(still_counting(dev, id));
	close(dev);
	EXPECT_TRUE(still_counting(other, id));
	EXPECT_EQ(1, module_users());
	close(other);
	EXPECT_EQ(0, module_users());
}

TEST(fork_keeps)
{
	int dev = dev_open();
	uint32_t id = start_clock(dev);
	pid_t child;

	child = fork();
	if (!child) {
		sleep_ms(300);
		_exit(still_counting(dev, id) ? 0 : 1);
	}
	close(dev);
	EXPECT_EQ(1, module_users());
	EXPECT_EQ(0, wait_for(child));
	EXPECT_EQ(0, module_users());
}

/* The log's owner is the file, not whoever configured it. */
TEST(child_ends_log_goes_on)
{
	int dev = dev_open(), file = temp_file();
	struct log log;
	uint32_t id = 0;
	pid_t child;

	child = fork();
	if (!child)
		_exit(dev_configure(dev, file) ||
		      dev_run(dev, pmc_clock(1000), &id));
	ASSERT_EQ(0, wait_for(child));
	sleep_ms(300);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
	EXPECT_LT(50, log.samples);
	EXPECT_EQ(child, log.owner_pid);
}

static int send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 'x';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

TEST(passing_keeps)
{
	int dev = dev_open(), sock[2], got;
	uint32_t id = start_clock(dev);

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, send_fd(sock[0], dev));
	close(dev);
	EXPECT_EQ(1, module_users());
	got = receive_fd(sock[1]);
	ASSERT_LE(0, got);
	EXPECT_TRUE(still_counting(got, id));
	ASSERT_EQ(0, send_fd(sock[0], got));
	close(got);
	close(sock[0]);
	close(sock[1]);		/* with it what nobody has received */
	sleep_ms(200);
	EXPECT_EQ(0, module_users());
}

TEST(exec_closes)
{
	int dev = open(DEV_PATH, O_RDWR | O_CLOEXEC), pipe_ends[2];
	pid_t child;

	ASSERT_EQ(0, pipe(pipe_ends));
	child = fork();
	if (!child) {
		execl("/bin/sleep", "sleep", "3", NULL);
		_exit(1);
	}
	sleep_ms(scaled(300, 1500));
	close(dev);
	EXPECT_EQ(0, module_users());
	kill(child, SIGKILL);
	wait_for(child);
}

/* Several owners at once do not see each other. */
#define NOWNER	12

TEST(many_owners)
{
	int dev[NOWNER], file[NOWNER], i;
	uint32_t id[NOWNER], other;
	struct log log;

	for (i = 0; i < NOWNER; i++) {
		dev[i] = dev_open();
		file[i] = temp_file();
		ASSERT_EQ(0, dev_configure(dev[i], file[i]));
		ASSERT_EQ(0, dev_run(dev[i], pmc_clock(100), &id[i]));
		ASSERT_EQ(0, dev_run(dev[i], pmc_clock(50), &other));
		EXPECT_NE(id[i], other);
	}
	sleep_ms(scaled(1000, 3000));
	for (i = 0; i < NOWNER; i++) {
		if (i % 3 == 0) {
			ASSERT_EQ(0, dev_release(dev[i], id[i]));
		}
		if (i % 2) {
			ASSERT_EQ(0, dev_closelog(dev[i]));
		}
		close(dev[i]);
	}
	for (i = 0; i < NOWNER; i++) {
		ASSERT_TRUE(log_load(&log, file[i]));
		ASSERT_LOG(&log, 0);
		EXPECT_EQ(2, log.npmcs) TH_LOG("owner %d", i);
		EXPECT_LT(20, log.samples) TH_LOG("owner %d", i);
		log_free(&log);
	}
	EXPECT_EQ(0, module_users());
}

/* Release and allocate while others run: samples stay with their PMC's id. */
TEST(release_under_fire)
{
	int dev = dev_open(), file = temp_file(), i;
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), &id));
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, dev_run(dev, pmc_clock(2000), &id));
		sleep_ms(10);
		ASSERT_EQ(0, dev_release(dev, id));
		EXPECT_EQ(-EINVAL, dev_stop(dev, id));
	}
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
	EXPECT_EQ(31, log.npmcs);
	EXPECT_LT(100, log.samples);
}

/* ------------------------------------------------------------------------
 * Module parameters
 */
TEST(parameters)
{
	static const struct {
		const char *text;
		const char *name;
		unsigned long want;
		unsigned int messages;
	} params[] = {
		{ "callchaindepth=0", "callchaindepth", 128, 1 },
		{ "callchaindepth=513", "callchaindepth", 128, 1 },
		{ "callchaindepth=512", "callchaindepth", 512, 0 },
		{ "callchaindepth=1", "callchaindepth", 1, 0 },
		{ "ringsize=15", "ringsize", 1024, 1 },
		{ "ringsize=48", "ringsize", 1024, 1 },
		{ "ringsize=16", "ringsize", 16, 0 },
		{ "ringsize=131072", "ringsize", 1024, 1 },
		{ "logbuffersize=0", "logbuffersize", 256, 1 },
		{ "logbuffersize=16385", "logbuffersize", 256, 1 },
		{ "logbuffersize=1", "logbuffersize", 1, 0 },
		{ "mincount=0", "mincount", 1000, 1 },
	};
	unsigned int i, ours;
	int kmsg = kmsg_open();

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		ASSERT_EQ(0, unload_soon());
		ours = 0;
		kmsg_bad(kmsg, &ours);
		ours = 0;
		ASSERT_EQ(0, module_load(params[i].text));
		kmsg_bad(kmsg, &ours);
		EXPECT_EQ(params[i].messages, ours)
			TH_LOG("%s", params[i].text);
		EXPECT_EQ(params[i].want, module_param(params[i].name))
			TH_LOG("%s", params[i].text);
	}
	ASSERT_EQ(0, unload_soon());
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(wait_for_device());
}

/* The smallest of everything still makes a log that tells no lies. */
TEST(smallest)
{
	int dev, file = temp_file();
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, unload_soon());
	ASSERT_EQ(0, module_load("ringsize=16 logbuffersize=1 callchaindepth=1"));
	ASSERT_TRUE(wait_for_device());
	dev = dev_open();
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(5000), &id));
	sleep_ms(1000);
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_EQ(1, log.deepest);
	EXPECT_LT(100, log.samples);
	ASSERT_EQ(0, unload_soon());
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(wait_for_device());
}

TEST_HARNESS_MAIN
