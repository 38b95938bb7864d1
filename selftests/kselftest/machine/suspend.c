// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine goes to sleep while it is sampled, and wakes: the log goes on,
 * nothing is missing from the account, nobody holds the machine up, and who
 * waits for the module notices nothing.
 *
 * How far a test machine can go differs.  Everywhere an alarm that is due can
 * call suspend off when all tasks are frozen and the devices are about to be;
 * some kernels can play suspend up to a level; to really sleep takes a clock
 * that wakes the machine.
 */
#include <pthread.h>
#include <sys/timerfd.h>
#include <time.h>

#include "limit.h"
#include "recorder.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define POWER		"/sys/power/"
#define STATS		POWER "suspend_stats/"
#define WAKEALARM	"/sys/class/rtc/rtc0/wakealarm"
#define DELAY		"/sys/module/suspend/parameters/pm_test_delay"

static uint64_t number_in(const char *path)
{
	char line[64];

	return read_line(path, line, sizeof(line)) ? strtoull(line, NULL, 0) :
						     0;
}

static bool word_in(const char *path, const char *word)
{
	char line[256];

	return read_line(path, line, sizeof(line)) && strstr(line, word);
}

/* Suspend to idle: 0 when it is over, or a negative errno. */
static int sleep_now(void)
{
	int fd = open(POWER "state", O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write(fd, "freeze", 6) == 6 ? 0 : -errno;
	close(fd);
	return err;
}

/*
 * Alarms for every second of the time that freezing may take, and more: when an
 * alarm is due in less than two the kernel calls a suspend off.
 */
#define NALARMS		40

static bool set_alarms(int *alarms)
{
	struct itimerspec it = {};
	int i;

	for (i = 0; i < NALARMS; i++) {
		it.it_value.tv_sec = 1 + i;
		alarms[i] = timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC);
		if (alarms[i] < 0 || timerfd_settime(alarms[i], 0, &it, NULL))
			return false;
	}
	return true;
}

static void clear_alarms(const int *alarms)
{
	int i;

	for (i = 0; i < NALARMS; i++)
		if (alarms[i] >= 0)
			close(alarms[i]);
}

/* Suspend that is called off; 0: there are no alarms. */
static int sleep_with_alarms(void)
{
	int alarms[NALARMS], err = 0;

	memset(alarms, -1, sizeof(alarms));
	if (set_alarms(alarms))
		err = sleep_now();
	clear_alarms(alarms);
	return err;
}

static bool has_alarms(void)
{
	int fd = timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

FIXTURE(suspend)
{
	pid_t load;
	int dev;
	int file;
	uint32_t id;
	uint64_t start;
};

FIXTURE_SETUP(suspend)
{
	self->dev = -1;
	self->load = load_user(0);
	if (!word_in(POWER "state", "freeze"))
		SKIP(return, "this kernel cannot suspend");
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->start = raw_ns();
	BEGIN_LOG(self->dev, self->file, pmc_clock(1000), &self->id);
	ASSERT_TRUE(wait_committed(self->dev, 100));
}

FIXTURE_TEARDOWN(suspend)
{
	write_text(POWER "pm_test", "none");
	if (self->dev >= 0)
		close(self->dev);
	load_end(self->load);
}

/* Sampling has gone on since @woken, on all CPUs, and the log is whole. */
static void check_log(META, FIXTURE_DATA(suspend) *self, uint64_t woken)
{
	int cpus[LOG_MAX_CPU];
	unsigned int n = online_cpus(cpus, LOG_MAX_CPU), i, k;
	struct hwpmc_driverstats st;
	uint64_t before, now;
	struct log log;

	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, dev_read(self->dev, self->id, cpus[i], &before));
		for (k = 0, now = 0; k < 500 && now < before + 20 * MSEC; k++) {
			sleep_ms(20);
			dev_read(self->dev, self->id, cpus[i], &now);
		}
		EXPECT_LE(before + 20 * MSEC, now) TH_LOG("CPU %d", cpus[i]);
		EXPECT_TRUE(wait_samples(self->dev, self->file, 6,
					 .cpus = 1ULL << cpus[i],
					 .from = woken + 1));
	}
	ASSERT_TRUE(wait_committed(self->dev, 100));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	LOAD_LOG(&log, self->file, 0);
	EXPECT_EQ(st.account.committed, log.samples);
	EXPECT_EQ(0, st.account.in_rings + st.account.discarded);
	EXPECT_LE(self->start, log.first_tsc);
	EXPECT_GE(raw_ns(), log.last_tsc);
	for (i = 0; i < n; i++) {
		EXPECT_LT(5, log_samples(&log, .cpus = 1ULL << cpus[i],
					 .from = woken + 1))
			TH_LOG("CPU %d", cpus[i]);
	}
	log_free(&log);
}

