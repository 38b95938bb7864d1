/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the log needs and only user space can read: where the modules that are
 * loaded already came from, where their sections lie, and build-ids.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modules.h"

#define BATCH_MAX	65536
#define NOTE_GNU_BUILD_ID 3

/**
 * struct batch - records that wait to be written together
 * @failed: a write failed: nothing more is written
 */
struct batch {
	struct metadata_sink *sink;
	size_t		len;
	int		failed;
	unsigned char	data[BATCH_MAX];
};

/**
 * struct record - one record in the making
 * @full: a string was too long: it is dropped
 */
struct record {
	uint32_t	len;
	int		full;
	unsigned char	data[PMCLOG_RECORD_MAX];
};

static void batch_flush(struct batch *b)
{
	if (b->len && !b->failed)
		b->failed = b->sink->write(b->sink->arg, b->data, b->len) != 0;
	b->len = 0;
}

/* Begins a record with the fixed part of its type. */
static void record_begin(struct record *r, const void *fixed, size_t len)
{
	memset(r, 0, sizeof(*r));
	memcpy(r->data, fixed, len);
	r->len = (uint32_t)len;
}

static void record_string(struct record *r, const char *s)
{
	size_t len = strlen(s) + 1;

	if (len > sizeof(r->data) - r->len) {
		r->full = 1;
		return;
	}
	memcpy(r->data + r->len, s, len);
	r->len += (uint32_t)len;
}

static void record_end(struct record *r, uint32_t type, struct batch *b)
{
	struct metadata_sink *sink = b->sink;
	uint32_t header;

	r->len = (r->len + 3) & ~3U;
	if (r->full || r->len > sink->budget) {
		sink->dropped++;
		return;
	}
	header = PMCLOG_HEADER(type, r->len);
	memcpy(r->data, &header, sizeof(header));
	if (b->len + r->len > sizeof(b->data))
		batch_flush(b);
	memcpy(b->data + b->len, r->data, r->len);
	b->len += r->len;
	sink->budget -= r->len;
}

static struct pmclog_ext ext(enum pmclog_ext_subtype subtype)
{
	return (struct pmclog_ext){
		.cookie = PMCLOG_EXT_COOKIE,
		.subtype = (uint16_t)subtype,
	};
}

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
		.e = ext(PMCLOG_EXT_MODULE), .start = m->start, .len = m->len,
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
		.e = ext(PMCLOG_EXT_SECTION), .addr = s->addr,
	};
	struct record r;

	record_begin(&r, &fixed, offsetof(struct pmclog_ext_section, names));
	record_string(&r, m->name);
	record_string(&r, s->name);
	record_end(&r, PMCLOG_T_USERDATA, b);
}

/* Finds the GNU build-id among ELF notes; NULL when there is none. */
static const unsigned char *find_build_id(const unsigned char *p, size_t len,
					  uint32_t *idlen)
{
	uint32_t note[3];	/* lengths of name and descriptor, type */
	size_t name, desc;

	while (len >= sizeof(note)) {
		memcpy(note, p, sizeof(note));
		p += sizeof(note);
		len -= sizeof(note);
		name = ((size_t)note[0] + 3) & ~(size_t)3;
		desc = ((size_t)note[1] + 3) & ~(size_t)3;
		if (name > len || note[1] > len - name)
			return NULL;
		if (note[2] == NOTE_GNU_BUILD_ID && note[0] == 4 &&
		    !memcmp(p, "GNU", 4)) {
			*idlen = note[1];
			return p + name;
		}
		if (desc > len - name)
			return NULL;
		p += name + desc;
		len -= name + desc;
	}
	return NULL;
}

static void add_build_id(struct batch *b, const char *name,
			 const char *notes_path)
{
	struct pmclog_ext_buildid fixed = { .e = ext(PMCLOG_EXT_BUILDID) };
	const unsigned char *id;
	unsigned char *notes;
	struct record r;
	size_t len;

	notes = file_read(notes_path, &len);
	if (!notes)
		return;
	id = find_build_id(notes, len, &fixed.len);
	if (id && fixed.len && fixed.len <= sizeof(fixed.id)) {
		memcpy(fixed.id, id, fixed.len);
		record_begin(&r, &fixed,
			     offsetof(struct pmclog_ext_buildid, name));
		record_string(&r, name);
		record_end(&r, PMCLOG_T_USERDATA, b);
	}
	free(notes);
}

static void add_modules(struct batch *b, const char *root,
			const struct modules *mods)
{
	const struct module *m;
	char path[PATH_MAX];
	size_t i;

	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	add_build_id(b, "[kernel]", path);
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

/* Last, as they are what can be done without when there is no room. */
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
	add_modules(b, root, &mods);
	add_sections(b, &mods);
	batch_flush(b);
	failed = b->failed;
	modules_free(&mods);
	free(b);
	return failed ? -1 : 0;
}
