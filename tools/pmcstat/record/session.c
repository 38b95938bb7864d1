/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run: set up, start, wait for an event that ends it, stop, report.  Dying
 * at any point is safe: closing the device releases everything, the command
 * does not begin before child_exec(), and exit() ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/backend.h"
#include "reader/base/numbers.h"
#include "record/flight.h"
#include "output/outputs.h"
#include "pmcstat.h"
#include "record/targets.h"

#define NS_PER_S	1000000000.0
#define REFRESH_NS	60000000000ULL
#define FIRST_REFRESH_NS 1000000000ULL	/* libraries are mapped */
#define RINGS_NS	100000000ULL	/* --bpf: between two looks at the rings */
#define UNPRIVILEGED	"; without privilege only a command can be measured"

enum end {
	END_NOT, END_TIME, END_SIGNAL, END_COMMAND, END_TARGETS, END_LOG,
	END_COUNTS, END_WRITER
};

/**
 * struct session - a run
 * @text:   fd of @counts
 * @log:    fd, -1 without
 * @rotate: requested by SIGHUP
 * @snapshot: requested by SIGUSR2
 * @refresh: when to update the metadata for snapshots, now_ns()
 * @deaf:   the device is not polled: the end of its targets does not end the run
 * @nohup:  SIGHUP was ignored at the start: ignore one from the terminal
 * @signal: it ended the run and was not sent to the command; 0: none
 * @unread: the reader of the counts has gone
 * @began:  when the PMCs were started, now_ns()
 * @next, @limit: when to print counts, when to end; now_ns(), 0: never
 */
struct session {
	struct options	*o;
	struct pmc_owner *owner;
	struct targets	targets;
	struct child	child;
	struct counts	counts;
	int		text;
	int		log;
	int		rotate;
	int		snapshot;
	uint64_t	refresh;
	int		deaf;
	int		signals;
	int		nohup;
	int		signal;
	int		status;
	int		unread;
	uint64_t	began;
	uint64_t	next;
	uint64_t	limit;
};

static void open_text(struct session *s)
{
	const struct options *o = s->o;
	const char *path = o->text_path, *log = o->log_path;

	s->text = log && !strcmp(log, "-") ? STDERR_FILENO : STDOUT_FILENO;
	/* the reader writes to the file; the old content stays until the recording has begun */
	if (path && strcmp(path, "-") && o->action != ACTION_LIVE)
		s->text = output_append(path, 0666);
	if (s->text < 0)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	s->counts.out = output_stream(s->text);
	if (!s->counts.out)
		die(EX_OSERR, "out of memory");
}

static void empty_text(struct session *s)
{
	if (s->text > STDERR_FILENO)
		output_empty(s->text, s->o->text_path);
}

/* True if signals can be blocked during the set-up, so that it can be undone. */
static int signals_can_wait(const struct options *o)
{
	const char *symbols = o->kallsyms_path;

	/* a script may send SIGHUP or SIGUSR2 as soon as the file appears */
	if (o->log_dir || o->flight_size)
		return 1;
	/* opening a pipe may wait for its reader: ^C must end that */
	return o->log_path && output_is_file(o->log_path) &&
	       (!symbols || output_is_file(symbols));
}

/* Not of a shell's >(COMMAND), which has a reader already */
static int is_named_pipe(const char *path)
{
	struct statfs fs;
	struct stat st;

	return !stat(path, &st) && S_ISFIFO(st.st_mode) &&
	       !statfs(path, &fs) && fs.f_type != PIPEFS_MAGIC;
}

/* Checks the output files before a failure could lose data. */
static int outputs_check(const struct options *o)
{
	const int to_file = o->log_path && !o->log_dir && !net_is_address(o->log_path);
	const char *log = to_file ? o->log_path : NULL;
	const struct output out[] = {
		{ "-O", log }, { "-o", o->text_path },
		{ "--kallsyms", o->kallsyms_path },
	};
	int status = outputs_distinct(out, sizeof(out) / sizeof(out[0]));

	if (!status && o->flight_size && !o->log_dir && net_is_address(o->log_path)) {
		warn_line("--flight writes no snapshot to an address: -O ./%s is a file",
			  o->log_path);
		return EX_USAGE;
	}
	if (!status && o->kallsyms_path && !strcmp(o->kallsyms_path, "-") &&
	    (!o->text_path || !strcmp(o->text_path, "-")) && options_counting(o)) {
		warn_line("--kallsyms - and the counts are both on standard output: -o FILE");
		return EX_USAGE;
	}
	/* the wait for its reader could not be ended: see signals_can_wait() */
	if (!status && (o->log_dir || o->flight_size) && o->kallsyms_path &&
	    is_named_pipe(o->kallsyms_path)) {
		warn_line("--kallsyms %s: not a pipe with -O DIR or --flight", o->kallsyms_path);
		return EX_USAGE;
	}

	if (!status && o->text_path && !options_counting(o) && o->action == ACTION_RUN &&
	    !o->quiet)
		warn_line("-o %s: it takes counts, of -p and -s, and there are none",
			  o->text_path);
	if (!status)
		status = output_check(o->kallsyms_path);
	return status ? status : output_check(log);
}

