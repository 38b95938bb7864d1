// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of which it is known what they do: the log tells the same.
 */
#include "test.h"

/* Records @name on CPU 0 and on the others what runs anyway. */
static pid_t record_workload(struct __test_metadata *_metadata,
			     const char *name, struct hwpmc_allocate a,
			     unsigned int ms, struct log *log)
{
	int dev, file = temp_file();
	uint32_t id;
	pid_t pid;

	pid = workload_start(name, 0);
	ASSERT_LT(0, pid);
	dev = dev_open();
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run(dev, a, &id));
	sleep_ms(ms);
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	ASSERT_TRUE(log_load(log, file));
	ASSERT_LOG(log, 0);
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

static void check_shares(struct __test_metadata *_metadata,
			 struct hwpmc_allocate a, unsigned int at_least)
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
	pid = record_workload(_metadata, "truth", a, scaled(5000, 4000), &log);
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
	EXPECT_LT(at_least, n);
	for (i = 0; i < 3; i++) {
		EXPECT_LE((percent[i] - 3) * n, 100 * leaf[i]);
		EXPECT_GE((percent[i] + 3) * n, 100 * leaf[i]);
	}
	n = leaf[0] + leaf[1] + leaf[2];
	/* a function's first and last instructions have no frame */
	EXPECT_LE(98 * n, 100 * whole);
	EXPECT_EQ(n, named);
	symbols_free(sy);
	space_free(space);
}

TEST(shares_by_time)
{
	check_shares(_metadata, pmc_clock(997), 500);
}

TEST(shares_by_cycles)
{
	if (!perf_has(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		SKIP(return, "no hardware counters on this machine");
	check_shares(_metadata,
		     pmc_sampler(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				 1000003), 300);
}

/* Where the kernel sits: the log's address of a symbol is kallsyms'. */
static unsigned int kernel_symbols_right(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec) {
		const char *symbol = (const char *)rec.data +
				offsetof(struct pmclog_ext_kernel, symbol);

		if (pmclog_iter_ext_subtype(&rec) == PMCLOG_EXT_KERNEL)
			n += PMCLOG_FIELD64(&rec, struct pmclog_ext_kernel,
					    addr) == kallsyms_addr(symbol);
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
	unsigned int n = 0, in_call = 0, whole = 0, names = 0, i, k;
	const char *path = workload_path("syscaller");
	struct symbols *user, *kernel;
	struct pmclog_rec rec;
	struct sample s;
	struct log log;
	pid_t pid;

	ASSERT_NE(NULL, path) TH_LOG("no workload programs here");
	user = symbols_elf(path);
	ASSERT_NE(NULL, user);
	pid = record_workload(_metadata, "syscaller", pmc_clock(997),
			      scaled(3000, 4000), &log);
	kernel = symbols_kernel();
	ASSERT_NE(NULL, kernel);
	EXPECT_EQ(1, kernel_symbols_right(&log));
	LOG_FOR_EACH(&log, rec) {
		if (!log_sample(&rec, &s) || s.pid != pid || s.user)
			continue;
		n++;
		for (i = 0; i < s.npc && addr_is_kernel(s.pc[i]); i++)
			names += !!strcmp(frame_name(kernel, &s, i), "?");
		if (!chain_has(kernel, &s, "getdents64"))
			continue;
		in_call++;
		k = i;
		whole += s.npc >= k + 3 &&
			 !strcmp(frame_name(user, &s, k), "list") &&
			 !strcmp(frame_name(user, &s, k + 1), "walk") &&
			 !strcmp(frame_name(user, &s, k + 2), "main");
	}
	TH_LOG("%u kernel samples, %u under getdents64, %u of them whole", n,
	       in_call, whole);
	EXPECT_LT(200, n);
	EXPECT_LT(2 * n, names);
	EXPECT_LT(80 * n, 100 * in_call);
	EXPECT_LT(95 * in_call, 100 * whole);
}

TEST_HARNESS_MAIN
