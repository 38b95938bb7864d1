/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_H
#define PMCSTAT_H

#include <linux/hwpmc.h>
#include <pmc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sysexits.h>

#define CPU_LIMIT		4095	/* PMC ids hold 12 bits; ~0 is taken */
#define DEFAULT_PERIOD		65536
#define DEFAULT_CLOCK_PERIOD	1000000	/* nanoseconds */
#define DEFAULT_INTERVAL	5.0

/**
 * struct counter - a PMC, first as asked for, then as allocated
 * @event:      what it counts
 * @mode:       system sampling or counting
 * @flags:      PMC_F_*
 * @cpu:        a CPU or PMC_CPU_ALL
 * @period:     of sampling
 * @cumulative: print the count since the start, not since the last line
 * @id:         the PMC
 * @saved:      what the last line was printed from
 */
struct counter {
	struct pmc_event_desc event;
	enum pmc_mode	mode;
	uint32_t	flags;
	int		cpu;
	uint64_t	period;
	int		cumulative;
	pmc_id_t	id;
	uint64_t	saved;
};

enum action { ACTION_RUN, ACTION_LIST, ACTION_HELP, ACTION_VERSION };

struct options {
	enum action	action;
	struct counter	*counters;
	size_t		ncounters;
	const char	*log_path;	/* -O */
	const char	*text_path;	/* -o */
	const char	*kallsyms_path;
	double		interval;	/* seconds, -w */
	double		limit;		/* seconds, -l; 0: none */
	int		quiet;
	int		verbose;
	char		**command;	/* NULL: none */
};

/* options.c: 0, or -1 with one line in @msg */
int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen);
void options_free(struct options *o);
int options_sampling(const struct options *o);
void usage(FILE *f);

/* cpulist.c */
struct cpulist {
	int		all;
	unsigned char	set[CPU_LIMIT];
};

int cpulist_parse(struct cpulist *list, const char *text);

/* child.c */
struct child {
	int	pid;		/* 0: none, or reaped */
	int	go;		/* a byte here lets it exec */
	int	failed;		/* errno of exec comes here */
	int	status;		/* exit status as a shell has it */
};

void child_fork(struct child *c, char **command, int keep_stdout);
/* 0, or the errno of exec; then the child is reaped. */
int child_exec(struct child *c);
/* 1 when it has ended */
int child_reap(struct child *c);
/* Waits for its end, pressing harder as time goes by; @signal may be 0. */
void child_end(struct child *c, int signal);

/* counts.c: 0, or -1 with errno when a PMC cannot be read */
struct counts {
	struct counter	*counters;
	size_t		n;
	FILE		*out;
	unsigned int	lines;
};

int counts_print(struct counts *c, struct pmc_owner *owner);

/* metadata.c: what only user space can read, as records for the log */
struct metadata_sink {
	/* 0, or -1 with errno */
	int	(*write)(void *arg, const void *records, size_t len);
	void	*arg;
	size_t	budget;		/* bytes; counts down */
	size_t	dropped;	/* records that did not fit */
};

/* @root: "" or the top of another tree with proc, sys and lib in it */
int metadata_send(const char *root, const char *release,
		  struct metadata_sink *sink);

/* rates.c: warns of PMCs that sampled less than asked, from the log's end */
void rates_report(const struct options *o, int log_fd);

/* summary.c */
void summary_print(const struct options *o,
		   const struct hwpmc_driverstats *stats);
void summary_multiplexed(const struct counter *c, struct pmc_owner *owner);

/* session.c: the exit status */
int session_run(struct options *o);

/* main.c: "pmcstat: ..." on standard error */
void warn_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
uint64_t now_ns(void);

#endif /* PMCSTAT_H */
