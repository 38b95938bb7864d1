// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every error of every operation, in the order of the checks, and what a
 * failure leaves behind: nothing but a count.
 */
#include <sched.h>
#include <sys/eventfd.h>

#include "test.h"

#define NO_FD	9999

/* What is written over an otherwise good argument. */
struct patch {
	size_t		offset;
	size_t		size;
	uint64_t	value;
};

#define P(type, field, v) \
	{ offsetof(struct type, field), sizeof(((struct type *)0)->field), \
	  (uint64_t)(v) }
#define A(field, v)	P(hwpmc_allocate, field, v)
#define S(field, v)	P(hwpmc_simple, field, v)
#define C(field, v)	P(hwpmc_setcount, field, v)
#define R(field, v)	P(hwpmc_rw, field, v)
#define W(field, v)	P(hwpmc_writelog, field, v)
#define L(field, v)	P(hwpmc_configurelog, field, v)

/* Values only known at run time, told from others by their upper half. */
#define LATE		0xAB5E11ULL << 40
enum late {
	COUNTER = 1, SAMPLER, RUNNING, STOPPED, SINGLE,	/* PMC ids */
	FILE_FD, RDONLY_FD, DIR_FD, PATH_FD, NULL_FD, EVENT_FD, DEVICE_FD,
	JUNK_PTR, ZERO_PTR, NO_PTR,
	NLATE,
};
#define LATER(what)	(LATE | (what))

/* fresh: just opened; owner: has PMCs; logging: has the same and a log */
enum state { FRESH, OWNER, LOGGING, NSTATE };

struct call {
	const char	*what;
	enum state	state;
	unsigned long	cmd;
	int		want;
	struct patch	patch[4];
};

FIXTURE(errors)
{
	int dev[NSTATE];
	uint64_t late[NLATE];
};

static uint32_t make_pmcs(int dev, uint64_t *late)
{
	struct hwpmc_allocate a[5] = {
		pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
		pmc_clock(100),
		pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
		pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
		pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
	};
	unsigned int i, bad = 0;

	a[4].cpu = 0;
	for (i = 0; i < 5; i++) {
		bad |= !!dev_allocate(dev, &a[i]);
		late[COUNTER + i] = a[i].id;
	}
	bad |= dev_start(dev, late[RUNNING]) || dev_start(dev, late[STOPPED]);
	bad |= !!dev_stop(dev, late[STOPPED]);
	return bad;
}

FIXTURE_SETUP(errors)
{
	static unsigned char zeros[64];
	static unsigned char junk[64] = { [0 ... 63] = 0x5A };
	unsigned int i;

	for (i = 0; i < NSTATE; i++) {
		self->dev[i] = dev_open();
		ASSERT_LE(0, self->dev[i]);
	}
	ASSERT_EQ(0, make_pmcs(self->dev[OWNER], self->late));
	/* rows are handed out in turn: the same ids again */
	ASSERT_EQ(0, make_pmcs(self->dev[LOGGING], self->late));
	self->late[FILE_FD] = temp_file();
	self->late[RDONLY_FD] = open("/proc/self/exe", O_RDONLY);
	self->late[DIR_FD] = open("/tmp", O_RDONLY | O_DIRECTORY);
	self->late[PATH_FD] = open("/tmp", O_PATH);
	self->late[NULL_FD] = open("/dev/null", O_WRONLY);
	self->late[EVENT_FD] = eventfd(0, 0);
	self->late[DEVICE_FD] = self->dev[FRESH];
	self->late[JUNK_PTR] = (uintptr_t)junk;
	self->late[ZERO_PTR] = (uintptr_t)zeros;
	self->late[NO_PTR] = 8;
	for (i = FILE_FD; i <= DEVICE_FD; i++)
		ASSERT_LE(0, (int)self->late[i]);
	ASSERT_EQ(0, dev_configure(self->dev[LOGGING], temp_file()));
}

FIXTURE_TEARDOWN(errors)
{
}

