// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes records into the writer thread's buffer: those from the rings, and those
 * that the thread makes itself.  Called only by the writer thread.
 */
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>

#include "compat.h"
#include "emit.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "sink.h"
#include "trace.h"

#define CLOCK_INTERVAL	(60ULL * NSEC_PER_SEC)
#define CLOCK_JUMP	(NSEC_PER_SEC / 10)

/* Stamps never decrease: the fast clocks may step back a little. */
static u64 emit_forward_stamp(struct hwpmc_log *log, u64 tsc)
{
	if (tsc > log->told.last_tsc)
		log->told.last_tsc = tsc;
	return log->told.last_tsc;
}

/* Room in the buffer, or in the next log's records: see rotate.c. */
static __always_inline void *emit_make_room(struct hwpmc_owner *o, u32 len)
{
	struct hwpmc_log *log = &o->log;
	void *p;

	if (unlikely(log->tee.to))
		return hwpmc_rotate_tee_room(o, len);
	if (log->out.pack)	/* a call for each record otherwise */
		hwpmc_pack_end(log);
	if (unlikely(log->out.size - log->out.used < len))
		hwpmc_sink_flush(o);
	p = log->out.buf + log->out.used;
	log->out.used += len;
	log->acct.buf_records++;
	return p;
}

/*
 * hwpmc_emit_reserve - room for a record that the thread makes itself
 * @len: bytes, rounded up to a multiple of 4
 *
 * All bytes after the header are zero.
 */
void *hwpmc_emit_reserve(struct hwpmc_owner *o, u32 type, u32 len, u64 tsc)
{
	struct pmclog_hdr *h;

	len = ALIGN(len, 4);
	h = emit_make_room(o, len);
	memset(h, 0, len);
	h->header = PMCLOG_HEADER(type, len);
	h->tsc = emit_forward_stamp(&o->log, tsc);
	if (!o->log.tee.to) {
		o->log.acct.made++;
		atomic64_inc(&o->log.totals.made);
	}
	return h;
}

/* hwpmc_emit_ext - the same for an extension record */
void *hwpmc_emit_ext(struct hwpmc_owner *o, u16 subtype, u32 len, u64 tsc)
{
	struct pmclog_ext *e =
		hwpmc_emit_reserve(o, PMCLOG_T_USERDATA, len, tsc);

	e->cookie = PMCLOG_EXT_COOKIE;
	e->subtype = subtype;
	return e;
}

/* Copies a complete record, except for its stamp. */
static void emit_copy(struct hwpmc_owner *o, const void *rec, u64 tsc)
{
	u32 len = PMCLOG_HEADER_LEN(*(const u32 *)rec);
	struct pmclog_hdr *h = emit_make_room(o, len);

	copy_words((u64 *)h, rec, len / sizeof(u64));
	if (len % sizeof(u64))
		memcpy((u8 *)h + len - sizeof(u32), rec + len - sizeof(u32),
		       sizeof(u32));
	h->tsc = emit_forward_stamp(&o->log, tsc);
}

/*
 * Returns the path of @file in the thread's scratch, no longer than the log allows.
 *
 * The thread's root is that of the first process, so a path begins at the root of
 * the file's mount namespace.  The root of a target or of the configuring process
 * could be anywhere below, and may be gone when the log is read.
 *
 * On a stacking file system the path is the user's.  The path of the file below
 * begins inside a layer: a process finds no file by it, or another one.
 */
static const char *path_of(struct hwpmc_log *log, struct file *file)
{
	const char *path = d_path(compat_user_path(file), log->out.path,
				  PATH_MAX);

	if (IS_ERR(path) || strlen(path) >= PMCLOG_PATH_MAX)
		return "//toolong";
	return path;
}

static void emit_map_in(struct hwpmc_owner *o, u32 pid, u64 start,
			const char *path, u64 tsc)
{
	u32 len = strlen(path) + 1;
	struct pmclog_map_in *m;

	m = hwpmc_emit_reserve(o, PMCLOG_T_MAP_IN, sizeof(*m) + len, tsc);
	m->pid = pid;
	m->start = start;
	memcpy(m->path, path, len);
}

