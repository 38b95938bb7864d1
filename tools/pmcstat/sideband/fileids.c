/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files are identified by the device and inode that /proc/PID/maps shows; stat(2) may
 * have others, see may_be_device() and try_mapped().  An inode number can be reused
 * after its file was deleted, so a file that was created or modified after the
 * mapping is not taken for the one mapped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "output/batch.h"
#include "sideband/fileids.h"
#include "pmclog_iter.h"

#define FILES_MAX	16384		/* the log has no room for more ids */
#define PATIENCE	10000000000ULL	/* ns: limit for a large log */
#define NS		1000000000LL

static int by_identity(const void *pa, const void *pb)
{
	const struct fileid *a = pa, *b = pb;

	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int make_room(struct fileids *t)
{
	size_t cap = t->cap ? 2 * t->cap : 64;
	struct fileid **grown;

	if (t->n < t->cap)
		return 0;
	grown = realloc(t->file, cap * sizeof(*grown));
	if (!grown)
		return -1;
	t->file = grown;
	t->cap = cap;
	return 0;
}

/* Returns the file's entry in the table; NULL if the table is full. */
static struct fileid *add(struct fileids *t, const struct fileid *key)
{
	struct fileid **found = tfind(key, &t->tree, by_identity), *f;

	if (found)
		return *found;
	if (t->n == FILES_MAX || make_room(t))
		return NULL;
	f = malloc(sizeof(*f));
	if (!f)
		return NULL;
	*f = *key;
	f->path = strdup(key->path);
	if (!f->path || !tsearch(f, &t->tree, by_identity)) {
		free(f->path);
		free(f);
		return NULL;
	}
	return t->file[t->n++] = f;
}

/* ------------------------------------------------------------------------
 * The log
 */

/**
 * struct pass - one pass over a log
 * @clock, @wall: the same moment on the log's clock and on the wall clock
 * @pid, @start, @path: of the last MAP_IN
 */
struct pass {
	struct fileids	*t;
	uint64_t	clock;
	int64_t		wall;
	uint32_t	pid;
	uint64_t	start;
	char		path[PMCLOG_PATH_MAX];
};

static void take_map_in(struct pass *p, const struct pmclog_rec *r)
{
	const char *path = (const char *)r->data +
			   offsetof(struct pmclog_map_in, path);

	p->pid = PMCLOG_FIELD32(r, struct pmclog_map_in, pid);
	p->start = PMCLOG_FIELD64(r, struct pmclog_map_in, start);
	p->path[0] = '\0';
	if (*path == '/' && strlen(path) < sizeof(p->path))
		strcpy(p->path, path);
}

static void see(struct fileid *f, int64_t since)
{
	if (!f || f->seen)
		return;
	f->seen = 1;
	f->read = 0;
	f->since = since;
}

/* The next pass marks the files to read. */
static void unsee(struct fileids *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		t->file[i]->seen = 0;
		t->file[i]->read = 1;
	}
}

#define MAPPING32(f) PMCLOG_FIELD32(r, struct pmclog_ext_mapping, f)
#define MAPPING64(f) PMCLOG_FIELD64(r, struct pmclog_ext_mapping, f)

static void take_mapping(struct pass *p, const struct pmclog_rec *r)
{
	struct fileid key = {
		.path = p->path, .ino = MAPPING64(ino),
		.major = MAPPING32(dev_major), .minor = MAPPING32(dev_minor),
	};

	if (!key.ino || !p->path[0] || MAPPING32(pid) != p->pid ||
	    MAPPING64(start) != p->start || p->pid == PMCLOG_PID_KERNEL)
		return;
	key.since = p->wall + (int64_t)(r->tsc - p->clock);
	see(add(p->t, &key), key.since);
}

