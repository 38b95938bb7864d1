// SPDX-License-Identifier: BSD-2-Clause
/* The pass over the log: one record at a time, in the order of time. */
#include <stdlib.h>

#include "base/progress.h"
#include "log/pmcid.h"
#include "log/record.h"
#include "pmclog_wire.h"
#include "profile/profile.h"
#include "profile/profile_guess.h"

static void ext_clock(struct profile *p, const struct pmclog_rec *r)
{
	jits_clock(p, r);
	wallclock_add(&p->log.wall, r->tsc, logclock_at(&p->log.clock, REC64(r, ext_clock, raw)),
		      REC64(r, ext_clock, real));
}

/*
 * Does the stream go on with a log of another recording?  That of several recorders of
 * the same time have one INITIALIZE, and their PMCs are distinct.
 */
static void note_owner(struct profile *p, const struct pmclog_rec *r)
{
	size_t at = offsetof(struct pmclog_ext_host, release);
	uint64_t owner = hash_bytes(r->data + at, r->len - at, REC32(r, ext_host, owner_pid)) | 1;
	struct log_facts *log = &p->log;

	if (log->owner && log->owner_session == p->events.session)
		return;
	if (log->owner && log->owner != owner)
		p->events.recording++;
	log->owner = owner;
	log->owner_session = p->events.session;
}

static void ext_host(struct profile *p, const struct pmclog_rec *r)
{
	const char *s = REC_STR(r, ext_host, release);
	struct log_facts *log = &p->log;

	note_owner(p, r);
	log->ncpu = REC32(r, ext_host, ncpu);
	log->machine = REC32(r, ext_host, machine);
	log->release = strtab_str(&p->str, strtab_id(&p->str, s));
	s += strlen(s) + 1;
	log->host = strtab_str(&p->str, strtab_id(&p->str, s));
}

static void ext_section(struct profile *p, const struct pmclog_rec *r)
{
	const char *mod = REC_STR(r, ext_section, names);

	kmods_section(&p->kmods, &p->str, mod, mod + strlen(mod) + 1, REC64(r, ext_section, addr));
}

void profile_buildid(struct profile *p, const struct pmclog_rec *r)
{
	buildids_add(&p->ids, &p->str, REC_STR(r, ext_buildid, name), REC_STR(r, ext_buildid, id),
		     REC32(r, ext_buildid, len));
}

/* Does @list contain the conditions @s?  Both have spaces between words. */
static bool has_conditions(const char *list, const char *s)
{
	size_t n = strlen(s);
	const char *at;

	for (at = strstr(list, s); n && at; at = strstr(at + 1, s))
		if ((at == list || at[-1] == ' ') &&
		    (!at[n] || at[n] == ' '))
			return true;
	return !n;
}

/*
 * A part of a part has a record for each, that of the whole log first.  Each
 * log of a stream has such records, too.
 */
static void ext_filtered(struct profile *p, const struct pmclog_rec *r)
{
	struct log_facts *log = &p->log;
	const char *s = REC_STR(r, ext_filtered, conditions);
	char *both;

	if (!log->told_part)
		log->part_of += REC64(r, ext_filtered, samples);
	log->told_part = true;
	if (!log->conditions || has_conditions(s, log->conditions)) {
		log->conditions = strtab_str(&p->str, strtab_id(&p->str, s));
		return;
	}
	if (strlen(log->conditions) > PMCLOG_PATH_MAX ||
	    has_conditions(log->conditions, s))
		return;
	both = xasprintf("%s %s", log->conditions, s);
	log->conditions = strtab_str(&p->str, strtab_id(&p->str, both));
	free(both);
}

static void ext_rate(struct profile *p, const struct pmclog_rec *r)
{
	struct event_rate rate = {
		.pmcid = REC32(r, ext_rate, pmcid), .cpu = REC32(r, ext_rate, cpu),
		.expected = REC64(r, ext_rate, expected), .achieved = REC64(r, ext_rate, achieved),
		.throttled = REC64(r, ext_rate, throttled),
		.enabled = REC64(r, ext_rate, enabled), .running = REC64(r, ext_rate, running),
	};

	events_rate(&p->events, &rate);
}

