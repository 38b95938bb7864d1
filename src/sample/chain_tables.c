// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user part of a call chain by unwind tables, innermost frame first.
 *
 * The overflow handler reads user memory where it is resident, if the process has a
 * map that is not stale.  Otherwise it defers the chain to the task.  The task walks
 * with the same steps when it returns to user mode (chain_deferred.c), and may fault.
 *
 * Code that no table covers (code made at run time, programs without tables) is
 * unwound by its frame pointer.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "chain_frame.h"
#include "sample.h"
#include "unwind/unwind.h"
#include "unwind/unwind_recall.h"
#include "unwind/unwind_step.h"

/* Cache of recent table lookups, by hash; used by one handler at a time. */
#define CACHE_BITS	9

struct cached {
	u64		pc;
	u64		map;	/* the map's id; 0: unused entry */
	bool		usual;	/* see unwind_is_usual() */
	struct hwpmc_unwind_rule rule;
};

/* State that one handler leaves for the next handler on its CPU */
struct rule_cache {
	struct unwind_recall recall;
	struct cached	at[1 << CACHE_BITS];
};

/* The result of a lookup for an instruction */
enum known {
	KNOWN_RULE,
	KNOWN_CODE,		/* in an object without a table, or in none (JIT) */
	KNOWN_GAP,		/* in a gap of the object's table */
	KNOWN_LATER,		/* a table may be supplied later */
	KNOWN_NOT,		/* no rule can describe it; or it is not code */
	KNOWN_PERHAPS,		/* not known from the map: code, or any other address */
};

struct rule_cache *hwpmc_chain_tables_new_cache(int node)
{
	return kvzalloc_node(sizeof(struct rule_cache), GFP_KERNEL, node);
}

/* Looks @pc up in the table of the object that is mapped there. */
static enum known look_up_area(const struct unwind_area *a, u64 pc,
			       const struct hwpmc_unwind_rule **rule)
{
	const u64 at = pc + a->bias;

	if (!a->object)
		return KNOWN_CODE;
	switch (smp_load_acquire(&a->object->state)) {
	case UNWIND_READY:
		break;
	case UNWIND_BARE:
		return KNOWN_CODE;
	default:
		return KNOWN_LATER;
	}
	*rule = at <= U32_MAX ? hwpmc_unwind_table_find(&a->object->table, at) :
		NULL;
	if (!*rule)
		return KNOWN_GAP;
	return (*rule)->cfa == HWPMC_CFA_UNTOLD ? KNOWN_NOT : KNOWN_RULE;
}

/*
 * @map: NULL for a process without one; no code has a table then.  A task may have to
 * use a map that is older than a mapping.
 */
static enum known look_up(const struct unwind_map *map, u64 pc,
			  const struct hwpmc_unwind_rule **rule)
{
	const struct unwind_area *a;

	if (!map)
		return KNOWN_PERHAPS;
	a = hwpmc_unwind_map_area(map, pc);
	if (!a)
		return map->cut || READ_ONCE(map->stale) ? KNOWN_PERHAPS :
							   KNOWN_NOT;
	return READ_ONCE(a->doubted) || READ_ONCE(map->doubted) ?
	       KNOWN_PERHAPS : look_up_area(a, pc, rule);
}

static __always_inline struct cached *slot_of(struct rule_cache *cache,
					      const struct unwind_map *map,
					      u64 pc)
{
	return &cache->at[hash_64(pc ^ map->id, CACHE_BITS)];
}

/*
 * A handler cannot read the mappings.  If the map had no room for more areas, the
 * handler assumes that any address outside of them is code.
 */
static enum known look_up_and_keep(const struct unwind_map *map, u64 pc,
				   struct cached *c,
				   const struct hwpmc_unwind_rule **rule)
{
	enum known known = look_up(map, pc, rule);

	if (known == KNOWN_PERHAPS)
		known = map->cut ? KNOWN_CODE : KNOWN_NOT;
	if (known == KNOWN_RULE) {
		c->pc = pc;
		c->map = map->id;
		c->rule = **rule;
		c->usual = unwind_is_usual(*rule);
	}
	return known;
}

static __always_inline u64 strip_pc(u64 pc)
{
	return strip_pac(pc);
}

/*
 * User memory is open.  unwind_step() has checked that @addr is a user address.
 * It is bounded under speculation too, because the word that is read is used as an
 * address again.
 */
static __always_inline bool read_open(void *arg, u64 addr, u64 *word)
{
	const u64 __user *p;

	p = user_ptr_nospec(addr, TASK_SIZE_MAX);
	unsafe_get_user(*word, p, absent);
	return true;
absent:
	return false;
}

/* @stack: struct late_stack */
static bool read_faulting(void *stack, u64 addr, u64 *word)
{
	return hwpmc_chain_late_read(stack, word, addr, sizeof(*word));
}

