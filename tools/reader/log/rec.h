/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of a record: REC32(r, callchain, pid) is the pid of a struct pmclog_callchain. */
#ifndef READER_REC_H
#define READER_REC_H

#include <pmclog_iter.h>

#define REC32(r, type, field)	PMCLOG_FIELD32(r, struct pmclog_##type, field)
#define REC64(r, type, field)	PMCLOG_FIELD64(r, struct pmclog_##type, field)
#define REC_STR(r, type, field) \
	((const char *)(r)->data + offsetof(struct pmclog_##type, field))

#endif /* READER_REC_H */
