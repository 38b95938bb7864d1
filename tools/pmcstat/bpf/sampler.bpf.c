// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The part of pmcstat --bpf that runs in the kernel: it puts samples, and the address
 * of the run-time loader at each exec, into the ring buffer of the CPU.
 *
 * Each PMC has this object loaded once, with its own @pmc; the maps are shared.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/elf.h>
#include <linux/auxvec.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "core_types.h"
#include "sampler.h"
#include "sample/period.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constant from the loading on, so that the verifier drops what is not used. */
const volatile __u32 pmcid = 0;
const volatile __u32 row = 0;		/* of the PMC in the counts */
const volatile __u32 rows = 1;
const volatile __u32 own_pid = 0;	/* a process that is left out */
const volatile __u32 other_pid = 0;	/* another one */
const volatile __u32 max_part = SAMPLER_PART_MAX; /* perf_event_max_stack */
const volatile __u32 ring_size = 0;
const volatile _Bool with_chain = 1;
const volatile _Bool with_user_chain = 0;
const volatile _Bool user_only = 0;
const volatile _Bool without_idle = 0;
const volatile _Bool by_rate = 0;	/* perf chooses the period */

/* What the rings of the CPUs are like; never written to. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} model SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* An array that pmcstat maps, of one element unless it says how many */
#define SHARED(of)				\
	struct {				\
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);		\
		__type(key, __u32);		\
		__type(value, of);		\
	}

SHARED(struct sampler_cpu) cpus SEC(".maps");
SHARED(struct sampler_count) counts SEC(".maps");

/* One word: samples are let through. */
SHARED(__u64) gate SEC(".maps");

/* As struct pmclog_callchain, with room for the chain */
struct chain {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	tid;
	__u32	pmcid;
	__u32	cpuflags;
	__u64	pc[2 * SAMPLER_PART_MAX + 2];
};

struct sample {
	struct sampler_head head;
	struct chain cc;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLER_LEVELS);
	__type(key, __u32);
	__type(value, struct sample);
} scratch SEC(".maps");

static __always_inline __u64 program_enter(struct sampler_cpu *c)
{
	return __sync_fetch_and_add(&c->state, 1) + 1;
}

/* Needs no order of exits: programs of a preemptible context need not be a stack. */
static __always_inline void program_exit(struct sampler_cpu *c)
{
	__sync_fetch_and_add(&c->state, SAMPLER_EXIT - 1);
}

static __always_inline _Bool is_user_mode(struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return (ctx->regs.cs & 3) != 0;
#elif defined(__TARGET_ARCH_arm64)
	return (ctx->regs.pstate & 0xF) == 0;
#else
#error "how does this architecture tell user mode?"
#endif
}

static __always_inline _Bool is_unwanted(struct bpf_perf_event_data *ctx,
					 __u32 pid, __u32 tid)
{
	__u32 zero = 0;
	__u64 *open = bpf_map_lookup_elem(&gate, &zero);

	return !open || !*(volatile __u64 *)open ||
	       (user_only && !is_user_mode(ctx)) ||
	       (without_idle && !tid) ||
	       (own_pid && pid == own_pid) || (other_pid && pid == other_pid);
}

static __always_inline void count_drop(struct sampler_count *n, __u32 cause)
{
	__u64 now = bpf_ktime_get_ns();

	if (!n->dropped[cause])
		n->first[cause] = now;
	n->last[cause] = now;
	__sync_fetch_and_add(&n->dropped[cause], 1);
}

/*
 * Sends @len bytes.  The reader is woken when a quarter of the ring is used, once
 * for each time that this happens; else it looks after a while.  0, or the cause of
 * the loss.
 */
static __always_inline int send(void *to, void *data, __u32 len)
{
	__u64 used = bpf_ringbuf_query(to, BPF_RB_AVAIL_DATA);
	__u64 quarter = ring_size / 4;
	__u64 flags = used < quarter && used + len >= quarter ?
		      BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

	if (!bpf_ringbuf_output(to, data, len, flags))
		return -1;
	/* the kernel leaves at least one byte free */
	return used + len + BPF_RINGBUF_HDR_SZ >= ring_size ?
	       PMCLOG_DROP_FULL : PMCLOG_DROP_CONTENDED;
}

/*
 * Appends a part of the chain at frame @n; the number of frames then.  The kernel
 * clears what it leaves of the room that it gets, so it first gets what most chains
 * have enough of.
 */
static __always_inline __u32 add_part(struct bpf_perf_event_data *ctx,
				      struct sample *s, __u32 n, __u64 flags)
{
	long len;

	if (n > SAMPLER_PART_MAX)
		return n;
	len = bpf_get_stack(ctx, &s->cc.pc[n], SAMPLER_PART_USUAL * sizeof(__u64),
			    flags);
	if (len == SAMPLER_PART_USUAL * sizeof(__u64))
		len = bpf_get_stack(ctx, &s->cc.pc[n],
				    SAMPLER_PART_MAX * sizeof(__u64), flags);
	if (len <= 0)
		return n;
	if (len >= (long)(max_part * sizeof(__u64)))
		s->cc.cpuflags |= PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH);
	return n + (__u32)len / sizeof(__u64);
}

static __always_inline __u32 take_chain(struct bpf_perf_event_data *ctx,
					struct sample *s, _Bool user)
{
	__u32 n = 0;

