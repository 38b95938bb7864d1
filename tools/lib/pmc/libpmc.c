/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FreeBSD's functions, on the one owner that pmc_init() opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/hwpmc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"
#include "pmc.h"

static struct pmc_owner *the_owner;

/* Before pmc_init() all other functions fail with this errno. */
static struct pmc_owner *owner_or_errno(void)
{
	if (!the_owner)
		errno = ENXIO;
	return the_owner;
}

/* Calls a pmc_owner_ function on the owner of the process. */
#define ON_OWNER(function, ...)					\
	(owner_or_errno() ? function(the_owner, ##__VA_ARGS__) : -1)

/*
 * FreeBSD sends SIGIO without a request, and discards it if the program has no
 * handler.  Linux would end such a program, and the programs it executes later.
 * So the signal is set to SIG_IGN if it has its default action.
 */
static int ask_for_sigio(int fd)
{
	struct sigaction act;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || sigaction(SIGIO, NULL, &act))
		return -1;
	if (act.sa_handler == SIG_DFL && signal(SIGIO, SIG_IGN) == SIG_ERR)
		return -1;
	if (fcntl(fd, F_SETOWN, getpid()))
		return -1;
	return fcntl(fd, F_SETFL, flags | O_ASYNC);
}

int pmc_init(void)
{
	struct pmc_owner *owner;
	int saved;

	if (the_owner)
		return 0;
	owner = pmc_owner_open(0);
	if (!owner)
		return -1;
	if (ask_for_sigio(pmc_owner_fd(owner))) {
		saved = errno;
		pmc_owner_close(owner);
		errno = saved;
		return -1;
	}
	the_owner = owner;
	return 0;
}

int pmc_allocate(const char *ctrspec, enum pmc_mode mode, uint32_t flags,
		 int cpu, pmc_id_t *pmcid, uint64_t count)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = mode, .flags = flags,
		.cpu = cpu, .count = count,
	};

	return ON_OWNER(pmc_owner_allocate, ctrspec, &opts, pmcid);
}

int pmc_release(pmc_id_t pmc)
{
	return ON_OWNER(pmc_owner_release, pmc);
}

int pmc_start(pmc_id_t pmc)
{
	return ON_OWNER(pmc_owner_start, pmc);
}

int pmc_stop(pmc_id_t pmc)
{
	return ON_OWNER(pmc_owner_stop, pmc);
}

int pmc_attach(pmc_id_t pmc, pid_t pid)
{
	return ON_OWNER(pmc_owner_attach, pmc, pid);
}

int pmc_detach(pmc_id_t pmc, pid_t pid)
{
	return ON_OWNER(pmc_owner_detach, pmc, pid);
}

int pmc_read(pmc_id_t pmc, pmc_value_t *value)
{
	struct pmc_reading reading;

	if (ON_OWNER(pmc_owner_read, pmc, PMC_CPU_ALL, &reading))
		return -1;
	*value = reading.value;
	return 0;
}

int pmc_write(pmc_id_t pmc, pmc_value_t value)
{
	return ON_OWNER(pmc_owner_write, pmc, value, NULL);
}

int pmc_rw(pmc_id_t pmc, pmc_value_t newvalue, pmc_value_t *oldvalue)
{
	return ON_OWNER(pmc_owner_write, pmc, newvalue, oldvalue);
}

int pmc_set(pmc_id_t pmc, pmc_value_t value)
{
	return ON_OWNER(pmc_owner_set, pmc, &value);
}

int pmc_configure_logfile(int fd)
{
	return ON_OWNER(pmc_owner_configure_logfile, fd);
}

int pmc_configure_logfile_flags(int fd, uint32_t flags)
{
	return ON_OWNER(pmc_owner_configure_logfile_flags, fd, flags);
}

int pmc_flush_logfile(void)
{
	return ON_OWNER(pmc_owner_flush_logfile);
}

int pmc_close_logfile(void)
{
	return ON_OWNER(pmc_owner_close_logfile);
}

int pmc_writelog(uint32_t udata)
{
	return ON_OWNER(pmc_owner_writelog, udata);
}

static const struct hwpmc_cpuinfo *cpuinfo_or_errno(void)
{
	const struct hwpmc_cpuinfo *info;

	return ON_OWNER(pmc_owner_cpuinfo, &info) ? NULL : info;
}

int pmc_ncpu(void)
{
	const struct hwpmc_cpuinfo *info = cpuinfo_or_errno();

	return info ? (int)info->ncpu : -1;
}

int pmc_npmc(int cpu)
{
	const struct hwpmc_cpuinfo *info = cpuinfo_or_errno();

	if (!info)
		return -1;
	if (cpu < 0 || (uint32_t)cpu >= info->ncpu)
		return fail_with(EINVAL);
	return (int)info->npmc;
}

int pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info)
{
	static struct pmc_cpuinfo copy;
	const struct hwpmc_cpuinfo *info = cpuinfo_or_errno();
	uint32_t i;

	if (!info)
		return -1;
	copy.pm_cputype = (enum pmc_cputype)info->cputype;
	copy.pm_ncpu = info->ncpu;
	copy.pm_npmc = info->npmc;
	copy.pm_nclass = info->nclass < HWPMC_NCLASS_MAX ? info->nclass :
			 HWPMC_NCLASS_MAX;
	for (i = 0; i < copy.pm_nclass; i++) {
		copy.pm_classes[i].pm_class =
			(enum pmc_class)info->classes[i].pmc_class;
		copy.pm_classes[i].pm_caps = info->classes[i].caps;
		copy.pm_classes[i].pm_width = info->classes[i].width;
		copy.pm_classes[i].pm_num = info->classes[i].num;
	}
	*cpu_info = &copy;
	return 0;
}

