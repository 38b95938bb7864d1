// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include <linux/pmclog.h>

#include "machine/procs.h"

struct proc *procs_look_up(struct procs *t, struct strtab *str, uint32_t pid)
{
	uint64_t hash = hash_number(pid);	/* unique for each pid */
	uint32_t id;

	id = idtab_find_exact(&t->tab, hash, 0);
	if (id == IDTAB_NONE) {
		GROW(t->proc, t->n, t->cap);
		t->proc[t->n] = (struct proc){
			.pid = pid,
			/* pid 0 is never named in a log */
			.name = pid ? 0 : strtab_id(str, "[idle]"),
		};
		idtab_add_exact(&t->tab, hash, 0, t->n);
		id = t->n++;
	}
	t->near[pid % PROCS_NEAR] = id;
	return &t->proc[id];
}

static void drop_space(struct proc *p)
{
	aspace_put(p->as);
	p->as = NULL;
	p->ended = false;
}

void procs_lives(struct proc *p)
{
	if (p->ended)
		drop_space(p);
}

void procs_fork(struct procs *t, struct strtab *str, uint32_t from,
		uint32_t to)
{
	struct proc *p = procs_get(t, str, from);
	struct aspace *as = p->ended ? NULL : aspace_get(p->as);
	uint32_t name = p->name;

	p = procs_get(t, str, to);
	drop_space(p);
	p->as = as;
	p->jit = 0;
	/* a name logged just before its PROCFORK is the child's own */
	if (!p->named && to)
		p->name = name;
}

void procs_exec(struct proc *p, struct strtab *str, const char *path)
{
	const char *base = basename(path);

	drop_space(p);
	p->jit = 0;
	/* The kernel renames a task before the exec is logged. */
	if (!p->named && *base)
		p->name = strtab_id_len(str, base, strnlen(base, 15));
	p->named = false;
}

void procs_exit(struct procs *t, struct proc *p)
{
	uint32_t *slot = &t->ended[t->nended % PROCS_ENDED];

	if (t->nended++ >= PROCS_ENDED)
		procs_lives(&t->proc[*slot]);
	*slot = p - t->proc;
	p->ended = true;
	p->jit = 0;
	/* The name stays for samples in the kernel until the task is gone. */
	p->named = false;
}

void procs_name(struct proc *p, struct strtab *str, const char *name)
{
	if (!p->pid || !*name)
		return;
	p->name = strtab_id_len(str, name, strnlen(name, PMCLOG_COMM_MAX));
	p->named = true;
}

uint32_t procs_shown_name(struct proc *p, struct strtab *str)
{
	char buf[16];

	if (p->name)
		return p->name;
	if (p->pid == PMCLOG_PID_KERNEL)
		return strtab_id(str, "?");
	snprintf(buf, sizeof(buf), "?%u", p->pid);
	/* not stored: a name may still be logged */
	return strtab_id(str, buf);
}

uint64_t procs_born(const struct procs *t, uint32_t pid)
{
	uint32_t id = idtab_find_exact(&t->tab, hash_number(pid), 0);

	return id == IDTAB_NONE ? 0 : t->proc[id].born;
}

const struct aspace *procs_space(const struct procs *t, uint32_t pid)
{
	uint32_t id = idtab_find_exact(&t->tab, hash_number(pid), 0);

	return id == IDTAB_NONE ? NULL : t->proc[id].as;
}

void procs_forget(struct procs *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		struct proc *p = &t->proc[i];

		drop_space(p);
		p->jit = 0;
		p->named = false;
		if (p->pid)
			p->name = 0;
	}
}

void procs_free(struct procs *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		aspace_put(t->proc[i].as);
	free(t->proc);
	idtab_free(&t->tab);
}
