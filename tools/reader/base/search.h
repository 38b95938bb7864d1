/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search. */
#ifndef READER_SEARCH_H
#define READER_SEARCH_H

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

#endif /* READER_SEARCH_H */
