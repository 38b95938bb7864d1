// SPDX-License-Identifier: BSD-2-Clause
/* The pass over the log: one record at a time, in the order of time. */
#include <stdlib.h>

#include "profile.h"

#define NEW_FRAMES	64

static const char *rec_str(const struct pmclog_rec *r, size_t off)
{
	return (const char *)r->data + off;
}

static void ext_host(struct profile *p, const struct pmclog_rec *r)
{
	const char *s = rec_str(r, offsetof(struct pmclog_ext_host, release));
	struct log_facts *log = &p->log;

	log->ncpu = PMCLOG_FIELD32(r, struct pmclog_ext_host, ncpu);
	log->machine = PMCLOG_FIELD32(r, struct pmclog_ext_host, machine);
	log->release = strtab_str(&p->str, strtab_id(&p->str, s));
	s += strlen(s) + 1;
	log->host = strtab_str(&p->str, strtab_id(&p->str, s));
}

static void ext_kernel(struct profile *p, const struct pmclog_rec *r)
{
	const char *s = rec_str(r, offsetof(struct pmclog_ext_kernel, symbol));

	if (p->log.ref_symbol || !*s)
		return;
	p->log.ref_addr = PMCLOG_FIELD64(r, struct pmclog_ext_kernel, addr);
	p->log.ref_symbol = strtab_str(&p->str, strtab_id(&p->str, s));
}

static void ext_buildid(struct profile *p, const struct pmclog_rec *r)
{
	struct buildid b = {
		.len = PMCLOG_FIELD32(r, struct pmclog_ext_buildid, len),
	};
	struct buildid *old;

	if (!b.len || b.len > BUILDID_MAX)
		return;
	b.name = strtab_id(&p->str, rec_str(r,
				offsetof(struct pmclog_ext_buildid, name)));
	memcpy(b.id, r->data + offsetof(struct pmclog_ext_buildid, id), b.len);
	old = (struct buildid *)profile_buildid(p, b.name);
	if (old) {
		*old = b;
		return;
	}
	GROW(p->bid, p->nbid, p->capbid);
	p->bid[p->nbid++] = b;
}

const struct buildid *profile_buildid(const struct profile *p, uint32_t name)
{
	uint32_t i;

	for (i = 0; i < p->nbid; i++)
		if (p->bid[i].name == name)
			return &p->bid[i];
	return NULL;
}

#define RATE64(r, field) PMCLOG_FIELD64(r, struct pmclog_ext_rate, field)

static void ext_rate(struct profile *p, const struct pmclog_rec *r)
{
	struct event_rate rate = {
		.pmcid = PMCLOG_FIELD32(r, struct pmclog_ext_rate, pmcid),
		.cpu = PMCLOG_FIELD32(r, struct pmclog_ext_rate, cpu),
		.expected = RATE64(r, expected),
		.achieved = RATE64(r, achieved),
		.throttled = RATE64(r, throttled),
		.enabled = RATE64(r, enabled),
		.running = RATE64(r, running),
	};

	events_rate(&p->events, &rate);
}

static void userdata(struct profile *p, const struct pmclog_rec *r)
{
	switch (pmclog_iter_ext_subtype(r)) {
	case PMCLOG_EXT_HOST:
		ext_host(p, r);
		break;
	case PMCLOG_EXT_KERNEL:
		ext_kernel(p, r);
		break;
	case PMCLOG_EXT_MAPPING:
		profile_ext_mapping(p, r);
		break;
	case PMCLOG_EXT_MODULE:
		profile_ext_module(p, r);
		break;
	case PMCLOG_EXT_BUILDID:
		ext_buildid(p, r);
		break;
	case PMCLOG_EXT_RATE:
		ext_rate(p, r);
		break;
	}
}

static void initialize(struct profile *p, const struct pmclog_rec *r)
{
	struct log_facts *log = &p->log;

	if (log->ts_sec)
		return;
	log->ts_sec = (int64_t)PMCLOG_FIELD64(r, struct pmclog_initialize,
					      ts_sec);
	log->ts_nsec = (int64_t)PMCLOG_FIELD64(r, struct pmclog_initialize,
					       ts_nsec);
	log->begin = r->tsc;
	memcpy(log->cpuid, rec_str(r, offsetof(struct pmclog_initialize,
					       cpuid)), PMCLOG_CPUID_LEN);
	log->cpuid[PMCLOG_CPUID_LEN - 1] = '\0';
}

