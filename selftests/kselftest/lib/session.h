/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pmcstat as somebody runs it: what it writes to a directory, and what it says.
 */
#ifndef TEST_SESSION_H
#define TEST_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfile.h"

#define SESSION_FILES	64

/**
 * struct session - a pmcstat
 * @dir:  a directory of its own, which goes with it
 * @said: its standard output and error (of the file @text), once it has ended
 * @file: what session_files() has found, in the order of names
 */
struct session {
	pid_t		pid;
	char		dir[64];
	char		text[96];
	char		said[8192];
	char		*file[SESSION_FILES];
	unsigned int	nfiles;
};

/* Runs "pmcstat ARGUMENTS", in which %s becomes the directory. */
bool session_begin(struct session *s, const char *arguments);
/* Looks at the directory: how many files there are. */
unsigned int session_files(struct session *s);
/*
 * Waits for the @n-th file, and until it has @bytes more than when it was seen
 * first; false when pmcstat ends meanwhile.
 */
bool session_wait(struct session *s, unsigned int n, size_t bytes);
/* Likewise, until it has @samples of the process @pid.  Bytes may be of anything. */
bool session_wait_samples(struct session *s, unsigned int n, pid_t pid,
			  unsigned int samples);
/*
 * Waits until the module, all owners together, has taken @samples more, and left
 * out @filtered more, than when it was called.
 */
bool session_wait_taken(struct session *s, uint64_t samples, uint64_t filtered);
/* Waits until it has said @words; false when it ends meanwhile. */
bool session_says(struct session *s, const char *words);
/* Its exit status, after @signal (0: by itself) */
int session_end(struct session *s, int signal);
void session_free(struct session *s);
/* The whole log in the @n-th file */
bool session_log(struct session *s, unsigned int n, struct log *log);
/* The number in front of @words in what was said; UINT64_MAX: there is none */
uint64_t session_said(const struct session *s, const char *words);

#endif /* TEST_SESSION_H */