/* The times of day of a log go with it, so those when its new objects were mapped are kept. */
static void keep_first_times(struct profile *p)
{
	struct object *o;

	for (; p->objs.timed < p->objs.n; p->objs.timed++) {
		o = &p->objs.obj[p->objs.timed];
		if (o->first)
			o->first_wall = wallclock_at(&p->log.wall, o->first);
	}
}

static void initialize(struct profile *p, const struct pmclog_rec *r)
{
	struct log_facts *log = &p->log;

	tp_record(&p->tps, r);
	log->version = REC32(r, initialize, version);
	log->unaccounted |= log->initialized && !log->closed;
	log->unclosed += log->initialized && !log->closed;
	log->told_part = log->closed = log->has_account = false;
	ends_settle(&p->ends);
	if (log->initialized) {
		p->events.session++;
		periods_forget(&p->periods);
		keep_first_times(p);
		wallclock_next(&log->wall);
		buildids_keep(&p->ids, &p->str, &p->objs);
		profile_next_log(p);
		return;
	}
	log->initialized = true;
	logclock_first(&log->clock, r);
	log->ts_sec = (int64_t)REC64(r, initialize, ts_sec);
	log->ts_nsec = (int64_t)REC64(r, initialize, ts_nsec);
	log->freq = REC64(r, initialize, tsc_freq);
	log->begin = r->tsc;
	wallclock_begin(&log->wall, log->freq, log->begin, log->ts_sec,
			log->ts_nsec);
	profile_clock(p);
	memcpy(log->cpuid, REC_STR(r, initialize, cpuid), PMCLOG_CPUID_LEN);
	log->cpuid[PMCLOG_CPUID_LEN - 1] = '\0';
}

static void allocatedyn(struct profile *p, const struct pmclog_rec *r)
{
	struct event e = {
		.flags = record_pmc_flags(r),
		.name = strtab_id(&p->str, REC_STR(r, pmcallocatedyn, name)),
	};

	if (r->len >= PMCLOG_PMCALLOCATEDYN_RATE)
		e.rate = REC64(r, pmcallocatedyn, rate);
	if (r->len >= sizeof(struct pmclog_pmcallocatedyn)) {
		e.config = REC64(r, pmcallocatedyn, config);
		e.type = REC32(r, pmcallocatedyn, type);
	}
	events_announce(&p->events, REC32(r, pmcallocatedyn, pmcid), &e);
}

/* FreeBSD announces a PMC by an event number. */
static void allocate(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pmcid = REC32(r, wire_allocate, pmcid);
	struct event e = {
		.flags = record_pmc_flags(r), .rate = REC64(r, wire_allocate, rate),
		.config = REC32(r, wire_allocate, event),
	};
	char name[PMCID_EVENT_MAX];

	pmcid_event(name, p->log.version, pmcid, (uint32_t)e.config, e.flags);
	e.name = strtab_id(&p->str, name);
	events_announce(&p->events, pmcid, &e);
}

static void dropnotify(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pmcid, cause, event;
	uint64_t count;

	if (r->len < sizeof(struct pmclog_dropnotify))
		return;
	pmcid = REC32(r, dropnotify, pmcid);
	cause = REC32(r, dropnotify, cause);
	count = REC64(r, dropnotify, count);
	if (pmcid == PMCLOG_PMCID_NONE) {
		p->events.lost_procs += count;
		if (cause < PMCLOG_DROP_NCAUSE)
			p->events.lost_procs_by[cause] += count;
		return;
	}
	event = events_of(&p->events, &p->str, pmcid);
	if (cause < PMCLOG_DROP_NCAUSE)
		p->events.event[event].lost[cause] += count;
}

static void closelog(struct profile *p, const struct pmclog_rec *r)
{
	struct log_facts *log = &p->log;
	struct pmclog_account one;

	log->closed = true;
	if (record_account(r, &one)) {
		record_account_add(&log->account, &one);
	} else {
		log->unaccounted = true;
		events_untold(&p->events);
	}
	log->has_account = !log->unaccounted;
}

