/* SPDX-License-Identifier: BSD-2-Clause */
/* Specifications of PMUs' events, tracepoints and the like, in a made-up tree. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "faketree.h"
#include "libpmc_event.h"
#include "libpmc_source.h"
#include "tap.h"

#define DEVICES	"sys/bus/event_source/devices/"
#define TRACE	"sys/kernel/tracing/"
#define U	PMC_CAP_USER
#define K	PMC_CAP_SYSTEM
#define TP	PMC_EVENT_TRACEPOINT
#define CLOCK	PERF_COUNT_SW_CPU_CLOCK
#define SOME	PMC_EVENT_SOME_CPUS

static void make_pmus(void)
{
	put("4\n", DEVICES "cpu/type");
	put("config:0-7\n", DEVICES "cpu/format/event");
	put("config:8-15\n", DEVICES "cpu/format/umask");
	put("config:0-7,32-35\n", DEVICES "cpu/format/wide");
	put("config:23\n", DEVICES "cpu/format/inv");
	put("config1:0-15\n", DEVICES "cpu/format/ldlat");
	put("config2\n", DEVICES "cpu/format/whole");
	put("config3:4-5\n", DEVICES "cpu/format/third");
	put("config:70\n", DEVICES "cpu/format/broken");
	put("event=0x3c\n", DEVICES "cpu/events/cpu-cycles");
	put("event=0xcd,umask=0x1,ldlat=3\n", DEVICES "cpu/events/mem-loads");
	put("1.5\n", DEVICES "cpu/events/mem-loads.scale");
	put("KiB\n", DEVICES "cpu/events/mem-loads.unit");
	put("event=2,umask=?\n", DEVICES "cpu/events/asks");
	put("cpu-cycles\n", DEVICES "cpu/events/nested");
	put("8\n", DEVICES "armv8_pmuv3_0/type");
	put("0-1\n", DEVICES "armv8_pmuv3_0/cpus");
	put("config:0-15\n", DEVICES "armv8_pmuv3_0/format/event");
	put("event=0x0011\n", DEVICES "armv8_pmuv3_0/events/cpu_cycles");
	put("12\n", DEVICES "uncore_imc_0/type");
	put("0,28\n", DEVICES "uncore_imc_0/cpumask");
	put("config:0-7\n", DEVICES "uncore_imc_0/format/event");
	put("9\n", DEVICES "uprobe/type");
	put("0-3\n", "sys/devices/system/cpu/online");
}

static void make_traces(void)
{
	put("314\n", TRACE "events/sched/sched_switch/id");
	put("name: sched_switch\nID: 314\nformat:\n"
	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
	    "\tsigned:0;\n\n"
	    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	    "print fmt: \"x\", REC->field: 1\n",
	    TRACE "events/sched/sched_switch/format");
	put("315\n", TRACE "events/sched/sched_wakeup/id");
	put("700\n", TRACE "events/syscalls/sys_enter_getppid/id");
	put("701\n", TRACE "events/syscalls/sys_exit_getppid/id");
	put("\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n",
	    TRACE "events/syscalls/sys_exit_getppid/format");
	put("12x\n", TRACE "events/odd/number/id");
	put("0\n", TRACE "events/enable");
	put("ffffffff81000000 T _text\nffffffff82001000 D jiffies\n"
	    "ffffffff82001000 D jiffies\nffffffff81000010 t init_once\n"
	    "ffffffff81000020 t init_once\t[ext4]\n", "proc/kallsyms");
}

static int parse(const char *spec, struct pmc_event_desc *d, char *msg,
		 size_t len)
{
	struct pmc_parse p = {
		.root = scratch, .desc = d, .msg = msg, .msglen = len,
	};

	return pmc_parse_spec(&p, spec);
}

static const struct good {
	const char	*spec;
	uint32_t	type;
	uint32_t	caps;
	uint64_t	config[4];
	uint64_t	period;
	uint32_t	flags;
	uint32_t	bp_type;
	const char	*name;		/* NULL: as it is specified */
} good[] = {
	/* terms */
	{ "cpu/event=0x3c,umask=0x2/", 4, 0, .config = { 0x23c } },
	{ "cpu/event=60,inv/u", 4, U, .config = { 0x80003c },
	  .name = "cpu/event=60,inv/:u" },
	{ "cpu/event=60,inv=0/:k", 4, K, .config = { 0x3c } },
	{ "cpu/wide=0xfff/uk", 4, U | K, .config = { 0xf000000ff },
	  .name = "cpu/wide=0xfff/" },
	{ "cpu/ldlat=0xffff,whole=0xffffffffffffffff,third=2/", 4, 0,
	  .config = { 0, 0xffff, ~0ULL, 0x20 } },
	{ "cpu/config=0x1ff,config1=2,config2=3,config3=4/", 4, 0,
	  .config = { 0x1ff, 2, 3, 4 } },
	{ "cpu/r1a8/", 4, 0, .config = { 0x1a8 } },
	{ "cpu/event=1,event=2,period=77,name=mine/", 4, 0, .config = { 2 },
	  .period = 77, .flags = PMC_EVENT_PERIOD, .name = "mine" },
	{ "cpu/event=1,freq=99/", 4, 0, .config = { 1 }, .period = 99,
	  .flags = PMC_EVENT_FREQ | PMC_EVENT_PERIOD },
	{ "cpu/event=1,freq=99,period=77/", 4, 0, .config = { 1 }, .period = 77,
	  .flags = PMC_EVENT_PERIOD },
	{ "cpu//", 4, 0, .config = { 0 } },
	{ "cpu/event=1/,usr,name=other", 4, U, .config = { 1 }, .name = "other:u" },
	/* aliases; what is said too comes after */
	{ "cpu/mem-loads/", 4, 0, .config = { 0x1cd, 3 } },
	{ "cpu/MEM-Loads,ldlat=30/u", 4, U, .config = { 0x1cd, 30 },
	  .name = "cpu/MEM-Loads,ldlat=30/:u" },
	{ "cpu/asks,umask=5/", 4, 0, .config = { 0x502 } },
	{ "armv8_pmuv3_0/cpu_cycles/", 8, 0, .config = { 0x11 }, .flags = SOME },
	{ "cpu_cycles", 8, 0, .config = { 0x11 }, .flags = SOME },
	{ "cpu_cycles:u", 8, U, .config = { 0x11 }, .flags = SOME },
	/* perf's own events, of a processor with one core PMU */
	{ "cpu/cycles/", 0, 0, .config = { 0 } },
	{ "cpu/LLC-loads,freq=9/u", 3, U, .config = { 2 }, .period = 9,
	  .flags = PMC_EVENT_FREQ | PMC_EVENT_PERIOD, .name = "cpu/LLC-loads,freq=9/:u" },
	{ "mem-loads,os", 4, K, .config = { 0x1cd, 3 }, .name = "mem-loads:k" },
	/* tracepoints */
	{ "tracepoint:sched:sched_switch", 2, 0, .config = { 314 }, .period = 1,
	  .flags = TP, .name = "sched:sched_switch" },
	{ "static:sched:sched_wakeup", 2, 0, .config = { 315 }, .period = 1, .flags = TP,
	  .name = "sched:sched_wakeup" },
	{ "sched:sched_switch", 2, 0, .config = { 314 }, .period = 1, .flags = TP },
	{ "sched:sched_switch:k", 2, K, .config = { 314 }, .period = 1, .flags = TP },
	{ "sched:sched_switch,name=sw", 2, 0, .config = { 314 }, .period = 1,
	  .flags = TP, .name = "sw" },
	{ "syscall:getppid:entry", 2, 0, .config = { 700 }, .period = 1, .flags = TP },
	{ "syscall:getppid:return:u", 2, U, .config = { 701 }, .period = 1, .flags = TP },
	/* clocks */
	{ "profile:hz:97", 1, 0, .config = { CLOCK }, .period = 10309278,
	  .flags = PMC_EVENT_RATE },
	{ "profile:ms:20:u", 1, U, .config = { CLOCK }, .period = 20000000,
	  .flags = PMC_EVENT_RATE },
	{ "profile:us:50", 1, 0, .config = { CLOCK }, .period = 50000,
	  .flags = PMC_EVENT_RATE },
	{ "interval:s:2", 1, 0, .config = { CLOCK }, .period = 2000000000,
	  .flags = PMC_EVENT_RATE | PMC_EVENT_ONE_CPU },
	/* breakpoints */
	{ "mem:0x1000", 5, 0, .config = { 0, 0x1000, 4 }, .period = 1,
	  .bp_type = HW_BREAKPOINT_RW },
	{ "mem:4096/8:w:u", 5, U, .config = { 0, 0x1000, 8 }, .period = 1,
	  .bp_type = HW_BREAKPOINT_W },
	{ "mem:0x1000:rw", 5, 0, .config = { 0, 0x1000, 4 }, .period = 1,
	  .bp_type = HW_BREAKPOINT_RW },
	{ "mem:_text:x", 5, 0, .config = { 0, 0xffffffff81000000, 8 },
	  .period = 1, .bp_type = HW_BREAKPOINT_X },
	{ "mem:jiffies/8:k", 5, K, .config = { 0, 0xffffffff82001000, 8 }, .period = 1,
	  .bp_type = HW_BREAKPOINT_RW },
};

