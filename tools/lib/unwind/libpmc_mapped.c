// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that processes have mapped as code, each once: /proc/PID/maps.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_mapped.h"
#include "libpmc_thread.h"
#include "libpmc_unwind.h"

#define MAPS_MAX	(16L << 20)	/* a process can have 65,530 mappings with long paths */

/* ------------------------------------------------------------------------
 * A set of files
 */
static size_t hash(const struct mapped_file *f)
{
	uint64_t h = f->ino * 0x9e3779b97f4a7c15ULL;

	h ^= ((uint64_t)f->major << 32 | f->minor) * 0xc2b2ae3d27d4eb4fULL;
	return (size_t)(h ^ h >> 32);
}

static int same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->ino == b->ino && a->major == b->major && a->minor == b->minor;
}

/* The slot that has the number of the file, or that gets it */
static uint32_t *slot_of(const struct mapped *all, const struct mapped_file *f)
{
	size_t i = hash(f) & (all->nslots - 1);

	while (all->slot[i] && !same(&all->file[all->slot[i] - 1], f))
		i = (i + 1) & (all->nslots - 1);
	return &all->slot[i];
}

/* Keeps the hash table at most half full. */
static int grow(struct mapped *all)
{
	size_t room = all->room ? all->room * 2 : 256, i;
	struct mapped_file *file = reallocarray(all->file, room, sizeof(*file));
	uint32_t *slot;

	if (!file)
		return -1;
	all->file = file;
	slot = calloc(room * 2, sizeof(*slot));
	if (!slot)
		return -1;
	free(all->slot);
	all->slot = slot;
	all->nslots = room * 2;
	all->room = room;
	for (i = 0; i < all->n; i++)
		*slot_of(all, &file[i]) = (uint32_t)i + 1;
	return 0;
}

static int add(struct mapped *all, const struct mapped_file *f)
{
	uint32_t *slot;
	char *path;

	if (all->n == all->room && grow(all))
		return -1;
	slot = slot_of(all, f);
	if (*slot) {
		all->file[*slot - 1].times++;
		return 0;
	}
	path = strdup(f->path);
	if (!path)
		return -1;
	all->file[all->n] = *f;
	all->file[all->n].path = path;
	*slot = (uint32_t)++all->n;
	return 0;
}

void pmc_mapped_free(struct mapped *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		free(all->file[i].path);
	free(all->file);
	free(all->slot);
	*all = (struct mapped){ 0 };
}

/* ------------------------------------------------------------------------
 * Processes
 */
/* 7f0012345000-7f0012346000 r-xp 00001000 fe:01 1234   /path; most are not code. */
static int is_code(const char *line)
{
	const char *perms = strchr(line, ' ');

	return perms && strnlen(perms, 5) == 5 && perms[3] == 'x';
}

static int read_line(char *line, int pid, struct mapped_file *f)
{
	int at = 0;

	*f = (struct mapped_file){ .pid = pid, .times = 1 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64 " %n",
		   &f->start, &f->end, &f->major, &f->minor, &f->ino,
		   &at) != 5 ||
	    !f->ino || line[at] != '/')
		return 0;
	f->path = line + at;
	return 1;
}

/**
 * struct mapped_reading - what the thread works on: /proc/PID/maps waits for the process' mmap
 * lock, which a process can hold for as long as it likes
 * @text: its lines of code, up to MAPS_MAX bytes, when the thread has ended; or NULL
 */
struct mapped_reading {
	struct pmc_thread t;
	int		pid;
	char		*text;
};

static void run(struct pmc_thread *t)
{
	struct mapped_reading *r = (struct mapped_reading *)t;
	char path[40], *line = NULL;
	size_t room = 0, len = 0;
	FILE *in, *out;

	snprintf(path, sizeof(path), "/proc/%d/maps", r->pid);
	in = fopen(path, "re");
	if (!in)
		return;
	out = open_memstream(&r->text, &len);
	while (out && ftell(out) < MAPS_MAX && getline(&line, &room, in) > 0)
		if (is_code(line))
			fputs(line, out);
	if (out)
		fclose(out);
	free(line);
	fclose(in);
}

static void free_reading(struct pmc_thread *t)
{
	struct mapped_reading *r = (struct mapped_reading *)t;

	pmc_thread_destroy(t);
	free(r->text);
	free(r);
}

/* The caller frees it; NULL: it hangs, there is none, or it cannot be read. */
static char *maps_of(int pid, unsigned int *waited)
{
	struct mapped_reading *r = calloc(1, sizeof(*r));
	char *text = NULL;

	if (!r)
		return NULL;
	r->pid = pid;
	pmc_thread_init(&r->t, run, free_reading);
	if (pmc_thread_begin(&r->t)) {
		free_reading(&r->t);
		return NULL;
	}
	if (pmc_thread_patient(&r->t, waited)) {
		text = r->text;
		r->text = NULL;
	}
	pmc_thread_leave(&r->t);
	return text;
}

static int find_in(struct mapped *all, int pid, unsigned int *waited)
{
	char *text = maps_of(pid, waited), *rest = text, *line;
	struct mapped_file f;

	if (!text)
		return 0;
	while ((line = strsep(&rest, "\n")))
		if (read_line(line, pid, &f) && add(all, &f))
			break;
	free(text);
	return 1;
}

static unsigned int find_everywhere(struct mapped *all, const atomic_int *stop)
{
	DIR *proc = opendir("/proc");
	unsigned int n = 0, waited = 0;
	struct dirent *de;
	int pid;

	while (proc && !*stop && (de = readdir(proc))) {
		pid = atoi(de->d_name);
		if (pid > 0)
			n += (unsigned int)find_in(all, pid, &waited);
	}
	if (proc)
		closedir(proc);
	return n;
}

static int by_times(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

unsigned int pmc_mapped_find(struct mapped *all, const int *pids, size_t npids,
			     const atomic_int *stop)
{
	unsigned int n = 0, waited = 0;
	size_t i;

	*all = (struct mapped){ 0 };
	for (i = 0; i < npids && !*stop; i++)
		n += (unsigned int)find_in(all, pids[i], &waited);
	if (!npids)
		n = find_everywhere(all, stop);
	if (all->n)
		qsort(all->file, all->n, sizeof(*all->file), by_times);
	return n;
}

/*
 * The link in map_files is the mapped file itself, whatever file has its name now, but
 * using it takes privilege.  Otherwise the path is opened under the process' root.
 */
int pmc_mapped_open(const struct mapped_file *f)
{
	char link[80], *path;
	int fd, file;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 f->pid, f->start, f->end);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd < 0 && asprintf(&path, "/proc/%d/root%s", f->pid, f->path) >= 0) {
		fd = open(path, O_PATH | O_CLOEXEC);
		free(path);
	}
	if (fd < 0)
		return -1;
	file = pmc_unwind_reopen(fd);
	close(fd);
	return file;
}
