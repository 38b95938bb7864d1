// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfile.h"
#include "space.h"

typedef unsigned long long ull;

bool log_load(struct log *log, int fd)
{
	bool seekable = lseek(fd, 0, SEEK_CUR) >= 0;
	size_t size = 1 << 20;
	ssize_t n;

	memset(log, 0, sizeof(*log));
	log->data = malloc(size);
	while (log->data) {
		/* the writer thread may share the file's position */
		n = seekable ? pread(fd, log->data + log->len, size - log->len,
				     log->len) :
			       read(fd, log->data + log->len, size - log->len);
		if (n <= 0)
			return n == 0;
		log->len += n;
		/* the device wants room for a record */
		if (size - log->len < PMCLOG_RECORD_MAX) {
			size *= 2;
			log->data = realloc(log->data, size);
		}
	}
	return false;
}

void log_free(struct log *log)
{
	free(log->data);
	log->data = NULL;
	log->len = 0;
}

uint64_t log_dropped(const struct log *log)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		sum += log->dropped[i];
	return sum;
}

bool log_sample(const struct pmclog_rec *rec, struct sample *s)
{
	uint32_t flags;
	unsigned int i;

	if (rec->type != PMCLOG_T_CALLCHAIN)
		return false;
	s->tsc = rec->tsc;
	s->pid = REC32(rec, callchain, pid);
	s->tid = REC32(rec, callchain, tid);
	s->pmcid = REC32(rec, callchain, pmcid);
	flags = REC32(rec, callchain, cpuflags);
	s->cpu = PMCLOG_CC_CPU(flags);
	s->flags = PMCLOG_CC_FLAGS(flags);
	s->user = s->flags & PMCLOG_CC_USERSPACE;
	s->late = s->flags & PMCLOG_CC_USERLATE;
	s->npc = (rec->len - sizeof(struct pmclog_callchain)) / 8;
	for (i = 0; i < s->npc && i < LOG_MAX_DEPTH; i++)
		s->pc[i] = pmclog_get64(rec->data +
				offsetof(struct pmclog_callchain, pc) + 8 * i);
	return true;
}

bool log_next_sample(struct pmclog_iter **it, struct sample *s)
{
	struct pmclog_rec rec;

	while (*it && pmclog_iter_next(*it, &rec) == PMCLOG_ITER_RECORD)
		if (log_sample(&rec, s))
			return true;
	pmclog_iter_close(*it);
	*it = NULL;
	return false;
}

unsigned int log_count(struct log *log, uint32_t type, size_t offset,
		       uint32_t value)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == type && offset + 4 <= rec.len &&
			     pmclog_get32(rec.data + offset) == value);
}

static bool is_wanted(const struct sample_wanted *w, const struct sample *s)
{
	return (!w->pid || s->pid == w->pid) && (!w->tid || s->tid == w->tid) &&
	       (!w->pmcid || s->pmcid == w->pmcid) &&
	       (!w->cpus || w->cpus >> s->cpu & 1) && s->tsc >= w->from &&
	       (!w->to || s->tsc <= w->to) && (!w->user || s->user) &&
	       (!w->kernel || !s->user);
}

unsigned int log_samples_of(struct log *log, const struct sample_wanted *w)
{
	return COUNT_SAMPLES(log, s, is_wanted(w, &s));
}

bool is_share(unsigned int of, unsigned int n, unsigned int percent)
{
	/* four standard deviations of a half, which has the largest */
	double off = 100.0 * of / n - percent, slack = 200 / sqrt(n) + 1;

	return off >= -slack && off <= slack;
}

__attribute__((format(printf, 3, 4)))
static const char *fault(struct log *log, const struct pmclog_rec *rec,
			 const char *fmt, ...)
{
	int n = snprintf(log->fault, sizeof(log->fault), "offset %llu: ",
			 rec ? (ull)rec->offset : (ull)log->len);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(log->fault + n, sizeof(log->fault) - n, fmt, ap);
	va_end(ap);
	return log->fault;
}

