/* SPDX-License-Identifier: BSD-2-Clause */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/follow.h"
#include "reader/base/order.h"

/* A thread; @tid first, as in struct proc, so that both are found alike */
struct thread {
	uint32_t	tid;
	uint32_t	pid;
	char		name[16];
};

DEFINE_ORDER(by_number, uint32_t, ORDER(*a, *b))

/* Finds the entry of @number, or makes one of @size bytes. */
static void *find_or_add(void **tree, uint32_t number, size_t size, int *is_new)
{
	void *entry = calloc(1, size), **at;

	if (!entry)
		die(EX_OSERR, "out of memory");
	memcpy(entry, &number, sizeof(number));
	at = tsearch(entry, tree, by_number);
	if (!at)
		die(EX_OSERR, "out of memory");
	*is_new = *at == entry;
	if (!*is_new)
		free(entry);
	return *at;
}

static void *find(void *const *tree, uint32_t number)
{
	void **at = tfind(&number, tree, by_number);

	return at ? *at : NULL;
}

struct proc *follow_find(const struct followed *t, uint32_t pid)
{
	return find(&t->by_pid, pid);
}

struct proc *follow_add(struct followed *t, uint32_t pid, uint64_t tsc)
{
	int is_new;
	struct proc *p = find_or_add(&t->by_pid, pid, sizeof(*p), &is_new);

	if (is_new) {
		p->followed = t->all;
		p->since = tsc;
	}
	return p;
}

static void free_proc(void *entry)
{
	free(((struct proc *)entry)->exec);
	free(entry);
}

void follow_remove(struct followed *t, struct proc *p)
{
	tdelete(&p->pid, &t->by_pid, by_number);
	free_proc(p);
}

char *follow_name(const struct followed *t, uint32_t tid)
{
	struct thread *th = find(&t->by_tid, tid);

	return th ? th->name : NULL;
}

void follow_set_name(struct followed *t, struct proc *p, uint32_t tid,
		    const char *name)
{
	int is_new;
	struct thread *th = find_or_add(&t->by_tid, tid, sizeof(*th), &is_new);
	struct proc *other;

	/* the end of a thread with this number was lost */
	if (!is_new && th->pid != p->pid) {
		other = follow_find(t, th->pid);
		if (other && other->threads)
			other->threads--;
		is_new = 1;
	}
	p->threads += is_new;
	th->pid = p->pid;
	snprintf(th->name, sizeof(th->name), "%s", name);
}

void follow_remove_thread(struct followed *t, struct proc *p, uint32_t tid)
{
	struct thread *th = find(&t->by_tid, tid);

	if (!th)
		return;
	tdelete(&tid, &t->by_tid, by_number);
	free(th);
	if (p->threads)
		p->threads--;
}

/* The walk of twalk(3) has no room for arguments of its own. */
static struct {
	struct followed	*t;
	void		(*f)(struct followed *t, struct proc *p);
} each;

static void visit(const void *node, VISIT which, int depth)
{
	(void)depth;
	if (which == postorder || which == leaf)
		each.f(each.t, *(struct proc *const *)node);
}

void follow_each(struct followed *t, void (*f)(struct followed *t, struct proc *p))
{
	each.t = t;
	each.f = f;
	twalk(t->by_pid, visit);
}

/* Finds a thread of @of other than its first one. */
static struct {
	const struct proc *of;
	uint32_t	tid;
} other;

static void visit_thread(const void *node, VISIT which, int depth)
{
	const struct thread *th = *(struct thread *const *)node;

	(void)depth;
	if ((which == postorder || which == leaf) && th->pid == other.of->pid &&
	    th->tid != th->pid)
		other.tid = th->tid;
}

void follow_only_first(struct followed *t, struct proc *p)
{
	other.of = p;
	while (p->threads > 1) {
		other.tid = 0;
		twalk(t->by_tid, visit_thread);
		if (!other.tid)
			break;
		follow_remove_thread(t, p, other.tid);
	}
	p->threads = 1;
}

void follow_free(struct followed *t)
{
	tdestroy(t->by_pid, free_proc);
	tdestroy(t->by_tid, free);
	memset(t, 0, sizeof(*t));
}