static const struct bad {
	const char	*spec;
	const char	*says;
} bad[] = {
	{ "cpu/event=0x100/", "\"event=0x100\": more than the 8 bits" },
	{ "cpu/event=/", "\"event=\": not a number" },
	{ "cpu/event=-1/", "not a number" },
	{ "cpu/evnt=1/", "has no term \"evnt\"; did you mean event" },
	{ "cpu/cpu-cycels/", "no event or term \"cpu-cycels\"; did you mean "
	  "cpu-cycles?" },
	{ "cpu/mem-loads.scale/", "has no event" },
	{ "cpu/../", "has no event" },
	{ "cpu/nested/", "has no event or term \"cpu-cycles\"" },
	{ "cpu/cycles,umask=1/", "\"cycles\": perf's own event has no terms" },
	{ "cpu/page-faults/", "has no event or term \"page-faults\"" },
	{ "uncore_imc_0/cycles/", "has no event or term \"cycles\"" },
	{ "cpu/asks/", "needs \"umask=\"" },
	{ "cpu/broken=1/", "format is not understood" },
	{ "cpu/event=1", "slash is missing" },
	{ "cpu/event=1,,umask=1/", "empty term" },
	{ "cpu/event=1/x", "unknown modifier \"x\"" },
	{ "cpu/event=1/,config=1", "go without a name" },
	{ "cpx/event=1/", "has no PMU \"cpx\"; did you mean cpu?" },
	{ "uncore_imc/event=1/", "did you mean uncore_imc_0?" },
	{ "../event=1/", "has no PMU" },
	{ "uprobe/retprobe=1/", "uprobe:FILE:FUNCTION" },
	{ "uprobe:/bin/true:", "a uprobe is FILE:FUNCTION" },
	{ "uprobe:/bin/true:,usr", "a uprobe is FILE:FUNCTION" },
	{ "uprobe:/bin/true::return", "a uprobe is FILE:FUNCTION" },
	{ "cpu_cycels", "did you mean cpu_cycles" },
	{ "sched:sched_swich", "no tracepoint \"sched:sched_swich\"; did you "
	  "mean sched_switch?" },
	{ "shed:sched_switch", "no tracepoints of \"shed\"; did you mean sched?" },
	{ "tracepoint:sched", "SYSTEM:EVENT" },
	{ "tracepoint:..:sched", "no tracepoints of" },
	{ "tracepoint:sched:../../enable", "no tracepoint" },
	{ "odd:number", "the number of \"odd:number\": Invalid argument" },
	{ "sched:sched_switch:x", "unknown modifier" },
	{ "syscall:getppid", "NAME:entry or" },
	{ "syscall:getppid:enter", "NAME:entry or" },
	{ "syscall:getpid:entry", "no system call \"getpid\" to be traced; did you mean "
	  "getppid?" },
	{ "profile:hz", "followed by hz:N" },
	{ "profile:hz:0", "not a number of hz" },
	{ "profile:min:1", "unknown unit \"min\"" },
	{ "interval:s:99999999999", "not a number of s" },
	{ "mem:nosuch", "\"nosuch\" is no address" },
	{ "mem:init_once:x", "the kernel has 2 symbols \"init_once\": give the address" },
	{ "mem:0x10/9", "1 to 8" },
	{ "mem:0x10:rx", "does not go with" },
	{ "mem:0x10:rw:z", "unknown modifier" },
};

