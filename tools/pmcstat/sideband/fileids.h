/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids of the files whose mappings are in the log.  With them a reader can
 * tell whether a file is still the one that ran.
 */
#ifndef PMCSTAT_FILEIDS_H
#define PMCSTAT_FILEIDS_H

#include "libpmc_elfid.h"
#include "pmcstat.h"

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
 * struct fileids - files, each once
 * @tree: of tsearch(3)
 */
struct fileids {
	struct fileid	**file;
	size_t		n, cap;
	void		*tree;
};

/*
 * Adds all files of which the log read from @fd has executable mappings.  Files from
 * an earlier log are searched again, because they may have been written to.
 * Returns 0 if reading took too long and the log's end was left out.
 */
int fileids_of_log(struct fileids *t, int fd);
/* Adds all files that a process has mapped now; @pid 0: all processes. */
void fileids_of_processes(struct fileids *t, int pid);
/* Adds the vdso, which the kernel has mapped into each process. */
void fileids_of_vdso(struct fileids *t);
/*
 * Find the ids of the files in the table: fileids_find_paths() by path, where
 * the file may have been replaced; fileids_find_mapped() in processes that
 * still map it.
 */
void fileids_find_paths(struct fileids *t);
void fileids_find_mapped(struct fileids *t);
/*
 * Writes the ids that are not in the log yet.  @always: each record has device
 * and inode, because more files may follow; otherwise only if two files share a
 * path.
 */
int fileids_send(struct fileids *t, struct metadata_sink *sink, int always);
void fileids_free(struct fileids *t);

#endif /* PMCSTAT_FILEIDS_H */