/* MAP_IN, and the extension with the fields that MAP_IN lacks. */
void hwpmc_emit_mapping(struct hwpmc_owner *o, const struct ring_map *m,
			u64 tsc)
{
	struct pmclog_ext_mapping *e;
	const char *path = m->vdso ? "[vdso]" : "//anon";

	if (m->file)
		path = path_of(&o->log, m->file);
	emit_map_in(o, m->pid, m->start, path, tsc);
	e = hwpmc_emit_ext(o, PMCLOG_EXT_MAPPING, sizeof(*e), tsc);
	e->pid = m->pid;
	e->prot = m->prot;
	e->start = m->start;
	e->len = m->len;
	if (m->file) {
		/* readers find the file by the numbers that /proc/PID/maps shows */
		const struct inode *inode = compat_maps_inode(m->file);

		e->offset = m->offset;
		e->dev_major = MAJOR(inode->i_sb->s_dev);
		e->dev_minor = MINOR(inode->i_sb->s_dev);
		e->ino = inode->i_ino;
	}
}

static void emit_exec(struct hwpmc_owner *o, const struct ring_exec *x)
{
	const char *path = x->file ? path_of(&o->log, x->file) : "";
	u32 len = strlen(path) + 1;
	struct pmclog_procexec *p;

	p = hwpmc_emit_reserve(o, PMCLOG_T_PROCEXEC, sizeof(*p) + len,
			       x->stamp.tsc);
	p->pid = x->pid;
	p->pmcid = x->pmcid;
	p->base = x->base;
	p->dyn = x->dyn;
	memcpy(p->path, path, len);
}

static bool is_ext(const struct ring_stamp *s, u16 subtype)
{
	const struct pmclog_ext *e = (const void *)s;

	return PMCLOG_HEADER_TYPE(s->header) == PMCLOG_T_USERDATA &&
	       PMCLOG_HEADER_LEN(s->header) >= sizeof(*e) &&
	       e->cookie == PMCLOG_EXT_COOKIE && e->subtype == subtype;
}

/*
 * True for records of the state of processes, which the next log needs as well.  False
 * for counts, which readers add up over the logs, for the user's own records, for those
 * that belong to samples, and for kernel modules: see kept.c.
 */
static bool is_process_record(const struct ring_stamp *s)
{
	switch (PMCLOG_HEADER_TYPE(s->header)) {
	case PMCLOG_T_PROCCSW:
	case PMCLOG_T_PROCEXIT:
	case PMCLOG_T_USERDATA:
		return false;
	default:
		return !hwpmc_kept_wants((const void *)s);
	}
}

/* A record of a process or an ioctl, other than those that are frequent */
static bool is_news(u32 kind, const struct ring_stamp *s)
{
	return kind != KIND_RECORD ||
	       (PMCLOG_HEADER_TYPE(s->header) != PMCLOG_T_PROCCSW &&
		!is_ext(s, PMCLOG_EXT_USERCHAIN));
}

static void emit_process_record(struct hwpmc_owner *o, u32 kind,
				struct ring_stamp *s)
{
	switch (kind) {
	case KIND_RECORD:
		emit_copy(o, s, s->tsc);
		break;
	case KIND_MAP:
		hwpmc_emit_mapping(o, (struct ring_map *)s, s->tsc);
		break;
	case KIND_EXEC:
		emit_exec(o, (struct ring_exec *)s);
		break;
	}
}

/* A target has ended: PROCEXIT without its count. */
static void emit_detach(struct hwpmc_owner *o, const struct pmclog_procexit *x)
{
	struct pmclog_pmcdetach *d;

	d = hwpmc_emit_reserve(o, PMCLOG_T_PMCDETACH, sizeof(*d), x->h.tsc);
	d->pmcid = x->pmcid;
	d->pid = x->pid;
}

