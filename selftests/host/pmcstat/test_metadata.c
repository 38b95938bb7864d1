/* SPDX-License-Identifier: BSD-2-Clause */
/* Records made from a tree that looks like /proc, /sys and /lib. */
#include <pmclog_iter.h>

#include "faketree.h"
#include "sideband/modules.h"
#include "tap.h"

#define SECTIONS	"sys/module/snd_foo/sections/"

/* What was sent last */
static struct {
	unsigned char	*data;
	size_t		len;
	size_t		largest;	/* write */
} sent;

static struct metadata_sink sink;

static int collect(void *arg, const void *records, size_t len)
{
	sent.data = realloc(sent.data, sent.len + len);
	memcpy(sent.data + sent.len, records, len);
	sent.len += len;
	if (len > sent.largest)
		sent.largest = len;
	return 0;
}

static int refuse(void *arg, const void *records, size_t len)
{
	errno = E2BIG;
	return -1;
}

#define BUDGET	(1 << 20)

static int send_of(const char *root, size_t budget,
		   int (*write)(void *arg, const void *records, size_t len))
{
	free(sent.data);
	memset(&sent, 0, sizeof(sent));
	sink = (struct metadata_sink){ .write = write, .budget = budget };
	return metadata_send(root, "6.1", &sink);
}

static void put_notes(const char *path, unsigned char first)
{
	unsigned char notes[12 + 8 + 4 + 12 + 4 + 20] = { 0 };
	uint32_t other[3] = { 6, 4, 0x100 }, gnu[3] = { 4, 20, 3 };

	memcpy(notes, other, 12);
	memcpy(notes + 12, "Linux", 6);
	memcpy(notes + 24, gnu, 12);
	memcpy(notes + 36, "GNU", 4);
	memset(notes + 40, first, 20);
	put_bytes(path, notes, sizeof(notes));
}

static void make_tree(void)
{
	put("snd_foo 20480 1 bar, Live 0xffffffffc0200000 (OE)\n"
	    "bar 40960 0 - Live 0xffffffffc0100000\n"
	    "hidden 4096 0 - Live 0x0000000000000000\n"
	    "../../etc 4096 0 - Live 0xffffffffc0300000\n"
	    "short line\n"
	    "away 8192 0 - Live 0xffffffffc0400000\n", "proc/modules");
	put("kernel/sound/snd-foo.ko.xz: kernel/bar.ko\n"
	    "kernel/snd_foobar.ko:\n"
	    "kernel/bar.ko:\n"
	    "kernel/away.ko:\n", "lib/modules/6.1/modules.dep");
	put("x", "lib/modules/6.1/kernel/sound/snd-foo.ko.xz");
	put("x", "lib/modules/6.1/kernel/bar.ko");
	put("0xffffffffc0200000\n", SECTIONS ".text");
	put("0xffffffffc0202100\n", SECTIONS ".exit.text");
	put("0xffffffffc0201000\n", SECTIONS ".init.text");
	put("0xffffffffc0202200\n", SECTIONS ".altinstr_replacement");
	put("0xffffffffc0203040\n", SECTIONS ".rodata.text");
	put("0x0000000000000000\n", "sys/module/bar/sections/.text");
	put_notes("sys/kernel/notes", 0xaa);
	put_notes("sys/module/snd_foo/notes/.note.gnu.build-id", 0xbb);
	put_bytes("sys/module/bar/notes/.note.gnu.build-id",
		  "\4\0\0\0\377\377\377\377\3\0\0\0GNU", 16);
}

static const char *string_at(const struct pmclog_rec *r, size_t offset)
{
	return (const char *)r->data + offset;
}

/* One word a record, to compare with what should be there. */
static void describe(const struct pmclog_rec *r, char *out, size_t len)
{
	struct pmclog_ext e;
	const char *name;

	if (r->type == PMCLOG_T_MAP_IN) {
		snprintf(out, len, "map %llx %s\n", (unsigned long long)
			 PMCLOG_FIELD64(r, struct pmclog_map_in, start),
			 string_at(r, offsetof(struct pmclog_map_in, path)));
		return;
	}
	memcpy(&e, r->data, sizeof(e));
	switch (e.subtype) {
	case PMCLOG_EXT_MODULE:
		snprintf(out, len, "module %llx+%llx %s\n", (unsigned long long)
			 PMCLOG_FIELD64(r, struct pmclog_ext_module, start),
			 (unsigned long long)
			 PMCLOG_FIELD64(r, struct pmclog_ext_module, len),
			 string_at(r, offsetof(struct pmclog_ext_module,
					       name)));
		return;
	case PMCLOG_EXT_SECTION:
		name = string_at(r, offsetof(struct pmclog_ext_section, names));
		snprintf(out, len, "section %llx %s %s\n", (unsigned long long)
			 PMCLOG_FIELD64(r, struct pmclog_ext_section, addr),
			 name, name + strlen(name) + 1);
		return;
	case PMCLOG_EXT_BUILDID:
		snprintf(out, len, "build-id %u %02x %s\n",
			 PMCLOG_FIELD32(r, struct pmclog_ext_buildid, len),
			 r->data[offsetof(struct pmclog_ext_buildid, id)],
			 string_at(r, offsetof(struct pmclog_ext_buildid,
					       name)));
		return;
	default:
		snprintf(out, len, "?\n");
	}
}

