/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of named events, for libpmc's own use. */
#ifndef LIBPMC_EVENT_H
#define LIBPMC_EVENT_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct pmc_evtab_entry - a name for an event
 * @name:   matched without regard to case
 * @descr:  what it counts; of an alias: the event's first name
 * @type, @config: as in struct perf_event_attr
 * @alias:  another entry has the same event
 */
struct pmc_evtab_entry {
	const char	*name;
	const char	*descr;
	uint32_t	type;
	uint64_t	config;
	int		alias;
};

extern const struct pmc_evtab_entry pmc_evtab[];
extern const size_t pmc_evtab_len;

#endif /* LIBPMC_EVENT_H */