static bool announced(const struct log *log, uint32_t pmcid)
{
	unsigned int i;

	for (i = 0; i < log->npmcs; i++)
		if (log->pmcs[i] == pmcid)
			return true;
	return false;
}

unsigned int sample_kernel_part(const struct sample *s)
{
	unsigned int i = 0;

	while (i < s->npc && addr_is_kernel(s->pc[i]))
		i++;
	return i;
}

/* Kernel frames, then user frames; the flag says which the first one is. */
static const char *check_chain(struct log *log, const struct pmclog_rec *rec,
			       const struct sample *s)
{
	unsigned int i;

	if (!s->npc || s->npc > LOG_MAX_DEPTH)
		return fault(log, rec, "chain of %u frames", s->npc);
	if (s->user == addr_is_kernel(s->pc[0]))
		return fault(log, rec, "pc %llx but user mode is %d",
			     (ull)s->pc[0], s->user);
	for (i = 1; i < s->npc; i++)
		if (addr_is_kernel(s->pc[i]) && !addr_is_kernel(s->pc[i - 1]))
			return fault(log, rec, "kernel frame above user frame");
	return NULL;
}

#define USER_CUTS	(PMCLOG_CC_CUT(PMCLOG_CUT_USER) |	\
			 PMCLOG_CC_CUT(PMCLOG_CUT_TABLE))
/* Only in logs of PMCs with HWPMC_F_UNWIND */
#define OF_TABLES	(PMCLOG_CC_TABLES | PMCLOG_CC_CUT(PMCLOG_CUT_TABLE))

/* How it ends; adds it to what the account has to say.  @user: it has a user part */
static const char *check_chain_end(struct log *log,
				   const struct pmclog_rec *rec,
				   uint32_t flags, bool user)
{
	bool cut = false;
	int i;

	if ((flags & PMCLOG_CC_WHOLE) && (flags & USER_CUTS))
		return fault(log, rec, "chain is whole, and cut: %x", flags);
	if ((flags & (PMCLOG_CC_WHOLE | PMCLOG_CC_TABLES)) && !user)
		return fault(log, rec, "no user part, but it is %x", flags);
	if ((flags & OF_TABLES) && !log->by_tables)
		return fault(log, rec, "no tables were asked for, but: %x", flags);
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++) {
		log->cut_by[i] += !!(flags & PMCLOG_CC_CUT(i));
		cut |= flags & PMCLOG_CC_CUT(i);
	}
	log->cut += cut;
	return NULL;
}

/* A task can be unknown once the log has said that records of processes were lost. */
static bool may_lack(const struct log *log, unsigned int flags)
{
	return (flags & LOG_STRANGERS) ||
	       ((flags & LOG_PROC_DROPS) && log->proc_dropped);
}

static const char *check_sample(struct log *log, struct space *space,
				const struct pmclog_rec *rec,
				unsigned int flags)
{
	struct sample s;
	const char *what;

	log_sample(rec, &s);
	what = check_chain(log, rec, &s);
	if (what)
		return what;
	if (!announced(log, s.pmcid))
		return fault(log, rec, "PMC %x was not announced", s.pmcid);
	if (s.cpu >= LOG_MAX_CPU)
		return fault(log, rec, "CPU %u", s.cpu);
	if (!space_knows_task(space, s.pid, s.tid) && !may_lack(log, flags))
		return fault(log, rec, "nobody said who pid %d tid %d is",
			     (int)s.pid, (int)s.tid);
	log->samples++;
	log->cpu_samples[s.cpu]++;
	*(s.user ? &log->user : &log->kernel) += 1;
	if (s.npc > log->deepest)
		log->deepest = s.npc;
	if (s.late && addr_is_kernel(s.pc[s.npc - 1]))
		return fault(log, rec, "no user pc, but its chain comes later");
	log->late += s.late;
	return check_chain_end(log, rec, s.flags,
			       !addr_is_kernel(s.pc[s.npc - 1]));
}