static void take_record(struct pass *p, const struct pmclog_rec *r)
{
	if (r->type == PMCLOG_T_MAP_IN) {
		take_map_in(p, r);
	} else if (r->type == PMCLOG_T_INITIALIZE) {
		p->clock = r->tsc;
		p->wall = NS * (int64_t)PMCLOG_FIELD64(r,
				struct pmclog_initialize, ts_sec) +
			(int64_t)PMCLOG_FIELD64(r, struct pmclog_initialize,
						ts_nsec);
	} else if (r->type == PMCLOG_T_USERDATA) {
		switch (pmclog_iter_ext_subtype(r)) {
		case PMCLOG_EXT_MAPPING:
			take_mapping(p, r);
			break;
		case PMCLOG_EXT_CLOCK:
			p->clock = PMCLOG_FIELD64(r, struct pmclog_ext_clock,
						  raw);
			p->wall = (int64_t)PMCLOG_FIELD64(r,
					struct pmclog_ext_clock, real);
			break;
		}
	}
}

int fileids_of_log(struct fileids *t, int fd)
{
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct pass *p = calloc(1, sizeof(*p));
	uint64_t until = now_ns() + PATIENCE;
	struct pmclog_rec r;
	int whole = 1;

	unsee(t);
	if (it && p) {
		p->t = t;
		pmclog_iter_raw(it);
		while (pmclog_iter_next(it, &r) == PMCLOG_ITER_RECORD) {
			take_record(p, &r);
			if (r.serial % 65536 == 0 && now_ns() > until) {
				whole = 0;
				break;
			}
		}
	}
	free(p);
	if (it)
		pmclog_iter_close(it);
	return whole;
}

/* ------------------------------------------------------------------------
 * Files
 */
static int64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec * NS + t->tv_nsec;
}

/* True for a regular file that was not created or modified since the mapping. */
static int is_from_then(int fd, const struct fileid *f, struct statx *st)
{
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, st) ||
	    !S_ISREG(st->stx_mode))
		return 0;
	if (st->stx_mask & STATX_BTIME && ns_of(&st->stx_btime) > f->since)
		return 0;
	return ns_of(&st->stx_mtime) <= f->since;
}

static int same_device(const struct fileid *f, const struct statx *st)
{
	return st->stx_dev_major == f->major && st->stx_dev_minor == f->minor;
}

/*
 * stat(2) of a file on btrfs has a device that was made up for its subvolume.  Such
 * devices have no driver, so a file on a disk is not taken for one on another disk.
 */
static int may_be_device(const struct fileid *f, const struct statx *st)
{
	return same_device(f, st) || !st->stx_dev_major;
}

/* @fd was opened with O_PATH, which has no effect on the file; opens it to read. */
static void read_id(struct fileid *f, int fd)
{
	unsigned char id[ELFID_MAX];
	char path[32];
	uint32_t len;
	int file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (file < 0)
		return;
	len = pmc_elfid_of_file(file, id);
	if (len != f->len || memcmp(id, f->id, len)) {
		memcpy(f->id, id, len);
		f->len = len;
		f->told = 0;
	}
	f->read = 1;
	close(file);
}

/* Absolute symbolic links are resolved inside of @root. */
static void try_in_root(struct fileid *f, const char *root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct statx st;

	if (dir < 0)
		return;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	if (fd < 0)
		return;
	if (is_from_then(fd, f, &st) && may_be_device(f, &st) &&
	    st.stx_ino == f->ino)
		read_id(f, fd);
	close(fd);
}

void fileids_find_paths(struct fileids *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!t->file[i]->read)
			try_in_root(t->file[i], "/", t->file[i]->path);
}

/* ------------------------------------------------------------------------
 * Processes
 */

/**
 * struct area - a line of /proc/PID/maps
 * @pid, @start, @end: the address range
 */
struct area {
	int		pid;
	unsigned long	start, end;
	struct fileid	file;
};

static int parse_area(char *line, struct area *a)
{
	char perms[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64
		   " %n", &a->start, &a->end, perms, &a->file.major,
		   &a->file.minor, &a->file.ino, &at) != 6)
		return 0;
	a->file.path = line + at;
	return perms[2] == 'x' && a->file.ino && line[at] == '/';
}

/*
 * Tries the file that is mapped there, even if it was renamed.  Some file
 * systems show another device and inode in maps than in stat(2), so the inode
 * is compared only if the device is the same.
 */
