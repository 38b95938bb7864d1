// SPDX-License-Identifier: GPL-2.0-only
/*
 * User chains of processes with hostile stacks, by random tables, while both
 * change.  No chain says what cannot be.  The same owners sample a steady
 * process by its good table, and its chain stays the same.
 *
 * HWPMC_UNWIND_SECONDS is the length, HWPMC_SEED repeats the choices.  What a
 * handler meets depends on the machine's speed, too.
 */
#include "test.h"

#include <pmc.h>

#include "rate.h"
#include "wild.h"

/* The programs that run this one have limits of their own. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	14400

#define OWNERS		2
#define WILD		2
#define FRAMES		64	/* more than a steady chain has */

/**
 * struct shared - what all processes of the test see
 * @steady: pid of the steady process
 * @pid:    of the wild ones, for owners to attach to
 */
struct shared {
	pid_t		steady;
	pid_t		pid[WILD];
	unsigned int	faults;
	uint64_t	accepted, refused, late_for_it, pmcs;
};

/**
 * struct test - a run
 * @chain: the steady process' chain, as the first whole one was, but its pc
 * @nmi:   the event whose overflows are NMIs, where there is such
 */
struct test {
	struct shared	*sh;
	struct symbols	*symbols;
	struct rng	rng;
	unsigned int	hz, depth, nchain;
	uint64_t	chain[FRAMES];
	bool		cycles;
	pid_t		owner[OWNERS], wild[WILD];
	int		file[OWNERS];
	bool		killed[OWNERS];
	uint64_t	samples, late, chains, by_table, whole, no_memory, no_table;
	uint64_t	deep;
	unsigned int	deepest;
	uint64_t	steady, steady_whole, steady_by_frames, logs, cut_logs, deaths;
};

#define FAULT(sh, ...) do {						\
	printf("# " __VA_ARGS__);					\
	printf("\n");							\
	fflush(stdout);							\
	__atomic_add_fetch(&(sh)->faults, 1, __ATOMIC_RELAXED);		\
} while (0)

#define COUNT(x)	__atomic_add_fetch(&(x), 1, __ATOMIC_RELAXED)

/* Wild processes execute themselves. */
__attribute__((constructor)) static void begin_wild(void)
{
	wild_process_if_asked();
}

/* ------------------------------------------------------------------------
 * The steady process: the same call for ever
 */
#define PLAIN	__attribute__((noipa, optimize("omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

PLAIN static unsigned long steady_leaf(unsigned long n)
{
	while (n--)
		asm volatile("");
	return n;
}

PLAIN static unsigned long steady_mid(unsigned long n)
{
	volatile unsigned long room[20] = { n };

	return steady_leaf(room[0]) + room[0];
}

PLAIN static unsigned long steady_outer(unsigned long n)
{
	return steady_mid(n + 1) * 3;
}

static unsigned long (*volatile steady)(unsigned long n) = steady_outer;

static const char * const callers[] = { "steady_mid", "steady_outer" };

/* A condition that the compiler does not know: there is only one call. */
static pid_t steady_begin(void)
{
	static volatile bool goes_on = true;
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	do {
		steady(1000000);
	} while (goes_on);
	_exit(0);
}

static bool is_named(const struct test *t, const uint64_t *pc, unsigned int n)
{
	unsigned int i;

	if (n < 4)
		return false;
	for (i = 0; i < ARRAY_SIZE(callers); i++)
		if (strcmp(symbols_name(t->symbols, pc[i + 1] - 1), callers[i]))
			return false;
	return !strcmp(symbols_name(t->symbols, pc[n - 1] - 1), "_start");
}

/*
 * The chain is the one that it always is, from the leaf on, or begins so.  A task that
 * has no map, because its log ends for example, walks by frame pointers, which these
 * functions have not: that chain is shorter, and says so.
 */
static const char *steady_fault(struct test *t, const uint64_t *pc,
				unsigned int n, uint32_t flags)
{
	bool whole = flags & PMCLOG_CC_WHOLE, late = flags & PMCLOG_CC_USERLATE;
	bool by_frames = n > 1 && !(flags & PMCLOG_CC_TABLES);

	if (!n || strcmp(symbols_name(t->symbols, pc[0]), "steady_leaf"))
		return NULL;
	if (n >= FRAMES)
		return "steady chain is long";
	if (by_frames) {
		t->steady_by_frames++;
		return t->nchain && n >= t->nchain ? "steady chain has callers of others" : NULL;
	}
	if (whole && !t->nchain) {
		if (!is_named(t, pc, n))
			return "steady chain is whole, and of others";
		memcpy(t->chain, pc, n * sizeof(*pc));
		t->nchain = n;
	}
	t->steady += t->nchain && !late;
	t->steady_whole += whole && !late;
	if (!t->nchain)
		return NULL;
	if (whole ? n != t->nchain : n > t->nchain)
		return "steady chain is of another length";
	return memcmp(t->chain + 1, pc + 1, (n - 1) * sizeof(*pc)) ?
	       "steady chain is another" : NULL;
}

