// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure at every point: each allocation and each copy of every operation
 * fails once.  The operation says so and leaves all as it was, or does without,
 * and then the log tells what is missing.
 *
 * HWPMC_FAULTS_LONG=1: more random failures; a look for leaks.
 */
#include "faults.h"

#define ROW	99	/* the administrator's */

/* PMCs that the owner can still have; it has them then. */
static unsigned int rows_left(int dev)
{
	unsigned int n = 0;
	struct hwpmc_allocate a;
	int err;

	do {
		a = pmc_counter(CPU_CLOCK);
		a.cpu = 0;
		err = dev_allocate(dev, &a);
	} while (!err && ++n <= HWPMC_NROW);
	return err == -EINVAL ? n : 0;
}

/* ------------------------------------------------------------------------
 * The operations
 */
static int run_open(struct world *w)
{
	w->dev = dev_open();
	return w->dev < 0 ? w->dev : 0;
}

static OP(undo_open, close(w->dev))
static OP(run_version, DEV_ASK(w->dev, GETMODULEVERSION, moduleversion,
			       .version = HWPMC_ABI_VERSION))
static OP(run_cpuinfo, DEV_ASK(w->dev, GETCPUINFO, cpuinfo))

static int run_stats(struct world *w)
{
	struct hwpmc_driverstats st;
	int err = dev_stats(w->dev, HWPMC_STATS_MODULE, &st);

	return err ?: dev_stats(w->dev, HWPMC_STATS_OWNER, &st);
}

static int run_rows(struct world *w)
{
	static struct hwpmc_pmcinfo_row rows[4];
	uint32_t n = ARRAY_SIZE(rows);
	int err = dev_pmcinfo(w->dev, 0, rows, &n);

	/* the owner's, and the one that is disabled */
	return err ?: n == 2 && rows[0].id == w->id && rows[1].row == ROW ?
		      0 : -EBADMSG;
}

/* As many as the first time. */
static int run_events(struct world *w)
{
	struct hwpmc_dynevent events[64];
	struct hwpmc_dyneventinfo info = {
		.pmc_class = HWPMC_CLASS_SOFT,
		.nevents = ARRAY_SIZE(events),
		.events = (uintptr_t)events,
	};
	int err = dev_ioctl(w->dev, HWPMC_IOC_GETDYNEVENTINFO, &info);

	if (err)
		return err;
	if (!w->value)
		w->value = info.nevents;
	return info.nevents == w->value ? 0 : -EBADMSG;
}

static OP(run_disable, dev_admin(w->dev, 0, ROW, HWPMC_STATE_DISABLED))
static OP(undo_disable, dev_admin(w->dev, 0, ROW, HWPMC_STATE_FREE))

static int run_poll(struct world *w)
{
	struct pollfd p[20];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i].fd = w->dev;
		p[i].events = POLLIN;
	}
	return poll(p, ARRAY_SIZE(p), 0) < 0 ? -errno : 0;
}

static OP(run_fasync, fcntl(w->dev, F_SETFL, O_RDWR | O_ASYNC) ? -errno : 0)
static OP(undo_fasync, fcntl(w->dev, F_SETFL, O_RDWR))

#define NEW_VALUE	123456789

static int run_exchange(struct world *w)
{
	struct hwpmc_rw rw = {
		.id = w->id,
		.flags = HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE,
		.cpu = HWPMC_CPU_ALL,
		.value = NEW_VALUE,
	};

	return dev_rw(w->dev, &rw);
}

static int run_setcount(struct world *w)
{
	uint64_t count = NEW_VALUE;

	return dev_setcount(w->dev, w->id, &count);
}

/* Of a counter that stands still. */
static bool same_value(struct world *w)
{
	uint64_t value;

	return !dev_read(w->dev, w->id, HWPMC_CPU_ALL, &value) &&
	       value == w->value;
}

static int undo_value(struct world *w)
{
	uint64_t value = w->value;

	return dev_setcount(w->dev, w->id, &value);
}

static STATE(pmc_is_there, !run_read(w))

static OP(run_end, dev_configure(w->dev, -1))
static OP(run_closelog, dev_closelog(w->dev))
static OP(run_flush, dev_flush(w->dev))
static OP(run_word, dev_userdata(w->dev, 0x5EED))

