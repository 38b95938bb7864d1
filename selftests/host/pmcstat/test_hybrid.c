/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of processors with several kinds of cores, in made-up trees. */
#include <errno.h>
#include <linux/perf_event.h>

#include "faketree.h"
#include "libpmc_event.h"
#include "tap.h"

#define DEVICES	"sys/bus/event_source/devices/"
#define U	PMC_CAP_USER
#define K	PMC_CAP_SYSTEM
#define SOME	PMC_EVENT_SOME_CPUS
#define OF(type, config)	((uint64_t)(type) << 32 | (config))

/* As Intel's hybrids are: cpu_core has the number of the processor's PMU. */
static void make_intel(void)
{
	put("4\n", DEVICES "cpu_core/type");
	put("0-1\n", DEVICES "cpu_core/cpus");
	put("config:0-7\n", DEVICES "cpu_core/format/event");
	put("event=0x3c\n", DEVICES "cpu_core/events/cpu-cycles");
	put("event=0xc0\n", DEVICES "cpu_core/events/instructions");
	put("event=0x00\n", DEVICES "cpu_core/events/slots");
	put("event=0xd0\n", DEVICES "cpu_core/events/mem-loads");
	put("10\n", DEVICES "cpu_atom/type");
	put("2-3,5\n", DEVICES "cpu_atom/cpus");
	put("config:0-15\n", DEVICES "cpu_atom/format/event");
	put("event=0xd1\n", DEVICES "cpu_atom/events/mem-loads");
	put("12\n", DEVICES "uncore_imc_0/type");
	put("0\n", DEVICES "uncore_imc_0/cpumask");
	put("1\n", DEVICES "software/type");
	put("0-3,5\n", "sys/devices/system/cpu/online");
}

static const struct good {
	const char	*spec;
	int		n;
	struct {
		const char	*name;
		uint32_t	type;
		uint64_t	config;
	} event[2];
	uint32_t	caps;
	uint32_t	flags;
} good[] = {
	/* names without a PMU */
	{ "cycles", 2, { { "cpu_core/cycles/", 0, OF(4, 0) },
			 { "cpu_atom/cycles/", 0, OF(10, 0) } }, 0, SOME },
	{ "instructions:u", 2, { { "cpu_core/instructions/:u", 0, OF(4, 1) },
				 { "cpu_atom/instructions/:u", 0, OF(10, 1) } },
	  U, SOME },
	{ "cache-misses,os", 2, { { "cpu_core/cache-misses/:k", 0, OF(4, 3) },
				  { "cpu_atom/cache-misses/:k", 0, OF(10, 3) } },
	  K, SOME },
	{ "LLC-loads", 2, { { "cpu_core/LLC-loads/", 3, OF(4, 2) },
			    { "cpu_atom/LLC-loads/", 3, OF(10, 2) } }, 0, SOME },
	{ "cycles,name=mine", 2, { { "cpu_core/mine/", 0, OF(4, 0) },
				   { "cpu_atom/mine/", 0, OF(10, 0) } }, 0, SOME },
	{ "type=0,config=0", 2, { { "cpu_core/type=0,config=0x0/", 0, OF(4, 0) },
				  { "cpu_atom/type=0,config=0x0/", 0, OF(10, 0) } },
	  0, SOME },
	/* an alias that both have, and one of one of them */
	{ "mem-loads", 2, { { "cpu_core/mem-loads/", 4, 0xd0 },
			    { "cpu_atom/mem-loads/", 10, 0xd1 } }, 0, SOME },
	{ "mem-loads:ukp", 2, { { "cpu_core/mem-loads/", 4, 0xd0 },
				{ "cpu_atom/mem-loads/", 10, 0xd1 } },
	  U | K | PMC_CAP_PRECISE, SOME },
	{ "slots", 1, { { "cpu_core/slots/", 4, 0 } }, 0, SOME },
	/* those that name the PMU: its own alias, and perf's event of it */
	{ "cpu_core/instructions/", 1, { { "cpu_core/instructions/", 4, 0xc0 } }, 0, SOME },
	{ "cpu_atom/instructions/u", 1,
	  { { "cpu_atom/instructions/:u", 0, OF(10, 1) } }, U, SOME },
	{ "cpu_atom/cycles,name=ours/", 1, { { "ours", 0, OF(10, 0) } }, 0, SOME },
	{ "cpu_atom/event=0x3c/", 1, { { "cpu_atom/event=0x3c/", 10, 0x3c } }, 0, SOME },
	{ "type=0,config=0xa00000000", 1,
	  { { "type=0,config=0xa00000000", 0, OF(10, 0) } }, 0, SOME },
	/* a number means another event on each kind, so it is of the first only */
	{ "r3c", 1, { { "r3c", 4, 0x3c } }, 0, SOME },
	/* what is not of a core */
	{ "page-faults", 1, { { "page-faults", 1, 2 } }, 0, 0 },
	{ "cpu-clock:k", 1, { { "cpu-clock:k", 1, 0 } }, K, 0 },
	{ "uncore_imc_0/config=1/", 1, { { "uncore_imc_0/config=1/", 12, 1 } }, 0, 0 },
	{ "mem:0x1000", 1, { { "mem:0x1000", 5, 0 } }, 0, 0 },
};

