// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog archive: a log with the files that its names come from.
 *
 * A log may name anything.  What is packed are ELF files that samples were
 * taken in, and that would be used for names here: regular, with the build-id
 * that was logged; their debug files; names of code made at run time; the
 * kernel's symbols.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>
#include <elfutils/libdwelf.h>

#include "analysis/analysis.h"
#include "analysis/objsyms.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/samefile.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/tarfile.h"
#include "elf/altfile.h"
#include "log/input.h"
#include "profile/jitmap.h"

#define KALLSYMS_MAX	((size_t)256 << 20)

static const char usage[] =
"usage: pmclog archive [-k KERNEL] [-r ROOT] [-o OUT] FILE\n"
"Packs a log with the files that names of functions come from, to be read on\n"
"another machine: the programs and libraries that have samples, their debug\n"
"files, symbols of the kernel. It has copies of these: think of who gets it.\n"
"  -o, --output OUT   the archive (FILE.tar.zst); compressed if it ends in .zst,\n"
"                     else as it is\n"
"  -k, --kernel FILE  kernel symbols: kallsyms, System.map or vmlinux\n"
"  -r, --root DIR     where the recorded machine's files are\n"
"  FILE   a log, or the directory of an archive that was unpacked\n";

static const char readme[] =
"A log of hwpmc, and the files that its names come from.\n"
"\n"
"    tar xf THIS.tar.zst\n"
"    pmclog report pmclog-NAME       (or flame, fold, ...)\n"
"\n"
"log.pmclog  the log, as it was\n"
"kallsyms    symbols of the recorded kernel\n"
"root        files of the recorded machine, by their paths\n";

/**
 * struct packed - a file in the archive
 * @path: a string of the log
 * @dev, @ino: 0 if it is not a file on this machine
 */
struct packed {
	uint32_t path;
	dev_t dev;
	ino_t ino;
};

/**
 * struct archiving - a run
 * @a:      its options, and the log
 * @dir:    an unpacked archive, which contains the log
 * @top:    the top directory in the archive
 * @packed: each path once
 */
struct archiving {
	struct analysis a;
	char *own_out, *top, *dir;
	struct privout out;
	struct packed *packed;
	uint32_t n, cap;
	uint32_t nskipped;
};

static void say(const char *what, const char *path, const char *why)
{
	char buf[SHOWN_MAX], reason[SHOWN_MAX];

	/* a reason can have the name of a file */
	warn_line("%s %s%s%s", what, shown_name(buf, path, false), why ? ": " : "",
		  why ? shown_name(reason, why, false) : "");
}

static void skip(struct archiving *a, const char *path, const char *why)
{
	say("not packed:", path, why);
	a->nskipped++;
}

/* ------------------------------------------------------------------------
 * Members
 */
static void put_memory(struct archiving *a, const char *name, const void *p,
		       size_t n)
{
	char *member = xasprintf("%s/%s", a->top, name);

	tar_begin(&a->out, member, n, a->a.p.log.ts_sec);
	privout_bytes(&a->out, p, n);
	tar_end(&a->out, n);
	free(member);
}

/* Packs a file with its current size; zeros fill up a file that shrinks. */
static void put_fd(struct archiving *a, const char *dir, const char *path,
		   int fd)
{
	char buf[65536], *member = xasprintf("%s/%s%s", a->top, dir, path);
	off_t at = 0;
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st))
		st.st_size = 0;
	tar_begin(&a->out, member, (uint64_t)st.st_size, st.st_mtime);
	for (; at < st.st_size && !a->out.error; at += n) {
		size_t want = st.st_size - at < (off_t)sizeof(buf) ?
			      (size_t)(st.st_size - at) : sizeof(buf);

		if (n > 0)
			n = pread(fd, buf, want, at);
		if (n <= 0) {
			memset(buf, 0, want);
			privout_bytes(&a->out, buf, want);
			at += (off_t)want;
			n = 0;
			continue;
		}
		privout_bytes(&a->out, buf, (size_t)n);
	}
	if (!n && st.st_size)
		skip(a, path, "has become shorter meanwhile");
	tar_end(&a->out, (uint64_t)st.st_size);
	free(member);
}

