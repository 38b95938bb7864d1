// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program: the table of all, and the ioctls that no other file
 * here has.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#include "calls.h"

static char *bad;		/* a page, and then one that cannot be read */

int dev_of(const struct op *op)
{
	return sh->dev[op->dev % DEVS];
}

static uint32_t id_of(const struct op *op)
{
	static const uint32_t odd[] = {
		0, ~0U, HWPMC_ID(0, 0, HWPMC_CLASS_SOFT, 0),
		HWPMC_ID(HWPMC_ID_CPU_NONE, HWPMC_MODE_TS, HWPMC_CLASS_SOFT, 0),
	};
	unsigned int slot = op->pmc % (PMCS + SIZE(odd));

	return slot < PMCS ? sh->pmc[slot] : odd[slot - PMCS];
}

static int pid_of(uint8_t n)
{
	switch (n % (PIDS + 6)) {
	case PIDS:
	case PIDS + 1:
		return 0;
	case PIDS + 2:
		return getpid();
	case PIDS + 3:
		return 1;
	case PIDS + 4:
		return -1;
	case PIDS + 5:
		return 99999;
	default:
		return sh->pid[n % (PIDS + 6)];
	}
}

/* ------------------------------------------------------------------------
 * ioctls
 */
#define NTHS	48U

bool fails_all(const struct op *op)
{
	return (op->how & HOW_FAIL) && op->nth >= 192;
}

static int arm(const struct op *op, unsigned int turn)
{
	char text[8];
	int fd, len;

	if (!(op->how & HOW_FAIL))
		return -1;
	fd = fail_nth_fd();
	len = snprintf(text, sizeof(text), "%u",
		       (fails_all(op) ? turn : op->nth % NTHS) + 1);
	if (fd >= 0 && pwrite(fd, text, len, 0) != len)
		return -1;
	return fd;
}

int fail_arm(const struct op *op)
{
	return arm(op, op->nth % NTHS);
}

bool fail_disarm(int fd)
{
	char left[8] = "";
	unsigned int i;

	if (fd < 0)
		return false;
	(void)!pread(fd, left, sizeof(left) - 1, 0);
	/* a failure may be left for this very write */
	for (i = 0; i < 3 && pwrite(fd, "0", 1, 0) != 1; i++)
		;
	return left[0] == '0';
}

void *bad_address(const struct op *op)
{
	static char * const odd[] = {
		NULL, (char *)8, (char *)-4096, (char *)(1UL << 63),
	};

	return op->where & 1 ? bad + 4096 - (op->where >> 1) % 64 * 4 :
			       odd[op->where / 2 % SIZE(odd)];
}

uint32_t word_at(const struct op *op, uint32_t size)
{
	uint32_t from_end = 4 * (256 - op->where);

	if (from_end <= 64 && from_end <= size)
		return size - from_end;
	return op->where * 4 % size;
}

int io(const struct op *op, unsigned long cmd, void *arg)
{
	uint32_t size = _IOC_SIZE(cmd);
	unsigned int turn = 0;
	bool again;
	int err, fail;

	if ((op->how & HOW_WORD) && size) {
		if (op->word - FD_OWN < 256)
			return -1;	/* may be a descriptor, and ours */
		memcpy((char *)arg + word_at(op, size), &op->word, 4);
	}
	if ((op->how & HOW_SIZE) && size) {
		size += op->word % 128 < 64 ? op->word % 64 :
					      -(op->word % 64) % size;
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
	}
	if (op->how & HOW_BAD)
		arg = bad_address(op);
	do {
		fail = arm(op, turn);
		err = ioctl(dev_of(op), cmd, arg);
		cover_result(op->code % CODES, err ? errno : 0);
		again = fail_disarm(fail) && fails_all(op);
	} while (again && ++turn < NTHS && !sh->stop);
	return err;
}

#define OWN_POINT	3
#define OWN_NUMBER	98		/* a PMU that has no number of perf's */

