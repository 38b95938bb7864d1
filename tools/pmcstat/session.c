/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run: set up, start, wait for what happens first, stop, report.
 * Dying in between is safe: closing the device releases everything, and the
 * command has not begun before child_exec().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pmcstat.h"

#define NS_PER_S	1000000000.0

enum end { END_NOT, END_TIME, END_SIGNAL, END_COMMAND, END_LOG, END_COUNTS };

/**
 * struct session - a run
 * @log:    fd, -1 without
 * @signal: that ended the run and that the command has not seen; 0: none
 * @next, @limit: when to print counts, when to end; now_ns(), 0: never
 */
struct session {
	struct options	*o;
	struct pmc_owner *owner;
	struct child	child;
	struct counts	counts;
	int		log;
	int		signals;
	int		signal;
	int		status;
	uint64_t	next;
	uint64_t	limit;
};

static void open_owner(struct session *s)
{
	const char *hint = "";

	s->owner = pmc_owner_open(0);
	if (s->owner)
		return;
	if (errno == EPROTONOSUPPORT)
		die(EX_UNAVAILABLE, "the hwpmc module is older than this "
		    "pmcstat");
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		hint = "; is the module loaded (modprobe hwpmc)?";
	else if (errno == EACCES || errno == EPERM)
		hint = "; are you root?";
	die(errno == EACCES || errno == EPERM ? EX_NOPERM : EX_UNAVAILABLE,
	    "cannot open /dev/hwpmc: %s%s", strerror(errno), hint);
}

static const char *why_not_allocated(const struct counter *c, int err)
{
	switch (err) {
	case ENOENT: case EOPNOTSUPP: case ENODEV:
		return c->mode == PMC_MODE_SS ?
		       "this machine has no such event (cpu-clock is always "
		       "there)" : "this machine has no such event";
	case ENXIO:
		return "the CPU is offline";
	case EINVAL:
		return c->cpu >= 0 ? "no such CPU or event" : "no such event";
	case ENOSPC: case EBUSY:
		return "all counters are taken";
	default:
		return strerror(err);
	}
}

static void allocate(struct session *s, struct counter *c)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = c->mode, .flags = c->flags,
		.cpu = c->cpu, .count = c->period,
	};
	char where[32] = "";

	if (c->cpu >= 0)
		snprintf(where, sizeof(where), " on CPU %d", c->cpu);
	if (pmc_owner_allocate_event(s->owner, &c->event, &opts, &c->id))
		die(errno == EPERM || errno == EACCES ? EX_NOPERM :
		    EX_UNAVAILABLE, "cannot %s %s%s: %s",
		    c->mode == PMC_MODE_SS ? "sample" : "count", c->event.name,
		    where, why_not_allocated(c, errno));
	if (c->mode != PMC_MODE_SS)
		return;
	if (opts.count != c->period && !s->o->quiet)
		warn_line("%s%s: period %llu raised to %llu, the least that "
			  "the module allows", c->event.name, where,
			  (unsigned long long)c->period,
			  (unsigned long long)opts.count);
	else if (s->o->verbose)
		warn_line("%s%s: a sample every %llu events", c->event.name,
			  where, (unsigned long long)opts.count);
	c->period = opts.count;
}

static void open_log(struct session *s)
{
	const char *path = s->o->log_path;

	s->log = -1;
	if (!path)
		return;
	if (strcmp(path, "-")) {
		/* kernel addresses are not for everybody */
		s->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			      0600);
	} else {
		if (isatty(STDOUT_FILENO))
			die(EX_USAGE, "-O -: standard output is a terminal");
		s->log = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	}
	if (s->log < 0)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	if (pmc_owner_configure_logfile(s->owner, s->log))
		die(EX_CANTCREAT, "cannot use %s as log: %s", path,
		    strerror(errno));
}

static int write_records(void *arg, const void *records, size_t len)
{
	return pmc_owner_write_records(arg, records, len);
}