/* ------------------------------------------------------------------------
 * What chains say
 */

/* Callers that no table and no stack can be a reason for */
static const char *wild_fault(const uint64_t *pc, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++) {
		if (!pc[i] || pc[i] >> 56)
			return "a caller is no user address";
		if (pc[i] >= WILD_STACKS && pc[i] < WILD_CODE)
			return "a caller is not code";
	}
	return NULL;
}

/* How far walks from wild code have got */
static void count_end(struct test *t, const uint64_t *pc, unsigned int n,
		      uint32_t flags)
{
	if (!n || pc[0] < WILD_CODE ||
	    pc[0] >= WILD_CODE + WILD_NCODE * WILD_BLOCK)
		return;
	t->chains++;
	t->by_table += n > 1;
	t->whole += !!(flags & PMCLOG_CC_WHOLE);
	t->no_memory += !!(flags & PMCLOG_CC_CUT(PMCLOG_CUT_USER));
	t->no_table += !!(flags & PMCLOG_CC_CUT(PMCLOG_CUT_TABLE));
	t->deep += !!(flags & PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH));
	if (n > t->deepest)
		t->deepest = n;
}

static void check_chain(struct test *t, uint32_t pid, const uint64_t *pc,
			unsigned int n, uint32_t flags)
{
	const char *what = wild_fault(pc, n);

	count_end(t, pc, n, flags);
	if (!what && n > t->depth)
		what = "a chain has too many frames";
	if (!what && (pid_t)pid == t->sh->steady)
		what = steady_fault(t, pc, n, flags);
	if (what)
		FAULT(t->sh, "%s: pid %d, %u frames, flags %x, pc %llx from %llx",
		      what, pid, n, flags, n > 1 ? (long long)pc[1] : 0,
		      (long long)pc[0]);
}

static void check_sample(struct test *t, const struct pmclog_rec *rec)
{
	unsigned int first;
	struct sample s;

	if (!log_sample(rec, &s))
		return;
	t->samples++;
	t->late += s.late;
	first = sample_kernel_part(&s);
	if (s.npc > t->depth)
		FAULT(t->sh, "a sample has %u frames", s.npc);
	/* of a late one, only where the sample was: the rest comes later */
	check_chain(t, s.pid, s.pc + first, s.npc - first, s.flags);
}

static void check_userchain(struct test *t, const struct pmclog_rec *rec)
{
	size_t at = offsetof(struct pmclog_ext_userchain, pc);
	unsigned int n = (rec->len - at) / sizeof(uint64_t), i;
	uint64_t pc[LOG_MAX_DEPTH];

	for (i = 0; i < n && i < LOG_MAX_DEPTH; i++)
		pc[i] = pmclog_get64(rec->data + at + i * sizeof(uint64_t));
	check_chain(t, REC32(rec, ext_userchain, pid),
		    pc, i, PMCLOG_USERCHAIN_FLAGS(
				rec->data[offsetof(struct pmclog_ext, flags)]));
}

#define WHOLE_FLAGS	(LOG_DROPS | LOG_PROC_DROPS)
#define CUT_FLAGS	(WHOLE_FLAGS | LOG_CUT | LOG_DISCARDS)

static void check_log(struct test *t, int file, bool whole)
{
	struct pmclog_rec rec;
	const char *what;
	struct log log;

	if (!log_load(&log, file))
		FAULT(t->sh, "no log");
	else if (log.len || whole) {
		what = log_check(&log, whole ? WHOLE_FLAGS : CUT_FLAGS);
		if (what)
			FAULT(t->sh, "log of %zu bytes: %s", log.len, what);
		*(whole ? &t->logs : &t->cut_logs) += 1;
	}
	LOG_FOR_EACH(&log, rec) {
		check_sample(t, &rec);
		if (IS_EXT(&rec, USERCHAIN))
			check_userchain(t, &rec);
	}
	log_free(&log);
}

