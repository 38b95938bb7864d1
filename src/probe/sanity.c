// SPDX-License-Identifier: GPL-2.0-only
/* Must compile: else the probes say nothing. */
#include <linux/module.h>
#include <linux/perf_event.h>

int probe(struct perf_event *event);
int probe(struct perf_event *event)
{
	return event->cpu;
}
