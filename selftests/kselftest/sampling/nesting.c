// SPDX-License-Identifier: GPL-2.0-only
/*
 * Producers of one ring that interrupt each other: counters' overflows (NMIs
 * where the machine has them) over timers over what processes do, as often as
 * this kernel bears, on all CPUs.  Whatever is lost, the account is exact and
 * the order is that of time.
 */
#include <sched.h>
#include <sys/prctl.h>

#include "module.h"
#include "target.h"
#include "test.h"

#define NPMC		5
#define MAX_WORDS	65536
#define MIN_WORDS	21

#define PERCENT		"/proc/sys/kernel/perf_cpu_time_max_percent"
#define RATE		"/proc/sys/kernel/perf_event_max_sample_rate"

static char old_percent[32], old_rate[32];

/* perf's throttles are off, as far as they can be. */
static void no_throttle(void)
{
	read_line(PERCENT, old_percent, sizeof(old_percent));
	read_line(RATE, old_rate, sizeof(old_rate));
	write_text(PERCENT, "25");	/* or the rate cannot be set */
	write_text(RATE, "10000000");
	write_text(PERCENT, "0");
}

static void throttle_again(void)
{
	write_text(PERCENT, "25");
	write_text(RATE, old_rate);
	write_text(PERCENT, old_percent);
}

/* ------------------------------------------------------------------------
 * What processes do
 */
/* Records of mappings, names, processes; faults and switches besides. */
static void churn(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), status;
	unsigned int i, j;
	char name[32];
	void *p;

	for (i = 0; ; i++) {
		fault_pages(32);
		for (j = 0; j < 8; j++) {
			p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
				 self, 0);
			snprintf(name, sizeof(name), "churn%u.%u", i, j);
			prctl(PR_SET_NAME, name);
			munmap(p, 4096);
		}
		sched_yield();
		if (i % 16)
			continue;
		usleep(50);
		if (!fork()) {
			execl("/bin/true", "true", NULL);
			_exit(0);
		}
		wait(&status);
	}
}

/* ------------------------------------------------------------------------
 * As often as this kernel bears
 */

/* What gets done in a while. */
static uint64_t progress(void)
{
	uint64_t end = raw_ns() + 150 * MSEC, n = 0;

	while (raw_ns() < end)
		n++;
	return n;
}

static uint64_t progress_under(struct hwpmc_allocate a)
{
	int dev = dev_open(), file = temp_file();
	uint64_t n = 0;

	if (!dev_configure(dev, file) && !dev_run(dev, a, NULL))
		n = progress();
	close(dev);
	close(file);
	return n;
}

/*
 * Rates rise until they leave the machine half of its time, or a third; on all
 * CPUs at once, and twice that if both run, so it still gets on.  A kernel that
 * takes as long for an interrupt as one with all checkers on is left more: if
 * the host takes half of the processor away just then, nothing would be left.
 */
static unsigned int bearable_hz(void)
{
	uint64_t alone = progress();
	unsigned int hz;

	for (hz = 1000; hz < 32000; hz *= 2)
		if (progress_under(pmc_clock(2 * hz)) * 100 <
		    alone * scaled(50, 80))
			break;
	return hz;
}

static uint64_t bearable_period(void)
{
	uint64_t alone = progress(), period;

	for (period = 800000; period > 6250; period /= 2)
		if (progress_under(pmc_sampler(CYCLES, period / 2)) * 100 <
		    alone * scaled(33, 75))
			break;
	return period;
}

/* ------------------------------------------------------------------------
 * Words from one CPU after another: each is written when the one before is, so
 * that is their order in the log, and their stamps lie within their calls.  A
 * horizon that was too early would show here, whatever is done to stamps later.
 */
struct words {
	unsigned int	n;
	uint64_t	before[MAX_WORDS];
	uint64_t	after[MAX_WORDS];
};

static int write_words(struct words *w, int dev, uint64_t until)
{
	int err;

	for (w->n = 0; w->n < MAX_WORDS &&
	     (raw_ns() < until || w->n < MIN_WORDS); w->n++) {
		pin_to(w->n & 1);
		w->before[w->n] = raw_ns();
		err = dev_userdata(dev, w->n);
		w->after[w->n] = raw_ns();
		if (err)
			return err;
	}
	return 0;
}

static unsigned int words_wrong(const struct words *w, struct log *log)
{
	unsigned int n = 0, wrong = 0;
	struct pmclog_rec rec;
	uint32_t word;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_USERDATA)
			continue;
		word = REC32(&rec, userdata, userdata);
		if (word == PMCLOG_EXT_COOKIE)
			continue;
		if (word != n || rec.tsc < w->before[word] ||
		    rec.tsc > w->after[word]) {
			printf("# word %u for %u: %llu in %llu..%llu\n", word,
			       n, (unsigned long long)rec.tsc,
			       (unsigned long long)w->before[n],
			       (unsigned long long)w->after[n]);
			wrong++;
		}
		n++;
	}
	return wrong + (n != w->n);
}

