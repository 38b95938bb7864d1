/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metadata that only user space can read: the files of the modules loaded
 * already, the addresses of their sections, and build-ids.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "output/batch.h"
#include "libpmc_elfid.h"
#include "libpmc_event.h"
#include "sideband/modules.h"

static void add_map_in(struct batch *b, const struct module *m)
{
	struct pmclog_map_in fixed = {
		.pid = PMCLOG_PID_KERNEL, .start = m->start,
	};
	char brackets[sizeof(m->name) + 2];
	const char *path = m->path;
	struct record r;

	if (!path || strlen(path) >= PMCLOG_PATH_MAX) {
		snprintf(brackets, sizeof(brackets), "[%s]", m->name);
		path = brackets;
	}
	record_begin(&r, &fixed, offsetof(struct pmclog_map_in, path));
	record_string(&r, path);
	record_end(&r, PMCLOG_T_MAP_IN, b);
}

static void add_module(struct batch *b, const struct module *m)
{
	struct pmclog_ext_module fixed = {
		.e = record_ext(PMCLOG_EXT_MODULE), .start = m->start, .len = m->len,
	};
	struct record r;

	record_begin(&r, &fixed, offsetof(struct pmclog_ext_module, name));
	record_string(&r, m->name);
	record_end(&r, PMCLOG_T_USERDATA, b);
}

static void add_section(struct batch *b, const struct module *m,
			const struct section *s)
{
	struct pmclog_ext_section fixed = {
		.e = record_ext(PMCLOG_EXT_SECTION), .addr = s->addr,
	};
	struct record r;

	record_begin(&r, &fixed, offsetof(struct pmclog_ext_section, names));
	record_string(&r, m->name);
	record_string(&r, s->name);
	record_end(&r, PMCLOG_T_USERDATA, b);
}

static void add_build_id(struct batch *b, const char *name,
			 const char *notes_path)
{
	const unsigned char *id;
	unsigned char *notes;
	uint32_t n = 0;
	size_t len;

	notes = (void *)pmc_file_all(notes_path, &len);
	if (!notes)
		return;
	id = pmc_elfid_in_notes(notes, len, &n);
	if (id)
		batch_build_id(b, name, id, n);
	free(notes);
}

static uint64_t hash_bytes(uint64_t h, const void *p, size_t len)
{
	const unsigned char *c = p;

	while (len--)
		h = (h ^ *c++) * 0x100000001B3ULL;
	return h;
}

/* A hash of what the log has of a module: FNV-1a */
static uint64_t hash_module(const struct module *m)
{
	uint64_t h = 0xCBF29CE484222325ULL;

	h = hash_bytes(h, m->name, strlen(m->name));
	h = hash_bytes(h, &m->start, sizeof(m->start));
	return hash_bytes(h, &m->len, sizeof(m->len));
}

/* True if the log has it already; otherwise it is marked as written. */
static int is_told(struct told *t, uint64_t what)
{
	uint64_t *hash;
	size_t i;

	if (!t)
		return 0;
	for (i = 0; i < t->n; i++)
		if (t->hash[i] == what)
			return 1;
	hash = realloc(t->hash, (t->n + 1) * sizeof(*hash));
	if (hash) {
		hash[t->n++] = what;
		t->hash = hash;
	}
	return 0;
}

/* Keeps only the modules that are not in the log yet. */
static void forget_told(struct modules *mods, struct told *told)
{
	size_t i, n = 0;

	for (i = 0; i < mods->n; i++) {
		if (is_told(told, hash_module(&mods->module[i])))
			module_free(&mods->module[i]);
		else
			mods->module[n++] = mods->module[i];
	}
	mods->n = n;
}

static void add_modules(struct batch *b, const char *root,
			const struct modules *mods)
{
	const struct module *m;
	char path[PATH_MAX];
	size_t i;

	if (!is_told(b->sink->told, 0)) {	/* 0: the kernel */
		snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
		add_build_id(b, "[kernel]", path);
	}
	for (i = 0; i < mods->n; i++) {
		m = &mods->module[i];
		add_map_in(b, m);
		add_module(b, m);
		snprintf(path, sizeof(path),
			 "%s/sys/module/%s/notes/.note.gnu.build-id",
			 root, m->name);
		add_build_id(b, m->name, path);
	}
}

/* Sections come last: they are the least important if the room is limited. */
static void add_sections(struct batch *b, const struct modules *mods)
{
	const struct module *m;
	size_t i, j;

	for (i = 0; i < mods->n; i++) {
		m = &mods->module[i];
		for (j = 0; j < m->nsections; j++)
			if (m->sections[j].text)
				add_section(b, m, &m->sections[j]);
	}
}

int metadata_send(const char *root, const char *release,
		  struct metadata_sink *sink)
{
	struct modules mods;
	struct batch *b = calloc(1, sizeof(*b));
	int failed;

	if (!b)
		return -1;
	b->sink = sink;
	modules_read(&mods, root, release);
	forget_told(&mods, sink->told);
	add_modules(b, root, &mods);
	add_sections(b, &mods);
	batch_flush(b);
	failed = b->failed;
	modules_free(&mods);
	free(b);
	return failed ? -1 : 0;
}