static const struct {
	uint32_t type;
	uint64_t config;
	bool fast;			/* a small period keeps the machine busy */
} events[] = {
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true },
	{ PERF_TYPE_TRACEPOINT, 0, false },
	{ PERF_TYPE_TRACEPOINT, 1, false },
	{ PERF_TYPE_TRACEPOINT, 2, false },
	{ PERF_TYPE_BREAKPOINT, 0, false },
	{ PERF_TYPE_RAW, 8, true },
	{ 99, 0, false },
	{ PERF_TYPE_TRACEPOINT, OWN_POINT, false },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, true },
	{ OWN_NUMBER, 0x11, true },
};

/* of the CPU's PMU, if it has one */
static uint32_t own_number = PERF_TYPE_RAW;

/* Ids of tracepoints, in the order of events[]. */
static uint64_t points[3];

/* the module's own; which, is for the operation to say */
static const char * const own_points[] = {
	"hwpmc/hwpmc_pass", "hwpmc/hwpmc_ioctl", "hwpmc/hwpmc_target",
	"hwpmc/hwpmc_loss", "hwpmc/hwpmc_owner", "hwpmc/hwpmc_log",
	"hwpmc/hwpmc_refusal",
};
static uint64_t own_ids[SIZE(own_points)];
static volatile uint32_t watched;

static const uint64_t counts[] = {
	0, 1, 2, 10, 1000, 3000000, 10000000, 50000000, 1ULL << 31,
	1ULL << 32, 1ULL << 63, ~0ULL,
};

static const uint32_t flags[] = {
	HWPMC_F_DESCENDANTS, HWPMC_F_LOG_PROCCSW, HWPMC_F_LOG_PROCEXIT,
	HWPMC_F_CALLCHAIN, HWPMC_F_USERCALLCHAIN, HWPMC_F_EXCLUDE_IDLE,
	HWPMC_F_RAW, HWPMC_F_INCLUDE_OWNER,
};

static void ask_hardware(struct hwpmc_allocate *a, unsigned int how)
{
	if (how & 1)
		a->flags |= HWPMC_F_DATA;
	if (how & 2)
		a->caps |= HWPMC_CAP_PRECISE;
	if (how & 4)
		a->flags |= HWPMC_F_BRANCH;
	a->branch = how & 8 ? 1U << (how & 0x17) | PERF_SAMPLE_BRANCH_ANY : how >> 4;
}

/*
 * arg: mode, 4: UNWIND, 8: what only a PMU can do, and CPU; event, count, flags, caps
 * and name's length, TRIGGER and name
 */
void do_allocate(const struct op *op)
{
	const uint8_t *b = op->arg;
	unsigned int i, e = b[1] % SIZE(events);
	ARG(hwpmc_allocate, x, .mode = b[0] & 3, .type = events[e].type,
	    .pmc_class = HWPMC_CLASS_SOFT, .config = events[e].config,
	    .count = counts[b[2] % SIZE(counts)]);
	bool sampling = !(x.a.mode & 1);

	x.a.cpu = x.a.mode >= HWPMC_MODE_TS ? HWPMC_CPU_ANY :
		  b[0] & 0x10 ? b[0] >> 5 : HWPMC_CPU_ALL;
	for (i = 0; i < SIZE(flags); i++)
		if (b[3] & 1U << i)
			x.a.flags |= flags[i];
	if (b[0] & 4)
		x.a.flags |= HWPMC_F_UNWIND;
	if (b[0] & 8)
		ask_hardware(&x.a, b[5] >> 1);
	if (b[5] & 1)
		x.a.flags |= HWPMC_F_TRIGGER;
	if (b[4] & 8)
		x.a.flags |= HWPMC_F_FREQ;
	if (b[4] & 1)
		x.a.caps |= HWPMC_CAP_USER;
	if (b[4] & 2)
		x.a.caps |= HWPMC_CAP_SYSTEM;
	if (sampling)
		x.a.caps |= HWPMC_CAP_INTERRUPT;
	if (sampling && events[e].fast && (x.a.flags & HWPMC_F_FREQ))
		x.a.count = 1 + x.a.count % 300;
	else if (sampling && events[e].fast && x.a.count < 3000000)
		x.a.count = 3000000;
	if (x.a.type == OWN_NUMBER)
		x.a.type = own_number;
	if (x.a.type == PERF_TYPE_TRACEPOINT)
		x.a.config = x.a.config == OWN_POINT ?
			     own_ids[(b[5] >> 1) % SIZE(own_ids)] :
			     points[x.a.config];
	if (x.a.type == PERF_TYPE_BREAKPOINT) {
		x.a.bp_type = 3 ^ (b[4] >> 4 & 7);
		x.a.config1 = (uintptr_t)&watched;
		x.a.config2 = b[4] & 0x80 ? 3 : 4;
	}
	snprintf(x.a.name, sizeof(x.a.name), "event-%u", b[5] >> 1);
	if (b[4] & 4)		/* as long as it may be, or longer */
		memset(x.a.name, 'e', sizeof(x.a.name) - (b[4] >> 3 & 1));
	/* what keeps the machine busy is another matter */
	if ((op->how & HOW_WORD) && word_at(op, sizeof(x.a)) ==
	    offsetof(struct hwpmc_allocate, count) && op->word < 3000000)
		return;
	if (!io(op, HWPMC_IOC_PMCALLOCATE, &x))
		sh->pmc[op->pmc % PMCS] = x.a.id;
}