static void allocatedyn(struct profile *p, const struct pmclog_rec *r)
{
	struct event e = {
		.flags = PMCLOG_FIELD32(r, struct pmclog_pmcallocatedyn,
					flags),
		.name = strtab_id(&p->str, rec_str(r,
				offsetof(struct pmclog_pmcallocatedyn, name))),
	};

	if (r->len >= sizeof(struct pmclog_pmcallocatedyn)) {
		e.rate = PMCLOG_FIELD64(r, struct pmclog_pmcallocatedyn, rate);
		e.config = PMCLOG_FIELD64(r, struct pmclog_pmcallocatedyn,
					  config);
		e.type = PMCLOG_FIELD32(r, struct pmclog_pmcallocatedyn, type);
	}
	events_announce(&p->events,
			PMCLOG_FIELD32(r, struct pmclog_pmcallocatedyn, pmcid),
			&e);
}

static void dropnotify(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pmcid, cause, event;
	uint64_t count;

	if (r->len < sizeof(struct pmclog_dropnotify))
		return;
	pmcid = PMCLOG_FIELD32(r, struct pmclog_dropnotify, pmcid);
	cause = PMCLOG_FIELD32(r, struct pmclog_dropnotify, cause);
	count = PMCLOG_FIELD64(r, struct pmclog_dropnotify, count);
	if (pmcid == PMCLOG_PMCID_NONE) {
		p->events.lost_procs += count;
		return;
	}
	event = events_of(&p->events, &p->str, pmcid);
	if (cause < PMCLOG_DROP_NCAUSE)
		p->events.event[event].lost[cause] += count;
}

static void closelog(struct profile *p, const struct pmclog_rec *r)
{
	size_t off = offsetof(struct pmclog_closelog, account);

	p->log.closed = true;
	if (r->len < sizeof(struct pmclog_closelog))
		return;
	p->log.has_account = true;
	memcpy(&p->log.account, r->data + off, sizeof(p->log.account));
}

/* Looks up every frame of a chain that was not seen before. */
static void new_chain(struct profile *p, const struct aspace *as,
		      const struct rawchain *raw)
{
	uint32_t few[NEW_FRAMES], *frames = few, i;
	bool kernel, was_kernel = false;

	if (raw->n > NEW_FRAMES)
		frames = xreallocarray(NULL, raw->n, sizeof(*frames));
	for (i = 0; i < raw->n; i++) {
		uint64_t pc = pmclog_get64(raw->pc + (size_t)i * 8);

		/* the first frame of each part is where it was, not a call */
		kernel = pc >> 63;
		frames[i] = profile_frame(p, as, pc,
					  i && (kernel || !was_kernel));
		was_kernel = kernel;
	}
	if (!raw->n)
		frames[i++] = frames_id(&p->frames, OBJ_ID_UNKNOWN, 0);
	chains_add(&p->chains, raw, frames, i);
	if (frames != few)
		free(frames);
}

static void callchain(struct profile *p, const struct pmclog_rec *r)
{
	struct rawchain raw = {
		.pc = r->data + sizeof(struct pmclog_callchain),
		.n = (r->len - sizeof(struct pmclog_callchain)) / 8,
	};
	uint32_t pid = PMCLOG_FIELD32(r, struct pmclog_callchain, pid);
	struct proc *proc;
	struct event *e;

	profile_settle(p);
	proc = procs_get(&p->procs, &p->str, pid);
	raw.gen = aspace_gen(proc->as);
	raw.kgen = aspace_gen(p->kernel);
	raw.comm = procs_shown_name(proc, &p->str);
	raw.event = events_of(&p->events, &p->str,
			      PMCLOG_FIELD32(r, struct pmclog_callchain,
					     pmcid));
	e = &p->events.event[raw.event];
	if (!e->samples++)
		e->first = r->tsc;
	e->last = r->tsc;
	e->kernel += !(PMCLOG_FIELD32(r, struct pmclog_callchain, cpuflags) &
		       PMCLOG_CC_USERSPACE);
	if (!chains_count(&p->chains, &raw))
		new_chain(p, proc->as, &raw);
}

