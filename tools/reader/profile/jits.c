// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "profile/here.h"
#include "profile/jitmap.h"
#include "profile/jitplace.h"
#include "profile/jits.h"

#define BYTES_MAX	((uint64_t)8 << 30)	/* of all jitdumps */
#define ACTIVE_MAX	4096U			/* processes at a time */
#define LOOK_SECS	1			/* between checks for growth */

/* Has the process a perf-PID.map?  Cached, since it needs a file access. */
static bool has_map(struct profile *p, uint32_t pid)
{
	/* the hash is unique for each pid, so the pid is not compared */
	uint64_t hash = pid * 0x9E3779B97F4A7C15ULL;
	uint32_t has = idtab_find_exact(&p->jits.maps, hash, 0);

	if (has == IDTAB_NONE) {
		has = jitmap_exists(p, pid);
		idtab_add(&p->jits.maps, hash, has);
	}
	return has;
}

/* ------------------------------------------------------------------------
 * Jitdumps
 */

/* ".../jit-PID.dump" */
static bool is_jitdump(const char *path)
{
	const char *base = basename(path);

	if (base == path || strncmp(base, "jit-", 4) || !isdigit(base[4]))
		return false;
	base += 4;
	while (isdigit(*base))
		base++;
	return !strcmp(base, ".dump");
}

/* Has another file the name now? */
static bool replaced(const struct object *o, int fd)
{
	struct stat st;

	return o->ino && !fstat(fd, &st) && st.st_ino != o->ino &&
	       major(st.st_dev) == o->dev_major &&
	       minor(st.st_dev) == o->dev_minor;
}

static int open_dump(const struct profile *p, struct jit *j,
		     const struct object *o, const char **why)
{
	struct jitplace at;
	int fd = -1;

	*why = "its jitdump is not here";
	if (!jitplace_find(p, j->pid, &at))
		return -1;
	j->alive = at.alive;
	fd = jitplace_open(p, &at, strtab_str(&p->str, j->path), why);
	if (fd < 0) {
		if (!strcmp(*why, "no such file"))
			*why = "its jitdump is not there (any more)";
		return -1;
	}
	*why = jitplace_why_not(p, &at, j->pid, fd, JIT_DUMP);
	if (!*why && o && !has_root(p) && replaced(o, fd))
		*why = "its jitdump was replaced";
	if (!*why)
		return fd;
	close(fd);
	return -1;
}

int jits_open(const struct profile *p, struct jit *j, const char **why)
{
	return open_dump(p, j, NULL, why);
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_size;
}

/* Is there room for all of a jitdump, in place of what was read of it before? */
static bool fits(const struct jits *t, const struct jit *j, off_t size)
{
	return t->codes - j->dump.ncode < JITDUMP_CODES &&
	       t->bytes - (uint64_t)j->size + (uint64_t)size < BYTES_MAX;
}

static void read_all(struct jits *t, struct jit *j, int fd, off_t size)
{
	t->codes -= j->dump.ncode;
	t->bytes += (uint64_t)size - (uint64_t)j->size;
	j->size = size;
	jitdump_free(&j->dump);
	j->reads++;
	j->why = jitdump_read(&j->dump, fd);
	t->codes += j->dump.ncode;
	/* the process may have started a new jitdump, which is shorter */
	if (j->turns > j->dump.nrange)
		j->turns = j->dump.nrange;
}

static void read_dump(struct profile *p, struct jit *j,
		      const struct object *o)
{
	const char *why;
	int fd = open_dump(p, j, o, &why);
	off_t size = fd < 0 ? 0 : size_of(fd);

	if (fd >= 0 && !fits(&p->jits, j, size))
		why = "its jitdump is one too many";
	/* code that was read before stays valid */
	if (why && !j->reads)
		j->why = why;
	if (!why && (!j->reads || size != j->size))
		read_all(&p->jits, j, fd, size);
	if (fd >= 0)
		close(fd);
}

static uint32_t jit_id(struct profile *p, uint32_t pid, const struct object *o)
{
	struct jit key = { .pid = pid, .path = o->path };
	uint64_t hash = hash_mix(pid, o->path);
	struct jits *t = &p->jits;
	uint32_t id = IDTAB_FIND(&t->tab, hash, t->jit, e, e->pid == pid && e->path == o->path);

	if (id != IDTAB_NONE)
		return id;
	GROW(t->jit, t->n, t->cap);
	t->jit[t->n] = key;
	read_dump(p, &t->jit[t->n], o);
	t->jit[t->n].looked = p->log.end;
	idtab_add(&t->tab, hash, t->n);
	return t->n++;
}

/* ------------------------------------------------------------------------
 * Objects
 */

/* Does the jitdump have names, or may it get some? */
static bool is_good(const struct jit *j)
{
	return !j->why || (j->alive && j->why == jitdump_empty);
}

bool jits_object(struct profile *p, uint32_t pid, struct object *o)
{
	uint32_t jit = procs_get(&p->procs, &p->str, pid)->jit;
	char name[32];

	/* a jitdump has more than a map; the map is used if it fails */
	if (jit && !is_good(&p->jits.jit[jit - 1]) && has_map(p, pid))
		jit = 0;
	else if (!jit && !has_map(p, pid))
		return false;
	o->kind = OBJ_JIT;
	o->ino = pid;
	o->dev_minor = jit;
	snprintf(name, sizeof(name), "[JIT] %u", pid);
	o->path = strtab_id(&p->str, name);
	return true;
}

struct taking {
	struct profile *p;
	uint32_t pid;
};