static void write_metadata(struct session *s)
{
	struct metadata_sink sink = {
		.write = write_records, .arg = s->owner,
		.budget = HWPMC_WRITELOG_MAX,
	};
	struct utsname u;

	if (s->log < 0)
		return;
	uname(&u);
	if (metadata_send("", u.release, &sink))
		warn_line("the log lacks modules and build-ids: %s",
			  strerror(errno));
	else if (sink.dropped && s->o->verbose)
		warn_line("%zu module sections do not fit into the log",
			  sink.dropped);
}

/* Hidden addresses are zero; those of x86's per-CPU symbols are small. */
static int has_address(const char *text, size_t len)
{
	static const char zeros[] = "\n00000000";
	const char *line = text, *end = text + len;

	while ((line = memchr(line, '\n', (size_t)(end - line))) &&
	       end - line > 16) {
		if (memcmp(line, zeros, sizeof(zeros) - 1))
			return 1;
		line++;
	}
	return 0;
}

static void copy_kallsyms(struct session *s)
{
	const char *path = s->o->kallsyms_path;
	char buf[65536];
	FILE *in, *out;
	int shown = 0;
	size_t n;

	if (!path)
		return;
	in = fopen("/proc/kallsyms", "re");
	if (!in)
		die(EX_OSFILE, "cannot open /proc/kallsyms: %s",
		    strerror(errno));
	out = fopen(path, "we");
	if (!out)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0) {
		shown |= has_address(buf, n);
		if (fwrite(buf, 1, n, out) != n)
			break;
	}
	n = (size_t)ferror(in);
	fclose(in);
	if (fclose(out) || n)
		die(EX_IOERR, "cannot write %s: %s", path, strerror(errno));
	if (!shown && !s->o->quiet)
		warn_line("kernel addresses are hidden "
			  "(kernel.kptr_restrict): %s is of no use", path);
}

static void open_text(struct session *s)
{
	const char *path = s->o->text_path, *log = s->o->log_path;

	s->counts.counters = s->o->counters;
	s->counts.n = s->o->ncounters;
	s->counts.out = log && !strcmp(log, "-") ? stderr : stdout;
	if (!path)
		return;
	s->counts.out = fopen(path, "we");
	if (!s->counts.out)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
}

static void block_signals(struct session *s)
{
	struct sigaction hup;
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);	/* errors are reported where they are */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGHUP, NULL, &hup);
	if (hup.sa_handler != SIG_IGN)	/* nohup */
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		die(EX_OSERR, "signalfd: %s", strerror(errno));
}

static int counting(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].mode == PMC_MODE_SC)
			return 1;
	return 0;
}

static void start(struct session *s)
{
	struct options *o = s->o;
	size_t i;
	int err;

	for (i = 0; i < o->ncounters; i++)
		if (pmc_owner_start(s->owner, o->counters[i].id))
			die(EX_OSERR, "cannot start %s: %s",
			    o->counters[i].event.name, strerror(errno));
	if (counting(o))
		s->next = now_ns() + (uint64_t)(o->interval * NS_PER_S);
	if (o->limit > 0)
		s->limit = now_ns() + (uint64_t)(o->limit * NS_PER_S);
	if (!o->command)
		return;
	err = child_exec(&s->child);
	if (err)
		die(err == ENOENT ? 127 : 126, "cannot run %s: %s",
		    o->command[0], strerror(err));
}

static enum end take_signals(struct session *s)
{
	struct signalfd_siginfo info;
	enum end end = END_NOT;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (s->o->command && child_reap(&s->child))
				return END_COMMAND;
			continue;
		}
		/* the terminal has sent its signals to the command too */
		if (info.ssi_code != SI_KERNEL)
			s->signal = (int)info.ssi_signo;
		end = END_SIGNAL;
	}
	return end;
}

/* Prints counts when it is time; the line at the end is not for here. */
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