static const struct pmc_classinfo *class_of(pmc_id_t pmc)
{
	const struct pmc_cpuinfo *info;
	uint32_t i;

	if (pmc_cpuinfo(&info))
		return NULL;
	for (i = 0; i < info->pm_nclass; i++)
		if (info->pm_classes[i].pm_class == PMC_ID_TO_CLASS(pmc))
			return &info->pm_classes[i];
	errno = EINVAL;
	return NULL;
}

int pmc_capabilities(pmc_id_t pmc, uint32_t *caps)
{
	const struct pmc_classinfo *class = class_of(pmc);

	if (!class)
		return -1;
	*caps = class->pm_caps;
	return 0;
}

int pmc_width(pmc_id_t pmc, uint32_t *width)
{
	const struct pmc_classinfo *class = class_of(pmc);

	if (!class)
		return -1;
	*width = class->pm_width;
	return 0;
}

static unsigned int saturate(uint64_t n)
{
	return n < UINT_MAX ? (unsigned int)n : UINT_MAX;
}

int pmc_get_driver_stats(struct pmc_driverstats *gms)
{
	struct hwpmc_driverstats s;

	if (ON_OWNER(pmc_owner_stats, HWPMC_STATS_MODULE, &s, sizeof(s)))
		return -1;
	gms->pm_intr_ignored = saturate(s.intr_ignored);
	gms->pm_intr_processed = saturate(s.intr_processed);
	gms->pm_intr_bufferfull = saturate(s.intr_bufferfull);
	gms->pm_syscalls = saturate(s.syscalls);
	gms->pm_syscall_errors = saturate(s.syscall_errors);
	gms->pm_buffer_requests = saturate(s.buffer_requests);
	gms->pm_buffer_requests_failed = saturate(s.buffer_requests_failed);
	gms->pm_log_sweeps = saturate(s.log_sweeps);
	return 0;
}

int pmc_get_driver_stats64(struct hwpmc_driverstats *stats, size_t size)
{
	return ON_OWNER(pmc_owner_stats, HWPMC_STATS_MODULE, stats, size);
}

static enum pmc_event event_number(uint32_t type, uint64_t config)
{
	size_t i;

	for (i = 0; i < pmc_evtab_len; i++)
		if (pmc_evtab[i].type == type && pmc_evtab[i].config == config)
			return (enum pmc_event)(PMC_EV_SOFT_FIRST + i);
	return (enum pmc_event)0;
}

static void fill_info(struct pmc_info *p, const struct hwpmc_pmcinfo_row *r)
{
	p->pm_enabled = r->enabled != 0;
	p->pm_rowdisp = (enum pmc_disp)r->disposition;
	p->pm_ownerpid = r->owner_pid;
	p->pm_mode = (enum pmc_mode)r->mode;
	p->pm_flags = r->flags;
	p->pm_reloadcount = r->reload;
	/* without a name the caller may not see the event */
	if (r->name[0])
		p->pm_event = event_number(r->type, r->config);
}

static struct pmc_pmcinfo *free_rows(int cpu, size_t n)
{
	struct pmc_pmcinfo *info;
	size_t i;

	info = calloc(1, sizeof(*info) + n * sizeof(info->pm_pmcs[0]));
	if (!info)
		return NULL;
	info->pm_cpu = cpu;
	for (i = 0; i < n; i++) {
		struct pmc_info *p = &info->pm_pmcs[i];

		snprintf(p->pm_name, sizeof(p->pm_name), "SOFT-%zu", i);
		p->pm_class = PMC_CLASS_SOFT;
		p->pm_enabled = 1;
		p->pm_rowdisp = PMC_DISP_FREE;
		p->pm_ownerpid = -1;
	}
	return info;
}

int pmc_pmcinfo(int cpu, struct pmc_pmcinfo **pmc_info)
{
	const struct hwpmc_cpuinfo *cpuinfo = cpuinfo_or_errno();
	struct hwpmc_pmcinfo_row *rows;
	struct pmc_pmcinfo *info;
	size_t n, i;

	if (!cpuinfo || ON_OWNER(pmc_owner_pmcinfo, cpu, &rows, &n))
		return -1;
	info = free_rows(cpu, cpuinfo->npmc);
	for (i = 0; info && i < n; i++) {
		struct pmc_info *p = &info->pm_pmcs[rows[i].row];

		/* if a row has several users, one whose pid is known */
		if (p->pm_ownerpid == -1)
			fill_info(p, &rows[i]);
	}
	free(rows);
	*pmc_info = info;
	return info ? 0 : -1;
}

int pmc_enable(int cpu, int pmc)
{
	return ON_OWNER(pmc_owner_enable, cpu, pmc);
}

int pmc_disable(int cpu, int pmc)
{
	return ON_OWNER(pmc_owner_disable, cpu, pmc);
}

int pmc_get_msr(pmc_id_t pmc, uint32_t *msr)
{
	return ON_OWNER(pmc_owner_get_msr, pmc, msr);
}
