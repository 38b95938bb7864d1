/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_H
#define PMCSTAT_H

#include <errno.h>
#include <linux/hwpmc.h>
#include <pmc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sysexits.h>
#include <time.h>

#include "reader/base/cpulist.h"
#include "reader/base/say.h"
#include "reader/freebsd/reading.h"

#define DEFAULT_RATE		4000	/* samples a second */
#define DEFAULT_CLOCK_PERIOD	1000000	/* nanoseconds */
#define DEFAULT_INTERVAL	5.0

/**
 * struct wanted - which samples are selected
 * @condition: @n conditions
 * @cgroup: path of the directory, up to a comma; NULL: no such condition
 * @only: --only has asked for the condition
 * @implied: the user gave no condition: a module without conditions is sufficient
 */
struct wanted {
	struct hwpmc_condition condition[HWPMC_NCONDITION];
	const char	*cgroup[HWPMC_NCONDITION];
	int		only[HWPMC_NCONDITION];
	uint32_t	n;
	int		implied;
};

/**
 * struct counter - a PMC, first as requested, then as allocated
 * @event:      the event that it counts
 * @spec:       the user's specification of the event
 * @split:      @spec names no PMU, and the processor's kinds of cores have one each: one
 *		counter of several
 * @mode:       a system or process mode, sampling or counting
 * @flags:      PMC_F_*
 * @branch:     with PMC_F_BRANCH: PERF_SAMPLE_BRANCH_*
 * @cpu:        a CPU or PMC_CPU_ALL; PMC_CPU_ANY for processes
 * @period:     sampling period; with PMC_F_FREQ, samples a second
 * @fixed:      -n or the event's own term has asked for this period
 * @cumulative: print the count since the start, not since the last line
 * @filter:     conditions on samples
 * @id:         the PMC
 * @last:       the reading from which the last line was printed
 * @shown:      what that line has of it
 */
struct counter {
	struct pmc_event_desc event;
	const char	*spec;
	int		split;
	enum pmc_mode	mode;
	uint32_t	flags;
	uint64_t	branch;
	int		cpu;
	uint64_t	period;
	int		fixed;
	int		cumulative;
	struct wanted	filter;
	pmc_id_t	id;
	struct pmc_reading last;
	struct pmc_reading shown;
};

/* Of a process, which also runs on CPUs that do not have the event */
static inline int counter_is_of_some(const struct counter *c)
{
	return (c->event.flags & PMC_EVENT_SOME_CPUS) && PMC_IS_VIRTUAL_MODE(c->mode);
}

/* The same event of another kind of core */
static inline int counter_is_sibling(const struct counter *a, const struct counter *b)
{
	return a != b && a->split && b->split && a->spec == b->spec;
}

enum action {
	ACTION_RUN,		/* record or count */
	ACTION_LIVE,		/* record into a pipe, and read it: -T, -G, ... */
	ACTION_READ,		/* read a log, -R (with -T: as it comes) */
	ACTION_LIST,		/* -L */
	ACTION_DESCRIBE,	/* -u */
	ACTION_HELP,
	ACTION_VERSION,
};

/**
 * struct cpugroup - CPUs that have a log of their own
 * @mask: as for sched_setaffinity(2), @len bytes
 * @ncpus: how many of them are online
 */
struct cpugroup {
	unsigned char	mask[CPU_LIMIT / 8 + 1];
	size_t		len;
	unsigned int	ncpus;
};

#define WRITERS_OF_NODES	~0U
#define WRITERS_MAX		1024U

/**
 * struct options - the command line
 * @targets:  -t: process numbers and patterns, in the order given
 * @describe: -u: an event
 */
struct options {
	enum action	action;
	struct counter	*counters;
	size_t		ncounters;
	const char	**targets;
	size_t		ntargets;
	const char	*log_path;	/* -O: a file, "-" or "host:port" */
	int		log_dir;	/* log_path is a directory */
	uint64_t	rotate_size;	/* bytes of each file; 0: no limit */
	double		rotate_seconds;	/* of each file; 0: no limit */
	uint32_t	keep;		/* number of files to keep; 0: all */
	uint64_t	flight_size;	/* --flight: bytes; 0: not asked for */
	uint32_t	exit_what;	/* --trigger exit: HWPMC_EXIT_* */
	uint32_t	exit_status;
	int		triggers;	/* any triggers given */
	const char	*text_path;	/* -o */
	const char	*kallsyms_path;
	const char	*describe;
	double		interval;	/* seconds, -w */
	double		limit;		/* seconds, -l; 0: none */
	int		packed;		/* pack the samples in the log */
	int		by_frames;	/* no unwind tables */
	int		by_bpf;		/* --bpf: without the module */
	uint32_t	ring_size;	/* --ring: bytes of each ring, --bpf */
	uint32_t	budget_ppm;	/* --budget: of each CPU's time; 0: none */
	unsigned int	writers;	/* --writers: WRITERS_OF_NODES; 0: not given */
	unsigned int	writer;		/* this process' number of these */
	const struct cpugroup *cpus;	/* ... and its CPUs; NULL: all */
	time_t		named;		/* ... and the time in all names; 0: the present */
	unsigned int	number;		/* ... and the number, of all but the first */
	int		compress;	/* -Z */
	int		quiet;
	int		verbose;	/* how often -v */
	char		**command;	/* NULL: none */
	struct reading	read;
};

