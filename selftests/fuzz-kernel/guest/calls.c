// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program.
 *
 * Arguments are mostly good ones, made from tables by the operation's bytes;
 * op->how spoils them.  Slots are shared with threads and children, which race
 * for them: any value in a slot is a fit one.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "guest.h"
#include "guestlog.h"

#define SIZE(a)	(sizeof(a) / sizeof(*(a)))

static char *bad;		/* a page, and then one that cannot be read */

static int dev_of(const struct op *op)
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
static int fail_arm(const struct op *op)
{
	char text[8];
	int fd, len;

	if (!(op->how & HOW_FAIL))
		return -1;
	fd = fail_nth_fd();
	len = snprintf(text, sizeof(text), "%u", op->nth % 48 + 1);
	if (fd >= 0 && pwrite(fd, text, len, 0) != len)
		return -1;
	return fd;
}

static void fail_disarm(int fd)
{
	unsigned int i;

	/* a failure may be left for this very write */
	for (i = 0; fd >= 0 && i < 3 && pwrite(fd, "0", 1, 0) != 1; i++)
		;
}

static void *bad_address(const struct op *op)
{
	static char * const odd[] = {
		NULL, (char *)8, (char *)-4096, (char *)(1UL << 63),
	};

	return op->where & 1 ? bad + 4096 - (op->where >> 1) % 64 * 4 :
			       odd[op->where / 2 % SIZE(odd)];
}

/* HOW_WORD's offset in an argument: the last numbers count from its end */
static uint32_t word_at(const struct op *op, uint32_t size)
{
	uint32_t from_end = 4 * (256 - op->where);

	if (from_end <= 64 && from_end <= size)
		return size - from_end;
	return op->where * 4 % size;
}

/* @arg has room for 64 bytes more than it says. */
static int io(const struct op *op, unsigned long cmd, void *arg)
{
	uint32_t size = _IOC_SIZE(cmd);
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
	fail = fail_arm(op);
	err = ioctl(dev_of(op), cmd, arg);
	cover_result(op->code % CODES, err ? errno : 0);
	if (fail >= 0)
		fail_disarm(fail);
	return err;
}

/* A structure with what HOW_SIZE may show of it. */
#define ARG(type, name, ...)						\
	union {								\
		struct type a;						\
		char room[sizeof(struct type) + 64];			\
	} name = { .a = { __VA_ARGS__ } }

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
};

/* Ids of tracepoints, in the order of events[]. */
static uint64_t points[3];
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

/* arg: mode and CPU, event, count, flags, caps, TRIGGER and name */
static void do_allocate(const struct op *op)
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
	if (b[5] & 1)
		x.a.flags |= HWPMC_F_TRIGGER;
	if (b[4] & 1)
		x.a.caps |= HWPMC_CAP_USER;
	if (b[4] & 2)
		x.a.caps |= HWPMC_CAP_SYSTEM;
	if (sampling)
		x.a.caps |= HWPMC_CAP_INTERRUPT;
	if (sampling && events[e].fast && x.a.count < 3000000)
		x.a.count = 3000000;
	if (x.a.type == PERF_TYPE_TRACEPOINT)
		x.a.config = points[x.a.config];
	if (x.a.type == PERF_TYPE_BREAKPOINT) {
		x.a.bp_type = 3;
		x.a.config1 = (uintptr_t)&watched;
		x.a.config2 = 4;
	}
	snprintf(x.a.name, sizeof(x.a.name), "event-%u", b[5] >> 1);
	/* what keeps the machine busy is another matter */
	if ((op->how & HOW_WORD) && word_at(op, sizeof(x.a)) ==
	    offsetof(struct hwpmc_allocate, count) && op->word < 3000000)
		return;
	if (!io(op, HWPMC_IOC_PMCALLOCATE, &x))
		sh->pmc[op->pmc % PMCS] = x.a.id;
}

static int log_fd(uint8_t slot)
{
	static const int odd[] = { -1, -1, 9999, -5 };
	unsigned int i = slot % (LOGS + SIZE(odd));
	struct log_slot *l = &sh->log[i % LOGS];

	if (i >= LOGS)
		return odd[i - LOGS];
	l->uses++;
	return l->fd;
}

