// SPDX-License-Identifier: GPL-2.0-only
/* the ORC unwinder, which shows where it is */
#include <asm/ptrace.h>

#ifndef PROBE_OLD
#include <asm/unwind.h>

#ifndef CONFIG_UNWINDER_ORC
#error "another unwinder, or none"
#endif

unsigned long probe(const struct unwind_state *u);
unsigned long probe(const struct unwind_state *u)
{
	return u->sp + u->signal + u->error + (unsigned long)u->regs;
}
#endif
