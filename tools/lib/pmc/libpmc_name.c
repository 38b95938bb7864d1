/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for numbers, also FreeBSD's, because the tools read logs of its machines.
 */
#include <errno.h>
#include <stddef.h>

#include "libpmc_event.h"
#include "pmc.h"

struct name {
	uint32_t	value;
	const char	*name;
};

#define NAME_OF(table, value) \
	name_of(table, sizeof(table) / sizeof((table)[0]), (uint32_t)(value))

static const char *name_of(const struct name *table, size_t n, uint32_t value)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (table[i].value == value)
			return table[i].name;
	errno = EINVAL;
	return NULL;
}

static const struct name caps[] = {
	{ PMC_CAP_INTERRUPT, "INTERRUPT" }, { PMC_CAP_USER, "USER" },
	{ PMC_CAP_SYSTEM, "SYSTEM" }, { PMC_CAP_EDGE, "EDGE" },
	{ PMC_CAP_THRESHOLD, "THRESHOLD" }, { PMC_CAP_READ, "READ" },
	{ PMC_CAP_WRITE, "WRITE" }, { PMC_CAP_INVERT, "INVERT" },
	{ PMC_CAP_QUALIFIER, "QUALIFIER" }, { PMC_CAP_PRECISE, "PRECISE" },
	{ PMC_CAP_TAGGING, "TAGGING" }, { PMC_CAP_CASCADE, "CASCADE" },
	{ PMC_CAP_SYSWIDE, "SYSWIDE" }, { PMC_CAP_DOMWIDE, "DOMWIDE" },
};

static const struct name modes[] = {
	{ PMC_MODE_SS, "SS" }, { PMC_MODE_SC, "SC" },
	{ PMC_MODE_TS, "TS" }, { PMC_MODE_TC, "TC" },
};

static const struct name dispositions[] = {
	{ PMC_DISP_STANDALONE, "STANDALONE" }, { PMC_DISP_FREE, "FREE" },
	{ PMC_DISP_THREAD, "THREAD" }, { PMC_DISP_UNKNOWN, "UNKNOWN" },
};

static const struct name states[] = {
	{ PMC_STATE_DISABLED, "DISABLED" }, { PMC_STATE_FREE, "FREE" },
	{ PMC_STATE_ALLOCATED, "ALLOCATED" }, { PMC_STATE_STOPPED, "STOPPED" },
	{ PMC_STATE_RUNNING, "RUNNING" }, { PMC_STATE_DELETED, "DELETED" },
};

static const struct name classes[] = {
	{ 0x00, "TSC" }, { 0x01, "K7" }, { 0x02, "K8" }, { 0x03, "P5" },
	{ 0x04, "P6" }, { 0x05, "P4" }, { 0x06, "IAF" }, { 0x07, "IAP" },
	{ 0x08, "UCF" }, { 0x09, "UCP" }, { 0x0A, "XSCALE" },
	{ 0x0B, "MIPS24K" }, { 0x0C, "OCTEON" }, { 0x0D, "PPC7450" },
	{ 0x0E, "PPC970" }, { 0x0F, "SOFT" }, { 0x10, "ARMV7" },
	{ 0x11, "ARMV8" }, { 0x12, "MIPS74K" }, { 0x13, "E500" },
	{ 0x14, "BERI" }, { 0x15, "POWER8" }, { 0x16, "DMC620_PMU_CD2" },
	{ 0x17, "DMC620_PMU_C" }, { 0x18, "CMN600_PMU" }, { 0x19, "RAPL" },
};