static void apply(void *arg, const struct patch *p, const uint64_t *late)
{
	uint64_t value = p->value;

	if ((value & (0xFFFFFFULL << 40)) == LATE)
		value = late[value & 0xFF];
	memcpy((char *)arg + p->offset, &value, p->size);
}

static uint64_t failures(int dev)
{
	struct hwpmc_driverstats st;

	return dev_stats(dev, HWPMC_STATS_OWNER, &st) ? UINT64_MAX :
							st.syscall_errors;
}

static int do_call(const struct call *c, int dev, const uint64_t *late)
{
	unsigned char arg[512] = {};
	unsigned int i;

	if (c->cmd == HWPMC_IOC_PMCALLOCATE) {
		struct hwpmc_allocate a = pmc_clock(100);

		memcpy(arg, &a, sizeof(a));
	}
	for (i = 0; i < 4; i++)
		apply(arg, &c->patch[i], late);
	return dev_ioctl(dev, c->cmd, arg);
}

static void run_calls(struct __test_metadata *_metadata, const int *devs,
		      const uint64_t *late, const struct call *calls,
		      unsigned int n)
{
	uint64_t before, after;
	unsigned int i;
	int got;

	for (i = 0; i < n; i++) {
		const struct call *c = &calls[i];

		before = failures(devs[c->state]);
		got = do_call(c, devs[c->state], late);
		after = failures(devs[c->state]);
		EXPECT_EQ(c->want, got)
			TH_LOG("%s: %s, not %s", c->what, strerror(-got),
			       strerror(-c->want));
		EXPECT_EQ(before + !!got, after)
			TH_LOG("%s: syscall_errors %" PRIu64 " -> %" PRIu64,
			       c->what, before, after);
	}
}

#define RUN_CALLS(table)						\
	run_calls(_metadata, self->dev, self->late, table, ARRAY_SIZE(table))

/* An id that could be one, and some that cannot. */
#define ID_FREE		HWPMC_ID(0xFFF, HWPMC_MODE_SC, HWPMC_CLASS_SOFT, 77)
#define ID_NO_CLASS	HWPMC_ID(0xFFF, HWPMC_MODE_SC, 0, 0)
#define ID_NO_MODE	HWPMC_ID(0xFFF, 7, HWPMC_CLASS_SOFT, 0)
#define ID_OTHER_CPU	HWPMC_ID(3, HWPMC_MODE_SC, HWPMC_CLASS_SOFT, 0)