/* A log of its own: these records never come first. */
static char *describe_all(void)
{
	struct pmclog_initialize init = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_INITIALIZE, sizeof(init)),
		.version = PMCLOG_VERSION, .cputype = PMCLOG_CPUTYPE_GENERIC,
		.tsc_freq = 1000000000,
	};
	struct pmclog_iter *it = pmclog_iter_new();
	enum pmclog_iter_status status;
	static char text[1 << 20];
	struct pmclog_rec r;
	size_t n = 0;

	text[0] = '\0';
	if (pmclog_iter_feed(it, &init, sizeof(init)) ||
	    pmclog_iter_feed(it, sent.data, sent.len))
		return strcpy(text, "error: feed\n");
	pmclog_iter_next(it, &r);
	while ((status = pmclog_iter_next(it, &r)) == PMCLOG_ITER_RECORD) {
		describe(&r, text + n, sizeof(text) - n);
		n += strlen(text + n);
	}
	if (status == PMCLOG_ITER_ERROR)
		snprintf(text, sizeof(text), "error: %s\n",
			 pmclog_iter_error(it, NULL));
	pmclog_iter_close(it);
	return text;
}

static int has(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p && (p == text || p[-1] == '\n');
}

static void test_tree(void)
{
	char *text;

	ok(!send_of(scratch, BUDGET, collect) && !sink.dropped &&
	   sink.budget == BUDGET - sent.len, "records of a tree");
	text = describe_all();
	ok(has(text, "build-id 20 aa [kernel]\n"), "the kernel's build-id");
	ok(has(text, "map ffffffffc0200000 "
	       "/lib/modules/6.1/kernel/sound/snd-foo.ko.xz\n"),
	   "a module's file, '-' for '_', compressed");
	ok(has(text, "map ffffffffc0400000 [away]\n"),
	   "a module whose file is away");
	ok(has(text, "module ffffffffc0200000+3000 snd_foo\n"),
	   "text ends where data begins");
	ok(has(text, "module ffffffffc0100000+a000 bar\n"),
	   "without sections: all of it");
	ok(has(text, "build-id 20 bb snd_foo\n") &&
	   !strstr(text, "bb bar") && !strstr(text, "ff bar"),
	   "build-ids, and none from broken notes");
	ok(has(text, "section ffffffffc0202100 snd_foo .exit.text\n") &&
	   !strstr(text, ".init.text") && !strstr(text, ".rodata") &&
	   !strstr(text, ".altinstr"),
	   "sections of code that stays");
	ok(!strstr(text, "hidden") && !strstr(text, "etc") &&
	   !strstr(text, "section 0"), "hidden and strange lines are skipped");
	ok(strstr(text, "build-id 20 bb") < strstr(text, "section "),
	   "sections come last");
	if (tap_failed)
		printf("# %s", text);
}

static void test_budget(void)
{
	size_t budget, full, bad = 0;

	send_of(scratch, BUDGET, collect);
	full = sent.len;
	for (budget = 0; budget < full + 8; budget += 4) {
		bad += send_of(scratch, budget, collect) || sent.len > budget ||
		       (sink.dropped != 0) != (sent.len < full);
		bad += !strncmp(describe_all(), "error", 5);
	}
	ok(!bad, "the budget is kept, records stay whole");
}

static void test_failure(void)
{
	ok(send_of(scratch, BUDGET, refuse) == -1 && errno == E2BIG,
	   "an error of the log is passed on");
}

static void test_many(void)
{
	static char text[1 << 20];
	size_t n = 0, i, mods = 0;
	char *p;

	for (i = 0; i < 4000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "mod%zu 4096 0 - Live 0x%zx\n", i,
				      (size_t)0xc0000000 + i * 8192);
	put_bytes("proc/modules", text, n);
	ok(!send_of(scratch, BUDGET, collect) && sent.largest <= 65536 &&
	   sent.len > 65536, "many modules go in several writes");
	p = describe_all();
	for (; (p = strstr(p, "\nmodule ")); p++)
		mods++;
	ok(mods > 500, "%zu of them described", mods);
}

static void test_nothing(void)
{
	ok(!send_of("/nonexistent", BUDGET, collect) && !sent.len,
	   "no tree, no records, no error");
}

/* Noise where the kernel's files should be. */
static void test_noise(void)
{
	unsigned char noise[3000];
	size_t n, i, bad = 0;

	srand(2);
	for (n = 0; n < 300; n++) {
		for (i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)(rand() % 4 ? rand() % 8 :
						   rand());
		put_bytes("sys/kernel/notes", noise, n);
		put_bytes("lib/modules/6.1/modules.dep", noise, sizeof(noise));
		memcpy(noise, "a 1 2 3 4 0xffff\nb 1 1 1 1 0x1\n", 31);
		put_bytes("proc/modules", noise, sizeof(noise));
		bad += send_of(scratch, BUDGET, collect) != 0;
		bad += !strncmp(describe_all(), "error", 5);
	}
	ok(!bad, "noise makes sound records or none");
}

int main(void)
{
	scratch_begin();
	make_tree();
	test_tree();
	test_budget();
	test_failure();
	test_nothing();
	test_many();
	test_noise();
	free(sent.data);
	scratch_end();
	return done();
}
