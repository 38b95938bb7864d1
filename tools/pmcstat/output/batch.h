/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for the log, gathered into few writes. */
#ifndef PMCSTAT_BATCH_H
#define PMCSTAT_BATCH_H

#include "pmcstat.h"

#define BATCH_MAX	65536

/**
 * struct batch - records to be written together
 * @failed: a write failed: no further writes
 */
struct batch {
	struct metadata_sink *sink;
	size_t		len;
	int		failed;
	unsigned char	data[BATCH_MAX];
};

/**
 * struct record - a record being built
 * @full: a string was too long: the record is dropped
 */
struct record {
	uint32_t	len;
	int		full;
	unsigned char	data[PMCLOG_RECORD_MAX];
};

void batch_flush(struct batch *b);
/* Begins a record with the fixed part of its type. */
void record_begin(struct record *r, const void *fixed, size_t len);
void record_string(struct record *r, const char *s);
/* Adds the record to the batch, if the log has room for it. */
void record_end(struct record *r, uint32_t type, struct batch *b);
/* The beginning of an extension record. */
struct pmclog_ext record_ext(enum pmclog_ext_subtype subtype);
/* Adds the build-id of @name. */
void batch_build_id(struct batch *b, const char *name, const unsigned char *id,
		    uint32_t len);

#endif /* PMCSTAT_BATCH_H */