TEST_F(errors, no_operation)
{
	static const struct call calls[] = {
		{ "another magic", FRESH, _IO('x', 1), -ENOTTY },
		{ "a hole", FRESH, _IO(HWPMC_IOC_MAGIC, 5), -ENOTTY },
		{ "before ours", FRESH, _IO(HWPMC_IOC_MAGIC, 63), -ENOTTY },
		{ "behind the last", FRESH, _IO(HWPMC_IOC_MAGIC, 65), -ENOTTY },
		{ "the highest", FRESH, _IO(HWPMC_IOC_MAGIC, 255), -ENOTTY },
		{ "wrong direction", FRESH,
		  _IOR(HWPMC_IOC_MAGIC, 0, struct hwpmc_configurelog),
		  -ENOTTY },
		{ "no direction", LOGGING, _IO(HWPMC_IOC_MAGIC, 14), -ENOTTY },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, log)
{
	static const struct call calls[] = {
#define CONF	HWPMC_IOC_CONFIGURELOG
		{ "end of no log", FRESH, CONF, -EINVAL, { L(fd, -1) } },
		{ "end of no log", OWNER, CONF, -EINVAL, { L(fd, -77) } },
		{ "fd not open", FRESH, CONF, -EBADF, { L(fd, NO_FD) } },
		{ "fd to read", FRESH, CONF, -EBADF, { L(fd, LATER(RDONLY_FD)) } },
		{ "directory", FRESH, CONF, -EBADF, { L(fd, LATER(DIR_FD)) } },
		{ "O_PATH", FRESH, CONF, -EBADF, { L(fd, LATER(PATH_FD)) } },
		{ "device", FRESH, CONF, -EINVAL, { L(fd, LATER(DEVICE_FD)) } },
		{ "null", FRESH, CONF, -EINVAL, { L(fd, LATER(NULL_FD)) } },
		{ "eventfd", FRESH, CONF, -EINVAL, { L(fd, LATER(EVENT_FD)) } },
		{ "flags", FRESH, CONF, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(flags, 1) } },
		{ "flags before fd", FRESH, CONF, -EINVAL,
		  { L(fd, NO_FD), L(flags, 1U << 31) } },
		{ "busy", LOGGING, CONF, -EBUSY, { L(fd, LATER(FILE_FD)) } },
		{ "busy before fd", LOGGING, CONF, -EBUSY, { L(fd, NO_FD) } },
#define ROTA	HWPMC_IOC_ROTATELOG
		{ "no log", OWNER, ROTA, -EINVAL, { L(fd, LATER(FILE_FD)) } },
		{ "no log before fd", OWNER, ROTA, -EINVAL, { L(fd, NO_FD) } },
		{ "flags", LOGGING, ROTA, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(flags, 1) } },
		{ "fd not open", LOGGING, ROTA, -EBADF, { L(fd, NO_FD) } },
		{ "negative fd", LOGGING, ROTA, -EBADF, { L(fd, -1) } },
		{ "to read", LOGGING, ROTA, -EBADF, { L(fd, LATER(RDONLY_FD)) } },
		{ "device", LOGGING, ROTA, -EINVAL, { L(fd, LATER(DEVICE_FD)) } },
		{ "null", LOGGING, ROTA, -EINVAL, { L(fd, LATER(NULL_FD)) } },
		{ "flush of no log", FRESH, HWPMC_IOC_FLUSHLOG, -EINVAL },
		{ "flush of no log", OWNER, HWPMC_IOC_FLUSHLOG, -EINVAL },
		{ "flush", LOGGING, HWPMC_IOC_FLUSHLOG, 0 },
		{ "close of no log", FRESH, HWPMC_IOC_CLOSELOG, -EINVAL },
#define WRIT	HWPMC_IOC_WRITELOG
		{ "word without a log", OWNER, WRIT, -EINVAL, { W(userdata, 5) } },
		{ "word", LOGGING, WRIT, 0, { W(userdata, 5) } },
		{ "word and records", LOGGING, WRIT, -EINVAL,
		  { W(userdata, 5), W(len, 64), W(records, LATER(ZERO_PTR)) } },
		{ "records without length", LOGGING, WRIT, -EINVAL,
		  { W(records, LATER(ZERO_PTR)) } },
		{ "records without a log", OWNER, WRIT, -EINVAL,
		  { W(len, 64), W(records, LATER(JUNK_PTR)) } },
		{ "too long without a log", OWNER, WRIT, -EINVAL,
		  { W(len, HWPMC_WRITELOG_MAX + 1), W(records, LATER(NO_PTR)) } },
		{ "too long", LOGGING, WRIT, -E2BIG,
		  { W(len, HWPMC_WRITELOG_MAX + 4), W(records, LATER(NO_PTR)) } },
		{ "longest", LOGGING, WRIT, -E2BIG,
		  { W(len, UINT32_MAX), W(records, LATER(NO_PTR)) } },
		{ "no memory there", LOGGING, WRIT, -EFAULT,
		  { W(len, 64), W(records, LATER(NO_PTR)) } },
		{ "kernel memory", LOGGING, WRIT, -EFAULT,
		  { W(len, 64), W(records, 0xFFFFFFFF81000000ULL) } },
		{ "junk", LOGGING, WRIT, -EINVAL,
		  { W(len, 64), W(records, LATER(JUNK_PTR)) } },
		{ "zeros", LOGGING, WRIT, -EINVAL,
		  { W(len, 64), W(records, LATER(ZERO_PTR)) } },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, information)
{
#define GETS	HWPMC_IOC_GETDRIVERSTATS
#define VERS	HWPMC_IOC_GETMODULEVERSION
	static const struct call calls[] = {
		{ "cpuinfo", FRESH, HWPMC_IOC_GETCPUINFO, 0 },
		{ "module's", FRESH, GETS, 0 },
		{ "owner's", FRESH, GETS, 0, { P(hwpmc_driverstats, scope, 1) } },
		{ "scope", FRESH, GETS, -EINVAL,
		  { P(hwpmc_driverstats, scope, 2) } },
		{ "reserved", FRESH, GETS, -EINVAL,
		  { P(hwpmc_driverstats, reserved, 1) } },
		{ "any client", FRESH, VERS, 0 },
		{ "older", FRESH, VERS, 0,
		  { P(hwpmc_moduleversion, version, 0x09010203) } },
		{ "same major", FRESH, VERS, 0,
		  { P(hwpmc_moduleversion, version, 0x0A0F0000) } },
		{ "newer", FRESH, VERS, -EPROTONOSUPPORT,
		  { P(hwpmc_moduleversion, version, 0x0B000000) } },
		{ "newest", FRESH, VERS, -EPROTONOSUPPORT,
		  { P(hwpmc_moduleversion, version, UINT32_MAX) } },
		{ "reserved", FRESH, VERS, -EINVAL,
		  { P(hwpmc_moduleversion, reserved, 1),
		    P(hwpmc_moduleversion, version, 0x0B000000) } },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, allocate)
{
#define ALLO	HWPMC_IOC_PMCALLOCATE
	static const struct call calls[] = {
		{ "unknown mode", FRESH, ALLO, -EINVAL, { A(mode, 4) } },
		{ "wild mode", FRESH, ALLO, -EINVAL, { A(mode, UINT32_MAX) } },
		{ "high CPU", FRESH, ALLO, -EINVAL, { A(cpu, 1 << 20) } },
		{ "low CPU", FRESH, ALLO, -EINVAL, { A(cpu, -3) } },
		{ "system without CPU", FRESH, ALLO, -EINVAL, { A(cpu, -1) } },
		{ "process with CPU", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TS), A(cpu, 0) } },
		{ "process on all CPUs", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TC), A(flags, 0) } },
		{ "unknown flag", FRESH, ALLO, -EINVAL, { A(flags, 1U << 30) } },
		{ "flag of PMCRW", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_OLDVALUE) } },
		{ "switches of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_LOG_PROCCSW) } },
		{ "exits of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_LOG_PROCEXIT) } },
		{ "descendants of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_DESCENDANTS) } },
		{ "chains of a counter", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC) } },
		{ "user chain alone", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_USERCALLCHAIN) } },
		{ "no class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0) } },
		{ "unknown class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0x10F) } },
		{ "edge", FRESH, ALLO, -EOPNOTSUPP, { A(caps, HWPMC_CAP_EDGE) } },
		{ "unknown capability", FRESH, ALLO, -EOPNOTSUPP,
		  { A(caps, 1U << 31) } },
		{ "process PMC", FRESH, ALLO, -EOPNOTSUPP,
		  { A(mode, HWPMC_MODE_TS), A(cpu, -1) } },
		{ "tracepoint", FRESH, ALLO, -EOPNOTSUPP,
		  { A(type, PERF_TYPE_TRACEPOINT) } },
		{ "breakpoint", FRESH, ALLO, -EOPNOTSUPP,
		  { A(type, PERF_TYPE_BREAKPOINT) } },
		{ "other PMU", FRESH, ALLO, -EOPNOTSUPP, { A(type, 10) } },
		{ "no such event", FRESH, ALLO, -ENOENT, { A(config, 999) } },
		{ "reserved", FRESH, ALLO, -EINVAL, { A(reserved, 1) } },
		{ "control character", FRESH, ALLO, -EINVAL,
		  { A(name[0], '\n') } },
		{ "eighth bit", FRESH, ALLO, -EINVAL, { A(name[1], 0xC3) } },
		{ "period too long for perf", FRESH, ALLO, -EINVAL,
		  { A(count, 1ULL << 63) } },
		/* two faults: the first rule speaks */
		{ "flag, capability", FRESH, ALLO, -EINVAL,
		  { A(flags, 1U << 30), A(caps, HWPMC_CAP_EDGE) } },
		{ "class, capability", FRESH, ALLO, -EINVAL,
		  { A(pmc_class, 1), A(caps, HWPMC_CAP_EDGE) } },
		{ "process flags, capability", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_DESCENDANTS), A(caps, HWPMC_CAP_EDGE) } },
		{ "mode, type", FRESH, ALLO, -EINVAL,
		  { A(mode, 9), A(type, PERF_TYPE_TRACEPOINT) } },
		{ "CPU, capability", FRESH, ALLO, -EINVAL,
		  { A(cpu, 1 << 20), A(caps, HWPMC_CAP_EDGE) } },
		{ "type, event", FRESH, ALLO, -EOPNOTSUPP,
		  { A(type, 10), A(config, 999) } },
		/* nothing has made it an owner yet */
		{ "not an owner", FRESH, HWPMC_IOC_PMCSTART, -ESRCH,
		  { S(id, ID_FREE) } },
	};
	struct hwpmc_allocate a = pmc_clock(100);

	RUN_CALLS(calls);
	memset(a.name, 'x', sizeof(a.name));
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev[FRESH], &a));
	a = pmc_counter(PERF_TYPE_HARDWARE, 9999);
	EXPECT_NE(0, dev_allocate(self->dev[FRESH], &a));
}

