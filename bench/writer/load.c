// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log as its writer thread sees it: an owner with a ring on each CPU, a system-wide
 * PMC of 1 kHz, and a file in memory.
 *
 * The thread is the module's, hwpmc_drain_thread().  When it sleeps, the rings are
 * filled with what all CPUs sample until its next pass.  Only its work is measured.
 */
#include "log/emit.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "log/sink.h"
#include "writer.h"

#define PERIOD		1000000ULL	/* ns */
#define LATENESS	(PERIOD / 10)	/* of an interrupt, at most */
#define RECORD_RATE	40		/* samples for a process record, as in the demo's log */
#define STINT		32		/* samples of a thread until another one runs */
#define PMCID		0xFFF00F00U
#define BEGIN		1000000000000ULL

/**
 * struct load_cpu - what runs on a CPU: two threads in turn
 * @at:    place in the samples of each thread's program
 * @turn:  the thread that runs
 * @phase: of its timer
 * @rnd:   state of xorshift64*
 */
struct load_cpu {
	unsigned int	at[2];
	unsigned int	turn;
	u64		phase;
	u64		rnd;
};

static struct run *run;
static struct hwpmc_owner *owner;
static struct load_cpu *cpus;
static unsigned int passes;	/* that have begun */
static u64 pass_at;		/* time of the last one */
static u64 clock;
static unsigned int this_cpu;	/* where samples and records are made */
static u32 next_pid;		/* of short processes */
static void *thread_end[5];	/* for __builtin_longjmp() */

static u64 rnd(struct load_cpu *c)
{
	c->rnd ^= c->rnd >> 12;
	c->rnd ^= c->rnd << 25;
	c->rnd ^= c->rnd >> 27;
	return c->rnd * 0x2545F4914F6CDD1DULL >> 32;
}

u64 ktime_get_raw_fast_ns(void)
{
	return clock;
}

void usleep_range(unsigned long min, unsigned long max)
{
	clock += min * 1000;
}

unsigned int smp_processor_id(void)
{
	return this_cpu;
}

ssize_t kernel_write(struct file *file, const void *buf, size_t len, loff_t *pos)
{
	if (*pos + len > run->room)
		return -ENOSPC;
	memcpy(run->out + *pos, buf, len);
	*pos += len;
	return len;
}

/* As in sample_commit(), for a chain that is there. */
static void put_sample(struct owner_ring *or, struct pmc_cpu *pc, const u64 *chain,
		       u32 pid, u32 tid, u64 shift)
{
	const u32 len = sizeof(struct pmclog_callchain) + LOAD_FRAMES * sizeof(u64);
	u64 entered = ring_enter(&or->ring), now;
	struct pmclog_callchain *cc;
	enum ring_result res;
	struct ring_stamp *s;
	unsigned int i;

	local64_inc(&pc->stat.overflows);
	s = ring_reserve(&or->ring, len, KIND_SAMPLE,
			 or->ring.size >> HWPMC_RING_KEEP_SHIFT, &now, &res);
	if (!s)
		__builtin_trap();	/* main.c asks for too much */
	stamp_header(s, PMCLOG_T_CALLCHAIN, len);
	cc = (struct pmclog_callchain *)s;
	cc->pid = pid;
	cc->tid = tid;
	cc->pmcid = PMCID;
	cc->cpuflags = PMCLOG_CC_CPUFLAGS(pc->cpu, chain[0] >> 63 ? 0 : PMCLOG_CC_USERSPACE);
	copy_words(cc->pc, chain, LOAD_FRAMES);
	for (i = 0; i < LOAD_FRAMES; i++)
		if (!(cc->pc[i] >> 63))
			cc->pc[i] += shift;
	local64_inc(&pc->stat.committed);
	ring_exit(&or->ring, entered);
	run->samples++;
	run->sum += load_sum(now, tid, cc->pc, LOAD_FRAMES);
}

