/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zero-copy reading of a pmclog, beside the pmclog(3) interface.
 *
 * The iterator returns a record as a pointer into its own buffer (or the caller's
 * memory).  The record stays valid until the next call for the same iterator.
 * Records of FreeBSD's logs with another layout, of any version, byte order and
 * machine, are converted to the layout of <linux/pmclog.h>.
 * Record starts are 4-aligned only: read fields with pmclog_get32() and
 * pmclog_get64().  Every record returned is structurally valid: its length is
 * a multiple of 4, at least that of its type's fixed part, and within the bytes
 * read; the strings of its type are terminated inside it.  Packed samples
 * (PMCLOG_EXT_SAMPLES) are returned as CALLCHAIN records like all others.
 */
#ifndef PMCLOG_ITER_H
#define PMCLOG_ITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

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
 * @offset: of its first byte in the stream; packed samples: of the pack
 * @serial: number of the record, from 1
 * @stored: bytes that the record takes in the stream: @len, unless its layout
 *	there is different.  Of a pack's samples the first one returned has the
 *	pack's length, the others 0.
 * @pack:   number of a packed sample in its pack, from 1; 0 for other records
 */
struct pmclog_rec {
	const unsigned char *data;
	uint32_t	len;
	uint32_t	type;
	uint64_t	tsc;
	uint64_t	offset;
	uint64_t	serial;
	uint32_t	stored;
	uint32_t	pack;
};

enum pmclog_iter_status {
		PMCLOG_ITER_RECORD	= 1,	/* a record was returned */
	PMCLOG_ITER_EOF		= 0,	/* the end, at a record boundary */
	PMCLOG_ITER_MORE	= 2,	/* no data now (EAGAIN, or feed more) */
	/*
	 * See pmclog_iter_error().  The error is permanent, except for a record
	 * cut by the end of a file: call again, the file may have grown.
	 */
	PMCLOG_ITER_ERROR	= -1,
};

enum pmclog_era {
	PMCLOG_ERA_NONE,	/* no INITIALIZE was read yet */
	PMCLOG_ERA_A,		/* FreeBSD 6 to 11: wall clock, seconds first */
	PMCLOG_ERA_B,		/* 12 and 13 */
	PMCLOG_ERA_C,		/* 14 and later, and hwpmc for Linux */
};

/**
 * struct pmclog_format - the format of a log
 * @era:        layout of its records
 * @version:    from INITIALIZE: major << 24 | minor << 16 | patch
 * @freq:       ticks of the records' clock in a second; 0: unknown
 * @big_endian: numbers are big-endian; 64-bit ones with their low word first
 * @word:       bytes of an address: 8 or 4; 0: not known from a record yet
 * @ours:       written by hwpmc for Linux
 *
 * This is the format in the log; records returned always have the layout of
 * <linux/pmclog.h>.  A clock of era A becomes nanoseconds since 1970.
 */
struct pmclog_format {
	enum pmclog_era	era;
	uint32_t	version;
	uint64_t	freq;
	uint8_t		big_endian;
	uint8_t		word;
	uint8_t		ours;
};

/* NULL with errno ENOMEM.  pmclog_iter_close() does not close @fd. */
struct pmclog_iter *pmclog_iter_fd(int fd);
/* The memory must outlive the iterator; its end is the end of the log. */
struct pmclog_iter *pmclog_iter_mem(const void *buf, size_t len);
/*
 * Maps a log from its byte @offset on: stores the address in *@p and returns the
 * number of bytes there, 0 at the end for now, or -1 with errno.  The memory stays
 * valid until the next call.  Fewer bytes than in an earlier call mean that the log
 * was cut.
 */
typedef ssize_t (*pmclog_window_fn)(void *ctx, uint64_t offset,
				    const unsigned char **p);