/* Of all owners there have been */
static void check_account(struct shared *sh)
{
	struct hwpmc_driverstats st = {};
	struct pmclog_account *a = &st.account;
	int dev = dev_open(), err = dev_stats(dev, HWPMC_STATS_MODULE, &st);
	uint64_t dropped = 0;
	int i;

	close(dev);
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		dropped += a->dropped[i];
	if (err || a->in_rings || a->committed != a->written + a->discarded ||
	    a->overflows != a->committed + dropped + a->filtered)
		FAULT(sh, "%d: %llu overflows, %llu committed, %llu dropped, %llu filtered, %llu written, %llu discarded, %lld in rings",
		      err, (long long)a->overflows, (long long)a->committed,
		      (long long)dropped, (long long)a->filtered,
		      (long long)a->written, (long long)a->discarded,
		      (long long)a->in_rings);
}

/* ------------------------------------------------------------------------
 * Owners
 */

/**
 * struct session - an owner's life
 * @odd:   in its tables, one of so many rules is none that a compiler makes
 * @table: room for one
 */
struct session {
	struct test	*t;
	struct rng	rng;
	struct pmc_owner *owner;
	int		dev;
	uint32_t	clock;
	unsigned int	odd;
	void		*table;
};

/* Overflows that interrupt, as NMIs if the machine has them */
static struct hwpmc_allocate main_pmc(struct session *s)
{
	struct hwpmc_allocate a = pmc_clock(s->t->hz);

	/* emulated cycles are a nanosecond each */
	if (s->t->cycles && !rng_once(&s->rng, 4))
		a = pmc_sampler(CYCLES, 1000000000 / s->t->hz);
	a.flags |= HWPMC_F_UNWIND;
	return a;
}

static void run_pmc(struct session *s, struct hwpmc_allocate a, uint32_t *id)
{
	int err = dev_run(s->dev, a, id);

	if (err)
		FAULT(s->t->sh, "a PMC of type %u: %d", a.type, err);
	COUNT(s->t->sh->pmcs);
}

static void run_on_wild(struct session *s)
{
	struct hwpmc_allocate a = pmc_process_sampler(PERF_TYPE_SOFTWARE,
			PERF_COUNT_SW_CPU_CLOCK, 1000000000 / s->t->hz,
			HWPMC_F_UNWIND | HWPMC_F_DESCENDANTS);
	pid_t pid = s->t->sh->pid[rng_below(&s->rng, WILD)];
	int err;

	err = dev_run_on(s->dev, a, pid, NULL);
	if (err && err != -ESRCH)
		FAULT(s->t->sh, "a PMC on %d: %d", pid, err);
}

static void run_on_faults(struct session *s)
{
	struct hwpmc_allocate a = pmc_sampler(FAULTS, scaled(3, 7));
	uint32_t id;

	a.flags |= HWPMC_F_UNWIND;
	run_pmc(s, a, &id);
}

static int give_table(struct session *s, unsigned int n, size_t len)
{
	bool vdso = n == WILD_FILES;
	struct hwpmc_unwindtable a = {
		.fd = vdso ? -1 : wild_file_open(n),
		.flags = vdso ? HWPMC_UNWIND_VDSO : 0,
		.data = (uintptr_t)s->table, .len = len,
	};
	int err = dev_ioctl(s->dev, HWPMC_IOC_UNWINDTABLE, &a);

	close(a.fd);
	return err;
}

/* For a file that may have one: a table that is valid, or not */
static void give_some_table(struct session *s, unsigned int n, bool mutant)
{
	size_t len = mutant ? wild_table_mutant(&s->rng, s->table, s->odd) :
			      wild_table(&s->rng, s->table, s->odd);
	bool valid = wild_table_is_valid(s->table, len);
	int err = give_table(s, n, len);

	if (valid ? err && err != -EEXIST : err != -EINVAL)
		FAULT(s->t->sh, "a table of %zu bytes that is %s: %d", len,
		      valid ? "valid" : "wrong", err);
	COUNT(*(!valid ? &s->t->sh->refused :
		err ? &s->t->sh->late_for_it : &s->t->sh->accepted));
}

static void give_tables(struct session *s)
{
	unsigned int n;

	for (n = 0; n < WILD_FILES; n++)
		if (!rng_once(&s->rng, 4))
			give_some_table(s, n, false);
	if (rng_once(&s->rng, 3))
		give_some_table(s, WILD_FILES, false);
}