/* Does SIGHUP begin the next file? */
static int can_rotate(const struct options *o)
{
	return o->log_dir && !o->flight_size && !o->writers;
}

static int is_ignored(int signo)
{
	struct sigaction act;

	sigaction(signo, NULL, &act);
	return act.sa_handler == SIG_IGN;
}

static void block_signals(struct session *s)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGIO);
	s->nohup = is_ignored(SIGHUP);
	/* -O DIR under nohup: SIGHUP from kill(1) still begins the next file */
	if (!s->nohup || can_rotate(s->o))
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	child_block_signals(&set);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		die(EX_OSERR, "signalfd: %s", strerror(errno));
	output_signals(s->signals, is_ignored(SIGINT));
}

/* Requests SIGIO, which the device sends when its log fails or the last target ends. */
static void ask_for_sigio(struct session *s)
{
	int fd;

	if (!s->owner)		/* --bpf has no such device */
		return;
	fd = pmc_owner_fd(s->owner);
	if (fcntl(fd, F_SETOWN, getpid()) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC))
		die(EX_OSERR, "cannot ask for SIGIO: %s", strerror(errno));
}

static void nothing_attached(const struct session *s, size_t foreign)
{
	if (foreign)
		die(EX_NOPERM, "none of the %zu processes may be attached to"
		    UNPRIVILEGED, foreign);
	die(EX_DATAERR, "all %zu processes have ended", s->targets.n);
}

/* Processes found by a pattern may have ended, or may belong to another user. */
static void attach_targets(struct session *s)
{
	size_t i, attached = 0, foreign = 0;
	const struct target *t;
	int err;

	for (i = 0; i < s->targets.n; i++) {
		t = &s->targets.target[i];
		err = pmcs_attach(s->o, s->owner, t->pid);
		attached += !err;
		foreign += err == EPERM;
		if (err && t->named)
			die(err == EPERM ? EX_NOPERM : EX_DATAERR,
			    "process %d: %s%s", t->pid, strerror(err),
			    err == EPERM ? UNPRIVILEGED : "");
	}
	if (!attached)
		nothing_attached(s, foreign);
	if (foreign && !s->o->quiet)
		warn_line("%zu %s left out: %s", foreign,
			  plural(foreign, "process was", "processes were"),
			  strerror(EPERM));
	if (s->o->verbose)
		warn_line("attached to %zu %s", attached,
			  plural(attached, "process", "processes"));
}

static void attach(struct session *s)
{
	struct options *o = s->o;
	int err;

	if (!options_process(o))
		return;
	if (s->targets.n)
		attach_targets(s);
	if (!o->command)
		return;
	err = pmcs_attach(o, s->owner, s->child.pid);
	if (err)
		die(err == EPERM ? EX_NOPERM : EX_OSERR,
		    "cannot attach to the command: %s", strerror(err));
}

/* Returns END_TARGETS if there is nothing left to wait for. */
static enum end start(struct session *s)
{
	struct options *o = s->o;

	if (pmcs_start(o, s->owner))
		return END_TARGETS;
	if (options_counting(o))
		s->next = now_ns() + (uint64_t)(o->interval * NS_PER_S);
	if (o->limit > 0)
		s->limit = now_ns() + (uint64_t)(o->limit * NS_PER_S);
	if (!o->command)
		return END_NOT;
	s->began = now_ns();
	child_exec(&s->child, o->command[0]);
	return END_NOT;
}

/* Without --flight, no snapshot is meant, but neither is a log without its end. */
static void take_user_signal(struct session *s, int signo)
{
	static int told;

	if (signo == SIGUSR2 && s->o->flight_size)
		s->snapshot = 1;
	else if (!told++)
		warn_line("SIG%s is ignored: %s", signo == SIGUSR1 ? "USR1" : "USR2",
			  signo == SIGUSR1 ? "SIGUSR2 takes a snapshot, with --flight" :
			  "it takes a snapshot with --flight only");
}

