/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What <linux/pmclog.h> does not describe, because our module does not write
 * it.  Private to the library and the reader.
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

/* A PMCALLOCATEDYN of FreeBSD's: the rate is all that is trailing. */
#define PMCLOG_PMCALLOCATEDYN_RATE	104

#endif /* PMCLOG_WIRE_H */