/* All tasks have been frozen, and devices were next, when it was called off. */
static void call_off(META)
{
	uint64_t freeze = number_in(STATS "failed_freeze");
	uint64_t devices = number_in(STATS "failed_suspend");

	EXPECT_EQ(-EBUSY, sleep_with_alarms());
	EXPECT_EQ(freeze, number_in(STATS "failed_freeze"));
	EXPECT_LT(devices, number_in(STATS "failed_suspend"));
}

TEST_F(suspend, called_off)
{
	unsigned int i;

	if (!has_alarms())
		SKIP(return, "no clock with alarms");
	for (i = 0; i < 3; i++)
		call_off(_metadata);
	check_log(_metadata, self, raw_ns());
}

/* As if asleep for a second, on the level of @what. */
static void play(META, FIXTURE_DATA(suspend) *self, const char *what)
{
	if (!word_in(POWER "pm_test", what))
		SKIP(return, "this kernel cannot play suspend");
	write_text(DELAY, "1");
	ASSERT_TRUE(write_text(POWER "pm_test", what));
	EXPECT_EQ(0, sleep_now());
	ASSERT_TRUE(write_text(POWER "pm_test", "none"));
	check_log(_metadata, self, raw_ns());
}

TEST_F(suspend, freezer)
{
	play(_metadata, self, "freezer");
}

TEST_F(suspend, devices)
{
	play(_metadata, self, "devices");
}

/*
 * Really.  The clock of PCs wakes them through ACPI, which QEMU does only from a
 * deeper sleep.
 */
TEST_F(suspend, to_idle)
{
	unsigned int i;

	if (word_in("/sys/class/rtc/rtc0/name", "rtc_cmos") ||
	    access(WAKEALARM, W_OK))
		SKIP(return, "nothing is sure to wake this machine");
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(write_text(WAKEALARM, "0"));
		ASSERT_TRUE(write_text(WAKEALARM, "+2"));
		EXPECT_EQ(0, sleep_now());
	}
	check_log(_metadata, self, raw_ns());
}

/* ------------------------------------------------------------------------
 * The writer thread itself
 */

/* Whether the kernel freezes the thread that writes this process' log. */
static bool thread_can_be_frozen(void)
{
	const unsigned long nofreeze = 0x8000;	/* PF_NOFREEZE */
	char path[64], line[512], *p;
	unsigned long flags;

	snprintf(path, sizeof(path), "/proc/%d/stat", recorder_pid());
	if (!read_line(path, line, sizeof(line)))
		return false;
	p = strrchr(line, ')');
	return p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 &&
	       !(flags & nofreeze);
}

/*
 * Nothing changes on a disk behind the image of a hibernation; and what waits in
 * a pipe keeps nobody from going to sleep.
 */
