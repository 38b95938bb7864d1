// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"

int dev_open(void)
{
	int fd = open(DEV_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int dev_ioctl(int dev, unsigned long cmd, void *arg)
{
	return ioctl(dev, cmd, arg) ? -errno : 0;
}

int dev_configure_flags(int dev, int fd, uint32_t flags)
{
	return DEV_ASK(dev, CONFIGURELOG, configurelog, .fd = fd, .flags = flags);
}

int dev_rotate_flags(int dev, int fd, uint32_t flags)
{
	return DEV_ASK(dev, ROTATELOG, configurelog, .fd = fd, .flags = flags);
}

int dev_configure(int dev, int fd)
{
	return dev_configure_flags(dev, fd, 0);
}

int dev_rotate(int dev, int fd)
{
	return dev_rotate_flags(dev, fd, 0);
}

int dev_stream(int dev, uint32_t flags, uint64_t size)
{
	return DEV_ASK(dev, CONFIGURELOG, configurelog, .fd = -1,
		       .flags = HWPMC_LOG_STREAM | flags, .size = size);
}

int dev_flight(int dev, uint64_t size, uint32_t flags)
{
	return DEV_ASK(dev, CONFIGURELOG, configurelog, .fd = -1,
		       .flags = HWPMC_LOG_FLIGHT | flags, .size = size);
}

int dev_snapshot(int dev, int fd, uint32_t flags)
{
	return DEV_ASK(dev, SNAPSHOT, snapshot, .fd = fd, .flags = flags);
}

int dev_exit_trigger(int dev, uint32_t what, int status, int pid)
{
	return DEV_ASK(dev, EXITTRIGGER, exittrigger, .what = what,
		       .status = status, .pid = pid);
}

int dev_flush(int dev)
{
	return dev_ioctl(dev, HWPMC_IOC_FLUSHLOG, NULL);
}

int dev_closelog(int dev)
{
	return dev_ioctl(dev, HWPMC_IOC_CLOSELOG, NULL);
}

int dev_userdata(int dev, uint32_t value)
{
	return DEV_ASK(dev, WRITELOG, writelog, .userdata = value);
}

int dev_bulk(int dev, const void *records, uint32_t len)
{
	return DEV_ASK(dev, WRITELOG, writelog, .len = len,
		       .records = (uintptr_t)records);
}

int dev_allocate(int dev, struct hwpmc_allocate *a)
{
	return dev_ioctl(dev, HWPMC_IOC_PMCALLOCATE, a);
}

int dev_release(int dev, uint32_t id)
{
	return DEV_ASK(dev, PMCRELEASE, simple, .id = id);
}

int dev_start(int dev, uint32_t id)
{
	return DEV_ASK(dev, PMCSTART, simple, .id = id);
}

int dev_stop(int dev, uint32_t id)
{
	return DEV_ASK(dev, PMCSTOP, simple, .id = id);
}

int dev_record(int dev, bool on, struct hwpmc_record *r)
{
	*r = (struct hwpmc_record) { .on = on, .npmc = 77, .skew = 77 };
	return dev_ioctl(dev, HWPMC_IOC_RECORD, r);
}

int dev_setcount(int dev, uint32_t id, uint64_t *count)
{
	struct hwpmc_setcount s = { .id = id, .count = *count };
	int err = dev_ioctl(dev, HWPMC_IOC_PMCSETCOUNT, &s);

	*count = s.count;
	return err;
}

int dev_attach(int dev, uint32_t id, int pid)
{
	return DEV_ASK(dev, PMCATTACH, attach, .id = id, .pid = pid);
}

int dev_detach(int dev, uint32_t id, int pid)
{
	return DEV_ASK(dev, PMCDETACH, attach, .id = id, .pid = pid);
}

bool dev_hung_up(int dev)
{
	struct pollfd fd = { .fd = dev };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLHUP);
}

int dev_filter(int dev, uint32_t id, const struct hwpmc_condition *conditions,
	       uint32_t n)
{
	return DEV_ASK(dev, PMCFILTER, filter, .id = id, .n = n,
		       .conditions = (uintptr_t)conditions);
}

int dev_rw(int dev, struct hwpmc_rw *rw)
{
	return dev_ioctl(dev, HWPMC_IOC_PMCRW, rw);
}

int dev_read(int dev, uint32_t id, int cpu, uint64_t *value)
{
	struct hwpmc_rw rw = {
		.id = id,
		.flags = HWPMC_F_OLDVALUE,
		.cpu = cpu,
	};
	int err = dev_rw(dev, &rw);

	*value = rw.value;
	return err;
}

uint64_t dev_value(int dev, uint32_t id)
{
	uint64_t value = ~0ULL;

	dev_read(dev, id, HWPMC_CPU_ALL, &value);
	return value;
}

int dev_stats(int dev, uint32_t scope, struct hwpmc_driverstats *st)
{
	memset(st, 0, sizeof(*st));
	st->scope = scope;
	return dev_ioctl(dev, HWPMC_IOC_GETDRIVERSTATS, st);
}

int dev_admin(int dev, int cpu, uint32_t row, uint32_t state)
{
	return DEV_ASK(dev, PMCADMIN, admin, .cpu = cpu, .row = row, .state = state);
}

int dev_pmcinfo(int dev, int cpu, struct hwpmc_pmcinfo_row *rows,
		uint32_t *nrows)
{
	struct hwpmc_pmcinfo info = {
		.cpu = cpu,
		.nrows = *nrows,
		.rows = (uintptr_t)rows,
	};
	int err = dev_ioctl(dev, HWPMC_IOC_GETPMCINFO, &info);

	*nrows = info.nrows;
	return err;
}

struct hwpmc_allocate pmc_counter(uint32_t type, uint64_t config)
{
	struct hwpmc_allocate a = {
		.mode = HWPMC_MODE_SC,
		.cpu = HWPMC_CPU_ALL,
		.pmc_class = HWPMC_CLASS_SOFT,
		.type = type,
		.config = config,
		.name = "test-counter",
	};

	return a;
}

struct hwpmc_allocate pmc_sampler(uint32_t type, uint64_t config,
				  uint64_t period)
{
	struct hwpmc_allocate a = pmc_counter(type, config);

	a.mode = HWPMC_MODE_SS;
	a.flags = HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN |
		  HWPMC_F_INCLUDE_OWNER;
	a.count = period;
	strcpy(a.name, "test-sampler");
	return a;
}

struct hwpmc_allocate pmc_clock(unsigned int hz)
{
	return pmc_sampler(CPU_CLOCK, 1000000000U / hz);
}

struct hwpmc_allocate pmc_process_counter(uint32_t type, uint64_t config,
					  uint32_t flags)
{
	struct hwpmc_allocate a = pmc_counter(type, config);

	a.mode = HWPMC_MODE_TC;
	a.cpu = HWPMC_CPU_ANY;
	a.flags = flags;
	return a;
}

struct hwpmc_allocate pmc_process_sampler(uint32_t type, uint64_t config,
					  uint64_t period, uint32_t flags)
{
	struct hwpmc_allocate a = pmc_sampler(type, config, period);

	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.flags = (a.flags & ~HWPMC_F_INCLUDE_OWNER) | flags;
	return a;
}

struct hwpmc_allocate pmc_process_faults(uint32_t flags)
{
	struct hwpmc_allocate a = pmc_process_sampler(FAULTS, 1, flags);

	a.caps = HWPMC_CAP_USER;
	return a;
}

struct hwpmc_allocate pmc_clock_of(uint32_t mode, uint32_t caps)
{
	struct hwpmc_allocate a = pmc_clock(100);

	a.mode = mode;
	a.caps = caps;
	if (mode != HWPMC_MODE_SS)
		a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	if (mode == HWPMC_MODE_SC || mode == HWPMC_MODE_TC)
		a.flags = 0;
	if (mode == HWPMC_MODE_TS || mode == HWPMC_MODE_TC)
		a.cpu = HWPMC_CPU_ANY;
	return a;
}

uint32_t allocated(int dev, struct hwpmc_allocate a)
{
	return dev_allocate(dev, &a) ? 0 : a.id;
}

int dev_pmc(int dev, struct hwpmc_allocate a, uint32_t *id)
{
	int err = dev_allocate(dev, &a);

	*id = a.id;
	return err;
}

int dev_run(int dev, struct hwpmc_allocate a, uint32_t *id)
{
	id = id ?: &a.id;
	return dev_pmc(dev, a, id) ?: dev_start(dev, *id);
}

int dev_run_on(int dev, struct hwpmc_allocate a, int pid, uint32_t *id)
{
	id = id ?: &a.id;
	return dev_pmc(dev, a, id) ?: dev_attach(dev, *id, pid) ?: dev_start(dev, *id);
}

int perf_has(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

bool overflows_are_nmis(void)
{
#ifdef __x86_64__
	return perf_has(CYCLES);
#else
	char line[4096];

	return perf_has(CYCLES) &&
	       read_line("/proc/cmdline", line, sizeof(line)) &&
	       strstr(line, "irqchip.gicv3_pseudo_nmi=1");
#endif
}

unsigned int perf_kinds(void)
{
	unsigned int n = 0;
	glob_t g;

	if (!glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &g)) {
		n = g.gl_pathc;
		globfree(&g);
	}
	return n;
}

bool perf_can_skid(void)
{
	return !access("/sys/bus/event_source/devices/nmipmu/format/skid", F_OK);
}

int dev_open_all(int *dev, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		dev[i] = dev_open();
		if (dev[i] < 0)
			return dev[i] == -EMFILE ? i : dev[i];
	}
	return i;
}

void dev_close_all(int *dev, int n)
{
	while (n-- > 0)
		close(dev[n]);
}
