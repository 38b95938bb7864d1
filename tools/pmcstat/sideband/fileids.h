/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids of the files whose mappings are in the log.  With them a reader can
 * tell whether a file is still the one that ran.
 */
#ifndef PMCSTAT_FILEIDS_H
#define PMCSTAT_FILEIDS_H

#include <pthread.h>

#include "libpmc_elfid.h"
#include "pmcstat.h"

#define FILEIDS_NS	1000000000LL	/* of a second */
#define FILEIDS_LOOKERS	32		/* threads, if others hang */

/**
 * struct fileid - a file that was mapped
 * @since: wall clock, ns: the file was mapped then, so it had its content by then
 * @len:   length of the id; 0: the file has none, or it is unknown
 * @read:  the file was found and read, or does not have to be
 * @told:  the id is in the log
 * @seen:  the file is in the log that was read last
 */
struct fileid {
	char		*path;
	uint32_t	major, minor;
	uint64_t	ino;
	int64_t		since;
	uint32_t	len;
	unsigned char	id[ELFID_MAX];
	int		read, told, seen;
};

/**
 * struct looker - a thread that looks for files, under the table's lock
 * @busy: there is one
 * @file: it looks at this file now, which may not answer ...
 * @pid: ... or, without one, at this process
 */
struct looker {
	int		busy;
	struct fileid	*file;
	int		pid;
};

/**
 * struct fileids - files, each once
 * @lock: of all here.  It is not held while a file of strangers is opened or read
 * @tree: of tsearch(3)
 * @full: it, or the log, had no room for a file or its id
 * @looker: mostly one; more if some hang
 */
struct fileids {
	pthread_mutex_t	lock;
	struct fileid	**file;
	size_t		n, cap;
	void		*tree;
	int		full;
	struct looker	looker[FILEIDS_LOOKERS];
};

/*
 * Adds all files of which the log read from @fd has executable mappings.  Files from
 * an earlier log are searched again, because they may have been written to.
 * Returns 0 if reading took too long and the log's end was left out.
 */
int fileids_of_log(struct fileids *t, int fd);
/* Adds the vdso, which the kernel has mapped into each process. */
void fileids_of_vdso(struct fileids *t);
/* Returns the file's entry; NULL if the table is full.  t->lock is held. */
struct fileid *fileids_add(struct fileids *t, const struct fileid *key);
/*
 * Finds the ids of the files in the table: by path, where the file may have been
 * replaced, then in processes that still map it.
 *
 * A thread does that, since a file's server may not answer.  These functions wait for
 * it as long as it makes progress, which a file may prevent for a second or so, and for
 * ten seconds at most.  What it finds later is in the table at the next call.
 *
 * 0, or an errno; ETIMEDOUT: files were left out.
 */
int fileids_find(struct fileids *t);
/*
 * Likewise: adds all files that the @n processes have mapped now, and finds their ids.
 * A pid of 0 is all processes.
 */
int fileids_find_in(struct fileids *t, const int *pids, size_t n);
/*
 * Writes the ids that are not in the log yet.  @always: each record has device
 * and inode, because more files may follow; otherwise only if two files share a
 * path.
 */
int fileids_send(struct fileids *t, struct metadata_sink *sink, int always);
/* Nothing is freed while a thread hangs. */
void fileids_free(struct fileids *t);

#endif /* PMCSTAT_FILEIDS_H */
