// SPDX-License-Identifier: GPL-2.0-only
/*
 * More than the log can take: what is lost is told where it was lost, what must
 * not be lost is not, and the machine stays usable.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "recorder.h"
#include "test.h"

#define PERIOD_HZ	20000
#define LATENCY_STEP_MS	5

/* ------------------------------------------------------------------------
 * A pipe whose reader pauses
 */
struct paused_reader {
	int		fd;
	volatile bool	go;
	struct log	log;
	pthread_t	thread;
};

static void *reader_body(void *arg)
{
	struct paused_reader *r = arg;
	size_t size = 128 << 20;
	ssize_t n;

	r->log.data = malloc(size);
	do {
		while (!r->go)
			sleep_ms(1);
		n = read(r->fd, r->log.data + r->log.len,
			 r->log.len + 65536 > size ? 0 : 65536);
		if (n > 0)
			__atomic_add_fetch(&r->log.len, n, __ATOMIC_RELEASE);
	} while (n > 0);
	return NULL;
}

static int paused_begin(struct paused_reader *r)
{
	int ends[2];

	memset(r, 0, sizeof(*r));
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fcntl(ends[1], F_SETPIPE_SZ, 65536);
	r->fd = ends[0];
	r->go = true;
	pthread_create(&r->thread, NULL, reader_body, r);
	return ends[1];
}

static void paused_end(struct paused_reader *r)
{
	pthread_join(r->thread, NULL);
}

/* ------------------------------------------------------------------------
 * How long a thread that wants to run for a moment has to wait for it
 */
#define MAX_STALLS	8192
#define STALL_MS	50

struct latency {
	int		cpu;
	volatile bool	stop;
	uint64_t	worst;
	uint64_t	rounds;
	unsigned int	nstalls;
	struct {
		uint64_t from;
		uint64_t to;
	} stall[MAX_STALLS];
	pthread_t	thread;
};

static void *latency_body(void *arg)
{
	struct latency *l = arg;
	uint64_t start, end, late;

	pin_to(l->cpu);
	/* without a hole: a CPU can stand still at any place */
	for (end = raw_ns(); !l->stop;) {
		start = end;
		sleep_ms(LATENCY_STEP_MS);
		end = raw_ns();
		late = end - start - LATENCY_STEP_MS * MSEC;
		if (late > l->worst)
			l->worst = late;
		if (late > STALL_MS * MSEC && l->nstalls < MAX_STALLS) {
			l->stall[l->nstalls].from = start;
			l->stall[l->nstalls++].to = end;
		}
		l->rounds++;
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * Where samples are missing, and where the log says so
 */

#define MAX_DROPS	20000

struct drop {
	uint32_t	cpu;
	uint64_t	first;
	uint64_t	last;
	uint64_t	tsc;
};

static unsigned int collect_drops(struct log *log, struct drop *drops)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec) {
		struct drop *d = &drops[n];

		if (rec.type != PMCLOG_T_DROPNOTIFY || n == MAX_DROPS ||
		    REC32(&rec, dropnotify, pmcid) == PMCLOG_PMCID_NONE)
			continue;
		d->cpu = REC32(&rec, dropnotify, cpu);
		d->first = REC64(&rec, dropnotify, first);
		d->last = REC64(&rec, dropnotify, last);
		d->tsc = rec.tsc;
		n++;
	}
	return n;
}

/*
 * Drops of one CPU: in order, none told twice, none told before it happened.
 * They are counted just after the pass' clock was read: hence the slack, for an
 * emulated CPU can stand still between the two.
 */
static unsigned int disorder(const struct drop *d, unsigned int n,
			     uint64_t slack)
{
	unsigned int i, j, bad = 0;

	for (i = 0; i < n; i++) {
		bool wrong = d[i].last > d[i].tsc + slack;

		for (j = 0; j < i; j++)
			wrong |= d[j].cpu == d[i].cpu && d[j].last >= d[i].first;
		if (wrong)
			printf("# CPU %u: %llu to %llu, told at %llu\n",
			       d[i].cpu, (unsigned long long)d[i].first,
			       (unsigned long long)d[i].last,
			       (unsigned long long)d[i].tsc);
		bad += wrong;
	}
	return bad;
}

static bool explained(const struct drop *d, unsigned int n, uint32_t cpu,
		      uint64_t from, uint64_t to, uint64_t slack)
{
	uint64_t at = from;
	unsigned int i;

	/* the intervals of this CPU cover [from, to] but for slack */
	for (i = 0; i < n; i++) {
		if (d[i].cpu != cpu || d[i].last < at)
			continue;
		if (d[i].first > at + slack)
			break;
		at = d[i].last;
	}
	return at + slack >= to;
}

