/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace events of src/trace.h that the writer thread has; they are off. */
#ifndef HWPMC_TRACE_H
#define HWPMC_TRACE_H

#define trace_hwpmc_pass(o, samples, records, quiet) \
	((void)(samples), (void)(records))
#define trace_hwpmc_loss(o, pmcid, cpu, cause, count)	((void)(count))
#define trace_hwpmc_log(o, what, err)			((void)(err))

#endif /* HWPMC_TRACE_H */
