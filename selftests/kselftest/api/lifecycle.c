// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners and the module come and go: nothing is left, nothing is said.
 */
#include <linux/capability.h>
#include <sched.h>

#include "rate.h"
#include "recorder.h"
#include "test.h"
#include "module.h"
#include "passing.h"

/* Kernel messages of level warning or worse, and the module's own. */
static int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(fd, 0, SEEK_END);
	return fd;
}

static unsigned int kmsg_bad(int fd, unsigned int *ours)
{
	bool kcsan = !access("/sys/kernel/debug/kcsan", F_OK);
	bool race = false, line;
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
		/* most races are the kernel's own: vm/verdict tells them apart */
		line = kcsan && strstr(text, "====================");
		race = !line && (race || strstr(text, "BUG: KCSAN"));
		if (line || race)
			continue;
		if (strstr(text, "hrtimer: interrupt took") ||
		    strstr(text, "out-of-tree") || strstr(text, "verification"))
			continue;	/* of emulation, and of loading us */
		if (strstr(text, "hwpmc"))
			++*ours;
		if ((atoi(rec) & 7) > 4 && !strstr(text, "hwpmc"))
			continue;
		n++;
		printf("# kernel: %s\n", text + 1);
	}
	return n;
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
		a = pmc_sampler(SWITCHES, 1);
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

static void cycle(META, unsigned int seed)
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
	EXPECT_EQ(0, module_unload_soon()) TH_LOG("seed %u", seed);
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
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
	/*
	 * A lost ring is 1 MiB, a lost PMC or owner at least 1 KiB.  KASAN keeps
	 * what was freed, up to a 32nd of the memory and more for its own needs:
	 * there it is kmemleak that knows.
	 */
	EXPECT_GT(before + (access("/sys/kernel/debug/kmemleak", F_OK) ?
			    1500 + n * scaled(4, 40) : 128 << 10), after);
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

	dev_run(dev, pmc_counter(CPU_CLOCK), &id);
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
	/* a worker does what the last close of another process than the opener begins */
	EXPECT_TRUE(WAIT_UNTIL(!module_users(), 10000));
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
	EXPECT_TRUE(wait_committed(dev, 60));
	END_LOG(dev, file, &log, 0);
	EXPECT_LT(50, log.samples);
	EXPECT_EQ(child, log.owner_pid);
}

/* A process of another pid namespace configures it: the number is the opener's. */
TEST(child_of_a_namespace)
{
	int dev = dev_open(), file = temp_file();
	struct log log;
	pid_t maker, child;

	maker = fork_bound();
	if (!maker) {
		if (unshare(CLONE_NEWPID))
			_exit(1);
		child = fork();
		if (!child)
			_exit(getpid() != 1 || dev_configure(dev, file) ||
			      dev_userdata(dev, 1));
		_exit(wait_for(child));
	}
	ASSERT_EQ(0, wait_for(maker));
	END_LOG(dev, file, &log, 0);
	EXPECT_LT(maker, log.owner_pid);
}

TEST(passing_keeps)
{
	int dev = dev_open(), sock[2], got;
	uint32_t id = start_clock(dev), word;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, send_fd(sock[0], dev, 1));
	close(dev);
	EXPECT_EQ(1, module_users());
	got = receive_fd(sock[1], &word);
	ASSERT_LE(0, got);
	EXPECT_TRUE(still_counting(got, id));
	ASSERT_EQ(0, send_fd(sock[0], got, 2));
	close(got);
	close(sock[0]);
	close(sock[1]);		/* with it what nobody has received */
	EXPECT_TRUE(recorders_are(0));
}

TEST(exec_closes)
{
	int dev = open(DEV_PATH, O_RDWR | O_CLOEXEC), pipe_ends[2];
	pid_t child;

	ASSERT_EQ(0, pipe(pipe_ends));
	child = fork();
	if (!child) {
		execl("/bin/sleep", "sleep", "300", NULL);
		_exit(1);
	}
	close(dev);
	EXPECT_TRUE(recorders_are(0));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	load_end(child);
}

#define NOWNER	12

#define ERRORS	5		/* of each owner that comes */

struct coming {
	volatile bool	stop;
	unsigned int	owners;		/* atomic */
};

static void come_and_go(struct coming *c)
{
	unsigned int i;
	int dev;

	while (!c->stop) {
		dev = dev_open();
		for (i = 0; i < ERRORS; i++)
			dev_release(dev, 0);
		close(dev);
		__atomic_add_fetch(&c->owners, 1, __ATOMIC_SEQ_CST);
	}
}

/* No owner is missing in a sum, wherever it is in its life, or is in it twice. */
TEST(sum_while_owners_end)
{
	struct coming *c = shared_memory(sizeof(*c));
	struct hwpmc_driverstats first, st, last;
	int dev = dev_open(), i, n = 0;
	pid_t child[3];

	ASSERT_NE(NULL, c);
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_MODULE, &first));
	last = first;
	for (i = 0; i < 3; i++) {
		child[i] = fork_bound();
		if (!child[i]) {
			come_and_go(c);
			_exit(0);
		}
	}
	for (i = 0; i < 3000 || c->owners < 30; i++) {
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_MODULE, &st));
		n += st.syscalls < last.syscalls ||
		     st.syscall_errors < last.syscall_errors;
		last = st;
	}
	EXPECT_EQ(0, n);
	c->stop = true;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, wait_for(child[i]));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_MODULE, &st));
	EXPECT_EQ(first.syscall_errors + ERRORS * c->owners, st.syscall_errors);
	close(dev);
}

