/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for the files of the table, to read their build-ids.
 *
 * Files are identified by the device and inode that /proc/PID/maps shows; stat(2) may
 * have others, see may_be_device() and try_mapped().  An inode number can be reused
 * after its file was deleted, so a file that was created or modified after the
 * mapping is not taken for the one mapped.
 *
 * A thread does all that, because a file may be on a server that does not answer: the
 * main thread has to end the recording nevertheless.  A thread that hangs is left
 * where it is, and the next one leaves out the files of that device, which are likely
 * to hang as well.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libpmc_thread.h"
#include "sideband/fileids.h"

#define STEP_MS		100
#define PATIENCE	10000000000ULL	/* ns: limit if files are slow */

/* ------------------------------------------------------------------------
 * Files
 */
static int64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec * FILEIDS_NS + t->tv_nsec;
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
	char path[32];
	int file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (file < 0)
		return;
	f->len = pmc_elfid_of_file(file, f->id);
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

/* @a NULL: by its path */
static void look_for(struct fileid *f, const struct area *a)
{
	char root[48];

	if (!a) {
		try_in_root(f, "/", f->path);
		return;
	}
	try_mapped(f, a);
	snprintf(root, sizeof(root), "/proc/%d/root", a->pid);
	if (!f->read)
		try_in_root(f, root, a->file.path);
}

static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * FILEIDS_NS + now.tv_nsec;
}

/* ------------------------------------------------------------------------
 * The thread
 */

/**
 * struct look - a thread at work
 * @self: its place in the table
 * @steps: grows while it makes progress
 * @skipped: it left something out, where another thread hangs
 * @wanted: files to find in processes; NULL: all that they map
 * @pid: processes to look at; none: the files of the table
 */
struct look {
	struct pmc_thread t;
	struct fileids	*ids;
	struct looker	*self;
	atomic_uint	steps;
	int		skipped;
	struct fileid	**wanted;
	size_t		nwanted;
	size_t		npids;
	int		pid[];
};

static int same_place(const struct looker *l, const struct fileid *f, int pid)
{
	if (!l->busy || !l->file)
		return l->busy && pid && l->pid == pid;
	return f && l->file->major == f->major && l->file->minor == f->minor;
}

/* ids->lock: is another thread in that place?  Then it has not come back from there. */
static int is_taken(struct look *l, const struct fileid *f, int pid)
{
	size_t i;

	for (i = 0; i < FILEIDS_LOOKERS; i++) {
		if (l->self == &l->ids->looker[i] ||
		    !same_place(&l->ids->looker[i], f, pid))
			continue;
		l->skipped = 1;
		return 1;
	}
	return 0;
}

/*
 * A thread that had been left may come back when a later log wants the file as of another
 * time: then what it found does not count.
 */
static void hand_over(struct fileid *f, const struct fileid *found)
{
	if (!found->read || f->read || f->since != found->since)
		return;
	if (found->len != f->len || memcmp(found->id, f->id, f->len)) {
		memcpy(f->id, found->id, found->len);
		f->len = found->len;
		f->told = 0;
	}
	f->read = 1;
}

/* ids->lock, which is not held while the file is looked at */
static void look_at(struct look *l, struct fileid *f, const struct area *a)
{
	struct fileid mine;

	if (!f || f->read || l->t.stop || is_taken(l, f, 0))
		return;
	mine = *f;
	l->self->file = f;
	pthread_mutex_unlock(&l->ids->lock);
	look_for(&mine, a);
	l->steps++;
	pthread_mutex_lock(&l->ids->lock);
	l->self->file = NULL;
	hand_over(f, &mine);
}

/* ids->lock */
static void look_at_area(struct look *l, struct area *a)
{
	struct fileid *f;
	size_t i;

	if (!l->wanted) {
		a->file.since = wall_ns();
		look_at(l, fileids_add(l->ids, &a->file), a);
		return;
	}
	for (i = 0; i < l->nwanted; i++) {
		f = l->wanted[i];
		if (f->ino == a->file.ino && f->major == a->file.major &&
		    f->minor == a->file.minor)
			look_at(l, f, a);
	}
}

/* Says that it looks at this process: 0 if another thread hangs there. */
static int enter(struct look *l, int pid)
{
	int may;

	pthread_mutex_lock(&l->ids->lock);
	may = !l->t.stop && !is_taken(l, NULL, pid);
	l->self->pid = may ? pid : 0;
	pthread_mutex_unlock(&l->ids->lock);
	l->steps++;
	return may;
}

/*
 * Looks at each executable mapping of a file.  Reading maps may hang, too: while the
 * process waits for a page of a file, and maps something.
 */