/* @regs: for the registers that are not in @at */
static void frame_begin(struct unwind_frame *f, const struct user_place *at,
			struct pt_regs *regs)
{
	*f = (struct unwind_frame){
		.pc = at->pc,
		.sp = at->sp,
		.fp = at->fp,
		.regs = regs,
		.sp_known = true,
		.fp_known = true,
		.exact = true,
	};
#ifdef CONFIG_ARM64
	f->lr = at->lr;
	f->lr_known = true;
#endif
}

/*
 * Unwinds by the frame pointer.  A frame pointer of 0, where no table says
 * otherwise, is the start of a thread: the loader's first function has no other
 * mark.  In a function that was interrupted it is no mark: code without frame
 * pointers uses the register for other data.
 */
static __always_inline enum unwind_result
by_frame_pointer(struct unwind_frame *f, enum known known, unwind_read read,
		 void *arg)
{
	if (!f->fp_known)
		return UNWIND_NONSENSE;
	if (!f->fp)
		return known == KNOWN_RULE || f->exact ? UNWIND_NONSENSE :
							 UNWIND_TOP;
	return unwind_step(f, &unwind_by_fp, read, arg, strip_pc);
}

static __always_inline enum unwind_result
step(struct unwind_frame *f, enum known known,
	const struct hwpmc_unwind_rule *rule, unwind_read read, void *arg)
{
	enum unwind_result res;

	switch (known) {
	case KNOWN_RULE:
		res = unwind_step(f, rule, read, arg, strip_pc);
		/* after a frame that was unwound by its frame pointer */
		if (res == UNWIND_NONSENSE && !f->sp_known)
			res = by_frame_pointer(f, known, read, arg);
		return res;
	case KNOWN_CODE:
	case KNOWN_GAP:
		return by_frame_pointer(f, known, read, arg);
	default:
		return UNWIND_NONSENSE;
	}
}

/* How a chain ends with @res */
static __always_inline unsigned int end_of(enum unwind_result res)
{
	switch (res) {
	case UNWIND_CALLER:	/* there is a caller, but no room for it */
		return CUT(DEPTH);
	case UNWIND_TOP:
		return PMCLOG_CC_WHOLE;
	case UNWIND_ABSENT:
		return CUT(USER);
	default:
		return CUT(TABLE);
	}
}

/* What the recorded callers of a chain were found by: a set of these */
#define BY_RULE		1U
#define BY_FP		2U

static __always_inline unsigned int found_by(enum known known)
{
	return known == KNOWN_RULE ? BY_RULE : BY_FP;
}

/*
 * A step by the frame pointer may miss callers, so one of them makes the chain one by
 * frame pointers.  @by: of the callers; @known, @res: of the last frame
 */
static __always_inline unsigned int tables_if_only(unsigned int by,
						   enum known known,
						   enum unwind_result res)
{
	if (res == UNWIND_TOP && known == KNOWN_RULE)
		by |= BY_RULE;
	return by == BY_RULE ? PMCLOG_CC_TABLES : 0;
}

/* Only a caller in code, and in user memory, is recorded. */
static __always_inline bool is_user_caller(enum known known, u64 pc)
{
	return known != KNOWN_NOT && is_user_code(pc);
}

/*
 * A reader takes every caller for called, and looks before the address.  A caller that
 * a signal has interrupted was at the address itself, which may begin a function.
 */
static __always_inline u64 logged_pc(const struct unwind_frame *f, unsigned int n)
{
	return f->pc + (n && f->exact);
}

static __always_inline bool open_user(void)
{
	return user_read_access_begin((void __user *)0, TASK_SIZE_MAX);
}

/*
 * In the overflow handler.  User memory is open, except during a table lookup.
 * @pc[0] is already set; the loop is bounded by @max.
 */
static unsigned int walk_open(const struct unwind_map *map,
			      struct rule_cache *cache,
			      const struct unwind_frame *from, u64 *pc,
			      unsigned int max, unsigned int *end)
{
	struct unwind_frame f = *from;	/* mostly kept in registers */
	const struct hwpmc_unwind_rule *rule;
	enum unwind_result res;
	unsigned int n = 0, m, by = 0, step_by = 0;
	struct recall_walk w;
	struct cached *c;
	enum known known;
	bool usual;
	u64 at;

	*end |= CUT(USER);
	recall_begin(&w, &cache->recall, map->id);
	if (!open_user())
		return 1;
	for (;;) {
		at = f.pc - !f.exact;
		c = slot_of(cache, map, at);
		known = KNOWN_RULE;
		rule = &c->rule;
		if (unlikely(c->pc != at || c->map != map->id)) {
			user_read_access_end();
			known = look_up_and_keep(map, at, c, &rule);
			if (!open_user())
				return n ?: 1;
		}
		res = UNWIND_NONSENSE;
		if (n && !is_user_caller(known, f.pc))
			break;
		if (n == max) {
			res = UNWIND_CALLER;
			break;
		}
		by |= step_by;
		pc[n] = logged_pc(&f, n);
		n++;
		usual = likely(known == KNOWN_RULE && c->usual && f.sp_known &&
			       f.fp_known);
		if (known != KNOWN_RULE)
			rule = &unwind_by_fp;
		recall_at(&w, &f, rule, usual);
		if (usual)
			res = unwind_step_usual(&f, rule, read_open, NULL,
						strip_pc);
		else
			res = step(&f, known, rule, read_open, NULL);
		if (res != UNWIND_CALLER)
			break;
		step_by = found_by(known);
		recall_left(&w);
		/* only steps by rules are recalled */
		m = recall_follow(&w, &f, pc, n, max, read_open, NULL,
				  strip_pc);
		if (m == n)
			continue;
		n = m;
		by |= step_by;
		step_by = BY_RULE;
	}
	user_read_access_end();
	recall_end(&w);
	*end = (*end & ~CUT(USER)) | end_of(res) |
	       tables_if_only(by, known, res);
	return n;
}