/* Many ready-made records, for a buffer of several pages. */
static int run_bulk(struct world *w)
{
	static struct {
		struct pmclog_ext_kernel k;
		char symbol[8];
	} bulk[500];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bulk); i++) {
		bulk[i].k.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA,
						     sizeof(bulk[0]));
		bulk[i].k.e.cookie = PMCLOG_EXT_COOKIE;
		bulk[i].k.e.subtype = PMCLOG_EXT_KERNEL;
		strcpy(bulk[i].symbol, "symbol7");
	}
	return dev_bulk(w->dev, bulk, sizeof(bulk));
}

/* ------------------------------------------------------------------------
 * One after another
 */
TEST(open_and_ask)
{
	static const struct op open = { "open", run_open, undo_open },
		ask[] = {
			{ "GETMODULEVERSION", run_version },
			{ "GETCPUINFO", run_cpuinfo },
			{ "GETDRIVERSTATS", run_stats },
			{ "poll", run_poll },
			{ "F_SETFL O_ASYNC", run_fasync, undo_fasync },
		};
	struct world w = {};

	NEED_POINTS();
	EXPECT_TRUE(fail_each(&w, &open, INJECT_COPY, NULL));
	close(w.dev);
	EXPECT_TRUE(fail_each(&w, &open, INJECT_MEMORY, NULL));
	EXPECT_ALL_FAIL(&w, ask);
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

/* What there is: an answer is the whole one, or none. */
TEST(rows_and_events)
{
	static const struct op disable = {
		"PMCADMIN", run_disable, undo_disable
	}, ask[] = {
		{ "GETPMCINFO", run_rows },
		{ "GETDYNEVENTINFO", run_events },
	};
	struct world w = { .dev = dev_open(), .a = pmc_clock(100) };

	NEED_POINTS();
	ASSERT_EQ(0, run_allocate(&w));
	EXPECT_TRUE(fail_all(&w, &disable));
	ASSERT_EQ(0, run_events(&w));
	EXPECT_ALL_FAIL(&w, ask);
	EXPECT_EQ(0, undo_disable(&w));
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

/* Each operation of a counting PMC. */
static void fail_counter(META, struct hwpmc_allocate a)
{
	static const struct op allocate = {
		"PMCALLOCATE", run_allocate, run_release
	}, ops[] = {
		{ "PMCSTART", run_start, run_stop },
		{ "PMCRW", run_read },
		{ "PMCSTOP", run_stop, run_start },
	}, values[] = {
		{ "PMCRW, exchange", run_exchange, undo_value, same_value },
		{ "PMCSETCOUNT", run_setcount, undo_value, same_value },
	}, release = {
		"PMCRELEASE", run_release, run_allocate, pmc_is_there
	};
	struct world w = { .dev = dev_open(), .a = a };
	unsigned int i;

	ASSERT_LE(0, w.dev);
	EXPECT_TRUE(fail_all(&w, &allocate));
	EXPECT_ALL_FAIL(&w, ops);
	/* an idle CPU may not have switched until now */
	ASSERT_EQ(0, run_start(&w));
	EXPECT_TRUE(WAIT_UNTIL(dev_read(w.dev, w.id, HWPMC_CPU_ALL, &w.value) ||
			       w.value, 10000));
	ASSERT_EQ(0, run_stop(&w));
	EXPECT_EQ(0, dev_read(w.dev, w.id, HWPMC_CPU_ALL, &w.value));
	EXPECT_LT(0, w.value);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		EXPECT_TRUE(fail_all(&w, &values[i]));
		ASSERT_EQ(0, undo_value(&w));
	}
	EXPECT_TRUE(fail_all(&w, &release));
	EXPECT_EQ(HWPMC_NROW, rows_left(w.dev));
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

TEST(counter)
{
	NEED_POINTS();
	fail_counter(_metadata, pmc_counter(SWITCHES));
}

TEST(hardware_counter)
{
	NEED_POINTS();
	if (!perf_has(CYCLES))
		SKIP(return, "no PMU");
	fail_counter(_metadata, pmc_counter(CYCLES));
}

/* A sampling PMC, made; not started. */
static void begin_sampling(META, struct world *w)
{
	*w = (struct world){
		.dev = dev_open(), .file = new_file(), .a = pmc_clock(100),
	};
	ASSERT_LE(0, w->dev);
	ASSERT_EQ(0, run_configure(w));
	ASSERT_EQ(0, run_allocate(w));
}

/* The module as new: its hooks are not in place. */
static int undo_first_start(struct world *w)
{
	int err;

	close(w->dev);
	err = module_unload_soon();
	if (!err)
		err = module_load("");
	module_wait_for_device();
	empty(w->file);
	w->dev = dev_open();
	if (!err)
		err = run_configure(w);
	return err ?: run_allocate(w);
}

static void check_log(META, int file, unsigned int samples)
{
	struct log log;

	LOAD_LOG(&log, file, 0);
	EXPECT_LE(samples, log.samples);
	log_free(&log);
}

TEST(first_start)
{
	static const struct op start = {
		"PMCSTART, the first", run_start, undo_first_start,
		never_started
	};
	struct world w;

	NEED_POINTS();
	begin_sampling(_metadata, &w);
	ASSERT_EQ(0, undo_first_start(&w));
	EXPECT_TRUE(fail_all(&w, &start));
	sleep_ms(500);
	EXPECT_EQ(0, dev_closelog(w.dev));
	check_log(_metadata, w.file, 10);
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

/* Rates that the log has announced for @id, the last one. */
static uint64_t last_rate(int file, uint32_t id)
{
	struct pmclog_rec rec;
	uint64_t rate = 0;
	struct log log;

	if (!log_load(&log, file))
		return 0;
	LOG_FOR_EACH(&log, rec)
		if (rec.type == PMCLOG_T_PMCALLOCATEDYN &&
		    REC32(&rec, pmcallocatedyn, pmcid) == id)
			rate = REC64(&rec, pmcallocatedyn, rate);
	log_free(&log);
	return rate;
}

/* The period that is in force is the one that was announced last. */
static STATE(same_period,
	     !dev_flush(w->dev) && last_rate(w->file, w->id) == w->a.count)

static int undo_period(struct world *w)
{
	uint64_t count = w->a.count;

	return dev_setcount(w->dev, w->id, &count);
}

static OP(run_rotate, dev_rotate(w->dev, w->other))

static int undo_rotate(struct world *w)
{
	int err;

	empty(w->file);
	err = dev_rotate(w->dev, w->file);
	empty(w->other);
	return err;
}

static bool other_is_empty(struct world *w)
{
	struct stat st;

	return !dev_flush(w->dev) && !fstat(w->other, &st) && !st.st_size;
}

static int undo_end(struct world *w)
{
	empty(w->file);
	return dev_configure(w->dev, w->file);
}

TEST(logging)
{
	static const struct op configure = {
		"CONFIGURELOG", run_configure, undo_configure, no_log_yet
	}, allocate = {
		"PMCALLOCATE, with a log", run_allocate, run_release,
		log_is_open
	}, words[] = {
		{ "WRITELOG", run_word },
		{ "WRITELOG, bulk", run_bulk },
		{ "FLUSHLOG", run_flush },
	}, setcount = {
		"PMCSETCOUNT, sampling", run_setcount, undo_period, same_period
	}, ops[] = {
		{ "PMCSTART, sampling", run_start, run_stop, log_is_open },
		{ "ROTATELOG", run_rotate, undo_rotate, other_is_empty },
		{ "PMCSTOP, sampling", run_stop, run_start, log_is_open },
		{ "PMCRELEASE, sampling", run_release, run_allocate,
		  pmc_is_there },
	};
	struct world w = { .dev = dev_open(), .a = pmc_clock(100) };

	NEED_POINTS();
	w.file = new_file();
	w.other = new_file();
	EXPECT_TRUE(fail_all(&w, &configure));
	EXPECT_TRUE(fail_all(&w, &allocate));
	EXPECT_ALL_FAIL(&w, words);
	EXPECT_TRUE(fail_all(&w, &setcount));
	EXPECT_ALL_FAIL(&w, ops);
	EXPECT_EQ(0, dev_closelog(w.dev));
	check_log(_metadata, w.other, 0);
	EXPECT_EQ(HWPMC_NROW, rows_left(w.dev));
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

/* The end of a log cannot fail. */
TEST(ends)
{
	static const struct op ops[] = {
		{ "CONFIGURELOG(-1)", run_end, undo_end, log_is_open },
		{ "CLOSELOG", run_closelog, undo_end, log_is_open },
	};
	struct world w;
	unsigned int i;

	NEED_POINTS();
	begin_sampling(_metadata, &w);
	ASSERT_EQ(0, run_start(&w));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		EXPECT_TRUE(fail_all(&w, &ops[i]));
		check_log(_metadata, w.file, 0);
		ASSERT_EQ(0, undo_end(&w));
	}
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
}

/* ------------------------------------------------------------------------
 * Several at once
 */
static int random_step(struct world *w)
{
	switch (rand() % 12) {
	case 0:
	case 1:
		return run_allocate(w);
	case 2:
	case 3:
		return run_configure(w);
	case 4:
	case 5:
		return run_start(w);
	case 6:
		return run_stop(w);
	case 7:
		return rand() % 2 ? run_exchange(w) : run_setcount(w);
	case 8:
		return rand() % 2 ? run_word(w) : run_bulk(w);
	case 9:
		return rand() % 2 ? run_rotate(w) : run_flush(w);
	case 10:
		return run_release(w);
	default:
		return rand() % 2 ? run_read(w) : run_closelog(w);
	}
}

/* Each says what has failed, or what follows from that. */
static bool may_say(int err, enum inject_kind kind)
{
	switch (err) {
	case 0:
	case -EINVAL:
	case -ESRCH:
	case -EBUSY:
	case -EBADFD:
		return true;
	default:
		return err == (kind == INJECT_COPY ? -EFAULT : -ENOMEM);
	}
}

static void fail_randomly(META, enum inject_kind kind, unsigned int percent)
{
	unsigned int steps = env_number("HWPMC_FAULTS_LONG", 0) ? 300 : 100;
	struct world w = { .dev = dev_open(), .a = pmc_clock(100) };
	unsigned int i, failed = 0;
	int err;

	w.file = new_file();
	w.other = new_file();
	inject_select(kind, NULL);
	for (i = 0; i < steps; i++) {
		inject_percent(percent);
		err = random_step(&w);
		inject_percent(0);
		failed += err == -EFAULT || err == -ENOMEM;
		EXPECT_TRUE(may_say(err, kind)) TH_LOG("%s", strerror(-err));
	}
	TH_LOG("%u%% of all %s: %u of %u operations failed", percent,
	       kind == INJECT_COPY ? "copies" : "allocations", failed, steps);
	EXPECT_LT(0, failed);
	close(w.dev);
	EXPECT_TRUE(recorders_are(0));
	close(w.file);
	close(w.other);
}

TEST(at_random)
{
	struct world w;

	NEED_POINTS();
	srand(env_number("HWPMC_SEED", 1));
	fail_randomly(_metadata, INJECT_MEMORY, 100);
	fail_randomly(_metadata, INJECT_MEMORY, 40);
	fail_randomly(_metadata, INJECT_MEMORY, 10);
	fail_randomly(_metadata, INJECT_COPY, 30);
	begin_sampling(_metadata, &w);
	ASSERT_EQ(0, run_start(&w));
	sleep_ms(300);
	ASSERT_EQ(0, dev_closelog(w.dev));
	check_log(_metadata, w.file, 1);
}

/* ------------------------------------------------------------------------
 * The module
 */
static OP(run_load, module_load(""))
static OP(undo_load, module_unload_soon())

static STATE(no_module, module_users() < 0 && access(DEV_PATH, F_OK))

FIXTURE(module_points)
{
};

FIXTURE_SETUP(module_points)
{
}

FIXTURE_TEARDOWN(module_points)
{
}

/*
 * Allocations before the module's own beginning are the kernel's, whose tracing warns
 * when one of them fails.
 */
TEST_F_TIMEOUT(module_points, load, 1500)
{
	static const struct op load = {
		"its beginning", run_load, undo_load, no_module
	}, whole = {
		"insmod", run_load, undo_load, no_module
	}, unload = {
		"rmmod", undo_load, run_load
	};
	struct world w = {};
	struct code begin;

	NEED_POINTS();
	ASSERT_TRUE(code_of_function("do_one_initcall", &begin));
	ASSERT_EQ(0, module_unload_soon());
	EXPECT_TRUE(fail_each(&w, &load, INJECT_MEMORY, &begin));
	EXPECT_TRUE(fail_each(&w, &unload, INJECT_MEMORY, NULL));
	EXPECT_TRUE(fail_each(&w, &whole, INJECT_COPY, NULL));
	EXPECT_TRUE(module_wait_for_device());
}

TEST_F(module_points, nothing_is_left)
{
	NEED_POINTS();
	EXPECT_TRUE(nothing_stays());
}

TEST_HARNESS_MAIN