/* ------------------------------------------------------------------------
 * Losses: those of a PMC, CPU and cause are told in order, none twice
 */
struct notice {
	uint32_t	pmcid, cpu, cause;
	uint64_t	last;
};

static unsigned int windows_wrong(struct log *log, uint64_t from, uint64_t to)
{
	static struct notice key[1024];
	unsigned int n = 0, i, wrong = 0;
	struct pmclog_rec rec;
	uint64_t first, last;

	LOG_FOR_EACH(log, rec) {
		struct notice k = {};

		if (rec.type != PMCLOG_T_DROPNOTIFY)
			continue;
		k.pmcid = REC32(&rec, dropnotify, pmcid);
		k.cpu = REC32(&rec, dropnotify, cpu);
		k.cause = REC32(&rec, dropnotify, cause);
		first = REC64(&rec, dropnotify, first);
		last = REC64(&rec, dropnotify, last);
		for (i = 0; i < n; i++)
			if (key[i].pmcid == k.pmcid && key[i].cpu == k.cpu &&
			    key[i].cause == k.cause)
				break;
		if (i == n && n < 1024)
			key[n++] = k;
		if (first < from || last > to || first < key[i].last) {
			printf("# PMC %x CPU %u cause %u: ", k.pmcid, k.cpu,
			       k.cause);
			printf("%llu..%llu after %llu\n",
			       (unsigned long long)first,
			       (unsigned long long)last,
			       (unsigned long long)key[i].last);
			wrong++;
		}
		key[i].last = last;
	}
	return wrong;
}

/* ------------------------------------------------------------------------
 * Who interrupted whom
 */
struct tally {
	uint32_t	id;
	unsigned int	samples;
	unsigned int	over[4];	/* by number of producers interrupted */
	unsigned int	disordered;
	uint64_t	last[LOG_MAX_CPU];
};

/* Functions between whose start and end a ring is entered. */
static bool is_handler(const char *name)
{
	return !strcmp(name, "hwpmc_overflow");
}

static bool is_record(const char *name)
{
	return !strcmp(name, "hwpmc_record_begin") ||
	       !strcmp(name, "hwpmc_record_commit") ||
	       !strcmp(name, "hwpmc_record_end");
}

static unsigned int producers_in(const struct symbols *kernel,
				 const struct sample *s)
{
	unsigned int i, handlers = 0, record = 0;

	for (i = 0; i < s->npc && addr_is_kernel(s->pc[i]); i++) {
		const char *name = symbols_name(kernel, s->pc[i] - !!i);

		handlers += is_handler(name);
		record |= is_record(name);	/* they call each other */
	}
	return handlers + record < 3 ? handlers + record : 3;
}

static void tally(struct log *log, const struct symbols *kernel,
		  struct tally *t, unsigned int n)
{
	struct sample s;
	unsigned int k;

	LOG_FOR_EACH_SAMPLE(log, s) {
		for (k = 0; k < n && t[k].id != s.pmcid; k++)
			;
		if (k == n)
			continue;
		t[k].samples++;
		t[k].over[producers_in(kernel, &s)]++;
		t[k].disordered += s.tsc < t[k].last[s.cpu];
		t[k].last[s.cpu] = s.tsc;
	}
}

/* ------------------------------------------------------------------------
 * All at once
 */

/*
 * Copies a pipe to @file, but rests after @rest_at ms: for half a second, or
 * until something did not fit into a ring.
 */
static pid_t start_reader(int from, int file, int dev, bool until_full)
{
	uint64_t rest_at = raw_ns() + 1000 * MSEC, end = 0;
	static char buf[65536];
	struct hwpmc_driverstats st;
	pid_t pid = fork_bound();
	ssize_t n;

	if (pid)
		return pid;
	while ((n = read(from, buf, sizeof(buf))) > 0) {
		if (write(file, buf, n) != n)
			_exit(1);
		if (end || raw_ns() < rest_at)
			continue;
		end = raw_ns() + (until_full ? 40000 : 500) * MSEC;
		do {
			sleep_ms(20);
			if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
				_exit(1);
		} while (raw_ns() < end && !(until_full &&
			 st.account.dropped[PMCLOG_DROP_FULL] > 50));
	}
	_exit(n != 0);
}

struct storm {
	struct log	log;
	struct words	words;
	struct tally	t[NPMC];
	unsigned int	wrong_words, wrong_windows;
	unsigned int	nested[4];
	int		error;
};

