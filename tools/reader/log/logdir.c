// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/pmclog.h>

#include "base/idtab.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/out.h"
#include "base/samefile.h"
#include "base/say.h"
#include "log/logdir.h"

#define NSEC_PER_SEC	1000000000

/* A log describes its machine in its first records. */
#define FIRST_RECORDS	32

/* Bytes of two logs that are compared at once: several blocks of a file system */
#define BLOCK		16384

/* names of files that are no logs, in a message */
#define NAMES_SHOWN	3

/* ------------------------------------------------------------------------
 * The beginning of a log
 */
static void origin_initialize(struct log_origin *o, const struct pmclog_rec *r,
			      const struct pmclog_format *format)
{
	int64_t sec = (int64_t)REC64(r, initialize, ts_sec);
	int64_t nsec = (int64_t)REC64(r, initialize, ts_nsec);

	o->ours = format->ours;
	o->freq = REC64(r, initialize, tsc_freq);
	if (__builtin_mul_overflow(sec, NSEC_PER_SEC, &o->wall) || sec <= 0 ||
	    __builtin_add_overflow(o->wall, nsec, &o->wall))
		o->wall = 0;
}

/* Takes what a record at the beginning of a log says of its origin. */
static void origin_record(struct log_origin *o, const struct pmclog_rec *r,
			  const struct pmclog_format *format)
{
	size_t at = offsetof(struct pmclog_ext_host, release);

	if (r->type == PMCLOG_T_INITIALIZE) {
		origin_initialize(o, r, format);
	} else if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_HOST) {
		o->machine = hash_bytes(r->data + at, r->len - at, 1) | 1;
		o->owner = REC32(r, ext_host, owner_pid);
	} else if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_KERNEL) {
		o->kernel = REC64(r, ext_kernel, addr);
	}
}

/* Reads the first records.  False: it is not a log. */
static bool read_origin(int fd, struct log_origin *o)
{
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct pmclog_rec r;
	int n;

	memset(o, 0, sizeof(*o));
	if (!it)
		return false;
	pmclog_iter_resync(it);
	for (n = 0; n < FIRST_RECORDS; n++) {
		if (pmclog_iter_next(it, &r) != PMCLOG_ITER_RECORD ||
		    r.type == PMCLOG_T_CALLCHAIN)
			break;
		if (!n)
			o->tsc = r.tsc;
		origin_record(o, &r, pmclog_iter_format(it));
	}
	pmclog_iter_close(it);
	return n > 0;
}

/* ------------------------------------------------------------------------
 * The files
 */

/*
 * Names may have any bytes: none of them should reach a terminal as a command.
 */
static char *make_label(const char *dir, const char *name)
{
	size_t n = strlen(dir), len;
	const char *slash = n && dir[n - 1] == '/' ? "" : "/";
	char *label = xasprintf("%s%s%s", dir, slash, name), *s;
	uint32_t code;

	for (s = label + n; *s; s += len ? len : 1) {
		len = utf8_next(s, strlen(s), &code);
		if (!len || utf8_obeyed(code))
			memset(s, '?', len ? len : 1);
	}
	return label;
}

/* A file that has just been removed, as by --keep, is not missed. */
static bool cannot_open(struct logdir *d, const char *dir, const char *name)
{
	int err = errno;
	char *label;

	if (err == ENOENT)
		return true;
	/* not a regular file */
	if (err == EINVAL)
		return false;
	label = make_label(dir, name);
	warn_line("%s: %s", label, strerror(err));
	free(label);
	d->unread++;
	return true;
}

/* False: the file is not a log. */
static bool add_file(struct logdir *d, const char *dir, const char *name)
{
	struct logdir_log log;
	struct stat st;
	int fd = regular_open(d->fd, name);
	bool is_log;

	if (fd < 0)
		return cannot_open(d, dir, name);
	is_log = !fstat(fd, &st) && read_origin(fd, &log.origin);
	close(fd);
	if (!is_log)
		return false;
	log.told = log.digest = 0;
	log.name = xstrdup(name);
	log.label = make_label(dir, name);
	log.dev = st.st_dev;
	log.ino = st.st_ino;
	log.size = st.st_size;
	APPEND(d->logs, d->n, d->cap) = log;
	return true;
}