/* A word of the argument is any descriptor: another log's, maybe. */
static void doubt_logs(const struct op *op)
{
	unsigned int i;

	for (i = 0; i < LOGS && (op->how & HOW_WORD); i++)
		sh->log[i].sound = false;
}

/* arg: log, flags, size */
static void configure(const struct op *op, unsigned long cmd)
{
	static const uint64_t sizes[] = {
		0, 1, 4096, 65536, 262144, 1 << 20, 16 << 20, ~0ULL,
	};
	ARG(hwpmc_configurelog, x, .fd = log_fd(op->arg[0]),
	    .flags = op->arg[1] & 7, .size = sizes[op->arg[2] % SIZE(sizes)]);

	if (!(x.a.flags & 6))
		x.a.size = 0;
	else
		x.a.fd = -1;
	doubt_logs(op);
	io(op, cmd, &x);
}

static void do_configurelog(const struct op *op)
{
	configure(op, HWPMC_IOC_CONFIGURELOG);
}

static void do_rotatelog(const struct op *op)
{
	configure(op, HWPMC_IOC_ROTATELOG);
}

static void do_flushlog(const struct op *op)
{
	io(op, HWPMC_IOC_FLUSHLOG, NULL);
}

static void do_closelog(const struct op *op)
{
	io(op, HWPMC_IOC_CLOSELOG, NULL);
}

static void do_userdata(const struct op *op)
{
	ARG(hwpmc_writelog, x, .userdata = op->arg[0]);

	io(op, HWPMC_IOC_WRITELOG, &x);
}

static const struct {
	uint8_t	subtype;		/* 0: MAP_IN */
	uint8_t	fixed;			/* bytes before the strings */
	uint8_t	strings;
} records[] = {
	{ 0, sizeof(struct pmclog_map_in), 1 },
	{ PMCLOG_EXT_KERNEL, sizeof(struct pmclog_ext_kernel), 1 },
	{ PMCLOG_EXT_MODULE, sizeof(struct pmclog_ext_module), 1 },
	{ PMCLOG_EXT_SECTION, sizeof(struct pmclog_ext_section), 2 },
	{ PMCLOG_EXT_BUILDID, sizeof(struct pmclog_ext_buildid), 1 },
	{ PMCLOG_EXT_FIELDS, sizeof(struct pmclog_ext_fields), 1 },
	{ PMCLOG_EXT_RATE, sizeof(struct pmclog_ext_rate), 0 },
};

/* @seed: of the record's kind, of its strings' length; returns its bytes. */
static uint32_t make_record(void *buf, uint8_t kind, uint8_t length)
{
	unsigned int i, k = kind % SIZE(records), n = records[k].strings;
	uint32_t text = n * (1 + length % 40), len;
	struct pmclog_ext *e = buf;
	char *s = (char *)buf + records[k].fixed;

	len = (records[k].fixed + text + 3) & ~3U;
	memset(buf, 0, len);
	memset(s, 'n', text);
	for (i = 0; i < n; i++)
		s[(i + 1) * (1 + length % 40) - 1] = 0;
	if (!records[k].subtype) {
		struct pmclog_map_in *m = buf;

		m->h.header = PMCLOG_HEADER(PMCLOG_T_MAP_IN, len);
		m->pid = PMCLOG_PID_KERNEL;
		m->start = 0xFFFF800000100000ULL;
		return len;
	}
	e->h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, len);
	e->cookie = PMCLOG_EXT_COOKIE;
	e->subtype = records[k].subtype;
	return len;
}

/* arg: kind, strings, kind, strings, how many; HOW_WORD is for the records */
static void do_records(const struct op *op)
{
	struct op plain = *op;
	static _Thread_local char buf[8192];
	uint32_t len = 0, n;
	ARG(hwpmc_writelog, x, .userdata = 0);

	for (n = 0; n <= op->arg[4] % 16; n++) {
		len += make_record(buf + len, op->arg[0] + n * (op->arg[5] & 1),
				   op->arg[1]);
		if (op->arg[5] & 2)
			len += make_record(buf + len, op->arg[2], op->arg[3]);
	}
	if (op->how & HOW_WORD)
		memcpy(buf + word_at(op, len), &op->word, 4);
	plain.how &= ~HOW_WORD;
	x.a.len = op->arg[5] & 4 ? len - 4 : len;
	x.a.records = (uintptr_t)buf;
	if (op->arg[5] & 8)
		x.a.records = (uintptr_t)bad_address(op);
	io(&plain, HWPMC_IOC_WRITELOG, &x);
}

