/* SPDX-License-Identifier: GPL-2.0-only */
/* How programs come of programs: mutate.c and plausible.c. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "program.h"

/* A program that has reached something new: others may get parts of it. */
void mutate_pool(const uint8_t *data, size_t size);

/* The mutation's random numbers, less than @n. */
unsigned int below(unsigned int n);

/* plausible.c */
#define PLAUSIBLE_OPS	12
/* An operation for place @at of @p, behind what it needs and @p lacks; how many. */
unsigned int plausible(const struct program *p, unsigned int at, struct op *ops);
/* @op becomes one of @code, with arguments that often make sense. */
void good_op(struct op *op, unsigned int code);

#endif /* FUZZ_MUTATE_H */