static enum end take_signals(struct session *s)
{
	struct signalfd_siginfo info;
	enum end end = END_NOT;

	while (output_next_signal(&info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (s->o->command && child_reap(&s->child))
				return END_COMMAND;
			continue;
		}
		if (info.ssi_signo == SIGIO)	/* look_at_device() */
			continue;
		if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2) {
			take_user_signal(s, (int)info.ssi_signo);
			continue;
		}
		/* SIGHUP from kill(1) rotates, from a closed terminal it ends */
		if (info.ssi_signo == SIGHUP && can_rotate(s->o) &&
		    info.ssi_code != SI_KERNEL) {
			s->rotate = 1;
			continue;
		}
		if (info.ssi_signo == SIGHUP && s->nohup)
			continue;
		/* a signal from the terminal has reached the command, too */
		if (info.ssi_code != SI_KERNEL)
			s->signal = (int)info.ssi_signo;
		end = END_SIGNAL;
	}
	return end;
}

/* Prints counts when they are due; the last line is printed after the run. */
static enum end tick(struct session *s)
{
	uint64_t now = now_ns();

	if (s->limit && now >= s->limit)
		return END_TIME;
	if (!s->next || now < s->next)
		return END_NOT;
	s->next += (uint64_t)(s->o->interval * NS_PER_S);
	if (s->next < now)
		s->next = now;
	return counts_print(&s->counts, s->owner) ? END_COUNTS : END_NOT;
}

/* Takes requested snapshots; keeps the metadata for later snapshots up to date */
static enum end look_at_flight(struct session *s)
{
	uint64_t now = now_ns();
	int asked = s->snapshot;

	if (asked || now >= s->refresh) {
		log_refresh(s->o, s->owner, &s->targets, s->child.pid);
		s->refresh = now + REFRESH_NS;
	}
	s->snapshot = 0;
	if (asked ? flight_ask() : flight_look()) {
		s->status = EX_IOERR;
		return END_LOG;
	}
	return flight_is_over() && !s->o->command ? END_LOG : END_NOT;
}

static enum end look_at_log(struct session *s)
{
	if (s->o->flight_size)
		return look_at_flight(s);
	if (!s->rotate && !log_is_due(s->log))
		return END_NOT;
	s->rotate = 0;
	if (!log_rotate(s->o, s->owner, &s->targets, &s->log))
		return END_NOT;
	s->status = EX_IOERR;
	return END_LOG;
}

/* The earlier of two times; 0: never */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static int poll_timeout(const struct session *s)
{
	uint64_t now = now_ns();
	uint64_t until = earlier(earlier(s->limit, s->next),
				 s->refresh ? s->refresh : log_next());

	if (!s->owner)
		until = earlier(until, now + RINGS_NS);
	if (output_has_signals())
		return 0;
	if (!until)
		return -1;
	if (until <= now)
		return 0;
	until = (until - now + 999999) / 1000000;
	return until < 1000000 ? (int)until : 1000000;
}

/* --bpf: the rings are emptied, and processes are asked whether they are there */
static enum end look_at_rings(struct session *s)
{
	if (bpf_look() && s->log >= 0)
		return END_LOG;
	return s->targets.n && !s->o->command && bpf_targets_ended() ?
	       END_TARGETS : END_NOT;
}

static enum end look_at_device(struct session *s)
{
	struct pollfd fd = { .events = 0 };

	/* the kernel sees it at its next write, which may be never */
	if (s->log >= 0 && log_compressor_failed())
		return END_LOG;
	if (!s->owner)
		return look_at_rings(s);
	fd.fd = pmc_owner_fd(s->owner);
	if (poll(&fd, 1, 0) <= 0)
		return END_NOT;
	if ((fd.revents & POLLERR) && s->log >= 0)
		return END_LOG;
	if ((fd.revents & POLLHUP) && s->targets.n && !s->o->command)
		return END_TARGETS;
	s->deaf = 1;
	return END_NOT;
}

/* Polls what can end the run; the device, which may be left out, is the last. */
static void poll_all(struct session *s)
{
	static struct pollfd *fds;
	static unsigned int n;
	int fd;

	if (!fds) {
		fds = calloc(WRITERS_MAX + 3, sizeof(*fds));
		if (!fds)
			die(EX_OSERR, "out of memory");
		fds[n++] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
		while ((fd = writers_fd(s->o, n - 1)) >= 0)
			fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
		fds[n++].events = POLLIN;
		fds[n++] = (struct pollfd){
			.fd = s->owner ? pmc_owner_fd(s->owner) : bpf_poll_fd(),
			.events = s->owner ? POLLPRI : POLLIN,
		};
	}
	/* each log has a compressor of its own */
	fds[n - 2].fd = log_compressor_fd();
	if (poll(fds, s->deaf ? n - 1 : n, poll_timeout(s)) < 0 && errno != EINTR)
		die(EX_OSERR, "poll: %s", strerror(errno));
}