static int is_same(const struct good *g, const struct pmc_event_desc *d, int n)
{
	int i;

	if (n != g->n)
		return 0;
	for (i = 0; i < n; i++)
		if (strcmp(d[i].name, g->event[i].name) || d[i].type != g->event[i].type ||
		    d[i].config != g->event[i].config || d[i].caps != g->caps ||
		    d[i].flags != g->flags)
			return 0;
	return 1;
}

static int parse(const char *spec, struct pmc_event_desc *d, size_t room)
{
	char msg[256] = "junk";
	int n = pmc_parse_all(scratch, spec, d, room, msg, sizeof(msg));

	if (n > 0 && *msg)
		printf("# %s: %s\n", spec, msg);
	return n > 0 && *msg ? 0 : n;
}

static void test_events(void)
{
	struct pmc_event_desc d[PMC_EVENTS_MAX];
	size_t i;
	int n, k;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		n = parse(good[i].spec, d, PMC_EVENTS_MAX);
		ok(is_same(&good[i], d, n), "%s", good[i].spec);
		for (k = 0; k < n && !is_same(&good[i], d, n); k++)
			printf("# %s: type %u, config %#llx, caps %u, flags %u\n", d[k].name,
			       d[k].type, (unsigned long long)d[k].config, d[k].caps,
			       d[k].flags);
	}
}

