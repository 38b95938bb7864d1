/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: its destination, its first records, its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf/backend.h"
#include "output/compress.h"
#include "output/logcontrol.h"
#include "sideband/fileids.h"
#include "record/flight.h"
#include "output/outputs.h"
#include "pmcstat.h"
#include "output/rotate.h"
#include "record/targets.h"

static int open_path(const char *path)
{
	int fd;

	if (!strcmp(path, "-")) {
		if (isatty(STDOUT_FILENO))
			die(EX_USAGE, "-O -: standard output is a terminal");
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (net_is_address(path)) {
		return net_connect(path);
	} else {
		/* the log has kernel addresses: only the user may read it */
		fd = output_open(path, O_WRONLY, 0600);
	}
	if (fd < 0)
		die(EX_CANTCREAT, "cannot open %s: %s", path, strerror(errno));
	return fd;
}

/* The compressor (-Z), or NULL; and the compressed size of the finished files */
static struct compress *packer;
static uint64_t packed_before;

/* The files of -O DIR */
static struct rotation files;

static const char *path_of(const struct options *o)
{
	return o->log_dir ? files.path : o->log_path;
}

/* The descriptor of the log's file: behind the compressor if there is one */
static int stored_fd(int fd)
{
	return packer ? compress_out(packer) : fd;
}

int log_compressor_fd(void)
{
	return packer ? compress_fd(packer) : -1;
}

int log_compressor_failed(void)
{
	return packer && compress_failed(packer);
}

/* Removes the first file of -O DIR if the recording has not begun. */
static void drop_first(void)
{
	if (files.o && !files.since)
		rotation_undo(&files);
}

/* The file had a name when it was opened, which /proc/self/fd/N may not have. */
static int named;

static int has_name(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink;
}

static int open_first(const struct options *o)
{
	int fd;

	if (!o->log_dir)
		return open_path(o->log_path);
	rotation_init(&files, o);
	fd = rotation_open(&files);
	if (fd < 0)
		die(EX_CANTCREAT, "cannot open %s: %s", files.path,
		    strerror(errno));
	atexit(drop_first);
	rotation_keep(&files);
	return fd;
}

static uint32_t flags_of(const struct options *o)
{
	return o->packed ? PMC_LOG_PACKED : 0;
}

static int owner_begin(void *arg, int fd, uint32_t flags)
{
	return pmc_owner_configure_logfile_flags(arg, fd, flags);
}

static int owner_flush(void *arg)
{
	return pmc_owner_flush_logfile(arg);
}

static int owner_end(void *arg)
{
	return pmc_owner_close_logfile(arg);
}

static int owner_stats(void *arg, struct hwpmc_driverstats *stats)
{
	return pmc_owner_stats(arg, HWPMC_STATS_OWNER, stats, sizeof(*stats));
}

static int owner_write(void *arg, const void *records, size_t len)
{
	return pmc_owner_write_records(arg, records, len);
}

static const struct log_control owner_log = {
	.begin = owner_begin, .flush = owner_flush, .end = owner_end,
	.stats = owner_stats, .write = owner_write,
};

static const struct log_control *control_of(const struct options *o)
{
	return o->by_bpf ? bpf_log() : &owner_log;
}

/* Of errno */
static const char *why_no_log(const struct options *o)
{
	if (errno != EINVAL)
		return pmcs_limit(errno, "max_ringmem");
	return o->packed ? "the kernel cannot write to such a file itself, or the hwpmc "
		"module is older than --packed" :
		"the kernel cannot write to such a file itself";
}

int log_open(const struct options *o, struct pmc_owner *owner)
{
	int fd;

	if (!o->log_path)
		return -1;
	if (o->flight_size) {
		flight_begin(o, owner);
		return pmc_owner_fd(owner);
	}
	if (o->compress)
		compress_check();
	fd = open_first(o);
	if (o->compress)
		packer = compress_start(fd, &fd);
	if (o->compress && !packer)
		die(EX_OSERR, "cannot compress the log: %s", strerror(errno));
	named = strcmp(o->log_path, "-") && has_name(stored_fd(fd));
	output_empty(stored_fd(fd), path_of(o));
	if (control_of(o)->begin(owner, fd, flags_of(o)))
		die(EX_CANTCREAT, "cannot use %s as log: %s", path_of(o), why_no_log(o));
	return fd;
}

/* Metadata that the module keeps and repeats in each file */
static struct told told;
static struct metadata_sink sink = {
	.budget = HWPMC_WRITELOG_MAX, .told = &told,
};

/* files whose build-ids belong into the log */
static struct fileids ids = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_metadata(const struct options *o, struct pmc_owner *owner)
{
	struct utsname u;

	sink.arg = owner;
	sink.write = control_of(o)->write;
	uname(&u);
	if (metadata_send("", u.release, &sink)) {
		if (options_tell(o))
			warn_line("the log lacks modules and build-ids: %s",
				  strerror(errno));
	} else if (sink.dropped && o->verbose) {
		warn_line("%zu module sections do not fit into the log",
			  sink.dropped);
	}
	if (fields_send(o, &sink) && options_tell(o))
		warn_line("the log lacks what the fields of its tracepoints "
			  "are: %s", strerror(errno));
}

unsigned int log_number(void)
{
	return files.number;
}

/* Opens the log for reading; -1 if it cannot be read again. */
static int open_again(int fd)
{
	struct stat st;
	char path[32];

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Once: a server that is gone does not come back for each log. */
static void say_left_out(const struct options *o, int err)
{
	static int said;

	if (!err || said || o->quiet)
		return;
	said = 1;
	warn_line("the log lacks build-ids of some files: %s",
		  err == ETIMEDOUT ? "it takes too long to read them" :
		  err == ENOSPC ? "it has no room for more" : strerror(err));
}

static void send_ids(const struct options *o, int always)
{
	if (fileids_send(&ids, &sink, always) && !o->quiet)
		warn_line("the log lacks build-ids: %s", strerror(errno));
	say_left_out(o, ids.full ? ENOSPC : 0);
}

/* @pid: of a process more, or 0 */
static void mapped_now(const struct options *o, const struct targets *targets,
		       int pid)
{
	const struct counter *c = options_sampling(o);
	int *pids = calloc(targets->n + 2, sizeof(*pids));
	size_t i, n = 0;

	if (!pids) {
		say_left_out(o, ENOMEM);
		return;
	}
	if (c && o->action != ACTION_LIVE) {	/* -T reads it at once */
		if (c->mode == PMC_MODE_SS)
			pids[n++] = 0;
		for (i = 0; i < targets->n; i++)
			pids[n++] = targets->target[i].pid;
	}
	if (pid)
		pids[n++] = pid;
	say_left_out(o, fileids_find_in(&ids, pids, n));
	free(pids);
}

void log_ids_begin(const struct options *o, const struct targets *targets,
		   int fd)
{
	int again = open_again(stored_fd(fd));

	fileids_of_vdso(&ids);
	if (again >= 0)			/* log_close() reads the log */
		close(again);
	else
		mapped_now(o, targets, 0);
	send_ids(o, 1);
}

/* Adds the build-ids of the log's files.  In a directory, other logs may follow. */
static void ids_end(const struct options *o, const struct targets *targets,
		    int fd)
{
	int again = open_again(fd);

	if (again >= 0) {
		if (!fileids_of_log(&ids, again) && !o->quiet)
			warn_line("the log is long: it may lack build-ids of "
				  "files that were mapped late");
		close(again);
		say_left_out(o, fileids_find(&ids));
	} else {
		mapped_now(o, targets, 0);
	}
	send_ids(o, again < 0 || o->log_dir);
}

void log_refresh(const struct options *o, struct pmc_owner *owner,
		 const struct targets *targets, int pid)
{
	mapped_now(o, targets, pid);
	send_ids(o, 1);
	log_metadata(o, owner);
}

void log_begun(int fd)
{
	if (!files.o)
		return;
	if (packer)
		compress_sync(packer);
	rotation_begun(&files, stored_fd(fd));
}

uint64_t log_next(void)
{
	return files.o ? rotation_next(&files) : 0;
}

int log_is_due(int fd)
{
	return files.o && rotation_due(&files, stored_fd(fd));
}

/*
 * Adds the records that this log still lacks; later logs repeat them.  Errors
 * of the writes are reported by log_close().
 */
static int complete(const struct options *o, struct pmc_owner *owner,
		    const struct targets *targets, int fd)
{
	int err;

	/* signals are blocked: it was only stopped and continued */
	do
		err = pmc_owner_flush_logfile(owner) ? errno : 0;
	while (err == EINTR);
	if (err || (packer && compress_sync(packer)))
		return -1;
	ids_end(o, targets, stored_fd(fd));
	log_metadata(o, owner);
	return 0;
}

/* Returns the descriptor of the new file for the kernel, or -1 with errno. */
static int open_next(const struct options *o, struct compress **z)
{
	int fd = rotation_open(&files), err;

	*z = NULL;
	if (fd < 0 || !o->compress)
		return fd;
	*z = compress_start(fd, &fd);
	if (*z)
		return fd;
	err = errno;
	close(fd);
	rotation_undo(&files);
	errno = err;
	return -1;
}

/* 0, or the errno of a failed write to the last file */
static int end_last(struct compress *z, int fd)
{
	int err = z ? 0 : output_settle(fd);

	close(fd);
	if (!z)
		return err;
	err = compress_finish(z);
	if (!err)
		err = output_settle(compress_out(z));
	packed_before += compress_total(z);
	compress_free(z);
	return err;
}

/*
 * What a stop and SIGCONT, or a suspend, has interrupted is done again; what the user has
 * interrupted is not.
 */
static int again(void)
{
	return errno == EINTR && !output_interrupted();
}

static int go_on_in(const struct options *o, struct pmc_owner *owner, int fd)
{
	int failed;

	do
		failed = pmc_owner_rotate_logfile_flags(owner, fd, flags_of(o));
	while (failed && again());
	/* EINPROGRESS: the kernel ends the last log when its file takes data */
	return failed && errno != EINPROGRESS;
}

int log_rotate(const struct options *o, struct pmc_owner *owner,
	       const struct targets *targets, int *fd)
{
	char last[sizeof(files.path)];
	struct compress *z;
	int next, err;

	strcpy(last, files.path);
	if (complete(o, owner, targets, *fd))
		return -1;
	next = open_next(o, &z);
	if (next < 0 || go_on_in(o, owner, next)) {
		warn_line("cannot go on in %s: %s", files.path,
			  strerror(errno));
		if (next >= 0)
			rotation_undo(&files);
		strcpy(files.path, last);
		return -1;
	}
	rotation_keep(&files);
	err = end_last(packer, *fd);
	packer = z;
	*fd = next;
	if (err) {
		warn_line("cannot write the log %s: %s", last, strerror(err));
		return -1;
	}
	if (o->verbose)
		warn_line("%s is whole, %s goes on", last, files.name);
	log_begun(next);
	return 0;
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

/* Returns the errno of the failure, or 0.  @stats is valid in both cases. */
static int end_log(const struct options *o, struct pmc_owner *owner,
		   const struct targets *targets, int fd,
		   struct hwpmc_driverstats *stats)
{
	const struct log_control *control = control_of(o);
	int err;

	do
		err = control->flush(owner) ? errno : 0;
	while (err && again());
	/* all samples are in the log; build-ids can still be added */
	if (!err && packer)
		err = compress_sync(packer);
	if (!err)
		ids_end(o, targets, stored_fd(fd));
	if (!err && control->end(owner))
		err = errno;
	if (control->stats(owner, stats))
		die(EX_OSERR, "cannot read statistics: %s", strerror(errno));
	return stats->log_errno ? (int)stats->log_errno : err;
}

/*
 * Waits for the compressor.  If its write failed, the kernel got EPIPE; the
 * compressor's own error is the cause.
 */
static int end_compressed(int err)
{
	int zerr;

	/* the rest of what is compressed may be long */
	if (!packer || (err == EINTR && output_interrupted()))
		return err;
	zerr = compress_finish(packer);
	return zerr ? zerr : err;
}

static void warn_of_rates(const struct options *o, int fd)
{
	const unsigned char *tail;
	size_t len;

	if (o->quiet)
		return;
	if (!packer) {
		rates_report_file(o, fd);
		return;
	}
	tail = compress_tail(packer, &len);
	rates_report(o, tail, len);
}

static void forget(void)
{
	compress_free(packer);
	packer = NULL;
	fileids_free(&ids);
	free(told.hash);
	told = (struct told){ 0 };
	rotation_free(&files);
}

int log_close(const struct options *o, struct pmc_owner *owner,
	      const struct targets *targets, int fd)
{
	const char *path = path_of(o);
	unsigned int nfiles = files.written;
	struct hwpmc_driverstats stats;
	int err, gone, status;

	output_let_interrupt();	/* the reader of the log may be slow */
	if (o->flight_size) {
		err = flight_end();
		forget();
		return err;
	}
	err = end_compressed(end_log(o, owner, targets, fd, &stats));
	if (!err)
		err = output_settle(stored_fd(fd));
	gone = named && !has_name(stored_fd(fd));
	status = writers_end(o, err || gone ? EX_IOERR : 0, &stats, &nfiles);

	if (options_tell(o))
		summary_print(o, &stats, packer ? packed_before +
			      compress_total(packer) : 0, nfiles,
			      packer && !compress_is_whole(packer));
	if (gone)
		warn_line("%s was removed or replaced meanwhile: what was written to it "
			  "is lost", path);
	if (!err) {
		/* the peer sees the end of the log before this program ends */
		shutdown(fd, SHUT_WR);
		warn_of_rates(o, fd);
	}
	/* -T: the reader has already reported why it ended */
	if (err && !(err == EPIPE && o->action == ACTION_LIVE))
		warn_line("cannot write the log%s%s: %s",
			  strcmp(path, "-") ? " " : "",
			  strcmp(path, "-") ? path : "", why_not_written(err));
	forget();
	return status;
}
