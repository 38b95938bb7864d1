// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of which it is known what they do: the log tells the same.
 */
#include "perfring.h"
#include "recorder.h"
#include "test.h"

/*
 * Records @name on CPU 0 and on the others what runs anyway, until @name has @n
 * samples in user (or kernel) mode.
 */
static pid_t record_workload(META, const char *name, struct hwpmc_allocate a,
			     bool user, unsigned int n, struct log *log)
{
	int dev, file = temp_file();
	pid_t pid;

	pid = workload_start(name, 0);
	ASSERT_LT(0, pid);
	OPEN_DEVICE(dev);
	BEGIN_LOG(dev, file, a, NULL);
	EXPECT_TRUE(wait_samples(dev, file, n, .pid = pid, .user = user,
				 .kernel = !user));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(log, file, 0);
	return pid;
}

/* A return address belongs to the call before it. */
static const char *frame_name(const struct symbols *sy, const struct sample *s,
			      unsigned int i)
{
	bool first = !i || addr_is_kernel(s->pc[i]) !=
			   addr_is_kernel(s->pc[i - 1]);

	return symbols_name(sy, s->pc[i] - !first);
}

static const char * const leaves[] = { "leaf_60", "leaf_30", "leaf_10" };
static const unsigned int percent[] = { 60, 30, 10 };

static int leaf_index(const char *name)
{
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(name, leaves[i]))
			return i;
	return -1;
}

#define SHARE_SAMPLES	800

static void check_shares(META, struct hwpmc_allocate a)
{
	unsigned int leaf[3] = {}, whole = 0, named = 0, n = 0, i;
	struct symbols *sy;
	struct space *space = space_new();
	const struct space_map *map;
	const char *path = workload_path("truth");
	struct pmclog_rec rec;
	struct sample s;
	struct log log;
	pid_t pid;
	int which;

	ASSERT_NE(NULL, path) TH_LOG("no workload programs here");
	sy = symbols_elf(path);
	ASSERT_NE(NULL, sy);
	pid = record_workload(_metadata, "truth", a, true, SHARE_SAMPLES, &log);
	LOG_FOR_EACH(&log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || s.pid != pid || !s.user)
			continue;
		which = leaf_index(frame_name(sy, &s, 0));
		n++;
		if (which < 0)
			continue;
		leaf[which]++;
		whole += s.npc >= 3 && !strcmp(frame_name(sy, &s, 1), "mid") &&
			 !strcmp(frame_name(sy, &s, 2), "main");
		map = space_find(space, pid, s.pc[0]);
		named += map && strstr(map->path, "/truth");
	}
	for (i = 0; i < 3; i++)
		TH_LOG("%s: %.1f %%", leaves[i], 100.0 * leaf[i] / (n ? n : 1));
	EXPECT_LE(SHARE_SAMPLES, n);
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(is_share(leaf[i], n, percent[i]));
	n = leaf[0] + leaf[1] + leaf[2];
	TH_LOG("%u of %u chains are whole", whole, n);
	/* a function's first and last instructions have no frame */
	EXPECT_LE(98 * n, 100 * whole);
	EXPECT_EQ(n, named);
	symbols_free(sy);
	space_free(space);
}

TEST(shares_by_time)
{
	check_shares(_metadata, pmc_clock(997));
}

TEST(shares_by_cycles)
{
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	check_shares(_metadata,
		     pmc_sampler(CYCLES, CYCLES_PERIOD + 3));
}

/* Where the kernel sits: the log's address of a symbol is kallsyms'. */
static unsigned int kernel_symbols_right(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec) {
		const char *symbol = REC_TEXT(&rec, ext_kernel, symbol);

		if (IS_EXT(&rec, KERNEL))
			n += REC64(&rec, ext_kernel, addr) == kallsyms_addr(symbol);
	}
	return n;
}

static bool chain_has(const struct symbols *sy, const struct sample *s,
		      const char *part)
{
	unsigned int i;

	for (i = 0; i < s->npc; i++)
		if (addr_is_kernel(s->pc[i]) &&
		    strstr(frame_name(sy, s, i), part))
			return true;
	return false;
}

