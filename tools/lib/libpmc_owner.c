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

#include "pmc.h"

#define DEVICE	"/dev/hwpmc"

struct pmc_owner {
	int	fd;
	int	have_info;
	struct hwpmc_cpuinfo info;
};

static int check_version(int fd)
{
	struct hwpmc_moduleversion v = { .version = HWPMC_ABI_VERSION };

	return ioctl(fd, HWPMC_IOC_GETMODULEVERSION, &v);
}

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
	if (owner->fd >= 0 && !check_version(owner->fd))
		return owner;
	saved = errno;
	pmc_owner_close(owner);
	errno = saved;
	return NULL;
}

void pmc_owner_close(struct pmc_owner *owner)
{
	if (!owner)
		return;
	if (owner->fd >= 0)
		close(owner->fd);
	free(owner);
}

int pmc_owner_fd(const struct pmc_owner *owner)
{
	return owner->fd;
}

int pmc_owner_allocate_event(struct pmc_owner *owner,
			     const struct pmc_event_desc *desc,
			     struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	struct hwpmc_allocate a = { .pmc_class = HWPMC_CLASS_SOFT };

	if (opts->size < sizeof(*opts) || opts->reserved) {
		errno = EINVAL;
		return -1;
	}
	a.mode = opts->mode;
	a.cpu = opts->cpu;
	a.flags = opts->flags;
	a.count = opts->count;
	a.caps = desc->caps;
	a.type = desc->type;
	a.config = desc->config;
	a.config1 = desc->config1;
	a.config2 = desc->config2;
	memcpy(a.name, desc->name, sizeof(a.name));
	if (ioctl(owner->fd, HWPMC_IOC_PMCALLOCATE, &a) < 0)
		return -1;
	opts->count = a.count;
	*id = a.id;
	return 0;
}

int pmc_owner_allocate(struct pmc_owner *owner, const char *spec,
		       struct pmc_allocate_opts *opts, pmc_id_t *id)
{
	struct pmc_event_desc desc;

	if (pmc_event_parse(spec, &desc, NULL, 0))
		return -1;
	return pmc_owner_allocate_event(owner, &desc, opts, id);
}

static int simple(struct pmc_owner *owner, unsigned long op, pmc_id_t id)
{
	struct hwpmc_simple s = { .id = id };

	return ioctl(owner->fd, op, &s);
}

int pmc_owner_release(struct pmc_owner *owner, pmc_id_t id)
{
	return simple(owner, HWPMC_IOC_PMCRELEASE, id);
}

int pmc_owner_start(struct pmc_owner *owner, pmc_id_t id)
{
	return simple(owner, HWPMC_IOC_PMCSTART, id);
}

int pmc_owner_stop(struct pmc_owner *owner, pmc_id_t id)
{
	return simple(owner, HWPMC_IOC_PMCSTOP, id);
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

int pmc_owner_configure_logfile(struct pmc_owner *owner, int fd)
{
	struct hwpmc_configurelog c = { .fd = fd };

	return ioctl(owner->fd, HWPMC_IOC_CONFIGURELOG, &c);
}

int pmc_owner_rotate_logfile(struct pmc_owner *owner, int fd)
{
	struct hwpmc_configurelog c = { .fd = fd };

	return ioctl(owner->fd, HWPMC_IOC_ROTATELOG, &c);
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
	struct hwpmc_writelog w = { .userdata = udata };

	return ioctl(owner->fd, HWPMC_IOC_WRITELOG, &w);
}

int pmc_owner_write_records(struct pmc_owner *owner, const void *records,
			    size_t len)
{
	struct hwpmc_writelog w = { .records = (uintptr_t)records };

	if (!len)
		return 0;
	if (len > HWPMC_WRITELOG_MAX) {
		errno = E2BIG;
		return -1;
	}
	w.len = (uint32_t)len;
	return ioctl(owner->fd, HWPMC_IOC_WRITELOG, &w);
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
