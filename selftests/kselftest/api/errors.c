// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every error of every operation, in the order of the checks, and what a
 * failure leaves behind: nothing but a count.  For PMCs see errors_pmcs.c.
 */
#include "errors.h"

TEST_F(errors, no_operation)
{
	static const struct call calls[] = {
		{ "another magic", FRESH, _IO('x', 1), -ENOTTY },
		{ "a hole", FRESH, _IO(HWPMC_IOC_MAGIC, 19), -ENOTTY },
		{ "before ours", FRESH, _IO(HWPMC_IOC_MAGIC, 63), -ENOTTY },
		{ "behind the last", FRESH, _IO(HWPMC_IOC_MAGIC, 75), -ENOTTY },
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

TEST_F(errors, budget)
{
#define SETB	HWPMC_IOC_SETBUDGET
#define B(field, value)	P(hwpmc_setbudget, field, value)
	static const struct call calls[] = {
		{ "none was set", FRESH, HWPMC_IOC_GETBUDGET, 0 },
		{ "none", FRESH, SETB, 0 },
		{ "the least", FRESH, SETB, 0, { B(ppm, 1) } },
		{ "all", FRESH, SETB, 0, { B(ppm, 1000000) } },
		{ "more than all", FRESH, SETB, -EINVAL, { B(ppm, 1000001) } },
		{ "far more", FRESH, SETB, -EINVAL, { B(ppm, UINT32_MAX) } },
		{ "reserved", FRESH, SETB, -EINVAL,
		  { B(ppm, 1000), B(reserved, 1) } },
		{ "PMCs", OWNER, SETB, -EBUSY, { B(ppm, 1000) } },
		{ "PMCs, none", OWNER, SETB, -EBUSY },
		{ "PMCs and a log", LOGGING, SETB, -EBUSY, { B(ppm, 1000) } },
		{ "reserved before busy", OWNER, SETB, -EINVAL,
		  { B(reserved, 1U << 31) } },
		{ "more than all before busy", LOGGING, SETB, -EINVAL,
		  { B(ppm, 1000001) } },
		{ "an owner's", OWNER, HWPMC_IOC_GETBUDGET, 0 },
	};
	struct hwpmc_getbudget b = {};

	RUN_CALLS(calls);
	/* what was refused has changed nothing */
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH], HWPMC_IOC_GETBUDGET, &b));
	EXPECT_EQ(1000000, b.ppm);
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev[FRESH], HWPMC_IOC_GETBUDGET,
				     (void *)8));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev[FRESH], SETB, (void *)8));
}

TEST_F(errors, cpus)
{
#define SETC	HWPMC_IOC_SETCPUS
#define CM(field, value)	P(hwpmc_setcpus, field, value)
	static const struct call calls[] = {
		{ "all", FRESH, SETC, 0 },
		{ "reserved", FRESH, SETC, -EINVAL, { CM(reserved, 1) } },
		{ "a mask without length", FRESH, SETC, -EINVAL,
		  { CM(mask, LATER(ZERO_PTR)) } },
		{ "no CPU", FRESH, SETC, -EINVAL,
		  { CM(mask, LATER(ZERO_PTR)), CM(len, 64) } },
		{ "junk has CPUs", FRESH, SETC, 0,
		  { CM(mask, LATER(JUNK_PTR)), CM(len, 8) } },
		{ "no memory there", FRESH, SETC, -EFAULT,
		  { CM(mask, LATER(NO_PTR)), CM(len, 8) } },
		{ "kernel memory", FRESH, SETC, -EFAULT,
		  { CM(mask, 0xFFFFFFFF81000000ULL), CM(len, UINT32_MAX) } },
		{ "PMCs", OWNER, SETC, -EBUSY,
		  { CM(mask, LATER(JUNK_PTR)), CM(len, 8) } },
		{ "PMCs, all", OWNER, SETC, -EBUSY },
		{ "PMCs and a log", LOGGING, SETC, -EBUSY },
		{ "busy before memory", OWNER, SETC, -EBUSY,
		  { CM(mask, LATER(NO_PTR)), CM(len, 8) } },
		{ "reserved before busy", LOGGING, SETC, -EINVAL,
		  { CM(reserved, 1U << 31) } },
	};
	struct hwpmc_allocate a = pmc_process_faults(0);

	RUN_CALLS(calls);
	/* what was refused has changed nothing: the set refuses process modes */
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev[FRESH], &a));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev[FRESH], SETC, (void *)8));
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
	/* the fixture has PMCs */
	{ HWPMC_IOC_SETBUDGET,		-EBUSY,		-EBUSY },
	{ HWPMC_IOC_SETCPUS,		-EBUSY,		-EBUSY },
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
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	struct hwpmc_getbudget b;
	struct hwpmc_cpuinfo info;

	memset(&b, 0x55, sizeof(b));
	ASSERT_EQ(0, dev_ioctl(self->dev[FRESH],
			       resized(HWPMC_IOC_GETBUDGET, 4), &b));
	EXPECT_EQ(0, b.ppm);
	EXPECT_EQ(0x55555555, b.scale);
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
	/* these, and no others, can be asked for; a count is never precise */
	for (a.caps = 1; a.caps; a.caps <<= 1) {
		EXPECT_EQ(a.caps == HWPMC_CAP_PRECISE ? -EINVAL :
			  a.caps & info.classes[0].caps ? 0 : -EOPNOTSUPP,
			  dev_allocate(self->dev[FRESH], &a))
			TH_LOG("capability %x", a.caps);
	}
	/* a program from before branches */
	a = pmc_counter(FAULTS);
	a.precise = 0x55555555;
	EXPECT_EQ(0, dev_ioctl(self->dev[FRESH],
			       resized(HWPMC_IOC_PMCALLOCATE,
				       offsetof(struct hwpmc_allocate, branch)), &a));
	EXPECT_NE(0, a.id);
	EXPECT_EQ(0x55555555, a.precise);
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
	a = pmc_counter(FAULTS);
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
