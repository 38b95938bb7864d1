// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the logs of a program true?  The checks are those of the kselftests.
 *
 * A program can end its log anywhere, and make writes of it fail: what is there
 * must be sound as far as it goes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guestlog.h"
#include "logfile.h"

#define LOG_MAX		(2 << 20)	/* longer ones take too long */
#define CUT		(LOG_CUT | LOG_DROPS | LOG_DISCARDS)

/* Tasks may be unknown, but only if process records were dropped. */
static const char *check(struct log *log, bool strangers)
{
	struct log again = { .data = log->data, .len = log->len };
	const unsigned int flags = CUT | (strangers ? LOG_STRANGERS : 0);
	const char *what = log_check(log, flags);

	if (!what || log_check(&again, flags | LOG_PROC_DROPS) ||
	    !again.proc_dropped)
		return what;
	return NULL;
}

void guestlog_check(int fd, bool strangers, char *what, size_t size)
{
	struct log log = { 0 };
	const char *fault;
	struct stat st;

	if (fstat(fd, &st) || !st.st_size || st.st_size > LOG_MAX)
		return;
	log.data = malloc(st.st_size);
	log.len = st.st_size;
	if (log.data && pread(fd, log.data, log.len, 0) == st.st_size) {
		fault = check(&log, strangers);
		if (fault)
			snprintf(what, size, "log of %zu bytes: %s", log.len,
				 fault);
	}
	free(log.data);
}
