// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "session.h"

static void run(const struct session *s, const char *arguments)
{
	char command[2048], args[1024];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(s->text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	snprintf(args, sizeof(args), arguments, s->dir);
	snprintf(command, sizeof(command), "exec pmcstat %s", args);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(126);
}

bool session_begin(struct session *s, const char *arguments)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/session-XXXXXX");
	if (!mkdtemp(s->dir))
		return false;
	/* beside the directory */
	snprintf(s->text, sizeof(s->text), "%s.said", s->dir);
	fflush(NULL);
	s->pid = fork();
	if (!s->pid)
		run(s, arguments);
	return s->pid > 0;
}

static int is_log(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

unsigned int session_files(struct session *s)
{
	struct dirent **found;
	int n, i;

	for (i = 0; i < (int)s->nfiles; i++)
		free(s->file[i]);
	s->nfiles = 0;
	n = scandir(s->dir, &found, is_log, alphasort);
	for (i = 0; i < n; i++) {
		if (s->nfiles < SESSION_FILES &&
		    asprintf(&s->file[s->nfiles], "%s/%s", s->dir,
			     found[i]->d_name) > 0)
			s->nfiles++;
		free(found[i]);
	}
	if (n >= 0)
		free(found);
	return s->nfiles;
}

static off_t size_of(struct session *s, unsigned int n)
{
	struct stat st;

	if (session_files(s) < n || stat(s->file[n - 1], &st))
		return -1;
	return st.st_size;
}

/* Does not reap it. */
static bool has_ended(const struct session *s)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, s->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

bool session_wait(struct session *s, unsigned int n, size_t bytes)
{
	off_t first = -1, size;

	for (;;) {
		size = size_of(s, n);
		if (first < 0)
			first = size;
		if (size >= 0 && size >= first + (off_t)bytes)
			return true;
		if (has_ended(s))
			return false;
		sleep_ms(20);
	}
}

bool session_wait_samples(struct session *s, unsigned int n, pid_t pid,
			  unsigned int samples)
{
	uint64_t start;
	struct log log;
	bool is;

	for (;;) {
		start = now_ns();
		session_files(s);
		is = session_log(s, n, &log);
		if (is) {
			is = log_samples(&log, .pid = pid) >= samples;
			log_free(&log);
		}
		if (is || has_ended(s))
			return is;
		/* the log grows while it is not looked at */
		sleep_ms(20 + 2 * ((now_ns() - start) / 1000000));
	}
}

static bool taken(int dev, struct pmclog_account *a)
{
	struct hwpmc_driverstats st;

	if (dev_stats(dev, HWPMC_STATS_MODULE, &st))
		return false;
	*a = st.account;
	return true;
}

bool session_wait_taken(struct session *s, uint64_t samples, uint64_t filtered)
{
	struct pmclog_account from = {}, now = {};
	int dev = dev_open();
	bool is = false, good = dev >= 0 && taken(dev, &from);

	while (good && !is) {
		good = taken(dev, &now) && !has_ended(s);
		is = now.committed >= from.committed + samples &&
		     now.filtered >= from.filtered + filtered;
		sleep_ms(20);
	}
	if (dev >= 0)
		close(dev);
	return good && is;
}

static void read_said(struct session *s)
{
	int fd = open(s->text, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, s->said, sizeof(s->said) - 1) : -1;

	s->said[n > 0 ? n : 0] = '\0';
	close(fd);
}

bool session_says(struct session *s, const char *words)
{
	for (;;) {
		read_said(s);
		if (strstr(s->said, words))
			return true;
		if (has_ended(s))
			return false;
		sleep_ms(20);
	}
}

int session_end(struct session *s, int signal)
{
	int status;

	if (signal)
		kill(s->pid, signal);
	status = wait_for(s->pid);
	s->pid = 0;
	read_said(s);
	session_files(s);
	return status;
}

void session_free(struct session *s)
{
	unsigned int i;

	if (s->pid > 0)
		session_end(s, SIGKILL);
	session_files(s);
	for (i = 0; i < s->nfiles; i++) {
		unlink(s->file[i]);
		free(s->file[i]);
	}
	rmdir(s->dir);
	unlink(s->text);
	memset(s, 0, sizeof(*s));
}

bool session_log(struct session *s, unsigned int n, struct log *log)
{
	bool loaded;
	int fd;

	if (n > s->nfiles)
		return false;
	fd = open(s->file[n - 1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	loaded = log_load(log, fd);
	close(fd);
	return loaded;
}

uint64_t session_said(const struct session *s, const char *words)
{
	const char *p = strstr(s->said, words);

	if (!p || p == s->said)
		return UINT64_MAX;
	for (p--; p > s->said && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	return *p >= '0' && *p <= '9' ? strtoull(p, NULL, 10) : UINT64_MAX;
}
