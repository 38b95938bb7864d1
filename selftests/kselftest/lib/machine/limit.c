// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "dev.h"
#include "guest.h"
#include "limit.h"
#include "logfile.h"
#include "user.h"

#define PARAM	"/sys/module/hwpmc/parameters/"

bool limit(const char *name, unsigned int value)
{
	char path[80], text[16];

	snprintf(path, sizeof(path), PARAM "%s", name);
	snprintf(text, sizeof(text), "%u", value);
	return write_text(path, text);
}

unsigned int owner_mib(void)
{
	int cpus[LOG_MAX_CPU];

	return online_cpus(cpus, LOG_MAX_CPU) * module_param("ringsize") >> 10;
}

int limit_open(void)
{
	if (!device_for_group() || !limit("unprivileged_syspmcs", 1))
		return -1;
	return dev_open();
}

void limit_restore(void)
{
	user_root();
	device_for_root();
	cpu_set_online(1, true);
	limit("unprivileged_syspmcs", 0);
	limit("max_owners", 64);
	limit("max_pmcs", 1024);
	limit("max_ringmem", 256);
	limit("max_counters", 65536);
}

int elsewhere_with(unsigned int mib, int (*fn)(void))
{
	int err = -1;

	if (device_for_group() && limit("max_ringmem", mib))
		err = IN_CHILD(fn());
	limit_restore();
	return err;
}

int user_process_pmc(int dev, uint32_t flags, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK, flags);

	a.caps = HWPMC_CAP_USER;
	return dev_pmc(dev, a, id);
}
