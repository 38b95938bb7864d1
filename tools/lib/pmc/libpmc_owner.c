/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owners named by a handle: one ioctl of /dev/hwpmc each.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libpmc_answer.h"
#include "libpmc_fail.h"
#include "pmc.h"

#define DEVICE	"/dev/hwpmc"

/**
 * struct made_probe
 * @maker: the process that removes it; a child that was forked since shares it
 */
struct made_probe {
	struct made_probe *next;
	struct pmc_probe *probe;
	pid_t maker;
};

/**
 * struct pmc_owner - an open device
 * @probes: made for events given as text; removed when the owner is closed
 * @answers: of pmc_owner_unwind(), of earlier calls
 */
struct pmc_owner {
	int	fd;
	struct made_probe *probes;
	struct pmc_answers answers;
	int	have_info;
	struct hwpmc_cpuinfo info;
};

/* Asks the device, with an argument of these fields that nobody reads afterwards. */
#define ASK(owner, op, type, ...) \
	ioctl((owner)->fd, HWPMC_IOC_##op, &(struct hwpmc_##type){ __VA_ARGS__ })

struct pmc_owner *pmc_owner_open(unsigned int flags)
{
	struct pmc_owner *owner;
	int saved;

	if (flags & ~PMC_OWNER_INHERIT) {
		errno = EINVAL;
		return NULL;
	}
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->fd = open(DEVICE, O_RDWR |
			 (flags & PMC_OWNER_INHERIT ? 0 : O_CLOEXEC));
	if (owner->fd >= 0 && !ASK(owner, GETMODULEVERSION, moduleversion,
				    .version = HWPMC_ABI_VERSION))
		return owner;
	saved = errno;
	pmc_owner_close(owner);
	errno = saved;
	return NULL;
}

/* Removes the probe made last, unless it is another process'. */
static void remove_probe(struct pmc_owner *owner)
{
	struct made_probe *m = owner->probes;
	int saved = errno;

	owner->probes = m->next;
	if (m->maker == getpid())
		pmc_probe_remove(m->probe);
	pmc_probe_free(m->probe);
	free(m);
	errno = saved;
}

void pmc_owner_close(struct pmc_owner *owner)
{
	if (!owner)
		return;
	if (owner->fd >= 0)
		close(owner->fd);
	while (owner->probes)
		remove_probe(owner);
	free(owner->answers.failed);
	free(owner);
}

int pmc_owner_fd(const struct pmc_owner *owner)
{
	return owner->fd;
}

struct pmc_answers *pmc_owner_answers(struct pmc_owner *owner)
{
	return &owner->answers;
}

/* Does the caller know the fields from @branch on? */
static int knows_branch(const struct pmc_allocate_opts *opts)
{
	return opts->size >= sizeof(*opts);
}

int pmc_owner_allocate_event(struct pmc_owner *owner,
			     const struct pmc_event_desc *desc,
			     struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	struct hwpmc_allocate a = { .pmc_class = HWPMC_CLASS_SOFT };

	if (opts->size < offsetof(struct pmc_allocate_opts, branch) ||
	    opts->reserved || (knows_branch(opts) && opts->reserved2))
		return fail_with(EINVAL);
	if (knows_branch(opts))
		a.branch = opts->branch;
	a.mode = opts->mode;
	a.cpu = opts->cpu;
	a.flags = opts->flags;
	a.count = opts->count;
	a.caps = desc->caps;
	a.type = desc->type;
	a.config = desc->config;
	a.config1 = desc->config1;
	a.config2 = desc->config2;
	a.config3 = desc->config3;
	a.bp_type = desc->bp_type;
	memcpy(a.name, desc->name, sizeof(a.name));
	if (ioctl(owner->fd, HWPMC_IOC_PMCALLOCATE, &a) < 0)
		return -1;
	opts->flags = a.flags;
	opts->count = a.count;
	if (knows_branch(opts))
		opts->precise = a.precise;
	*id = a.id;
	return 0;
}

static int make_probe(struct pmc_owner *owner, const char *spec,
		      struct pmc_event_desc *desc)
{
	struct made_probe *m = malloc(sizeof(*m));

	if (!m)
		return -1;
	m->probe = pmc_probe_make(spec, desc, NULL, 0);
	if (!m->probe) {
		free(m);
		return -1;
	}
	m->maker = getpid();
	m->next = owner->probes;
	owner->probes = m;
	return 0;
}

/*
 * The default of the event comes before the general one.  But the default period of an
 * event is no rate: only a clock that was written with its rate keeps it.
 */
static void take_default(const struct pmc_event_desc *desc, struct pmc_allocate_opts *opts)
{
	if (desc->flags & PMC_EVENT_FREQ)
		opts->flags |= PMC_F_FREQ;
	else if (desc->flags & PMC_EVENT_RATE)
		opts->flags &= ~(uint32_t)PMC_F_FREQ;
	else if (opts->flags & PMC_F_FREQ)
		return;
	opts->count = desc->period;
}

int pmc_owner_allocate(struct pmc_owner *owner, const char *spec,
		       struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	uint64_t count = opts->count;
	uint32_t flags = opts->flags;
	struct pmc_event_desc desc;

	if (pmc_event_parse(spec, &desc, NULL, 0) ||
	    ((desc.flags & PMC_EVENT_PROBE) && make_probe(owner, spec, &desc)))
		return -1;
	if (!opts->count && PMC_IS_SAMPLING_MODE(opts->mode))
		take_default(&desc, opts);
	if (!pmc_owner_allocate_event(owner, &desc, opts, id))
		return 0;
	opts->count = count;
	opts->flags = flags;
	if (desc.flags & PMC_EVENT_PROBE)
		remove_probe(owner);
	return -1;
}

int pmc_owner_release(struct pmc_owner *owner, pmc_id_t id)
{
	return ASK(owner, PMCRELEASE, simple, .id = id);
}

int pmc_owner_start(struct pmc_owner *owner, pmc_id_t id)
{
	return ASK(owner, PMCSTART, simple, .id = id);
}

int pmc_owner_stop(struct pmc_owner *owner, pmc_id_t id)
{
	return ASK(owner, PMCSTOP, simple, .id = id);
}

int pmc_owner_attach(struct pmc_owner *owner, pmc_id_t id, pid_t pid)
{
	return ASK(owner, PMCATTACH, attach, .id = id, .pid = pid);
}

int pmc_owner_detach(struct pmc_owner *owner, pmc_id_t id, pid_t pid)
{
	return ASK(owner, PMCDETACH, attach, .id = id, .pid = pid);
}

int pmc_owner_set(struct pmc_owner *owner, pmc_id_t id, uint64_t *count)
{
	struct hwpmc_setcount s = { .id = id, .count = *count };

	if (ioctl(owner->fd, HWPMC_IOC_PMCSETCOUNT, &s) < 0)
		return -1;
	*count = s.count;
	return 0;
}

int pmc_owner_read(struct pmc_owner *owner, pmc_id_t id, int cpu,
		   struct pmc_reading *reading)
{
	struct hwpmc_rw rw = {
		.id = id, .flags = HWPMC_F_OLDVALUE, .cpu = cpu,
	};

	if (ioctl(owner->fd, HWPMC_IOC_PMCRW, &rw) < 0)
		return -1;
	reading->value = rw.value;
	reading->enabled = rw.enabled;
	reading->running = rw.running;
	return 0;
}

int pmc_owner_write(struct pmc_owner *owner, pmc_id_t id,
		    pmc_value_t value, pmc_value_t *old)
{
	struct hwpmc_rw rw = {
		.id = id, .flags = HWPMC_F_NEWVALUE, .cpu = HWPMC_CPU_ALL,
		.value = value,
	};

	if (old)
		rw.flags |= HWPMC_F_OLDVALUE;
	if (ioctl(owner->fd, HWPMC_IOC_PMCRW, &rw) < 0)
		return -1;
	if (old)
		*old = rw.value;
	return 0;
}

int pmc_owner_filter(struct pmc_owner *owner, pmc_id_t id,
		     const struct hwpmc_condition *conditions, size_t n)
{
	if (n > HWPMC_NCONDITION)
		return fail_with(E2BIG);
	return ASK(owner, PMCFILTER, filter, .id = id, .n = (uint32_t)n,
		   .conditions = (uintptr_t)conditions);
}

int pmc_owner_set_budget(struct pmc_owner *owner, uint32_t ppm)
{
	return ASK(owner, SETBUDGET, setbudget, .ppm = ppm);
}

int pmc_owner_budget(struct pmc_owner *owner, struct hwpmc_getbudget *budget)
{
	return ioctl(owner->fd, HWPMC_IOC_GETBUDGET, budget);
}

int pmc_owner_set_cpus(struct pmc_owner *owner, const void *mask, size_t len)
{
	return ASK(owner, SETCPUS, setcpus, .mask = len ? (uintptr_t)mask : 0,
		   .len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX);
}

int pmc_owner_record(struct pmc_owner *owner, int on, uint32_t *npmc,
		     uint64_t *skew)
{
	struct hwpmc_record r = { .on = !!on };

	if (ioctl(owner->fd, HWPMC_IOC_RECORD, &r) < 0)
		return -1;
	if (npmc)
		*npmc = r.npmc;
	if (skew)
		*skew = r.skew;
	return 0;
}

int pmc_owner_atbase(struct pmc_owner *owner, pid_t pid, uint64_t *base)
{
	struct hwpmc_atbase a = { .pid = pid };

	if (ioctl(owner->fd, HWPMC_IOC_GETATBASE, &a) < 0)
		return -1;
	*base = a.base;
	return 0;
}

_Static_assert(PMC_LOG_PACKED == HWPMC_LOG_PACKED, "flags are passed on");

int pmc_owner_configure_logfile_flags(struct pmc_owner *owner, int fd,
				      uint32_t flags)
{
	return ASK(owner, CONFIGURELOG, configurelog, .fd = fd, .flags = flags);
}

int pmc_owner_configure_logfile(struct pmc_owner *owner, int fd)
{
	return pmc_owner_configure_logfile_flags(owner, fd, 0);
}

int pmc_owner_rotate_logfile_flags(struct pmc_owner *owner, int fd,
				   uint32_t flags)
{
	return ASK(owner, ROTATELOG, configurelog, .fd = fd, .flags = flags);
}

int pmc_owner_rotate_logfile(struct pmc_owner *owner, int fd)
{
	return pmc_owner_rotate_logfile_flags(owner, fd, 0);
}

int pmc_owner_stream(struct pmc_owner *owner, uint64_t size, uint32_t flags)
{
	return ASK(owner, CONFIGURELOG, configurelog, .fd = -1,
		   .flags = HWPMC_LOG_STREAM | flags, .size = size);
}

int pmc_owner_flight(struct pmc_owner *owner, uint64_t size, uint32_t flags)
{
	return ASK(owner, CONFIGURELOG, configurelog, .fd = -1,
		   .flags = HWPMC_LOG_FLIGHT | flags, .size = size);
}

int pmc_owner_snapshot(struct pmc_owner *owner, int fd, uint32_t flags)
{
	return ASK(owner, SNAPSHOT, snapshot, .fd = fd, .flags = flags);
}

int pmc_owner_exit_trigger(struct pmc_owner *owner, uint32_t what, int status,
			   pid_t pid)
{
	return ASK(owner, EXITTRIGGER, exittrigger, .what = what, .status = status,
		   .pid = pid);
}

int pmc_owner_flush_logfile(struct pmc_owner *owner)
{
	return ioctl(owner->fd, HWPMC_IOC_FLUSHLOG);
}

int pmc_owner_close_logfile(struct pmc_owner *owner)
{
	return ioctl(owner->fd, HWPMC_IOC_CLOSELOG);
}

int pmc_owner_writelog(struct pmc_owner *owner, uint32_t udata)
{
	return ASK(owner, WRITELOG, writelog, .userdata = udata);
}

int pmc_owner_write_records(struct pmc_owner *owner, const void *records,
			    size_t len)
{
	if (!len)
		return 0;
	if (len > HWPMC_WRITELOG_MAX)
		return fail_with(E2BIG);
	return ASK(owner, WRITELOG, writelog, .records = (uintptr_t)records,
		   .len = (uint32_t)len);
}

int pmc_owner_cpuinfo(struct pmc_owner *owner,
		      const struct hwpmc_cpuinfo **info)
{
	if (!owner->have_info &&
	    ioctl(owner->fd, HWPMC_IOC_GETCPUINFO, &owner->info) < 0)
		return -1;
	owner->have_info = 1;
	*info = &owner->info;
	return 0;
}

int pmc_owner_stats(struct pmc_owner *owner, uint32_t scope,
		    struct hwpmc_driverstats *stats, size_t size)
{
	struct hwpmc_driverstats s = { .scope = scope };

	if (ioctl(owner->fd, HWPMC_IOC_GETDRIVERSTATS, &s) < 0)
		return -1;
	memset(stats, 0, size);
	memcpy(stats, &s, size < sizeof(s) ? size : sizeof(s));
	return 0;
}

#define SPARE	16	/* for rows allocated between two calls */

/*
 * All that @op lists, of @size bytes each; the caller frees it.  @n and @at are the
 * number and the address in its argument, @info.
 */
static void *list_all(struct pmc_owner *owner, unsigned long op, void *info,
		      __u32 *n, __u64 *at, size_t size)
{
	void *list = NULL;
	uint32_t room = 0;

	while (ioctl(owner->fd, op, info) >= 0) {
		if (list && *n <= room)
			return list;
		free(list);
		*n = room = *n + SPARE;
		list = calloc(room, size);
		if (!list)
			break;
		*at = (uintptr_t)list;
	}
	free(list);
	return NULL;
}

int pmc_owner_pmcinfo(struct pmc_owner *owner, int cpu,
		      struct hwpmc_pmcinfo_row **rows, size_t *nrows)
{
	struct hwpmc_pmcinfo info = { .cpu = cpu };
	void *list = list_all(owner, HWPMC_IOC_GETPMCINFO, &info, &info.nrows,
			      &info.rows, sizeof(**rows));

	if (!list)
		return -1;
	*rows = list;
	*nrows = info.nrows;
	return 0;
}

int pmc_owner_events(struct pmc_owner *owner, struct hwpmc_dynevent **events,
		     size_t *nevents)
{
	struct hwpmc_dyneventinfo info = { .pmc_class = HWPMC_CLASS_SOFT };
	void *list = list_all(owner, HWPMC_IOC_GETDYNEVENTINFO, &info,
			      &info.nevents, &info.events, sizeof(**events));

	if (!list)
		return -1;
	*events = list;
	*nevents = info.nevents;
	return 0;
}

static int admin(struct pmc_owner *owner, int cpu, int row, uint32_t state)
{
	return ASK(owner, PMCADMIN, admin, .cpu = cpu, .row = (uint32_t)row, .state = state);
}

int pmc_owner_enable(struct pmc_owner *owner, int cpu, int row)
{
	return admin(owner, cpu, row, HWPMC_STATE_FREE);
}

int pmc_owner_disable(struct pmc_owner *owner, int cpu, int row)
{
	return admin(owner, cpu, row, HWPMC_STATE_DISABLED);
}

int pmc_owner_get_msr(struct pmc_owner *owner, pmc_id_t id, uint32_t *msr)
{
	struct hwpmc_getmsr m = { .id = id };

	if (ioctl(owner->fd, HWPMC_IOC_PMCGETMSR, &m) < 0)
		return -1;
	*msr = m.msr;
	return 0;
}