/* options.c: 0, or the exit status with one line in @msg */
int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen);
void options_free(struct options *o);
/* The exit status for an event that pmc_event_parse() fails for */
static inline int event_status(int err)
{
	return err == EACCES ? EX_NOPERM : EX_USAGE;
}

/* True if notes are wanted: of those that are the same in all processes of --writers, once */
static inline int options_tell(const struct options *o)
{
	return !o->quiet && !o->writer;
}

/* The first PMC of a kind, or NULL */
const struct counter *options_sampling(const struct options *o);
const struct counter *options_counting(const struct options *o);
const struct counter *options_process(const struct options *o);

/* usage.c */
void usage(FILE *f);

/* child.c */
struct child {
	const char *path;	/* without a slash: not found in PATH */
	int	pid;		/* 0: none, or reaped */
	int	go;		/* a byte written here lets it exec */
	int	failed;		/* pipe that receives the errno of exec */
	int	status;		/* exit status as in a shell */
};

/* This program may open as many files as root lets it, the command as many as before. */
void child_raise_files(void);
/* Likewise: this program blocks the signals of @set. */
void child_block_signals(const sigset_t *set);
void child_fork(struct child *c, char **command, int keep_stdout);
/* Ends the program if the command cannot be run, or a signal has ended its process. */
void child_exec(struct child *c, const char *command);
/* 1 when it has ended */
int child_reap(struct child *c);
/* Waits for its end, and sends stronger signals with time; @signal may be 0. */
void child_end(struct child *c, int signal);

/* counts.c: 0, or -1 with errno when a PMC cannot be read */
struct counts {
	struct counter	*counters;
	size_t		n;
	FILE		*out;
	unsigned int	lines;
};

int counts_print(struct counts *c, struct pmc_owner *owner);
/* Prints totals if only parts were printed, and which counts are estimates. */
int counts_end(const struct counts *c, uint64_t elapsed);

/* pmcs.c: on failure, these print the reason and end the program */
/* NULL: --bpf, by choice or because there is no module; @o->by_bpf is set then */
struct pmc_owner *pmcs_open(struct options *o);
/* The meaning of @err if the module's parameter @limit limits the request. */
const char *pmcs_limit(int err, const char *limit);
void pmcs_allocate(struct options *o, struct pmc_owner *owner);
/* 0, ESRCH: there is no such process, EPERM: no permission */
int pmcs_attach(const struct options *o, struct pmc_owner *owner, int pid);
/* 0, or ESRCH: all targets have ended */
int pmcs_start(const struct options *o, struct pmc_owner *owner);
void pmcs_stop(const struct options *o, struct pmc_owner *owner);
/* @owner NULL: --bpf */
int pmcs_read(struct pmc_owner *owner, const struct counter *c,
	      struct pmc_reading *r);
void pmcs_close(struct pmc_owner *owner);

/* filter.c: ends the program on failure */
void filter_set(struct pmc_owner *owner, const struct counter *c);
/* Excludes our process @pid from samples of the whole system */
void filter_process(struct options *o, pid_t pid);

/* net.c */
int net_is_address(const char *path);
/* Returns the socket; ends the program on failure. */
int net_connect(const char *path);

/* log.c: the log's descriptor; --flight: the device's own; -1 without a log */
int log_open(const struct options *o, struct pmc_owner *owner);
void log_metadata(const struct options *o, struct pmc_owner *owner);
/* -O DIR: the number in the log's name */
unsigned int log_number(void);
/* Before the start: collects build-ids, if the log cannot be read at its end */
struct targets;
void log_ids_begin(const struct options *o, const struct targets *targets,
		   int fd);
