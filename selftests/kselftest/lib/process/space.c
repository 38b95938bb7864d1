// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/pmclog.h>

#include "space.h"

struct space {
	struct space_map **maps;
	size_t		nmaps;
	uint32_t	*tasks;		/* tids and pids that have a name */
	size_t		ntasks;
	struct space_map *last;		/* MAP_IN without its MAPPING yet */
};

struct space *space_new(void)
{
	return calloc(1, sizeof(struct space));
}

void space_free(struct space *sp)
{
	size_t i;

	for (i = 0; i < sp->nmaps; i++)
		free(sp->maps[i]);
	free(sp->maps);
	free(sp->tasks);
	free(sp);
}

static void forget_map(struct space *sp, size_t i)
{
	free(sp->maps[i]);
	sp->maps[i] = sp->maps[--sp->nmaps];
}

static struct space_map *new_map(struct space *sp, uint32_t pid)
{
	struct space_map *m = calloc(1, sizeof(*m));

	if (!(sp->nmaps & (sp->nmaps + 1)))
		sp->maps = realloc(sp->maps, (2 * sp->nmaps + 2) *
				   sizeof(*sp->maps));
	sp->maps[sp->nmaps++] = m;
	m->pid = pid;
	return m;
}

/* Cuts [start, end) out of what @pid has mapped. */
static void unmap(struct space *sp, uint32_t pid, uint64_t start, uint64_t end,
		  const struct space_map *keep)
{
	struct space_map *m, *rest;
	size_t i;

	for (i = sp->nmaps; i-- > 0; ) {
		m = sp->maps[i];
		if (m == keep || m->pid != pid || m->end <= start ||
		    m->start >= end)
			continue;
		if (m->start < start && m->end > end) {
			rest = new_map(sp, pid);
			*rest = *m;
			rest->offset += end - m->start;
			rest->start = end;
			m->end = start;
		} else if (m->start < start) {
			m->end = start;
		} else if (m->end > end) {
			m->offset += end - m->start;
			m->start = end;
		} else {
			forget_map(sp, i);
		}
	}
}

static void forget_maps(struct space *sp, uint32_t pid)
{
	unmap(sp, pid, 0, UINT64_MAX, NULL);
}

static void copy_maps(struct space *sp, uint32_t from, uint32_t to)
{
	size_t i, n = sp->nmaps;
	struct space_map *m;

	forget_maps(sp, to);
	n = sp->nmaps;
	for (i = 0; i < n; i++) {
		if (sp->maps[i]->pid != from)
			continue;
		m = new_map(sp, to);
		*m = *sp->maps[i];
		m->pid = to;
	}
}

static void name_task(struct space *sp, uint32_t tid)
{
	size_t i;

	for (i = 0; i < sp->ntasks; i++)
		if (sp->tasks[i] == tid)
			return;
	if (!(sp->ntasks & (sp->ntasks + 1)))
		sp->tasks = realloc(sp->tasks, (2 * sp->ntasks + 2) *
				    sizeof(*sp->tasks));
	sp->tasks[sp->ntasks++] = tid;
}

bool space_knows_task(const struct space *sp, uint32_t pid, uint32_t tid)
{
	bool has_pid = false, has_tid = false;
	size_t i;

	if (pid == PMCLOG_PID_KERNEL)
		return true;	/* not of the owner's pid namespace */
	if (tid == PMCLOG_PID_KERNEL)
		tid = pid;	/* a thread's last moments, without a number */
	for (i = 0; i < sp->ntasks; i++) {
		has_pid |= sp->tasks[i] == pid;
		has_tid |= sp->tasks[i] == tid;
	}
	return has_pid && has_tid;
}

static void map_in(struct space *sp, const struct pmclog_rec *rec)
{
	struct space_map *m = new_map(sp, REC32(rec, map_in, pid));

	m->start = REC64(rec, map_in, start);
	m->end = m->start;	/* until MAPPING tells */
	strncpy(m->path, REC_TEXT(rec, map_in, path), sizeof(m->path) - 1);
	sp->last = m;
}

static void mapping(struct space *sp, const struct pmclog_rec *rec)
{
	struct space_map *m = sp->last;

	if (!m || m->start != REC64(rec, ext_mapping, start) ||
	    m->pid != REC32(rec, ext_mapping, pid))
		return;
	m->end = m->start + REC64(rec, ext_mapping, len);
	m->offset = REC64(rec, ext_mapping, offset);
	unmap(sp, m->pid, m->start, m->end, m);
}

void space_apply(struct space *sp, const struct pmclog_rec *rec)
{
	switch (rec->type) {
	case PMCLOG_T_PROCFORK:
		copy_maps(sp, REC32(rec, procfork, oldpid),
			  REC32(rec, procfork, newpid));
		break;
	case PMCLOG_T_PROC_CREATE:
		name_task(sp, REC32(rec, proc_create, pid));
		break;
	case PMCLOG_T_THR_CREATE:
		name_task(sp, REC32(rec, thr_create, tid));
		break;
	case PMCLOG_T_PROCEXEC:
		forget_maps(sp, REC32(rec, procexec, pid));
		break;
	case PMCLOG_T_SYSEXIT:
		/* the last moments of a task are still sampled */
		break;
	case PMCLOG_T_MAP_IN:
		map_in(sp, rec);
		break;
	case PMCLOG_T_MAP_OUT:
		unmap(sp, REC32(rec, map_out, pid), REC64(rec, map_out, start),
		      REC64(rec, map_out, end), NULL);
		break;
	case PMCLOG_T_USERDATA:
		if (IS_EXT(rec, MAPPING))
			mapping(sp, rec);
		break;
	}
}

const struct space_map *space_find(struct space *sp, uint32_t pid,
				   uint64_t addr)
{
	size_t i;

	for (i = 0; i < sp->nmaps; i++)
		if (sp->maps[i]->pid == pid && sp->maps[i]->start <= addr &&
		    addr < sp->maps[i]->end)
			return sp->maps[i];
	return NULL;
}

unsigned int unmapped_samples(struct log *log, unsigned int *mapped)
{
	struct space *space = space_new();
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	*mapped = 0;
	LOG_FOR_EACH(log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || !s.user)
			continue;
		if (space_find(space, s.pid, s.pc[0])) {
			++*mapped;
			continue;
		}
		n++;
		printf("# pid %d at %llx: not mapped\n", (int)s.pid,
		       (unsigned long long)s.pc[0]);
	}
	space_free(space);
	return n;
}