int logdir_open(const struct logdir *d, const struct logdir_log *log,
		const char **why)
{
	int fd = regular_open(d->fd, log->name);
	struct stat st;

	*why = strerror(errno);
	if (fd < 0 || (!fstat(fd, &st) && st.st_dev == log->dev && st.st_ino == log->ino))
		return fd;
	close(fd);
	*why = "was replaced while the directory was read";
	return -1;
}

/* The record that says so precedes the samples. */
bool logdir_is_snapshot(const struct logdir *d, const struct logdir_log *log)
{
	struct pmclog_iter *it;
	struct pmclog_rec r;
	const char *why;
	bool is = false;
	int fd = logdir_open(d, log, &why);

	it = fd < 0 ? NULL : pmclog_iter_fd(fd);
	while (it && !is && pmclog_iter_next(it, &r) == PMCLOG_ITER_RECORD &&
	       r.type != PMCLOG_T_CALLCHAIN)
		is = pmclog_iter_ext_subtype(&r) == PMCLOG_EXT_SNAPSHOT;
	pmclog_iter_close(it);
	if (fd >= 0)
		close(fd);
	return is;
}

/* ------------------------------------------------------------------------
 * The directory
 */
struct others {
	char *names;
	uint32_t n;
};

static void add_other(struct others *o, const char *name)
{
	char *label;

	/* a recorder's own, such as a snapshot that did not happen yet */
	if (*name == '.' || o->n++ >= NAMES_SHOWN)
		return;
	label = make_label("", name);
	o->names = xappend(o->names, "%s%s", o->names ? ", " : "", label + 1);
	free(label);
}

/* Once for a directory: some commands read it twice. */
static bool is_first_time(int fd)
{
	static struct stat told;
	struct stat st;

	if (fstat(fd, &st) ||
	    (st.st_dev == told.st_dev && st.st_ino == told.st_ino))
		return false;
	told = st;
	return true;
}

static void tell_others(const struct others *o, const char *path)
{
	if (!o->n)
		return;
	warn_line("%s: not read, because %s: %s%s", path,
		  plural(o->n, "it is not a log", "they are not logs"), o->names,
		  o->n > NAMES_SHOWN ? ", ..." : "");
}

DEFINE_ORDER(by_name, struct logdir_log, strcmp(a->name, b->name))

DEFINE_ORDER(by_time, struct logdir_log,
	     ORDER(a->origin.wall, b->origin.wall) ?: ORDER(a->origin.tsc, b->origin.tsc) ?:
	     by_name(a, b))

/*
 * A recorder's names sort by time: a log without a date follows its neighbour.
 */
static void sort(struct logdir *d)
{
	uint32_t i;

	if (!d->n)
		return;
	qsort(d->logs, d->n, sizeof(*d->logs), by_name);
	for (i = 0; i < d->n && d->logs[i].origin.wall; i++)
		;
	if (i == d->n)
		qsort(d->logs, d->n, sizeof(*d->logs), by_time);
}

/* ------------------------------------------------------------------------
 * Copies: their samples would count twice
 */
static bool same_origin(const struct log_origin *a, const struct log_origin *b)
{
	return a->wall == b->wall && a->tsc == b->tsc && a->owner == b->owner &&
	       a->machine == b->machine && a->kernel == b->kernel;
}

/* From @at on, the first block of the file that is not in a hole; or @size, or more. */
static off_t next_block(int fd, off_t at, off_t size)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : at;
	return data - data % BLOCK;
}

/*
 * Two files of the same bytes have the same digest, whatever is a hole in one of
 * them: zeros do not count.
 */
static uint64_t digest(int fd, off_t size)
{
	static const char zeros[BLOCK];
	uint64_t hash = 0;
	char x[BLOCK];
	ssize_t n;
	off_t at;

	for (at = 0; (at = next_block(fd, at, size)) < size; at += BLOCK) {
		n = pread(fd, x, sizeof(x), at);
		if (n <= 0)
			break;
		if (memcmp(x, zeros, (size_t)n))
			hash = hash_bytes(x, (size_t)n, hash ^ (uint64_t)at);
	}
	return hash | 1;
}

