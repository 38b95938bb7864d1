// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples itself: prints the pcs at which SIGPROF found it, until there are
 * enough.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

#define ENOUGH	150

static volatile unsigned long pcs[ENOUGH];
static volatile int n;
volatile unsigned long sink;

static void sample(int sig, siginfo_t *info, void *ctx)
{
	const ucontext_t *uc = ctx;

	(void)sig;
	(void)info;
	if (n < ENOUGH)
#ifdef __x86_64__
		pcs[n++] = (unsigned long)uc->uc_mcontext.gregs[REG_RIP];
#else
		pcs[n++] = (unsigned long)uc->uc_mcontext.pc;
#endif
}

__attribute__((noinline)) static void hot(void)
{
	unsigned long v = 1, i;

	sink = 0;			/* before the loop */
	while (n < ENOUGH) {
		for (i = 0; i < 100000; i++)
			v = v * v ^ i;	/* in the loop */
		/* another, as a processor may take each interrupt of a loop at one instruction */
		for (i = 0; i < 30000; i++)
			v = v * 5 + (v >> 7);
		sink += v;
	}
	sink ^= v;			/* after the loop */
}

int main(void)
{
	struct sigaction sa = {
		.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct itimerval every = {
		.it_interval = { 0, 1000 }, .it_value = { 0, 1000 },
	};
	struct itimerval never = { .it_value = { 0, 0 } };
	int i;

	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	hot();
	setitimer(ITIMER_PROF, &never, NULL);
	for (i = 0; i < ENOUGH; i++)
		printf("%#lx\n", pcs[i]);
	return 0;
}
