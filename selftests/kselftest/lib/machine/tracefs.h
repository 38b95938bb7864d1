/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's tracepoints, and probes that become such, as tracefs tells of them.
 */
#ifndef TEST_TRACEFS_H
#define TEST_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

/* Mounted where it ought to be, if it was not; false: this kernel has none. */
bool tracefs_mount(void);

/* perf's number of "group/name"; 0: no such event. */
uint64_t tracefs_id(const char *event);

/*
 * Where field @name of "group/name" is in its raw data; false: it has none.
 * Integers are of 1, 2, 4 or 8 bytes.
 */
struct tracefs_field {
	unsigned int	offset;
	unsigned int	size;
};

bool tracefs_field(const char *event, const char *name,
		   struct tracefs_field *f);

/* Its value in @data; 0 if that is too short. */
uint64_t tracefs_value(const struct tracefs_field *f, const void *data,
		       uint32_t len);
/* The string that a __data_loc field names, or "". */
const char *tracefs_string(const struct tracefs_field *f, const void *data,
			   uint32_t len);

/*
 * A probe, as kprobe_events or uprobe_events take it ("p:group/name ..."), and
 * its end ("group/name").
 */
bool tracefs_probe(const char *kind, const char *definition);
void tracefs_unprobe(const char *kind, const char *event);
/* Does the kernel hit the probe or tracepoint "group/name" for everyone? */
bool tracefs_enable(const char *event, bool on);

/* The number of a PMU in sysfs, or -1. */
int pmu_type(const char *name);
/* Its offset in the file that @addr of this process was mapped from. */
bool file_offset(const void *addr, uint64_t *offset);

#endif /* TEST_TRACEFS_H */
