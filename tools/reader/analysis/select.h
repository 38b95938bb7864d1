/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples are wanted, by what is in their chains and in their fields:
 * conditions that take symbols to tell, of pmclog filter.
 */
#ifndef READER_SELECT_H
#define READER_SELECT_H

#include "analysis/resolver.h"
#include "sample/filter.h"

#define SELECT_MAX	64	/* conditions on frames */

/* one on a field of tracepoints; @negated: it must not have that value */
struct field_choice {
	char *name;
	const char *value;
	bool negated;
};

/**
 * struct select - conditions, all of which have to hold
 * @pattern: of a function's or an object's name, condition i is bit i of
 * @sym, @dso, @negated: which of them are on what
 * @field: those on fields
 * @met:   by function, what a frame in it meets
 * @frames: what the last sample's frames meet
 * @failed: after a message: symbols that were asked for can't be used
 */
struct select {
	const char *pattern[SELECT_MAX];
	uint32_t n;
	uint64_t sym, dso, negated;
	struct field_choice *field;
	uint32_t nfield, capfield;
	struct resolver r;
	uint64_t *met;
	uint32_t nmet, capmet;
	uint64_t frames;
	bool failed;
};

enum {
	SELECT_SYM = 1100, SELECT_DSO, SELECT_FIELD,
};

#define SELECT_LONG						\
	{ "sym", required_argument, NULL, SELECT_SYM },		\
	{ "dso", required_argument, NULL, SELECT_DSO },		\
	{ "field", required_argument, NULL, SELECT_FIELD }
#define SELECT_HELP							\
	"      --sym PATTERN  only with such a function in the chain\n"	\
	"      --dso PATTERN  only with such a file or module in the chain\n" \
	"      --field NAME=VALUE\n"					\
	"                     only with that value of a tracepoint's field\n"

/* As filter_option(), which the negation is from. */
int select_option(struct select *t, struct filter *f, int opt,
		  const char *arg);
/* What conditions on frames the frames of a sample meet, of a part of it. */
uint64_t select_frames(struct select *t, struct profile *p,
		       const struct aspace *as, bool kernel,
		       const unsigned char *pc, uint32_t n);
/* Nothing that more frames meet can change whether it is wanted. */
bool select_is_known(const struct select *t, uint64_t met);
bool select_wanted(const struct select *t, uint64_t met);
/* By its fields; @f: NULL: nothing is known of them. */
bool select_fields(const struct select *t, const struct tp_format *f,
		   const struct tp_raw *raw);
/* The first field that none of the log's tracepoints has; or NULL. */
const char *select_no_field(const struct select *t,
			    const struct tracepoints *tps);
void select_free(struct select *t);

#endif /* READER_SELECT_H */