static void (*const exts[])(struct profile *p, const struct pmclog_rec *r) = {
	[PMCLOG_EXT_CLOCK]	= ext_clock,
	[PMCLOG_EXT_HOST]	= ext_host,
	[PMCLOG_EXT_KERNEL]	= profile_ext_kernel,
	[PMCLOG_EXT_MAPPING]	= profile_ext_mapping,
	[PMCLOG_EXT_MODULE]	= profile_ext_module,
	[PMCLOG_EXT_SECTION]	= ext_section,
	[PMCLOG_EXT_BUILDID]	= profile_buildid,
	[PMCLOG_EXT_RATE]	= ext_rate,
	[PMCLOG_EXT_USERCHAIN]	= profile_userchain,
	[PMCLOG_EXT_FILTERED]	= ext_filtered,
};

static void userdata(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t subtype = pmclog_iter_ext_subtype(r);

	/* there may be one for each sample */
	if (subtype == PMCLOG_EXT_PERIOD)
		periods_record(&p->periods, r);
	else if (subtype < nitems(exts) && exts[subtype])
		exts[subtype](p, r);
	else if (subtype == PMCLOG_EXT_FIELDS)
		tp_record(&p->tps, r);
	else if (!subtype)
		p->log.unknown += record_is_unknown(r);
}

static struct proc *proc_of(struct profile *p, uint32_t pid)
{
	return procs_get(&p->procs, &p->str, pid);
}

/* A thread's name stands in for its process' only while that has none. */
static void thr_create(struct profile *p, const struct pmclog_rec *r)
{
	struct proc *proc = proc_of(p, REC32(r, thr_create, pid));
	bool named = proc->named;

	if (proc->name)
		return;
	procs_name(proc, &p->str, REC_STR(r, thr_create, name));
	proc->named = named;
}

/* A process that already runs is named after its executable file. */
static void attach(struct profile *p, const struct pmclog_rec *r)
{
	struct proc *proc = proc_of(p, REC32(r, pmcattach, pid));
	const char *path = REC_STR(r, pmcattach, path);

	if (proc->name || !*path)
		return;
	procs_name(proc, &p->str, basename(path));
	proc->named = false;
}

static void forked(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t from = REC32(r, procfork, oldpid);
	uint32_t to = REC32(r, procfork, newpid);

	procs_fork(&p->procs, &p->str, from, to);
	if (!p->jits.nactive)
		return;
	jits_pass(p, r->tsc);
	jits_forked(p, from, to);
}

static void process_record(struct profile *p, const struct pmclog_rec *r)
{
	profile_settle(p);
	switch (r->type) {
	case PMCLOG_T_PROCEXEC:
		proc_of(p, REC32(r, procexec, pid))->born = r->tsc;
		procs_exec(proc_of(p, REC32(r, procexec, pid)), &p->str,
			   REC_STR(r, procexec, path));
		profile_guess_exec(p, r);
		break;
	case PMCLOG_T_PROCFORK:
		proc_of(p, REC32(r, procfork, newpid))->born = r->tsc;
		forked(p, r);
		break;
	case PMCLOG_T_THR_EXIT:
		break;
	case PMCLOG_T_SYSEXIT:
		procs_exit(&p->procs, proc_of(p, REC32(r, sysexit, pid)));
		break;
	case PMCLOG_T_PROC_CREATE:
		procs_lives(proc_of(p, REC32(r, proc_create, pid)));
		procs_name(proc_of(p, REC32(r, proc_create, pid)), &p->str,
			   REC_STR(r, proc_create, comm));
		break;
	case PMCLOG_T_THR_CREATE:
		thr_create(p, r);
		break;
	case PMCLOG_T_PMCATTACH:
		attach(p, r);
		break;
	default:
		p->log.unknown += record_is_unknown(r);
	}
}

void profile_moment(struct profile *p, uint64_t tsc)
{
	if (!p->log.records++) {
		p->log.begin = tsc;
		profile_clock(p);
	}
	if (tsc > p->log.end)
		p->log.end = tsc;
}

static void (*const records[])(struct profile *p, const struct pmclog_rec *r) = {
	[PMCLOG_T_MAP_IN]		= profile_map_in,
	[PMCLOG_T_MAP_OUT]		= profile_map_out,
	[PMCLOG_T_INITIALIZE]		= initialize,
	[PMCLOG_T_PMCALLOCATE]		= allocate,
	[PMCLOG_T_PMCALLOCATEDYN]	= allocatedyn,
	[PMCLOG_T_DROPNOTIFY]		= dropnotify,
	[PMCLOG_T_CLOSELOG]		= closelog,
};