static int same(const struct pmc_event_desc *d, const struct good *g)
{
	return d->type == g->type && d->caps == g->caps &&
	       d->config == g->config[0] && d->config1 == g->config[1] &&
	       d->config2 == g->config[2] && d->config3 == g->config[3] &&
	       d->period == g->period && d->flags == g->flags &&
	       d->bp_type == g->bp_type && !strcmp(d->name, g->name ? g->name : g->spec);
}

static void test_good(void)
{
	struct pmc_event_desc d;
	char msg[256];
	int failed;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		failed = parse(good[i].spec, &d, msg, sizeof(msg));
		ok(!failed && !*msg && same(&d, &good[i]), "%s", good[i].spec);
		if (failed || !same(&d, &good[i]))
			printf("# %s: type %u %#llx %#llx %#llx %#llx period "
			       "%llu flags %u, %s\n", msg, d.type,
			       (unsigned long long)d.config,
			       (unsigned long long)d.config1,
			       (unsigned long long)d.config2,
			       (unsigned long long)d.config3,
			       (unsigned long long)d.period, d.flags, d.name);
	}
}

static void test_bad(void)
{
	struct pmc_event_desc d;
	char msg[256];
	int failed;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		failed = parse(bad[i].spec, &d, msg, sizeof(msg));
		ok(failed == -1 && errno == EINVAL && strstr(msg, bad[i].says) &&
		   !strchr(msg, '\n'), "%s: %s", bad[i].spec, msg);
	}
}

