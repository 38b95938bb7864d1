/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of a flight recorder: requested by the user, or written by the kernel at
 * a trigger to the armed file.
 *
 * In a directory, the armed file has a name that is not a log's name.  It is renamed
 * when it has become a log.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/flight.h"
#include "output/outputs.h"
#include "pmclog_iter.h"
#include "output/rotate.h"

/**
 * struct flight - the flight recorder of this run
 * @file:  the file of -O FILE while it has no snapshot; else -1
 * @nameless: @file had no name when it was opened
 * @armed: the file for the next trigger's snapshot; -1: none
 * @name:  name of the armed file in the directory
 * @maker: pid of the process that removes the armed file; not its children
 */
static struct flight {
	const struct options *o;
	struct pmc_owner *owner;
	struct rotation	dir;
	int		file;
	int		nameless;
	int		armed;
	int		has_trigger;
	char		name[64];
	pid_t		maker;
} fl = { .file = -1, .armed = -1 };

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_size;
}

static const char *path_of(void)
{
	return fl.o->log_dir ? fl.dir.path : fl.o->log_path;
}

/* Reads the cause of the snapshot from the file. */
static int read_cause(int fd, struct pmclog_ext_snapshot *s)
{
	struct pmclog_iter *it;
	struct pmclog_rec r;
	char path[32];
	int again, found = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	it = again >= 0 ? pmclog_iter_fd(again) : NULL;
	while (it && !found &&
	       pmclog_iter_next(it, &r) == PMCLOG_ITER_RECORD) {
		if (pmclog_iter_ext_subtype(&r) != PMCLOG_EXT_SNAPSHOT)
			continue;
		memcpy(s, r.data, sizeof(*s));
		found = 1;
	}
	if (it)
		pmclog_iter_close(it);
	if (again >= 0)
		close(again);
	return found;
}

static const char *event_of(uint32_t id)
{
	size_t i;

	for (i = 0; i < fl.o->ncounters; i++)
		if (fl.o->counters[i].id == id)
			return fl.o->counters[i].event.name;
	return "a trigger";
}

static void describe(const struct pmclog_ext_snapshot *s, char *why,
		     size_t len)
{
	int status = s->status;

	if (s->cause == PMCLOG_SNAPSHOT_PMC)
		snprintf(why, len, "%s has triggered it", event_of(s->pmcid));
	else if (s->cause != PMCLOG_SNAPSHOT_EXIT)
		snprintf(why, len, "asked for");
	else if (WIFSIGNALED(status))
		snprintf(why, len, "process %u was ended by signal %d (%s)",
			 s->pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(why, len, "process %u has ended with status %d",
			 s->pid, WEXITSTATUS(status));
}

static void say(int fd)
{
	struct pmclog_ext_snapshot s;
	char why[128];

	if (fl.o->quiet || !read_cause(fd, &s))
		return;
	describe(&s, why, sizeof(why));
	warn_line("%s: the last %.3f s: %s", path_of(),
		  (double)(s.when - s.since) / 1e9, why);
}

static int failed(int err)
{
	warn_line("cannot write a snapshot to %s: %s", path_of(),
		  strerror(err));
	return -1;
}

/* The snapshot is in @fd.  0, or -1 after a message */
static int finish(int fd)
{
	int err = output_settle(fd);
	struct stat st;

	if (err)
		return failed(err);
	/* one that had no name was opened by /proc/self/fd/N */
	if (!fl.nameless && !fstat(fd, &st) && !st.st_nlink) {
		warn_line("%s was removed or replaced meanwhile: the snapshot that was "
			  "written to it is lost", path_of());
		return -1;
	}
	say(fd);
	return 0;
}

/* Removes the part of a snapshot that @fd has. */
static int empty_again(int fd)
{
	return ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) ? -1 : 0;
}

/*
 * Takes a snapshot now, to @fd.  What a stop and SIGCONT, or a suspend, has interrupted is
 * done again; what the user has interrupted is not.
 */
static int take(int fd)
{
	while (pmc_owner_snapshot(fl.owner, fd, 0)) {
		int err = errno;

		if (err != EINTR || output_interrupted() || empty_again(fd))
			return failed(err);
	}
	return finish(fd);
}

/* Provides the file for the next trigger.  0 or -1 */
static int arm(void)
{
	if (!fl.has_trigger)
		return 0;
	if (fl.o->log_dir) {
		snprintf(fl.name, sizeof(fl.name), ".pmclog.armed.%d",
			 (int)getpid());
		/* the name can be guessed: never use an existing file */
		unlinkat(fl.dir.fd, fl.name, 0);
		fl.armed = openat(fl.dir.fd, fl.name, O_RDWR | O_CREAT |
				  O_EXCL | O_CLOEXEC, 0600);
		if (fl.armed < 0)
			return failed(errno);
	} else {
		fl.armed = fl.file;
	}
	if (fl.armed < 0 ||
	    !pmc_owner_snapshot(fl.owner, fl.armed, HWPMC_SNAPSHOT_ARM))
		return 0;
	return failed(errno);
}

static uint32_t exit_status(const struct options *o)
{
	return o->exit_what == HWPMC_EXIT_STATUS ?
	       (uint32_t)o->exit_status << 8 : 0;
}

