/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in order: to sort it, and to search in it. */
#ifndef READER_ORDER_H
#define READER_ORDER_H

/*
 * Less than 0 if @a comes first, more if @b does; 0: they are equal.  For qsort(), by
 * one number and then by another: ORDER(a->x, b->x) ?: ORDER(a->y, b->y).
 */
#define ORDER(a, b)	(((a) > (b)) - ((a) < (b)))

/*
 * Of how many numbers @i below @n @holds is true; that must be the first ones, and no
 * others.
 */
#define SEARCH(n, i, holds)						\
	__extension__ ({						\
		__typeof__((n) + 0) lo_ = 0, hi_ = (n), i;		\
									\
		while (lo_ < hi_) {					\
			i = lo_ + (hi_ - lo_) / 2;			\
			if (holds)					\
				lo_ = i + 1;				\
			else						\
				hi_ = i;				\
		}							\
		lo_;							\
	})

#endif /* READER_ORDER_H */