void profile_record(struct profile *p, const struct pmclog_rec *r)
{
	struct pmclog_rec moved;

	if (r->type == PMCLOG_T_INITIALIZE && p->log.initialized)
		logclock_next(&p->log.clock, r, p->log.end);
	if (p->log.clock.moved) {
		moved = *r;
		moved.tsc = logclock_at(&p->log.clock, r->tsc);
		r = &moved;
	}
	if (p->held.valid)
		profile_release(p, r);
	profile_moment(p, r->tsc);
	if (r->type == PMCLOG_T_CALLCHAIN) {
		if (p->jits.nactive)
			jits_pass(p, r->tsc);
		profile_callchain(p, r);
		return;
	}
	self_flush(p);
	profile_flush(p);
	late_record(&p->late, r);
	if (r->type == PMCLOG_T_USERDATA)
		userdata(p, r);
	else if (r->type < nitems(records) && records[r->type])
		records[r->type](p, r);
	else
		process_record(p, r);
}

void profile_read(struct profile *p, struct input *in)
{
	enum pmclog_iter_status status = PMCLOG_ITER_EOF;
	struct progress progress;
	struct pmclog_rec r;
	uint64_t show = PROGRESS_RECORDS;

	progress_begin(&progress, in->fd);
	while (!p->enough && (status = input_read(in, &r)) == PMCLOG_ITER_RECORD) {
		if (!p->log.records && p->on_begin &&
		    !p->on_begin(p->on_sample_ctx)) {
			p->log.records++;
			break;
		}
		profile_record(p, &r);
		if (p->filter && !filter_time(p->filter, r.tsc))
			profile_pass(p, in);
		if (r.serial < show)
			continue;
		progress_show(&progress, input_bytes(in, &r));
		show = r.serial + PROGRESS_RECORDS;
	}
	progress_end(&progress);
	p->log.wrong_times = in->steady.wrong;
	p->log.repeated = input_repeated(in);
	if (status == PMCLOG_ITER_ERROR) {
		p->log.cut = input_stopped(in);
		p->log.error = input_error_text(in);
	}
	profile_finish(p);
}

void profile_look(struct profile *p)
{
	self_tell(p);
	profile_flush(p);
	profile_settle(p);
}

void profile_forget(struct profile *p)
{
	self_flush(p);
	self_free(&p->self);
	profile_flush(p);
	late_free(&p->late);
	callers_free(&p->callers);
	callers_init(&p->callers);
	chains_free(&p->chains);
	p->chains = (struct chains){ .lists = p->chains.lists };
}

void profile_finish(struct profile *p)
{
	if (p->held.valid)
		profile_release(p, NULL);
	self_tell(p);
	self_free(&p->self);
	profile_flush(p);
	profile_settle(p);
	late_free(&p->late);
	batch_free(&p->batch);
	roll_free(&p->roll);
	callers_free(&p->callers);
	chains_finish(&p->chains);
}

void profile_init(struct profile *p, const struct image_root *root)
{
	memset(p, 0, sizeof(*p));
	strtab_init(&p->str);
	objects_init(&p->objs, &p->str);
	batch_init(&p->batch);
	callers_init(&p->callers);
	ends_init(&p->ends);
	p->root = root;
}

void profile_free(struct profile *p)
{
	late_free(&p->late);
	free(p->held.buf);
	tp_free(&p->tps);
	byfield_free(&p->field);
	batch_free(&p->batch);
	roll_free(&p->roll);
	self_free(&p->self);
	callers_free(&p->callers);
	chains_free(&p->chains);
	ends_free(&p->ends);
	procs_free(&p->procs);
	events_free(&p->events);
	periods_free(&p->periods);
	groups_free(&p->groups);
	frames_free(&p->frames);
	objects_free(&p->objs);
	free(p->funcs.func);
	idtab_free(&p->funcs.tab);
	aspace_put(p->kernel);
	buildids_free(&p->ids);
	kmods_free(&p->kmods);
	jits_free(&p->jits);
	free(p->lives.live);
	wallclock_free(&p->log.wall);
	free(p->log.error);
	strtab_free(&p->str);
}
