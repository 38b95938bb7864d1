/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a log: of a file, a pipe or a connection (-R), or of a recording of
 * our own while it runs.  The latter is two processes with a pipe between them,
 * so that neither waits for the other longer than the pipe does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/base/samefile.h"
#include "reader/freebsd/log_source.h"
#include "output/outputs.h"
#include "pmcstat.h"
#ifdef WITHOUT_ANALYSIS
#define TOP_NO_RECORDING SIGTERM	/* it has no such reader */
#else
#include "reader/live/top.h"
#endif

static int analyses_wanted(const struct reading *r)
{
	return r->graph || r->calltree || r->gprof || r->annotate ||
	       r->annotate_graph;
}

static pid_t recorder;		/* of our own recording */

/* What is asked of the reader, with those of all options that it has a say in. */
static struct reading reading_of(const struct options *o)
{
	struct reading r = o->read;

	r.live = o->action != ACTION_READ ? recorder : 0;
	r.text_path = o->text_path;
	r.interval = o->interval;
	r.quiet = o->quiet;
	r.verbose = o->verbose;
	return r;
}

#ifdef WITHOUT_ANALYSIS
static int analyse(const struct reading *r, struct input *in)
{
	(void)r;
	(void)in;
	return EX_SOFTWARE;
}

static int analyses_check(const struct options *o)
{
	if (!o->read.top && !analyses_wanted(&o->read))
		return 0;
	warn_line("this pmcstat was built without analyses: it prints logs");
	return EX_UNAVAILABLE;
}
#else
static int analyse(const struct reading *r, struct input *in)
{
	return r->top ? top_run(r, in) : read_analyse(r, in);
}

/* Of a log, that its events have room for profiles shows when they are read. */
static int gprof_check(const struct options *o)
{
	const char **name = calloc(o->ncounters + 1, sizeof(*name));
	size_t n = 0, i;
	int status;

	if (!name)
		return EX_OSERR;
	for (i = 0; i < o->ncounters; i++)
		if (PMC_IS_SAMPLING_MODE(o->counters[i].mode))
			name[n++] = o->counters[i].event.name;
	status = read_gprof_check(&o->read, name, n);
	free(name);
	return status;
}

static int live_check(const struct options *o)
{
	struct reading r = reading_of(o);

	return top_check(&r);
}

static int analyses_check(const struct options *o)
{
	if (o->read.top)
		return live_check(o);
	return o->read.gprof ? gprof_check(o) : 0;
}
#endif

/* Before there is something to read that nobody could have again */
static int reading_check(const struct options *o)
{
	const struct reading *r = &o->read;
	const struct output out[] = {
		{ "-G", r->graph }, { "-F", r->calltree }, { "-M", r->gprof_map },
		{ "-m", r->annotate }, { "-a", r->annotate_graph },
		{ "-o", o->text_path },
	};
	const size_t n = sizeof(out) / sizeof(out[0]);
	int status = analyses_check(o);
	size_t i;

	/* FreeBSD's takes it there, too, and shows the same with it */
	if (r->nplugin && !r->top && !o->quiet)
		warn_line("-f %s: it is of -T, and changes nothing here",
			  r->plugin[0]);
	/* nothing would be found there, and nobody would be told, or too late */
	if (!status && r->root)
		status = directory_check("-r", r->root, EX_NOINPUT);
	if (!status && r->kernel_dir && access(r->kernel_dir, R_OK)) {
		warn_line("-k %s: %s", r->kernel_dir, strerror(errno));
		status = EX_NOINPUT;
	}
	if (!status)
		status = outputs_distinct(out, n);
	for (i = 0; i < n && !status; i++)
		status = output_check(out[i].path);
	return status;
}

/* Nobody wants what is made of a log in its place. */
static int outputs_spare(const struct options *o, const struct input *in)
{
	const struct reading *r = &o->read;
	const char *const file[] = {
		r->graph, r->calltree, r->annotate, r->annotate_graph,
		r->gprof_map, o->text_path,
	};
	size_t i;

	for (i = 0; i < sizeof(file) / sizeof(file[0]); i++)
		if (file[i] && same_file(in->fd, file[i])) {
			warn_line("%s is the log itself: it would be lost",
				  file[i]);
			return EX_CANTCREAT;
		}
	return 0;
}

static int read_log(const struct options *o, int fd)
{
	struct reading r = reading_of(o);
	struct input in;
	int status = input_open_log(&in, r.path, fd);

	if (status)
		return status;
	status = outputs_spare(o, &in);
	if (!status)
		status = r.top || analyses_wanted(&r) ?
			 analyse(&r, &in) : read_dump(&r, &in);
	input_close(&in);
	return status;
}

int read_run(const struct options *o)
{
	int status = reading_check(o);

	/* a file that may not grow is an error of its write, as a full disk is */
	signal(SIGXFSZ, SIG_IGN);
	return status ? status : read_log(o, -1);
}

/* ------------------------------------------------------------------------
 * Our own recording
 */