/* A CPU without samples for longer than @gap: drops say why. */
static unsigned int unexplained_gaps(struct log *log, const struct drop *d,
				     unsigned int n, uint64_t gap)
{
	uint64_t last[LOG_MAX_CPU] = {};
	unsigned int bad = 0;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s) {
		if (last[s.cpu] && s.tsc - last[s.cpu] > gap &&
		    !explained(d, n, s.cpu, last[s.cpu], s.tsc, gap)) {
			bad++;
			printf("# CPU %u: nothing from %llu for %llu us\n",
			       s.cpu, (unsigned long long)last[s.cpu],
			       (unsigned long long)(s.tsc - last[s.cpu]) / 1000);
		}
		last[s.cpu] = s.tsc;
	}
	return bad;
}

static int by_first(const void *a, const void *b)
{
	const struct drop *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * A busy host stops an emulated CPU for a while: nothing can be sampled then,
 * and nothing be said of it.
 */
static unsigned int add_stalls(struct drop *d, unsigned int n,
			       const struct latency *l)
{
	unsigned int i;

	for (i = 0; i < l->nstalls && n < MAX_DROPS; i++, n++) {
		d[n].cpu = l->cpu;
		d[n].first = l->stall[i].from;
		d[n].last = l->stall[i].to;
	}
	qsort(d, n, sizeof(*d), by_first);
	return n;
}

static uint64_t longest(const struct drop *d, unsigned int n)
{
	uint64_t longest = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (d[i].last - d[i].first > longest)
			longest = d[i].last - d[i].first;
	return longest;
}

static bool wait_for_drops(int dev, uint64_t n)
{
	struct hwpmc_driverstats st = {};
	unsigned int i;

	for (i = 0; i < 360; i++) {
		sleep_ms(250);
		if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
			return false;
		if (st.account.dropped[PMCLOG_DROP_FULL] > n)
			return true;
	}
	return false;
}

TEST(stalled_pipe)
{
	static struct drop drops[MAX_DROPS];
	pid_t loads[2] = { load_user(0), load_user(1) };
	static struct latency lat[2] = { { .cpu = 0 }, { .cpu = 1 } };
	uint64_t resumed, gap = scaled(200, 1000) * MSEC;
	struct hwpmc_driverstats st;
	struct paused_reader r;
	unsigned int n, i, k;
	int dev = dev_open(), fd = paused_begin(&r);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(PERIOD_HZ), NULL));
	for (i = 0; i < 2; i++)
		pthread_create(&lat[i].thread, NULL, latency_body, &lat[i]);
	sleep_ms(300);
	r.go = false;
	/* until the rings are full, however slow we are, and some time more */
	ASSERT_TRUE(wait_for_drops(dev, 1000));
	sleep_ms(2000);
	r.go = true;
	resumed = raw_ns();
	sleep_ms(500);
	EXPECT_TRUE(wait_committed(dev, 1000));
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 600 && lat[i].rounds <= 20; k++)
			sleep_ms(100);
		lat[i].stop = true;
		pthread_join(lat[i].thread, NULL);
	}
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	paused_end(&r);
	for (i = 0; i < 2; i++)
		load_end(loads[i]);

	ASSERT_LOG(&r.log, LOG_DROPS);
	n = collect_drops(&r.log, drops);
	TH_LOG("%llu samples, %llu dropped in %u notices, worst latencies %u and %u ms",
	       (unsigned long long)r.log.samples,
	       (unsigned long long)log_dropped(&r.log), n,
	       (unsigned int)(lat[0].worst / MSEC),
	       (unsigned int)(lat[1].worst / MSEC));
	EXPECT_LT(1000, log_dropped(&r.log));
	EXPECT_EQ(log_dropped(&r.log), r.log.dropped[PMCLOG_DROP_FULL]);
	/* the statistics know of each, as the log does */
	EXPECT_EQ(log_dropped(&r.log), st.intr_bufferfull);
	EXPECT_EQ(r.log.samples, st.intr_processed);
	EXPECT_EQ(0, disorder(drops, n, gap));
	EXPECT_LT(700 * MSEC, longest(drops, n));
	for (i = 0; i < 2; i++) {
		n = add_stalls(drops, n, &lat[i]);
		/* only a lock-up is this bad */
		EXPECT_GT(10000 * MSEC, lat[i].worst);
		EXPECT_LT(20, lat[i].rounds);
	}
	EXPECT_EQ(0, unexplained_gaps(&r.log, drops, n, gap));
	/* it goes on afterwards */
	EXPECT_LT(500, log_samples(&r.log, .from = resumed + 300 * MSEC));
}