/* Of a thread that was told of, and not of what is to come. */
static const char *check_userchain(struct log *log, struct space *space,
				   const struct pmclog_rec *rec,
				   unsigned int flags)
{
	size_t at = offsetof(struct pmclog_ext_userchain, pc);
	uint32_t pid = REC32(rec, ext_userchain, pid);
	uint32_t tid = REC32(rec, ext_userchain, tid);
	uint32_t ends = PMCLOG_USERCHAIN_FLAGS(
			rec->data[offsetof(struct pmclog_ext, flags)]);

	if ((ends & PMCLOG_CC_WHOLE) && (ends & USER_CUTS))
		return fault(log, rec, "user chain is whole, and cut: %x", ends);
	if ((ends & OF_TABLES) && !log->by_tables)
		return fault(log, rec, "no tables were asked for, but: %x", ends);
	if (rec->len <= at || (rec->len - at) % sizeof(uint64_t))
		return fault(log, rec, "user chain of %u bytes", rec->len);
	for (; at < rec->len; at += sizeof(uint64_t))
		if (addr_is_kernel(pmclog_get64(rec->data + at)))
			return fault(log, rec, "user chain in the kernel");
	if (REC64(rec, ext_userchain, first) > rec->tsc)
		return fault(log, rec, "user chain of samples to come");
	if (!space_knows_task(space, pid, tid) && !may_lack(log, flags))
		return fault(log, rec, "nobody said who pid %d tid %d is",
			     (int)pid, (int)tid);
	log->late_answered++;
	return NULL;
}

static const char *check_ext(struct log *log, struct space *space,
			     const struct pmclog_rec *rec, unsigned int flags)
{
	switch (pmclog_iter_ext_subtype(rec)) {
	case PMCLOG_EXT_HOST:
		log->owner_pid = REC32(rec, ext_host, owner_pid);
		return NULL;
	case PMCLOG_EXT_USERCHAIN:
		return check_userchain(log, space, rec, flags);
	default:
		return NULL;
	}
}

static const char *check_drop(struct log *log, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, dropnotify, pmcid);
	uint32_t cause = REC32(rec, dropnotify, cause);
	uint64_t count = REC64(rec, dropnotify, count);
	uint64_t first = REC64(rec, dropnotify, first);
	uint64_t last = REC64(rec, dropnotify, last);

	if (rec->len < sizeof(struct pmclog_dropnotify) || !count ||
	    cause >= PMCLOG_DROP_NCAUSE)
		return fault(log, rec, "bad DROPNOTIFY");
	if (!first || first > last)
		return fault(log, rec, "drops from %llu to %llu",
			     (ull)first, (ull)last);
	if (pmcid == PMCLOG_PMCID_NONE) {
		log->proc_dropped += count;
		log->proc_cause = cause;
	} else if (!announced(log, pmcid)) {
		return fault(log, rec, "drops of an unknown PMC %x", pmcid);
	} else {
		log->dropped[cause] += count;
	}
	return NULL;
}

static const char *check_attach(struct log *log, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, pmcattach, pmcid);

	if (!announced(log, pmcid))
		return fault(log, rec, "PMC %x is attached, but not announced",
			     pmcid);
	return NULL;
}

/* Causes of cut chains, and what came of the chains that were left for later. */
static const char *check_cuts(struct log *log, const struct pmclog_rec *rec)
{
	const struct pmclog_account *a = &log->account;
	ull sum = 0;
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++) {
		sum += a->cut_by[i];
		if (a->cut_by[i] > a->cut)
			return fault(log, rec, "cause %d: %llu of %llu chains cut",
				     i, (ull)a->cut_by[i], (ull)a->cut);
		if (a->cut_by[i] < log->cut_by[i] ||
		    (a->cut_by[i] != log->cut_by[i] && !a->discarded))
			return fault(log, rec, "cause %d: %llu cut, %llu logged",
				     i, (ull)a->cut_by[i],
				     (ull)log->cut_by[i]);
	}
	if (a->cut < log->cut || (a->cut != log->cut && !a->discarded))
		return fault(log, rec, "%llu chains cut, %llu logged",
			     (ull)a->cut, (ull)log->cut);
	if (sum < a->cut)
		return fault(log, rec, "%llu chains cut, %llu for a cause",
			     (ull)a->cut, sum);
	if (a->late < log->late ||
	    (a->late != log->late && !a->discarded))
		return fault(log, rec, "%llu chains for later, %llu logged",
			     (ull)a->late, (ull)log->late);
	if (a->late_answered < log->late_answered ||
	    (a->late_answered != log->late_answered && !a->discarded))
		return fault(log, rec, "%llu chains came later, %llu logged",
			     (ull)a->late_answered, (ull)log->late_answered);
	return NULL;
}