static struct proc *rec_proc(struct profile *p, const struct pmclog_rec *r,
			     size_t off)
{
	return procs_get(&p->procs, &p->str, pmclog_get32(r->data + off));
}

/* A thread's name stands in for its process' only while that has none. */
static void thr_create(struct profile *p, const struct pmclog_rec *r)
{
	struct proc *proc = rec_proc(p, r, offsetof(struct pmclog_thr_create,
						    pid));
	bool named = proc->named;

	if (proc->name)
		return;
	procs_name(proc, &p->str,
		   rec_str(r, offsetof(struct pmclog_thr_create, name)));
	proc->named = named;
}

static void process_record(struct profile *p, const struct pmclog_rec *r)
{
	profile_settle(p);
	switch (r->type) {
	case PMCLOG_T_PROCEXEC:
		procs_exec(rec_proc(p, r, offsetof(struct pmclog_procexec,
						   pid)), &p->str,
			   rec_str(r, offsetof(struct pmclog_procexec, path)));
		break;
	case PMCLOG_T_PROCFORK:
		procs_fork(&p->procs, &p->str,
			   PMCLOG_FIELD32(r, struct pmclog_procfork, oldpid),
			   PMCLOG_FIELD32(r, struct pmclog_procfork, newpid));
		break;
	case PMCLOG_T_SYSEXIT:
		procs_exit(rec_proc(p, r, offsetof(struct pmclog_sysexit,
						   pid)));
		break;
	case PMCLOG_T_PROC_CREATE:
		procs_name(rec_proc(p, r, offsetof(struct pmclog_proc_create,
						   pid)), &p->str,
			   rec_str(r, offsetof(struct pmclog_proc_create,
					       comm)));
		break;
	case PMCLOG_T_THR_CREATE:
		thr_create(p, r);
		break;
	}
}

static void record(struct profile *p, const struct pmclog_rec *r)
{
	switch (r->type) {
	case PMCLOG_T_CALLCHAIN:
		callchain(p, r);
		break;
	case PMCLOG_T_MAP_IN:
		profile_map_in(p, r);
		break;
	case PMCLOG_T_MAP_OUT:
		profile_map_out(p, r);
		break;
	case PMCLOG_T_USERDATA:
		userdata(p, r);
		break;
	case PMCLOG_T_INITIALIZE:
		initialize(p, r);
		break;
	case PMCLOG_T_PMCALLOCATEDYN:
		allocatedyn(p, r);
		break;
	case PMCLOG_T_DROPNOTIFY:
		dropnotify(p, r);
		break;
	case PMCLOG_T_CLOSELOG:
		closelog(p, r);
		break;
	default:
		process_record(p, r);
	}
}

void profile_read(struct profile *p, struct input *in)
{
	enum pmclog_iter_status status;
	struct pmclog_rec r;
	uint64_t offset;

	while ((status = input_read(in, &r)) == PMCLOG_ITER_RECORD) {
		if (!p->log.records++)
			p->log.begin = r.tsc;
		if (r.tsc > p->log.end)
			p->log.end = r.tsc;
		record(p, &r);
	}
	if (status == PMCLOG_ITER_ERROR) {
		const char *why = pmclog_iter_error(in->it, &offset);

		p->log.error = xasprintf("%s at byte %llu", why,
					 (unsigned long long)offset);
	}
	profile_settle(p);
	chains_finish(&p->chains);
}

void profile_init(struct profile *p, const struct image_root *root)
{
	memset(p, 0, sizeof(*p));
	strtab_init(&p->str);
	objects_init(&p->objs, &p->str);
	p->root = root;
}

void profile_free(struct profile *p)
{
	chains_free(&p->chains);
	procs_free(&p->procs);
	events_free(&p->events);
	frames_free(&p->frames);
	objects_free(&p->objs);
	free(p->funcs.func);
	idtab_free(&p->funcs.tab);
	aspace_put(p->kernel);
	free(p->bid);
	free(p->log.error);
	strtab_free(&p->str);
}
