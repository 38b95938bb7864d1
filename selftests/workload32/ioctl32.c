// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program without a C library that uses the device as a 64-bit one
 * would.  Its exit status is the number of the first step that failed, or 0.
 */

/* What <linux/types.h> and <linux/ioctl.h> want of asm/ is not there for -m32. */
#define _LINUX_TYPES_H
#define _LINUX_IOCTL_H
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
#include <asm-generic/ioctl.h>

#include <linux/hwpmc.h>

#define NR_EXIT		1
#define NR_OPEN		5
#define NR_IOCTL	54
#define O_RDWR		2
#define CPU_CLOCK	0
#define TYPE_SOFTWARE	1

void _start(void);
int run(void);
void *memset(void *p, int c, unsigned int n);

static int call(int nr, long a, long b, long c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a" (ret)
			 : "a" (nr), "b" (a), "c" (b), "d" (c) : "memory");
	return ret;
}

static int op(int dev, unsigned long cmd, void *arg)
{
	return call(NR_IOCTL, dev, cmd, (long)arg);
}

/* The compiler may ask for it. */
void *memset(void *p, int c, unsigned int n)
{
	char *q = p;

	while (n--)
		*q++ = c;
	return p;
}

int run(void)
{
	struct hwpmc_allocate a = {
		.mode = HWPMC_MODE_SC,
		.cpu = HWPMC_CPU_ALL,
		.pmc_class = HWPMC_CLASS_SOFT,
		.type = TYPE_SOFTWARE,
		.config = CPU_CLOCK,
		.count = 1ULL << 40,
	};
	struct hwpmc_driverstats st = { .scope = HWPMC_STATS_OWNER };
	struct hwpmc_rw rw = {
		.flags = HWPMC_F_OLDVALUE,
		.cpu = HWPMC_CPU_ALL,
	};
	struct hwpmc_pmcinfo_row rows[2];
	struct hwpmc_pmcinfo pmcs = { .nrows = 2 };
	struct hwpmc_admin admin = { .state = HWPMC_STATE_DISABLED };
	struct hwpmc_dyneventinfo events = { .pmc_class = HWPMC_CLASS_SOFT };
	struct hwpmc_dynevent event;
	struct hwpmc_getmsr msr = {};
	struct hwpmc_cpuinfo info;
	struct hwpmc_simple id = {};
	volatile unsigned int i;
	int dev;

	dev = call(NR_OPEN, (long)"/dev/hwpmc", O_RDWR, 0);
	if (dev < 0)
		return 1;
	if (op(dev, HWPMC_IOC_GETCPUINFO, &info) || info.npmc != HWPMC_NROW)
		return 2;
	if (op(dev, HWPMC_IOC_PMCALLOCATE, &a))
		return 3;
	id.id = a.id;
	if (op(dev, HWPMC_IOC_PMCSTART, &id))
		return 4;
	for (i = 0; i < 1000000; i++)
		;
	if (op(dev, HWPMC_IOC_PMCSTOP, &id))
		return 5;
	rw.id = a.id;
	if (op(dev, HWPMC_IOC_PMCRW, &rw) || rw.value <= 1ULL << 40)
		return 6;
	if (op(dev, HWPMC_IOC_PMCRELEASE, &id))
		return 7;
	if (op(dev, HWPMC_IOC_PMCRELEASE, &id) != -22)
		return 8;
	if (op(dev, HWPMC_IOC_GETDRIVERSTATS, &st) || st.syscalls != 8 ||
	    st.syscall_errors != 1)
		return 9;
	if (op(dev, HWPMC_IOC_PMCALLOCATE, &a))
		return 10;
	admin.row = HWPMC_ID_ROW(a.id);
	if (op(dev, HWPMC_IOC_PMCADMIN, &admin) != -16)
		return 11;
	pmcs.rows = (unsigned long)rows;
	if (op(dev, HWPMC_IOC_GETPMCINFO, &pmcs) || pmcs.nrows != 1 ||
	    rows[0].id != a.id || rows[0].type != TYPE_SOFTWARE)
		return 12;
	events.nevents = 1;
	events.events = (unsigned long)&event;
	if (op(dev, HWPMC_IOC_GETDYNEVENTINFO, &events) ||
	    events.nevents < 2 || !event.name[0] || event.reserved)
		return 13;
	if (op(dev, HWPMC_IOC_PMCGETMSR, &msr) != -38)
		return 14;
	return 0;
}

void _start(void)
{
	call(NR_EXIT, run(), 0, 0);
}
