/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording and counting without the module, by BPF programs and perf events.  A build
 * without libbpf has without.c instead, which refuses.
 */
#ifndef PMCSTAT_BACKEND_H
#define PMCSTAT_BACKEND_H

#include "pmcstat.h"

#define BPF_RING_SIZE	(1U << 20)	/* bytes for each CPU, without --ring */

/*
 * Why this program and this user cannot record by BPF, in one line, with errno EPERM if it
 * is the user; NULL: they can
 */
const char *bpf_refusal(void);
/*
 * The option or event that does not go with --bpf, in one line in @msg: -1; 0: all
 * do.
 */
int bpf_check(const struct options *o, char *msg, size_t len);

/* As those of pmcs.c; they end the program on failure */
void bpf_allocate(struct options *o);
int bpf_attach(const struct options *o, int pid);
void bpf_start(void);
void bpf_stop(void);
int bpf_read(const struct counter *c, struct pmc_reading *r);
void bpf_close(void);

/* For poll(2): readable when rings fill; -1: there is no log */
int bpf_poll_fd(void);
/* Moves what is in the rings to the log; -1: the log cannot be written */
int bpf_look(void);
/* True if the processes of -t, if there are any, have ended */
int bpf_targets_ended(void);

/* How log.c drives the log */
struct log_control;
const struct log_control *bpf_log(void);

#endif /* PMCSTAT_BACKEND_H */
