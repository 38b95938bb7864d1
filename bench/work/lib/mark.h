/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages from a program in the guest to the plugin in QEMU (phases/phases.c):
 * pairs of instructions without effect, in blocks of their own.
 */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

#define MARK_NOP	0x00841f0fU	/* nopl DISP32(%rax,%rax) */
#define MARK_MAGIC	0x48775030U	/* DISP32: this + command; argument */

enum {
	MARK_CLEAR	= 1,
	MARK_ADD	= 2,
	MARK_START	= 3,
	MARK_STOP	= 4,
};

/* Tells the plugin the phases: each line of FILE begins with an address. */
void mark_phases(const char *file);
void mark(unsigned int command);

#endif /* BENCH_MARK_H */