/* Does a path of the log stay below "root" in the archive? */
static bool good_path(const char *path)
{
	size_t n;

	if (*path != '/')
		return false;
	for (; *path; path += n) {
		n = strcspn(++path, "/");
		if (!n || (n == 1 && *path == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
	}
	return true;
}

static bool first_time(struct archiving *a, const char *path,
		       const struct stat *st)
{
	struct packed new = { .path = strtab_id(&a->a.p.str, path) };
	uint32_t i;

	if (st) {
		new.dev = st->st_dev;
		new.ino = st->st_ino;
	}
	for (i = 0; i < a->n; i++) {
		if (a->packed[i].path != new.path)
			continue;
		/* those of two containers */
		if (a->packed[i].dev != new.dev || a->packed[i].ino != new.ino)
			skip(a, path, "another file of that path is packed");
		return false;
	}
	APPEND(a->packed, a->n, a->cap) = new;
	return true;
}

/* A program can have holes of any size, which would be written to the disk. */
#define SIZE_MAX_PACKED	((off_t)8 << 30)

static void put_file(struct archiving *a, const char *path, int fd)
{
	struct stat st = { 0 };

	if (!good_path(path))
		skip(a, path, "a path that cannot be packed");
	else if (fstat(fd, &st))
		skip(a, path, strerror(errno));
	else if (st.st_size > SIZE_MAX_PACKED)
		skip(a, path, "larger than 8 GB");
	else if (first_time(a, path, &st))
		put_fd(a, "root", path, fd);
}

/* ------------------------------------------------------------------------
 * What the log needs
 */
/*
 * Where the other half of a file is looked for, wherever it was found here; by
 * the build-id, or by its name if it has none.
 */
static char *debug_place(const struct image *im, const struct image *debug,
			 const char *path)
{
	const char *slash = strrchr(path, '/'), *link;
	char hex[2 * 64 + 1];
	const void *a, *b;
	size_t n = image_buildid(im, &a), i;
	GElf_Word crc;

	if (n > 1 && n <= 64 && n == image_buildid(debug, &b) &&
	    !memcmp(a, b, n)) {
		for (i = 0; i < n; i++)
			snprintf(hex + 2 * i, 3, "%02x",
				 ((const unsigned char *)a)[i]);
		return xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug",
				 hex, hex + 2);
	}
	link = dwelf_elf_gnu_debuglink(im->elf, &crc);
	return link && slash ? xasprintf("/usr/lib/debug%.*s/%s",
					 (int)(slash - path), path, link) :
			       NULL;
}

/* The third file, which has what several debug files have in common. */
static void put_alt(struct archiving *a, const struct image *im,
		    const struct objfile *f)
{
	struct image alt;
	char *where;

	if (!altfile_image(&alt, im, &f->root))
		return;
	where = debug_place(&alt, &alt, "");
	if (where)
		put_file(a, where, alt.fd);
	image_close(&alt);
	free(where);
}

static void put_debug(struct archiving *a, const struct image *im,
		      const struct objfile *f)
{
	struct image debug;
	char *where;

	put_alt(a, im, f);
	if (!image_open_debug(&debug, im, &f->root, f->path))
		return;
	where = debug_place(im, &debug, f->path);
	if (where && debug.fd >= 0)
		put_file(a, where, debug.fd);
	put_alt(a, &debug, f);
	image_close(&debug);
	free(where);
}

static void put_object(struct archiving *a, uint32_t obj)
{
	const char *logged = strtab_str(&a->a.p.str, a->a.p.objs.obj[obj].path);
	const char *why = "cannot be read";
	struct objfile f;
	struct objsyms s;
	struct image im;

	if (objsyms_file(&f, &a->a.p, obj) &&
	    image_open(&im, &f.root, f.path, &why)) {
		put_file(a, f.path, im.fd);
		put_debug(a, &im, &f);
		image_close(&im);
	} else {
		/* that knows why */
		why = objsyms_open(&s, &a->a.p, obj);
		objsyms_close(&s);
		skip(a, logged, why);
	}
	free(f.path);
}

static void put_vdso(struct archiving *a)
{
	const char *why, *data;
	struct image im;
	size_t n;

	if (!objsyms_vdso(&im, &a->a.p, &why)) {
		skip(a, "[vdso]", why);
		return;
	}
	data = elf_rawfile(im.elf, &n);
	if (data && first_time(a, VDSO_FILE, NULL))
		put_memory(a, "root" VDSO_FILE, data, n);
	image_close(&im);
}

/* A map is named by the process' number in the log. */
static void put_jit(struct archiving *a, const struct object *o)
{
	uint32_t pid = (uint32_t)o->ino;
	struct jit *j = jits_of(&a->a.p, o);
	char map[48];
	const char *why, *path = map;
	int fd;

	if (j) {
		fd = jits_open(&a->a.p, j, &why);
		path = strtab_str(&a->a.p.str, j->path);
	} else {
		fd = jitmap_open(&a->a.p, pid, &why);
		snprintf(map, sizeof(map), "/tmp/perf-%u.map", pid);
	}
	if (fd < 0) {
		skip(a, path, why);
		return;
	}
	put_file(a, path, fd);
	close(fd);
}

/* Packs a file.  In /proc its size is not known, and it is text of some MiB. */
static void put_text(struct archiving *a, const char *name, int fd)
{
	size_t n = 0, cap = 1 << 20;
	struct stat st;
	ssize_t got;
	char *buf;

	if (!fstat(fd, &st) && st.st_size) {
		put_fd(a, "", name, fd);
		return;
	}
	buf = xmalloc(cap);
	while ((got = read(fd, buf + n, cap - n)) > 0 && n < KALLSYMS_MAX) {
		n += (size_t)got;
		if (n == cap) {
			cap *= 2;
			buf = xreallocarray(buf, cap, 1);
		}
	}
	put_memory(a, name, buf, n);
	free(buf);
}

/* Files of modules that have names which the kernel's table has not */
static void put_modules(struct archiving *a, const struct image_root *root, const bool *used)
{
	const char *why, *path;
	uint32_t i;
	int fd;

	for (i = 0; i < a->a.p.objs.n; i++) {
		if (!used[i] || !a->a.p.objs.obj[i].names_from)
			continue;
		path = strtab_str(&a->a.p.str, a->a.p.objs.obj[i].names_from);
		fd = image_open_file(root, path, &why);
		if (fd < 0) {
			skip(a, path, why);
			continue;
		}
		put_file(a, path, fd);
		close(fd);
	}
}

/* @used: by object */
static void put_kernel(struct archiving *a, const bool *used)
{
	const char *why = NULL;
	struct ksyms k;
	int fd = -1;

	if (!ksyms_open(&k, &a->a.p, a->a.kernel, a->a.path)) {
		a->nskipped++;		/* the reason was printed */
		ksyms_close(&k);
		return;
	}
	if (k.source)
		fd = image_open_named(k.root, k.source, &why);
	if (fd >= 0) {
		put_text(a, "kallsyms", fd);
		close(fd);
	} else {
		skip(a, "symbols of the kernel", k.source ? why : k.why);
	}
	put_modules(a, a->a.p.root, used);
	ksyms_close(&k);
}

static void put_objects(struct archiving *a)
{
	bool *used = xcalloc((size_t)a->a.p.objs.n + 1, sizeof(*used));
	bool kernel = false;
	uint32_t i;

	for (i = 0; i < a->a.p.frames.n; i++)
		used[a->a.p.frames.frame[i].obj] = true;
	for (i = 0; i < a->a.p.objs.n; i++) {
		const struct object *o = &a->a.p.objs.obj[i];

		kernel |= used[i] && obj_is_kernel(o->kind);
		if (!used[i])
			continue;
		if (o->kind == OBJ_FILE)
			put_object(a, i);
		else if (o->kind == OBJ_VDSO)
			put_vdso(a);
		else if (o->kind == OBJ_JIT)
			put_jit(a, o);
	}
	if (kernel)
		put_kernel(a, used);
	free(used);
}

/* ------------------------------------------------------------------------
 * The command
 */

/* Of "dir/app.pmclog": "app" */
static char *base_of(const char *path)
{
	static const char *const tails[] = { ".tar.zst", ".tar", ".zst",
					     ".pmclog" };
	char *base = xstrdup(basename(path));
	size_t i, n, len;

	for (i = 0; i < nitems(tails); i++) {
		n = strlen(base);
		len = strlen(tails[i]);
		if (n > len && !strcmp(base + n - len, tails[i]))
			base[n - len] = '\0';
	}
	return base;
}

/* What is unpacked gets the name that it had before. */
static void names(struct archiving *a)
{
	char *base;

	if (!a->a.output) {
		base = base_of(a->dir ? a->dir : a->a.path);
		a->a.output = a->own_out = xasprintf("%s.tar.zst", base);
		free(base);
	}
	base = base_of(a->a.output);
	a->top = xasprintf("%s%s", strncmp(base, "pmclog-", 7) ? "pmclog-" : "",
			   base);
	free(base);
}

static int write_all(struct archiving *a, int log)
{
	if (privout_open(&a->out, a->a.output, 0, log))
		return READER_FAIL;
	put_memory(a, "README", readme, sizeof(readme) - 1);
	put_fd(a, "", "log.pmclog", log);
	put_objects(a);
	tar_finish(&a->out);
	if (privout_close(&a->out, true))
		return READER_FAIL;
	warn_line("%s has the log and %u %s of this machine; %u %s not packed", a->a.output,
		  a->n, plural(a->n, "file", "files"), a->nskipped,
		  plural(a->nskipped, "was", "were"));
	return READER_OK;
}

static int archive(struct archiving *a)
{
	struct log_facts *log = &a->a.p.log;
	const char *why;
	int ret = READER_FAIL, fd = image_open_named(NULL, a->a.path, &why);
	struct input in;

	if (fd < 0) {
		say("cannot read", a->a.path, why);
		return READER_FAIL;
	}
	if (!input_open(&in, a->a.path)) {
		profile_read(&a->a.p, &in);
		input_close(&in);
		if (log->error)
			say("damaged:", a->a.path, log->error);
		else if (!log->records)
			say("cannot use", a->a.path, "is empty");
		if (log->records)
			ret = write_all(a, fd);
	}
	close(fd);
	return ret;
}

/* The compression that the end of a name promises, and that there is not; or NULL */
static const char *other_compression(const char *name)
{
	static const char *const ends[] = {
		".gz", ".tgz", ".zip", ".xz", ".txz", ".bz2", ".tbz2", ".7z",
	};
	size_t i, n = strlen(name), len;

	for (i = 0; i < nitems(ends); i++) {
		len = strlen(ends[i]);
		if (n >= len && !strcmp(name + n - len, ends[i]))
			return ends[i];
	}
	return NULL;
}

static int check(void *ctx, int argc, char **argv)
{
	struct archiving *a = ctx;
	const char *out = a->a.output ? a->a.output : "", *end = other_compression(out);

	if (end)
		return reader_usage("pmclog archive: %s: there is no compression for %s: end it "
				    "in .tar.zst or .tar\n", out, end);
	if (!strcmp(out, "-") && isatty(STDOUT_FILENO))
		return reader_usage("pmclog archive: -o -: standard output is a terminal\n");
	if (optind != argc - 1 || !strcmp(argv[optind], "-"))
		return reader_usage("pmclog archive: name a log, which is a file; see pmclog "
				    "archive --help\n");
	a->a.path = argv[optind];
	return -1;
}

static int run(void *ctx)
{
	struct archiving *a = ctx;
	const char *path = a->a.path;
	int ret = READER_FAIL;

	profile_init(&a->a.p, &a->a.root);
	analysis_enter(&a->a);
	if (!analysis_root_is_own(&a->a))
		return ret;
	if (a->a.in_archive)
		a->dir = realpath(path, NULL);
	names(a);
	if (!a->a.in_archive && path_is_directory(path))
		say("cannot pack", path, "is a directory without "
		    ARCHIVE_LOG "; pmclog filter makes one log of its logs");
	else
		ret = archive(a);
	free(a->packed);
	free(a->dir);
	free(a->own_out);
	free(a->top);
	return ret;
}

int cmd_archive(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "root", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	static const struct cmdline line = {
		"archive", usage, "ho:k:r:", options, NULL, check, run,
	};
	struct archiving a = { 0 };

	analysis_init(&a.a);
	return cmdline_analysis(&line, &a.a, &a, argc, argv);
}