static bool same_bytes(int a, int b, off_t size)
{
	char x[BLOCK], y[BLOCK];
	off_t at = 0, of_b;
	ssize_t n;

	for (;; at += BLOCK) {
		of_b = next_block(b, at, size);
		at = next_block(a, at, size);
		if (of_b < at)
			at = of_b;
		if (at >= size)
			return true;
		n = pread(a, x, sizeof(x), at);
		if (n <= 0 || pread(b, y, sizeof(y), at) != n || memcmp(x, y, (size_t)n))
			return false;
	}
}

static bool is_copy(const struct logdir *d, const struct logdir_log *of,
		    const struct logdir_log *log)
{
	const char *why;
	int a, b;
	bool is;

	a = logdir_open(d, of, &why);
	b = logdir_open(d, log, &why);
	is = a >= 0 && b >= 0 && same_bytes(a, b, log->size);
	if (a >= 0)
		close(a);
	if (b >= 0)
		close(b);
	return is;
}

static void free_log(struct logdir_log *log)
{
	free(log->name);
	free(log->label);
}

static uint64_t digest_of(const struct logdir *d, struct logdir_log *log)
{
	const char *why;
	int fd = log->digest ? -1 : logdir_open(d, log, &why);

	if (fd >= 0) {
		log->digest = digest(fd, log->size);
		close(fd);
	}
	return log->digest;
}

/*
 * One of the first @n logs.  They are sorted: those of one origin follow each other.
 * A log is compared with no more than one other: among many that were made to have one
 * digest, copies are not found.
 */
static const struct logdir_log *find_original(const struct logdir *d, uint32_t n,
					      struct logdir_log *log)
{
	while (n-- && same_origin(&d->logs[n].origin, &log->origin))
		if (d->logs[n].size == log->size &&
		    digest_of(d, &d->logs[n]) == digest_of(d, log))
			return is_copy(d, &d->logs[n], log) ? &d->logs[n] : NULL;
	return NULL;
}

/* @log is not the same as the one before, but of the same origin. */
static void tell_part(const struct logdir_log *of, const struct logdir_log *log)
{
	warn_line("%s: begins as %s does: if one is a part of the other, its samples "
		  "count twice", log->label, of->label);
}

static void drop_copies(struct logdir *d, bool tell)
{
	const struct logdir_log *of;
	uint32_t i, n = 0;

	for (i = 0; i < d->n; i++) {
		of = find_original(d, n, &d->logs[i]);
		if (of && tell)
			warn_line("%s: not read, because it is a copy of %s",
				  d->logs[i].label, of->label);
		else if (tell && n && d->logs[i].origin.wall &&
			 same_origin(&d->logs[n - 1].origin, &d->logs[i].origin))
			tell_part(&d->logs[n - 1], &d->logs[i]);
		if (of)
			free_log(&d->logs[i]);
		else
			d->logs[n++] = d->logs[i];
	}
	d->n = n;
}

static void read_names(struct logdir *d, DIR *dir, const char *path)
{
	struct others others = { .n = 0 };
	bool tell = is_first_time(d->fd);
	struct dirent *e;

	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!add_file(d, path, e->d_name))
			add_other(&others, e->d_name);
	}
	if (d->n && tell)
		tell_others(&others, path);
	free(others.names);
	sort(d);
	drop_copies(d, tell);
}

int logdir_read(struct logdir *d, int fd, const char *path, const char **why)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again < 0 ? NULL : fdopendir(again);

	*d = (struct logdir){ .fd = fd };
	if (!dir) {
		*why = strerror(errno);
		if (again >= 0)
			close(again);
		return -1;
	}
	read_names(d, dir, path);
	closedir(dir);
	*why = "is a directory without a log";
	return d->n ? 0 : -1;
}

void logdir_free(struct logdir *d)
{
	uint32_t i;

	for (i = 0; i < d->n; i++)
		free_log(&d->logs[i]);
	free(d->logs);
	*d = (struct logdir){ .fd = -1 };
}
