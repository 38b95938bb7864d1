/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts of the records that FreeBSD's format has and that
 * <linux/pmclog.h> does not describe: our module writes them for process
 * modes, or not at all.  Private to the library and the reader.
 */
#ifndef PMCLOG_WIRE_H
#define PMCLOG_WIRE_H

#include <linux/pmclog.h>

struct pmclog_wire_allocate {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	event;
	__u32	flags;
	__u32	pad;
	__u64	rate;
};

struct pmclog_wire_attach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
	char	path[];
};

struct pmclog_wire_detach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
};

struct pmclog_wire_proccsw {
	struct pmclog_hdr h;
	__u64	value;
	__u32	pmcid;
	__u32	pid;
	__u32	tid;
	__u32	pad;
};

struct pmclog_wire_procexit {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
	__u64	value;
};

#endif /* PMCLOG_WIRE_H */