/* A number may have any number of zeros in front. */
static void test_long_name(void)
{
	struct pmc_event_desc d;
	char spec[100], msg[80];
	size_t zeros, wrong = 0;

	for (zeros = 0; zeros < 70; zeros++) {
		snprintf(spec, sizeof(spec), "interval:hz:%0*u:k", (int)zeros + 1, 9);
		wrong += parse(spec, &d, msg, sizeof(msg)) ||
			 !memchr(d.name, 0, sizeof(d.name)) ||
			 strcmp(d.name + strlen(d.name) - 2, ":k");
	}
	ok(!wrong, "clocks with names of any length");
}

#define FORMAT	"sys/kernel/tracing/events/sched/sched_switch/format"

/* The caller may not read all of tracefs, and asks for the fields of sched:sched_switch. */
static void fields_refused(mode_t mode, const char *what)
{
	size_t size = 0;
	int failed, err;

	abort_if(chmod(scratch, mode) || setresuid(0, 65534, 0));
	failed = pmc_source_fields_at(scratch, 5U << 28 | 314, NULL, &size);
	err = errno;
	abort_if(setresuid(0, 0, 0));
	ok(failed == -1 && err == EACCES, "%s: errno %d", what, err);
}

/* The rights of the process count, not those of the user that started it. */
static void test_privileged(void)
{
	struct pmc_event_desc d;
	char msg[80] = "";
	int failed;

	if (getuid()) {
		ok(1, "privileged # SKIP not root");
		return;
	}
	abort_if(setresuid(65534, 0, 0));
	failed = parse("sched:sched_switch", &d, msg, sizeof(msg));
	abort_if(setresuid(0, 0, 0));
	ok(!failed, "tracefs, with more rights than the user: %s", msg);
	fields_refused(0700, "tracefs that may not be read has fields, but EACCES");
	abort_if(chmod(scratch, 0755) || chmod(FORMAT, 0));
	fields_refused(0755, "a format that may not be read, too");
	abort_if(chmod(FORMAT, 0644));
}