/* Emits to the next log the part that it needs of a record of the current log. */
static void emit_to_tee(struct hwpmc_owner *o, u32 kind, struct ring_stamp *s)
{
	o->log.tee.to = true;
	if (kind != KIND_RECORD || is_process_record(s))
		emit_process_record(o, kind, s);
	else if (PMCLOG_HEADER_TYPE(s->header) == PMCLOG_T_PROCEXIT)
		emit_detach(o, (const void *)s);
	o->log.tee.to = false;
}

static struct file *file_of(u32 kind, struct ring_stamp *s)
{
	switch (kind) {
	case KIND_MAP:
		return ((struct ring_map *)s)->file;
	case KIND_EXEC:
		return ((struct ring_exec *)s)->file;
	default:
		return NULL;
	}
}

static const struct ring_raw *raw_of(const struct pmclog_callchain *cc)
{
	return (const void *)cc + PMCLOG_HEADER_LEN(cc->h.header);
}

/* Emits the raw data that a KIND_SAMPLE_RAW sample has after its chain. */
static void emit_raw(struct hwpmc_owner *o, const struct pmclog_callchain *cc)
{
	const struct ring_raw *r = raw_of(cc);
	struct pmclog_ext_raw *e;

	e = hwpmc_emit_ext(o, PMCLOG_EXT_RAW, sizeof(*e) + r->len, cc->h.tsc);
	e->pmcid = cc->pmcid;
	e->tid = cc->tid;
	e->len = r->len;
	e->size = r->size;
	memcpy(e->data, r->data, r->len);
}

static const struct ring_detail *detail_of(const struct pmclog_callchain *cc)
{
	return (const void *)cc + PMCLOG_HEADER_LEN(cc->h.header);
}

/* Bytes of the record that follows a sample in the log. */
static u32 room_of_more(const struct pmclog_callchain *cc, u32 kind)
{
	if (kind == KIND_SAMPLE_RAW)
		return sizeof(struct pmclog_ext_raw) + ALIGN(raw_of(cc)->len, 4);
	return sizeof(struct pmclog_ext_detail) +
	       detail_of(cc)->n * sizeof(struct pmclog_branch);
}

/* Emits what a KIND_SAMPLE_DETAIL sample has after its chain. */
static void emit_detail(struct hwpmc_owner *o, const struct pmclog_callchain *cc)
{
	const struct ring_detail *d = detail_of(cc);
	struct pmclog_ext_detail *e;

	e = hwpmc_emit_ext(o, PMCLOG_EXT_DETAIL,
			   room_of_more(cc, KIND_SAMPLE_DETAIL), cc->h.tsc);
	e->pmcid = cc->pmcid;
	e->tid = cc->tid;
	e->has = d->has;
	e->hidden = d->hidden;
	e->source = d->source;
	e->weight = d->weight;
	e->addr = d->addr;
	memcpy(e->branch, d->branch, d->n * sizeof(d->branch[0]));
}

/* Most bytes that a sample takes in the buffer, with a new pack or what follows it. */
static u32 room_of_sample(const struct hwpmc_log *log,
			  const struct pmclog_callchain *cc, u32 kind)
{
	u32 len = PMCLOG_HEADER_LEN(cc->h.header);

	if (kind != KIND_SAMPLE)
		return len + room_of_more(cc, kind);
	return log->out.pack ? max_t(u32, len, PMCLOG_PACK_MAX) : len;
}

/* The record that has more of a sample must follow the sample, in the same buffer. */
static void emit_sample(struct hwpmc_owner *o, struct ring_stamp *s, u32 kind)
{
	const struct pmclog_callchain *cc = (const void *)s;
	struct hwpmc_log *log = &o->log;
	u32 period = s->spare;

	s->spare = 0;
	if (period)
		hwpmc_emit_period(o, cc, period, room_of_sample(log, cc, kind));
	if (kind != KIND_SAMPLE) {
		if (log->out.size - log->out.used < room_of_sample(log, cc, kind))
			hwpmc_sink_flush(o);
		emit_copy(o, s, s->tsc);
		if (kind == KIND_SAMPLE_RAW)
			emit_raw(o, cc);
		else
			emit_detail(o, cc);
	} else if (!log->out.pack ||
		   !hwpmc_pack_sample(o, cc, emit_forward_stamp(log, s->tsc))) {
		emit_copy(o, s, s->tsc);
	}
}

