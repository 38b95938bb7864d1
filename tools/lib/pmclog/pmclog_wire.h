/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that <linux/pmclog.h> does not describe, because our module does not
 * write them.  Private to the library and the reader.
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

/* Length of FreeBSD's PMCALLOCATEDYN: only the rate is trailing. */
#define PMCLOG_PMCALLOCATEDYN_RATE	104

#endif /* PMCLOG_WIRE_H */