static enum end wait_for_end(struct session *s)
{
	enum end end;

	for (;;) {
		end = take_signals(s);
		if (end == END_NOT && writers_look(s->o))
			end = END_WRITER;
		if (end == END_NOT)
			end = look_at_device(s);
		preload_look(s->o);
		if (end == END_NOT)
			end = tick(s);
		if (end == END_NOT)
			end = look_at_log(s);
		if (end != END_NOT)
			return end;
		poll_all(s);
	}
}

/* The first error counts: after a full disk all later writes fail, too. */
static void counts_error(struct session *s)
{
	int status = s->status ? EX_IOERR : output_failed("print", "counts");

	if (status == OUTPUT_UNREAD)
		s->unread = 1;
	else
		s->status = status;
}

static void print_last(struct session *s, uint64_t elapsed)
{
	if (counts_print(&s->counts, s->owner) ||
	    (!s->o->quiet && counts_end(&s->counts, elapsed)))
		counts_error(s);
}

static void stop(struct session *s, enum end end)
{
	uint64_t elapsed = s->began ? now_ns() - s->began : 0;

	output_run_ended();
	writers_stop(s->o);
	pmcs_stop(s->o, s->owner);
	if (end == END_COUNTS)
		counts_error(s);
	else if (options_counting(s->o))
		print_last(s, elapsed);
	if (!s->o->command)
		return;
	child_end(&s->child, end == END_SIGNAL ? s->signal : SIGTERM);
	if (end != END_TIME && end != END_COUNTS && !s->status)
		s->status = s->child.status;
}

static void warn_multiplexed(struct session *s)
{
	size_t i;

	for (i = 0; i < s->o->ncounters && !s->o->quiet; i++)
		summary_multiplexed(s->o, &s->o->counters[i], s->owner);
}

int session_run(struct options *o)
{
	struct session s = { .o = o };
	enum end end;
	int status = outputs_check(o), early = signals_can_wait(o);

	if (status)
		return status;
	output_outlive_readers();
	writers_begin(o);
	targets_find(&s.targets, o->targets, o->ntargets);
	open_text(&s);
	s.owner = pmcs_open(o);
	probes_make(o, s.owner);
	pmcs_allocate(o, s.owner);
	s.counts.counters = o->counters;
	s.counts.n = o->ncounters;
	if (early)
		block_signals(&s);
	s.log = log_open(o, s.owner);
	if (s.log >= 0)
		log_metadata(o, s.owner);
	writers_set_up(o, log_number());
	kallsyms_open(o);
	if (!early)
		block_signals(&s);
	ask_for_sigio(&s);
	if (o->command)
		child_fork(&s.child, o->command,
			   !o->log_path || strcmp(o->log_path, "-"));
	attach(&s);
	if (s.log >= 0)
		log_ids_begin(o, &s.targets, s.log);
	if (s.owner)
		preload_begin(o, s.owner, &s.targets, s.child.path);
	writers_meet(o);
	end = start(&s);
	kallsyms_begin();
	outputs_begun();
	empty_text(&s);
	log_begun(s.log);
	read_begun();
	if (o->flight_size)
		s.refresh = now_ns() + FIRST_REFRESH_NS;
	stop(&s, end == END_NOT ? wait_for_end(&s) : end);
	preload_end(o);
	warn_multiplexed(&s);
	if (o->budget_ppm)
		summary_budget(o, s.owner);
	if (s.log >= 0) {
		status = log_close(o, s.owner, &s.targets, s.log);
		if (status)
			s.status = status;
	}
	pmcs_close(s.owner);
	probes_remove();
	/* the reader of the log waits for this close */
	if (s.log >= 0 && !o->flight_size)
		close(s.log);
	targets_free(&s.targets);
	if (fclose(s.counts.out))
		counts_error(&s);
	/* what was lost is said before the command's status */
	status = kallsyms_end();
	if (status && (!s.status || status != OUTPUT_UNREAD))
		s.status = status;
	return s.unread && !s.status ? OUTPUT_UNREAD : s.status;
}
