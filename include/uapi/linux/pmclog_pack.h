/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/* Packs: many samples in one record of the pmclog format.  Included by <linux/pmclog.h> */
#ifndef _UAPI_LINUX_PMCLOG_PACK_H
#define _UAPI_LINUX_PMCLOG_PACK_H

/* bytes of the longest pack, and slots of a reader's two tables */
#define PMCLOG_PACK_MAX		4096
#define PMCLOG_PACK_CHAINS	2048
#define PMCLOG_PACK_CONTEXTS	1024

/**
 * struct pmclog_ext_samples - a pack: consecutive samples
 * @samples: number of samples, at least 1
 * @entry:   the samples; each follows the definitions that it is the first to use
 *
 * h.tsc is the clock of the first sample.  A sample names its chain and its
 * context by their slots in two tables, which are empty at the start of a log.
 * An entry that defines a slot replaces the slot's contents.  Entries consist of
 * 32-bit words; the first word gives the kind of the entry:
 *
 * a sample (bit 31 clear)
 *	nanoseconds since the sample before it in the pack (the first: 0)
 *	low word of the innermost pc
 *	slot of the chain | slot of the context << 16
 * PMCLOG_PACK_CONTEXT | slot
 *	pid, tid, pmcid, cpuflags as in a CALLCHAIN
 * PMCLOG_PACK_CHAIN | slot of a like chain << 11 | slot
 *	number of pcs (1 to 512) | number of shared pcs << 16
 *	high word of the innermost pc
 *	the other pcs, two words each, except the shared ones: these are the
 *	last (outermost) ones of the like chain, as it is before this entry
 */
struct pmclog_ext_samples {
	struct pmclog_ext e;
	__u32	samples;
	__u32	pad;
	__u32	entry[];
};

#define PMCLOG_PACK_DEFINES	0x80000000U
#define PMCLOG_PACK_CONTEXT	0x80000000U
#define PMCLOG_PACK_CHAIN	0xC0000000U

/* bytes of each kind of entry; of a chain without its pcs */
#define PMCLOG_PACK_SAMPLE_LEN	12
#define PMCLOG_PACK_CONTEXT_LEN	20
#define PMCLOG_PACK_CHAIN_LEN	12

#endif /* _UAPI_LINUX_PMCLOG_PACK_H */