static const struct name cputypes[] = {
	{ 0x000, "AMD_K7" }, { 0x001, "AMD_K8" }, { 0x080, "INTEL_P5" },
	{ 0x081, "INTEL_P6" }, { 0x082, "INTEL_CL" }, { 0x083, "INTEL_PII" },
	{ 0x084, "INTEL_PIII" }, { 0x085, "INTEL_PM" },
	{ 0x086, "INTEL_PIV" }, { 0x087, "INTEL_CORE" },
	{ 0x088, "INTEL_CORE2" }, { 0x089, "INTEL_CORE2EXTREME" },
	{ 0x08A, "INTEL_ATOM" }, { 0x08B, "INTEL_COREI7" },
	{ 0x08C, "INTEL_WESTMERE" }, { 0x08D, "INTEL_SANDYBRIDGE" },
	{ 0x08E, "INTEL_IVYBRIDGE" }, { 0x08F, "INTEL_SANDYBRIDGE_XEON" },
	{ 0x090, "INTEL_IVYBRIDGE_XEON" }, { 0x091, "INTEL_HASWELL" },
	{ 0x092, "INTEL_ATOM_SILVERMONT" }, { 0x093, "INTEL_NEHALEM_EX" },
	{ 0x094, "INTEL_WESTMERE_EX" }, { 0x095, "INTEL_HASWELL_XEON" },
	{ 0x096, "INTEL_BROADWELL" }, { 0x097, "INTEL_BROADWELL_XEON" },
	{ 0x098, "INTEL_SKYLAKE" }, { 0x099, "INTEL_SKYLAKE_XEON" },
	{ 0x09A, "INTEL_ATOM_GOLDMONT" }, { 0x09B, "INTEL_ICELAKE" },
	{ 0x09C, "INTEL_ICELAKE_XEON" }, { 0x09D, "INTEL_ALDERLAKE" },
	{ 0x09E, "INTEL_ATOM_GOLDMONT_P" }, { 0x09F, "INTEL_ATOM_TREMONT" },
	{ 0x0A0, "INTEL_EMERALD_RAPIDS" }, { 0x0A1, "INTEL_ALDERLAKEN" },
	{ 0x0A2, "INTEL_GRANITE_RAPIDS" }, { 0x0A3, "INTEL_METEOR_LAKE" },
	{ 0x0A4, "INTEL_SAPPHIRE_RAPIDS" }, { 0x100, "INTEL_XSCALE" },
	{ 0x200, "MIPS_24K" }, { 0x201, "MIPS_OCTEON" },
	{ 0x202, "MIPS_74K" }, { 0x203, "MIPS_BERI" },
	{ 0x300, "PPC_7450" }, { 0x340, "PPC_E500" }, { 0x380, "PPC_970" },
	{ 0x390, "PPC_POWER8" }, { PMC_CPU_GENERIC, "GENERIC" },
	{ 0x500, "ARMV7_CORTEX_A5" }, { 0x501, "ARMV7_CORTEX_A7" },
	{ 0x502, "ARMV7_CORTEX_A8" }, { 0x503, "ARMV7_CORTEX_A9" },
	{ 0x504, "ARMV7_CORTEX_A15" }, { 0x505, "ARMV7_CORTEX_A17" },
	{ 0x600, "ARMV8_CORTEX_A53" }, { 0x601, "ARMV8_CORTEX_A57" },
	{ 0x602, "ARMV8_CORTEX_A76" },
};

const char *pmc_name_of_capability(enum pmc_caps cap)
{
	return NAME_OF(caps, cap);
}

const char *pmc_name_of_mode(enum pmc_mode pm)
{
	return NAME_OF(modes, pm);
}

const char *pmc_name_of_disposition(enum pmc_disp pd)
{
	return NAME_OF(dispositions, pd);
}

const char *pmc_name_of_state(enum pmc_state ps)
{
	return NAME_OF(states, ps);
}

const char *pmc_name_of_class(enum pmc_class pc)
{
	return NAME_OF(classes, pc);
}

const char *pmc_name_of_cputype(enum pmc_cputype cp)
{
	return NAME_OF(cputypes, cp);
}

/* Numbers from PMC_EV_SOFT_FIRST on are indices into our table of names. */
const char *pmc_name_of_event(enum pmc_event pe)
{
	size_t i = (size_t)pe - PMC_EV_SOFT_FIRST;

	if ((uint32_t)pe < PMC_EV_SOFT_FIRST || i >= pmc_evtab_len) {
		errno = EINVAL;
		return NULL;
	}
	return pmc_evtab[i].name;
}
