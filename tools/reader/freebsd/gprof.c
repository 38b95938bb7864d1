/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -g: profiles for gprof, one for each image and event, in EVENT/IMAGE.gmon.
 *
 * Counters of such a file have 16 bits.  gprof adds up several histograms of the
 * same addresses, so with -e a place with more samples gets as many histograms
 * of its own as it needs.
 *
 * It counts samples, also of an event that is sampled at a rate: periods would
 * not fit its counters, and it knows no other unit.
 *
 * Calls are known inside an image only.  Their number is not known: the number
 * of samples below is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/say.h"
#include "base/tempfile.h"
#include "freebsd/log_view.h"

#define BIN_BYTES	2U	/* bytes of code, as gprof counts */
#define BIN_BYTES_BIG	16U	/* for images that would have too many bins */
#define BIG_IMAGE	((uint64_t)16 << 20)
#define IMAGE_MAX	((uint64_t)1 << 32)

#define NS_PER_S	1000000000ULL

#define TAG_HISTOGRAM	0
#define TAG_ARC		1

#define ZEROS		4096U	/* bins: more of them become a hole of the file */

struct gmon_arc {
	uint64_t	from, to;
	uint64_t	count;
};

/* A bin that has samples: a file may say that it has gigabytes of code. */
struct gmon_bin {
	size_t		at;
	uint64_t	count;
};

/**
 * struct gmon - a profile
 * @lo, @hi: addresses of the image's code
 * @name:    of the file, without the directory
 */
struct gmon {
	uint32_t	image, event;
	uint64_t	lo, hi;
	unsigned int	bytes;
	size_t		nbins;
	struct gmon_bin	*bin;
	uint32_t	nused, capbins;
	struct idtab	bintab;
	uint64_t	samples;
	struct gmon_arc	*arc;
	uint32_t	n, cap;
	struct idtab	tab;
	char		*name;
};

struct gprof {
	struct log	*l;
	struct gmon	**gmon;
	uint32_t	n, cap;
	struct idtab	tab;
	struct strtab	files;		/* paths of profiles, each once */
	struct strtab	stems;		/* the same without ~NNN.gmon */
	uint32_t	*tries;		/* by stem: names that were tried */
	uint32_t	ntries;
	uint64_t	cut;		/* counts that were too large */
	uint64_t	left_out;	/* samples in no image with symbols */
};

/* ------------------------------------------------------------------------
 * Collecting
 */
static bool kernel_extent(const struct log *l, uint64_t *lo, uint64_t *hi)
{
	const struct symtab *t = &l->r.k.tab;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->sym[i].mod || t->sym[i].rank == SYM_GAP)
			continue;
		if (!*hi)
			*lo = t->sym[i].start;
		*hi = t->sym[i].end;
	}
	*lo -= l->r.k.slide;
	*hi -= l->r.k.slide;
	return *hi > *lo;
}

static bool file_extent(const struct log *l, uint32_t image, uint64_t *lo,
			uint64_t *hi)
{
	const struct elfsegs *t = &l->r.syms[image].segs;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct elfseg *s = &t->seg[i];

		if (!s->exec || s->vaddr + s->len < s->vaddr)
			continue;
		if (!*hi || s->vaddr < *lo)
			*lo = s->vaddr;
		if (s->vaddr + s->len > *hi)
			*hi = s->vaddr + s->len;
	}
	return *hi > *lo;
}

/* gprof cannot find addresses of modules and of anonymous memory in a file. */
static bool extent(const struct log *l, uint32_t image, uint64_t *lo,
		   uint64_t *hi)
{
	*lo = *hi = 0;
	switch (l->p.objs.obj[image].kind) {
	case OBJ_KERNEL:
		return l->r.ready && kernel_extent(l, lo, hi);
	case OBJ_FILE:
		return image < l->r.n && l->r.open[image] &&
		       file_extent(l, image, lo, hi);
	default:
		return false;
	}
}

/* Returns NULL if the image has none. */
static struct gmon *gmon_of(struct gprof *g, uint32_t image, uint32_t event)
{
	struct gmon key = { .image = image, .event = event }, *m;
	uint64_t hash = hash_mix(image, event);
	uint32_t id = IDTAB_FIND(&g->tab, hash, g->gmon, e,
				 (*e)->image == image && (*e)->event == event);