static const char *check_account(struct log *log, const struct pmclog_rec *rec)
{
	size_t len = rec->len - offsetof(struct pmclog_closelog, account);
	struct pmclog_account *a = &log->account;
	ull dropped = 0;
	int i;

	if (rec->len < offsetof(struct pmclog_closelog, account.cut_by))
		return fault(log, rec, "CLOSELOG without an account");
	memset(a, 0, sizeof(*a));
	memcpy(a, rec->data + offsetof(struct pmclog_closelog, account),
	       len < sizeof(*a) ? len : sizeof(*a));
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		dropped += a->dropped[i];
		if (a->dropped[i] != log->dropped[i])
			return fault(log, rec,
				     "cause %d: %llu dropped, %llu logged", i,
				     (ull)a->dropped[i], (ull)log->dropped[i]);
	}
	if (a->overflows != a->committed + dropped + a->filtered)
		return fault(log, rec, "%llu overflows: %llu committed, %llu "
			     "dropped, %llu filtered", (ull)a->overflows,
			     (ull)a->committed, dropped, (ull)a->filtered);
	if (a->committed != a->written + a->discarded + a->in_rings)
		return fault(log, rec, "%llu committed: %llu written, %llu "
			     "discarded, %llu in rings", (ull)a->committed,
			     (ull)a->written, (ull)a->discarded,
			     (ull)a->in_rings);
	if (a->written != log->samples)
		return fault(log, rec, "%llu samples written, %llu there",
			     (ull)a->written, (ull)log->samples);
	if (a->proc_dropped != log->proc_dropped)
		return fault(log, rec,
			     "%llu process records dropped, %llu logged",
			     (ull)a->proc_dropped, (ull)log->proc_dropped);
	if (rec->len >= sizeof(struct pmclog_closelog))
		return check_cuts(log, rec);
	return NULL;
}

static const char *check_record(struct log *log, struct space *space,
				const struct pmclog_rec *rec,
				unsigned int flags)
{
	if (REC32(rec, hdr, spare))
		return fault(log, rec, "spare word is used");
	if (log->closed)
		return fault(log, rec, "record after CLOSELOG");
	if ((rec->type == PMCLOG_T_INITIALIZE) != !log->records)
		return fault(log, rec, "INITIALIZE is not the first record");
	if (rec->tsc < log->last_tsc)
		return fault(log, rec, "time goes back by %llu",
			     (ull)(log->last_tsc - rec->tsc));
	if (!log->records)
		log->first_tsc = rec->tsc;
	log->last_tsc = rec->tsc;
	log->records++;
	space_apply(space, rec);
	switch (rec->type) {
	case PMCLOG_T_PMCALLOCATEDYN:
		if (log->npmcs < LOG_MAX_PMC)
			log->pmcs[log->npmcs++] =
				REC32(rec, pmcallocatedyn, pmcid);
		log->by_tables |= !!(REC32(rec, pmcallocatedyn, flags) &
				     HWPMC_F_UNWIND);
		return NULL;
	case PMCLOG_T_USERDATA:
		return check_ext(log, space, rec, flags);
	case PMCLOG_T_CALLCHAIN:
		return check_sample(log, space, rec, flags);
	case PMCLOG_T_PMCATTACH:
		return check_attach(log, rec);
	case PMCLOG_T_DROPNOTIFY:
		return check_drop(log, rec);
	case PMCLOG_T_CLOSELOG:
		log->closed = true;
		return check_account(log, rec);
	default:
		return NULL;
	}
}

