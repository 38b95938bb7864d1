// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs with packed samples: what holds for others holds for them, and they are
 * short.
 */

#include "recorder.h"
#include "test.h"

FIXTURE(packed)
{
	int dev;
	pid_t load;
	pid_t deep;
};

FIXTURE_SETUP(packed)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(1);
	self->deep = workload_start("deep", 0);
	ASSERT_LT(0, self->deep) TH_LOG("no workload programs here");
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(packed)
{
	close(self->dev);
	load_end(self->load);
	load_end(self->deep);
}

/* What there is when packs are left as they are. */
struct raw {
	unsigned int	records;
	unsigned int	packs;
	unsigned int	packed;		/* samples that they say they have */
	unsigned int	plain;		/* CALLCHAINs */
	uint64_t	bytes;		/* of both */
	uint32_t	longest;
};

static void look_raw(struct log *log, struct raw *raw)
{
	struct pmclog_iter *it = pmclog_iter_mem(log->data, log->len);
	struct pmclog_rec rec;

	memset(raw, 0, sizeof(*raw));
	pmclog_iter_raw(it);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		raw->records++;
		if (rec.type == PMCLOG_T_CALLCHAIN) {
			raw->plain++;
			raw->bytes += rec.len;
		}
		if (!IS_EXT(&rec, SAMPLES))
			continue;
		raw->packs++;
		raw->packed += REC32(&rec, ext_samples, samples);
		raw->bytes += rec.len;
		if (rec.len > raw->longest)
			raw->longest = rec.len;
	}
	pmclog_iter_close(it);
}

/* Bytes of the samples if they were not packed, and their stored bytes. */
static uint64_t plain_bytes(struct log *log, uint64_t *stored)
{
	struct pmclog_rec rec;
	uint64_t sum = 0;

	*stored = 0;
	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_CALLCHAIN)
			continue;
		sum += rec.len;
		*stored += rec.stored;
	}
	return sum;
}

static void start(META, int dev, int fd, unsigned int hz)
{
	ASSERT_EQ(0, dev_configure_flags(dev, fd, HWPMC_LOG_PACKED));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(hz), NULL));
}

/* The statistics count records and bytes of the file. */
static void expect_counted(META, int dev, struct log *log)
{
	struct hwpmc_driverstats st;
	struct raw raw;

	look_raw(log, &raw);
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(raw.records, st.records_written);
	EXPECT_EQ(log->len, st.bytes_written);
	EXPECT_EQ(log->samples, st.account.written);
}

/* All samples are in packs. */
static void expect_packed(META, struct log *log)
{
	struct raw raw;

	look_raw(log, &raw);
	EXPECT_EQ(log->samples, raw.packed);
	EXPECT_EQ(0, raw.plain);
	EXPECT_LT(0, raw.packs);
	EXPECT_GE(PMCLOG_PACK_MAX, raw.longest);
}

TEST_F(packed, size)
{
	unsigned int whole = 0, deep = 0;
	uint64_t plain, stored;
	int file = temp_file();
	struct sample s;
	struct log log;

	start(_metadata, self->dev, file, scaled(4000, 1000));
	/* one of two CPUs is the workload's */
	EXPECT_TRUE(wait_committed(self->dev, scaled(6000, 2000)));
	END_LOG(self->dev, file, &log, 0);
	EXPECT_LT(500, log.samples);
	expect_packed(_metadata, &log);
	expect_counted(_metadata, self->dev, &log);
	plain = plain_bytes(&log, &stored);
	TH_LOG("%" PRIu64 " samples: %.1f bytes each instead of %.1f",
	       log.samples, (double)stored / log.samples,
	       (double)plain / log.samples);
	EXPECT_GT(plain / 2, stored);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if ((pid_t)s.pid != self->deep || !s.user)
			continue;
		deep++;
		whole += s.npc >= 19;
	}
	EXPECT_LT(100, deep);
	EXPECT_LT(deep - deep / 10, whole);
}

/* Processes come and go, and are known before their samples. */
TEST_F(packed, processes)
{
	int file = temp_file(), i, n = scaled(40, 25);
	struct log log;

	/* not so often that a slow kernel does nothing else */
	start(_metadata, self->dev, file, scaled(4000, 500));
	for (i = 0; i < n; i++) {
		pid_t pid = fork_bound();

		ASSERT_LE(0, pid);
		if (!pid) {
			volatile unsigned int k;

			for (k = 0; k < 1000000; k++)
				;
			_exit(0);
		}
		EXPECT_EQ(0, wait_for(pid));
		EXPECT_EQ(0, dev_userdata(self->dev, 0x1000 + i));
	}
	END_LOG(self->dev, file, &log, 0);
	expect_packed(_metadata, &log);
	for (i = 0; i < n; i++)
		EXPECT_EQ(1, log_count(&log, PMCLOG_T_USERDATA, 16,
				       0x1000 + i));
}

/* Nothing but the place itself. */
TEST_F(packed, no_chains)
{
	struct hwpmc_allocate a = pmc_clock(scaled(4000, 1000));
	uint64_t plain, stored;
	int file = temp_file();
	struct log log;

	a.flags &= ~(HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN);
	ASSERT_EQ(0, dev_configure_flags(self->dev, file, HWPMC_LOG_PACKED));
	ASSERT_EQ(0, dev_run(self->dev, a, NULL));
	EXPECT_TRUE(wait_committed(self->dev, 2000));
	END_LOG(self->dev, file, &log, 0);
	EXPECT_EQ(1, log.deepest);
	expect_packed(_metadata, &log);
	plain = plain_bytes(&log, &stored);
	TH_LOG("%" PRIu64 " samples: %.1f bytes each instead of %.1f",
	       log.samples, (double)stored / log.samples,
	       (double)plain / log.samples);
	EXPECT_GT(plain * 7 / 10, stored);
}

