/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zero-copy reading of a pmclog, beside the pmclog(3) interface.
 *
 * A record is handed out as a pointer into the iterator's own buffer (or the
 * caller's memory); it stays valid until the next call for the same iterator.
 * Those of FreeBSD's logs that look different, whatever the version, the byte
 * order and the machine, are handed out as if they were ours.
 * Record starts are 4-aligned only: read fields with pmclog_get32() and
 * pmclog_get64().  Every record handed out is structurally sound: its length is
 * a multiple of 4, at least that of its type's fixed part, and within what was
 * read; the strings of its type are terminated inside it.  Samples that the log
 * has in packs (PMCLOG_EXT_SAMPLES) come as CALLCHAINs like all others.
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
 * @offset: of its first byte in the stream
 * @serial: counts from 1
 * @stored: bytes it takes in the stream: @len, unless it looked different
 *	there; of samples out of a pack the first that is handed out has the
 *	pack's, the others 0
 * @pack:   0; of samples out of a pack (the record at @offset) their number in
 *	it, from 1
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
	PMCLOG_ITER_RECORD	= 1,	/* a record was handed out */
	PMCLOG_ITER_EOF		= 0,	/* the end, at a record boundary */
	PMCLOG_ITER_MORE	= 2,	/* nothing more now (EAGAIN, or feed) */
	/*
	 * See pmclog_iter_error().  It stays, but a record that the end of a
	 * file cut can be asked for again: the file may have grown.
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
 * struct pmclog_format - what a log was found to be
 * @era:        which layout its records have
 * @version:    as INITIALIZE has it: major << 24 | minor << 16 | patch
 * @freq:       ticks of the records' clock in a second; 0: unknown
 * @big_endian: numbers are; 64-bit ones with their low word first
 * @word:       bytes of an address: 8 or 4; 0: no record has told so far
 * @ours:       written by hwpmc for Linux
 *
 * Records are handed out as those of <linux/pmclog.h> whatever they are in the
 * log.  A clock of era A becomes nanoseconds since 1970.
 */
struct pmclog_format {
	enum pmclog_era	era;
	uint32_t	version;
	uint64_t	freq;
	uint8_t		big_endian;
	uint8_t		word;
	uint8_t		ours;
};

/* NULL with errno ENOMEM.  The fd is not closed by pmclog_iter_close(). */
struct pmclog_iter *pmclog_iter_fd(int fd);
/* The memory must outlive the iterator; its end is the end of the log. */
struct pmclog_iter *pmclog_iter_mem(const void *buf, size_t len);
/*
 * Where a log is in memory from its byte @offset on: the number of bytes, at
 * *@p, until it is asked again; 0 is the end for now, -1 an error with errno.
 * Fewer bytes than it said before: the others are gone.
 */
typedef ssize_t (*pmclog_window_fn)(void *ctx, uint64_t offset,
				    const unsigned char **p);
/*
 * A log that is in memory a part at a time, and that somebody may change or cut
 * meanwhile: a mapped file.  So all but samples, in which there is nothing to be
 * believed, is copied before it is looked at.  @window is asked when more is
 * needed than it told of, and where the log seems damaged.
 */
struct pmclog_iter *pmclog_iter_window(pmclog_window_fn window, void *ctx);
/* For pmclog_iter_feed(). */
struct pmclog_iter *pmclog_iter_new(void);
/* Appends (copies) bytes; 0, or -1 with errno. */
int pmclog_iter_feed(struct pmclog_iter *it, const void *buf, size_t len);
/* Packs are handed out as they are, not as the samples in them; for good. */
void pmclog_iter_raw(struct pmclog_iter *it);
/*
 * For good: where a record is damaged, goes on at the next that seems sound.
 * Without INITIALIZE at the start, that is guessed from the first 64 KiB (not if
 * they are fed).  Samples of a pack whose chain
 * was in what was skipped are skipped as well; where its slot was in use
 * before, they get that chain instead.
 * A record longer than our CLOSELOG is handed out when the bytes that follow it
 * have come, or at the end of a file: its length may be the damage.
 */
void pmclog_iter_resync(struct pmclog_iter *it);
/*
 * How often that was; and where first, and how many bytes in all.  A missing
 * INITIALIZE counts, even where no byte was skipped.
 */
uint64_t pmclog_iter_gaps(const struct pmclog_iter *it, uint64_t *first,
			  uint64_t *bytes);
enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec);
/*
 * The clocks of up to @n records behind the last one that was handed out, in
 * the log's layout; those of a pack have one.  Returns how many: as far as they
 * were read already, are of the same log, and are those of <linux/pmclog.h>.
 */
unsigned int pmclog_iter_ahead(const struct pmclog_iter *it, uint64_t *tsc,
			       unsigned int n);

/*
 * Waits until pmclog_iter_ahead() sees more than the last record, if anything
 * follows it: RECORD.  What was handed out is gone then.
 */
enum pmclog_iter_status pmclog_iter_await(struct pmclog_iter *it);

/**
 * struct pmclog_passed - samples that nobody looked at
 * @n:      so many records
 * @pmcid:  of all of them
 * @latest: of their clocks, but for those that the next record is before:
 *	    in a log that is sorted they are damaged
 */
struct pmclog_passed {
	uint64_t	n;
	uint64_t	latest;
	uint32_t	pmcid;
};

/*
 * Passes over samples of one PMC that follow each other, up to one whose clock
 * is in [@from, @to).  False: there are none, or they are not passed over; so
 * one that comes next may still be of another time.  It reads nothing: call it
 * between calls of pmclog_iter_next().
 */
bool pmclog_iter_pass(struct pmclog_iter *it, uint64_t from, uint64_t to,
		      struct pmclog_passed *passed);
/*
 * Of the log that the last record was of; changes with the next one.  Several
 * logs may follow each other in a stream, each in a format of its own.
 */
const struct pmclog_format *pmclog_iter_format(const struct pmclog_iter *it);
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
