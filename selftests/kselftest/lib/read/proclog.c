// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "proclog.h"

bool proc_record(const struct pmclog_rec *rec, struct proc_record *p)
{
	*p = (struct proc_record){
		.type = rec->type, .tsc = rec->tsc, .pmcid = ANY, .text = "",
	};
	switch (rec->type) {
	case PMCLOG_T_PMCATTACH:
		p->pmcid = REC32(rec, pmcattach, pmcid);
		p->pid = REC32(rec, pmcattach, pid);
		p->text = REC_TEXT(rec, pmcattach, path);
		return true;
	case PMCLOG_T_PMCDETACH:
		p->pmcid = REC32(rec, pmcdetach, pmcid);
		p->pid = REC32(rec, pmcdetach, pid);
		return true;
	case PMCLOG_T_PROCCSW:
		p->pmcid = REC32(rec, proccsw, pmcid);
		p->pid = REC32(rec, proccsw, pid);
		p->tid = REC32(rec, proccsw, tid);
		p->value = REC64(rec, proccsw, value);
		return true;
	case PMCLOG_T_PROCEXEC:
		p->pmcid = REC32(rec, procexec, pmcid);
		p->pid = REC32(rec, procexec, pid);
		p->text = REC_TEXT(rec, procexec, path);
		return true;
	case PMCLOG_T_PROCEXIT:
		p->pmcid = REC32(rec, procexit, pmcid);
		p->pid = REC32(rec, procexit, pid);
		p->value = REC64(rec, procexit, value);
		if (rec->len < sizeof(struct pmclog_procexit))
			return true;
		p->enabled = REC64(rec, procexit, enabled);
		p->running = REC64(rec, procexit, running);
		return true;
	case PMCLOG_T_PROCFORK:
		p->parent = REC32(rec, procfork, oldpid);
		p->pid = REC32(rec, procfork, newpid);
		return true;
	case PMCLOG_T_MAP_IN:
		p->pid = REC32(rec, map_in, pid);
		p->text = REC_TEXT(rec, map_in, path);
		return true;
	case PMCLOG_T_SYSEXIT:
		p->pid = REC32(rec, sysexit, pid);
		return true;
	case PMCLOG_T_PROC_CREATE:
		p->pid = REC32(rec, proc_create, pid);
		p->text = REC_TEXT(rec, proc_create, comm);
		return true;
	case PMCLOG_T_THR_CREATE:
		p->pid = REC32(rec, thr_create, pid);
		p->tid = REC32(rec, thr_create, tid);
		p->text = REC_TEXT(rec, thr_create, name);
		return true;
	case PMCLOG_T_THR_EXIT:
		p->tid = REC32(rec, thr_exit, tid);
		p->pid = ANY;
		return true;
	default:
		return false;
	}
}

bool proc_find(struct log *log, uint32_t type, uint32_t pid, unsigned int nth,
	       struct proc_record *p)
{
	struct proc_record one;
	struct pmclog_rec rec;
	bool found = false;

	LOG_FOR_EACH(log, rec) {
		if (found || rec.type != type || !proc_record(&rec, &one) ||
		    (pid != ANY && one.pid != pid) || nth--)
			continue;
		*p = one;	/* its text is in @log */
		found = true;
	}
	return found;
}

unsigned int proc_count(struct log *log, uint32_t type, uint32_t pid)
{
	struct proc_record p;

	return COUNT_RECORDS(log, rec,
			     rec.type == type && proc_record(&rec, &p) &&
			     (pid == ANY || p.pid == pid));
}

unsigned int proc_forks(struct log *log, uint32_t parent, uint32_t child)
{
	struct proc_record p;

	return COUNT_RECORDS(log, rec,
			     rec.type == PMCLOG_T_PROCFORK && proc_record(&rec, &p) &&
			     p.parent == parent && p.pid == child);
}

uint64_t proc_sum(struct log *log, uint32_t type, uint32_t pmcid, uint32_t pid)
{
	struct proc_record p;
	struct pmclog_rec rec;
	uint64_t sum = 0;

	LOG_FOR_EACH(log, rec)
		if (rec.type == type && proc_record(&rec, &p) &&
		    (pmcid == ANY || p.pmcid == pmcid) &&
		    (pid == ANY || p.pid == pid))
			sum += p.value;
	return sum;
}

unsigned int proc_thread(struct log *log, uint32_t type, uint32_t tid)
{
	struct proc_record p;

	return COUNT_RECORDS(log, rec, rec.type == type && proc_record(&rec, &p) && p.tid == tid);
}

unsigned int proc_samples(struct log *log, uint32_t pmcid, uint32_t pid,
			  uint32_t tid)
{
	return COUNT_SAMPLES(log, s,
			     (pmcid == ANY || s.pmcid == pmcid) &&
			     (pid == ANY || s.pid == pid) &&
			     (tid == ANY || s.tid == tid));
}

static bool map_logged(struct log *log, uint32_t pid, uint64_t start)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == PMCLOG_T_MAP_IN &&
			     REC32(&rec, map_in, pid) == pid &&
			     REC64(&rec, map_in, start) == start);
}

bool proc_maps_logged(struct log *log, uint32_t pid)
{
	char path[40], line[1200], prot[8];
	unsigned long long start;
	unsigned int n = 0;
	bool good = true;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%*x %7s", &start, prot) != 2 ||
		    prot[2] != 'x' || addr_is_kernel(start))
			continue;
		n++;
		if (map_logged(log, pid, start))
			continue;
		printf("# not logged: %s", line);
		good = false;
	}
	if (f)
		fclose(f);
	return good && n;
}

unsigned int proc_kernel_maps(struct log *log, const char *path,
			      uint64_t *start)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_MAP_IN ||
		    REC32(&rec, map_in, pid) != PMCLOG_PID_KERNEL ||
		    strcmp(REC_TEXT(&rec, map_in, path), path))
			continue;
		*start = REC64(&rec, map_in, start);
		n++;
	}
	return n;
}
