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
#define F(field, v)	P(hwpmc_filter, field, v)

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

		a.flags &= ~HWPMC_F_INCLUDE_OWNER;	/* of one mode only */
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
		{ "a hole", FRESH, _IO(HWPMC_IOC_MAGIC, 19), -ENOTTY },
		{ "before ours", FRESH, _IO(HWPMC_IOC_MAGIC, 63), -ENOTTY },
		{ "behind the last", FRESH, _IO(HWPMC_IOC_MAGIC, 70), -ENOTTY },
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
		  { L(fd, LATER(FILE_FD)), L(flags, 2) } },
		{ "flags of an end", LOGGING, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_PACKED) } },
		{ "flags before fd", FRESH, CONF, -EINVAL,
		  { L(fd, NO_FD), L(flags, 1U << 31) } },
		{ "size", FRESH, CONF, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(size, 1 << 20) } },
		{ "size of no log", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(size, 1 << 20) } },
		{ "stream into a file", FRESH, CONF, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(flags, HWPMC_LOG_STREAM) } },
		{ "stream of other flags", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_STREAM | 1U << 31) } },
		{ "stream and flight", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_STREAM | HWPMC_LOG_FLIGHT),
		    L(size, 1 << 20) } },
		{ "short stream", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_STREAM), L(size, 65535) } },
		{ "long stream", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_STREAM),
		    L(size, (1ULL << 30) + 1) } },
		{ "busy stream", LOGGING, CONF, -EBUSY,
		  { L(fd, -1), L(flags, HWPMC_LOG_STREAM) } },
		{ "busy", LOGGING, CONF, -EBUSY, { L(fd, LATER(FILE_FD)) } },
		{ "busy before fd", LOGGING, CONF, -EBUSY, { L(fd, NO_FD) } },
#define ROTA	HWPMC_IOC_ROTATELOG
		{ "no log", OWNER, ROTA, -EINVAL, { L(fd, LATER(FILE_FD)) } },
		{ "no log before fd", OWNER, ROTA, -EINVAL, { L(fd, NO_FD) } },
		{ "flags", LOGGING, ROTA, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(flags, 2) } },
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
	struct hwpmc_moduleversion v = { .version = 0x09010203 };

	RUN_CALLS(calls);
	/* whatever the client's is, it learns the module's */
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH], VERS, &v));
	EXPECT_EQ(HWPMC_ABI_VERSION, v.version);
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
		{ "owner of a counter", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_INCLUDE_OWNER) } },
		{ "user chain alone", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_USERCALLCHAIN) } },
		{ "no class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0) } },
		{ "unknown class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0x10F) } },
		{ "edge", FRESH, ALLO, -EOPNOTSUPP, { A(caps, HWPMC_CAP_EDGE) } },
		{ "unknown capability", FRESH, ALLO, -EOPNOTSUPP,
		  { A(caps, 1U << 31) } },
		/* those that there are: sources.c */
		{ "no tracepoint of a process", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TS), A(cpu, -1),
		    A(type, PERF_TYPE_TRACEPOINT), A(config, 1U << 30) } },
		{ "no tracepoint", FRESH, ALLO, -EINVAL,
		  { A(type, PERF_TYPE_TRACEPOINT), A(config, 1U << 30) } },
		{ "breakpoint of no kind", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, 0),
		    A(type, PERF_TYPE_BREAKPOINT) } },
		{ "kind of breakpoint", FRESH, ALLO, -EINVAL, { A(bp_type, 1) } },
		{ "raw data of a clock", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_RAW) } },
		{ "raw data of a count", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_RAW),
		    A(type, PERF_TYPE_TRACEPOINT) } },
		{ "other PMU", FRESH, ALLO, -ENOENT, { A(type, 9999) } },
		{ "last PMU", FRESH, ALLO, -ENOENT, { A(type, UINT32_MAX) } },
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
		{ "mode, type", FRESH, ALLO, -EINVAL, { A(mode, 9), A(type, 9999) } },
		{ "CPU, capability", FRESH, ALLO, -EINVAL,
		  { A(cpu, 1 << 20), A(caps, HWPMC_CAP_EDGE) } },
		{ "type, event", FRESH, ALLO, -ENOENT,
		  { A(type, 9999), A(config, 999) } },
		{ "raw data, type", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_RAW), A(type, 9999) } },
		{ "type, name", FRESH, ALLO, -EINVAL,
		  { A(type, 9999), A(name[0], '\n') } },
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

