/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selects samples by their call chains and their fields, for pmclog filter.
 * Conditions on chains need symbols.
 */
#ifndef READER_SELECT_H
#define READER_SELECT_H

#include "analysis/resolver.h"
#include "sample/filter.h"

#define SELECT_MAX	64	/* conditions on frames */

/* condition on a tracepoint's field; @negated: it must not have the value */
struct field_choice {
	char *name;
	const char *value;
	bool negated;
	bool known;	/* some tracepoint has it */
};

/**
 * struct select - conditions, all of which have to hold
 * @pattern: of the name of a function or an object; condition i is bit i below
 * @sym, @dso, @negated: conditions on functions, on objects, negated ones
 * @field: conditions on fields
 * @met:   by function, the conditions that a frame in it meets
 * @frames: the conditions that the frames of the last sample meet
 * @failed: after a message: symbols that the user named can't be used
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

/* As filter_option(); takes the negation from @f. */
int select_option(struct select *t, struct filter *f, int opt,
		  const char *arg);
/* Conditions that the given frames of a sample meet. */
uint64_t select_frames(struct select *t, struct profile *p,
		       const struct aspace *as, bool kernel,
		       const unsigned char *pc, uint32_t n);
/* Is the result final, whatever conditions more frames meet? */
bool select_is_known(const struct select *t, uint64_t met);
bool select_wanted(const struct select *t, uint64_t met);
/* Is a sample wanted by its fields?  @f is NULL if the format is not known. */
bool select_fields(const struct select *t, const struct tp_format *f,
		   const struct tp_raw *raw);
/* Notes which fields these tracepoints have: before each next log, and in the end. */
void select_see_fields(struct select *t, const struct tracepoints *tps);
/* The first field that no tracepoint seen so far has; or NULL. */
const char *select_no_field(const struct select *t);
void select_free(struct select *t);

#endif /* READER_SELECT_H */