/* The interconnect of arm64 servers: the user has to give five numbers. */
static void test_watchpoint(void)
{
	struct pmc_event_desc d;
	char msg[80];

	put("77\n", DEVICES "arm_cmn_0/type");
	put("config:0-15\n", DEVICES "arm_cmn_0/format/type");
	put("config:16-23\n", DEVICES "arm_cmn_0/format/eventid");
	put("config:48-50\n", DEVICES "arm_cmn_0/format/wp_dev_sel");
	put("config:51-52\n", DEVICES "arm_cmn_0/format/wp_chn_sel");
	put("config:56\n", DEVICES "arm_cmn_0/format/wp_grp");
	put("config1:0-63\n", DEVICES "arm_cmn_0/format/wp_val");
	put("config2:0-63\n", DEVICES "arm_cmn_0/format/wp_mask");
	put("type=0x7770,eventid=0x0,wp_dev_sel=?,wp_chn_sel=?,wp_grp=?,wp_val=?,"
	    "wp_mask=?\n", DEVICES "arm_cmn_0/events/watchpoint_up");
	ok(!parse("arm_cmn_0/watchpoint_up,wp_dev_sel=1,wp_chn_sel=3,wp_grp=0,"
		  "wp_val=0x10,wp_mask=0xffffffffffffff0f/", &d, msg, sizeof(msg)) &&
	   d.config == 0x19000000007770 && d.config1 == 0x10 && d.config2 == ~0xf0ULL,
	   "five numbers: %s", msg);
	ok(parse("arm_cmn_0/watchpoint_up,wp_dev_sel=1,wp_chn_sel=3,wp_grp=0,"
		 "wp_val=0x10/", &d, msg, sizeof(msg)) && strstr(msg, "needs \"wp_mask=\""),
	   "four numbers: %s", msg);
}

static void test_no_tracefs(void)
{
	struct pmc_event_desc d;
	char msg[256];

	abort_if(rename("sys/kernel/tracing", "away"));
	ok(parse("sched:sched_switch", &d, msg, sizeof(msg)) &&
	   strstr(msg, "mount -t tracefs tracefs /sys/kernel/tracing"),
	   "no tracefs: %s", msg);
	put("0\n", "sys/kernel/debug/x");
	abort_if(rename("away", "sys/kernel/debug/tracing"));
	ok(!parse("sched:sched_switch", &d, msg, sizeof(msg)) &&
	   d.config == 314, "that of debugfs will do");
}

static void test_cpus(void)
{
	char list[64] = "";

	ok(!pmc_pmu_cpus(scratch, 12, list, sizeof(list)) &&
	   !strcmp(list, "0,28"), "an uncore PMU: CPUs %s", list);
	ok(pmc_pmu_cpus(scratch, 4, list, sizeof(list)) == -1, "cpu: all CPUs");
	ok(!pmc_pmu_cpus(scratch, 8, list, sizeof(list)) && !strcmp(list, "0-1"),
	   "a core PMU of some CPUs: %s", list);
	put("0-3\n", DEVICES "armv8_pmuv3_0/cpus");
	ok(pmc_pmu_cpus(scratch, 8, list, sizeof(list)) == -1,
	   "a core PMU of all CPUs");
	put("0-7\n", DEVICES "armv8_pmuv3_0/cpus");
	ok(pmc_pmu_cpus(scratch, 8, list, sizeof(list)) == -1,
	   "and of CPUs that are offline");
}