/* A reader that is far too slow: the log is late, or tells what is missing. */
TEST_F(packed, slow_reader)
{
	struct reader r;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	reader_begin(&r, ends[0], 1024, 5);
	start(_metadata, self->dev, ends[1], 20000);
	close(ends[1]);
	sleep_ms(1000);
	EXPECT_TRUE(wait_committed(self->dev, 100));
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS);
	expect_packed(_metadata, &r.log);
}

/* What the statistics call written is there, the rest they call discarded. */
static void expect_exact(META, int dev, struct log *log)
{
	struct hwpmc_driverstats st;

	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(log->samples, st.account.written);
	EXPECT_LT(0, st.account.discarded);
	EXPECT_EQ(0, st.account.in_rings);
	EXPECT_EQ(st.account.committed,
		  st.account.written + st.account.discarded);
}

/* The file is full in the middle of a pack: all of its samples are lost. */
TEST_F(packed, full_file)
{
	struct log log;
	int file;

	OPEN_SMALL(file, "/tmp/small", 64 << 10);
	start(_metadata, self->dev, file, 10000);
	WAIT_UNTIL(dev_flush(self->dev) == -ENOSPC, 12000);
	sleep_ms(300);
	EXPECT_EQ(0, dev_configure(self->dev, -1));
	LOAD_LOG(&log, file, LOG_CUT | LOG_DROPS);
	EXPECT_FALSE(log.closed);
	EXPECT_EQ(64 << 10, log.len);
	EXPECT_LT(0, log.samples);
	expect_exact(_metadata, self->dev, &log);
}

/* The reader goes away: what it has is a log up to the cut. */
TEST_F(packed, dead_reader)
{
	struct hwpmc_driverstats st;
	struct log log;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	start(_metadata, self->dev, ends[1], 5000);
	close(ends[1]);
	memset(&log, 0, sizeof(log));
	log.data = malloc(256 << 10);
	/* more than fits into the pipe */
	while (log.len < 100000) {
		ssize_t n = read(ends[0], log.data + log.len, 1000);

		ASSERT_LT(0, n);
		log.len += n;
	}
	close(ends[0]);
	/* a slow kernel may have nothing to write just then */
	WAIT_UNTIL(dev_flush(self->dev) == -EPIPE, 12000);
	EXPECT_EQ(0, dev_configure(self->dev, -1));
	ASSERT_LOG(&log, LOG_CUT | LOG_DROPS);
	EXPECT_LT(0, log.samples);
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	/* the pipe had more */
	EXPECT_LE(log.samples, st.account.written);
	EXPECT_LT(0, st.account.discarded);
	EXPECT_EQ(st.account.committed,
		  st.account.written + st.account.discarded);
}

/*
 * Rotated under fire, packed and not: each file is a log of its own, which
 * knows nothing from the one before, and no sample is lost.
 */
#define NROTATE	8

TEST_F(packed, rotate)
{
	uint64_t committed = 0, samples = 0, end = 0;
	struct hwpmc_driverstats st;
	int file[NROTATE], i;
	struct raw raw;
	struct log log;

	file[0] = temp_file();
	start(_metadata, self->dev, file[0], 5000);
	for (i = 1; i < NROTATE; i++) {
		sleep_ms(200);
		EXPECT_TRUE(wait_committed(self->dev, 10));
		file[i] = temp_file();
		ASSERT_EQ(0, dev_rotate_flags(self->dev, file[i], i % 3 == 2 ?
					      0 : HWPMC_LOG_PACKED));
	}
	EXPECT_TRUE(wait_committed(self->dev, 10));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	for (i = 0; i < NROTATE; i++) {
		LOAD_LOG(&log, file[i], 0);
		EXPECT_LT(0, log.samples) TH_LOG("log %d", i);
		EXPECT_LE(end, log.first_tsc) TH_LOG("log %d", i);
		look_raw(&log, &raw);
		EXPECT_EQ(i % 3 == 2 ? 0 : log.samples, raw.packed);
		EXPECT_EQ(i % 3 == 2 ? log.samples : 0, raw.plain);
		samples += log.samples;
		committed += log.account.committed;
		end = log.last_tsc;
		log_free(&log);
	}
	EXPECT_EQ(st.account.committed, committed);
	EXPECT_EQ(st.account.committed, samples);
	EXPECT_EQ(0, st.account.discarded);
}

/* One owner's log says nothing about another's. */
TEST_F(packed, beside_a_plain_one)
{
	int other = dev_open(), files[2] = { temp_file(), temp_file() };
	struct log log;
	struct raw raw;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_configure(other, files[1]));
	start(_metadata, self->dev, files[0], 2000);
	ASSERT_EQ(0, dev_run(other, pmc_clock(2000), NULL));
	EXPECT_TRUE(wait_committed(self->dev, 500));
	ASSERT_EQ(0, dev_closelog(self->dev));
	END_LOG(other, files[0], &log, 0);
	expect_packed(_metadata, &log);
	log_free(&log);
	LOAD_LOG(&log, files[1], 0);
	look_raw(&log, &raw);
	EXPECT_EQ(0, raw.packs);
	EXPECT_EQ(log.samples, raw.plain);
	close(other);
}

TEST_HARNESS_MAIN
