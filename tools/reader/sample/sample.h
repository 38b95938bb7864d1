/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sample, and the keys that samples of the same chain are grouped by.
 *
 * Chains are separate for each event and command.  A command can group them
 * further by process, thread, CPU, slice of time or field.  So the memory of an
 * analysis depends on the number of distinct groups that it asked for.
 */
#ifndef READER_SAMPLE_H
#define READER_SAMPLE_H

#include "base/idtab.h"
#include "base/mem.h"
#include "log/detail.h"
#include "log/fields.h"

/**
 * struct hw_keys - what samples can be grouped by of their details; 0: not known, or
 * not grouped by
 * @mem:     string number: where the data came from
 * @latency: the latency + 1
 * @prediction: PMCLOG_BRANCH_PREDICTED or _MISPRED, of the newest branch
 * @from, @to: its ends, as numbers of frames + 1
 */
struct hw_keys {
	uint32_t mem, latency, prediction, from, to;
};

/**
 * struct sample_more - what the record behind a sample has of it
 * @raw:    fields of its tracepoint, or no data
 * @detail: its branches and its access to memory, or none
 */
struct sample_more {
	struct tp_raw raw;
	struct detail detail;
};

/**
 * struct sample - a sample, complete when its chain is known
 * @tsc:    clock of the log
 * @number: of the wanted samples before it in the log
 * @event:  of struct events
 * @comm:   string number of the command's name
 * @group:  of struct groups
 * @chain:  of struct chains; chains keep their numbers until chains_finish()
 * @weight: events that it stands for if its event is sampled at a rate, else 1
 * @kernel: taken in kernel mode
 * @ends:   how its user chain ends, END_*
 * @frames: its @nframes frames, the innermost first, valid until the callback
 *	    returns; only for profile.on_samples
 * @more:   valid until the callback returns; NULL: nothing, see sample_more()
 */
struct sample {
	uint64_t tsc;
	uint64_t number;
	uint32_t pid, tid, cpu;
	uint32_t event, comm, group, chain;
	uint64_t weight;
	bool kernel;
	uint8_t ends;
	uint32_t nframes;
	const uint32_t *frames;
	const struct sample_more *more;
};

extern const struct sample_more sample_nothing;

static inline const struct sample_more *sample_more(const struct sample *s)
{
	return s->more ? s->more : &sample_nothing;
}

/* what samples are grouped by */
#define BY_PID		1U
#define BY_TID		2U
#define BY_CPU		4U
#define BY_SLICE	8U
#define BY_FIELD	16U
#define BY_MEM		32U
#define BY_LATENCY	64U
#define BY_PREDICTION	128U
#define BY_FROM		256U
#define BY_TO		512U

#define BY_BRANCH	(BY_PREDICTION | BY_FROM | BY_TO)
#define BY_HW		(BY_MEM | BY_LATENCY | BY_BRANCH)

/* @value: string number: value of a field.  Keys that are not grouped by are 0. */
struct group {
	uint32_t pid, tid, cpu, slice, value;
	struct hw_keys hw;
};

/**
 * struct groups - all groups that occur; number 0 is all zeros
 * @by:     BY_*
 * @length: length of a slice of time in seconds, with BY_SLICE
 * @slice:  the same in clock ticks, when the clock is known
 * @origin: clock at the start of slice 0
 */
struct groups {
	unsigned int by;
	double length;
	uint64_t slice, origin;
	struct group *group;
	uint32_t n, cap;
	uint32_t last;		/* the group looked up last */
	struct idtab tab;
};

/*
 * The group of a sample whose tsc, pid, tid and cpu are filled in.  @g has the keys
 * that more of the sample, and of the profile, is needed for; the others are 0.
 */
uint32_t groups_find(struct groups *t, const struct sample *s, struct group *g);

void groups_free(struct groups *t);

#endif /* READER_SAMPLE_H */
