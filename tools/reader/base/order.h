/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in order: to sort it, and to search in it. */
#ifndef READER_ORDER_H
#define READER_ORDER_H

#include <stdint.h>

/*
 * Less than 0 if @a comes first, more if @b does; 0: they are equal.  For qsort(), by
 * one number and then by another: ORDER(a->x, b->x) ?: ORDER(a->y, b->y).
 */
#define ORDER(a, b)	(((a) > (b)) - ((a) < (b)))

/* Defines @name for qsort() of elements of @type.  @order compares two of them, *a and *b. */
#define DEFINE_ORDER(name, type, order)					\
	static int name(const void *pa_, const void *pb_)		\
	{								\
		const __typeof__(type) *a = pa_, *b = pb_;		\
									\
		return order;						\
	}
/* The same for qsort_r() of numbers of elements, whose array is the argument. */
#define DEFINE_ID_ORDER(name, type, order)				\
	static int name(const void *pa_, const void *pb_, void *all_)	\
	{								\
		const __typeof__(type) *a = all_, *b = all_;		\
									\
		a += *(const uint32_t *)pa_;				\
		b += *(const uint32_t *)pb_;				\
		return order;						\
	}

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
