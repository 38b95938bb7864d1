// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "proclog.h"

#define U32(rec, type, field)	PMCLOG_FIELD32(rec, struct type, field)
#define U64(rec, type, field)	PMCLOG_FIELD64(rec, struct type, field)
#define TEXT(rec, type, field)						\
	((const char *)(rec)->data + offsetof(struct type, field))

bool proc_record(const struct pmclog_rec *rec, struct proc_record *p)
{
	*p = (struct proc_record){
		.type = rec->type, .tsc = rec->tsc, .pmcid = ANY, .text = "",
	};
	switch (rec->type) {
	case PMCLOG_T_PMCATTACH:
		p->pmcid = U32(rec, pmclog_pmcattach, pmcid);
		p->pid = U32(rec, pmclog_pmcattach, pid);
		p->text = TEXT(rec, pmclog_pmcattach, path);
		return true;
	case PMCLOG_T_PMCDETACH:
		p->pmcid = U32(rec, pmclog_pmcdetach, pmcid);
		p->pid = U32(rec, pmclog_pmcdetach, pid);
		return true;
	case PMCLOG_T_PROCCSW:
		p->pmcid = U32(rec, pmclog_proccsw, pmcid);
		p->pid = U32(rec, pmclog_proccsw, pid);
		p->tid = U32(rec, pmclog_proccsw, tid);
		p->value = U64(rec, pmclog_proccsw, value);
		return true;
	case PMCLOG_T_PROCEXEC:
		p->pmcid = U32(rec, pmclog_procexec, pmcid);
		p->pid = U32(rec, pmclog_procexec, pid);
		p->text = TEXT(rec, pmclog_procexec, path);
		return true;
	case PMCLOG_T_PROCEXIT:
		p->pmcid = U32(rec, pmclog_procexit, pmcid);
		p->pid = U32(rec, pmclog_procexit, pid);
		p->value = U64(rec, pmclog_procexit, value);
		if (rec->len < sizeof(struct pmclog_procexit))
			return true;
		p->enabled = U64(rec, pmclog_procexit, enabled);
		p->running = U64(rec, pmclog_procexit, running);
		return true;
	case PMCLOG_T_PROCFORK:
		p->parent = U32(rec, pmclog_procfork, oldpid);
		p->pid = U32(rec, pmclog_procfork, newpid);
		return true;
	case PMCLOG_T_SYSEXIT:
		p->pid = U32(rec, pmclog_sysexit, pid);
		return true;
	case PMCLOG_T_PROC_CREATE:
		p->pid = U32(rec, pmclog_proc_create, pid);
		p->text = TEXT(rec, pmclog_proc_create, comm);
		return true;
	case PMCLOG_T_THR_CREATE:
		p->pid = U32(rec, pmclog_thr_create, pid);
		p->tid = U32(rec, pmclog_thr_create, tid);
		p->text = TEXT(rec, pmclog_thr_create, name);
		return true;
	case PMCLOG_T_THR_EXIT:
		p->tid = U32(rec, pmclog_thr_exit, tid);
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
			     U32(&rec, pmclog_map_in, pid) == pid &&
			     U64(&rec, pmclog_map_in, start) == start);
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
		    PMCLOG_FIELD32(&rec, struct pmclog_map_in, pid) !=
			    PMCLOG_PID_KERNEL ||
		    strcmp((const char *)rec.data +
			   offsetof(struct pmclog_map_in, path), path))
			continue;
		*start = PMCLOG_FIELD64(&rec, struct pmclog_map_in, start);
		n++;
	}
	return n;
}
