/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events that have names: perf's generic events, with the names of perf and of
 * FreeBSD.  The kernel decides which of them a machine has.
 */
#include <linux/perf_event.h>
#include <stddef.h>

#include "libpmc_event.h"

#define HW(name, config, descr) \
	{ name, descr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, 0 }
#define HW_ALIAS(name, config, of) \
	{ name, of, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, 1 }
#define SW(name, config, descr) \
	{ name, descr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, 0 }
#define SW_ALIAS(name, config, of) \
	{ name, of, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, 1 }

#define CACHE_CONFIG(cache, op, result)			\
	(PERF_COUNT_HW_CACHE_##cache |			\
	 PERF_COUNT_HW_CACHE_OP_##op << 8 |		\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define CACHE(name, cache, op, result, descr) \
	{ name, descr, PERF_TYPE_HW_CACHE, CACHE_CONFIG(cache, op, result), 0 }

#define CACHE_READ(name, cache, descr)					\
	CACHE(name "-loads", cache, READ, ACCESS, descr ", reads"),	\
	CACHE(name "-load-misses", cache, READ, MISS, descr ", read misses")
#define CACHE_WRITE(name, cache, descr)					\
	CACHE(name "-stores", cache, WRITE, ACCESS, descr ", writes"),	\
	CACHE(name "-store-misses", cache, WRITE, MISS, descr ", write misses")
#define CACHE_PREFETCH(name, cache, descr)				\
	CACHE(name "-prefetches", cache, PREFETCH, ACCESS,		\
	      descr ", prefetches"),					\
	CACHE(name "-prefetch-misses", cache, PREFETCH, MISS,		\
	      descr ", prefetch misses")

const struct pmc_evtab_entry pmc_evtab[] = {
	HW("cycles", CPU_CYCLES, "processor cycles"),
	HW_ALIAS("cpu-cycles", CPU_CYCLES, "cycles"),
	HW_ALIAS("unhalted-cycles", CPU_CYCLES, "cycles"),
	HW("instructions", INSTRUCTIONS, "retired instructions"),
	HW("cache-references", CACHE_REFERENCES,
	   "accesses to the last level cache"),
	HW("cache-misses", CACHE_MISSES, "misses of the last level cache"),
	HW("branches", BRANCH_INSTRUCTIONS, "retired branch instructions"),
	HW_ALIAS("branch-instructions", BRANCH_INSTRUCTIONS, "branches"),
	HW("branch-misses", BRANCH_MISSES, "mispredicted branches"),
	HW_ALIAS("branch-mispredicts", BRANCH_MISSES, "branch-misses"),
	HW("bus-cycles", BUS_CYCLES, "bus cycles"),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND,
	   "cycles stalled for want of instructions"),
	HW_ALIAS("idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
		 "stalled-cycles-frontend"),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND,
	   "cycles stalled for want of resources"),
	HW_ALIAS("idle-cycles-backend", STALLED_CYCLES_BACKEND,
		 "stalled-cycles-backend"),
	HW("ref-cycles", REF_CPU_CYCLES,
	   "cycles of a clock that frequency scaling leaves alone"),

	SW("cpu-clock", CPU_CLOCK, "nanoseconds, by a timer of each CPU"),
	SW("task-clock", TASK_CLOCK, "nanoseconds that tasks run"),
	SW("page-faults", PAGE_FAULTS, "page faults"),
	SW_ALIAS("faults", PAGE_FAULTS, "page-faults"),
	SW("minor-faults", PAGE_FAULTS_MIN, "page faults without I/O"),
	SW("major-faults", PAGE_FAULTS_MAJ, "page faults with I/O"),
	SW("context-switches", CONTEXT_SWITCHES, "context switches"),
	SW_ALIAS("cs", CONTEXT_SWITCHES, "context-switches"),
	SW("cpu-migrations", CPU_MIGRATIONS, "moves of tasks between CPUs"),
	SW_ALIAS("migrations", CPU_MIGRATIONS, "cpu-migrations"),
	SW("alignment-faults", ALIGNMENT_FAULTS,
	   "unaligned accesses that the kernel handled"),
	SW("emulation-faults", EMULATION_FAULTS,
	   "instructions that the kernel emulated"),
	SW("cgroup-switches", CGROUP_SWITCHES,
	   "context switches to another control group"),

	CACHE_READ("L1-dcache", L1D, "L1 data cache"),
	CACHE_WRITE("L1-dcache", L1D, "L1 data cache"),
	CACHE_PREFETCH("L1-dcache", L1D, "L1 data cache"),
	{ "dc-misses", "L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
	  CACHE_CONFIG(L1D, READ, MISS), 1 },
	CACHE_READ("L1-icache", L1I, "L1 instruction cache"),
	CACHE_PREFETCH("L1-icache", L1I, "L1 instruction cache"),
	{ "ic-misses", "L1-icache-load-misses", PERF_TYPE_HW_CACHE,
	  CACHE_CONFIG(L1I, READ, MISS), 1 },
	CACHE_READ("LLC", LL, "last level cache"),
	CACHE_WRITE("LLC", LL, "last level cache"),
	CACHE_PREFETCH("LLC", LL, "last level cache"),
	CACHE_READ("dTLB", DTLB, "data TLB"),
	CACHE_WRITE("dTLB", DTLB, "data TLB"),
	CACHE_PREFETCH("dTLB", DTLB, "data TLB"),
	CACHE_READ("iTLB", ITLB, "instruction TLB"),
	CACHE_READ("branch", BPU, "branch prediction unit"),
	CACHE_READ("node", NODE, "local memory"),
	CACHE_WRITE("node", NODE, "local memory"),
	CACHE_PREFETCH("node", NODE, "local memory"),
};

const size_t pmc_evtab_len = sizeof(pmc_evtab) / sizeof(pmc_evtab[0]);
