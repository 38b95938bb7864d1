/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of files: from the log, and into it.  filelook.c finds the files. */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "output/batch.h"
#include "reader/base/order.h"
#include "reader/log/rec.h"
#include "sideband/fileids.h"

#define FILES_MAX	16384		/* the log has no room for more ids */
#define PATIENCE	10000000000ULL	/* ns: limit for a large log */

DEFINE_ORDER(by_identity, struct fileid,
	     ORDER(a->ino, b->ino) ?: ORDER(a->minor, b->minor) ?: ORDER(a->major, b->major) ?:
	     strcmp(a->path, b->path))

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

struct fileid *fileids_add(struct fileids *t, const struct fileid *key)
{
	struct fileid **found = tfind(key, &t->tree, by_identity), *f;

	if (found)
		return *found;
	if (t->n == FILES_MAX) {
		t->full = 1;
		return NULL;
	}
	if (make_room(t))
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
	const char *path = REC_STR(r, map_in, path);

	p->pid = REC32(r, map_in, pid);
	p->start = REC64(r, map_in, start);
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

static void take_mapping(struct pass *p, const struct pmclog_rec *r)
{
	struct fileid key = {
		.path = p->path, .ino = REC64(r, ext_mapping, ino),
		.major = REC32(r, ext_mapping, dev_major),
		.minor = REC32(r, ext_mapping, dev_minor),
	};

	if (!key.ino || !p->path[0] || REC32(r, ext_mapping, pid) != p->pid ||
	    REC64(r, ext_mapping, start) != p->start || p->pid == PMCLOG_PID_KERNEL)
		return;
	key.since = p->wall + (int64_t)(r->tsc - p->clock);
	see(fileids_add(p->t, &key), key.since);
}

static void take_record(struct pass *p, const struct pmclog_rec *r)
{
	if (r->type == PMCLOG_T_MAP_IN) {
		take_map_in(p, r);
	} else if (r->type == PMCLOG_T_INITIALIZE) {
		p->clock = r->tsc;
		p->wall = FILEIDS_NS * (int64_t)REC64(r, initialize, ts_sec) +
			(int64_t)REC64(r, initialize, ts_nsec);
	} else if (r->type == PMCLOG_T_USERDATA) {
		switch (pmclog_iter_ext_subtype(r)) {
		case PMCLOG_EXT_MAPPING:
			take_mapping(p, r);
			break;
		case PMCLOG_EXT_CLOCK:
			p->clock = REC64(r, ext_clock, raw);
			p->wall = (int64_t)REC64(r, ext_clock, real);
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

	pthread_mutex_lock(&t->lock);
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
	pthread_mutex_unlock(&t->lock);
	free(p);
	if (it)
		pmclog_iter_close(it);
	return whole;
}

void fileids_of_vdso(struct fileids *t)
{
	struct fileid key = { .path = (char *)"[vdso]" }, *f;

	pthread_mutex_lock(&t->lock);
	f = fileids_add(t, &key);
	if (f) {
		f->len = pmc_elfid_of_vdso(f->id);
		f->read = 1;
	}
	pthread_mutex_unlock(&t->lock);
}

/* ------------------------------------------------------------------------
 * Records
 */
DEFINE_ORDER(by_path, struct fileid *, strcmp((*a)->path, (*b)->path))

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
	size_t dropped = sink->dropped, i;
	int failed;

	if (!b)
		return -1;
	b->sink = sink;
	pthread_mutex_lock(&t->lock);
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
	t->full |= sink->dropped != dropped;
	pthread_mutex_unlock(&t->lock);
	failed = b->failed;
	free(b);
	return failed ? -1 : 0;
}

static void keep(void *node)
{
	(void)node;
}

/* A thread that hangs has a file of the table: the end of the process frees that. */
static int in_use(const struct fileids *t)
{
	size_t i;

	for (i = 0; i < FILEIDS_LOOKERS; i++)
		if (t->looker[i].busy)
			return 1;
	return 0;
}

void fileids_free(struct fileids *t)
{
	size_t i;

	pthread_mutex_lock(&t->lock);
	if (!in_use(t)) {
		tdestroy(t->tree, keep);
		for (i = 0; i < t->n; i++) {
			free(t->file[i]->path);
			free(t->file[i]);
		}
		free(t->file);
		t->file = NULL;
		t->n = t->cap = 0;
		t->tree = NULL;
	}
	pthread_mutex_unlock(&t->lock);
}
