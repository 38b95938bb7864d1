/* SPDX-License-Identifier: BSD-2-Clause */
/* The views of -T, as lines of text. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "analysis/quality.h"
#include "analysis/shown.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/order.h"
#include "live/top.h"
#include "profile/calltree.h"

#define PATH_FRAMES	512U

#define FUNCTION_WIDTH	30U
#define CALLERS_AT	(6U + 10U + 1U + FUNCTION_WIDTH)

/* ------------------------------------------------------------------------
 * Text in columns
 */

/* Returns the width of the next character; a '?' replaces what cannot be shown. */
static int next_char(const char **s, char out[MB_LEN_MAX + 1])
{
	wchar_t c;
	mbstate_t state = { 0 };
	size_t n = mbrtowc(&c, *s, strlen(*s), &state);
	int width = n && n < (size_t)-2 ? wcwidth(c) : -1;

	if (width < 0) {
		/* one '?' per character, not per byte */
		do {
			(*s)++;
		} while (((unsigned char)**s & 0xC0) == 0x80);
		strcpy(out, "?");
		return 1;
	}
	memcpy(out, *s, n);
	out[n] = '\0';
	*s += n;
	return width;
}

/* Appends @s in at most @max columns, filled with blanks to @min. */
static unsigned int put(char line[4 * TOP_COLUMNS], const char *s,
			unsigned int min, unsigned int max)
{
	size_t len = strlen(line), n;
	unsigned int columns = 0;
	char c[MB_LEN_MAX + 1];

	while (*s) {
		int width = next_char(&s, c);

		n = strlen(c);
		if (columns + (unsigned int)width > max ||
		    len + n + 1 > 4 * TOP_COLUMNS)
			break;
		memcpy(line + len, c, n + 1);
		len += n;
		columns += (unsigned int)width;
	}
	for (; columns < min && len + 2 <= 4 * TOP_COLUMNS; columns++) {
		line[len++] = ' ';
		line[len] = '\0';
	}
	return columns;
}

static void add_line(struct top_text *text, const char *s)
{
	char line[4 * TOP_COLUMNS] = "";

	if (text->n >= text->height)
		return;
	put(line, s, 0, text->width);
	APPEND(text->line, text->n, text->cap) = xstrdup(line);
}

void top_text_free(struct top_text *text)
{
	while (text->n)
		free(text->line[--text->n]);
}

/* ------------------------------------------------------------------------
 * What is shown
 */
static bool shown_event(const struct top *t, uint32_t event)
{
	const struct events *e = &t->log.p.events;

	if (event == t->event)
		return true;
	return t->merge && event_same(&e->event[event], &e->event[t->event]);
}

/* True for the first of the events that are shown together. */
static bool leads(const struct top *t, uint32_t event)
{
	const struct events *e = &t->log.p.events;
	uint32_t i;

	for (i = 0; t->merge && i < event; i++)
		if (event_same(&e->event[i], &e->event[event]))
			return false;
	return true;
}

void top_next_event(struct top *t)
{
	uint32_t n = t->log.p.events.n;

	if (!n)
		return;
	do {
		t->event = (t->event + 1) % n;
	} while (!leads(t, t->event));
}

void top_event_name(const struct top *t, char name[NAME_MAX_SHOWN])
{
	const struct events *e = &t->log.p.events;
	char event[SHOWN_MAX];

	if (t->event >= e->n) {
		strcpy(name, "-");
		return;
	}
	shown_str(event, &t->log.p.str, e->event[t->event].name);
	if (t->merge)
		snprintf(name, NAME_MAX_SHOWN, "[%.400s]", event);
	else
		snprintf(name, NAME_MAX_SHOWN, "%.400s.%u", event, t->event);
}

static struct top_count count_of(const struct chains *t, uint32_t chain)
{
	const struct chain *c = &t->chain[chain];

	return (struct top_count){ c->count, chain_weight(t, c) };
}

static struct top_count samples_of(const struct top *t, uint32_t chain)
{
	struct top_count now = count_of(&t->log.p.chains, chain), before;

	if (!t->delta || chain >= t->nbefore)
		return now;
	before = t->before[chain];
	/* fewer: a late user chain has moved a sample to another chain */
	if (now.n <= before.n || now.weight <= before.weight)
		return (struct top_count){ 0 };
	return (struct top_count){
		now.n - before.n, now.weight - before.weight,
	};
}

int top_fresh(const struct top *t)
{
	const struct chains *chains = &t->log.p.chains;
	uint32_t i;

	for (i = 0; i < chains->n; i++)
		if (i >= t->nnow || chains->chain[i].count != t->now[i].n)
			return 1;
	return 0;
}

static void begin_losses(struct top *t)
{
	const struct events *e = &t->log.p.events;
	uint32_t i;

	free(t->lost_before);
	t->lost_before = t->lost_now;
	t->nlost_before = t->nlost_now;
	t->lost_now = xreallocarray(NULL, e->n, sizeof(*t->lost_now));
	for (i = 0; i < e->n; i++)
		t->lost_now[i] = event_lost(&e->event[i]);
	t->nlost_now = e->n;
}