static void do_getcpuinfo(const struct op *op)
{
	ARG(hwpmc_cpuinfo, x, .cputype = 0);

	io(op, HWPMC_IOC_GETCPUINFO, &x);
}

static void do_getdriverstats(const struct op *op)
{
	ARG(hwpmc_driverstats, x, .scope = op->arg[0] % 3);

	io(op, HWPMC_IOC_GETDRIVERSTATS, &x);
}

static void do_getmoduleversion(const struct op *op)
{
	ARG(hwpmc_moduleversion, x, .version = HWPMC_ABI_VERSION);

	x.a.version += (uint32_t)(op->arg[0] % 3) << 23;
	io(op, HWPMC_IOC_GETMODULEVERSION, &x);
}

static void do_getpmcinfo(const struct op *op)
{
	static _Thread_local struct hwpmc_pmcinfo_row rows[32];
	ARG(hwpmc_pmcinfo, x, .cpu = op->arg[0] % 4, .nrows = op->arg[1] % 33,
	    .rows = (uintptr_t)rows);

	io(op, HWPMC_IOC_GETPMCINFO, &x);
}

static void do_getdyneventinfo(const struct op *op)
{
	static _Thread_local struct hwpmc_dynevent list[64];
	ARG(hwpmc_dyneventinfo, x, .pmc_class = HWPMC_CLASS_SOFT,
	    .nevents = op->arg[1] % 65, .events = (uintptr_t)list);

	io(op, HWPMC_IOC_GETDYNEVENTINFO, &x);
}

static void do_pmcadmin(const struct op *op)
{
	ARG(hwpmc_admin, x, .cpu = op->arg[0] % 3, .row = op->arg[1] % 4,
	    .state = op->arg[2] & 1);

	io(op, HWPMC_IOC_PMCADMIN, &x);
}

static void do_attach(const struct op *op)
{
	ARG(hwpmc_attach, x, .id = id_of(op), .pid = pid_of(op->arg[0]));

	io(op, HWPMC_IOC_PMCATTACH, &x);
}

static void do_detach(const struct op *op)
{
	ARG(hwpmc_attach, x, .id = id_of(op), .pid = pid_of(op->arg[0]));

	io(op, HWPMC_IOC_PMCDETACH, &x);
}

static void do_getmsr(const struct op *op)
{
	ARG(hwpmc_getmsr, x, .id = id_of(op));

	io(op, HWPMC_IOC_PMCGETMSR, &x);
}

static void simple(const struct op *op, unsigned long cmd)
{
	ARG(hwpmc_simple, x, .id = id_of(op));

	io(op, cmd, &x);
}

static void do_release(const struct op *op)
{
	simple(op, HWPMC_IOC_PMCRELEASE);
}

static void do_start(const struct op *op)
{
	simple(op, HWPMC_IOC_PMCSTART);
}

static void do_stop(const struct op *op)
{
	simple(op, HWPMC_IOC_PMCSTOP);
}

/* arg: flags, CPU, value */
static void do_rw(const struct op *op)
{
	ARG(hwpmc_rw, x, .id = id_of(op),
	    .flags = (op->arg[0] & 1 ? HWPMC_F_NEWVALUE : 0) |
		     (op->arg[0] & 2 ? 0 : HWPMC_F_OLDVALUE),
	    .cpu = op->arg[1] & 4 ? op->arg[1] & 3 : HWPMC_CPU_ALL,
	    .value = counts[op->arg[2] % SIZE(counts)]);

	io(op, HWPMC_IOC_PMCRW, &x);
}

static void do_setcount(const struct op *op)
{
	ARG(hwpmc_setcount, x, .id = id_of(op),
	    .count = counts[5 + op->arg[0] % (SIZE(counts) - 5)]);

	if ((op->how & HOW_WORD) && op->word < 3000000)
		return;
	io(op, HWPMC_IOC_PMCSETCOUNT, &x);
}