	if (id != IDTAB_NONE)
		return g->gmon[id]->nbins ? g->gmon[id] : NULL;
	m = xcalloc(1, sizeof(*m));
	*m = key;
	GROW(g->gmon, g->n, g->cap);
	g->gmon[g->n] = m;
	idtab_add(&g->tab, hash, g->n++);
	if (!extent(g->l, image, &m->lo, &m->hi) || m->hi - m->lo > IMAGE_MAX)
		return NULL;
	m->bytes = m->hi - m->lo > BIG_IMAGE ? BIN_BYTES_BIG : BIN_BYTES;
	m->lo -= m->lo % m->bytes;
	m->nbins = (m->hi - m->lo + m->bytes - 1) / m->bytes;
	return m;
}

static void add_samples(struct gmon *m, size_t at, uint64_t count)
{
	struct gmon_bin key = { .at = at };
	uint32_t id = IDTAB_ID(&m->bintab, hash_mix(at, 0), m->bin, m->nused, m->capbins, &key, e,
			       e->at == at);

	m->bin[id].count += count;
	m->samples += count;
}

static void add_arc(struct gmon *m, uint64_t from, uint64_t to, uint64_t count)
{
	struct gmon_arc key = { .from = from, .to = to };
	uint32_t id = IDTAB_ID(&m->tab, hash_mix(from, to), m->arc, m->n, m->cap, &key, e,
			       e->from == from && e->to == to);

	m->arc[id].count += count;
}

static void add_chain(struct gprof *g, const struct chain *c)
{
	struct log *l = g->l;
	const uint32_t *frames = chain_frames(&l->p.chains, c);
	uint32_t i, n = log_depth(l, c);
	struct place at, callee;
	struct gmon *m;

	if (!n)
		return;
	resolver_place(&l->r, &l->p, c->frame, &at);
	m = gmon_of(g, at.image, c->event);
	if (m && at.addr >= m->lo && at.addr < m->hi) {
		add_samples(m, (at.addr - m->lo) / m->bytes, c->count);
	} else {
		g->left_out += c->count;
	}
	for (i = 1; i < n; i++) {
		callee = at;
		resolver_place(&l->r, &l->p, frames[i], &at);
		if (at.image != callee.image || !callee.end)
			continue;
		m = gmon_of(g, at.image, c->event);
		if (m)
			add_arc(m, at.addr, callee.start, c->count);
	}
}

/* ------------------------------------------------------------------------
 * Writing
 */
static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

/*
 * Samples of a clock a second, 0: of no clock.  The format has whole numbers only: where
 * these are more than a percent wrong, the times would be, too.
 */
static uint32_t clock_rate(const struct event *e)
{
	uint64_t hz, error;

	if (!event_is_clock(e) || event_is_freq(e) || !e->rate ||
	    e->rate > 2 * NS_PER_S)
		return 0;
	hz = (NS_PER_S + e->rate / 2) / e->rate;
	error = hz * e->rate > NS_PER_S ? hz * e->rate - NS_PER_S :
					  NS_PER_S - hz * e->rate;
	return error <= NS_PER_S / 100 ? (uint32_t)hz : 0;
}

/* The unit of a count: seconds for a clock, else samples. */
static void put_unit(FILE *f, const struct event *e)
{
	uint32_t clock = clock_rate(e);
	char unit[15] = "samples";

	put32(f, clock ? clock : 1);
	if (clock)
		strcpy(unit, "seconds");
	fwrite(unit, sizeof(unit), 1, f);
	putc('s', f);
}

static void put_zeros(FILE *f, size_t n)
{
	static const uint16_t zeros[ZEROS];

	if (n > ZEROS) {
		fseeko(f, (off_t)((n - ZEROS) * sizeof(zeros[0])), SEEK_CUR);
		n = ZEROS;
	}
	fwrite(zeros, sizeof(zeros[0]), n, f);
}

/*
 * Writes bins [from, to), each up to 16 bits; a bin keeps the rest.  @next: the first bin
 * with samples there or later; returns the first one behind.
 */
static uint32_t put_histogram(struct gprof *g, struct gmon *m, FILE *f, size_t from,
			      size_t to, uint32_t next)
{
	putc(TAG_HISTOGRAM, f);
	put64(f, m->lo + from * m->bytes);
	put64(f, m->lo + to * m->bytes);
	put32(f, (uint32_t)(to - from));
	put_unit(f, &g->l->p.events.event[m->event]);
	for (; next < m->nused && m->bin[next].at < to; next++) {
		struct gmon_bin *b = &m->bin[next];
		uint16_t v = b->count < UINT16_MAX ? (uint16_t)b->count : UINT16_MAX;

		put_zeros(f, b->at - from);
		fwrite(&v, sizeof(v), 1, f);
		b->count -= v;
		from = b->at + 1;
	}
	put_zeros(f, to - from);
	return next;
}