static void try_mapped(struct fileid *f, const struct area *a)
{
	char path[96];
	struct statx st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", a->pid,
		 a->start, a->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_from_then(fd, f, &st) &&
	    (!same_device(f, &st) || st.stx_ino == f->ino))
		read_id(f, fd);
	close(fd);
}

static void look_at_area(struct fileid *f, const struct area *a)
{
	char root[48];

	if (!f || f->read || f->ino != a->file.ino ||
	    f->major != a->file.major || f->minor != a->file.minor)
		return;
	try_mapped(f, a);
	snprintf(root, sizeof(root), "/proc/%d/root", a->pid);
	if (!f->read)
		try_in_root(f, root, a->file.path);
}

static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* Calls @look for each executable mapping of a file. */
static void each_area(int pid, void (*look)(struct fileids *, struct area *),
		      struct fileids *t)
{
	char path[32], *line = NULL;
	struct area a;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0) {
		memset(&a, 0, sizeof(a));
		a.pid = pid;
		if (parse_area(line, &a))
			look(t, &a);
	}
	if (f)
		fclose(f);
	free(line);
}

static void each_process(void (*look)(struct fileids *, struct area *),
			 struct fileids *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			each_area(atoi(e->d_name), look, t);
	if (dir)
		closedir(dir);
}

static void look_for_new(struct fileids *t, struct area *a)
{
	a->file.since = wall_ns();
	look_at_area(add(t, &a->file), a);
}

void fileids_of_processes(struct fileids *t, int pid)
{
	if (pid)
		each_area(pid, look_for_new, t);
	else
		each_process(look_for_new, t);
}

static void look_for_wanted(struct fileids *t, struct area *a)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		look_at_area(t->file[i], a);
}

void fileids_find_mapped(struct fileids *t)
{
	struct fileids wanted = { 0 };
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->file[i]->read)
			continue;
		if (make_room(&wanted))
			break;
		wanted.file[wanted.n++] = t->file[i];
	}
	if (wanted.n)
		each_process(look_for_wanted, &wanted);
	free(wanted.file);
}

void fileids_of_vdso(struct fileids *t)
{
	struct fileid key = { .path = (char *)"[vdso]" }, *f = add(t, &key);

	if (f) {
		f->len = pmc_elfid_of_vdso(f->id);
		f->read = 1;
	}
}

/* ------------------------------------------------------------------------
 * Records
 */
static int by_path(const void *pa, const void *pb)
{
	const struct fileid *const *a = pa, *const *b = pb;

	return strcmp((*a)->path, (*b)->path);
}

static void send_one(struct batch *b, struct fileid *f, int qualified)
{
	char name[PMCLOG_PATH_MAX + 64];

	f->told = 1;
	if (!qualified || !f->ino) {
		batch_build_id(b, f->path, f->id, f->len);
		return;
	}
	snprintf(name, sizeof(name), "%u:%u:%" PRIu64 ":%s", f->major, f->minor,
		 f->ino, f->path);
	batch_build_id(b, name, f->id, f->len);
}

int fileids_send(struct fileids *t, struct metadata_sink *sink, int always)
{
	struct batch *b = calloc(1, sizeof(*b));
	int failed;
	size_t i;

	if (!b)
		return -1;
	b->sink = sink;
	if (t->n)
		qsort(t->file, t->n, sizeof(*t->file), by_path);
	for (i = 0; i < t->n; i++) {
		struct fileid **f = &t->file[i];
		int twin = (i && !by_path(f - 1, f)) ||
			   (i + 1 < t->n && !by_path(f, f + 1));

		if ((*f)->len && !(*f)->told)
			send_one(b, *f, always || twin);
	}
	batch_flush(b);
	failed = b->failed;
	free(b);
	return failed ? -1 : 0;
}

static void keep(void *node)
{
	(void)node;
}

void fileids_free(struct fileids *t)
{
	size_t i;

	tdestroy(t->tree, keep);
	for (i = 0; i < t->n; i++) {
		free(t->file[i]->path);
		free(t->file[i]);
	}
	free(t->file);
	memset(t, 0, sizeof(*t));
}