/* arg: how many, kinds (3 bits each), values */
static void do_filter(const struct op *op)
{
	struct hwpmc_condition c[HWPMC_NCONDITION] = { 0 };
	unsigned int i, kinds = op->arg[1] | op->arg[2] << 8;
	ARG(hwpmc_filter, x, .id = id_of(op),
	    .n = op->arg[0] % (HWPMC_NCONDITION + 2),
	    .conditions = (uintptr_t)c);
	struct op plain = *op;

	for (i = 0; i < HWPMC_NCONDITION; i++) {
		c[i].what = 1 + (kinds >> i % 5 * 3 & 7) % 6;
		c[i].op = op->arg[3] >> i % 8 & 1;
		if (c[i].what == HWPMC_COND_COMM)
			snprintf(c[i].comm, sizeof(c[i].comm), "fuzz%u",
				 op->arg[4] % 4);
		else if (c[i].what == HWPMC_COND_CGROUP)
			c[i].value = op->arg[4];
		else if (c[i].what != HWPMC_COND_USER)
			c[i].value = pid_of(op->arg[4]);
	}
	if ((op->how & HOW_WORD) && (op->arg[5] & 1)) {
		memcpy((char *)c + word_at(op, sizeof(c)), &op->word, 4);
		plain.how &= ~HOW_WORD;
	}
	if (op->arg[5] & 2)
		x.a.conditions = (uintptr_t)bad_address(op);
	io(&plain, HWPMC_IOC_PMCFILTER, &x);
}

static void do_record(const struct op *op)
{
	ARG(hwpmc_record, x, .on = op->arg[0] & 1);

	io(op, HWPMC_IOC_RECORD, &x);
}

static void do_getatbase(const struct op *op)
{
	ARG(hwpmc_atbase, x, .pid = pid_of(op->arg[0]));

	io(op, HWPMC_IOC_GETATBASE, &x);
}

static void do_snapshot(const struct op *op)
{
	ARG(hwpmc_snapshot, x, .fd = log_fd(op->arg[0]),
	    .flags = op->arg[1] & 1);

	doubt_logs(op);
	io(op, HWPMC_IOC_SNAPSHOT, &x);
}

static void do_exittrigger(const struct op *op)
{
	ARG(hwpmc_exittrigger, x, .what = op->arg[0] % 3,
	    .status = op->arg[1] & 1 ? 0x300 : 0x900,
	    .pid = pid_of(op->arg[2]));

	io(op, HWPMC_IOC_EXITTRIGGER, &x);
}

/* arg: number, direction, size, fill */
static void do_ioctl(const struct op *op)
{
	static _Thread_local char buf[512];
	unsigned int size = op->arg[2] * 2;

	memset(buf, op->arg[3], sizeof(buf));
	io(op, _IOC(op->arg[1] & 3, op->arg[1] & 4 ? op->arg[4] :
		    HWPMC_IOC_MAGIC, op->arg[0] % 72, size), buf);
}

/* ------------------------------------------------------------------------
 * The device as a file
 */
static void set_slot(int *slot, int fd)
{
	/* our own stay clear of what programs close */
	if (fd >= FD_OWN) {
		close(fd);
		return;
	}
	if (fd >= 0)
		*slot = fd;
}

static void do_open(const struct op *op)
{
	static const int how[] = {
		O_RDWR, O_RDWR | O_NONBLOCK, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK,
		O_PATH,
	};
	int fail = fail_arm(op);
	int fd = open("/dev/hwpmc", how[op->arg[0] % SIZE(how)]);

	if (fail >= 0)
		fail_disarm(fail);
	if (op->arg[1] & 1)
		close(dev_of(op));
	set_slot(&sh->dev[op->dev % DEVS], fd);
}

static void do_close(const struct op *op)
{
	close(dev_of(op));
}

static void do_dup(const struct op *op)
{
	set_slot(&sh->dev[op->arg[0] % DEVS], dup(dev_of(op)));
}

static void do_read(const struct op *op)
{
	static const unsigned int sizes[] = { 65536, 1, 0, 100, 4096, 8 };
	static _Thread_local char buf[65536];
	unsigned int i, size = sizes[op->arg[0] % SIZE(sizes)];
	void *to = op->how & HOW_BAD ? bad_address(op) : buf;
	int fail = fail_arm(op);

	for (i = 0; i <= op->arg[1] % 4; i++)
		if (read(dev_of(op), to, size) <= 0)
			break;
	if (fail >= 0)
		fail_disarm(fail);
}