/* What only the end of the log tells. */
static const char *check_end(struct log *log, unsigned int flags,
			     const char *broken)
{
	if (!log->records)
		return fault(log, NULL, "no record at all (%s)", broken);
	if (!log->closed && !(flags & LOG_CUT))
		return fault(log, NULL, "no CLOSELOG at the end (%s)", broken);
	if (log_dropped(log) && !(flags & LOG_DROPS))
		return fault(log, NULL, "%llu samples were dropped",
			     (ull)log_dropped(log));
	if (log->account.discarded && !(flags & LOG_DISCARDS))
		return fault(log, NULL, "%llu samples were discarded",
			     (ull)log->account.discarded);
	if (log->proc_dropped && !(flags & LOG_PROC_DROPS))
		return fault(log, NULL, "%llu process records were dropped, the last by cause %u",
			     (ull)log->proc_dropped, log->proc_cause);
	return NULL;
}

const char *log_check(struct log *log, unsigned int flags)
{
	struct pmclog_iter *it = pmclog_iter_mem(log->data, log->len);
	struct space *space = space_new();
	enum pmclog_iter_status st;
	const char *what = NULL;
	struct pmclog_rec rec;

	while ((st = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD) {
		what = check_record(log, space, &rec, flags);
		if (what)
			goto out;
	}
	/* the library knows only one way of being broken in the middle */
	what = check_end(log, flags, pmclog_iter_error(it, NULL));
	if (!what && st == PMCLOG_ITER_ERROR && !(flags & LOG_CUT))
		what = fault(log, NULL, "%s", pmclog_iter_error(it, NULL));
out:
	space_free(space);
	pmclog_iter_close(it);
	return what;
}

unsigned int log_words(struct log *log)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == PMCLOG_T_USERDATA &&
			     !pmclog_iter_ext_subtype(&rec));
}

unsigned int log_build_ids(struct log *log, const char *name)
{
	struct pmclog_rec rec;
	unsigned int n = 0;
	const char *path;
	size_t len;

	LOG_FOR_EACH(log, rec) {
		if (!IS_EXT(&rec, BUILDID))
			continue;
		path = REC_TEXT(&rec, ext_buildid, name);
		len = strlen(path);
		n += len >= strlen(name) &&
		     !strcmp(path + len - strlen(name), name);
	}
	return n;
}

/* ... of branches and of the access to memory */
static unsigned int detail_kernel_addresses(const struct pmclog_rec *rec)
{
	size_t at = sizeof(struct pmclog_ext_detail);
	unsigned int n = addr_is_kernel(REC64(rec, ext_detail, addr));

	for (; at < rec->len; at += sizeof(struct pmclog_branch))
		n += addr_is_kernel(pmclog_get64(rec->data + at)) +
		     addr_is_kernel(pmclog_get64(rec->data + at + 8));
	return n;
}

unsigned int log_kernel_addresses(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0, i;
	struct sample s;

	LOG_FOR_EACH(log, rec) {
		if (log_sample(&rec, &s))
			for (i = 0; i < s.npc; i++)
				n += addr_is_kernel(s.pc[i]);
		/* both have pid and start at the same places */
		if (rec.type == PMCLOG_T_MAP_IN || rec.type == PMCLOG_T_MAP_OUT)
			n += addr_is_kernel(REC64(&rec, map_in, start)) &&
			     REC32(&rec, map_in, pid) == PMCLOG_PID_KERNEL;
		if (IS_EXT(&rec, KERNEL))
			n += addr_is_kernel(REC64(&rec, ext_kernel, addr));
		if (IS_EXT(&rec, DETAIL))
			n += detail_kernel_addresses(&rec);
		if (IS_EXT(&rec, MODULE))
			n += addr_is_kernel(REC64(&rec, ext_module, start));
	}
	return n;
}

bool records_are_whole(const unsigned char *p, size_t n)
{
	uint32_t header;

	while (n >= sizeof(header)) {
		memcpy(&header, p, sizeof(header));
		if (PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC ||
		    PMCLOG_HEADER_LEN(header) > n)
			return false;
		p += PMCLOG_HEADER_LEN(header);
		n -= PMCLOG_HEADER_LEN(header);
	}
	return !n;
}