static void test_rules(void)
{
	struct pmc_event_desc d[2];
	char msg[128] = "";

	ok(pmc_parse_all(scratch, "cpu_atom/cycles,instructions/", d, 2, msg, sizeof(msg)) < 0 &&
	   strstr(msg, "instructions"), "one event of a PMU is not two: %s", msg);
	ok(parse("cycles", d, 1) == 1 && !strcmp(d[0].name, "cpu_core/cycles/"),
	   "room for one");
	errno = 0;
	ok(pmc_parse_all(scratch, "cycles", d, 0, msg, sizeof(msg)) == -1 && errno == EINVAL &&
	   strstr(msg, "room"), "room for none: %s", msg);
	errno = 0;
	ok(pmc_parse_all(scratch, "cyclse", d, 2, msg, sizeof(msg)) == -1 && errno == EINVAL &&
	   strstr(msg, "did you mean cycles?"), "%s", msg);
	ok(pmc_parse_all(scratch, "cycles,usr,name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			 "aaaaaaaaaaaaaa", d, 2, msg, sizeof(msg)) == 2 &&
	   !strncmp(d[1].name, "cpu_atom/aaa", 12) && strstr(d[1].name, "a/:u") &&
	   strlen(d[1].name) < sizeof(d[1].name), "the longest name: %s", d[1].name);
}

static void test_cpus(void)
{
	char list[64] = "";

	ok(!pmc_pmu_cpus(scratch, 10, list, sizeof(list)) && !strcmp(list, "2-3,5"),
	   "those of cpu_atom: %s", list);
	ok(pmc_cpus_have("0-3,5", "2-3,5") && pmc_cpus_have("0-3", "0") &&
	   pmc_cpus_have("0-3", "") && pmc_cpus_have("7", "7"), "lists that have others");
	ok(!pmc_cpus_have("2-3,5", "0-3,5") && !pmc_cpus_have("0-3,5", "4") &&
	   !pmc_cpus_have("", "0") && !pmc_cpus_have("0-3", "2-4") &&
	   !pmc_cpus_have("rubbish", "1"), "lists that have not");
}

/* All of the other kind are offline: the rest is a processor like any other. */
static void test_offline(void)
{
	struct pmc_event_desc d[2];

	put("0-1\n", "sys/devices/system/cpu/online");
	ok(parse("cpu_core/event=1/", d, 2) == 1 && !d[0].flags, "no other CPU is online");
	/* as the kernel does */
	put("\n", DEVICES "cpu_atom/cpus");
	ok(parse("cycles", d, 2) == 1 && !strcmp(d[0].name, "cpu_core/cycles/") &&
	   d[0].config == OF(4, 0) && !d[0].flags, "an event of a kind without CPUs: %s",
	   d[0].name);
	ok(parse("cpu_atom/cycles/", d, 2) == 1 && d[0].config == OF(10, 0),
	   "an event of that kind, by its name");
	put("2-3,5\n", DEVICES "cpu_atom/cpus");
	put("0-3,5\n", "sys/devices/system/cpu/online");
}

/* As on arm64: no PMU has the number of raw events. */
static void test_arm(void)
{
	struct pmc_event_desc d[PMC_EVENTS_MAX];

	put("9\n", DEVICES "armv8_cortex_a53/type");
	put("0-3\n", DEVICES "armv8_cortex_a53/cpus");
	put("config:0-15\n", DEVICES "armv8_cortex_a53/format/event");
	put("event=0x0011\n", DEVICES "armv8_cortex_a53/events/cpu_cycles");
	put("8\n", DEVICES "armv8_cortex_a72/type");
	put("4-5\n", DEVICES "armv8_cortex_a72/cpus");
	put("config:0-15\n", DEVICES "armv8_cortex_a72/format/event");
	put("event=0x0011\n", DEVICES "armv8_cortex_a72/events/cpu_cycles");
	put("0-5\n", "sys/devices/system/cpu/online");
	ok(parse("cycles", d, PMC_EVENTS_MAX) == 2 && d[0].config == OF(8, 0) &&
	   d[1].config == OF(9, 0) && !strcmp(d[1].name, "armv8_cortex_a53/cycles/"),
	   "cycles on arm64: %s, %s", d[0].name, d[1].name);
	ok(parse("cpu_cycles:u", d, PMC_EVENTS_MAX) == 2 && d[0].type == 8 &&
	   d[1].type == 9 && d[1].config == 0x11 &&
	   !strcmp(d[0].name, "armv8_cortex_a72/cpu_cycles/:u"),
	   "an alias of both: %s, %s", d[0].name, d[1].name);
	ok(parse("r11", d, PMC_EVENTS_MAX) == 1 && d[0].type == PERF_TYPE_RAW &&
	   d[0].flags == SOME, "a raw event is of some CPUs");
}

int main(void)
{
	scratch_begin();
	make_intel();
	test_events();
	test_rules();
	test_cpus();
	test_offline();
	scratch_end();
	abort_if(mkdir(scratch, 0700));
	test_arm();
	scratch_end();
	return done();
}