/* The conditions themselves come next. */
TEST_F(errors, filter)
{
#define FILT	HWPMC_IOC_PMCFILTER
	static const struct call calls[] = {
		{ "owner of nothing", FRESH, FILT, -ESRCH, { F(id, ID_FREE) } },
		{ "free row", OWNER, FILT, -EINVAL, { F(id, ID_FREE) } },
		{ "counter", OWNER, FILT, -EINVAL, { F(id, LATER(COUNTER)) } },
		{ "counter that runs", OWNER, FILT, -EINVAL,
		  { F(id, LATER(RUNNING)) } },
		{ "too many", OWNER, FILT, -E2BIG,
		  { F(id, LATER(SAMPLER)), F(n, HWPMC_NCONDITION + 1),
		    F(conditions, LATER(ZERO_PTR)) } },
		{ "most of all", OWNER, FILT, -E2BIG,
		  { F(id, LATER(SAMPLER)), F(n, UINT32_MAX) } },
		{ "no memory there", OWNER, FILT, -EFAULT,
		  { F(id, LATER(SAMPLER)), F(n, 1), F(conditions, LATER(NO_PTR)) } },
		{ "kernel memory", OWNER, FILT, -EFAULT,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, 0xFFFFFFFF81000000ULL) } },
		{ "zeros", OWNER, FILT, -EINVAL,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, LATER(ZERO_PTR)) } },
		{ "junk", OWNER, FILT, -EINVAL,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, LATER(JUNK_PTR)) } },
		{ "none", OWNER, FILT, 0, { F(id, LATER(SAMPLER)) } },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, filter_conditions)
{
#define COND(what_, op_, value_, comm_) \
	{ .what = HWPMC_COND_##what_, .op = op_, .value = value_, .comm = comm_ }
	static const struct {
		struct hwpmc_condition c;
		int	want;
	} conditions[] = {
		{ COND(PID, 0, 1, ""),			0 },
		{ COND(PID, 1, 0, ""),			0 },
		{ COND(TID, 1, -1, ""),			0 },
		{ COND(TID, 0, INT32_MAX, ""),		0 },
		{ COND(COMM, 0, 0, "x"),		0 },
		{ COND(COMM, 1, 0, ""),			0 },
		{ COND(COMM, 0, 0, "fifteen letters"),	0 },
		{ COND(USER, 1, 0, ""),			0 },
		{ COND(PID, 2, 1, ""),			-EINVAL },
		{ COND(PID, 0, -2, ""),			-EINVAL },
		{ COND(PID, 0, 1LL << 31, ""),		-EINVAL },
		{ COND(PID, 0, 1LL << 32, ""),		-EINVAL },
		{ COND(PID, 0, 1, "x"),			-EINVAL },
		{ COND(TID, 0, INT64_MIN, ""),		-EINVAL },
		{ COND(COMM, 0, 1, "x"),		-EINVAL },
		{ COND(COMM, 0, 0, "x\0y"),		-EINVAL },
		{ COND(COMM, 0, 0, "sixteen letters."),	-EINVAL },
		{ COND(USER, 0, 1, ""),			-EINVAL },
		{ COND(USER, 0, 0, "x"),		-EINVAL },
		{ { .what = HWPMC_COND_USER + 1 },	-EINVAL },
		{ { .what = UINT32_MAX },		-EINVAL },
		{ COND(CGROUP, 0, NO_FD, ""),		-EBADF },
		{ COND(CGROUP, 0, -1, ""),		-EBADF },
		{ COND(CGROUP, 0, 1LL << 32, ""),	-EBADF },
	};
	struct hwpmc_condition c = COND(CGROUP, 0, 0, "");
	int dev = self->dev[OWNER];
	uint32_t id = self->late[SAMPLER];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		EXPECT_EQ(conditions[i].want,
			  dev_filter(dev, id, &conditions[i].c, 1))
			TH_LOG("condition %u", i);
	}
	/* a file, and a directory of another file system */
	for (i = FILE_FD; i <= PATH_FD; i++) {
		c.value = self->late[i];
		EXPECT_EQ(-EBADF, dev_filter(dev, id, &c, 1));
	}
}

