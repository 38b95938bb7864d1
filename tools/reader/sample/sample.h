/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sample, and what samples of the same chain may be told apart by.
 *
 * Chains are kept apart by event and command.  Whoever asks for more (by
 * process, thread, CPU, slice of time) has them kept apart by that too: the
 * memory of an analysis follows what is distinct in what was asked for.
 */
#ifndef READER_SAMPLE_H
#define READER_SAMPLE_H

#include "base/idtab.h"
#include "base/mem.h"
#include "log/fields.h"

/**
 * struct sample - as it is known once its chain is
 * @tsc:    clock of the log
 * @event:  of struct events
 * @comm:   string number of the command's name
 * @group:  of struct groups
 * @chain:  of struct chains; chains keep their numbers until chains_finish()
 * @value:  string number: of the field that samples are told apart by
 * @kernel: taken in kernel mode
 * @ends:   how its user chain does, END_*
 * @frames: @nframes of them, the innermost first, until the callback returns;
 *	    only where samples are told of so (profile.on_samples)
 * @raw:    the fields of its tracepoint, until the callback returns; no data:
 *	    it has none
 */
struct sample {
	uint64_t tsc;
	uint32_t pid, tid, cpu;
	uint32_t event, comm, group, chain, value;
	bool kernel;
	uint8_t ends;
	uint32_t nframes;
	const uint32_t *frames;
	struct tp_raw raw;
};

/* what samples are told apart by */
#define BY_PID		1U
#define BY_TID		2U
#define BY_CPU		4U
#define BY_SLICE	8U
#define BY_FIELD	16U

/* what is not asked for is 0 */
struct group {
	uint32_t pid, tid, cpu, slice, value;
};

/**
 * struct groups - those that occur; number 0 has nothing but zeros
 * @by:     BY_*
 * @length: seconds of a slice of time, with BY_SLICE
 * @slice:  the same in clock ticks, when the clock is known
 * @origin: where slice 0 begins
 */
struct groups {
	unsigned int by;
	double length;
	uint64_t slice, origin;
	struct group *group;
	uint32_t n, cap;
	uint32_t last;		/* the one asked for last */
	struct idtab tab;
};

/* The group of a sample whose tsc, pid, tid and cpu are filled in. */
uint32_t groups_find(struct groups *t, const struct sample *s);

static inline uint32_t groups_of(struct groups *t, const struct sample *s)
{
	return t->n && !t->by ? 0 : groups_find(t, s);
}

void groups_free(struct groups *t);

#endif /* READER_SAMPLE_H */
