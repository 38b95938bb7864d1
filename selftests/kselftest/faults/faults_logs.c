// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure at every point, of the other kinds of logs: packed ones, streams,
 * flight recorders and their snapshots; and of filters.
 */
#include "faults.h"
#include "snapshot.h"

#define WINDOW		(1 << 20)

static OP(run_packed, dev_configure_flags(w->dev, w->file, HWPMC_LOG_PACKED))
static OP(run_stream, dev_stream(w->dev, 0, 0))
static OP(run_flight, dev_flight(w->dev, WINDOW, 0))

/* What is left to be read belongs to no other log. */
static int undo_nofile(struct world *w)
{
	int err = dev_configure(w->dev, -1);
	char buf[4096];

	while (read(w->dev, buf, sizeof(buf)) > 0)
		;
	return err;
}

static int run_record(struct world *w)
{
	struct hwpmc_record r;

	return dev_record(w->dev, true, &r);
}

static int undo_record(struct world *w)
{
	struct hwpmc_record r;
	int err = dev_record(w->dev, false, &r);

	return err ?: undo_nofile(w);
}

static STATE(neither_log_nor_record, no_log_yet(w) && undo_record(w) == -EINVAL)

static OP(run_snapshot, dev_snapshot(w->dev, w->file, 0))

static int undo_snapshot(struct world *w)
{
	empty(w->file);
	return 0;
}

static bool is_empty(struct world *w)
{
	struct stat st;

	return !fstat(w->file, &st) && !st.st_size;
}

static OP(run_arm, dev_snapshot(w->dev, w->file, HWPMC_SNAPSHOT_ARM))
static OP(undo_arm, dev_snapshot(w->dev, -1, HWPMC_SNAPSHOT_ARM))

static STATE(nothing_armed, undo_arm(w) == -EINVAL)

static OP(run_exits, dev_exit_trigger(w->dev, HWPMC_EXIT_FAILED, 0, 0))
static OP(undo_exits, dev_exit_trigger(w->dev, HWPMC_EXIT_NEVER, 0, 0))

/* Sampled is whoever is not one of these: all. */
static int run_filter(struct world *w)
{
	struct hwpmc_condition c[HWPMC_NCONDITION] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		c[i].what = HWPMC_COND_COMM;
		c[i].op = HWPMC_COND_NE;
		snprintf(c[i].comm, sizeof(c[i].comm), "nobody %u", i);
	}
	return dev_filter(w->dev, w->id, c, ARRAY_SIZE(c));
}

static OP(undo_filter, dev_filter(w->dev, w->id, NULL, 0))

static void begin(META, struct world *w)
{
	*w = (struct world){
		.dev = dev_open(), .file = new_file(), .a = pmc_clock(100),
	};
	ASSERT_LE(0, w->dev);
	ASSERT_LE(0, w->file);
}

static void check(META, struct world *w, unsigned int samples)
{
	struct log log;

	LOAD_LOG(&log, w->file, 0);
	EXPECT_LE(samples, log.samples);
	log_free(&log);
}

static void end(META, struct world *w)
{
	close(w->dev);
	close(w->file);
	EXPECT_TRUE(recorders_are(0));
}

TEST(filter_and_packed)
{
	static const struct op packed = {
		"CONFIGURELOG, packed", run_packed, undo_configure, no_log_yet
	}, filter = {
		"PMCFILTER", run_filter, undo_filter
	};
	struct world w;

	NEED_POINTS();
	begin(_metadata, &w);
	EXPECT_TRUE(fail_all(&w, &packed));
	ASSERT_EQ(0, run_allocate(&w));
	EXPECT_TRUE(fail_all(&w, &filter));
	ASSERT_EQ(0, run_start(&w));
	EXPECT_TRUE(wait_committed(w.dev, 10));
	ASSERT_EQ(0, dev_closelog(w.dev));
	check(_metadata, &w, 10);
	end(_metadata, &w);
}

/* What was read. */
static char got[1 << 20];
static size_t got_len;

