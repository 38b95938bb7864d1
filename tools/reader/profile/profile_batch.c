// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "profile/profile.h"

static void batch_room(struct batch *b, uint32_t pcs)
{
	if (pcs <= b->cap)
		return;
	b->cap = pcs;
	b->pcs = xreallocarray(b->pcs, pcs, 8);
	b->list = xreallocarray(b->list, pcs, sizeof(*b->list));
	b->ids = xreallocarray(b->ids, pcs, sizeof(*b->ids));
}

void batch_init(struct batch *b)
{
	memset(b, 0, sizeof(*b));
	b->wait = xcalloc(BATCH_SAMPLES, sizeof(*b->wait));
	batch_room(b, BATCH_PCS);
}

void batch_free(struct batch *b)
{
	free(b->wait);
	free(b->pcs);
	free(b->list);
	free(b->ids);
	memset(b, 0, sizeof(*b));
}

/* x86: the only page in the upper half that user code can run in */
#define VSYSCALL_PAGE	0xffffffffff600000ULL

/*
 * The upper half of the addresses is the kernel's.  On 32-bit and some other
 * machines it is elsewhere.  There, a pc in a kernel mapping is a kernel pc if
 * the sample was taken in the kernel and no user pc precedes it (@before).
 */
static inline bool is_kernel_pc(const struct profile *p, uint64_t pc,
				bool before)
{
	return pc >> 63 || (before && aspace_find(p->kernel, pc));
}

/* The upper half, except for one user page. */
static inline bool is_upper(uint64_t pc)
{
	return pc >> 63 && (pc & ~0xfffULL) != VSYSCALL_PAGE;
}

static struct place_id kernel_place(const struct profile *p, uint64_t pc)
{
	const struct mapping *m = aspace_find(p->kernel, pc);
	struct place_id at = { pc, m ? m->obj : OBJ_ID_KERNEL };

	if (p->other.moved)
		at.addr -= p->other.moved;
	/* the offset of modules is not known */
	if (p->other.alien || (p->other.moved && at.obj != OBJ_ID_KERNEL))
		at.addr = 0;
	return at;
}

static inline struct place_id user_place(const struct profile *p,
					 const struct aspace *as, uint64_t pc)
{
	const struct mapping *m = aspace_find(as, pc);
	struct place_id at = { 0, OBJ_ID_UNKNOWN };
	enum obj_kind kind;

	if (!m)
		return at;
	at.obj = m->obj;
	kind = p->objs.obj[m->obj].kind;
	if (kind == OBJ_FILE)
		at.addr = pc - m->start + m->offset;
	else if (kind == OBJ_JIT)
		at.addr = jits_place(p, as, &p->objs.obj[m->obj], pc);
	/* the 32-bit vdso is another image and is not supported */
	else if (kind == OBJ_VDSO && m->start >> 32)
		at.addr = pc - m->start;
	return at;
}

/* @ret: a return address: the call instruction ends before it. */
static inline struct place_id place_of(const struct profile *p,
				       const struct aspace *as, uint64_t pc,
				       bool kernel, bool ret)
{
	if (kernel && !(pc >> 63))
		return kernel_place(p, pc - ret);
	pc -= ret && pc;
	if (is_upper(pc))
		return kernel_place(p, pc);
	return user_place(p, as, pc);
}

void profile_look_up(const struct profile *p, const struct aspace *as,
		     uint64_t pc, uint32_t *obj, uint64_t *addr)
{
	struct place_id at = place_of(p, as, pc, pc >> 63, false);

	*obj = at.obj;
	*addr = at.addr;
}

uint32_t profile_gen(const struct profile *p, const struct aspace *as,
		     uint64_t pc)
{
	return aspace_gen(is_upper(pc) ? p->kernel : as);
}

/* Starts a look-up and prefetches the memory it needs first. */
static void begin(struct profile *p, struct pending *w,
		  const struct aspace *as, const struct sample *s,
		  const unsigned char *pc, uint32_t n)
{
	w->as = as;
	w->n = n;
	w->weight = s->weight;
	w->at = n ? pmclog_get64(pc) : 0;
	w->kernel = n && is_kernel_pc(p, w->at, s->kernel);
	w->node = chains_top(&p->chains, s->event, s->comm, s->group);
	w->raw = (struct rawcallers){
		.pc = pc + 8, .n = n ? n - 1 : 0, .top = w->node,
		.gen = aspace_gen(as), .kgen = aspace_gen(p->kernel),
		.kernel = w->kernel,
	};
	w->list = p->batch.list + p->batch.used;
	w->known = !w->raw.n;
	if (w->raw.n) {
		w->hash = callers_hash(&w->raw);
		callers_prefetch(&p->callers, w->hash);
	}
}

static uint64_t first_caller(const struct pending *w)
{
	return pmclog_get64(w->raw.pc);
}

