// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Firefox Profiler's processed format needs all samples of a thread
 * together, but the log mixes threads: samples wait in a temporary file.
 */

#include "base/say.h"
#include "export/export_firefox.h"

static uint32_t stack_id(struct firefox *x, const struct fx_stack *key)
{
	return IDTAB_ID(&x->stacktab, hash_mix(key->prefix, key->frame), x->stack, x->nstacks,
			x->capstacks, key, e, e->prefix == key->prefix && e->frame == key->frame);
}

/* Adds the functions of a frame, outermost first. */
static void add_frame(struct export *e, struct firefox *x, uint32_t frame)
{
	struct level level[LEVELS_MAX];
	uint32_t n = export_levels(e, frame, level), k;

	x->rows[frame].first = x->nframes + 1;
	x->rows[frame].n = n;
	for (k = n; k--;) {
		APPEND(x->frame, x->nframes, x->capframes) = (struct fx_frame){
			.frame = frame, .func = level[k].func,
			.file = level[k].file, .line = level[k].line,
			.depth = n - 1 - k,
		};
	}
}

static uint32_t chain_stack(struct export *e, struct firefox *x, uint32_t id)
{
	const struct chain *c = &e->a.p.chains.chain[id];
	struct fx_stack s = { 0 };
	const uint32_t *frames;
	uint32_t i, k;

	x->chain = xgrow_zero(x->chain, &x->nchains, id, 1024,
			      sizeof(*x->chain));
	if (x->chain[id])
		return x->chain[id] - 1;
	frames = chain_frames(&e->a.p.chains, c);
	for (i = c->n; i--;) {
		x->rows = xgrow_zero(x->rows, &x->nrows, frames[i], 1024,
				     sizeof(*x->rows));
		if (!x->rows[frames[i]].n)
			add_frame(e, x, frames[i]);
		for (k = 0; k < x->rows[frames[i]].n; k++) {
			s.frame = x->rows[frames[i]].first - 1 + k;
			s.prefix = stack_id(x, &s) + 1;
		}
	}
	x->chain[id] = s.prefix;
	return s.prefix - 1;
}

static bool same_thread(const struct fx_thread *a, const struct fx_thread *b)
{
	return a->tid == b->tid && a->pid == b->pid && a->event == b->event;
}

static uint32_t thread_id(struct firefox *x, const struct sample *s)
{
	struct fx_thread key = {
		.pid = s->pid, .tid = s->tid, .event = s->event,
		.first = INT64_MAX, .last = INT64_MIN,
	};
	uint64_t hash = hash_mix((uint64_t)s->pid << 32 | s->tid, s->event);
	uint32_t n = x->nthreads;

	if (x->last < n && same_thread(&x->thread[x->last], &key))
		return x->last;
	x->last = IDTAB_ID(&x->threadtab, hash, x->thread, x->nthreads, x->capthreads, &key,
			   e, same_thread(e, &key));
	if (x->last == n) {
		spool_new(&x->spool);
		spool_new(&x->weights);
	}
	return x->last;
}

/* A program that is executed gives its thread another command. */
static void count_command(struct firefox *x, uint32_t thread, uint32_t comm)
{
	struct fx_command key = { .thread = thread, .comm = comm };
	struct fx_thread *t = &x->thread[thread];
	uint32_t id = IDTAB_ID(&x->commandtab, hash_mix(thread, comm), x->command, x->ncommands,
			       x->capcommands, &key, e, e->thread == thread && e->comm == comm);

	if (++x->command[id].n <= t->most)
		return;
	t->most = x->command[id].n;
	t->comm = comm;
}

static uint32_t weight_id(struct firefox *x, uint64_t weight)
{
	uint64_t hash = hash_number(weight);
	uint32_t id = idtab_find_exact(&x->weighttab, hash, 0);

	if (id == IDTAB_NONE) {
		GROW(x->weight, x->nweights, x->capweights);
		x->weight[x->nweights] = weight;
		idtab_add_exact(&x->weighttab, hash, 0, id = x->nweights++);
	}
	return id;
}

static void begin(struct export *e)
{
	struct firefox *x = xcalloc(1, sizeof(*x));

	strtab_init(&x->str);
	e->state = x;
}

static void sample(struct export *e, const struct sample *s)
{
	struct firefox *x = e->state;
	uint32_t id = thread_id(x, s);
	struct fx_thread *t = &x->thread[id];
	int64_t ns = export_ns(e, s->tsc);

	count_command(x, id, s->comm);
	if (ns < t->first)
		t->first = ns;
	if (ns > t->last)
		t->last = ns;
	spool_add(&x->spool, id, ns, chain_stack(e, x, s->chain));
	if (export_varies(e, s->event))
		spool_add(&x->weights, id, ns, weight_id(x, s->weight));
}

static void end(struct export *e)
{
	struct firefox *x = e->state;
	int error = x->spool.error ? x->spool.error : x->weights.error;

	if (!error) {
		firefox_write(e, x);
		error = x->spool.error ? x->spool.error : x->weights.error;
	}
	if (!error)
		return;
	warn_line("temporary file: %s", strerror(error));
	e->bad = true;
}

static void release(struct export *e)
{
	struct firefox *x = e->state;

	free(x->frame);
	free(x->rows);
	free(x->stack);
	idtab_free(&x->stacktab);
	free(x->chain);
	free(x->thread);
	idtab_free(&x->threadtab);
	free(x->command);
	idtab_free(&x->commandtab);
	spool_free(&x->spool);
	spool_free(&x->weights);
	free(x->weight);
	idtab_free(&x->weighttab);
	strtab_free(&x->str);
	free(x);
}

const struct export_format export_firefox = {
	.name = "firefox",
	.help = "JSON: profiler.firefox.com",
	.begin = begin,
	.sample = sample,
	.chains = true,
	.end = end,
	.release = release,
};
