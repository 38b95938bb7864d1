/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded modules, from /proc/modules, /sys/module and modules.dep. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_event.h"
#include "reader/base/order.h"
#include "sideband/modules.h"

#define PAGE		4096ULL		/* the smallest page size */

static int is_text(const char *name)
{
	return strstr(name, ".text") && strncmp(name, ".rodata", 7);
}

/* Sections that the kernel places in the same allocation as the text */
static int is_code(const char *name)
{
	return is_text(name) || !strncmp(name, ".altinstr_", 10) ||
	       !strcmp(name, ".plt") || !strcmp(name, ".fixup");
}

static void add_section(struct module *m, const char *name, uint64_t addr)
{
	struct section *s;

	s = realloc(m->sections, (m->nsections + 1) * sizeof(*s));
	if (!s)
		return;
	m->sections = s;
	s += m->nsections;
	s->name = strdup(name);
	if (!s->name)
		return;
	s->addr = addr;
	s->code = is_code(name);
	s->text = is_text(name);
	m->nsections++;
}

/* Skips .init*: these sections are freed once the module has started. */
static void read_sections(struct module *m, const char *root)
{
	char path[PATH_MAX], text[32];
	struct dirent *e;
	uint64_t addr;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/module/%s/sections", root,
		 m->name);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (!strncmp(e->d_name, ".init", 5) ||
		    pmc_file_text(text, sizeof(text), "%s/sys/module/%s/sections/%s", root,
				  m->name, e->d_name) < 0)
			continue;
		addr = strtoull(text, NULL, 16);
		if (addr)
			add_section(m, e->d_name, addr);
	}
	if (dir)
		closedir(dir);
}

/* Parses a line of /proc/modules: name, size, users, by whom, state, address. */
static int parse_line(char *line, struct module *m)
{
	char *field[6], *save = NULL;
	size_t i;

	for (i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return -1;
	}
	if (strlen(field[0]) >= sizeof(m->name) || strchr(field[0], '/'))
		return -1;
	memset(m, 0, sizeof(*m));
	strcpy(m->name, field[0]);
	m->len = strtoull(field[1], NULL, 10);
	m->start = strtoull(field[5], NULL, 16);
	return m->start ? 0 : -1;	/* hidden by kptr_restrict */
}

static void read_list(struct modules *mods, const char *root)
{
	char path[PATH_MAX], *text, *line, *next;
	struct module m, *grown;

	snprintf(path, sizeof(path), "%s/proc/modules", root);
	text = pmc_file_all(path, NULL);
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (parse_line(line, &m))
			continue;
		grown = realloc(mods->module, (mods->n + 1) * sizeof(m));
		if (!grown)
			break;
		mods->module = grown;
		mods->module[mods->n++] = m;
	}
	free(text);
}

/* Names in modules.dep have '-' for '_', and end in ".ko", ".ko.xz", ... */
static int is_file_of(const char *file, size_t len, const char *name)
{
	size_t n = strlen(name), i;

	if (len < n + 3 || strncmp(file + n, ".ko", 3))
		return 0;
	for (i = 0; i < n; i++)
		if ((file[i] == '-' ? '_' : file[i]) != name[i])
			return 0;
	return len == n + 3 || file[n + 3] == '.';
}

static char *find_path(const char *dep, const char *root, const char *release,
		       const char *name)
{
	const char *line, *colon, *base, *p;
	char path[PATH_MAX];
	int n, skip = (int)strlen(root);

	for (line = dep; line && *line; line = p ? p + 1 : NULL) {
		p = strchr(line, '\n');
		colon = strchr(line, ':');
		if (!colon)
			return NULL;
		base = memrchr(line, '/', (size_t)(colon - line));
		base = base ? base + 1 : line;
		if (!is_file_of(base, (size_t)(colon - base), name))
			continue;
		n = *line == '/' ?
			snprintf(path, sizeof(path), "%s%.*s", root,
				 (int)(colon - line), line) :
			snprintf(path, sizeof(path), "%s/lib/modules/%s/%.*s",
				 root, release, (int)(colon - line), line);
		if (n < (int)sizeof(path) && !access(path, R_OK))
			return strdup(path + skip);
	}
	return NULL;
}

static void find_paths(struct modules *mods, const char *root,
		       const char *release)
{
	char path[PATH_MAX], *dep;
	size_t i;

	snprintf(path, sizeof(path), "%s/lib/modules/%s/modules.dep", root,
		 release);
	dep = pmc_file_all(path, NULL);
	for (i = 0; dep && i < mods->n; i++)
		mods->module[i].path = find_path(dep, root, release,
						 mods->module[i].name);
	free(dep);
}

DEFINE_ORDER(by_start, struct module, ORDER(a->start, b->start))

static void lower(uint64_t *end, uint64_t last, uint64_t addr)
{
	addr &= ~(PAGE - 1);
	if (addr > last && addr < *end)
		*end = addr;
}

/* The highest known address of code in the module */
static uint64_t last_code(const struct module *m)
{
	uint64_t last = m->start, addr;
	size_t i;

	for (i = 0; i < m->nsections; i++) {
		addr = m->sections[i].addr;
		if (m->sections[i].code && addr > last &&
		    addr - m->start < m->len)
			last = addr;
	}
	return last;
}

/*
 * /proc/modules has the size of text and data together, which may be far apart.
 * So the text ends at the latest where the next known area begins.
 */
static uint64_t text_len(const struct modules *mods, const struct module *m)
{
	uint64_t end = m->start + m->len, last = last_code(m);
	const struct module *o;
	size_t i, j;

	if (end < m->start)
		return 0;
	for (i = 0; i < mods->n; i++) {
		o = &mods->module[i];
		lower(&end, last, o->start);
		for (j = 0; j < o->nsections; j++)
			if (!o->sections[j].code)
				lower(&end, last, o->sections[j].addr);
	}
	return end - m->start;
}

void modules_read(struct modules *mods, const char *root, const char *release)
{
	size_t i;

	memset(mods, 0, sizeof(*mods));
	read_list(mods, root);
	if (!mods->n)
		return;
	qsort(mods->module, mods->n, sizeof(*mods->module), by_start);
	for (i = 0; i < mods->n; i++)
		read_sections(&mods->module[i], root);
	for (i = 0; i < mods->n; i++)
		mods->module[i].len = text_len(mods, &mods->module[i]);
	find_paths(mods, root, release);
}

void module_free(struct module *m)
{
	size_t i;

	for (i = 0; i < m->nsections; i++)
		free(m->sections[i].name);
	free(m->sections);
	free(m->path);
}

void modules_free(struct modules *mods)
{
	size_t i;

	for (i = 0; i < mods->n; i++)
		module_free(&mods->module[i]);
	free(mods->module);
	memset(mods, 0, sizeof(*mods));
}