static void find_list(struct profile *p, struct pending *w)
{
	uint32_t node;

	if (w->known)
		return;
	node = callers_find(&p->callers, w->hash, first_caller(w));
	if (node == CALLERS_NEW)
		return;
	w->node = node;
	w->known = true;
}

/* The first pc of each part was sampled; it is not a return address. */
static void find_places(struct profile *p, struct pending *w)
{
	bool kernel = w->kernel, before;
	uint32_t i;

	w->where = (struct place_id){ 0, OBJ_ID_UNKNOWN };
	if (w->n)
		w->where = place_of(p, w->as, w->at, kernel, false);
	frames_prefetch(&p->frames, w->where.obj, w->where.addr);
	if (w->known) {
		chains_prefetch_node(&p->chains, w->node);
		return;
	}
	for (i = 0; i < w->raw.n; i++) {
		uint64_t pc = pmclog_get64(w->raw.pc + (size_t)i * 8);
		struct place_id at;

		before = kernel;
		kernel = is_kernel_pc(p, pc, before);
		at = place_of(p, w->as, pc, kernel, kernel || !before);
		w->list[i].addr = at.addr;
		w->list[i].obj = at.obj;
	}
	if (!p->chains.lists) {
		callers_ways(&p->callers, w->list, w->raw.n, w->raw.top);
		return;
	}
	w->way = callers_way(w->list, w->raw.n, w->raw.top);
	chains_prefetch_list(&p->chains, w->way);
}

/* Number of new callers; without a tree it is all of them or none. */
static uint32_t new_callers(struct profile *p, struct pending *w)
{
	uint32_t node;

	if (!p->chains.lists)
		return callers_new(&p->callers, w->list, w->raw.n, &w->node);
	node = chains_find_list(&p->chains, w->way, (uint32_t)w->list->addr);
	if (node == CHAIN_NONE)
		return w->raw.n;
	w->node = node;
	return 0;
}

/* Looks up the callers by their places, or the outer ones of them. */
static void find_ways(struct profile *p, struct pending *w)
{
	uint32_t i;

	w->new = 0;
	if (w->known)
		return;
	w->new = new_callers(p, w);
	for (i = 0; i < w->new; i++)
		frames_prefetch(&p->frames, w->list[i].obj, w->list[i].addr);
	chains_prefetch_node(&p->chains, w->node);
}

/* Frames are numbered as they come, from the innermost on. */
static void find_frames(struct profile *p, struct pending *w)
{
	uint32_t i;

	w->frame = frames_id(&p->frames, w->where.obj, w->where.addr);
	for (i = 0; i < w->new; i++)
		w->list[i].frame = frames_id(&p->frames, w->list[i].obj,
					     w->list[i].addr);
}

/* Another sample of the batch may have added the same list. */
static void add_list(struct profile *p, struct pending *w)
{
	uint32_t more = (uint32_t)w->list->addr, i;
	uint32_t node = chains_find_list(&p->chains, w->way, more);

	if (node == CHAIN_NONE) {
		for (i = 0; i < w->raw.n; i++)
			p->batch.ids[i] = w->list[i].frame;
		node = chains_add_list(&p->chains, w->raw.top, p->batch.ids,
				       w->raw.n, w->way, more);
	}
	w->node = node;
	w->new = 0;
}

static void add_callers(struct profile *p, struct pending *w)
{
	uint32_t i;

	if (w->new && p->chains.lists)
		add_list(p, w);
	for (i = w->new; i--;) {
		w->node = chains_step(&p->chains, w->node, w->list[i].frame);
		callers_learn_way(&p->callers, &w->list[i], w->node);
	}
	if (!w->known)
		callers_learn(&p->callers, w->hash, first_caller(w), w->node);
	chains_prefetch(&p->chains, w->node, w->frame);
}

static void find_chain(struct profile *p, struct pending *w)
{
	w->chain = chains_id(&p->chains, w->raw.top, w->node, w->frame,
			     w->n ? w->n : 1);
	chains_prefetch_count(&p->chains, w->chain);
}

static void count_one(struct profile *p, const struct pending *w)
{
	chains_count(&p->chains, w->chain, 1);
	if (w->weight != 1)
		chains_weigh(&p->chains, w->chain, w->weight - 1);
}

