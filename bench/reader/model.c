// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shapes:
 *	deep	one service, frame pointers, about 30 frames; chains repeat
 *	mixed	a build: thousands of short processes, few frames (programs
 *		without frame pointers), little repeats
 *	flat	long-lived processes, no chains
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "sink.h"

#define PERIOD_NS	50000		/* 20 kHz on each CPU */
#define LEVELS		48		/* of the service's functions */
#define CALLEES		6		/* of one of them */
#define REQUESTS	1000		/* ways through the service */
#define TEMPLATES	1500		/* ways through a program */
#define CALLSITES	16
#define KERNEL_PATHS	600
#define LIFE		1200		/* samples of a short process */
#define FIRST_PID	1000U

static uint64_t state;
static struct sink *sink;
static uint64_t now;

/* ---- images ---- */

#define IMAGE_OBJECTS	7

/* what a process has mapped */
struct image {
	uint32_t n;
	const struct object *obj[IMAGE_OBJECTS];
	uint64_t base[IMAGE_OBJECTS];
};

static const char *const service_image[] = {
	"service", "libw0.so", "libw1.so", "libw2.so", "libw3.so", "libw4.so",
	"libw5.so", NULL
};

static const char *const images[][5] = {
	{ "compiler", "libc.so.6", "loader.so", "libstdc++.so.6", NULL },
	{ "compiler", "libc.so.6", "loader.so", "libstdc++.so.6", NULL },
	{ "assembler", "libc.so.6", "loader.so", NULL },
	{ "linker", "libc.so.6", "loader.so", "libstdc++.so.6", NULL },
	{ "snake", "libc.so.6", "loader.so", NULL },
	{ "pearl", "libc.so.6", "loader.so", NULL },
	{ "seek", "libc.so.6", "loader.so", NULL },
	{ "order", "libc.so.6", "loader.so", NULL },
};

/* Each process has its own addresses, as with address space randomization. */
static void start_process(struct image *im, uint32_t pid,
			  const char *const *names)
{
	uint64_t at = 0x7f0000000000ULL +
		      ((uint64_t)rnd_below(&state, 1 << 20) << 12);
	uint32_t i;

	sink->fork(now++, 1, pid);
	sink->exec(now++, pid, object_named(names[0]));
	im->n = 0;
	for (i = 0; names[i]; i++) {
		const struct object *o = object_named(names[i]);

		im->obj[i] = o;
		im->base[i] = at;
		sink->map(now++, pid, o, at + o->segment);
		at += (o->segment + o->len + 0xffffff) & ~0xffffffULL;
		im->n++;
	}
}

/* Seeds the choices that make one of @n ways through a program. */
static uint64_t way_of(uint32_t n)
{
	return (1 + rnd_skewed(&state, n)) * 0x9E3779B97F4A7C15ULL;
}

static uint64_t function_pc(const struct image *im, uint32_t obj, uint32_t func,
			    uint32_t at)
{
	return im->base[obj] + im->obj[obj]->text +
	       im->obj[obj]->func[func].at + at;
}

/* ---- the kernel's part of a chain ---- */

static struct kernel_path {
	uint32_t n;
	uint64_t pc[12];	/* innermost first; the leaf is drawn anew */
	uint32_t leaf;
} kernel_paths[KERNEL_PATHS];

/* A sample is mostly taken in a loop of the function. */
static uint32_t leaf_at(uint32_t size)
{
	return 12 * rnd_skewed(&state, 1 + rnd_below(&state, size / 12));
}

static uint64_t kernel_pc(uint32_t func, uint32_t at)
{
	return kernel.text + kernel.func[func].at + at;
}

static void make_kernel_paths(void)
{
	uint32_t i, j;

	for (i = 0; i < KERNEL_PATHS; i++) {
		struct kernel_path *k = &kernel_paths[i];

		k->n = 3 + rnd_below(&state, 8);
		k->leaf = rnd_below(&state, kernel.nfunc);
		for (j = 1; j < k->n; j++) {
			/* outer functions are shared by many chains */
			uint32_t f = rnd_below(&state, j + 2 < k->n ?
						       kernel.nfunc : 20);

			k->pc[j] = kernel_pc(f, 16 + rnd_below(&state,
						kernel.func[f].size - 32));
		}
	}
}

/* Adds one of the few kernel chains that follow this user chain. */
static void add_kernel(struct sample *s, uint64_t way)
{
	const struct kernel_path *k;

	rnd(&way);
	k = &kernel_paths[(rnd_skewed(&way, KERNEL_PATHS) +
			   rnd_skewed(&state, 6)) % KERNEL_PATHS];
	s->pc[0] = kernel_pc(k->leaf, leaf_at(kernel.func[k->leaf].size));
	memcpy(s->pc + 1, k->pc + 1, (k->n - 1) * sizeof(*s->pc));
	s->nkernel = s->n = k->n;
}

/* ---- deep ---- */

struct call {
	uint8_t obj;
	uint16_t func;
};

static struct call *by_level[LEVELS];	/* functions, in the order of calls */
static uint32_t per_level;

static void make_service(const struct image *im)
{
	uint32_t total = 0, i, j, n = 0;
	struct call *all;

	for (i = 0; i < im->n; i++)
		total += im->obj[i]->nfunc;
	all = calloc(total, sizeof(*all));
	for (i = 0; i < im->n; i++)
		for (j = 0; j < im->obj[i]->nfunc; j++)
			all[n++] = (struct call){ (uint8_t)i, (uint16_t)j };
	for (i = total - 1; i; i--) {
		struct call c = all[i];

		j = rnd_below(&state, i + 1);
		all[i] = all[j];
		all[j] = c;
	}
	per_level = total / LEVELS;
	for (i = 0; i < LEVELS; i++)
		by_level[i] = all + (size_t)i * per_level;
}