static int storm_run(struct storm *s, unsigned int hz, uint64_t period,
		     bool until_full)
{
	struct hwpmc_allocate a[NPMC] = {
		pmc_sampler(FAULTS, 1),
		pmc_sampler(SWITCHES, 1),
		pmc_clock(hz),
		pmc_clock(hz / 2 + 77),
		period ? pmc_sampler(CYCLES, period) : pmc_clock(hz / 3 + 33),
	};
	int dev = dev_open(), file = temp_file(), ends[2], err;
	pid_t churns[4], reader;
	uint64_t from = raw_ns();
	unsigned int i;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = dev_configure(dev, ends[1]);
	close(ends[1]);		/* or the reader would wait for itself */
	reader = start_reader(ends[0], file, dev, until_full);
	close(ends[0]);
	for (i = 0; i < NPMC && !err; i++)
		err = dev_run(dev, a[i], &s->t[i].id);
	for (i = 0; i < 4; i++)
		churns[i] = i < 2 ? fork_pinned(i, churn) : load_kernel(i - 2);
	if (!err)
		err = write_words(&s->words, dev,
				  raw_ns() + scaled(4000, 6000) * MSEC);
	for (i = 0; i < 4; i++)
		load_end(churns[i]);
	if (!err)
		err = dev_closelog(dev);
	close(dev);
	if (wait_for(reader) || !log_load(&s->log, file))
		err = err ? err : -EIO;
	s->wrong_windows = windows_wrong(&s->log, from, raw_ns());
	return err;
}

static void storm(struct storm *s, bool until_full)
{
	struct symbols *kernel = symbols_kernel();
	uint64_t period = perf_has(CYCLES) ? bearable_period() : 0;
	unsigned int hz = bearable_hz(), i, k;

	printf("# %u KiB a ring, cpu-clock %u Hz, a sample each %llu cycles\n",
	       (unsigned int)module_param("ringsize"), hz,
	       (unsigned long long)period);
	s->error = storm_run(s, hz, period, until_full);
	s->wrong_words = words_wrong(&s->words, &s->log);
	tally(&s->log, kernel, s->t, NPMC);
	symbols_free(kernel);
	for (i = 0; i < NPMC; i++) {
		printf("# PMC %u: %u samples, over 0/1/2 producers: %u %u %u\n",
		       i, s->t[i].samples, s->t[i].over[0], s->t[i].over[1],
		       s->t[i].over[2] + s->t[i].over[3]);
		for (k = 0; k < 4; k++)
			s->nested[k] += s->t[i].over[k];
	}
	printf("# %u words\n", s->words.n);
}

/*
 * The log itself was checked; this is what only the storm knows of it.  NMIs
 * interrupt handlers too.  Without them only the short hooks of processes can be
 * interrupted, which is up to chance.
 */
#define EXPECT_STORM(s) do {						\
	unsigned int i_;						\
	TH_LOG("%llu samples, dropped: %llu full, %llu nested, %llu contended; "\
	       "%llu process records dropped",				\
	       (unsigned long long)(s)->log.samples,			\
	       (unsigned long long)(s)->log.dropped[PMCLOG_DROP_FULL],	\
	       (unsigned long long)(s)->log.dropped[PMCLOG_DROP_NESTED], \
	       (unsigned long long)(s)->log.dropped[PMCLOG_DROP_CONTENDED], \
	       (unsigned long long)(s)->log.proc_dropped);		\
	for (i_ = 0; i_ < NPMC; i_++) {					\
		EXPECT_LT(20, (s)->t[i_].samples);			\
		EXPECT_EQ(0, (s)->t[i_].disordered);			\
	}								\
	EXPECT_LE(MIN_WORDS, (s)->words.n);				\
	EXPECT_EQ(0, (s)->wrong_words);					\
	EXPECT_EQ(0, (s)->wrong_windows);				\
	EXPECT_EQ(0, (s)->log.dropped[PMCLOG_DROP_NORING]);		\
	/* interrupts did come while a producer was at work */		\
	if (overflows_are_nmis())					\
		EXPECT_LT(0, (s)->nested[1] + (s)->nested[2] +		\
			     (s)->nested[3]);				\
} while (0)

/* With rings of @kib KiB, and until they have been full. */
static struct storm *storm_with(unsigned int kib, bool until_full, int *error)
{
	struct storm *s = calloc(1, sizeof(*s));
	char params[32];

	snprintf(params, sizeof(params), "ringsize=%u", kib);
	*error = module_unload_soon();
	if (!*error || *error == -ENOENT)
		*error = module_load(params);
	if (!s || *error || !module_wait_for_device())
		return s;
	no_throttle();
	storm(s, until_full);
	throttle_again();
	*error = s->error;
	return s;
}

/* What follows finds the module as it is by default. */
static int put_back(void)
{
	int err = module_unload_soon();

	return err ? err : module_load("");
}

TEST(tiny_rings)
{
	struct storm *s;
	int error;

	s = storm_with(16, true, &error);
	ASSERT_EQ(0, error);
	ASSERT_LOG(&s->log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_STORM(s);
	EXPECT_LT(0, s->log.dropped[PMCLOG_DROP_FULL]);
	EXPECT_EQ(0, put_back());
}

TEST(big_rings)
{
	struct storm *s;
	int error;

	s = storm_with(8192, false, &error);
	ASSERT_EQ(0, error);
	ASSERT_LOG(&s->log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_STORM(s);
	EXPECT_EQ(0, put_back());
}

TEST_HARNESS_MAIN
