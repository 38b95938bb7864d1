/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/follow.h"

/* perf's records, as perf_event_open(2) describes them */
struct perf_task {
	struct perf_event_header h;
	uint32_t	pid, ppid, tid, ptid;
	uint64_t	time;
};

struct perf_comm {
	struct perf_event_header h;
	uint32_t	pid, tid;
	char		comm[];
};

struct perf_mmap {
	struct perf_event_header h;
	uint32_t	pid, tid;
	uint64_t	addr, len, pgoff;
	uint32_t	maj, min;
	uint64_t	ino, ino_generation;
	uint32_t	prot, flags;
	char		filename[];
};

/* Load base of the image: of its first mapping */
static uint64_t image_base(const struct exec *x)
{
	return x->n ? x->map[0].m.start - x->map[0].m.offset : 0;
}

/* Writes PROCEXEC, and the mappings that were kept for it. */
static void write_exec(struct followed *t, struct proc *p, uint64_t base, int is_dyn,
		       uint64_t tsc)
{
	struct exec *e = p->exec;
	struct pmclog_procexec x = {
		.pid = p->pid, .pmcid = t->pmcid, .base = base,
	};
	unsigned int i;

	if (!e)
		return;
	p->exec = NULL;
	x.dyn = is_dyn ? image_base(e) : 0;
	writer_exec(t->w, &x, e->n ? e->map[0].path : "", tsc);
	for (i = 0; i < e->n; i++)
		writer_mapping(t->w, &e->map[i], tsc);
	free(e);
}

void follow_exec(struct followed *t, const struct sampler_exec *e, uint64_t tsc)
{
	struct proc *p = follow_find(t, e->pid);

	if (p)
		write_exec(t, p, e->base, (int)e->is_dyn, tsc);
}

static void flush_one(struct followed *t, struct proc *p)
{
	write_exec(t, p, 0, 0, t->w->last);
}

void follow_flush(struct followed *t)
{
	follow_each(t, flush_one);
}

static void process_ends(struct followed *t, struct proc *p, uint64_t tsc)
{
	write_exec(t, p, 0, 0, tsc);
	if (p->followed)
		writer_exit(t->w, p->pid, tsc);
	follow_remove(t, p);
}

/*
 * True if the process is known that a fork makes, because the dump was later.  A known
 * one that is older than the fork has ended: its end was lost, or it was a zombie.
 */
static int knows_child(struct followed *t, const struct perf_task *r, uint64_t tsc)
{
	struct proc *p = follow_find(t, r->pid);

	if (!p || r->pid == r->ppid || tsc <= p->since)
		return p != NULL;
	follow_only_first(t, p);
	follow_remove_thread(t, p, p->pid);
	process_ends(t, p, tsc);
	return 0;
}

/* A child has the name of the thread that made it. */
static void new_task(struct followed *t, const struct perf_task *r, uint64_t tsc)
{
	int is_known = knows_child(t, r, tsc);
	struct proc *parent = follow_find(t, r->ppid), *p;
	const char *name = follow_name(t, r->ptid);
	char copy[16];

	snprintf(copy, sizeof(copy), "%s", name ? name : "");
	p = follow_add(t, r->pid, tsc);
	if (r->pid != r->ppid && parent && parent->followed && t->descend)
		p->followed = 1;
	if (!is_known || r->pid == r->ppid)
		follow_set_name(t, p, r->tid, copy);
	if (!p->followed || (is_known && r->pid != r->ppid))
		return;
	if (r->pid != r->ppid)
		writer_fork(t->w, r->ppid, r->pid, tsc);
	writer_name(t->w, r->pid, r->tid, copy, tsc);
}

static void task_exit(struct followed *t, const struct perf_task *r, uint64_t tsc)
{
	struct proc *p = follow_find(t, r->pid);

	if (!p)
		return;
	follow_remove_thread(t, p, r->tid);
	if (p->followed && r->tid != r->pid)
		writer_thread_exit(t->w, r->tid, tsc);
	if (!p->threads)
		process_ends(t, p, tsc);
}

static void begin_exec(struct followed *t, struct proc *p, uint64_t tsc)
{
	write_exec(t, p, 0, 0, tsc);
	follow_only_first(t, p);
	if (p->followed)
		p->exec = calloc(1, sizeof(*p->exec));
}

static void new_name(struct followed *t, const struct perf_comm *r, uint64_t tsc)
{
	struct proc *p = follow_add(t, r->pid, tsc);

	follow_set_name(t, p, r->tid, r->comm);
	if (p->followed)
		writer_name(t->w, r->pid, r->tid, r->comm, tsc);
	if (r->h.misc & PERF_RECORD_MISC_COMM_EXEC)
		begin_exec(t, p, tsc);
}

static void new_mapping(struct followed *t, const struct perf_mmap *r, uint64_t tsc)
{
	struct proc *p = follow_add(t, r->pid, tsc);
	struct mapping m = { .m = {
		.pid = r->pid, .prot = r->prot, .start = r->addr, .len = r->len,
	} };

	if (!p->followed || !r->len)
		return;
	if (r->ino) {
		m.m.offset = r->pgoff;
		m.m.dev_major = r->maj;
		m.m.dev_minor = r->min;
		m.m.ino = r->ino;
	}
	snprintf(m.path, sizeof(m.path), "%s", r->ino ||
		 !strcmp(r->filename, "[vdso]") ? r->filename : "//anon");
	if (p->exec && p->exec->n < EXEC_MAPS) {
		p->exec->map[p->exec->n++] = m;
		return;
	}
	write_exec(t, p, 0, 0, tsc);
	writer_mapping(t->w, &m, tsc);
}

void follow_perf(struct followed *t, const unsigned char *record, uint64_t tsc)
{
	const void *r = record;
	const struct perf_event_header *h = r;

	switch (h->type) {
	case PERF_RECORD_FORK:
		new_task(t, r, tsc);
		break;
	case PERF_RECORD_EXIT:
		task_exit(t, r, tsc);
		break;
	case PERF_RECORD_COMM:
		new_name(t, r, tsc);
		break;
	case PERF_RECORD_MMAP2:
		new_mapping(t, r, tsc);
		break;
	}
}