TEST_F(suspend, thread)
{
	int ends[2], file = temp_file();
	struct reader r;

	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	EXPECT_TRUE(thread_can_be_frozen());
	reader_begin(&r, ends[0], 65536, 0);
	ASSERT_EQ(0, dev_rotate(self->dev, ends[1]));
	close(ends[1]);
	EXPECT_FALSE(thread_can_be_frozen());
	ASSERT_EQ(0, dev_rotate(self->dev, file));
	EXPECT_TRUE(thread_can_be_frozen());
	reader_end(&r);
	ASSERT_LOG(&r.log, 0);
	ASSERT_EQ(0, dev_closelog(self->dev));
}

/*
 * A user's thread that has used up its share of CPU time sleeps for as long as it
 * takes to make up for that: not in the way of the freezer, nor of the log's end.
 */
#define MAPS		scaled(20000, 4000)
#define USER		1000
#define FREEZE_MS	POWER "pm_freeze_timeout"
#define PATIENCE_MS	"2000"

/* The thread that writes this process' log has run so long. */
static uint64_t writer_ns(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", recorder_pid());
	return number_in(path);
}

/* Tells the parent, who says when to go on. */
static bool ask(int go, int back, uint64_t what)
{
	char c;

	return write(back, &what, sizeof(what)) == sizeof(what) &&
	       read(go, &c, 1) == 1;
}

/* The next log begins with many mappings: a long pass, then a longer sleep. */
static int be_in_debt(int go, int back)
{
	uint64_t before, debt, start;
	pid_t mapper;
	int dev;

	CHECK(1, user_stay(USER));
	mapper = mapper_begin(MAPS);
	CHECK(1, mapper > 0);
	dev = dev_open();
	CHECK(0, dev_configure(dev, temp_file()));
	CHECK(0, dev_run_on(dev, pmc_process_faults(0), mapper, NULL));
	CHECK(1, ask(go, back, 0));
	before = writer_ns();
	CHECK(0, dev_rotate(dev, temp_file()));
	debt = (writer_ns() - before) * 100;
	CHECK(1, ask(go, back, debt));
	start = now_ns();
	CHECK(0, dev_closelog(dev));
	CHECK(1, now_ns() - start < debt / 2);
	close(dev);
	mapper_end(mapper);
	return 0;
}

TEST(in_debt)
{
	char timeout[32];
	int go[2], back[2], status;
	uint64_t debt;
	pid_t pid;

	if (!word_in(POWER "state", "freeze") || !has_alarms())
		SKIP(return, "this kernel cannot suspend, or has no alarms");
	ASSERT_TRUE(read_line(FREEZE_MS, timeout, sizeof(timeout)));
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(back));
	ASSERT_TRUE(device_for_group());
	pid = fork_bound();
	if (!pid)
		_exit(be_in_debt(go[0], back[1]));
	close(back[1]);
	ASSERT_EQ(sizeof(debt), read(back[0], &debt, sizeof(debt)));
	ASSERT_TRUE(limit("max_cpu", 1));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(sizeof(debt), read(back[0], &debt, sizeof(debt)));
	TH_LOG("%u ms to sleep off", (unsigned int)(debt / MSEC));
	sleep_ms(300);		/* that begins with its next pass */
	ASSERT_TRUE(write_text(FREEZE_MS, PATIENCE_MS));
	call_off(_metadata);
	write_text(FREEZE_MS, timeout);
	ASSERT_EQ(1, write(go[1], "", 1));
	status = wait_for(pid);
	limit("max_cpu", 100);
	device_for_root();
	if (debt < 5 * NSEC)
		SKIP(return, "there was too little to sleep off");
	EXPECT_EQ(0, status);
}

/* ------------------------------------------------------------------------
 * Who waits: for the reader of a log, each in another operation; and a reader of
 * the device
 */
enum waiting { FLUSH, CLOSE, ROTATE, START, ROOM, READ, NWAIT };

static const char *name_of(enum waiting w)
{
	static const char * const names[NWAIT] = {
		"FLUSHLOG", "CLOSELOG", "ROTATELOG", "PMCSTART", "WRITELOG",
		"read",
	};

	return w < NWAIT ? names[w] : "?";
}