/* Do the mappings have the same part of the same object there as the map? */
static bool is_same(const struct unwind_area *a, const struct unwind_asked *asked)
{
	return a->object && asked->has_object && a->bias == asked->bias &&
	       !memcmp(&a->object->key, &asked->key, sizeof(asked->key));
}

/* In the task, for @pc after @n frames.  Asks the mappings if the map has no answer. */
static enum known look_up_mapped(const struct unwind_map *map,
				 struct unwind_asked *asked, u64 pc,
				 unsigned int n,
				 const struct hwpmc_unwind_rule **rule)
{
	const struct unwind_area *a;
	enum known known = look_up(map, pc, rule);

	if (known != KNOWN_PERHAPS)
		return known;
	a = map ? hwpmc_unwind_map_area(map, pc) : NULL;
	/* the task was executing the first pc, so it is code */
	if (!n && !a)
		return KNOWN_CODE;
	if (!hwpmc_unwind_is_code(asked, current->mm, pc))
		return n ? KNOWN_NOT : KNOWN_CODE;
	return a && is_same(a, asked) ? look_up_area(a, pc, rule) : KNOWN_CODE;
}

/* In the task: reads of the stack may fault.  @map: see look_up() */
static unsigned int walk_faulting(const struct unwind_map *map,
				  struct unwind_frame *f, u64 *pc,
				  unsigned int max, unsigned int *end)
{
	const struct hwpmc_unwind_rule *rule = NULL;
	struct unwind_asked asked = {};
	struct late_stack stack = { .sp = f->sp };
	enum unwind_result res;
	unsigned int n = 0, by = 0, step_by = 0;
	enum known known;

	for (;;) {
		known = look_up_mapped(map, &asked, f->pc - !f->exact, n,
				       &rule);
		res = UNWIND_NONSENSE;
		if (n && !is_user_caller(known, f->pc))
			break;
		res = UNWIND_CALLER;
		if (n == max)
			break;
		by |= step_by;
		pc[n] = logged_pc(f, n);
		n++;
		res = step(f, known, rule, read_faulting, &stack);
		if (res != UNWIND_CALLER)
			break;
		step_by = found_by(known);
	}
	*end |= end_of(res) | tables_if_only(by, known, res);
	return n;
}

/*
 * hwpmc_chain_tables_walk - like hwpmc_chain_user_walk(), by unwind tables
 *
 * Overflow handler: see sample.c.
 */
unsigned int hwpmc_chain_tables_walk(const struct unwinder *u,
				     struct rule_cache *cache, u64 *pc,
				     unsigned int max, struct pt_regs *regs,
				     unsigned int *end)
{
	const struct unwind_map *map;
	struct pt_regs *own = regs ?: user_regs();
	struct user_place at;
	struct unwind_frame f;
	unsigned int n = 1;

	if (!own || !data_race(user_mode(own)) ||
	    data_race(regs_are_32bit(own)) || !max)
		return hwpmc_chain_user_walk(pc, max, regs, end);
	at = user_place_of(own);
	frame_begin(&f, &at, own);
	pc[0] = f.pc;
	if (!may_fault_here())
		goto later;
	map = hwpmc_unwind_map_find(u, data_race(current->mm));
	if (!cache || !map || READ_ONCE(map->stale) ||
	    !user_memory_is_there(f.sp & ~7UL, regs))
		goto later;
	faults_off();
	n = walk_open(map, cache, &f, pc, max, end);
	faults_on();
	return n;
later:
	*end |= CUT(USER);
	return 1;
}

/*
 * hwpmc_chain_tables_walk_deferred - the same in the task, when it returns to user mode
 * @at: where the chain begins; @regs: the other registers there
 *
 * May sleep; creates the process' map if needed.  If that is impossible (no room),
 * the walk uses frame pointers.
 */
unsigned int hwpmc_chain_tables_walk_deferred(struct unwinder *u, u64 *pc,
					      unsigned int max,
					      const struct user_place *at,
					      struct pt_regs *regs,
					      unsigned int *end)
{
	struct unwind_map *map = hwpmc_unwind_map_get(u, current->mm);
	struct unwind_frame f;
	unsigned int n;

	frame_begin(&f, at, regs);
	n = walk_faulting(map, &f, pc, max, end);
	if (map)
		hwpmc_unwind_map_put(map);
	return n;
}
