/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the log of pmcstat --bpf, as the module's writer thread does. */
#ifndef PMCSTAT_WRITER_H
#define PMCSTAT_WRITER_H

#include "pmcstat.h"

/**
 * struct writer - the log
 * @last:    stamp of the last record: stamps never decrease
 * @samples: in the buffer
 * @account: @written, @discarded and @made are the writer's
 * @err:     errno of the first write that failed; nothing is written after it
 */
struct writer {
	int		fd;
	unsigned char	*buf;
	size_t		used;
	uint64_t	last;
	uint64_t	samples;
	uint64_t	records;
	int		err;
	struct hwpmc_driverstats stats;
};

/* @fd: of the log; 0, or -1 with errno */
int writer_init(struct writer *w, int fd);
void writer_free(struct writer *w);
int writer_flush(struct writer *w);		/* 0, or -1: @w->err */
/* Adds a complete record, which gets the stamp; a sample if @sample. */
void writer_copy(struct writer *w, const void *record, uint64_t tsc, int sample);
/* The same of records that pmcstat makes: struct metadata_sink's @write */
int writer_metadata(void *w, const void *records, size_t len);

/* The first records of a log */
void writer_begin(struct writer *w, int owner_pid);
void writer_clock(struct writer *w);
void writer_counter(struct writer *w, const struct counter *c, uint32_t row);
void writer_name(struct writer *w, uint32_t pid, uint32_t tid, const char *comm,
		 uint64_t tsc);
void writer_attach(struct writer *w, uint32_t pmcid, uint32_t pid,
		   const char *path);
void writer_fork(struct writer *w, uint32_t from, uint32_t to, uint64_t tsc);
void writer_thread_exit(struct writer *w, uint32_t tid, uint64_t tsc);
void writer_exit(struct writer *w, uint32_t pid, uint64_t tsc);

/* struct pmclog_ext_mapping's fields, and the path */
struct mapping {
	struct pmclog_ext_mapping m;
	char		path[PMCLOG_PATH_MAX];
};

void writer_mapping(struct writer *w, const struct mapping *m, uint64_t tsc);

/* struct pmclog_procexec's fields, and the path */
void writer_exec(struct writer *w, const struct pmclog_procexec *x,
		 const char *path, uint64_t tsc);
void writer_drop(struct writer *w, const struct pmclog_dropnotify *d);
void writer_period(struct writer *w, uint32_t pmcid, uint32_t cpu,
		   uint64_t period, uint64_t tsc);
void writer_rate(struct writer *w, const struct pmclog_ext_rate *r);
/* CLOSELOG, with @account, of which the writer's own numbers are filled in */
void writer_end(struct writer *w, const struct pmclog_account *account);

#endif /* PMCSTAT_WRITER_H */
