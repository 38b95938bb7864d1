// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/segs.h"
#include "profile/jitmap.h"
#include "profile/jitplace.h"

#define SIZE_LIMIT	((off_t)256 << 20)
#define LINE_LIMIT	65536	/* the rest of a line is left out */
#define SYMS_LIMIT	(4U << 20)

/**
 * struct maplines - the lines of a map; of two that overlap the later is valid
 * @name: offset of each line's name in the names
 */
struct maplines {
	struct segs segs;
	size_t *name;
	uint32_t n, cap;
	char *names;
	size_t len, size;
};

/* ------------------------------------------------------------------------
 * Finding it
 */
static int open_map(const struct profile *p, const struct jitplace *at,
		    const char **why)
{
	char path[48];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", at->inner);
	return jitplace_open(p, at, path, why);
}

bool jitmap_exists(struct profile *p, uint32_t pid)
{
	struct jitplace at;
	const char *why;
	int fd;

	if (!pid || pid == PMCLOG_PID_KERNEL || !jitplace_find(p, pid, &at))
		return false;
	fd = open_map(p, &at, &why);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || strcmp(why, "no such file");
}

/* ------------------------------------------------------------------------
 * Reading it
 */
static size_t add_name(struct maplines *l, const char *name)
{
	size_t len = strlen(name) + 1, at = l->len;

	while (l->size - l->len < len) {
		l->size = l->size ? 2 * l->size : 65536;
		l->names = xreallocarray(l->names, l->size, 1);
	}
	memcpy(l->names + at, name, len);
	l->len += len;
	return at;
}

/* "START SIZE name to the end of the line", hexadecimal */
static void take_line(struct maplines *l, char *s)
{
	uint64_t start, size;
	char *end;

	s[strcspn(s, "\r\n")] = '\0';
	start = strtoull(s, &end, 16);
	if (end == s || *end != ' ')
		return;
	s = end + 1;
	size = strtoull(s, &end, 16);
	if (end == s || *end != ' ' || !size || !end[1])
		return;
	GROW(l->name, l->n, l->cap);
	l->name[l->n] = add_name(l, end + 1);
	segs_add(&l->segs, start, start + size < start ? UINT64_MAX :
		 start + size, l->n++);
}

/* The next @LINE_LIMIT bytes of a line; *@cut: it goes on. */
static bool next_part(FILE *f, char *part, bool *cut)
{
	char *last = part + LINE_LIMIT - 2;
	bool got;

	*last = '\0';
	got = fgets(part, LINE_LIMIT, f);
	*cut = got && *last && *last != '\n';
	return got;
}

/* The file may grow while it is read. */
static bool next_line(FILE *f, char *line)
{
	char rest[LINE_LIMIT];
	bool cut;

	if (ftello(f) >= SIZE_LIMIT || !next_part(f, line, &cut))
		return false;
	while (cut && ftello(f) < SIZE_LIMIT)
		next_part(f, rest, &cut);
	return true;
}

static void add_all(struct symtab *t, struct maplines *l)
{
	size_t i;

	segs_flatten(&l->segs);
	for (i = 0; i < l->segs.n; i++) {
		const struct seg *g = &l->segs.seg[i];
		struct sym s = {
			.start = g->start, .end = g->end, .rank = SYM_GLOBAL,
			.name = l->names + l->name[g->owner],
		};

		symtab_add(t, &s);
	}
}

int jitmap_open(const struct profile *p, uint32_t pid, const char **why)
{
	struct jitplace at;
	int fd;

	*why = "there is no such file here";
	fd = jitplace_find(p, pid, &at) ? open_map(p, &at, why) : -1;
	if (fd < 0)
		return -1;
	*why = jitplace_why_not(p, &at, pid, fd, JIT_MAP);
	if (!*why)
		return fd;
	close(fd);
	return -1;
}

const char *jitmap_load(struct symtab *t, const struct profile *p,
			uint32_t pid)
{
	struct maplines l = { 0 };
	const char *why;
	char *line;
	FILE *f;
	int fd;

	fd = jitmap_open(p, pid, &why);
	if (fd < 0)
		return why;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return "its map can't be read";
	}
	line = xmalloc(LINE_LIMIT);
	while (l.n < SYMS_LIMIT && next_line(f, line))
		take_line(&l, line);
	fclose(f);
	if (l.n)
		add_all(t, &l);
	why = l.n ? NULL : "its map is empty";
	free(line);
	segs_free(&l.segs);
	free(l.name);
	free(l.names);
	return why;
}
