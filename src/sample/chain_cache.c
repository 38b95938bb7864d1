// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel call chains on x86, with the results of the ORC unwinder cached.
 *
 * Runs in the overflow handler (see sample.c).
 *
 * The ORC unwinder looks each address up in tables, at some 340 instructions a
 * frame.  The table entry of an address never changes, and nearly always it
 * says "the frame is SIZE bytes long".  So the cache keeps this size, and the
 * return addresses found at the frame's end.  If a later walk finds one of
 * these return addresses there, it continues from it; otherwise it calls the
 * unwinder.
 *
 * For functions with one frame size this is exact.  A few functions have frames
 * of changing size (bp tells where they end).  A walk can go wrong there only
 * if an older call left the return address of one of the function's callers at
 * the old distance.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <asm/ptrace.h>

#include "compat.h"
#include "hwpmc.h"
#include "sample.h"

#ifdef HAVE_ORC_STATE
#include <asm/unwind.h>

#define STEP_BITS	10

struct step {
	unsigned long	at;	/* the address that the tables are asked for */
	unsigned long	ret;
	u32		size;	/* or TO_TOP */
	u32		epoch;
	bool		top;	/* the frame ended at the top of the stack */
};

/*
 * The entry functions of system calls move the stack pointer by a random
 * distance (CONFIG_RANDOMIZE_KSTACK_OFFSET).  A frame that has had two sizes
 * and ended at the top of the stack both times is therefore always the
 * outermost.
 */
#define TO_TOP		0

/*
 * Used by one handler at a time, on its CPU: needs no protection.
 * @leaf, @call: by address, the last entry found; interrupted places are many
 *	and must not displace the calls, which are few
 * @pair: by address and return address, for a call's other callers
 */
struct chain_cache {
	struct step	leaf[1 << STEP_BITS];
	struct step	call[1 << STEP_BITS];
	struct step	pair[1 << STEP_BITS];
};

/*
 * Incremented when kernel text is freed: entries of older epochs are invalid.
 */
static u32 cache_epoch = 1;

struct chain_cache *hwpmc_chain_cache_new(int node)
{
	return kvzalloc_node(sizeof(struct chain_cache), GFP_KERNEL, node);
}

void hwpmc_chain_cache_free(struct chain_cache *cache)
{
	kvfree(cache);
}

/* Process context, callers are serialized (module notifier). */
void hwpmc_chain_cache_forget(void)
{
	WRITE_ONCE(cache_epoch, cache_epoch + 1);
}

/* A position in a walk: the address to look up, and the stack pointer. */
struct place {
	unsigned long	at;
	unsigned long	sp;
	bool		leaf;	/* interrupted there, not a call */
};

/*
 * struct walk - up the stack of the current task
 * @low, @top: bounds of the stack; @top: user registers, where chains end
 * @u:   the unwinder, started at its first use
 * @u_n: number of steps that the unwinder has taken
 * @doubt: a cached step was wrong: use the unwinder for the rest of the walk
 * @lost: the unwinder cannot continue, and this is not the end of the stack
 */
struct walk {
	struct place	here;
	unsigned long	low, top;
	struct pt_regs	*regs;
	struct unwind_state u;
	unsigned int	u_n;
	bool		doubt;
	bool		lost;
};

static struct step *step_of(struct chain_cache *cache, const struct place *p)
{
	return &(p->leaf ? cache->leaf : cache->call)[hash_long(p->at,
								STEP_BITS)];
}

static struct step *pair_of(struct chain_cache *cache, unsigned long at,
			    unsigned long ret)
{
	return &cache->pair[hash_long(at + ret, STEP_BITS)];
}

static bool is_pair(struct chain_cache *cache, const struct step *s,
		    unsigned long ret)
{
	const struct step *p = pair_of(cache, s->at, ret);

	return p->at == s->at && p->ret == ret && p->size == s->size &&
	       p->epoch == s->epoch;
}

/*
 * Steps to callers by the cache, from @here on as far as it knows them.  @low, @top: see
 * struct walk.  Returns the new number of frames, at most @max.
 */
static __always_inline unsigned int steps_known(struct place *here,
						unsigned long low,
						unsigned long top,
						struct chain_cache *cache, u64 *pc,
						unsigned int n, unsigned int max)
{
	const u32 epoch = READ_ONCE(cache_epoch);
	struct place p = *here;

	while (n < max && p.sp != top) {
		const struct step *s = step_of(cache, &p);
		unsigned long sp, ret;

		if (s->at != p.at || s->epoch != epoch)
			break;
		sp = s->size == TO_TOP ? top : p.sp + s->size;
		if (p.sp < low || p.sp >= sp || sp > top)
			break;
		ret = READ_ONCE_NOCHECK(((unsigned long *)sp)[-1]);
		if (ret != s->ret && !is_pair(cache, s, ret))
			break;
		pc[n++] = ret;
		/* the call, not what follows it */
		p = (struct place){ .at = ret - 1, .sp = sp };
	}
	*here = p;
	return n;
}