/* Writes the rest of places with too many samples as further histograms. */
static void put_wide(struct gprof *g, struct gmon *m, FILE *f)
{
	uint32_t next = 0, i;
	size_t from = 0, at;

	for (i = 0; i < m->nused; i++) {
		if (m->bin[i].count <= UINT16_MAX)
			continue;
		at = m->bin[i].at;
		if (at > from)
			put_histogram(g, m, f, from, at, next);
		while (m->bin[i].count)
			put_histogram(g, m, f, at, at + 1, i);
		from = at + 1;
		next = i + 1;
	}
	if (from < m->nbins)
		put_histogram(g, m, f, from, m->nbins, next);
}

static int compare_bins(const void *a, const void *b)
{
	const struct gmon_bin *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void put_gmon(struct gprof *g, struct gmon *m, FILE *f)
{
	static const char head[20] = "gmon\1";
	uint32_t i;

	if (m->nused)
		qsort(m->bin, m->nused, sizeof(*m->bin), compare_bins);
	fwrite(head, sizeof(head), 1, f);
	if (g->l->o->gprof_wide) {
		put_wide(g, m, f);
	} else {
		put_histogram(g, m, f, 0, m->nbins, 0);
		for (i = 0; i < m->nused; i++)
			g->cut += m->bin[i].count != 0;
	}
	for (i = 0; i < m->n; i++) {
		const struct gmon_arc *a = &m->arc[i];

		putc(TAG_ARC, f);
		put64(f, a->from);
		put64(f, a->to);
		put32(f, a->count < UINT32_MAX ? (uint32_t)a->count :
						 UINT32_MAX);
	}
}

/* Makes a file name of a name from the log: without '/', and not hidden. */
static char *file_name(const char *name)
{
	char shown[SHOWN_MAX], *s, *p;

	/* without control characters: messages and terminals show it, too */
	s = xstrdup(shown_name(shown, *name ? name : "_", false));
	for (p = s; *p; p++)
		if (*p == '/' || *p == '\\')
			*p = '_';
	if (*s == '.')
		*s = '_';
	return s;
}

static const char *top_dir(const struct reading *o)
{
	return o->gprof_dir ? o->gprof_dir : ".";
}

/* Directory for the profiles of an event */
static char *dir_of(const struct reading *o, const char *name)
{
	char *event = file_name(name);
	char *dir = xasprintf("%s/%s", top_dir(o), event);

	free(event);
	return dir;
}

/*
 * image.gmon, or image~NNN.gmon, as in FreeBSD.  Events can share a directory: one
 * event with two periods, or names that differ in a slash only.
 */
static void name_gmon(struct gprof *g, struct gmon *m, const char *dir)
{
	const struct object *o = &g->l->p.objs.obj[m->image];
	char *base = file_name(o->kind == OBJ_KERNEL ? "kernel" :
			       strtab_str(&g->l->p.str, o->brief));
	char *path = xasprintf("%s/%.200s", dir, base);
	uint32_t stem = strtab_id(&g->stems, path), known, n;

	g->tries = xgrow_zero(g->tries, &g->ntries, stem, 16, sizeof(*g->tries));
	do {
		free(m->name);
		free(path);
		n = g->tries[stem]++;
		m->name = n ? xasprintf("%.200s~%03u.gmon", base, n) :
			      xasprintf("%.200s.gmon", base);
		path = xasprintf("%s/%s", dir, m->name);
		known = g->files.n;
	} while (strtab_id(&g->files, path) < known);
	free(path);
	free(base);
}

/*
 * What is in the directory of an event may be another user's, a link for example: the
 * file is a new one, which takes the place of what has the name.
 */
static FILE *open_new(const char *path, char **temp)
{
	FILE *f = NULL;
	int fd;

	*temp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, tempfile_mode()))
		f = fdopen(fd, "w");
	if (f) {
		tempfile_guard(*temp);
		return f;
	}
	warn_line("cannot open %s: %s", path, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(*temp);
	}
	free(*temp);
	return NULL;
}

