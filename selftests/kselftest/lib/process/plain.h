/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program: plain_outer() -> plain_mid() -> plain_leaf(), which faults.  None
 * has a frame pointer where the architecture lets it do without.
 */
#ifndef TEST_PLAIN_H
#define TEST_PLAIN_H

#include "target.h"

#define PAGE		4096
#define TOUCHES		16

/* @page: what the fault is at */
void plain_leaf(volatile char *page);
long plain_outer(volatile char *page, long a);
/* What touch() calls: plain_outer(), or a copy of it */
extern long (*volatile outer)(volatile char *page, long a);

/* Faults at @page with a frame pointer of 0; not described by unwind tables. */
void zero_leaf(volatile char *page);

/* @n pages without memory yet */
volatile char *fresh_pages(unsigned int n);
/* @n faults in plain_leaf(), each at a fresh page */
void touch(unsigned int n);
/* The body of a target: TOUCHES faults, a pause, and both again */
int toucher(struct target *t, void *arg);

#endif /* TEST_PLAIN_H */