/* Caches a call on this stack, unless its return address was replaced. */
static void step_learn(const struct walk *w, struct chain_cache *cache,
		       const struct place *from, unsigned long ret)
{
	const struct unwind_state *u = &w->u;
	struct step *s = step_of(cache, from);
	u32 size, epoch;
	bool top;

	if (u->error || u->regs || u->signal || from->sp < w->low ||
	    u->sp <= from->sp || u->sp > w->top || (u->sp & 7) ||
	    READ_ONCE_NOCHECK(((unsigned long *)u->sp)[-1]) != ret)
		return;
	epoch = READ_ONCE(cache_epoch);
	top = u->sp == w->top;
	size = u->sp - from->sp;
	if (top && s->top && s->at == from->at && s->epoch == epoch &&
	    s->size != size)
		size = TO_TOP;
	*s = (struct step){ from->at, ret, size, epoch, top };
	if (!from->leaf)
		*pair_of(cache, s->at, ret) = *s;
}

/* The entry from user mode, or the start of a kernel thread. */
static bool is_end(const struct unwind_state *u)
{
	if (u->regs && user_mode(u->regs))
		return true;
	return u->stack_info.type == STACK_TYPE_UNKNOWN && !u->error;
}

/* One step of the unwinder.  Returns the caller's address, or 0 at the end. */
static unsigned long step_real(struct walk *w)
{
	unsigned long addr = 0;

	if (w->u_n++)
		unwind_next_frame(&w->u);
	else
		unwind_start(&w->u, current, w->regs, NULL);
	if (!unwind_done(&w->u))
		addr = hwpmc_chain_kernel_caller(&w->u);
	if (!addr) {
		w->here.sp = w->top;
		w->lost = !is_end(&w->u);
		return 0;
	}
	w->here.sp = w->u.sp;
	w->here.leaf = w->u.signal;
	w->here.at = addr - 1;	/* also of an interrupted frame, see there */
	return addr;
}

/*
 * The unwinder repeats the steps that came from the cache, then takes one more
 * step, which is cached.  Returns the new number of frames.
 */
static unsigned int step_ask(struct walk *w, struct chain_cache *cache,
			     u64 *pc, unsigned int n)
{
	struct place from = w->here;
	unsigned long addr;

	while (w->u_n < n - 1) {
		addr = step_real(w);
		if (!addr)
			return w->u_n;
		if (addr != pc[w->u_n]) {
			pc[w->u_n] = addr;
			w->doubt = true;
			return w->u_n + 1;
		}
	}
	addr = step_real(w);
	if (!addr)
		return n;
	step_learn(w, cache, &from, addr);
	pc[n] = addr;
	return n + 1;
}

/* The rest of a walk, from @here on, that needs the unwinder. */
static noinline unsigned int walk_asking(const struct place *here, u64 *pc,
					 unsigned int n, unsigned int max,
					 struct pt_regs *regs,
					 struct chain_cache *cache,
					 unsigned int *end)
{
	struct walk w;

	w.here = *here;
	w.low = (unsigned long)task_stack_page(current);
	w.top = (unsigned long)task_pt_regs(current);
	w.regs = regs;
	w.u_n = 0;
	w.doubt = false;
	w.lost = false;
	while (w.here.sp != w.top) {
		if (n == max) {
			*end |= CUT(DEPTH);
			break;
		}
		n = step_ask(&w, cache, pc, n);
		if (!w.doubt)
			n = steps_known(&w.here, w.low, w.top, cache, pc, n, max);
	}
	if (w.lost)
		*end |= CUT(KERNEL);
	return n;
}

unsigned int hwpmc_chain_cache_walk(u64 *pc, unsigned int max,
				    struct pt_regs *regs,
				    struct chain_cache *cache,
				    unsigned int *end)
{
	const unsigned long top = (unsigned long)task_pt_regs(current);
	struct place here = { regs->ip, regs->sp, true };
	unsigned int n;

	pc[0] = regs->ip;
	n = steps_known(&here, (unsigned long)task_stack_page(current), top, cache,
			pc, 1, max);
	/* without the unwinder's state, which would be cleared each time */
	if (likely(here.sp == top))
		return n;
	return walk_asking(&here, pc, n, max, regs, cache, end);
}
#else
struct chain_cache *hwpmc_chain_cache_new(int node)
{
	return NULL;
}

void hwpmc_chain_cache_free(struct chain_cache *cache)
{
}

void hwpmc_chain_cache_forget(void)
{
}

unsigned int hwpmc_chain_cache_walk(u64 *pc, unsigned int max,
				    struct pt_regs *regs,
				    struct chain_cache *cache,
				    unsigned int *end)
{
	return 0;
}
#endif