/* The PMC that counts most is stopped, or another takes its place. */
static void change_pmc(struct session *s)
{
	if (dev_stop(s->dev, s->clock))
		FAULT(s->t->sh, "a PMC does not stop");
	if (rng_once(&s->rng, 2)) {
		if (dev_start(s->dev, s->clock))
			FAULT(s->t->sh, "a PMC does not start");
	} else {
		dev_release(s->dev, s->clock);
		run_pmc(s, main_pmc(s), &s->clock);
	}
}

static void session_step(struct session *s)
{
	unsigned int n = rng_below(&s->rng, WILD_FILES);

	switch (rng_below(&s->rng, 16)) {
	case 0:
		change_pmc(s);
		break;
	case 1:
		run_on_wild(s);
		break;
	case 2:
		give_table(s, n, 0);	/* it has none, if it has none yet */
		break;
	case 3:
		dev_flush(s->dev);
		break;
	case 4: case 5: case 6: case 7:
		give_some_table(s, n, true);
		break;
	case 8:
		pmc_owner_unwind(s->owner);	/* wild ones have none to it */
		break;
	default:
		for (n = 0; n < WILD_FILES; n++)
			give_some_table(s, n, false);
		pmc_owner_unwind(s->owner);
	}
}

/* Exit status 0: the log has been ended. */
static int session_body(struct test *t, struct rng rng, int file)
{
	static const unsigned int odd[] = { 1, 10, 100, 2000 };
	struct session s = {
		.t = t, .rng = rng, .owner = pmc_owner_open(0),
		.table = malloc(WILD_TABLE_MAX),
	};
	unsigned int n;

	s.odd = odd[rng_below(&s.rng, ARRAY_SIZE(odd))];
	s.dev = pmc_owner_fd(s.owner);
	if (dev_configure(s.dev, file))
		FAULT(t->sh, "no log can be begun");
	run_pmc(&s, main_pmc(&s), &s.clock);
	give_tables(&s);
	pmc_owner_unwind(s.owner);
	if (rng_once(&s.rng, 2))
		run_on_faults(&s);
	if (rng_once(&s.rng, 2))
		run_on_wild(&s);
	for (n = 5 + rng_below(&s.rng, 40); n; n--) {
		session_step(&s);
		sleep_ms(rng_below(&s.rng, 25));
	}
	if (rng_once(&s.rng, 3))	/* closed in the middle */
		return 1;
	if (dev_closelog(s.dev))
		FAULT(t->sh, "a log cannot be ended");
	return 0;
}

/* ------------------------------------------------------------------------
 * Coming and going
 */
static void owner_begin(struct test *t, unsigned int i)
{
	struct rng rng = rng_branch(rng_next(&t->rng), i);

	t->file[i] = temp_file();
	t->killed[i] = false;
	t->owner[i] = fork_bound();
	if (!t->owner[i])
		_exit(session_body(t, rng, t->file[i]));
}

static void owner_end(struct test *t, unsigned int i, int status)
{
	if (WIFSIGNALED(status) && !t->killed[i])
		FAULT(t->sh, "an owner died of signal %d", WTERMSIG(status));
	check_log(t, t->file[i], WIFEXITED(status) && !WEXITSTATUS(status));
	close(t->file[i]);
	t->owner[i] = 0;
}

static void wild_begin(struct test *t, unsigned int i)
{
	uint64_t seed = rng_next(&t->rng);

	t->wild[i] = fork_bound();
	if (!t->wild[i]) {
		wild_process(seed);
		_exit(1);
	}
	t->sh->pid[i] = t->wild[i];
}

static void wild_end(struct test *t, unsigned int i, int status)
{
	/* those that exit are as many as it has chosen to let live */
	if (WIFEXITED(status) ? WEXITSTATUS(status) :
				WTERMSIG(status) != SIGKILL)
		FAULT(t->sh, "a wild process ended with %#x", status);
	t->deaths++;
	t->wild[i] = 0;
}

/* Ended processes are replaced, if the run @goes_on; false: none is left. */
static bool replace(struct test *t, bool goes_on)
{
	bool any = false;
	unsigned int i;
	int status;

	for (i = 0; i < OWNERS; i++) {
		if (t->owner[i] && waitpid(t->owner[i], &status, WNOHANG) > 0)
			owner_end(t, i, status);
		if (!t->owner[i] && goes_on)
			owner_begin(t, i);
		any |= t->owner[i];
	}
	for (i = 0; i < WILD; i++) {
		if (t->wild[i] && waitpid(t->wild[i], &status, WNOHANG) > 0)
			wild_end(t, i, status);
		if (!t->wild[i] && goes_on)
			wild_begin(t, i);
		any |= t->wild[i];
	}
	return any;
}

