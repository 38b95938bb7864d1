/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids of the files that a log has mappings of, for the log: whoever reads
 * it can tell then whether a file is still the one that ran.
 */
#ifndef PMCSTAT_FILEIDS_H
#define PMCSTAT_FILEIDS_H

#include "libpmc_elfid.h"
#include "pmcstat.h"

/**
 * struct fileid - a file that was mapped
 * @since: wall clock, ns: it was mapped then, so it had its content by then
 * @len:   of the id; 0: it has none, or is not known
 * @read:  it was found and read, or need not be
 * @told:  it is in the log
 * @seen:  in the log that was read last
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
 * struct fileids - files, each once
 * @tree: of tsearch(3)
 */
struct fileids {
	struct fileid	**file;
	size_t		n, cap;
	void		*tree;
};

/*
 * All that a log, which is read from @fd, has executable mappings of.  Those that
 * were in another log before are found anew: they may have been written to.
 */
void fileids_of_log(struct fileids *t, int fd);
/* All that a process, or each one if @pid is 0, has mapped now. */
void fileids_of_processes(struct fileids *t, int pid);
/* What the kernel has mapped into each. */
void fileids_of_vdso(struct fileids *t);
/*
 * Find the ids of what is in the table: by the paths, where there may be
 * another file now, and in the processes that have it mapped still.
 */
void fileids_find_paths(struct fileids *t);
void fileids_find_mapped(struct fileids *t);
/*
 * Writes those not told yet.  @always: each name tells which file of that path
 * is meant, since more may follow; else only if there are several.
 */
int fileids_send(struct fileids *t, struct metadata_sink *sink, int always);
void fileids_free(struct fileids *t);

#endif /* PMCSTAT_FILEIDS_H */