/* The object that code of @from is of, now that there is a jitdump. */
static uint32_t taken_over(void *ctx, uint32_t from)
{
	const struct taking *t = ctx;
	struct profile *p = t->p;
	struct object o = p->objs.obj[from];
	enum obj_kind was = o.kind;

	if (was != OBJ_ANON &&
	    (was != OBJ_JIT || o.ino != t->pid || o.dev_minor))
		return from;
	if (!jits_object(p, t->pid, &o) || (!o.dev_minor && o.kind == was))
		return from;
	return objects_id(&p->objs, &p->str, &o);
}

/* Gives code that was mapped before the jitdump was found to the jitdump. */
static void take_over(struct profile *p, uint32_t pid)
{
	struct taking t = { p, pid };

	aspace_replace(&procs_get(&p->procs, &p->str, pid)->as, taken_over, &t);
}

/* Drops ended processes; if there are too many, a jitdump is not updated. */
static void make_active(struct profile *p, uint32_t id)
{
	struct jits *t = &p->jits;
	uint32_t i, n = 0;

	for (i = 0; i < t->nactive; i++) {
		uint32_t at = t->active[i], pid = t->jit[at].pid;

		if (at != id &&
		    procs_get(&p->procs, &p->str, pid)->jit == at + 1)
			t->active[n++] = at;
	}
	t->nactive = n;
	if (n == ACTIVE_MAX)
		return;
	APPEND(t->active, t->nactive, t->capactive) = id;
}

void jits_mapped(struct profile *p, uint32_t pid, const struct object *o)
{
	uint32_t id;

	if (o->kind != OBJ_FILE || !is_jitdump(strtab_str(&p->str, o->path)))
		return;
	self_flush(p);
	profile_flush(p);
	id = jit_id(p, pid, o);
	procs_get(&p->procs, &p->str, pid)->jit = id + 1;
	make_active(p, id);
	take_over(p, pid);
}

struct jit *jits_of(const struct profile *p, const struct object *o)
{
	return o->kind == OBJ_JIT && o->dev_minor ?
	       &p->jits.jit[o->dev_minor - 1] : NULL;
}

void jits_forked(struct profile *p, uint32_t from, uint32_t to)
{
	uint32_t jit = procs_get(&p->procs, &p->str, from)->jit;
	struct aspace **as = &procs_get(&p->procs, &p->str, to)->as;

	if (!jit || !p->jits.jit[jit - 1].dump.nrange || from == to || !*as)
		return;
	aspace_renew(as);
	(*as)->kept = jit;
	(*as)->turns = p->jits.jit[jit - 1].turns;
}

uint64_t jits_place(const struct profile *p, const struct aspace *as,
		    const struct object *o, uint64_t pc)
{
	const struct jit *j = jits_of(p, o);

	if (!j)
		return pc;
	return jitdump_place(&j->dump, as->kept == o->dev_minor ? as->turns :
			     j->turns, pc);
}

/* ------------------------------------------------------------------------
 * Time
 */
#define U64(field) REC64(r, ext_clock, field)

/* A jitdump's clock is slewed by half a thousandth at most, the log's is not. */
void jits_clock(struct profile *p, const struct pmclog_rec *r)
{
	uint64_t raw = logclock_at(&p->log.clock, U64(raw)), mono = U64(mono);
	double nsec = 1e9 / (double)log_freq(&p->log);
	struct jits *t = &p->jits;
	double rate = nsec;

	if (t->rate && raw - t->raw > log_freq(&p->log))
		rate = (double)(int64_t)(mono - t->mono) /
		       (double)(int64_t)(raw - t->raw);
	if (!(rate > nsec * .999 && rate < nsec * 1.001))
		rate = nsec;
	t->raw = raw;
	t->mono = mono;
	t->rate = rate;
}

/* Number of code ranges at a time of the log; all if that is not known. */
static uint32_t turns_at(const struct jits *t, const struct jitdump *d,
			 uint64_t tsc)
{
	double apart;

	if (!t->rate || d->ticks)
		return d->nrange;
	apart = (double)(int64_t)(tsc - t->raw) * t->rate;
	/* timestamps in a hostile log are arbitrary */
	if (!(apart > -0x1p62 && apart < 0x1p62))
		return d->nrange;
	return jitdump_turns(d, t->mono + (uint64_t)(int64_t)apart);
}

/* Flushes first: waiting samples are from before the change. */
static void renew(struct profile *p, const struct jit *j)
{
	self_flush(p);
	profile_flush(p);
	aspace_renew(&procs_get(&p->procs, &p->str, j->pid)->as);
}

static void read_again(struct profile *p, struct jit *j)
{
	uint32_t reads = j->reads;

	self_flush(p);
	profile_flush(p);
	read_dump(p, j, NULL);
	if (j->reads != reads)
		renew(p, j);
}

static void pass(struct profile *p, struct jit *j, uint64_t tsc)
{
	uint32_t turns;

	if (j->alive && tsc - j->looked > LOOK_SECS * log_freq(&p->log)) {
		j->looked = tsc;
		read_again(p, j);
	}
	turns = turns_at(&p->jits, &j->dump, tsc);
	if (turns == j->turns)
		return;
	if (jitdump_turned(&j->dump, j->turns < turns ? j->turns : turns,
			   j->turns < turns ? turns : j->turns))
		renew(p, j);
	j->turns = turns;
}

void jits_pass(struct profile *p, uint64_t tsc)
{
	uint32_t i;

	for (i = 0; i < p->jits.nactive; i++)
		pass(p, &p->jits.jit[p->jits.active[i]], tsc);
}

void jits_free(struct jits *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		jitdump_free(&t->jit[i].dump);
	free(t->jit);
	free(t->active);
	idtab_free(&t->tab);
	idtab_free(&t->maps);
}