static void put_map(u32 pid, u64 at)
{
	struct owner_ring *or;
	struct ring_map *m;
	u64 entered;

	m = hwpmc_record_begin(owner, sizeof(*m), KIND_MAP, pid, &or, &entered);
	if (!m)
		__builtin_trap();
	stamp_header(&m->stamp, 0, 0);
	m->file = NULL;
	m->start = at;
	m->len = 0x21000;
	m->offset = 0;
	m->pid = pid;
	m->prot = 5;
	m->vdso = 0;
	m->pad = 0;
	hwpmc_record_end(or, entered);
}

static void put_fork(u32 parent, u32 child)
{
	struct pmclog_procfork f = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PROCFORK, sizeof(f)),
		.oldpid = parent,
		.newpid = child,
	};

	hwpmc_record_commit(owner, &f, sizeof(f), child);
}

static void put_exit(u32 pid)
{
	struct pmclog_sysexit x = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_SYSEXIT, sizeof(x)),
		.pid = pid,
	};

	hwpmc_record_commit(owner, &x, sizeof(x), pid);
}

/* The life of a short process, one record at a time.  Its mappings have no file. */
static void put_record(struct load_cpu *c, u32 pid)
{
	switch (run->records++ % 6) {
	case 0:
		put_fork(pid, ++next_pid);
		break;
	case 5:
		put_exit(next_pid);
		break;
	default:
		put_map(next_pid, 0x7FA000000000 + (rnd(c) << 12));
	}
}

static void fill_ring(unsigned int cpu)
{
	struct pmc_cpu *pc = owner->pmcs.at[0]->cpus[cpu];
	struct owner_ring *or = owner->rings[cpu];
	struct load_cpu *c = &cpus[cpu];
	unsigned int i;

	this_cpu = cpu;
	for (i = 0; i < run->batch; i++) {
		unsigned int thread, program;
		u32 pid, tid;

		if (!(rnd(c) % STINT))
			c->turn ^= 1;
		thread = 2 * cpu + c->turn;
		program = thread % LOAD_PROGRAMS;
		tid = 10000 + thread;
		pid = run->alone ? tid : 100 + program;
		clock = pass_at + i * PERIOD + c->phase + rnd(c) % LATENESS;
		put_sample(or, pc, run->programs[program].pc[c->at[c->turn]++ % LOAD_SAMPLES],
			   pid, tid, run->alone ? (u64)thread << 24 : 0);
		if (!(rnd(c) % RECORD_RATE))
			put_record(c, pid);
	}
}

static void fill_rings(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		fill_ring(cpu);
	pass_at += run->batch * PERIOD;
	clock = pass_at;
}

/* The thread goes to sleep, and is woken when the rings are full enough. */
long schedule_timeout(long timeout)
{
	if (passes)
		measure_end();
	if (passes++ < run->passes)
		fill_rings();
	else
		owner->log.req.close = true;
	if (passes <= run->passes)
		measure_begin();
	return 0;
}

noreturn void module_put_and_kthread_exit(long code)
{
	__builtin_longjmp(thread_end, 1);
}

static struct hwpmc_pmc *make_pmc(void)
{
	struct hwpmc_pmc *pmc = writer_zalloc(sizeof(*pmc) + run->rings * sizeof(pmc->cpus[0]));
	unsigned int cpu;

	pmc->owner = owner;
	pmc->id = PMCID;
	pmc->mode = HWPMC_MODE_SS;
	pmc->cpu = HWPMC_CPU_ALL;
	pmc->attr.type = PERF_TYPE_SOFTWARE;
	pmc->period = PERIOD;
	pmc->state = PMC_RUNNING;
	strscpy(pmc->name, "cpu-clock", sizeof(pmc->name));
	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = writer_zalloc(sizeof(*pc));

		pc->pmc = pmc;
		pc->cpu = cpu;
		pmc->cpus[cpu] = pc;
	}
	return pmc;
}

/* Before the first run: rings of 1 MiB, as on machines with up to 64 CPUs */
void load_begin(void)
{
	nr_cpu_ids = 1;
	hwpmc_params_check();
}

/*
 * The memory of a ring is kept from run to run.  Rings begin at different places, as
 * those of a recording that has lasted for a while.
 */