/* ------------------------------------------------------------------------
 * Processes come and go while nothing is written
 */
static void fork_storm(unsigned int n)
{
	char name[16];
	unsigned int i;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid) {
			snprintf(name, sizeof(name), "storm%u", i);
			prctl(PR_SET_NAME, name);
			if (i % 8 == 0)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		if (pid > 0)
			wait_for(pid);
	}
}

/* A pid that was heard of in the log, by its name. */
static unsigned int names_with(struct log *log, const char *prefix)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == PMCLOG_T_PROC_CREATE &&
			     !strncmp(REC_TEXT(&rec, proc_create, comm),
				      prefix, strlen(prefix)));
}

/*
 * The rings are full of samples, but the part kept for process records is not:
 * every one of them gets through.
 */
TEST(reserve)
{
	pid_t loads[2] = { load_user(0), load_user(1) };
	unsigned int n = scaled(100, 30), i;
	struct hwpmc_driverstats st;
	struct paused_reader r;
	int dev = dev_open(), fd = paused_begin(&r);

	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(PERIOD_HZ), NULL));
	r.go = false;
	ASSERT_TRUE(wait_for_drops(dev, 2000));
	fork_storm(n);
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(0, st.account.dropped[PMCLOG_DROP_FULL]);
	EXPECT_EQ(0, st.account.proc_dropped);
	r.go = true;
	sleep_ms(500);
	ASSERT_EQ(0, dev_closelog(dev));
	paused_end(&r);
	for (i = 0; i < 2; i++)
		load_end(loads[i]);
	ASSERT_LOG(&r.log, LOG_DROPS);
	EXPECT_LE(n, names_with(&r.log, "storm"));
	EXPECT_LE(n / 8, names_with(&r.log, "true"));
}

/* As far as it has been read by now. */
static bool wait_for_name(const struct paused_reader *r, const char *prefix)
{
	struct log now = r->log;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		now.len = __atomic_load_n(&r->log.len, __ATOMIC_ACQUIRE);
		if (names_with(&now, prefix))
			return true;
		sleep_ms(200);
	}
	return false;
}

/*
 * More processes than even the reserve can tell of: that is counted, and those
 * that live are told of again.
 */
TEST(beyond_the_reserve)
{
	uint64_t ring = module_param("ringsize") * 1024;
	unsigned int i;
	struct hwpmc_driverstats st;
	struct paused_reader r;
	int dev = dev_open(), fd = paused_begin(&r);
	pid_t survivor;
	char name[16];

	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), NULL));
	sleep_ms(200);
	r.go = false;
	pin_to(0);
	/* renames are records of 44 bytes: fill CPU 0's ring */
	for (i = 0; i < ring / 40 * 4; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		prctl(PR_SET_NAME, name);
		if (i % 4096)
			continue;
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
		if (st.account.proc_dropped > 100)
			break;
	}
	EXPECT_LT(100, st.account.proc_dropped);
	survivor = fork_bound();
	if (!survivor) {
		prctl(PR_SET_NAME, "survivor");
		for (;;)
			(void)getppid();
	}
	sleep_ms(scaled(300, 1000));
	r.go = true;
	EXPECT_TRUE(wait_for_name(&r, "survivor"));
	sleep_ms(scaled(1500, 5000));
	ASSERT_EQ(0, dev_closelog(dev));
	paused_end(&r);
	load_end(survivor);
	ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, r.log.proc_dropped);
	EXPECT_LE(1, names_with(&r.log, "survivor"));
	/* and its mappings */
	EXPECT_LT(0, LOG_COUNT(&r.log, MAP_IN, map_in, pid, survivor));
}

#define NRELEASES	(2 * HWPMC_NROW)

/* PMCs leave the owner while handlers hardly ever rest. */
TEST(released_under_fire)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	int dev = dev_open(), file = temp_file(), err = 0;
	pid_t load[2] = { load_kernel(0), load_kernel(1) };
	unsigned int i, tries;
	struct log log;

	BEGIN_LOG(dev, file, pmc_clock(50000), NULL);
	for (i = 0; i < NRELEASES && !err; i++) {
		for (tries = 0; tries < 100; tries++) {
			err = dev_allocate(dev, &a);
			if (err != -EINVAL)
				break;
			sleep_ms(20);
		}
		if (!err)
			err = dev_release(dev, a.id);
	}
	EXPECT_EQ(0, err);
	EXPECT_EQ(NRELEASES, i);
	load_end(load[0]);
	load_end(load[1]);
	END_LOG(dev, file, &log, LOG_DROPS | LOG_PROC_DROPS);
	close(dev);
}

TEST_HARNESS_MAIN