/* The system call's kernel functions above the program's own. */
TEST(kernel_under_system_call)
{
	unsigned int n = 0, in_any = 0, in_call = 0, whole = 0, names = 0, i, k;
	const char *path = workload_path("syscaller");
	struct symbols *user, *kernel;
	struct sample s;
	struct log log;
	pid_t pid;

	ASSERT_NE(NULL, path) TH_LOG("no workload programs here");
	user = symbols_elf(path);
	ASSERT_NE(NULL, user);
	pid = record_workload(_metadata, "syscaller", pmc_clock(997), false,
			      600, &log);
	kernel = symbols_kernel();
	ASSERT_NE(NULL, kernel);
	EXPECT_EQ(1, kernel_symbols_right(&log));
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.pid != pid || s.user)
			continue;
		n++;
		for (i = 0; i < s.npc && addr_is_kernel(s.pc[i]); i++)
			names += !!strcmp(frame_name(kernel, &s, i), "?");
		/* interrupts on top of user mode are in none */
		in_any += chain_has(kernel, &s, "_sys_");
		if (!chain_has(kernel, &s, "getdents64"))
			continue;
		in_call++;
		k = i;
		whole += s.npc >= k + 3 &&
			 !strcmp(frame_name(user, &s, k), "list") &&
			 !strcmp(frame_name(user, &s, k + 1), "walk") &&
			 !strcmp(frame_name(user, &s, k + 2), "main");
	}
	TH_LOG("%u kernel samples, %u in system calls, %u under getdents64, %u of them whole",
	       n, in_any, in_call, whole);
	EXPECT_LE(600, n);
	EXPECT_LT(2 * n, names);
	EXPECT_LT(200, in_call);
	EXPECT_LT(80 * in_any, 100 * in_call);
	EXPECT_LT(95 * in_call, 100 * whole);
}

/* ------------------------------------------------------------------------
 * Kernel chains, frame by frame: those that perf takes of the same program.
 */
#define STEPS_BITS	20

/* Calls that perf has seen: a place, and where it returns to. */
struct calls {
	uint64_t	*pair;		/* 2 << STEPS_BITS; 0: free */
	unsigned int	n;
};

static bool has_call(struct calls *c, uint64_t from, uint64_t to, bool add)
{
	uint64_t mask = (1 << STEPS_BITS) - 1;
	uint64_t i = ((from * 31 + to) * 0x9E3779B97F4A7C15ULL) >> 40;

	for (i &= mask; c->pair[2 * i]; i = (i + 1) & mask)
		if (c->pair[2 * i] == from && c->pair[2 * i + 1] == to)
			return true;
	if (add && c->n < mask / 2) {
		c->pair[2 * i] = from;
		c->pair[2 * i + 1] = to;
		c->n++;
	}
	return false;
}

/* Of a frame that was interrupted, and not called, the log has one more than perf. */
static bool has_link(struct calls *c, uint64_t from, uint64_t to)
{
	return has_call(c, from, to, false) || has_call(c, from, to - 1, false) ||
	       has_call(c, from - 1, to, false);
}

/*
 * Whether all its calls were seen before.  Of the first frame it is the function
 * that counts: few are interrupted at the same place twice.  The outermost frame
 * is followed by nothing: an end where perf has found none is a fault as well.
 */
static bool has_chain(struct calls *c, const struct symbols *sy,
		      const uint64_t *pc, unsigned int n, bool add)
{
	uint64_t from = (uintptr_t)symbols_name(sy, pc[0]);
	bool all = true;
	unsigned int i;

	for (i = 1; i <= n; i++) {
		uint64_t to = i < n ? pc[i] : 1;

		all &= add ? has_call(c, from, to, true) :
			     has_link(c, from, to);
		from = to;
	}
	return all;
}

static void show_chain(META, const struct symbols *sy, const struct sample *s,
		       unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		TH_LOG("  %llx %s", (unsigned long long)s->pc[i],
		       frame_name(sy, s, i));
}