/* A machine on which every second CPU counts events of the uncore. */
static void test_many_cpus(void)
{
	struct pmc_event_desc d = { .type = 55 };
	char mask[2000] = "", list[2000];
	size_t n = 0;
	int cpu;

	for (cpu = 0; cpu < 512; cpu += 2)
		n += (size_t)sprintf(mask + n, "%s%d", cpu ? "," : "", cpu);
	put("55\n", DEVICES "uncore_many/type");
	put(mask, DEVICES "uncore_many/cpumask");
	ok(pmc_event_cpus_at(scratch, &d, list, sizeof(list)) == (int)n &&
	   !strcmp(list, mask), "a list of %zu letters", n);
	errno = 0;
	ok(pmc_event_cpus_at(scratch, &d, list, n) == -1 && errno == ENOSPC,
	   "room for one letter less");
}

static void test_noise(void)
{
	static const char *const pieces[] = {
		"cpu/", "event", "=", "0x", "1", "/", ",", ":", "u", "k",
		"sched", "sched_switch", "mem", "rwx", "profile", "hz",
		"uprobe", "kprobe", "+", "/bin/true", "syscall", "getppid",
		"entry", "return", "tracepoint", "name=", "interval", "..",
		"mem-loads", "umask", "cpu_cycles", "[", "~", "\n", "-",
	};
	struct pmc_event_desc d;
	char spec[200], msg[80];
	size_t n, i, unterminated = 0;

	srand(1);
	for (n = 0; n < 30000; n++) {
		spec[0] = '\0';
		for (i = (size_t)rand() % 10; i; i--)
			strcat(spec, pieces[(size_t)rand() % (sizeof(pieces) /
							sizeof(pieces[0]))]);
		parse(spec, &d, msg, (size_t)rand() % sizeof(msg));
		unterminated += !memchr(d.name, 0, sizeof(d.name));
	}
	ok(!unterminated, "noise does no harm");
}

static const struct pmc_source *find(const struct pmc_source *list, size_t n,
				     const char *spec, char *descr, size_t len)
{
	char text[256];
	size_t i;

	for (i = 0; i < n; i++) {
		pmc_source_spec(&list[i], text, sizeof(text));
		if (strcmp(text, spec))
			continue;
		pmc_source_describe_at(scratch, &list[i], descr, len);
		return &list[i];
	}
	return NULL;
}

static void test_fields(const struct pmc_source *s)
{
	struct pmc_source_field f[3];
	size_t size = 0;

	ok(!pmc_source_fields_at(scratch, s->number, NULL, &size) &&
	   size == 2 * sizeof(f[0]), "size 0 asks for that of the fields");
	size = sizeof(f[0]);
	errno = 0;
	ok(pmc_source_fields_at(scratch, s->number, f, &size) == -1 &&
	   errno == ENOSPC && size == 2 * sizeof(f[0]),
	   "room for one field only");
	size = sizeof(f);
	ok(!pmc_source_fields_at(scratch, s->number, f, &size) &&
	   size == 2 * sizeof(f[0]) && !strcmp(f[0].name, "prev_comm") &&
	   !strcmp(f[0].type, "char[16]") && f[0].offset == 8 &&
	   f[0].size == 16 && !f[0].is_signed &&
	   !strcmp(f[1].name, "prev_pid") && !strcmp(f[1].type, "pid_t") &&
	   f[1].offset == 24 && f[1].size == 4 && f[1].is_signed,
	   "the fields of a tracepoint");
	size = sizeof(f);
	errno = 0;
	ok(pmc_source_fields_at(scratch, 0x5000FFFFU, f, &size) == -1 &&
	   errno == EINVAL && pmc_source_fields_at(scratch, 0, f, &size) == -1 &&
	   errno == EINVAL, "numbers that are none");
}