/*
 * An iterator over a log of which @window maps a part at a time, such as a mapped
 * file, and which may change or be cut while it is read.  Therefore all records
 * except samples are copied before they are examined; the contents of a sample need
 * no check.  The iterator calls @window when it needs bytes beyond the mapped part,
 * and where the log seems damaged.
 */
struct pmclog_iter *pmclog_iter_window(pmclog_window_fn window, void *ctx);
/* An iterator that pmclog_iter_feed() supplies with bytes. */
struct pmclog_iter *pmclog_iter_new(void);
/* Appends (copies) bytes; 0, or -1 with errno. */
int pmclog_iter_feed(struct pmclog_iter *it, const void *buf, size_t len);
/* From now on, returns packs as they are, not the samples in them. */
void pmclog_iter_raw(struct pmclog_iter *it);
/*
 * From now on, the iterator continues after a damaged record at the next one that
 * seems valid.  If the log does not begin with INITIALIZE, the format is guessed from
 * the first 64 KiB (not if the bytes are fed).  Packed samples whose chain was in the
 * skipped bytes are skipped, too.  But if the chain's slot was in use before, they get
 * that older chain.
 * A record longer than our CLOSELOG is returned only when the bytes after it have
 * arrived, or at the end of a file, because its length may be damaged.
 */
void pmclog_iter_resync(struct pmclog_iter *it);
/*
 * Returns the number of damaged places skipped; stores the offset of the first, and
 * the number of bytes skipped in all.  A missing INITIALIZE counts as a place, even
 * if no byte was skipped.
 */
uint64_t pmclog_iter_gaps(const struct pmclog_iter *it, uint64_t *first,
			  uint64_t *bytes);
enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec);
/*
 * Stores the clocks of up to @n records that follow the last one returned.  The
 * samples of a pack have one clock.  Returns the number stored: only records that
 * have been read already, belong to the same log, and have the layout of
 * <linux/pmclog.h>.
 */
unsigned int pmclog_iter_ahead(const struct pmclog_iter *it, uint64_t *tsc,
			       unsigned int n);

/*
 * Reads until pmclog_iter_ahead() has a record, if any follows the last one: RECORD.
 * Other values are those of pmclog_iter_next().  The record returned last becomes
 * invalid.
 */
enum pmclog_iter_status pmclog_iter_await(struct pmclog_iter *it);

/**
 * struct pmclog_passed - samples that pmclog_iter_pass() skipped
 * @n:      number of samples
 * @pmcid:  the PMC of all of them
 * @latest: the latest of their clocks; ignores clocks later than that of the
 *	    next record, which in a sorted log are damaged
 */
struct pmclog_passed {
	uint64_t	n;
	uint64_t	latest;
	uint32_t	pmcid;
};

/*
 * Skips consecutive samples of one PMC, up to one whose clock is in [@from, @to).
 * Returns false if it skipped none.  It may skip fewer samples than possible, so the
 * next record may still be a sample of another time.  It does not read from the
 * descriptor: call it between calls of pmclog_iter_next().
 */
bool pmclog_iter_pass(struct pmclog_iter *it, uint64_t from, uint64_t to,
		      struct pmclog_passed *passed);
/*
 * The format of the log that the last record belongs to; valid until the next
 * record.  Several logs may follow each other in a stream, each with its own format.
 */
const struct pmclog_format *pmclog_iter_format(const struct pmclog_iter *it);
/*
 * Returns a message about the fault, one line without a newline, and stores its
 * offset.  @offset may be NULL.
 */
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
 * PMCLOG_EXT_* of an extension record whose layout is known; 0 for any other
 * record.  Only layouts of version 0 are known.
 */
uint32_t pmclog_iter_ext_subtype(const struct pmclog_rec *rec);

/* FreeBSD's word for a record type ("callchain", "map-in"), or NULL */
const char *pmclog_iter_type_name(uint32_t type);

#ifdef __cplusplus
}
#endif

#endif /* PMCLOG_ITER_H */