static int poll_timeout(const struct session *s)
{
	uint64_t now = now_ns(), until = s->limit;

	if (s->next && (!until || s->next < until))
		until = s->next;
	if (!until)
		return -1;
	if (until <= now)
		return 0;
	until = (until - now + 999999) / 1000000;
	return until < 1000000 ? (int)until : 1000000;
}

static enum end wait_for_end(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->log < 0 ? -1 : pmc_owner_fd(s->owner) },
	};
	enum end end = END_NOT;

	while (end == END_NOT) {
		if (poll(fds, 2, poll_timeout(s)) < 0 && errno != EINTR)
			die(EX_OSERR, "poll: %s", strerror(errno));
		end = take_signals(s);
		if (end == END_NOT && (fds[1].revents & POLLERR))
			end = END_LOG;
		if (end == END_NOT)
			end = tick(s);
	}
	return end;
}

/* The first cause counts: a full disk also ends what follows. */
static void counts_error(struct session *s)
{
	if (!s->status)
		warn_line("cannot print counts: %s", strerror(errno));
	s->status = EX_IOERR;
}

static void stop(struct session *s, enum end end)
{
	size_t i;

	for (i = 0; i < s->o->ncounters; i++)
		pmc_owner_stop(s->owner, s->o->counters[i].id);
	if (end == END_COUNTS)
		counts_error(s);
	else if (counting(s->o) && counts_print(&s->counts, s->owner))
		counts_error(s);
	if (!s->o->command)
		return;
	child_end(&s->child, end == END_SIGNAL ? s->signal : SIGTERM);
	if (end != END_TIME && !s->status)
		s->status = s->child.status;
}

static void nothing(int signal)
{
	(void)signal;
}

/* A reader that is slow may take its time; ^C ends the wait for it. */
static int flush_log(struct session *s)
{
	struct sigaction act = { .sa_handler = nothing };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return pmc_owner_flush_logfile(s->owner) ? errno : 0;
}

static const char *why_not_written(int err)
{
	switch (err) {
	case EPIPE:
		return "its reader is gone";
	case EINTR:
		return "interrupted";
	default:
		return strerror(err);
	}
}

static void close_log(struct session *s)
{
	struct hwpmc_driverstats stats;
	int err;

	if (s->log < 0)
		return;
	err = flush_log(s);
	if (!err && pmc_owner_close_logfile(s->owner))
		err = errno;
	if (pmc_owner_stats(s->owner, HWPMC_STATS_OWNER, &stats,
			    sizeof(stats)))
		die(EX_OSERR, "cannot read statistics: %s", strerror(errno));
	if (stats.log_errno)
		err = (int)stats.log_errno;
	if (!s->o->quiet)
		summary_print(s->o, &stats);
	if (err) {
		warn_line("cannot write the log%s%s: %s",
			  strcmp(s->o->log_path, "-") ? " " : "",
			  strcmp(s->o->log_path, "-") ? s->o->log_path : "",
			  why_not_written(err));
		s->status = EX_IOERR;
	} else if (!s->o->quiet) {
		rates_report(s->o, s->log);
	}
}

static void warn_multiplexed(struct session *s)
{
	size_t i;

	for (i = 0; i < s->o->ncounters && !s->o->quiet; i++)
		summary_multiplexed(&s->o->counters[i], s->owner);
}

int session_run(struct options *o)
{
	struct session s = { .o = o };
	size_t i;

	open_text(&s);
	open_owner(&s);
	for (i = 0; i < o->ncounters; i++)
		allocate(&s, &o->counters[i]);
	open_log(&s);
	write_metadata(&s);
	copy_kallsyms(&s);
	block_signals(&s);
	if (o->command)
		child_fork(&s.child, o->command,
			   !o->log_path || strcmp(o->log_path, "-"));
	start(&s);
	stop(&s, wait_for_end(&s));
	warn_multiplexed(&s);
	close_log(&s);
	pmc_owner_close(s.owner);
	if (s.counts.out != stdout && s.counts.out != stderr &&
	    fclose(s.counts.out))
		counts_error(&s);
	return s.status;
}
