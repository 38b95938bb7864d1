/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's operations as functions.  All return 0 (dev_open: the file
 * descriptor), or a negative errno.
 */
#ifndef TEST_DEV_H
#define TEST_DEV_H

#include <stddef.h>
#include <stdint.h>
#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#define DEV_PATH	"/dev/hwpmc"

int dev_open(void);
int dev_ioctl(int dev, unsigned long cmd, void *arg);

int dev_configure(int dev, int fd);
int dev_rotate(int dev, int fd);
int dev_flush(int dev);
int dev_closelog(int dev);
int dev_userdata(int dev, uint32_t value);
int dev_bulk(int dev, const void *records, uint32_t len);
int dev_allocate(int dev, struct hwpmc_allocate *a);
int dev_release(int dev, uint32_t id);
int dev_start(int dev, uint32_t id);
int dev_stop(int dev, uint32_t id);
int dev_setcount(int dev, uint32_t id, uint64_t *count);
int dev_rw(int dev, struct hwpmc_rw *rw);
int dev_read(int dev, uint32_t id, int cpu, uint64_t *value);
int dev_stats(int dev, uint32_t scope, struct hwpmc_driverstats *st);

/* A PMC on all CPUs, without and with call chains. */
struct hwpmc_allocate pmc_counter(uint32_t type, uint64_t config);
struct hwpmc_allocate pmc_sampler(uint32_t type, uint64_t config,
				  uint64_t period);
/* cpu-clock samples with kernel and user chains, @hz a second and CPU */
struct hwpmc_allocate pmc_clock(unsigned int hz);

/* Allocates and starts; returns 0 with the id. */
int dev_run(int dev, struct hwpmc_allocate a, uint32_t *id);

/* Whether perf has @type/@config here (asked of perf_event_open()). */
int perf_has(uint32_t type, uint64_t config);

#endif /* TEST_DEV_H */
