/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's operations as functions.  All return 0 (dev_open: the file
 * descriptor), or a negative errno.
 */
#ifndef TEST_DEV_H
#define TEST_DEV_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#define DEV_PATH	"/dev/hwpmc"

int dev_open(void);
/* As many devices as there can be, @n at most. */
int dev_open_all(int *dev, int n);
void dev_close_all(int *dev, int n);
int dev_ioctl(int dev, unsigned long cmd, void *arg);
/* ... with an argument of these fields that nobody reads afterwards */
#define DEV_ASK(dev, op, type, ...) \
	dev_ioctl(dev, HWPMC_IOC_##op, &(struct hwpmc_##type){ __VA_ARGS__ })

int dev_configure(int dev, int fd);
int dev_rotate(int dev, int fd);
/* HWPMC_LOG_* */
int dev_configure_flags(int dev, int fd, uint32_t flags);
int dev_rotate_flags(int dev, int fd, uint32_t flags);
/* A log that is read from @dev; @size: bytes to keep ready, 0: the usual */
int dev_stream(int dev, uint32_t flags, uint64_t size);
/* A flight recorder; its snapshots; @what: HWPMC_EXIT_* */
int dev_flight(int dev, uint64_t size, uint32_t flags);
int dev_snapshot(int dev, int fd, uint32_t flags);
int dev_exit_trigger(int dev, uint32_t what, int status, int pid);
int dev_flush(int dev);
int dev_closelog(int dev);
int dev_userdata(int dev, uint32_t value);
int dev_bulk(int dev, const void *records, uint32_t len);
int dev_allocate(int dev, struct hwpmc_allocate *a);
int dev_release(int dev, uint32_t id);
int dev_start(int dev, uint32_t id);
int dev_stop(int dev, uint32_t id);
/* All PMCs of the owner, on or off; *@r: the answer */
int dev_record(int dev, bool on, struct hwpmc_record *r);
int dev_setcount(int dev, uint32_t id, uint64_t *count);
/* @pid 0: this process */
int dev_attach(int dev, uint32_t id, int pid);
int dev_detach(int dev, uint32_t id, int pid);
/* All targets have gone, as poll(2) tells it. */
bool dev_hung_up(int dev);
int dev_filter(int dev, uint32_t id, const struct hwpmc_condition *conditions,
	       uint32_t n);
int dev_rw(int dev, struct hwpmc_rw *rw);
int dev_read(int dev, uint32_t id, int cpu, uint64_t *value);
/* Of all CPUs; ~0: it cannot be read. */
uint64_t dev_value(int dev, uint32_t id);
int dev_stats(int dev, uint32_t scope, struct hwpmc_driverstats *st);
/* One of the owner's numbers; 0: there are none. */
#define OWNER_STAT(dev, member) ({					\
	struct hwpmc_driverstats st_;					\
	dev_stats(dev, HWPMC_STATS_OWNER, &st_) ? 0 : st_.member;	\
})
int dev_admin(int dev, int cpu, uint32_t row, uint32_t state);
/* @nrows: room; then how many there are */
int dev_pmcinfo(int dev, int cpu, struct hwpmc_pmcinfo_row *rows,
		uint32_t *nrows);

/* Events as perf has them: type and config */
#define CPU_CLOCK	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK
#define CYCLES		PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES
#define FAULTS		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define SWITCHES	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES
#define TASK_CLOCK	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK

/*
 * A PMC on all CPUs: counts; samples with call chains, ourselves too.
 */
struct hwpmc_allocate pmc_counter(uint32_t type, uint64_t config);
struct hwpmc_allocate pmc_sampler(uint32_t type, uint64_t config,
				  uint64_t period);
/* cpu-clock samples with kernel and user chains, @hz a second and CPU */
struct hwpmc_allocate pmc_clock(unsigned int hz);

/*
 * Of cycles, for a sampler.  Emulated ones are a nanosecond each, and what their
 * interrupts take of a slow guest, they leave nothing for anybody else.
 */
#define CYCLES_PERIOD	scaled(1000000, 5000000)

/* Process modes: counts; samples with call chains.  @flags: HWPMC_F_*, more */
struct hwpmc_allocate pmc_process_counter(uint32_t type, uint64_t config,
					  uint32_t flags);
struct hwpmc_allocate pmc_process_sampler(uint32_t type, uint64_t config,
					  uint64_t period, uint32_t flags);
/* ... each page fault, with its user chain */
struct hwpmc_allocate pmc_process_faults(uint32_t flags);
/* cpu-clock of @mode, with the flags that this may have */
struct hwpmc_allocate pmc_clock_of(uint32_t mode, uint32_t caps);

/* The id of a new PMC; 0: there is none. */
uint32_t allocated(int dev, struct hwpmc_allocate a);
/* Allocates; returns 0 with the id. */
int dev_pmc(int dev, struct hwpmc_allocate a, uint32_t *id);
/* ... and starts; @id may be NULL. */
int dev_run(int dev, struct hwpmc_allocate a, uint32_t *id);
/* Allocates, attaches to @pid and starts. */
int dev_run_on(int dev, struct hwpmc_allocate a, int pid, uint32_t *id);

/* Whether perf has @type/@config here (asked of perf_event_open()). */
int perf_has(uint32_t type, uint64_t config);
/* Kinds of CPU, each with a PMU; 0 or 1: all CPUs are of one kind. */
unsigned int perf_kinds(void);
/* Overflows of cycles are NMIs: x86's are, arm64's when it was booted so. */
bool overflows_are_nmis(void);
/* Whether config1 of PERF_TYPE_RAW is a skid in bytes (selftests/nmipmu). */
bool perf_can_skid(void);

#endif /* TEST_DEV_H */
