/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zero-copy reading of a pmclog, beside the pmclog(3) interface.
 *
 * A record is handed out as a pointer into the iterator's own buffer (or the
 * caller's memory); it stays valid until the next call for the same iterator.
 * Record starts are 4-aligned only: read fields with pmclog_get32() and
 * pmclog_get64().  Every record handed out is structurally sound: its length is
 * a multiple of 4, at least that of its type's fixed part, and within what was
 * read; the strings of its type are terminated inside it.
 */
#ifndef PMCLOG_ITER_H
#define PMCLOG_ITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmclog_iter;

/**
 * struct pmclog_rec - one record
 * @data:   its first byte; the layouts are those of <linux/pmclog.h>
 * @len:    bytes, header included
 * @type:   PMCLOG_T_*
 * @tsc:    the record's clock
 * @offset: of its first byte in the stream
 * @serial: counts from 1
 */
struct pmclog_rec {
	const unsigned char *data;
	uint32_t	len;
	uint32_t	type;
	uint64_t	tsc;
	uint64_t	offset;
	uint64_t	serial;
};

enum pmclog_iter_status {
	PMCLOG_ITER_RECORD	= 1,	/* a record was handed out */
	PMCLOG_ITER_EOF		= 0,	/* the end, at a record boundary */
	PMCLOG_ITER_MORE	= 2,	/* nothing more now (EAGAIN, or feed) */
	/*
	 * See pmclog_iter_error().  It stays, but a record that the end of a
	 * file cut can be asked for again: the file may have grown.
	 */
	PMCLOG_ITER_ERROR	= -1,
};

/* NULL with errno ENOMEM.  The fd is not closed by pmclog_iter_close(). */
struct pmclog_iter *pmclog_iter_fd(int fd);
/* The memory must outlive the iterator; its end is the end of the log. */
struct pmclog_iter *pmclog_iter_mem(const void *buf, size_t len);
/* For pmclog_iter_feed(). */
struct pmclog_iter *pmclog_iter_new(void);
/* Appends (copies) bytes; 0, or -1 with errno. */
int pmclog_iter_feed(struct pmclog_iter *it, const void *buf, size_t len);
enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec);
/* What is wrong, one line without a newline, and at which offset. */
const char *pmclog_iter_error(const struct pmclog_iter *it, uint64_t *offset);
void pmclog_iter_close(struct pmclog_iter *it);

static inline uint32_t pmclog_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t pmclog_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#define PMCLOG_FIELD32(rec, type, field) \
	pmclog_get32((rec)->data + offsetof(type, field))
#define PMCLOG_FIELD64(rec, type, field) \
	pmclog_get64((rec)->data + offsetof(type, field))

/*
 * PMCLOG_EXT_* of an extension record whose layout we know; 0 for any other
 * record.  A subtype's layouts of another version than 0 are unknown.
 */
uint32_t pmclog_iter_ext_subtype(const struct pmclog_rec *rec);

/* FreeBSD's word for a record type ("callchain", "map-in"), or NULL */
const char *pmclog_iter_type_name(uint32_t type);

#ifdef __cplusplus
}
#endif

#endif /* PMCLOG_ITER_H */