static void slay_wild(struct test *t, unsigned int i)
{
	if (t->wild[i] > 0)
		kill(t->wild[i], SIGKILL);
}

static void slay(struct test *t)
{
	unsigned int i = rng_below(&t->rng, OWNERS);

	if (rng_once(&t->rng, 2)) {
		slay_wild(t, rng_below(&t->rng, WILD));
	} else if (t->owner[i] > 0 && rng_once(&t->rng, 4)) {
		t->killed[i] = true;
		kill(t->owner[i], SIGKILL);
	}
}

static void run(struct test *t, unsigned int seconds)
{
	uint64_t end = now_ns() + seconds * NSEC, next = now_ns() + 60 * NSEC;
	unsigned int i;

	/* there is a whole log, and something to compare, on any machine */
	while (now_ns() < end || ((!t->logs || t->steady < 10) &&
				  now_ns() < end + 120 * NSEC)) {
		replace(t, true);
		sleep_ms(20);
		if (rng_once(&t->rng, scaled(20, 100)))
			slay(t);
		if (t->sh->faults)
			break;
		if (now_ns() < next)
			continue;
		printf("# %llu logs, %llu samples, %lld s left\n",
		       (long long)t->logs, (long long)t->samples,
		       (long long)(end - now_ns()) / (long long)NSEC);
		fflush(stdout);
		next += 60 * NSEC;
	}
	for (i = 0; i < WILD; i++)
		slay_wild(t, i);
	while (replace(t, false))
		sleep_ms(20);
}

TEST(unwindrandom)
{
	unsigned int seconds = env_number("HWPMC_UNWIND_SECONDS", scaled(4, 20));
	/* the short form repeats the same choices: others are for the long one */
	uint64_t seed = env_number("HWPMC_SEED", getenv("HWPMC_UNWIND_SECONDS") ?
						 rng_seed() : 1);
	struct test t = {
		.sh = shared_memory(sizeof(*t.sh)),
		.symbols = symbols_elf("/proc/self/exe"),
		.rng = rng_branch(seed, 0),
		.hz = affordable_hz(scaled(8000, 600)) / OWNERS,
		.depth = module_param("callchaindepth"),
		.cycles = perf_has(CYCLES),
	};

	TH_LOG("HWPMC_SEED=%llu HWPMC_UNWIND_SECONDS=%u, %u Hz of %s",
	       (unsigned long long)seed, seconds, t.hz,
	       t.cycles ? "cycles" : "cpu-clock");
	ASSERT_NE(NULL, t.sh);
	ASSERT_NE(NULL, t.symbols);
	ASSERT_TRUE(wild_files_make());
	t.sh->steady = steady_begin();
	run(&t, seconds);
	load_end(t.sh->steady);
	wild_files_remove();
	check_account(t.sh);
	TH_LOG("%llu logs, %llu cut ones, %llu samples, %llu late; wild chains: %llu, %llu with callers, %llu whole, %llu without memory, %llu without a rule, %llu too deep, %u frames at most",
	       (long long)t.logs, (long long)t.cut_logs, (long long)t.samples,
	       (long long)t.late, (long long)t.chains, (long long)t.by_table,
	       (long long)t.whole, (long long)t.no_memory,
	       (long long)t.no_table, (long long)t.deep, t.deepest);
	TH_LOG("tables: %llu accepted, %llu too late, %llu refused; %llu PMCs, %llu wild processes ended; steady chains: %llu, %llu whole, and %llu by frame pointers",
	       (long long)t.sh->accepted, (long long)t.sh->late_for_it,
	       (long long)t.sh->refused, (long long)t.sh->pmcs,
	       (long long)t.deaths, (long long)t.steady,
	       (long long)t.steady_whole,
	       (long long)t.steady_by_frames);
	EXPECT_EQ(0, t.sh->faults);
	EXPECT_LT(0, t.logs);
	EXPECT_LT(0, t.by_table);
	EXPECT_LT(0, t.sh->accepted);
	EXPECT_LT(0, t.sh->refused);
	/* those of before the tables are not counted; a map is made again at times */
	EXPECT_LE(10, t.steady);
	EXPECT_LE(t.steady, 2 * t.steady_whole);
	/* a short run has few of both */
	EXPECT_LE(t.steady_by_frames, 10 + t.steady / 100);
}

TEST_HARNESS_MAIN