/* The @which-th function that this one calls, and the call's address. */
static uint32_t callee(uint32_t level, uint32_t func, uint32_t which)
{
	uint64_t s = 1 + ((uint64_t)level << 40) + ((uint64_t)func << 8) +
		     which;

	rnd(&s);
	return rnd_below(&s, per_level);
}

static uint64_t call_pc(const struct image *im, uint32_t level, uint32_t func,
			uint32_t which)
{
	const struct call *c = &by_level[level][func];
	uint32_t room = im->obj[c->obj]->func[c->func].size - 32;

	return function_pc(im, c->obj, c->func,
			   16 + room * which / CALLEES);
}

/*
 * A path of a request through the service, down to a random depth.  All
 * requests use the same calls, so chains have their outer frames in common.
 */
static void deep_sample(const struct image *im, struct sample *s)
{
	uint64_t way = way_of(REQUESTS);
	uint32_t depth = 20 + rnd_below(&state, 20), level, func = 0, which;
	const struct call *c;
	uint64_t pc[LEVELS];

	for (level = 0; level < depth; level++) {
		rnd(&way);
		which = rnd_skewed(&way, CALLEES);
		pc[level] = call_pc(im, level, func, which);
		func = callee(level, func, which);
	}
	s->n = s->nkernel = 0;
	if (!rnd_below(&state, 7))
		add_kernel(s, way);
	c = &by_level[level][func];
	/* a function calls the kernel from one place */
	s->pc[s->n++] = function_pc(im, c->obj, c->func, s->nkernel ? 16 :
				   leaf_at(im->obj[c->obj]->func[c->func].size));
	while (level)
		s->pc[s->n++] = pc[--level];
}

static void deep(struct sample *s, uint32_t cpu)
{
	static struct image im;

	(void)cpu;
	if (!im.n) {
		start_process(&im, FIRST_PID, service_image);
		make_service(&im);
	}
	s->pid = FIRST_PID;
	deep_sample(&im, s);
}

/* ---- mixed and flat ---- */

/* An address in one of the program's busy functions. */
static uint64_t any_pc(const struct image *im, uint64_t *from, bool leaf)
{
	uint32_t obj = rnd_skewed(from, im->n);
	uint32_t func = rnd_skewed(from, 1 + rnd_skewed(from,
						im->obj[obj]->nfunc));
	uint32_t size = im->obj[obj]->func[func].size;

	if (leaf)
		return function_pc(im, obj, func, leaf_at(size));
	return function_pc(im, obj, func,
			   16 + (size - 32) *
				rnd_below(from, CALLSITES) / CALLSITES);
}

/* One of a program's chains; the address in the last function is random. */
static void shallow_sample(const struct image *im, struct sample *s)
{
	uint64_t way = way_of(TEMPLATES);
	uint32_t n = 1;

	s->n = s->nkernel = 0;
	if (!rnd_below(&state, 3))
		add_kernel(s, way);
	s->pc[s->n++] = any_pc(im, &way, true);
	while (n++ < 9 && rnd_below(&way, 4))
		s->pc[s->n++] = any_pc(im, &way, false);
}

static void mixed(struct sample *s, uint32_t cpu)
{
	static struct {
		struct image im;
		uint32_t pid, left;
	} procs[MODEL_CPUS];
	static uint32_t last = FIRST_PID;

	if (!procs[cpu].left) {
		if (procs[cpu].pid)
			sink->exit(now, procs[cpu].pid);
		procs[cpu].pid = ++last;
		procs[cpu].left = 1 + rnd_below(&state, 2 * LIFE);
		start_process(&procs[cpu].im, last, images[rnd_below(&state,
				sizeof(images) / sizeof(images[0]))]);
	}
	procs[cpu].left--;
	s->pid = procs[cpu].pid;
	shallow_sample(&procs[cpu].im, s);
}

#define FLAT_PROCS	24

static void flat(struct sample *s, uint32_t cpu)
{
	static struct image im[FLAT_PROCS];
	uint32_t i;

	(void)cpu;
	if (!im[0].n)
		for (i = 0; i < FLAT_PROCS; i++)
			start_process(&im[i], FIRST_PID + i, images[i %
				(sizeof(images) / sizeof(images[0]))]);
	i = rnd_skewed(&state, FLAT_PROCS);
	s->pid = FIRST_PID + i;
	shallow_sample(&im[i], s);
	s->n = 1;
	s->nkernel = s->nkernel ? 1 : 0;
}

bool model_run(const char *shape, uint64_t samples, struct sink *to, uint64_t size)
{
	static const struct {
		const char *name;
		void (*next)(struct sample *s, uint32_t cpu);
		bool chains;
	} shapes[] = {
		{ "deep", deep, true }, { "mixed", mixed, true },
		{ "flat", flat, false },
	};
	struct sample s = { 0 };
	uint64_t i;
	size_t j;

	for (j = 0; strcmp(shapes[j].name, shape);)
		if (++j == sizeof(shapes) / sizeof(shapes[0]))
			return false;
	state = 0x123456789ABCDEFULL;
	sink = to;
	sink->chains = shapes[j].chains;
	now = MODEL_BEGIN;
	make_kernel_paths();
	sink->start(16 + kernel.text_len);
	for (i = 0; size ? sink->file->bytes < size : i < samples; i++) {
		s.cpu = (uint32_t)(i % MODEL_CPUS);
		now += PERIOD_NS / MODEL_CPUS;
		shapes[j].next(&s, s.cpu);
		s.time = now;
		sink->sample(&s);
	}
	sink->end(now + PERIOD_NS);
	return true;
}