static void set_triggers(void)
{
	const struct options *o = fl.o;
	size_t i;

	fl.has_trigger = o->exit_what != HWPMC_EXIT_NEVER;
	for (i = 0; i < o->ncounters; i++)
		fl.has_trigger |= !!(o->counters[i].flags & HWPMC_F_TRIGGER);
	if (o->exit_what != HWPMC_EXIT_NEVER &&
	    pmc_owner_exit_trigger(fl.owner, o->exit_what,
				   (int)exit_status(o), 0))
		die(EX_OSERR, "--trigger exit: %s", strerror(errno));
}

/* Removes the armed file from the directory, unless it was written to. */
static void drop_armed(void)
{
	if (!size_of(fl.armed))
		unlinkat(fl.dir.fd, fl.name, 0);
	else if (!fl.o->quiet)
		warn_line("a snapshot is left as %s in %s", fl.name,
			  fl.o->log_path);
	close(fl.armed);
	fl.armed = -1;
}

static void at_exit(void)
{
	if (getpid() != fl.maker)
		return;
	if (fl.armed >= 0 && fl.o->log_dir)
		drop_armed();
}

static int open_file(const char *path)
{
	int fd = output_open(path, O_RDWR, 0600);

	if (fd < 0)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	return fd;
}

void flight_begin(const struct options *o, struct pmc_owner *owner)
{
	struct stat st;

	fl.o = o;
	fl.owner = owner;
	fl.maker = getpid();
	atexit(at_exit);
	if (o->log_dir)
		rotation_init(&fl.dir, o);
	else
		fl.file = open_file(o->log_path);
	fl.nameless = !o->log_dir && !fstat(fl.file, &st) && !st.st_nlink;
	if (pmc_owner_flight(owner, o->flight_size,
			     o->packed ? PMC_LOG_PACKED : 0))
		die(EX_UNAVAILABLE, "cannot keep the log in memory: %s",
		    errno == ENOTTY || errno == EINVAL ?
		    "too little, too much, or the hwpmc module is older than "
		    "this pmcstat" : pmcs_limit(errno, "max_ringmem"));
	set_triggers();
	if (!o->log_dir)
		output_empty(fl.file, o->log_path);
	if (arm())
		exit(EX_CANTCREAT);
}

int flight_is_over(void)
{
	return !fl.o->log_dir && fl.file < 0;
}

static int has_fired(void)
{
	struct pollfd fd = {
		.fd = pmc_owner_fd(fl.owner), .events = POLLPRI,
	};

	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLPRI);
}

/*
 * Waits for a triggered snapshot: when the first flush returns, its writing has at
 * least begun; when the second returns, it has ended.
 */
static void settle(void)
{
	if (fl.armed >= 0 && !pmc_owner_flush_logfile(fl.owner))
		pmc_owner_flush_logfile(fl.owner);
}

/* FILE has its snapshot: no other can be taken. */
static void use_up(void)
{
	close(fl.file);
	fl.file = -1;
	fl.armed = -1;
}

/* Makes the armed file a log of the directory.  @err: errno of writing it, or 0 */
static int adopt(int err)
{
	if (rotation_adopt(&fl.dir, fl.name)) {
		err = failed(errno);
		drop_armed();
		return err;
	}
	if (!err) {
		say(fl.armed);
		rotation_keep(&fl.dir);
	}
	close(fl.armed);
	fl.armed = -1;
	return err ? failed(err) : arm();
}

int flight_look(void)
{
	int err, status;

	if (fl.armed < 0 || !has_fired())
		return 0;
	err = pmc_owner_snapshot(fl.owner, -1, HWPMC_SNAPSHOT_ARM) ? errno : 0;
	if (fl.o->log_dir)
		return adopt(err ? err : output_settle(fl.armed));
	if (err)
		return failed(err);
	status = finish(fl.file);
	use_up();
	return status;
}

/*
 * Disarms FILE before a requested snapshot.  1: a trigger has written a
 * snapshot meanwhile; -1 with errno: the part of one cannot be removed.
 */
static int take_back(void)
{
	int broken = pmc_owner_snapshot(fl.owner, -1, HWPMC_SNAPSHOT_ARM);

	if (!size_of(fl.file))
		return 0;
	if (!broken)
		return 1;
	return empty_again(fl.file);
}

static int ask_for_file(void)
{
	int status = 0;

	if (fl.file < 0) {
		if (!fl.o->quiet)
			warn_line("%s has its snapshot already: nothing is written",
				  fl.o->log_path);
		return 0;
	}
	if (fl.armed >= 0)
		status = take_back();
	if (status < 0)
		status = failed(errno);
	else if (status)
		status = finish(fl.file);
	else
		status = take(fl.file);
	use_up();
	return status < 0 ? -1 : 0;
}

static int ask(void)
{
	int fd, status;

	if (!fl.o->log_dir)
		return ask_for_file();
	fd = rotation_open(&fl.dir);
	if (fd < 0)
		return failed(errno);
	status = take(fd);
	if (!status)
		rotation_keep(&fl.dir);
	else if (!size_of(fd))
		rotation_undo(&fl.dir);
	close(fd);
	return status;
}

int flight_ask(void)
{
	settle();
	return flight_look() ? -1 : ask();
}

int flight_end(void)
{
	int status;

	settle();
	status = flight_look() || (!flight_is_over() && ask());
	if (fl.o->log_dir) {
		if (fl.armed >= 0) {
			pmc_owner_snapshot(fl.owner, -1, HWPMC_SNAPSHOT_ARM);
			drop_armed();
		}
		rotation_free(&fl.dir);
	} else if (fl.file >= 0) {
		close(fl.file);
		fl.file = -1;
	}
	return status ? EX_IOERR : 0;
}
