/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of numbers, for qsort(): ORDER(a->x, b->x) ?: ORDER(a->y, b->y) */
#ifndef READER_ORDER_H
#define READER_ORDER_H

/* Less than 0 if @a comes first, more if @b does; 0: they are equal */
#define ORDER(a, b)	(((a) > (b)) - ((a) < (b)))

#endif /* READER_ORDER_H */