struct waiter {
	enum waiting	what;
	int		dev;
	int		reader;
	int		result;
	volatile bool	done;
	pthread_t	thread;
	pthread_t	read_thread;
};

static int read_once(int dev)
{
	char buf[65536];

	return read(dev, buf, sizeof(buf)) < 0 ? -errno : 0;
}

static void *waiter_body(void *arg)
{
	struct waiter *w = arg;
	uint32_t id;

	switch (w->what) {
	case FLUSH:
		w->result = dev_flush(w->dev);
		break;
	case CLOSE:
		w->result = dev_closelog(w->dev);
		break;
	case ROTATE:
		w->result = dev_rotate(w->dev, temp_file());
		break;
	case START:
		w->result = dev_run(w->dev, pmc_clock(100), &id);
		break;
	case READ:
		w->result = read_once(w->dev);
		break;
	default:
		/* more than fits into the ring and what is behind it */
		for (id = 0; id < 100000 && !w->result; id++)
			w->result = dev_userdata(w->dev, id);
	}
	w->done = true;
	return NULL;
}

static void *read_all(void *arg)
{
	struct waiter *w = arg;
	char buf[65536];

	while (read(w->reader, buf, sizeof(buf)) > 0)
		;
	return NULL;
}

/* Nothing of this log is left to be read. */
static void begin_empty_stream(META, int dev)
{
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	ASSERT_EQ(0, dev_flush(dev));
	fcntl(dev, F_SETFL, O_NONBLOCK);
	while (!read_once(dev))
		;
	fcntl(dev, F_SETFL, 0);
}

/* A log in a pipe that is full, and somebody who waits for room there. */
static void begin_waiter(META, struct waiter *w)
{
	int ends[2], i;

	if (w->what == READ) {
		w->dev = dev_open();
		begin_empty_stream(_metadata, w->dev);
		ASSERT_EQ(0, pthread_create(&w->thread, NULL, waiter_body, w));
		return;
	}
	ASSERT_EQ(0, small_pipe(ends));
	w->reader = ends[0];
	w->dev = dev_open();
	ASSERT_EQ(0, dev_configure(w->dev, ends[1]));
	close(ends[1]);
	for (i = 0; i < 500; i++)
		ASSERT_EQ(0, dev_userdata(w->dev, i));
	ASSERT_EQ(0, pthread_create(&w->thread, NULL, waiter_body, w));
}

TEST_F(suspend, waiting)
{
	struct waiter waiters[NWAIT] = {};
	uint64_t woken;
	int i;

	if (!has_alarms())
		SKIP(return, "no clock with alarms");
	for (i = 0; i < NWAIT; i++) {
		waiters[i].what = i;
		begin_waiter(_metadata, &waiters[i]);
	}
	sleep_ms(scaled(1000, 3000));
	for (i = 0; i < NWAIT; i++) {
		EXPECT_FALSE(waiters[i].done) TH_LOG("%s", name_of(i));
	}
	call_off(_metadata);
	woken = raw_ns();
	sleep_ms(300);
	for (i = 0; i < NWAIT; i++) {
		EXPECT_FALSE(waiters[i].done)
			TH_LOG("%s: %s", name_of(i),
			       strerror(-waiters[i].result));
		if (i == READ) {
			EXPECT_EQ(0, dev_userdata(waiters[i].dev, 1));
			continue;
		}
		pthread_create(&waiters[i].read_thread, NULL, read_all,
			       &waiters[i]);
	}
	for (i = 0; i < NWAIT; i++) {
		pthread_join(waiters[i].thread, NULL);
		EXPECT_EQ(0, waiters[i].result)
			TH_LOG("%s: %s", name_of(i),
			       strerror(-waiters[i].result));
		close(waiters[i].dev);
		if (i != READ)
			pthread_join(waiters[i].read_thread, NULL);
	}
	check_log(_metadata, self, woken);
}

TEST_HARNESS_MAIN