static int close_new(FILE *f, const char *path, char *temp)
{
	int status = text_close(f, path);

	if (!status && rename(temp, path)) {
		warn_line("cannot write %s: %s", path, strerror(errno));
		status = EX_IOERR;
	}
	if (status)
		unlink(temp);
	tempfile_forget(temp);
	return status;
}

/*
 * False, with a message: a link leads to where the user has not named, and can be another's,
 * or come with the recording.
 */
static bool is_no_link(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) || !S_ISLNK(st.st_mode))
		return true;
	warn_line("-g %s: it is a link; name another directory with -D", dir);
	return false;
}

static int write_gmon(struct gprof *g, struct gmon *m)
{
	const struct event *e = &g->l->p.events.event[m->event];
	char *dir = dir_of(g->l->o, strtab_str(&g->l->p.str, e->name));
	char *path, *temp;
	int status = EX_CANTCREAT;
	FILE *f;

	name_gmon(g, m, dir);
	path = xasprintf("%s/%s", dir, m->name);
	if (mkdir(dir, 0777) && errno != EEXIST) {
		warn_line("cannot make %s: %s", dir, strerror(errno));
	} else if (is_no_link(dir) && (f = open_new(path, &temp))) {
		put_gmon(g, m, f);
		status = close_new(f, path, temp);
	}
	free(dir);
	free(path);
	return status;
}

static int check_dir(const struct reading *o, const char *name)
{
	char *dir = dir_of(o, name);
	int status = EX_CANTCREAT;

	/* let the file system decide which names are valid */
	if (!mkdir(dir, 0777)) {
		rmdir(dir);
		status = 0;
	} else if (errno != EEXIST) {
		warn_line("cannot make %s: %s", dir, strerror(errno));
	} else if (!directory_check("-g", dir, status)) {
		if (euidaccess(dir, W_OK | X_OK))
			warn_line("cannot write to %s: %s", dir,
				  strerror(errno));
		else
			status = 0;
	}
	free(dir);
	return status;
}

int read_gprof_check(const struct reading *o, const char *const *events,
		     size_t n)
{
	int status = directory_check("-D", top_dir(o), EX_CANTCREAT);
	size_t i;

	for (i = 0; i < n && !status; i++)
		status = check_dir(o, events[i]);
	return status ? status : output_check(o->gprof_map);
}

/* As FreeBSD: "image" => "file" event/samples ... */
static int write_map(struct gprof *g)
{
	const char *path = g->l->o->gprof_map;
	char image[NAME_MAX_SHOWN], event[NAME_MAX_SHOWN];
	uint32_t i;
	FILE *f;

	if (!path)
		return 0;
	f = text_open(path);
	if (!f)
		return EX_CANTCREAT;
	for (i = 0; i < g->n; i++) {
		const struct gmon *m = g->gmon[i];
		const struct event *e = &g->l->p.events.event[m->event];

		if (!m->samples)
			continue;
		fprintf(f, "\"%s\" => \"%s\" %s/%llu\n",
			log_image(g->l, m->image, image), m->name,
			shown_str(event, &g->l->p.str, e->name), (unsigned long long)m->samples);
	}
	return text_close(f, path);
}

static void free_gmon(struct gmon *m)
{
	free(m->bin);
	free(m->arc);
	free(m->name);
	idtab_free(&m->tab);
	idtab_free(&m->bintab);
	free(m);
}

int read_gprof(struct log *l)
{
	struct gprof g = { .l = l };
	int status = 0;
	uint32_t i;

	strtab_init(&g.files);
	strtab_init(&g.stems);
	for (i = 0; i < l->p.chains.n; i++)
		add_chain(&g, &l->p.chains.chain[i]);
	for (i = 0; i < g.n && !status; i++)
		if (g.gmon[i]->samples)
			status = write_gmon(&g, g.gmon[i]);
	if (!status)
		status = write_map(&g);
	if (g.cut && !l->o->quiet)
		warn_line("%llu %s more samples than 16 bits hold: use -e",
			  (unsigned long long)g.cut,
			  plural(g.cut, "place has", "places have"));
	if (g.left_out && !l->o->quiet)
		warn_line("%llu %s in no file that gprof could read",
			  (unsigned long long)g.left_out,
			  plural(g.left_out, "sample is", "samples are"));
	for (i = 0; i < g.n; i++)
		free_gmon(g.gmon[i]);
	free(g.gmon);
	idtab_free(&g.tab);
	strtab_free(&g.files);
	strtab_free(&g.stems);
	free(g.tries);
	return status;
}