/* A call's number with the event of something else is none. */
static void test_fields_of_call(const struct pmc_source *call,
				const struct pmc_source *other)
{
	uint32_t kind = call->number ^ 701;
	struct pmc_source_field f[2];
	size_t size = sizeof(f);

	ok(!pmc_source_fields_at(scratch, call->number, f, &size) &&
	   size == sizeof(f[0]) && !strcmp(f[0].name, "ret"),
	   "the fields of a call");
	size = sizeof(f);
	errno = 0;
	ok((other->number & 0xFFFF) == 314 &&
	   pmc_source_fields_at(scratch, kind | 314, f, &size) == -1 &&
	   errno == EINVAL, "a call that is another tracepoint");
}

static void test_source_list(void)
{
	static const char *const want[][2] = {
		{ "cycles", "processor cycles" },
		{ "cpu/mem-loads/", "event=0xcd,umask=0x1,ldlat=3" },
		{ "cpu/wide=N/", "config:0-7,32-35" },
		{ "armv8_pmuv3_0/cpu_cycles/", "event=0x0011" },
		{ "tracepoint:sched:sched_switch", "prev_comm, prev_pid" },
		{ "syscall:getppid:entry", "" },
		{ "syscall:getppid:return", "ret" },
		{ "profile:hz:97", "samples at this or another rate, on each "
		  "CPU" },
	};
	const struct pmc_source *s, *call;
	struct pmc_source *list;
	struct pmc_event_desc d;
	size_t size = 0, i, n, twice = 0, wrong = 0;
	char text[256];

	ok(!pmc_source_list_at(scratch, NULL, &size) && size,
	   "size 0 asks for that of the list");
	n = size / sizeof(*list);
	list = malloc(size);
	size -= sizeof(*list);
	errno = 0;
	ok(pmc_source_list_at(scratch, list, &size) == -1 && errno == ENOSPC &&
	   size == n * sizeof(*list), "room for one less");
	ok(!pmc_source_list_at(scratch, list, &size) &&
	   size == n * sizeof(*list), "the list of %zu", n);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		s = find(list, n, want[i][0], text, sizeof(text));
		ok(s && !strcmp(text, want[i][1]), "%s: %s", want[i][0],
		   s ? text : "not there");
	}
	ok(!find(list, n, "cpu/mem-loads.unit/", text, sizeof(text)) &&
	   !find(list, n, "uprobe/retprobe=N/", text, sizeof(text)),
	   "files that are no events");
	for (i = 1; i < n; i++)
		twice += list[i].number == list[i - 1].number &&
			 strcmp(list[i - 1].provider, "syscall");
	ok(!twice, "each has a number of its own");
	for (i = 0; i < n; i++) {
		pmc_source_spec(&list[i], text, sizeof(text));
		wrong += !strstr(text, "=N/") &&
			 strcmp(text, "cpu/asks/") &&
			 strcmp(text, "cpu/nested/") &&
			 parse(text, &d, NULL, 0);
	}
	ok(!wrong, "each can be asked for as it is told");
	s = find(list, n, "tracepoint:sched:sched_switch", text, sizeof(text));
	ok(s && s->nargs == 2, "it has two fields");
	if (s)
		test_fields(s);
	call = find(list, n, "syscall:getppid:return", text, sizeof(text));
	if (s && call)
		test_fields_of_call(call, s);
	*text = 'x';
	for (i = 0; i < n; i++)
		pmc_source_describe_at(scratch, &list[i], text, 0);
	ok(*text == 'x', "descriptions without room");
	s = find(list, n, "cycles", text, sizeof(text));
	size = 100;
	ok(s && !pmc_source_fields_at(scratch, s->number, NULL, &size) && !size,
	   "what is no tracepoint has none");
	free(list);
}

int main(void)
{
	scratch_begin();
	make_pmus();
	make_traces();
	test_good();
	test_bad();
	test_long_name();
	test_privileged();
	test_cpus();
	test_source_list();
	test_watchpoint();
	test_many_cpus();
	test_noise();
	test_no_tracefs();
	scratch_end();
	return done();
}