static void each_area(struct look *l, int pid)
{
	char path[32], *line = NULL;
	struct area a;
	size_t cap = 0;
	FILE *f;

	if (!enter(l, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !l->t.stop && getline(&line, &cap, f) > 0) {
		memset(&a, 0, sizeof(a));
		a.pid = pid;
		l->steps++;
		if (!parse_area(line, &a))
			continue;
		pthread_mutex_lock(&l->ids->lock);
		look_at_area(l, &a);
		pthread_mutex_unlock(&l->ids->lock);
	}
	if (f)
		fclose(f);
	free(line);
}

static void each_process(struct look *l)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			each_area(l, atoi(e->d_name));
	if (dir)
		closedir(dir);
}

static void find_paths(struct look *l)
{
	struct fileids *t = l->ids;
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < t->n; i++)
		look_at(l, t->file[i], NULL);
	pthread_mutex_unlock(&t->lock);
}

static void find_mapped(struct look *l)
{
	struct fileids *t = l->ids;
	size_t i;

	pthread_mutex_lock(&t->lock);
	l->wanted = calloc(t->n + 1, sizeof(struct fileid *));
	for (i = 0; l->wanted && i < t->n; i++)
		if (!t->file[i]->read)
			l->wanted[l->nwanted++] = t->file[i];
	pthread_mutex_unlock(&t->lock);
	if (l->nwanted)
		each_process(l);
	free(l->wanted);
}

static void run(struct pmc_thread *t)
{
	struct look *l = (struct look *)t;
	size_t i;

	if (!l->npids) {
		find_paths(l);
		find_mapped(l);
	}
	for (i = 0; i < l->npids; i++) {
		if (l->pid[i])
			each_area(l, l->pid[i]);
		else
			each_process(l);
	}
	pthread_mutex_lock(&l->ids->lock);
	*l->self = (struct looker){ 0 };
	pthread_mutex_unlock(&l->ids->lock);
}

static void free_look(struct pmc_thread *t)
{
	pmc_thread_destroy(t);
	free(t);
}

static struct looker *free_place(struct fileids *t)
{
	struct looker *found = NULL;
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < FILEIDS_LOOKERS && !found; i++)
		if (!t->looker[i].busy)
			found = &t->looker[i];
	if (found)
		found->busy = 1;
	pthread_mutex_unlock(&t->lock);
	return found;
}

static void give_back(struct fileids *t, struct looker *place)
{
	pthread_mutex_lock(&t->lock);
	place->busy = 0;
	pthread_mutex_unlock(&t->lock);
}

/* 0, or an errno */
static int begin(struct fileids *t, const int *pids, size_t n, struct look **l)
{
	struct looker *place = free_place(t);
	int err = ENOMEM;

	if (!place)		/* they all hang */
		return ETIMEDOUT;
	*l = calloc(1, sizeof(**l) + n * sizeof(*pids));
	if (*l) {
		(*l)->ids = t;
		(*l)->self = place;
		(*l)->npids = n;
		if (n)
			memcpy((*l)->pid, pids, n * sizeof(*pids));
		pmc_thread_init(&(*l)->t, run, free_look);
		err = pmc_thread_begin(&(*l)->t);
		if (err)
			free_look(&(*l)->t);
	}
	if (err)
		give_back(t, place);
	return err;
}

/* 1 if it has come to its end; 0 after @patience times STEP_MS without progress. */
static int wait_for(struct look *l, unsigned int patience, uint64_t until)
{
	unsigned int before = 0, now, idle = 0;

	while (idle < patience && now_ns() < until) {
		if (pmc_thread_wait(&l->t, STEP_MS))
			return 1;
		now = l->steps;
		idle = now == before ? idle + 1 : 0;
		before = now;
	}
	return 0;
}

static int find(struct fileids *t, const int *pids, size_t n)
{
	/* if the first one hangs, the second one looks at what is elsewhere */
	static const unsigned int patience[] = { 10, 5 };
	uint64_t until = now_ns() + PATIENCE;
	int err = 0, done = 0, i;
	struct look *l;

	for (i = 0; i < 2 && !done; i++) {
		err = begin(t, pids, n, &l);
		if (err)
			break;
		done = wait_for(l, patience[i], until);
		err = done && !l->skipped ? 0 : ETIMEDOUT;
		pmc_thread_leave(&l->t);
	}
	return err;
}

int fileids_find(struct fileids *t)
{
	return find(t, NULL, 0);
}

int fileids_find_in(struct fileids *t, const int *pids, size_t n)
{
	return n ? find(t, pids, n) : 0;
}