/* Several owners at once do not see each other. */
TEST(many_owners)
{
	int dev[NOWNER], file[NOWNER], i;
	uint32_t id[NOWNER], other;
	struct log log;

	for (i = 0; i < NOWNER; i++) {
		dev[i] = dev_open();
		file[i] = temp_file();
		ASSERT_EQ(0, dev_configure(dev[i], file[i]));
		/* a thread for each */
		EXPECT_EQ(i + 1, recorder_count());
		ASSERT_EQ(0, dev_run(dev[i], pmc_clock(100), &id[i]));
		ASSERT_EQ(0, dev_run(dev[i], pmc_clock(50), &other));
		EXPECT_NE(id[i], other);
	}
	for (i = 0; i < NOWNER; i++)
		EXPECT_TRUE(wait_committed(dev[i], 30));
	for (i = 0; i < NOWNER; i++) {
		if (i % 3 == 0) {
			ASSERT_EQ(0, dev_release(dev[i], id[i]));
		}
		if (i % 2) {
			ASSERT_EQ(0, dev_closelog(dev[i]));
		}
		close(dev[i]);
	}
	/* a close waits for a second only, and on a slow machine a log ends later */
	EXPECT_TRUE(recorders_are(0));
	for (i = 0; i < NOWNER; i++) {
		LOAD_LOG(&log, file[i], 0);
		EXPECT_EQ(2, log.npmcs) TH_LOG("owner %d", i);
		EXPECT_LT(20, log.samples) TH_LOG("owner %d", i);
		log_free(&log);
	}
}

/* Release and allocate while others run: samples stay with their PMC's id. */
TEST(release_under_fire)
{
	int dev = dev_open(), file = temp_file(), i;
	struct log log;
	uint32_t id;

	BEGIN_LOG(dev, file, pmc_clock(1000), &id);
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, dev_run(dev, pmc_clock(2000), &id));
		sleep_ms(10);
		ASSERT_EQ(0, dev_release(dev, id));
		EXPECT_EQ(-EINVAL, dev_stop(dev, id));
	}
	EXPECT_TRUE(wait_committed(dev, 110));
	END_LOG(dev, file, &log, 0);
	EXPECT_EQ(31, log.npmcs);
	EXPECT_LT(100, log.samples);
}

/* ------------------------------------------------------------------------
 * The module
 */

/* It stays for as long as a device is open, and that works as before. */
TEST(unload_refused)
{
	int dev = dev_open();
	uint32_t id;

	ASSERT_LE(0, dev);
	EXPECT_EQ(-EAGAIN, module_unload());
	id = start_clock(dev);
	EXPECT_TRUE(still_counting(dev, id));
	EXPECT_EQ(-EAGAIN, module_unload());
	EXPECT_TRUE(still_counting(dev, id));
	close(dev);
	EXPECT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
}

/* What doctor says before the module is loaded */
TEST(doctor)
{
	char out[4096];
	int status;
	FILE *f;

	ASSERT_EQ(0, module_unload_soon());
	f = popen("pmccontrol doctor", "r");
	ASSERT_NE(NULL, f);
	out[fread(out, 1, sizeof(out) - 1, f)] = '\0';
	status = pclose(f);
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	EXPECT_NE(NULL, strstr(out, "\nproblem  loaded: the module is not in "
			       "the kernel\n             modprobe hwpmc\n"))
		TH_LOG("%s", out);
}

/* ------------------------------------------------------------------------
 * Module parameters
 */
#define PARAMS	"/sys/module/hwpmc/parameters/"

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
		{ "max_owners=1048577", "max_owners", 64, 1 },
		{ "max_pmcs=1048577", "max_pmcs", 1024, 1 },
		{ "max_ringmem=1048577", "max_ringmem", 256, 1 },
		{ "max_counters=1048577", "max_counters", 65536, 1 },
		{ "max_cpu=0", "max_cpu", 100, 1 },
		{ "max_owners=0", "max_owners", 0, 0 },
		{ "max_ringmem=1048576", "max_ringmem", 1048576, 0 },
	};
	unsigned int i, ours;
	int kmsg = kmsg_open();
	char off[8] = "";

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		ASSERT_EQ(0, module_unload_soon());
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
	ASSERT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
	/* off, unless they are asked for */
	ASSERT_TRUE(read_line(PARAMS "unprivileged_syspmcs", off, sizeof(off)));
	EXPECT_STREQ("N", off);
	ASSERT_TRUE(read_line(PARAMS "perf_rules", off, sizeof(off)));
	EXPECT_STREQ("N", off);
}

/* The smallest of everything still makes a log that tells no lies. */
TEST(smallest)
{
	int dev, file = temp_file();
	struct log log;

	ASSERT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load("ringsize=16 logbuffersize=1 callchaindepth=1"));
	ASSERT_TRUE(module_wait_for_device());
	dev = dev_open();
	BEGIN_LOG(dev, file, pmc_clock(bearable_hz(5000)), NULL);
	sleep_ms(1000);
	EXPECT_TRUE(wait_committed(dev, 110));
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	LOAD_LOG(&log, file, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_EQ(1, log.deepest);
	EXPECT_LT(100, log.samples);
	ASSERT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
}

TEST_HARNESS_MAIN