static void begin_period(struct top *t)
{
	const struct chains *chains = &t->log.p.chains;
	uint32_t i;

	begin_losses(t);
	free(t->before);
	t->before = t->now;
	t->nbefore = t->nnow;
	t->now = xreallocarray(NULL, chains->n, sizeof(*t->now));
	for (i = 0; i < chains->n; i++)
		t->now[i] = count_of(chains, i);
	t->nnow = chains->n;
}

static void count_samples(struct top *t)
{
	uint32_t i;

	t->total = t->samples = t->weight = t->unresolved = 0;
	for (i = 0; i < t->log.p.chains.n; i++) {
		const struct chain *c = &t->log.p.chains.chain[i];
		struct top_count n = samples_of(t, i);

		t->total += n.n;
		if (!shown_event(t, c->event))
			continue;
		t->samples += n.n;
		t->weight += n.weight;
		if (t->log.p.frames.frame[c->frame].obj == OBJ_ID_UNKNOWN)
			t->unresolved += n.n;
	}
}

static void count_losses(struct top *t)
{
	const struct events *e = &t->log.p.events;
	uint32_t i;

	t->lost = 0;
	t->untold = 0;
	for (i = 0; i < e->n; i++) {
		if (!shown_event(t, i))
			continue;
		t->untold |= e->event[i].untold;
		t->lost += event_lost(&e->event[i]);
		if (t->delta && i < t->nlost_before)
			t->lost -= t->lost_before[i];
	}
}

/* Builds paths of @depth frames, innermost or outermost frame first. */
static void build(struct top *t, struct calltree *tree, uint32_t depth,
		  bool from_top)
{
	uint32_t path[PATH_FRAMES], i, j;

	calltree_init(tree);
	for (i = 0; i < t->log.p.chains.n; i++) {
		const struct chain *c = &t->log.p.chains.chain[i];
		uint32_t n = log_depth(&t->log, c);
		struct top_count count = samples_of(t, i);

		if (!count.n || !shown_event(t, c->event))
			continue;
		if (n > depth)
			n = depth;
		for (j = 0; j < n; j++)
			path[from_top ? n - 1 - j : j] =
				log_label(&t->log, c, j);
		calltree_add(tree, path, n, count.weight);
	}
	calltree_sum(tree);
}

static int by_total(const struct callnode *a, const struct callnode *b,
		    void *ctx)
{
	(void)ctx;
	return ORDER(b->total, a->total) ?: ORDER(a->label, b->label);
}

static const char *image_name(const struct log *l, uint32_t label,
			      char name[NAME_MAX_SHOWN])
{
	return shown_str(name, &l->p.str, l->p.objs.obj[log_label_image(l, label)].brief);
}

/* ------------------------------------------------------------------------
 * Where samples are, and who has called
 */
static void put_callers(struct top *t, const struct calltree *tree,
			uint32_t node, char *line, unsigned int room)
{
	uint32_t *child, n, i, shown = 0;
	char name[NAME_MAX_SHOWN], text[NAME_MAX_SHOWN + 16];

	n = calltree_children(tree, node, &child, by_total, NULL);
	while (shown < n && percent(tree->node[child[shown]].total,
				    t->weight) >= t->threshold)
		shown++;
	for (i = 0; i < shown; i++) {
		const struct callnode *c = &tree->node[child[i]];

		log_name(&t->log, c->label, name);
		if (shown > 1)
			snprintf(text, sizeof(text), " %.480s:%.1f", name,
				 percent(c->total, t->weight));
		else
			snprintf(text, sizeof(text), " %.480s", name);
		if (strlen(text) > room) {
			put(line, " ...", 0, room);
			break;
		}
		room -= put(line, text, 0, room);
	}
	free(child);
}

static void draw_callgraph(struct top *t, struct top_text *text)
{
	char line[4 * TOP_COLUMNS], name[NAME_MAX_SHOWN], share[16];
	struct calltree tree;
	uint32_t *child, n, i;

	add_line(text, "%SAMP IMAGE      FUNCTION                       "
		 "CALLERS");
	build(t, &tree, 2, false);
	n = calltree_children(&tree, CALLTREE_ROOT, &child, by_total, NULL);
	for (i = 0; i < n && text->n < text->height; i++) {
		const struct callnode *node = &tree.node[child[i]];
		double share_of = percent(node->total, t->weight);

		if (share_of < t->threshold)
			break;
		*line = '\0';
		snprintf(share, sizeof(share), "%5.1f ", share_of);
		put(line, share, 6, 6);
		put(line, image_name(&t->log, node->label, name), 10, 10);
		put(line, " ", 1, 1);
		put(line, log_name(&t->log, node->label, name), FUNCTION_WIDTH,
		    FUNCTION_WIDTH);
		if (text->width > CALLERS_AT)
			put_callers(t, &tree, child[i], line,
				    text->width - CALLERS_AT);
		add_line(text, line);
	}
	free(child);
	calltree_free(&tree);
}