#define KEPT_MAX	4096	/* bytes of standard error */
#define NAP_NS		10000000L
#define NAPS		1000	/* for a reader that looks up many names */

static int kept_stderr = -1;

/* What was said while the screen was not ours */
static void say_kept(void)
{
	char buf[KEPT_MAX];
	off_t end, from;
	ssize_t n;

	if (kept_stderr < 0)
		return;
	end = lseek(STDERR_FILENO, 0, SEEK_END);
	from = end > KEPT_MAX ? end - KEPT_MAX : 0;
	n = pread(STDERR_FILENO, buf, sizeof(buf), from);
	dup2(kept_stderr, STDERR_FILENO);
	kept_stderr = -1;
	if (from)
		warn_line("%lld bytes on standard error left out, these are the last:",
			  (long long)from);
	if (n > 0 && write(STDERR_FILENO, buf, (size_t)n) < 0)
		return;
}

/* As top.c: otherwise the screens are text, which needs no terminal. */
static int uses_screen(const struct options *o)
{
	return o->read.top && !o->text_path && isatty(STDOUT_FILENO);
}

/* The screen is the reader's: neither we nor the command write to it. */
static void leave_screen(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int said = memfd_create("pmcstat", MFD_CLOEXEC);

	if (null < 0 || said < 0)
		die(EX_OSERR, "cannot leave the screen: %s", strerror(errno));
	kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(said, STDERR_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
	close(said);
}

/**
 * struct reader - the other process
 * @pid:   while there is one
 * @of:    whose it is
 * @begun: it has something to make of what it reads
 */
static struct reader {
	pid_t	pid;
	pid_t	of;
	int	begun;
} reader;

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EX_OSERR;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* who reads what it writes has seen enough */
	if (WTERMSIG(status) == SIGPIPE)
		return OUTPUT_UNREAD;
	warn_line("the process that reads the log was ended by signal %d (%s)",
		  WTERMSIG(status), strsignal(WTERMSIG(status)));
	return EX_SOFTWARE;
}

/*
 * At exit, if the recording has failed: the screen is given back before it is said why.
 * We hold what the reader reads, so that it would wait for us for ever.
 */
static void leave_reader(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	unsigned int naps;

	if (getpid() != reader.of)
		return;
	if (reader.pid)
		kill(reader.pid, TOP_NO_RECORDING);
	for (naps = 0; reader.pid && !waitpid(reader.pid, NULL, WNOHANG); naps++) {
		if (naps == NAPS)
			kill(reader.pid, SIGKILL);
		nanosleep(&nap, NULL);
	}
	say_kept();
}

static pid_t fork_reader(const struct options *o, int pipe_fd[2])
{
	sigset_t told;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC))
		die(EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	recorder = getpid();
	pid = fork();
	if (pid < 0)
		die(EX_OSERR, "cannot fork: %s", strerror(errno));
	if (pid) {
		close(pipe_fd[0]);
		return pid;
	}
	close(pipe_fd[1]);
	/* the recording ends first, and the log with it */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	/* a terminal that is gone ends what is on its screen */
	if (!uses_screen(o))
		signal(SIGHUP, SIG_IGN);
	/* from the recorder, whatever our caller does with it */
	sigemptyset(&told);
	sigaddset(&told, TOP_NO_RECORDING);
	signal(TOP_NO_RECORDING, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &told, NULL);
	exit(read_log(o, pipe_fd[0]));
}

void read_begun(void)
{
	reader.begun = 1;
}

/* A recording that did not come about costs no file that is there already. */
static void forsake(void)
{
	if (reader.pid && !reader.begun && getpid() == reader.of)
		kill(reader.pid, SIGKILL);
}

static void start_reader(const struct options *o, int pipe_fd[2])
{
	reader.pid = fork_reader(o, pipe_fd);
	reader.of = getpid();
	/* one that has the screen has to give it back */
	if (!o->read.top || o->text_path)
		atexit(forsake);
}

/*
 * An output that has failed takes precedence, but for one that nobody reads.  A log that
 * nobody reads any more is not what went wrong first.
 */
static int status_of_both(int recording, int reading)
{
	if (reading && (reading != OUTPUT_UNREAD || !recording || recording == EX_IOERR))
		return reading;
	return recording;
}

int read_live(struct options *o)
{
	char path[32];
	int log[2], status, read_status;

	status = reading_check(o);
	if (status)
		return status;
	start_reader(o, log);
	snprintf(path, sizeof(path), "/dev/fd/%d", log[1]);
	o->log_path = path;
	filter_process(o, reader.pid);	/* it is as much of us as the recorder */
	if (o->read.top)
		o->quiet = 1;
	if (uses_screen(o)) {
		leave_screen();
		atexit(leave_reader);
	}
	status = session_run(o);
	close(log[1]);
	read_status = wait_for(reader.pid);
	reader.pid = 0;
	say_kept();
	return status_of_both(status, read_status);
}