/* What is said of an id is the same for all that take one. */
TEST_F(errors, ids)
{
	static const unsigned long cmds[] = {
		HWPMC_IOC_PMCRELEASE, HWPMC_IOC_PMCSTART, HWPMC_IOC_PMCSTOP,
		HWPMC_IOC_PMCSETCOUNT, HWPMC_IOC_PMCRW,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		/* PMCRW wants flags first: they are the second word */
		uint32_t second = cmds[i] == HWPMC_IOC_PMCRW ?
				  HWPMC_F_OLDVALUE : 0;
		struct patch two = S(reserved, second);
		struct call calls[] = {
			{ "owner of nothing", FRESH, cmds[i], -ESRCH,
			  { S(id, ID_FREE), two } },
			{ "no class", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_NO_CLASS), two } },
			{ "no mode", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_NO_MODE), two } },
			{ "all ones", FRESH, cmds[i], -EINVAL,
			  { S(id, UINT32_MAX), two } },
			{ "free row", OWNER, cmds[i], -EINVAL,
			  { S(id, ID_FREE), two } },
			{ "row with another CPU", OWNER, cmds[i], -EINVAL,
			  { S(id, ID_OTHER_CPU), two } },
			{ "unknown second word", OWNER, cmds[i], -EINVAL,
			  { S(id, LATER(STOPPED)), S(reserved, 0x100) } },
			{ "second word before id", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_FREE), S(reserved, 0x100) } },
		};

		RUN_CALLS(calls);
	}
}