static bool is_sample(u32 kind)
{
	return kind == KIND_SAMPLE || kind == KIND_SAMPLE_RAW ||
	       kind == KIND_SAMPLE_DETAIL;
}

/* CLOSELOG's counts of cut and late chains are sums of the samples' flags. */
static void take_chain_end(struct hwpmc_log *log, u32 cpuflags)
{
	unsigned int cause;

	if (cpuflags & PMCLOG_CC_USERLATE)
		log->acct.late_taken++;
	if (!(cpuflags & PMCLOG_CC_CUT_ANY))
		return;
	log->acct.cut_taken++;
	for (cause = 0; cause < PMCLOG_CUT_NCAUSE; cause++)
		if (cpuflags & PMCLOG_CC_CUT(cause))
			log->acct.cut_by_taken[cause]++;
}

/* The samples that follow have the period of @a. */
static void take_period(struct hwpmc_owner *o,
			const struct pmclog_pmcallocatedyn *a)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_pmc(o, row, pmc)
		if (pmc->id == a->pmcid)
			WRITE_ONCE(pmc->period_logged, a->rate);
}

/*
 * hwpmc_emit_ring_record - hwpmc_merge_run()'s callback: one record, in the
 * order of time
 */
void hwpmc_emit_ring_record(void *arg, unsigned int cpu, u32 kind,
			    struct ring_stamp *s, u32 len)
{
	struct hwpmc_owner *o = arg;
	struct hwpmc_log *log = &o->log;
	struct file *file;

	if (is_sample(kind)) {
		emit_sample(o, s, kind);
		/* not earlier: emit_sample() may have written the old buffer out */
		take_chain_end(log, ((struct pmclog_callchain *)s)->cpuflags);
		log->acct.buf_samples++;
		log->acct.samples_logged++;
		log->acct.samples_taken++;
		return;
	}
	emit_process_record(o, kind, s);
	if (kind == KIND_RECORD &&
	    PMCLOG_HEADER_TYPE(s->header) == PMCLOG_T_PMCALLOCATEDYN)
		take_period(o, (const void *)s);
	if (kind == KIND_RECORD && hwpmc_kept_wants((const void *)s))
		hwpmc_kept_add(&log->kept, (const void *)s);
	log->pace.news |= is_news(kind, s);
	if (log->tee.on)
		emit_to_tee(o, kind, s);
	file = file_of(kind, s);
	if (file)
		fput(file);
	log->acct.proc_taken++;
	log->acct.late_answers_taken += kind == KIND_RECORD &&
				   is_ext(s, PMCLOG_EXT_USERCHAIN);
}

/* The name of a process (@tid == @pid) or of one of its threads. */
void hwpmc_emit_names(struct hwpmc_owner *o, u32 pid, u32 tid, const char *comm,
		      u64 tsc)
{
	struct pmclog_proc_create *p;
	struct pmclog_thr_create *t;

	if (pid == tid) {
		p = hwpmc_emit_reserve(o, PMCLOG_T_PROC_CREATE,
				       PMCLOG_PROC_CREATE_LEN, tsc);
		p->pid = pid;
		strscpy(p->comm, comm, sizeof(p->comm));
	} else {
		t = hwpmc_emit_reserve(o, PMCLOG_T_THR_CREATE,
				       PMCLOG_THR_CREATE_LEN, tsc);
		t->tid = tid;
		t->pid = pid;
		strscpy(t->name, comm, sizeof(t->name));
	}
}

/* @exe: the process' executable; NULL: it has none, or the process has ended */
void hwpmc_emit_attach(struct hwpmc_owner *o, u32 pmcid, u32 pid,
		       struct file *exe, u64 tsc)
{
	const char *path = exe ? path_of(&o->log, exe) : "";
	u32 len = strlen(path) + 1;
	struct pmclog_pmcattach *a;