/*
 * Calls are few, so that what one has seen the other one sees as well, but for
 * @percent of the samples.  The first @apart frames of @a's were not called by the
 * others.
 */
static void check_kernel_chains(META, struct hwpmc_allocate a,
				unsigned int apart, unsigned int percent)
{
	struct calls calls = { calloc(2 << STEPS_BITS, sizeof(uint64_t)), 0 };
	unsigned int n = 0, frames = 0, unknown = 0, theirs = 0, cuts = 0, k;
	struct symbols *kernel = symbols_kernel();
	static struct perf_chain c;
	struct perf_ring ring;
	struct sample s;
	struct log log;
	pid_t pid;
	bool cut;

	ASSERT_NE(NULL, calls.pair);
	ASSERT_NE(NULL, kernel);
	if (!workload_path("syscaller"))
		SKIP(return, "no workload programs here");
	ASSERT_TRUE(perf_ring_begin(&ring, 0, a.type, a.config, 1999));
	pid = record_workload(_metadata, "syscaller", a, false, 1500, &log);
	perf_ring_stop(&ring);
	while (perf_ring_next(&ring, &c)) {
		if (c.pid != (uint32_t)pid || !c.npc || !addr_is_kernel(c.pc[0]))
			continue;
		has_chain(&calls, kernel, c.pc, c.npc, true);
		theirs++;
	}
	EXPECT_EQ(0, ring.lost);
	perf_ring_end(&ring);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.pid != pid || s.user)
			continue;
		k = sample_kernel_part(&s);
		n++;
		frames += k;
		cut = s.flags & PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL);
		cuts += cut;
		if (!(apart && cut) &&
		    has_chain(&calls, kernel, s.pc + apart, k - apart, false))
			continue;
		if (unknown++ < 3)
			show_chain(_metadata, kernel, &s, k);
	}
	TH_LOG("%u samples of %u frames; perf: %u samples, %u different calls; %u of ours with a call that is not among them; %u cut",
	       n, frames, theirs, calls.n, unknown, cuts);
	EXPECT_LT(500, theirs);
	EXPECT_LE(1500, n);
	EXPECT_LT(4 * n, frames);
	EXPECT_LE(100 * unknown, percent * n);
	free(calls.pair);
	symbols_free(kernel);
}

TEST(kernel_chains_are_perfs)
{
	check_kernel_chains(_metadata, pmc_clock(997), 0, 2);
}

/*
 * The registers of a switch are only the caller's, and those of no interrupt.  The chains
 * of programs, of kernel threads and of the idle task have an end each.
 */
TEST(kernel_chains_of_switches_end)
{
	struct hwpmc_allocate a = pmc_sampler(SWITCHES, 1);
	unsigned int n = 0, of_users = 0, of_kernel = 0, cut = 0;
	int dev, file = temp_file();
	struct sample s;
	struct log log;
	bool user;

	OPEN_DEVICE(dev);
	BEGIN_LOG(dev, file, a, NULL);
	sleep_ms(500);
	EXPECT_TRUE(wait_samples(dev, file, 200, .kernel = true));
	END_LOG(dev, file, &log, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.user)
			continue;
		user = !addr_is_kernel(s.pc[s.npc - 1]);
		of_users += user;
		of_kernel += !user;
		cut += !!(s.flags & PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL));
		n++;
	}
	TH_LOG("%u of %u cut, %u with a user part", cut, n, of_users);
	EXPECT_LE(200, n);
	EXPECT_LT(0, of_users);
	EXPECT_LT(0, of_kernel);
	EXPECT_EQ(0, cut);
}

/*
 * The address is of an earlier instruction, mostly of another function.  NMIs see more
 * calls than timers do.
 */
TEST(kernel_chains_after_skid)
{
	struct hwpmc_allocate a = pmc_sampler(PERF_TYPE_RAW, 0, 1003009);

	if (!perf_can_skid())
		SKIP(return, "no PMU here that skids");
	a.caps = HWPMC_CAP_SYSTEM;
	a.config1 = 60;
	check_kernel_chains(_metadata, a, 1, 20);
}

TEST_HARNESS_MAIN
