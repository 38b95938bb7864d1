// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "base/mem.h"
#include "log/pmcid.h"

/* a PMCALLOCATE's event is the number of a row in a table of vendor events */
#define F_EV_PMU	0x200U

/* @to: last major version with this layout; then positions and widths */
static const struct id_layout {
	uint32_t to;
	uint8_t mode, mode_bits;
	uint8_t class, class_bits;
} layouts[] = {
	{ 5, 16, 8, 8, 8 },
	{ 9, 12, 8, 8, 4 },
	{ UINT32_MAX, 16, 4, 8, 8 },
};

/* by class number, which is the same in all layouts */
static const char *const classes[] = {
	"TSC", "K7", "K8", "P5", "P6", "P4", "IAF", "IAP", "UCF", "UCP",
	"XSCALE", "MIPS24K", "OCTEON", "PPC7450", "PPC970", "SOFT", "ARMV7",
	"ARMV8", "MIPS74K", "E500", "BERI", "POWER8", "DMC620_PMU_CD2",
	"DMC620_PMU_C", "CMN600_PMU", "RAPL",
};

static const struct id_layout *layout_of(uint32_t version)
{
	const struct id_layout *l = layouts;

	while (version >> 24 > l->to)
		l++;
	return l;
}

static uint32_t bits(uint32_t id, uint8_t from, uint8_t n)
{
	return id >> from & ((1U << n) - 1);
}

uint32_t pmcid_mode(uint32_t version, uint32_t id)
{
	const struct id_layout *l = layout_of(version);

	return bits(id, l->mode, l->mode_bits);
}

void pmcid_event(char buf[PMCID_EVENT_MAX], uint32_t version, uint32_t id,
		 uint32_t event, uint32_t flags)
{
	const struct id_layout *l = layout_of(version);
	uint32_t class = bits(id, l->class, l->class_bits);
	const char *name = "event";

	if (class < nitems(classes))
		name = classes[class];
	if (!class)
		snprintf(buf, PMCID_EVENT_MAX, "%s", name);	/* only one */
	else
		snprintf(buf, PMCID_EVENT_MAX, "%s:%s%#x", name,
			 flags & F_EV_PMU ? "pmu-" : "", event);
}