	a = hwpmc_emit_reserve(o, PMCLOG_T_PMCATTACH, sizeof(*a) + len, tsc);
	a->pmcid = pmcid;
	a->pid = pid;
	memcpy(a->path, path, len);
}

void hwpmc_emit_sysexit(struct hwpmc_owner *o, u32 pid, u64 tsc)
{
	struct pmclog_sysexit *x;

	x = hwpmc_emit_reserve(o, PMCLOG_T_SYSEXIT, sizeof(*x), tsc);
	x->pid = pid;
}

/* How far the wall clock is ahead of the log's */
u64 hwpmc_emit_wall_ahead(void)
{
	unsigned long flags;
	u64 ahead;

	local_irq_save(flags);
	ahead = ktime_get_real_fast_ns() - ktime_get_raw_fast_ns();
	local_irq_restore(flags);
	return ahead;
}

/* The same moment on three clocks. */
void hwpmc_emit_clock(struct hwpmc_owner *o)
{
	struct pmclog_ext_clock *c;
	unsigned long flags;
	u64 raw, mono, real;

	local_irq_save(flags);
	raw = ktime_get_raw_fast_ns();
	mono = ktime_get_mono_fast_ns();
	real = ktime_get_real_fast_ns();
	local_irq_restore(flags);
	c = hwpmc_emit_ext(o, PMCLOG_EXT_CLOCK, sizeof(*c), o->log.told.last_tsc);
	c->raw = raw;
	c->mono = mono;
	c->real = real;
	o->log.times.next_clock = raw + CLOCK_INTERVAL;
	o->log.times.real_ahead = real - raw;
}

/* Is the log's last CLOCK old, or has the wall clock jumped, as after a suspend? */
static bool clock_is_due(const struct hwpmc_log *log)
{
	u64 raw = ktime_get_raw_fast_ns();
	s64 jump = ktime_get_real_fast_ns() - raw - log->times.real_ahead;

	return raw > log->times.next_clock || abs(jump) > CLOCK_JUMP;
}

/* @real: the wall clock at @tsc; nanoseconds */
void hwpmc_emit_initialize(struct hwpmc_owner *o, u64 tsc, u64 real)
{
	struct pmclog_initialize *i;

	o->log.told.last_tsc = 0;
	i = hwpmc_emit_reserve(o, PMCLOG_T_INITIALIZE, sizeof(*i), tsc);
	i->version = PMCLOG_VERSION;
	i->cputype = PMCLOG_CPUTYPE_GENERIC;
	i->tsc_freq = NSEC_PER_SEC;
	i->ts_sec = div_u64_rem(real, NSEC_PER_SEC, (u32 *)&i->ts_nsec);
	compat_cpuid(i->cpuid, sizeof(i->cpuid));
}

static void emit_host(struct hwpmc_owner *o)
{
	const char *release = init_utsname()->release;
	u32 rlen = strlen(release) + 1;
	u32 nlen = strlen(o->log.maker.host) + 1;
	struct pmclog_ext_host *h;

	h = hwpmc_emit_ext(o, PMCLOG_EXT_HOST, sizeof(*h) + rlen + nlen,
		     o->log.told.last_tsc);
	h->ncpu = nr_cpu_ids;
	h->page_size = PAGE_SIZE;
	h->machine = COMPAT_ELF_MACHINE;
	h->owner_pid = o->log.maker.pid;
	memcpy(h->release, release, rlen);
	memcpy(h->release + rlen, o->log.maker.host, nlen);
}

/*
 * The address of one exported function locates the kernel, because the start of
 * its image is not exported.
 */
static void emit_kernel(struct hwpmc_owner *o)
{
	static const char symbol[] = "schedule";
	u64 addr = (unsigned long)schedule;
	struct pmclog_ext_kernel *k;

	emit_map_in(o, PMCLOG_PID_KERNEL, addr, "[kernel]", o->log.told.last_tsc);
	k = hwpmc_emit_ext(o, PMCLOG_EXT_KERNEL, sizeof(*k) + sizeof(symbol),
		     o->log.told.last_tsc);
	k->addr = addr;
	memcpy(k->symbol, symbol, sizeof(symbol));
}