TEST_F(errors, life)
{
#define RW	HWPMC_IOC_PMCRW
#define SETC	HWPMC_IOC_PMCSETCOUNT
#define OLDV	HWPMC_F_OLDVALUE
#define NEWV	HWPMC_F_NEWVALUE
	static const struct call calls[] = {
		{ "start without a log", OWNER, HWPMC_IOC_PMCSTART, -EBADFD,
		  { S(id, LATER(SAMPLER)) } },
		{ "start again", OWNER, HWPMC_IOC_PMCSTART, 0,
		  { S(id, LATER(RUNNING)) } },
		{ "stop before start", OWNER, HWPMC_IOC_PMCSTOP, -EINVAL,
		  { S(id, LATER(COUNTER)) } },
		{ "still not running", OWNER, HWPMC_IOC_PMCSTOP, -EINVAL,
		  { S(id, LATER(SAMPLER)) } },
		{ "stop again", OWNER, HWPMC_IOC_PMCSTOP, 0,
		  { S(id, LATER(STOPPED)) } },
		{ "set while running", OWNER, SETC, -EBUSY,
		  { C(id, LATER(RUNNING)), C(count, 5) } },
		{ "no period", OWNER, SETC, -EINVAL, { C(id, LATER(SAMPLER)) } },
		{ "period too long for perf", OWNER, SETC, -EINVAL,
		  { C(id, LATER(SAMPLER)), C(count, 1ULL << 63) } },
		{ "period", OWNER, SETC, 0,
		  { C(id, LATER(SAMPLER)), C(count, 10000000) } },
		{ "count", OWNER, SETC, 0,
		  { C(id, LATER(STOPPED)), C(count, UINT64_MAX) } },
		{ "neither old nor new", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(cpu, -2) } },
		{ "neither, and no id", OWNER, RW, -EINVAL, { R(id, ID_FREE) } },
		{ "reserved", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, -2),
		    R(reserved, 1) } },
		{ "new while running", OWNER, RW, -EBUSY,
		  { R(id, LATER(RUNNING)), R(flags, OLDV | NEWV), R(cpu, -2) } },
		{ "old while running", OWNER, RW, 0,
		  { R(id, LATER(RUNNING)), R(flags, OLDV), R(cpu, -2) } },
		{ "new of one CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, NEWV), R(cpu, 0) } },
		{ "no CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, -1) } },
		{ "high CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, 1 << 20) } },
		{ "not its CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(SINGLE)), R(flags, OLDV), R(cpu, 1) } },
		{ "its CPU", OWNER, RW, 0,
		  { R(id, LATER(SINGLE)), R(flags, OLDV), R(cpu, 0) } },
		{ "release", OWNER, HWPMC_IOC_PMCRELEASE, 0,
		  { S(id, LATER(RUNNING)) } },
		{ "release again", OWNER, HWPMC_IOC_PMCRELEASE, -EINVAL,
		  { S(id, LATER(RUNNING)) } },
		{ "start of a released one", OWNER, HWPMC_IOC_PMCSTART, -EINVAL,
		  { S(id, LATER(RUNNING)) } },
	};

	RUN_CALLS(calls);
}

/* Each argument: too long, longer, shorter, unreadable, unwritable. */
struct sized {
	unsigned long	cmd;
	int		want;		/* of zeros */
	int		want_short;	/* of the first word only */
};

static const struct sized sized[] = {
	{ HWPMC_IOC_CONFIGURELOG,	-EBUSY,		-EBUSY },
	{ HWPMC_IOC_ROTATELOG,		-EBADF,		-EBADF },
	{ HWPMC_IOC_WRITELOG,		0,		0 },
	{ HWPMC_IOC_GETDRIVERSTATS,	0,		0 },
	{ HWPMC_IOC_GETMODULEVERSION,	0,		0 },
	{ HWPMC_IOC_PMCALLOCATE,	-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCRELEASE,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSTART,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSTOP,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSETCOUNT,	-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCRW,		-EINVAL,	-EINVAL },
};

static unsigned long resized(unsigned long cmd, int size)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
}

TEST_F(errors, sizes)
{
	unsigned char arg[1024];
	unsigned int i;

	/* for ROTATELOG and CONFIGURELOG: an fd that is not open for writing */
	close(0);
	ASSERT_EQ(0, open("/proc/self/exe", O_RDONLY));
	for (i = 0; i < ARRAY_SIZE(sized); i++) {
		unsigned long cmd = sized[i].cmd;
		int dev = self->dev[LOGGING], size = _IOC_SIZE(cmd);

		memset(arg, 0, sizeof(arg));
		EXPECT_EQ(sized[i].want, dev_ioctl(dev, cmd, arg))
			TH_LOG("operation %ld", _IOC_NR(cmd));
		memset(arg, 0, sizeof(arg));
		EXPECT_EQ(sized[i].want,
			  dev_ioctl(dev, resized(cmd, size + 64), arg))
			TH_LOG("operation %ld, longer", _IOC_NR(cmd));
		memset(arg, 0, sizeof(arg));
		EXPECT_EQ(sized[i].want_short,
			  dev_ioctl(dev, resized(cmd, 4), arg))
			TH_LOG("operation %ld, shorter", _IOC_NR(cmd));
		memset(arg, 0, sizeof(arg));
		arg[size + 63] = 1;
		EXPECT_EQ(-E2BIG, dev_ioctl(dev, resized(cmd, size + 64), arg))
			TH_LOG("operation %ld, more than we know",
			       _IOC_NR(cmd));
		EXPECT_EQ(-EFAULT, dev_ioctl(dev, cmd, (void *)8))
			TH_LOG("operation %ld, no argument", _IOC_NR(cmd));
	}
}

/* A shorter structure gets no more than it has room for. */
TEST_F(errors, short_answer)
{
	struct hwpmc_cpuinfo info;

	memset(&info, 0x55, sizeof(info));
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH],
			       resized(HWPMC_IOC_GETCPUINFO, 8), &info));
	EXPECT_EQ(PMCLOG_CPUTYPE_GENERIC, info.cputype);
	EXPECT_EQ(0x55555555, info.ncpu_online);
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH], HWPMC_IOC_GETCPUINFO, &info));
	EXPECT_LE(info.ncpu_online, info.ncpu);
	EXPECT_EQ(HWPMC_NROW, info.npmc);
	EXPECT_EQ(1, info.nclass);
	EXPECT_EQ(HWPMC_CLASS_SOFT, info.classes[0].pmc_class);
	EXPECT_TRUE(info.classes[0].caps & HWPMC_CAP_INTERRUPT);
	EXPECT_NE(0, info.cpuid[0]);
}