void profile_flush(struct profile *p)
{
	struct batch *b = &p->batch;
	uint32_t i;

	roll_flush(p);
	for (i = 0; i < b->n; i++)
		find_list(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		find_places(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		find_ways(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		find_frames(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		add_callers(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		find_chain(p, &b->wait[i]);
	for (i = 0; i < b->n; i++)
		count_one(p, &b->wait[i]);
	b->n = b->used = 0;
}

void profile_count(struct profile *p, const struct aspace *as,
		   struct sample *s, const unsigned char *pc, uint32_t n)
{
	struct pending w;

	profile_flush(p);
	batch_room(&p->batch, n);
	begin(p, &w, as, s, pc, n);
	find_list(p, &w);
	find_places(p, &w);
	find_ways(p, &w);
	find_frames(p, &w);
	add_callers(p, &w);
	find_chain(p, &w);
	s->chain = w.chain;
	count_one(p, &w);
}

void profile_wait(struct profile *p, const struct aspace *as,
		  const struct sample *s, const unsigned char *pc, uint32_t n)
{
	struct batch *b = &p->batch;
	unsigned char *copy;
	struct pending *w;

	if (b->used + n > b->cap)
		profile_flush(p);
	batch_room(b, n);
	w = &b->wait[b->n];
	begin(p, w, as, s, pc, n);
	/* copied: the record is only valid until the next one */
	copy = b->pcs + (size_t)b->used * 8;
	memcpy(copy, w->raw.pc, (size_t)w->raw.n * 8);
	w->raw.pc = copy;
	b->used += w->raw.n;
	if (++b->n == BATCH_SAMPLES)
		profile_flush(p);
}

void roll_free(struct roll *t)
{
	free(t->wait);
	free(t->pc);
	free(t->where);
	free(t->frame);
	free(t->new);
	xfree_table(t->known, KNOWN_PLACES, sizeof(*t->known));
	memset(t, 0, sizeof(*t));
}

static void roll_room(struct roll *t, uint32_t n)
{
	if (!t->wait) {
		t->wait = xcalloc(BATCH_SAMPLES, sizeof(*t->wait));
		t->known = xcalloc_table(KNOWN_PLACES, sizeof(*t->known));
	}
	if (n <= t->cap)
		return;
	t->cap = n < ROLL_PCS ? ROLL_PCS : n;
	t->pc = xreallocarray(t->pc, t->cap, sizeof(*t->pc));
	t->where = xreallocarray(t->where, t->cap, sizeof(*t->where));
	t->frame = xreallocarray(t->frame, t->cap, sizeof(*t->frame));
	t->new = xreallocarray(t->new, t->cap, sizeof(*t->new));
}

/* The slot of an address in the cache of places; most addresses hit. */
static struct known_place *known(const struct profile *p,
				 const struct rolled *l)
{
	return &p->roll.known[hash_mix(l->pc, l->gen) % KNOWN_PLACES];
}

static void roll_pcs(struct profile *p, const struct aspace *as, bool kernel,
		     const unsigned char *pc, uint32_t n)
{
	uint32_t gen = aspace_gen(as), kgen = aspace_gen(p->kernel), i;
	struct rolled *l = &p->roll.pc[p->roll.npc];
	bool from;

	for (i = 0; i < n; i++, l++) {
		from = kernel;
		l->as = as;
		l->at = pmclog_get64(pc + (size_t)i * 8);
		l->kernel = kernel = is_kernel_pc(p, l->at, from);
		l->ret = i && (kernel || !from);
		l->low = kernel && !(l->at >> 63);
		l->pc = l->at - (l->ret && l->at);
		l->gen = is_upper(l->pc) ? kgen : gen;
		__builtin_prefetch(known(p, l));
	}
	p->roll.npc += n;
}

void roll_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, const unsigned char *pc, uint32_t n)
{
	struct roll *t = &p->roll;

	if (t->n == BATCH_SAMPLES || (t->n && t->npc + n > ROLL_PCS))
		roll_flush(p);
	roll_room(t, n);
	t->wait[t->n] = *s;
	t->wait[t->n++].nframes = n;
	roll_pcs(p, as, s->kernel, pc, n);
}

/* Looks up the frames of all queued samples. */
static void roll_frames(struct profile *p, struct roll *t)
{
	uint32_t i, new = 0;

	for (i = 0; i < t->npc; i++) {
		const struct rolled *l = &t->pc[i];
		const struct known_place *k = known(p, l);

		t->frame[i] = k->frame1 - 1;
		if (!k->frame1 || k->pc != l->pc || k->gen != l->gen || l->low)
			t->new[new++] = i;
	}
	for (i = 0; i < new; i++) {
		const struct rolled *l = &t->pc[t->new[i]];

		t->where[i] = place_of(p, l->as, l->at, l->kernel, l->ret);
		frames_prefetch(&p->frames, t->where[i].obj, t->where[i].addr);
	}
	for (i = 0; i < new; i++) {
		const struct rolled *l = &t->pc[t->new[i]];
		uint32_t frame = frames_id(&p->frames, t->where[i].obj,
					   t->where[i].addr);

		t->frame[t->new[i]] = frame;
		if (!l->low)
			*known(p, l) = (struct known_place){
				.pc = l->pc, .gen = l->gen,
				.frame1 = frame + 1,
			};
	}
}

void roll_flush(struct profile *p)
{
	struct roll *t = &p->roll;
	const uint32_t *frame = t->frame;
	uint32_t i, n = t->n;

	if (!n)
		return;
	roll_frames(p, t);
	for (i = 0; i < n; i++) {
		t->wait[i].frames = frame;
		frame += t->wait[i].nframes;
	}
	t->n = t->npc = 0;
	p->on_samples(p->on_sample_ctx, t->wait, n);
}