static struct owner_ring *make_ring(unsigned int cpu)
{
	static void *data[WRITER_CPUS];
	struct owner_ring *or = writer_zalloc(sizeof(*or));
	u32 size = hwpmc_param_ring_bytes();
	u64 at;

	if (!data[cpu])
		data[cpu] = writer_zalloc(size);
	ring_init(&or->ring, data[cpu], size);
	at = rnd(&cpus[cpu]) % size & ~(u64)(RING_ALIGN - 1);
	atomic64_set(&or->ring.head, at);
	atomic64_set(&or->ring.commit, at);
	atomic64_set(&or->ring.seen, at);
	atomic64_set(&or->ring.tail, at);
	or->owner = owner;
	or->cpu = cpu;
	return or;
}

static void make_cpus(void)
{
	unsigned int cpu;

	nr_cpu_ids = run->rings;
	memset(&__cpu_possible_mask, 0, sizeof(__cpu_possible_mask));
	cpus = writer_zalloc(run->rings * sizeof(*cpus));
	/* and RING_OF_IOCTLS, which is not there */
	owner->rings = writer_zalloc((run->rings + 1) * sizeof(*owner->rings));
	owner->log.merge.n = run->rings + 1;
	owner->log.merge.src = writer_zalloc(owner->log.merge.n * sizeof(*owner->log.merge.src));
	owner->log.merge.heap = writer_zalloc(owner->log.merge.n * sizeof(*owner->log.merge.heap));
	for (cpu = 0; cpu < run->rings; cpu++) {
		__cpu_possible_mask.bits[cpu / 64] |= 1UL << cpu % 64;
		cpus[cpu].rnd = 0x9E3779B97F4A7C15ULL * (cpu + 1);
		cpus[cpu].phase = rnd(&cpus[cpu]) % (PERIOD - LATENESS);
		cpus[cpu].at[0] = rnd(&cpus[cpu]);
		cpus[cpu].at[1] = rnd(&cpus[cpu]);
		owner->rings[cpu] = make_ring(cpu);
	}
}

static void make_owner(struct file *file)
{
	struct hwpmc_configurelog how = { .flags = run->packed ? HWPMC_LOG_PACKED : 0 };
	struct hwpmc_log *log;

	owner = writer_zalloc(sizeof(*owner));
	log = &owner->log;
	INIT_LIST_HEAD(&log->meta);
	INIT_LIST_HEAD(&log->tee.list);
	INIT_LIST_HEAD(&log->kept.records);
	INIT_LIST_HEAD(&owner->targets);
	make_cpus();
	if (hwpmc_sink_attach(owner, file, &how))
		__builtin_trap();
	log->state = LOG_OPEN;
	log->told.number = 1;
	log->told.telling = 1;
	strscpy(log->maker.host, "writer", sizeof(log->maker.host));
	owner->pmcs.at[0] = make_pmc();
	owner->pmcs.end_row = 1;
	owner->hooks.hooked = true;
}

static void free_owner(void)
{
	struct hwpmc_pmc *pmc = owner->pmcs.at[0];
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		writer_free(pmc->cpus[cpu]);
		writer_free(owner->rings[cpu]);
	}
	writer_free(pmc);
	writer_free(owner->rings);
	writer_free(owner->log.merge.src);
	writer_free(owner->log.merge.heap);
	writer_free(owner);
	writer_free(cpus);
}

void load_run(struct run *r)
{
	struct super_block sb = {};
	struct inode inode = { .i_mode = S_IFREG, .i_sb = &sb };
	struct file file = { .f_inode = &inode, .f_mode = FMODE_LSEEK };

	run = r;
	run->samples = 0;
	run->records = 0;
	run->sum = 0;
	passes = 0;
	next_pid = 100000;
	clock = BEGIN;
	pass_at = BEGIN + PERIOD;
	make_owner(&file);
	if (!__builtin_setjmp(thread_end))
		hwpmc_drain_thread(owner);
	run->size = file.f_pos;
	free_owner();
}