/*
 * The first records of a log that begins at @tsc, which is past.  The file of the log
 * before may have kept the thread since, over a suspend.
 */
void hwpmc_emit_begin(struct hwpmc_owner *o, u64 tsc)
{
	u64 real = tsc + o->log.times.real_ahead;

	o->log.told.meta = NULL;
	o->log.told.epoch++;
	hwpmc_emit_initialize(o, tsc, real);
	emit_host(o);
	hwpmc_emit_clock(o);
	if (o->log.maker.tell_kernel && hwpmc_access_locked())
		WRITE_ONCE(o->log.maker.tell_kernel, false);
	if (o->log.maker.tell_kernel)
		emit_kernel(o);
}

static void emit_allocate(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	struct pmclog_pmcallocatedyn *a;

	a = hwpmc_emit_reserve(o, PMCLOG_T_PMCALLOCATEDYN, sizeof(*a),
			       o->log.told.last_tsc);
	hwpmc_pmc_describe(pmc, a);
	/* samples that are still in the rings may have an earlier period than the PMC */
	if (pmc_is_sampling(pmc))
		a->rate = READ_ONCE(pmc->period_logged);
	pmc->told_log = o->log.told.number;
}

/* Announces all PMCs, even those that were announced before. */
void hwpmc_emit_pmcs(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_pmc(o, row, pmc)
		emit_allocate(o, pmc);
}

static struct log_meta *next_meta(struct hwpmc_log *log)
{
	struct log_meta *m = log->told.meta;

	spin_lock(&log->lock);
	m = m ? list_next_entry(m, list) :
		list_first_entry(&log->meta, struct log_meta, list);
	if (list_entry_is_head(m, &log->meta, list))
		m = NULL;
	spin_unlock(&log->lock);
	return m;
}

/* Emits complete records. */
void hwpmc_emit_meta(struct hwpmc_owner *o, const struct log_meta *m)
{
	u32 at;

	for (at = 0; at < m->len;
	     at += PMCLOG_HEADER_LEN(*(const u32 *)(m->data + at))) {
		emit_copy(o, m->data + at, o->log.told.last_tsc);
		o->log.acct.made++;
		atomic64_inc(&o->log.totals.made);
	}
}

/*
 * hwpmc_emit_news - emit the records that must precede the samples of this pass
 *
 * Called after the look at the rings: a PMC whose sample has been seen is in
 * the array, and earlier metadata is in the list.
 */
void hwpmc_emit_news(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct hwpmc_pmc *pmc;
	struct log_meta *m;
	unsigned int row;

	while ((m = next_meta(log))) {
		hwpmc_emit_meta(o, m);
		log->told.meta = m;
	}
	for_each_pmc(o, row, pmc)
		if (pmc->told_log != log->told.number)
			emit_allocate(o, pmc);
	if (clock_is_due(log))
		hwpmc_emit_clock(o);
}

/* The cause of the snapshot.  The log that follows is complete since @since. */
void hwpmc_emit_snapshot(struct hwpmc_owner *o, const struct trigger *t,
			 u64 since)
{
	struct pmclog_ext_snapshot *s;

	s = hwpmc_emit_ext(o, PMCLOG_EXT_SNAPSHOT, sizeof(*s), since);
	s->cause = t->cause;
	s->pmcid = t->pmcid;
	s->pid = t->pid;
	s->status = t->status;
	s->when = t->when;
	s->since = since;
}

/* The last records of a log. */
void hwpmc_emit_end(struct hwpmc_owner *o, struct pmclog_account *account)
{
	struct pmclog_closelog *c;

	hwpmc_emit_clock(o);
	account->made = o->log.acct.made;
	c = hwpmc_emit_reserve(o, PMCLOG_T_CLOSELOG, sizeof(*c),
			       o->log.told.last_tsc);
	c->account = *account;
}