static void do_poll(const struct op *op)
{
	struct pollfd p = { .fd = dev_of(op), .events = op->arg[0] };

	poll(&p, 1, op->arg[1] % 16);
}

static void do_fcntl(const struct op *op)
{
	int fd = dev_of(op);

	switch (op->arg[0] % 4) {
	case 0:
		fcntl(fd, F_SETFL, O_NONBLOCK);
		break;
	case 1:
		fcntl(fd, F_SETFL, 0);
		break;
	case 2:
		fcntl(fd, F_SETOWN, getpid());
		fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
		break;
	default:
		fcntl(fd, F_SETSIG, SIGUSR1);
	}
}

/* What a device of ours has no answer for. */
static void do_odd(const struct op *op)
{
	char buf[16] = "";
	int fd = dev_of(op);
	void *p;

	switch (op->arg[0] % 5) {
	case 0:
		op->arg[1] & 1 ? write(fd, buf, 16) : pread(fd, buf, 16, 1);
		break;
	case 1:
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			munmap(p, 4096);
		break;
	case 2:
		lseek(fd, op->arg[1], SEEK_SET);
		break;
	case 3:
		fsync(fd);
		break;
	default:
		ioctl(fd, TIOCGWINSZ, buf);
	}
}

/* ------------------------------------------------------------------------
 * Logs
 */
static int tmp_file(const char *dir, int how)
{
	return open(dir, O_TMPFILE | O_RDWR | how, 0600);
}

static int log_pipe(struct log_slot *l, int size, int how)
{
	int ends[2];

	if (pipe2(ends, how))
		return -1;
	if (size)
		fcntl(ends[1], F_SETPIPE_SZ, size);
	l->peer = ends[0];
	return ends[1];
}

static int log_socket(struct log_slot *l, int type)
{
	int ends[2];

	if (socketpair(AF_UNIX, type, 0, ends))
		return -1;
	l->peer = ends[0];
	return ends[1];
}

static int log_sealed(void)
{
	int fd = memfd_create("log", MFD_ALLOW_SEALING);

	if (!ftruncate(fd, 5000))
		fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
	return fd;
}

static int log_make(struct log_slot *l, const struct op *op)
{
	switch (op->arg[1] % 16) {
	case 1:
		return tmp_file("/fz/big", 0);
	case 2:
		return tmp_file("/fz/big", O_APPEND);
	case 3:
		return tmp_file("/fz/full", 0);
	case 4:
		return log_pipe(l, 0, 0);
	case 5:
		return log_pipe(l, 4096, 0);
	case 6:
		return log_pipe(l, 4096, O_NONBLOCK);
	case 7:
		return log_socket(l, SOCK_STREAM);
	case 8:
		return log_socket(l, SOCK_DGRAM);
	case 9:
		return open("/dev/null", O_WRONLY);
	case 10:
		return open("/dev/full", O_WRONLY);
	case 11:
		return log_sealed();
	case 12:
		return eventfd(0, 0);
	case 13:
		return open("/proc/self/exe", O_RDONLY);
	case 14:
		return dup(dev_of(op));
	default:
		return memfd_create("log", 0);
	}
}

/* arg: slot, kind */
static void do_logopen(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];
	unsigned int kind = op->arg[1] % 16;

	l->sound = false;
	if (l->fd >= 0)
		close(l->fd);
	if (l->peer >= 0)
		close(l->peer);
	l->peer = -1;
	l->uses = 0;
	l->fd = log_make(l, op);
	if (l->fd >= FD_OWN || l->peer >= FD_OWN)
		l->fd = l->peer = -1;
	/* descriptors of a child are not ours */
	l->sound = (!kind || kind == 1 || kind == 15) && !in_child();
}

static void do_logread(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];
	static _Thread_local char buf[65536];
	struct pollfd p = { .fd = l->peer, .events = POLLIN };

	if (poll(&p, 1, op->arg[1] % 16) > 0)
		read(l->peer, buf, op->arg[2] & 1 ? 100 : sizeof(buf));
}

static void do_logclose(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];

	l->sound = false;
	close(op->arg[1] & 1 ? l->peer : l->fd);
}

