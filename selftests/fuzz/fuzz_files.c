// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: the files that names and lines come from besides the recorded program.
 * The first byte says which file of files.sh the rest of the input replaces.  Each
 * file has a log that shows what it says.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "commands/commands.h"

#define FILES	"files/root"

#define AT(file, log, how)	{ file, log, how, NULL, NULL, 0, 0 }

/* Which command shows what a file says; HERE: without --root, MAP: with -k */
enum how { LINES, NAMES, CODE, HERE, MAP };

/* file_seeds() of files.sh has the same order. */
static struct shelf {
	const char *file, *log;
	enum how how;
	const char *path;
	uint8_t *data;		/* as it was */
	size_t size;
	int fd;
} shelves[] = {
	AT(FILES "/bin/link", "link", LINES),
	AT(FILES "/usr/lib/debug/bin/link.debug", "link", LINES),
	AT(FILES "/bin/named", "named", LINES),
	AT(FILES "/usr/lib/debug/named", "named", LINES),
	AT(FILES "/bin/mini", "mini", NAMES),
	AT(FILES "/bin/twin1", "twin", LINES),
	AT(FILES "/bin/common", "twin", LINES),
	AT(FILES "/bin/zlib", "zlib", LINES),
	AT(FILES "/bin/zstd", "zstd", LINES),
	AT(FILES "/lib/mod.ko", "mod.ko", NAMES),
	AT(FILES "/lib/mod.ko.xz", "mod.ko.xz", NAMES),
	AT(FILES "/lib/mod.ko.zst", "mod.ko.zst", NAMES),
	AT(FILES "/usr/lib/debug/boot/vmlinux-9.9.9-test", "vmlinux", NAMES),
	AT(FILES "/boot/System.map-9.9.8-test", "map", NAMES),
	AT(FILES "/tmp/perf-7.map", "jit", CODE),
	AT("files/archive/log.pmclog", "archive", LINES),
	AT("files/live/map", "live", HERE),
	AT("files/live/dump", "live", HERE),
	AT(FILES "/bin/linked", "linked", CODE),
	AT("files/vmlinux", "map", MAP),
};

#define NSHELVES	(sizeof(shelves) / sizeof(shelves[0]))

static void write_all(const struct shelf *s, const void *data, size_t size)
{
	abort_if(ftruncate(s->fd, 0) ||
		 pwrite(s->fd, data, size, 0) != (ssize_t)size);
}

/* False: this machine has not got what it is made with. */
static bool ready(struct shelf *s)
{
	struct stat st;

	if (s->fd)
		return s->fd > 0;
	s->path = fuzz_path(s->file);
	s->fd = open(s->path, O_RDWR | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st))
		return false;
	s->size = (size_t)st.st_size;
	s->data = malloc(s->size + 1);
	return pread(s->fd, s->data, s->size, 0) == st.st_size;
}

static void read_it(const struct shelf *s)
{
	const char *root = fuzz_path(FILES);
	char log[4096];
	const char *const args[][12] = {
		[LINES] = { "report", "--inline", "--flat", "-s",
			    "file,line,sym", "-l", "0", "-r", root, log },
		[NAMES] = { "fold", "-r", root, log },
		[CODE] = { "annotate", "-a", "-r", root, log },
		[HERE] = { "report", "--flat", "-s", "dso,sym", log },
		[MAP] = { "fold", "-r", root, "-k", s->path, log },
	};
	int (*const run[])(int, char **) = {
		cmd_report, cmd_fold, cmd_annotate, cmd_report, cmd_fold,
	};

	snprintf(log, sizeof(log), "%s/files/%s%s", getenv("FUZZ_DIR"), s->log,
		 strcmp(s->log, "archive") ? ".pmclog" : "");
	fuzz_run(run[s->how], args[s->how]);
	free((void *)root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shelf *s;

	if (!size || data[0] >= NSHELVES)
		return 0;
	s = &shelves[data[0]];
	if (!ready(s))
		return 0;
	write_all(s, data + 1, size - 1);
	read_it(s);
	write_all(s, s->data, s->size);
	return 0;
}