/* The ioctl with the argument that the fields say */
#define IOCTL_OP(name, cmd, type, ...)				\
	void do_##name(const struct op *op)			\
	{							\
		ARG(type, x, __VA_ARGS__);			\
								\
		io(op, HWPMC_IOC_##cmd, &x);			\
	}

void do_flushlog(const struct op *op)
{
	io(op, HWPMC_IOC_FLUSHLOG, NULL);
}

void do_closelog(const struct op *op)
{
	io(op, HWPMC_IOC_CLOSELOG, NULL);
}

IOCTL_OP(getcpuinfo, GETCPUINFO, hwpmc_cpuinfo, .cputype = 0)
IOCTL_OP(getdriverstats, GETDRIVERSTATS, hwpmc_driverstats, .scope = op->arg[0] % 3)

void do_getmoduleversion(const struct op *op)
{
	ARG(hwpmc_moduleversion, x, .version = HWPMC_ABI_VERSION);

	x.a.version += (uint32_t)(op->arg[0] % 3) << 23;
	io(op, HWPMC_IOC_GETMODULEVERSION, &x);
}

void do_getpmcinfo(const struct op *op)
{
	static _Thread_local struct hwpmc_pmcinfo_row rows[32];
	ARG(hwpmc_pmcinfo, x, .cpu = op->arg[0] % 4, .nrows = op->arg[1] % 33,
	    .rows = (uintptr_t)rows);

	io(op, HWPMC_IOC_GETPMCINFO, &x);
}

void do_getdyneventinfo(const struct op *op)
{
	static _Thread_local struct hwpmc_dynevent list[64];
	ARG(hwpmc_dyneventinfo, x, .pmc_class = HWPMC_CLASS_SOFT,
	    .nevents = op->arg[1] % 65, .events = (uintptr_t)list);

	io(op, HWPMC_IOC_GETDYNEVENTINFO, &x);
}

IOCTL_OP(pmcadmin, PMCADMIN, hwpmc_admin, .cpu = op->arg[0] % 3,
	 .row = op->arg[1] % 4, .state = op->arg[2] & 1)

IOCTL_OP(attach, PMCATTACH, hwpmc_attach, .id = id_of(op), .pid = pid_of(op->arg[0]))
IOCTL_OP(detach, PMCDETACH, hwpmc_attach, .id = id_of(op), .pid = pid_of(op->arg[0]))
IOCTL_OP(getmsr, PMCGETMSR, hwpmc_getmsr, .id = id_of(op))
IOCTL_OP(release, PMCRELEASE, hwpmc_simple, .id = id_of(op))
IOCTL_OP(start, PMCSTART, hwpmc_simple, .id = id_of(op))
IOCTL_OP(stop, PMCSTOP, hwpmc_simple, .id = id_of(op))

/* arg: flags, CPU, value */
IOCTL_OP(rw, PMCRW, hwpmc_rw, .id = id_of(op),
	 .flags = (op->arg[0] & 1 ? HWPMC_F_NEWVALUE : 0) |
		  (op->arg[0] & 2 ? 0 : HWPMC_F_OLDVALUE),
	 .cpu = op->arg[1] & 4 ? op->arg[1] & 3 : HWPMC_CPU_ALL,
	 .value = counts[op->arg[2] % SIZE(counts)])

void do_setcount(const struct op *op)
{
	ARG(hwpmc_setcount, x, .id = id_of(op),
	    .count = op->arg[0] & 0x80 ? 0 :
		     counts[5 + op->arg[0] % (SIZE(counts) - 5)]);

	if ((op->how & HOW_WORD) && op->word < 3000000)
		return;
	io(op, HWPMC_IOC_PMCSETCOUNT, &x);
}

/* @n: what the condition is compared with, mostly something that there is */
static void set_condition(struct hwpmc_condition *c, uint8_t n)
{
	static const int64_t odd[] = { -1, -2, 1LL << 31, 1LL << 40 };

	switch (c->what) {
	case HWPMC_COND_COMM:
		if (n % 16 == 15)
			memset(c->comm, 'x', sizeof(c->comm));
		else if (n % 16 == 14)
			c->comm[sizeof(c->comm) - 1] = 'x';
		else if (n % 4 == 3)
			strcpy(c->comm, "executor");
		else
			snprintf(c->comm, sizeof(c->comm), "fuzz%u", n % 4);
		c->value = n == 253;
		return;
	case HWPMC_COND_USER:
		c->value = n == 253;
		return;
	case HWPMC_COND_CGROUP:
		c->value = n < 128 ? machine_cgroup_fd(n) : n;
		break;
	default:
		c->value = pid_of(n);
	}
	if (n >= 240)
		c->value = odd[n % SIZE(odd)];
	c->comm[0] = n == 239;
}

/* arg: how many, kinds (3 bits each), values; how it is not as it should be */
void do_filter(const struct op *op)
{
	struct hwpmc_condition c[HWPMC_NCONDITION] = { 0 };
	unsigned int i, kinds = op->arg[1] | op->arg[2] << 8;
	ARG(hwpmc_filter, x, .id = id_of(op),
	    .n = op->arg[0] % (HWPMC_NCONDITION + 2),
	    .conditions = (uintptr_t)c);
	struct op plain = *op;

	for (i = 0; i < HWPMC_NCONDITION; i++) {
		c[i].what = 1 + (kinds >> i % 5 * 3 & 7) % 5;
		c[i].op = op->arg[3] >> i % 8 & 1;
		set_condition(&c[i], op->arg[4] + i / 5);
	}
	if (op->arg[5] & 4)
		c[0].what = op->arg[3] % 8;
	if (op->arg[5] & 8)
		c[0].op = 2;
	if ((op->how & HOW_WORD) && (op->arg[5] & 1)) {
		memcpy((char *)c + word_at(op, sizeof(c)), &op->word, 4);
		plain.how &= ~HOW_WORD;
	}
	if (op->arg[5] & 2)
		x.a.conditions = (uintptr_t)bad_address(op);
	io(&plain, HWPMC_IOC_PMCFILTER, &x);
}

IOCTL_OP(record, RECORD, hwpmc_record, .on = op->arg[0] & 1)
IOCTL_OP(getatbase, GETATBASE, hwpmc_atbase, .pid = pid_of(op->arg[0]))

void do_exittrigger(const struct op *op)
{
	static const int status[] = { 0, 0x300, 0x900, 9, -1, 0x10000 };
	ARG(hwpmc_exittrigger, x, .what = op->arg[0] % 4,
	    .status = status[op->arg[1] % SIZE(status)],
	    .pid = op->arg[2] ? pid_of(op->arg[2] - 1) : 0);

	io(op, HWPMC_IOC_EXITTRIGGER, &x);
}

/* arg: which budget, 1: reserved is set */
void do_setbudget(const struct op *op)
{
	static const uint32_t ppm[] = {
		10000, 1, 100, 1000, 50000, 1000000, 0, 1000001, ~0U,
	};
	ARG(hwpmc_setbudget, x, .ppm = ppm[op->arg[0] % SIZE(ppm)],
	    .reserved = op->arg[1] & 1);

	io(op, HWPMC_IOC_SETBUDGET, &x);
}

IOCTL_OP(getbudget, GETBUDGET, hwpmc_getbudget, .ppm = 0)

/* arg: which CPUs, 1: reserved is set */
void do_setcpus(const struct op *op)
{
	static const struct {
		uint8_t mask[8];
		uint32_t len;
	} sets[] = {
		{ { 1 }, 8 }, { { 2 }, 8 }, { { 3 }, 1 }, { { 0 }, 0 },
		{ { 0 }, 8 }, { { 0, 0, 0, 0, 0, 0, 0, 255 }, 8 },
		{ { 255, 255 }, 2 }, { { 2 }, ~0U },
	};
	const unsigned int i = op->arg[0] % SIZE(sets);
	ARG(hwpmc_setcpus, x,
	    .mask = sets[i].len ? (uintptr_t)sets[i].mask : 0,
	    .len = sets[i].len, .reserved = op->arg[1] & 1);

	if (!io(op, HWPMC_IOC_SETCPUS, &x))
		sh->cpu_group = true;
}

/* arg: number, direction, size, fill */
void do_ioctl(const struct op *op)
{
	static _Thread_local char buf[512];
	unsigned int size = op->arg[2] * 2;

	memset(buf, op->arg[3], sizeof(buf));
	io(op, _IOC(op->arg[1] & 3, op->arg[1] & 4 ? op->arg[4] :
		    HWPMC_IOC_MAGIC, op->arg[0] % 75, size), buf);
}

/* ------------------------------------------------------------------------
 * Everything
 */
static void (* const calls[CODES])(const struct op *op) = {
/* These are run_one()'s. */
#define do_fork		NULL
#define do_outside	NULL
#define do_repeat	NULL
#define X(code, name) [OP_##code] = do_##name,
	PROGRAM_CODES(X)
#undef X
};

void call(const struct op *op)
{
	unsigned int code = op->code % CODES;
	int fail = fail_arm(op);

	watched++;
	if (calls[code])
		calls[code](op);
	fail_disarm(fail);
}

static uint64_t point_id(const char *name)
{
	char path[100];
	int id;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	id = number_in(path);
	return id < 0 ? 0 : id;
}

static void find_pmu(void)
{
	glob_t g;

	if (glob("/sys/bus/event_source/devices/armv8*/type", 0, NULL, &g) &&
	    glob("/sys/bus/event_source/devices/cpu/type", 0, NULL, &g))
		return;
	own_number = number_in(g.gl_pathv[0]);
	globfree(&g);
}

void calls_init(void)
{
	unsigned int i;

	bad = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(bad + 4096, 4096, PROT_NONE);
	points[0] = point_id("sched/sched_switch");
	points[1] = point_id("sched/sched_process_fork");
	points[2] = point_id("raw_syscalls/sys_enter");
	for (i = 0; i < SIZE(own_ids); i++)
		own_ids[i] = point_id(own_points[i]);
	find_pmu();
	unwind_setup();
	machine_init();
}

void calls_reset(void)
{
	unsigned int i;

	for (i = 0; i < DEVS; i++)
		sh->dev[i] = -1;
	memset(sh->pmc, 0xFF, sizeof(sh->pmc));
	memset(sh->pid, 0, sizeof(sh->pid));
	memset(sh->log, 0, sizeof(sh->log));
	for (i = 0; i < LOGS; i++)
		sh->log[i].fd = sh->log[i].peer = -1;
	for (i = 0; i < NEXTS; i++)
		sh->next[i] = (struct next_slot){ .fd = -1 };
	sh->npids = 0;
	sh->child = 0;
	sh->hotplugs = 0;
	sh->cpu_group = false;
	sh->outside = 0;
	sh->outside_ended = 0;
	sh->machine = false;
	sh->stop = false;
	sh->trouble[0] = '\0';
}

