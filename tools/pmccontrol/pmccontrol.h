/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCCONTROL_H
#define PMCCONTROL_H

#include <linux/hwpmc.h>
#include <pmc.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>

#include "reader/base/say.h"

#define ALL	(-1)

/**
 * struct change - one -e or -d
 * @cpu:    a CPU, or ALL: every online CPU
 * @row:    a row, or ALL
 * @enable: enable the row; otherwise disable it
 */
struct change {
	int	cpu;
	int	row;
	int	enable;
};

enum action {
	ACTION_NONE, ACTION_CHANGE, ACTION_ROWS, ACTION_EVENTS, ACTION_STATS,
	ACTION_DOCTOR, ACTION_HELP, ACTION_VERSION
};

struct options {
	enum action	action;
	struct change	*changes;	/* in the order of the command line */
	size_t		nchanges;
};

/* options.c: 0, or -1 with one line in @msg */
int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen);
void options_free(struct options *o);
void usage(FILE *f);

/*
 * ranges.c: the members of a set, as in "0-2, 5"
 * @set: @n bytes, not zero for members
 */
char *ranges_text(const unsigned char *set, size_t n);

/* change.c, list.c, stats.c: the exit status */
int change_rows(struct pmc_owner *owner, const struct options *o);
int list_rows(struct pmc_owner *owner);
int print_stats(struct pmc_owner *owner);
/* doctor.c: 1 if recording does not work */
int doctor(void);

/* main.c */
const struct hwpmc_cpuinfo *cpuinfo(struct pmc_owner *owner);

#endif /* PMCCONTROL_H */
