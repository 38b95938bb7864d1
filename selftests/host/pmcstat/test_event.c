/* SPDX-License-Identifier: BSD-2-Clause */
/* Event specifications. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pmc.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define HW(spec, config, caps, name) \
	{ spec, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, caps, name }
#define SW(spec, config, caps, name) \
	{ spec, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, caps, name }
#define CACHE(spec, c, op, res, caps, name)				\
	{ spec, PERF_TYPE_HW_CACHE,					\
	  PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 |	\
	  PERF_COUNT_HW_CACHE_RESULT_##res << 16, caps, name }
#define U	PMC_CAP_USER
#define K	PMC_CAP_SYSTEM
#define P	PMC_CAP_PRECISE

static const struct good {
	const char	*spec;
	uint32_t	type;
	uint64_t	config;
	uint32_t	caps;
	const char	*name;
} good[] = {
	HW("cycles", CPU_CYCLES, 0, "cycles"),
	HW("cycles:p", CPU_CYCLES, P, "cycles"),
	HW("cycles:uppp", CPU_CYCLES, U | P, "cycles:u"),
	HW("cycles:Pk", CPU_CYCLES, K | P, "cycles:k"),
	HW("cycles,precise,usr", CPU_CYCLES, U | P, "cycles:u"),
	HW("cpu-cycles", CPU_CYCLES, 0, "cpu-cycles"),
	HW("unhalted-cycles", CPU_CYCLES, 0, "unhalted-cycles"),
	HW("instructions:u", INSTRUCTIONS, U, "instructions:u"),
	HW("instructions,usr", INSTRUCTIONS, U, "instructions:u"),
	HW("instructions,os", INSTRUCTIONS, K, "instructions:k"),
	HW("instructions,usr,os", INSTRUCTIONS, U | K, "instructions"),
	HW("instructions:uk", INSTRUCTIONS, U | K, "instructions"),
	HW("instructions,usr:k", INSTRUCTIONS, U | K, "instructions"),
	HW("cache-references", CACHE_REFERENCES, 0, "cache-references"),
	HW("cache-misses", CACHE_MISSES, 0, "cache-misses"),
	HW("branches", BRANCH_INSTRUCTIONS, 0, "branches"),
	HW("branch-instructions", BRANCH_INSTRUCTIONS, 0, "branch-instructions"),
	HW("branch-misses", BRANCH_MISSES, 0, "branch-misses"),
	HW("branch-mispredicts", BRANCH_MISSES, 0, "branch-mispredicts"),
	HW("bus-cycles", BUS_CYCLES, 0, "bus-cycles"),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, 0, "stalled-cycles-frontend"),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND, 0, "stalled-cycles-backend"),
	HW("ref-cycles", REF_CPU_CYCLES, 0, "ref-cycles"),
	SW("CPU-Clock", CPU_CLOCK, 0, "CPU-Clock"),
	SW("task-clock", TASK_CLOCK, 0, "task-clock"),
	SW("faults", PAGE_FAULTS, 0, "faults"),
	SW("page-faults", PAGE_FAULTS, 0, "page-faults"),
	SW("minor-faults", PAGE_FAULTS_MIN, 0, "minor-faults"),
	SW("major-faults", PAGE_FAULTS_MAJ, 0, "major-faults"),
	SW("cs", CONTEXT_SWITCHES, 0, "cs"),
	SW("migrations", CPU_MIGRATIONS, 0, "migrations"),
	SW("alignment-faults", ALIGNMENT_FAULTS, 0, "alignment-faults"),
	SW("emulation-faults", EMULATION_FAULTS, 0, "emulation-faults"),
	SW("cgroup-switches", CGROUP_SWITCHES, 0, "cgroup-switches"),
	CACHE("L1-dcache-load-misses", L1D, READ, MISS, 0, "L1-dcache-load-misses"),
	CACHE("dc-misses", L1D, READ, MISS, 0, "dc-misses"),
	CACHE("ic-misses", L1I, READ, MISS, 0, "ic-misses"),
	CACHE("llc-loads", LL, READ, ACCESS, 0, "llc-loads"),
	CACHE("LLC-store-misses", LL, WRITE, MISS, 0, "LLC-store-misses"),
	CACHE("dTLB-load-misses:k", DTLB, READ, MISS, K, "dTLB-load-misses:k"),
	CACHE("branch-load-misses", BPU, READ, MISS, 0, "branch-load-misses"),
	CACHE("node-prefetch-misses", NODE, PREFETCH, MISS, 0, "node-prefetch-misses"),
	{ "r1a8", PERF_TYPE_RAW, 0x1a8, 0, "r1a8" },
	{ "R1A8:k", PERF_TYPE_RAW, 0x1a8, K, "R1A8:k" },
	{ "rffffffffffffffff", PERF_TYPE_RAW, ~0ULL, 0, "rffffffffffffffff" },
	{ "type=1,config=0x2", 1, 2, 0, "type=1,config=0x2" },
	{ "type=4,config=424,usr", 4, 424, U, "type=4,config=0x1a8:u" },
	{ "type=4,config=0010", 4, 10, 0, "type=4,config=0xa" },
	{ "type=4,config=0X10", 4, 16, 0, "type=4,config=0x10" },
	{ "config=5,type=0,name=misses:k", 0, 5, K, "misses:k" },
	{ "type=0:u,config=5,name=misses", 0, 5, U, "misses:u" },
	{ "type=0,config=5:u,os", 0, 5, U | K, "type=0,config=0x5" },
};

static const struct bad {
	const char	*spec;
	const char	*says;
} bad[] = {
	{ "", "no event" },
	{ "cycels", "did you mean cycles" },
	{ "task-clok", "did you mean task-clock" },
	{ "TLB-load-misses", "did you mean dTLB-load-misses, iTLB-" },
	{ "prefetch", "did you mean L1-dcache-prefetches" },
	{ "zzzzzz", "unknown event \"zzzzzz\"" },
	{ "interrupts", "raw event" },
	{ "cycles:", "\"cycles:\": nothing after the colon" },
	{ "cycles:x", "\"cycles:x\": unknown modifier \"x\"; known are u, k and p" },
	{ "cycles,exact", "unknown qualifier \"exact\"" },
	{ "cycles:x,os", "unknown modifier \"x\"" },
	{ "cycles:,os", "nothing after the colon" },
	{ "name=a:b,config=1,type=0", "unknown modifier \"b\"" },
	{ "cycles,", "empty word" },
	{ ",cycles", "empty word" },
	{ "cycles,,usr", "empty word" },
	{ "cycles,edge", "unknown qualifier \"edge\"" },
	{ "cycles,cmask=1", "unknown qualifier \"cmask=\"" },
	{ "cycles,config=1", "go without a name" },
	{ "type=1", "both needed" },
	{ "config=1", "both needed" },
	{ "type=1,config=-1", "not a number" },
	{ "type=1,config=", "not a number" },
	{ "type=1,config=0x", "not a number" },
	{ "type=1,config=12junk", "not a number" },
	{ "type=4294967296,config=0", "too large" },
	{ "type=1,config=99999999999999999999", "not a number" },
	{ "type=1,config=2,name=", "letters" },
	{ "type=1,config=2,name=a\033[31m", "printable" },
	{ "r", "unknown event" },
	{ "r10000000000000000", "64 bits" },
	{ "r12xyz", "unknown event" },
};

static void test_good(void)
{
	struct pmc_event_desc d;
	const struct good *g;
	char msg[256];
	int failed;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		g = &good[i];
		failed = pmc_event_parse(g->spec, &d, msg, sizeof(msg));
		ok(!failed && d.type == g->type && d.config == g->config &&
		   d.caps == g->caps && !strcmp(d.name, g->name) && !msg[0],
		   "%s is %u:0x%llx %s", g->spec, d.type,
		   (unsigned long long)d.config, d.name);
	}
}

static void test_bad(void)
{
	struct pmc_event_desc d;
	const struct bad *b;
	char msg[256];
	int failed;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		b = &bad[i];
		errno = 0;
		failed = pmc_event_parse(b->spec, &d, msg, sizeof(msg));
		ok(failed == -1 && errno == EINVAL && strstr(msg, b->says),
		   "bad event %zu: %s", i, msg[0] == 'u' ? "unknown" : msg);
	}
}

/* Every length of words and of the message's room, under the sanitizers. */
static void test_sizes(void)
{
	struct pmc_event_desc d;
	char spec[400], msg[64];
	size_t len, room, bad_ends = 0, accepted = 0;

	for (len = 1; len < sizeof(spec); len++) {
		memset(spec, 'a', len);
		spec[len] = '\0';
		for (room = 0; room <= sizeof(msg); room += 7) {
			accepted += !pmc_event_parse(spec, &d, msg, room);
			bad_ends += room && !memchr(msg, 0, room);
		}
		spec[0] = 'r';
		accepted += len > 17 && !pmc_event_parse(spec, &d, NULL, 0);
	}
	ok(!accepted && !bad_ends, "long words are refused");
	for (room = 0; room <= sizeof(msg); room++) {
		accepted += !pmc_event_parse("load-misses", &d, msg, room);
		bad_ends += room && !memchr(msg, 0, room);
	}
	ok(!accepted && !bad_ends, "messages keep to their room");
	ok(pmc_event_parse(NULL, &d, NULL, 0) == -1, "no string at all");
}