/* ------------------------------------------------------------------------
 * The paths that end in many samples, from the outermost function on
 */
DEFINE_ID_ORDER(by_self, struct callnode, ORDER(b->self, a->self) ?: ORDER(a, b))

/* A function of a path: name, image if it changes, share if it has one. */
static void node_text(struct top *t, const struct callnode *node,
		      uint32_t *image, char out[NAME_MAX_SHOWN + 64])
{
	double share = percent(node->self, t->weight);
	char name[NAME_MAX_SHOWN], of[NAME_MAX_SHOWN];
	size_t len;

	if (t->skiplink && share < t->threshold) {
		strcpy(out, ". ");
		return;
	}
	len = (size_t)snprintf(out, NAME_MAX_SHOWN + 64, "%.60s",
			       log_name(&t->log, node->label, name));
	if (*image != log_label_image(&t->log, node->label)) {
		*image = log_label_image(&t->log, node->label);
		len += (size_t)snprintf(out + len, 64, "@%.20s",
					image_name(&t->log, node->label, of));
	}
	if (share >= t->threshold)
		len += (size_t)snprintf(out + len, 32, "(%.1f%%)", share);
	strcpy(out + len, " ");
}

/* A path takes as many lines as it needs. */
static void draw_path(struct top *t, struct top_text *text,
		      const struct calltree *tree, uint32_t node)
{
	uint32_t path[PATH_FRAMES], n = 0, image = UINT32_MAX, i;
	char line[4 * TOP_COLUMNS] = "", word[NAME_MAX_SHOWN + 64];
	unsigned int column = 6;

	for (i = node; i != CALLTREE_ROOT && n < PATH_FRAMES;
	     i = tree->node[i].parent)
		path[n++] = i;
	snprintf(line, sizeof(line), "%5.1f ",
		 percent(tree->node[node].self, t->weight));
	while (n--) {
		unsigned int len;

		node_text(t, &tree->node[path[n]], &image, word);
		len = (unsigned int)strlen(word);
		if (column + len > text->width + 1 && column > 6) {
			add_line(text, line);
			strcpy(line, "      ");
			column = 6;
		}
		column += put(line, word, 0, TOP_COLUMNS);
	}
	add_line(text, line);
}

static void draw_calltree(struct top *t, struct top_text *text)
{
	struct calltree tree;
	uint32_t *order, n = 0, i;

	add_line(text, "%SAMP CALLTREE");
	build(t, &tree, PATH_FRAMES, true);
	order = xreallocarray(NULL, tree.n, sizeof(*order));
	for (i = 1; i < tree.n; i++)
		if (tree.node[i].self && percent(tree.node[i].self,
						 t->weight) >= t->threshold)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_self, tree.node);
	for (i = 0; i < n && text->n < text->height; i++)
		draw_path(t, text, &tree, order[i]);
	free(order);
	calltree_free(&tree);
}

void top_draw(struct top *t, struct top_text *text)
{
	begin_period(t);
	top_redraw(t, text);
}

/* Adds how the user chains of the shown events end, over the whole log. */
static void add_chains(const struct top *t, char *line, size_t size)
{
	const struct profile *p = &t->log.p;
	bool *use = xcalloc((size_t)p->events.n + 1, sizeof(*use));
	size_t len = strlen(line);
	char *text;
	uint32_t i;

	for (i = 0; i < p->events.n; i++)
		use[i] = shown_event(t, i);
	text = chains_text(p, use);
	if (text)
		snprintf(line + len, size - len, ", %s", text);
	free(text);
	free(use);
}

/* Of the whole log, too: what was lost is missing from then on. */
static void add_lost_procs(const struct top *t, char *line, size_t size)
{
	uint64_t n = t->log.p.events.lost_procs;
	size_t len = strlen(line);

	if (n)
		snprintf(line + len, size - len, ", %llu process %s lost",
			 (unsigned long long)n, plural(n, "record", "records"));
}

void top_redraw(struct top *t, struct top_text *text)
{
	char name[NAME_MAX_SHOWN], line[NAME_MAX_SHOWN + 128];
	size_t len;

	top_text_free(text);
	if (t->log.p.events.n && !leads(t, t->event))
		top_next_event(t);
	count_samples(t);
	count_losses(t);
	top_event_name(t, name);
	len = (size_t)snprintf(line, sizeof(line), "PMC: %s Samples: %llu "
			       "(%.1f%%), %llu unresolved", name,
			       (unsigned long long)t->samples,
			       percent(t->samples, t->total),
			       (unsigned long long)t->unresolved);
	if (t->lost || !t->untold)
		snprintf(line + len, sizeof(line) - len, ", %llu lost",
			 (unsigned long long)t->lost);
	add_lost_procs(t, line, sizeof(line));
	add_chains(t, line, sizeof(line));
	add_line(text, line);
	add_line(text, "");
	if (t->view == VIEW_CALLGRAPH)
		draw_callgraph(t, text);
	else
		draw_calltree(t, text);
}