static void do_logspoil(const struct op *op)
{
	struct log_slot *l = &sh->log[op->arg[0] % LOGS];

	l->sound = false;
	switch (op->arg[1] % 4) {
	case 0:
		ftruncate(l->fd, op->arg[2] * 16);
		break;
	case 1:
		fcntl(l->fd, F_SETFL, op->arg[2] & 1 ? O_NONBLOCK : 0);
		break;
	case 2:
		lseek(l->fd, op->arg[2], SEEK_SET);
		break;
	default:
		write(l->fd, "spoilt", 6);
	}
}

/* ------------------------------------------------------------------------
 * Everything
 */
static void (* const calls[CODES])(const struct op *op) = {
	[OP_OPEN] = do_open,
	[OP_CLOSE] = do_close,
	[OP_DUP] = do_dup,
	[OP_CONFIGURELOG] = do_configurelog,
	[OP_ROTATELOG] = do_rotatelog,
	[OP_FLUSHLOG] = do_flushlog,
	[OP_CLOSELOG] = do_closelog,
	[OP_USERDATA] = do_userdata,
	[OP_RECORDS] = do_records,
	[OP_GETCPUINFO] = do_getcpuinfo,
	[OP_GETDRIVERSTATS] = do_getdriverstats,
	[OP_GETMODULEVERSION] = do_getmoduleversion,
	[OP_GETPMCINFO] = do_getpmcinfo,
	[OP_GETDYNEVENTINFO] = do_getdyneventinfo,
	[OP_PMCADMIN] = do_pmcadmin,
	[OP_ALLOCATE] = do_allocate,
	[OP_ATTACH] = do_attach,
	[OP_DETACH] = do_detach,
	[OP_GETMSR] = do_getmsr,
	[OP_RELEASE] = do_release,
	[OP_RW] = do_rw,
	[OP_SETCOUNT] = do_setcount,
	[OP_START] = do_start,
	[OP_STOP] = do_stop,
	[OP_FILTER] = do_filter,
	[OP_RECORD] = do_record,
	[OP_GETATBASE] = do_getatbase,
	[OP_SNAPSHOT] = do_snapshot,
	[OP_EXITTRIGGER] = do_exittrigger,
	[OP_IOCTL] = do_ioctl,
	[OP_READ] = do_read,
	[OP_POLL] = do_poll,
	[OP_FCNTL] = do_fcntl,
	[OP_ODD] = do_odd,
	[OP_LOGOPEN] = do_logopen,
	[OP_LOGREAD] = do_logread,
	[OP_LOGCLOSE] = do_logclose,
	[OP_LOGSPOIL] = do_logspoil,
	[OP_KILL] = process_kill,
	[OP_WAIT] = process_wait,
	[OP_THREAD] = process_thread,
	[OP_SEND] = process_send,
	[OP_RECEIVE] = process_receive,
	[OP_MAP] = process_map,
	[OP_PRCTL] = process_prctl,
	[OP_EXEC] = process_exec,
	[OP_SETUID] = process_setuid,
	[OP_UNSHARE] = process_unshare,
	[OP_LOAD] = process_load,
	[OP_SLEEP] = process_sleep,
	[OP_PARAM] = process_param,
	[OP_HOTPLUG] = process_hotplug,
};

/* FORK and REPEAT are for run_range(). */
void call(const struct op *op)
{
	unsigned int code = op->code % CODES;

	watched++;
	if (calls[code])
		calls[code](op);
}

static uint64_t point_id(const char *name)
{
	char path[100];
	unsigned long long id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &id) != 1)
		id = 0;
	fclose(f);
	return id;
}

void calls_init(void)
{
	bad = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(bad + 4096, 4096, PROT_NONE);
	points[0] = point_id("sched/sched_switch");
	points[1] = point_id("sched/sched_process_fork");
	points[2] = point_id("raw_syscalls/sys_enter");
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
	sh->npids = 0;
	sh->child = 0;
	sh->hotplugs = 0;
	sh->stop = false;
	sh->trouble[0] = '\0';
}

/* The devices are closed: nobody writes to the logs any more. */
void check_logs(void)
{
	unsigned int i;

	for (i = 0; i < LOGS; i++) {
		struct log_slot *l = &sh->log[i];

		if (l->sound && l->fd >= 0 && l->uses == 1 && !sh->trouble[0])
			guestlog_check(l->fd, sh->trouble, sizeof(sh->trouble));
	}
}
