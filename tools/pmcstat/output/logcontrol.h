/* SPDX-License-Identifier: BSD-2-Clause */
/* Who writes the log: the module, or this program (--bpf) */
#ifndef PMCSTAT_LOGCONTROL_H
#define PMCSTAT_LOGCONTROL_H

#include <stddef.h>
#include <stdint.h>

struct hwpmc_driverstats;

/**
 * struct log_control - operations on the log; each returns 0, or -1 with errno
 * @begin: the log goes to @fd; @flags: PMC_LOG_*
 * @flush: all samples until now are in the log
 * @end:   the log is whole
 * @stats: its account; also after a failure
 * @write: adds records that this program has made
 */
struct log_control {
	int	(*begin)(void *arg, int fd, uint32_t flags);
	int	(*flush)(void *arg);
	int	(*end)(void *arg);
	int	(*stats)(void *arg, struct hwpmc_driverstats *stats);
	int	(*write)(void *arg, const void *records, size_t len);
};

#endif /* PMCSTAT_LOGCONTROL_H */