	if (with_chain && user)
		n = add_part(ctx, s, 0, BPF_F_USER_STACK);
	else if (with_chain)
		n = add_part(ctx, s, 0, 0);
	if (!n) {
		s->cc.pc[0] = PT_REGS_IP(&ctx->regs);
		n = 1;
	}
	/* nothing can follow a kernel part that was cut */
	if (with_user_chain && !user &&
	    !(s->cc.cpuflags & PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH)))
		n = add_part(ctx, s, n, BPF_F_USER_STACK);
	return n;
}

static __always_inline int take(struct bpf_perf_event_data *ctx,
				struct sample *s, void *to, __u64 id, __u32 cpu)
{
	_Bool user = is_user_mode(ctx);
	__u32 n, len;

	s->cc.cpuflags = PMCLOG_CC_CPUFLAGS(cpu, user ? PMCLOG_CC_USERSPACE : 0);
	n = take_chain(ctx, s, user);
	if (n > 2 * SAMPLER_PART_MAX + 2)
		n = 2 * SAMPLER_PART_MAX + 2;
	len = offsetof(struct chain, pc) + n * sizeof(__u64);
	s->head.kind = SAMPLER_SAMPLE;
	s->cc.h.header = PMCLOG_HEADER(PMCLOG_T_CALLCHAIN, len);
	s->cc.pid = id >> 32;
	s->cc.tid = (__u32)id;
	s->cc.pmcid = pmcid;
	s->cc.h.spare = by_rate ? period_code(ctx->sample_period) : 0;
	s->cc.h.tsc = bpf_ktime_get_ns();
	return send(to, s, sizeof(s->head) + len);
}

static __always_inline void sample_take(struct bpf_perf_event_data *ctx,
					struct sampler_count *n, __u32 level,
					__u64 id, __u32 cpu)
{
	struct sample *s = bpf_map_lookup_elem(&scratch, &level);
	void *to = bpf_map_lookup_elem(&rings, &cpu);
	int cause;

	if (!s || !to) {
		count_drop(n, s ? PMCLOG_DROP_NORING : PMCLOG_DROP_NESTED);
		return;
	}
	cause = take(ctx, s, to, id, cpu);
	if (cause >= 0) {
		count_drop(n, cause & 3);
		return;
	}
	__sync_fetch_and_add(&n->committed, 1);
	if (s->cc.cpuflags & PMCLOG_CC_CUT_ANY)
		__sync_fetch_and_add(&n->cut, 1);
}

SEC("perf_event")
int sample_overflow(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), at = cpu * rows + row;
	struct sampler_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct sampler_count *n = bpf_map_lookup_elem(&counts, &at);
	__u64 id = bpf_get_current_pid_tgid(), entered;

	if (!c || !n)
		return 0;
	entered = program_enter(c);
	__sync_fetch_and_add(&n->overflows, 1);
	if (is_unwanted(ctx, id >> 32, (__u32)id))
		__sync_fetch_and_add(&n->filtered, 1);
	else
		sample_take(ctx, n, (entered & SAMPLER_DEPTH_MASK) - 1, id, cpu);
	program_exit(c);
	return 0;
}

/* The load address of the run-time loader, from the auxiliary vector. */
static __always_inline __u64 loader_base(struct mm_struct *mm, _Bool is32)
{
	const char *at = (const char *)mm +
			 bpf_core_field_offset(struct mm_struct, saved_auxv);
	__u32 word = is32 ? sizeof(__u32) : sizeof(__u64);
	int i;

	for (i = 0; i < 24; i++, at += 2 * word) {
		__u64 key = 0, value = 0;

		if (bpf_probe_read_kernel(&key, word, at) ||
		    bpf_probe_read_kernel(&value, word, at + word) ||
		    key == AT_NULL)
			break;
		if (key == AT_BASE)
			return value;
	}
	return 0;
}

static __always_inline void describe_exec(struct sampler_exec *e,
					  struct task_struct *p,
					  struct linux_binprm *bprm)
{
	struct elf64_hdr elf = {};
	_Bool is_elf, is32;

	bpf_core_read(&elf, sizeof(elf), &bprm->buf);
	is_elf = elf.e_ident[EI_MAG0] == ELFMAG0 &&
		 elf.e_ident[EI_MAG1] == ELFMAG1 &&
		 elf.e_ident[EI_MAG2] == ELFMAG2 &&
		 elf.e_ident[EI_MAG3] == ELFMAG3;
	is32 = is_elf && elf.e_ident[EI_CLASS] == ELFCLASS32;
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->is_dyn = is_elf && elf.e_type == ET_DYN;
	e->base = loader_base(BPF_CORE_READ(p, mm), is32);
	e->h.tsc = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *p, int old_pid,
	     struct linux_binprm *bprm)
{
	struct {
		struct sampler_head head;
		struct sampler_exec exec;
	} r = { .head.kind = SAMPLER_EXEC };
	__u32 cpu = bpf_get_smp_processor_id();
	struct sampler_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	void *to = bpf_map_lookup_elem(&rings, &cpu);

	if (!c || !to)
		return 0;
	program_enter(c);
	describe_exec(&r.exec, p, bprm);
	if (send(to, &r, sizeof(r)) < 0) {
		__sync_fetch_and_add(&c->execs, 1);
	} else {
		if (!c->execs_lost)
			c->first = r.exec.h.tsc;
		c->last = r.exec.h.tsc;
		__sync_fetch_and_add(&c->execs_lost, 1);
	}
	program_exit(c);
	return 0;
}
