/* SPDX-License-Identifier: GPL-2.0-only */
/* process.c: the operations on processes, for the table in calls.c. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "../program.h"

void process_kill(const struct op *op);
void process_wait(const struct op *op);
void process_thread(const struct op *op);
void process_send(const struct op *op);
void process_receive(const struct op *op);
void process_map(const struct op *op);
void process_prctl(const struct op *op);
void process_exec(const struct op *op);
void process_setuid(const struct op *op);
void process_unshare(const struct op *op);
void process_load(const struct op *op);
void process_sleep(const struct op *op);
void process_param(const struct op *op);
void process_hotplug(const struct op *op);

#endif /* FUZZ_CALLS_H */