static void test_noise(void)
{
	static const char letters[] = "rtype=config12name,:ukos0x-Lcycles \t\n";
	struct pmc_event_desc d;
	size_t i, n, len, unterminated = 0;
	char spec[64], msg[80];

	srand(1);
	for (n = 0; n < 20000; n++) {
		len = (size_t)rand() % sizeof(spec);
		for (i = 0; i < len; i++)
			spec[i] = letters[(size_t)rand() %
					  (sizeof(letters) - 1)];
		spec[len ? len - 1 : 0] = '\0';
		pmc_event_parse(spec, &d, msg, sizeof(msg));
		unterminated += !memchr(d.name, 0, sizeof(d.name));
	}
	ok(!unterminated, "noise does no harm");
}

static void test_list(void)
{
	struct pmc_event_desc d;
	const char **names;
	int i, n, wrong = 0;

	ok(!pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &n) && n > 50,
	   "%d names", n);
	for (i = 0; i < n; i++)
		wrong += pmc_event_parse(names[i], &d, NULL, 0) ||
			 !pmc_event_description(i) ||
			 pmc_name_of_event(PMC_EV_SOFT_FIRST + i) != names[i];
	ok(!wrong, "every name listed is understood and described");
	free(names);
	ok(!pmc_event_description(n) && !pmc_event_description(-1) &&
	   !pmc_name_of_event(PMC_EV_SOFT_FIRST + n) && errno == EINVAL,
	   "nothing behind the end");
	ok(pmc_event_names_of_class((enum pmc_class)1, &names, &n) == -1 &&
	   errno == EINVAL, "a class that is not ours");
}

static void test_names(void)
{
	ok(!strcmp(pmc_name_of_mode(PMC_MODE_TS), "TS") &&
	   !strcmp(pmc_name_of_class(PMC_CLASS_SOFT), "SOFT") &&
	   !strcmp(pmc_name_of_state(PMC_STATE_RUNNING), "RUNNING") &&
	   !strcmp(pmc_name_of_disposition(PMC_DISP_FREE), "FREE") &&
	   !strcmp(pmc_name_of_capability(PMC_CAP_CASCADE), "CASCADE") &&
	   !strcmp(pmc_name_of_cputype(PMC_CPU_GENERIC), "GENERIC"),
	   "names of numbers");
	ok(!pmc_name_of_mode((enum pmc_mode)4) && errno == EINVAL,
	   "a number without a name");
}

static void test_no_init(void)
{
	pmc_value_t v;

	errno = 0;
	ok(pmc_read(0, &v) == -1 && errno == ENXIO && pmc_ncpu() == -1 &&
	   pmc_flush_logfile() == -1, "ENXIO before pmc_init()");
}

int main(void)
{
	test_good();
	test_bad();
	test_sizes();
	test_noise();
	test_list();
	test_names();
	test_no_init();
	return done();
}