/* The PMCs run: the log has its initial records. */
void log_begun(int fd);
/* When to call log_is_due() again; 0: never */
uint64_t log_next(void);
int log_is_due(int fd);
/* -Z: readable when log_compressor_failed(); -1: there is none */
int log_compressor_fd(void);
int log_compressor_failed(void);
/* --flight: collects present mappings and new modules, for snapshots */
void log_refresh(const struct options *o, struct pmc_owner *owner,
		 const struct targets *targets, int pid);
/* Continues in the next file, *fd; or -1: the log has to end */
int log_rotate(const struct options *o, struct pmc_owner *owner,
	       const struct targets *targets, int *fd);
/* 0 or an exit status */
int log_close(const struct options *o, struct pmc_owner *owner,
	      const struct targets *targets, int fd);

/*
 * kallsyms.c: --kallsyms.  The file is opened before the start, and copied by a thread
 * afterwards.  The end waits for the thread and returns 0 or an exit status.
 */
void kallsyms_open(const struct options *o);
void kallsyms_begin(void);
int kallsyms_end(void);

/* probes.c: makes probes for events that need one; ends the program on failure */
void probes_make(const struct options *o, struct pmc_owner *owner);
/* To be called when the device is closed */
void probes_remove(void);
/* What has the device as well, and is stopped when the program ends early; or NULL */
void probes_unwinder(struct pmc_unwinder *u);
/* To be called in a child, which must not remove them */
void probes_leave(void);

/* list.c: exit statuses */
int list_events(const struct options *o);
int describe_event(const char *spec);

/* hashes of modules that are in the log */
struct told {
	uint64_t	*hash;
	size_t		n;
};

/* metadata.c: makes log records of data that only user space can read */
struct metadata_sink {
	/* 0, or -1 with errno */
	int	(*write)(void *arg, const void *records, size_t len);
	void	*arg;
	size_t	budget;		/* bytes; counts down */
	size_t	dropped;	/* records that did not fit */
	struct told *told;	/* NULL: send everything */
};

/*
 * Sends the data that has not been sent to @sink yet.
 * @root: "" or the root of another tree that contains proc, sys and lib
 */
int metadata_send(const char *root, const char *release,
		  struct metadata_sink *sink);

/* fields.c: sends fields of tracepoints with PMC_F_RAW; 0, or -1 with errno */
int fields_send(const struct options *o, struct metadata_sink *sink);

/* rates.c: reads the log's end, warns of PMCs that sampled less than requested */
void rates_report(const struct options *o, const unsigned char *tail,
		  size_t len);
void rates_report_file(const struct options *o, int log_fd);

/*
 * summary.c; @compressed: bytes of the compressed log, 0: not compressed.
 * @files: number of the log's files; 0: one file named by the user
 * @lacks: what was compressed is not all in the file
 */
void summary_print(const struct options *o,
		   const struct hwpmc_driverstats *stats, uint64_t compressed,
		   unsigned int files, int lacks);
void summary_budget(const struct options *o, struct pmc_owner *owner);
void summary_multiplexed(const struct options *o, const struct counter *c,
			 struct pmc_owner *owner);

/* cpugroups.c: @groups, @n of them; 0, or -1 with one line in @msg */
int cpugroups_make(const char *root, unsigned int want, struct cpugroup **groups,
		   unsigned int *n, char *msg, size_t msglen);

/* writers.c: --writers.  Without that option, these do nothing */
/*
 * Returns in each of the processes, one for each group of CPUs: in the first at once, in
 * the others when the first has called writers_set_up(), with the @number of its log.
 */
void writers_begin(struct options *o);
void writers_set_up(const struct options *o, unsigned int number);
/* Returns when all of them are ready to start. */
void writers_meet(const struct options *o);
/* A process of them has to end; @fd: to poll for that, from 0 on; -1: no more */
int writers_look(const struct options *o);
int writers_fd(const struct options *o, unsigned int i);
/* The first process: the others are to end. */
void writers_stop(const struct options *o);
/* The first process: *b becomes that of the CPU that has paid most. */
void writers_budget(const struct options *o, struct hwpmc_getbudget *b);
/* The first process: the sums over all; the others: tell it.  0 or an exit status */
int writers_end(const struct options *o, int status, struct hwpmc_driverstats *stats,
		unsigned int *files);

/* session.c: the exit status */
int session_run(struct options *o);

/* read.c: -R, or a recording that is read while it runs */
int read_run(const struct options *o);
int read_live(struct options *o);
/* For the latter: the recording has begun, so the reader's output is needed. */
void read_begun(void);

#endif /* PMCSTAT_H */