TEST_F(errors, flight)
{
#define SNAP	HWPMC_IOC_SNAPSHOT
#define EXTR	HWPMC_IOC_EXITTRIGGER
#define SN(field, value)	P(hwpmc_snapshot, field, value)
#define EX(field, value)	P(hwpmc_exittrigger, field, value)
	static const struct call calls[] = {
		{ "no size", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_FLIGHT) } },
		{ "short flight", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_FLIGHT),
		    L(size, (256 << 10) - 1) } },
		{ "long flight", FRESH, CONF, -EINVAL,
		  { L(fd, -1), L(flags, HWPMC_LOG_FLIGHT),
		    L(size, (4ULL << 30) + 1) } },
		{ "flight into a file", FRESH, CONF, -EINVAL,
		  { L(fd, LATER(FILE_FD)), L(flags, HWPMC_LOG_FLIGHT),
		    L(size, 1 << 20) } },
		{ "no log", FRESH, SNAP, -EINVAL, { SN(fd, LATER(FILE_FD)) } },
		{ "another log", LOGGING, SNAP, -EINVAL,
		  { SN(fd, LATER(FILE_FD)) } },
		{ "another log, armed", LOGGING, SNAP, -EINVAL,
		  { SN(fd, LATER(FILE_FD)), SN(flags, HWPMC_SNAPSHOT_ARM) } },
		{ "begin", FRESH, CONF, 0,
		  { L(fd, -1), L(flags, HWPMC_LOG_FLIGHT), L(size, 1 << 20) } },
		{ "busy", FRESH, CONF, -EBUSY,
		  { L(fd, -1), L(flags, HWPMC_LOG_FLIGHT), L(size, 1 << 20) } },
		{ "flags", FRESH, SNAP, -EINVAL,
		  { SN(fd, LATER(FILE_FD)), SN(flags, 2) } },
		{ "flags before fd", FRESH, SNAP, -EINVAL,
		  { SN(fd, NO_FD), SN(flags, 1U << 31) } },
		{ "negative fd", FRESH, SNAP, -EBADF, { SN(fd, -1) } },
		{ "fd not open", FRESH, SNAP, -EBADF, { SN(fd, NO_FD) } },
		{ "fd to read", FRESH, SNAP, -EBADF,
		  { SN(fd, LATER(RDONLY_FD)) } },
		{ "directory", FRESH, SNAP, -EBADF, { SN(fd, LATER(DIR_FD)) } },
		{ "device", FRESH, SNAP, -EINVAL, { SN(fd, LATER(DEVICE_FD)) } },
		{ "null", FRESH, SNAP, -EINVAL, { SN(fd, LATER(NULL_FD)) } },
		{ "nothing armed", FRESH, SNAP, -EINVAL,
		  { SN(fd, -1), SN(flags, HWPMC_SNAPSHOT_ARM) } },
		{ "rotate", FRESH, ROTA, -EINVAL, { L(fd, LATER(FILE_FD)) } },
		{ "arm", FRESH, SNAP, 0,
		  { SN(fd, LATER(FILE_FD)), SN(flags, HWPMC_SNAPSHOT_ARM) } },
		{ "disarm", FRESH, SNAP, 0,
		  { SN(fd, -1), SN(flags, HWPMC_SNAPSHOT_ARM) } },
		{ "end", FRESH, CONF, 0, { L(fd, -1) } },
		{ "ended", FRESH, SNAP, -EINVAL, { SN(fd, LATER(FILE_FD)) } },
		{ "trigger of a counter", FRESH, HWPMC_IOC_PMCALLOCATE, -EINVAL,
		  { P(hwpmc_allocate, mode, HWPMC_MODE_SC),
		    P(hwpmc_allocate, flags, HWPMC_F_TRIGGER) } },
		{ "reserved", FRESH, EXTR, -EINVAL, { EX(reserved, 1) } },
		{ "what", FRESH, EXTR, -EINVAL, { EX(what, 3) } },
		{ "negative pid", FRESH, EXTR, -EINVAL,
		  { EX(what, 1), EX(pid, -1) } },
		{ "status of no status", FRESH, EXTR, -EINVAL,
		  { EX(what, 1), EX(status, 1) } },
		{ "status out of range", FRESH, EXTR, -EINVAL,
		  { EX(what, 2), EX(status, 1 << 16) } },
		{ "pid of no process", FRESH, EXTR, -EINVAL, { EX(pid, 1) } },
		{ "never", FRESH, EXTR, 0 },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, record_and_atbase)
{
#define REC	HWPMC_IOC_RECORD
#define ATB	HWPMC_IOC_GETATBASE
	static const struct call calls[] = {
		{ "no PMCs", FRESH, REC, -ENOENT, { P(hwpmc_record, on, 1) } },
		{ "not on", FRESH, REC, -EINVAL, { P(hwpmc_record, on, 0) } },
		{ "not on", OWNER, REC, -EINVAL, { P(hwpmc_record, on, 0) } },
		{ "neither", OWNER, REC, -EINVAL, { P(hwpmc_record, on, 2) } },
		{ "on", LOGGING, REC, 0, { P(hwpmc_record, on, 1) } },
		{ "on again", LOGGING, REC, -EBUSY, { P(hwpmc_record, on, 1) } },
		{ "off", LOGGING, REC, 0, { P(hwpmc_record, on, 0) } },
		{ "off again", LOGGING, REC, -EINVAL,
		  { P(hwpmc_record, on, 0) } },
		{ "oneself", FRESH, ATB, 0 },
		{ "reserved", FRESH, ATB, -EINVAL,
		  { P(hwpmc_atbase, reserved, 1) } },
		{ "negative pid", FRESH, ATB, -EINVAL,
		  { P(hwpmc_atbase, pid, -1) } },
		{ "no process", FRESH, ATB, -ESRCH,
		  { P(hwpmc_atbase, pid, INT32_MAX) } },
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
	{ HWPMC_IOC_GETPMCINFO,		0,		0 },
	{ HWPMC_IOC_GETDYNEVENTINFO,	-EINVAL,	-EINVAL },
	/* the fixture's first row is in use */
	{ HWPMC_IOC_PMCADMIN,		-EBUSY,		-EBUSY },
	{ HWPMC_IOC_PMCALLOCATE,	-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCRELEASE,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSTART,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSTOP,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCSETCOUNT,	-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCRW,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_PMCFILTER,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_RECORD,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_GETATBASE,		0,		0 },
	{ HWPMC_IOC_SNAPSHOT,		-EINVAL,	-EINVAL },
	{ HWPMC_IOC_EXITTRIGGER,	0,		0 },
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
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE,
					      PERF_COUNT_SW_PAGE_FAULTS);
	struct hwpmc_cpuinfo info;

	memset(&info, 0x55, sizeof(info));
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH],
			       resized(HWPMC_IOC_GETCPUINFO, 8), &info));
	EXPECT_EQ(PMCLOG_CPUTYPE_GENERIC, info.cputype);
	EXPECT_EQ(0x55555555, info.ncpu_online);
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH], HWPMC_IOC_GETCPUINFO, &info));
	/* who makes a PMC on each CPU goes by these */
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_ONLN), info.ncpu_online);
	EXPECT_LE(sysconf(_SC_NPROCESSORS_CONF), info.ncpu);
	EXPECT_EQ(HWPMC_NROW, info.npmc);
	EXPECT_EQ(1, info.nclass);
	EXPECT_EQ(HWPMC_CLASS_SOFT, info.classes[0].pmc_class);
	/* a difference of two counts is right modulo this */
	EXPECT_EQ(64, info.classes[0].width);
	EXPECT_EQ(HWPMC_NROW, info.classes[0].num);
	EXPECT_TRUE(info.classes[0].caps & HWPMC_CAP_INTERRUPT);
	/* these capabilities, and no others, can be asked for */
	for (a.caps = 1; a.caps; a.caps <<= 1) {
		EXPECT_EQ(a.caps & info.classes[0].caps ? 0 : -EOPNOTSUPP,
			  dev_allocate(self->dev[FRESH], &a))
			TH_LOG("capability %x", a.caps);
	}
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
