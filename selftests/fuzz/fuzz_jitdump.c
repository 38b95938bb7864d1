// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: any jitdump, with a log whose process has mapped one and has samples
 * in its code; all names, bytes and lines are shown.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "profile/jitdump.h"
#include "commands/commands.h"

/* What is found is what is there, at any moment. */
static void look_up(const struct jitdump *d)
{
	uint32_t i, turns;

	for (i = 0; i < d->nrange; i++) {
		const struct jitrange *g = &d->range[i];
		uint64_t at = g->start + (g->end - g->start) / 2, off;
		const struct jitcode *c;

		turns = jitdump_turns(d, d->turn[g->turn].time);
		abort_if(turns <= g->turn || turns > d->nrange);
		off = jitdump_place(d, turns, at);
		c = jitdump_code(d, off);
		abort_if(!c || off - c->off >= c->size);
		abort_if(!d->turn[g->turn].shared && c != &d->code[g->code]);
	}
}

static void read_all(int fd)
{
	struct jitdump d;
	struct jitlines l;
	uint32_t i;

	if (!jitdump_read(&d, fd))
		look_up(&d);
	for (i = 0; i < d.ncode; i++) {
		jitlines_read(&l, &d, &d.code[i], fd);
		jitlines_find(&l, d.code[i].addr);
		jitlines_free(&l);
	}
	jitdump_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *log, *root, *dump;
	const char *args[] = { "annotate", "-a", "-r", NULL, NULL, NULL };
	static int fd;

	if (!log) {
		log = fuzz_path("jit.pmclog");
		root = fuzz_path("root");
		dump = fuzz_path("root/jit-7.dump");
		fd = open(dump, O_RDWR | O_CREAT | O_TRUNC, 0600);
	}
	abort_if(ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size);
	read_all(fd);
	args[3] = root;
	args[4] = log;
	fuzz_run(cmd_annotate, args);
	return 0;
}