static int read_log(struct world *w)
{
	size_t room = sizeof(got) - got_len;
	ssize_t n = read(w->dev, got + got_len, room < 512 ? room : 512);

	if (n <= 0)
		return n ? -errno : -ENODATA;
	got_len += n;
	return 0;
}

/* A read that fails takes nothing. */
TEST(stream)
{
	static const struct op begin_stream = {
		"CONFIGURELOG, stream", run_stream, undo_nofile, no_log_yet
	}, read_stream = {
		"read", read_log, .part = true
	}, record = {
		"RECORD, with a log", run_record, undo_record,
		neither_log_nor_record
	};
	struct world w;
	int i;

	NEED_POINTS();
	begin(_metadata, &w);
	EXPECT_TRUE(fail_all(&w, &begin_stream));
	for (i = 0; i < 1000; i++)
		ASSERT_EQ(0, dev_userdata(w.dev, i));
	ASSERT_EQ(0, dev_flush(w.dev));
	EXPECT_TRUE(fail_all(&w, &read_stream));
	ASSERT_EQ(0, dev_closelog(w.dev));
	while (!read_log(&w))
		;
	ASSERT_EQ(got_len, write(w.file, got, got_len));
	check(_metadata, &w, 0);
	EXPECT_LT(1000 * sizeof(struct pmclog_userdata), got_len);
	empty(w.file);
	ASSERT_EQ(0, run_allocate(&w));
	EXPECT_TRUE(fail_all(&w, &record));
	end(_metadata, &w);
}

TEST(flight)
{
	static const struct op begin_flight = {
		"CONFIGURELOG, flight", run_flight, undo_nofile, no_log_yet
	}, ops[] = {
		{ "SNAPSHOT, armed", run_arm, undo_arm, nothing_armed },
		{ "EXITTRIGGER", run_exits, undo_exits },
	}, snapshot = {
		"SNAPSHOT", run_snapshot, undo_snapshot, is_empty
	};
	struct world w;
	unsigned int i;

	NEED_POINTS();
	begin(_metadata, &w);
	EXPECT_TRUE(fail_all(&w, &begin_flight));
	ASSERT_EQ(0, run_allocate(&w));
	ASSERT_EQ(0, run_start(&w));
	EXPECT_TRUE(wait_committed(w.dev, 10));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		EXPECT_TRUE(fail_all(&w, &ops[i]));
		ASSERT_EQ(0, ops[i].undo(&w));
	}
	EXPECT_TRUE(fail_all(&w, &snapshot));
	check(_metadata, &w, 1);
	end(_metadata, &w);
}

/* The thread that writes it has no memory; the next one is whole. */
TEST(snapshot)
{
	unsigned int n, failed = 0;
	struct code module;
	struct world w;
	bool hit = true;
	pid_t thread;
	int err;

	NEED_POINTS();
	begin(_metadata, &w);
	ASSERT_EQ(0, run_flight(&w));
	thread = recorder_pid();
	ASSERT_LT(0, thread);
	ASSERT_EQ(0, run_allocate(&w));
	ASSERT_EQ(0, run_start(&w));
	EXPECT_TRUE(wait_committed(w.dev, 10));
	ASSERT_TRUE(code_of_module(&module));
	inject_select(INJECT_MEMORY, &module);
	/* also those of the window's base, while it happens to be made again */
	for (n = 1; hit && n < 400; n++) {
		empty(w.file);
		ASSERT_TRUE(inject_arm(thread, n));
		err = run_snapshot(&w);
		hit = inject_disarm(thread);
		failed += !!err;
		EXPECT_TRUE(!err || (hit && err == -ENOMEM))
			TH_LOG("point %u: %d", n, err);
		empty(w.file);
		ASSERT_EQ(0, run_snapshot(&w));
		check(_metadata, &w, 1);
	}
	TH_LOG("%u allocations failed, %u snapshots", n - 2, failed);
	EXPECT_FALSE(hit);
	EXPECT_LT(0, failed);
	end(_metadata, &w);
}

TEST(nothing_is_left)
{
	NEED_POINTS();
	EXPECT_TRUE(nothing_stays());
}

TEST_HARNESS_MAIN