/* The answer cannot be delivered: an allocated PMC is gone again. */
TEST_F(errors, unwritable)
{
	long page = sysconf(_SC_PAGESIZE);
	void *arg = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hwpmc_allocate a = pmc_clock(100);
	int dev = self->dev[FRESH], i, n = 0;

	ASSERT_NE(MAP_FAILED, arg);
	memcpy(arg, &a, sizeof(a));
	ASSERT_EQ(0, mprotect(arg, page, PROT_READ));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(-EFAULT, dev_ioctl(dev, HWPMC_IOC_PMCALLOCATE, arg));
	EXPECT_EQ(-EFAULT, dev_ioctl(dev, HWPMC_IOC_GETCPUINFO, arg));
	a = pmc_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.cpu = 0;
	while (!dev_allocate(dev, &a))
		n++;
	EXPECT_EQ(HWPMC_NROW, n);
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &a));
	/* what is refused anyhow is refused for that, not for want of a row */
	a.caps = HWPMC_CAP_EDGE;
	EXPECT_EQ(-EOPNOTSUPP, dev_allocate(dev, &a));
}

/* GETDRIVERSTATS of the module sums up what owners have failed in. */
TEST_F(errors, module_counts)
{
	struct hwpmc_driverstats before, after;
	int i;

	ASSERT_EQ(0, dev_stats(self->dev[OWNER], HWPMC_STATS_MODULE, &before));
	for (i = 0; i < 7; i++)
		dev_flush(self->dev[FRESH]);
	close(self->dev[FRESH]);
	ASSERT_EQ(0, dev_stats(self->dev[OWNER], HWPMC_STATS_MODULE, &after));
	EXPECT_EQ(before.syscall_errors + 7, after.syscall_errors);
	EXPECT_EQ(before.syscalls + 8, after.syscalls);
}

TEST_HARNESS_MAIN
