// SPDX-License-Identifier: GPL-2.0-only
/*
 * recording objects DIR
 * 	writes the objects' sources, and the kernel's symbols, into DIR
 * recording pmclog|perf SHAPE SAMPLES[:BYTES] DIR FILE
 * 	writes a recording of the programs in DIR; with BYTES, until it has that
 * 	length. FILE "-" is standard output (pmclog only).
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "sink.h"

int main(int argc, char **argv)
{
	struct sink *sink;
	uint64_t samples, size = 0;
	char *end;

	if (argc == 3 && !strcmp(argv[1], "objects")) {
		objects_write(argv[2]);
		return 0;
	}
	if (argc != 6)
		errx(2, "usage: recording objects DIR\n       recording "
		     "pmclog|perf SHAPE SAMPLES[:BYTES] DIR FILE");
	samples = strtoull(argv[3], &end, 10);
	if (*end == ':')
		size = strtoull(end + 1, &end, 10);
	if (*end)
		errx(2, "%s: no number", argv[3]);
	objects_load(argv[4]);
	sink = strcmp(argv[1], "perf") ? &pmclog_sink : &perf_sink;
	sinkfile_open(sink->file, argv[5]);
	if (!model_run(argv[2], samples, sink, size))
		errx(2, "%s: no such shape", argv[2]);
	return 0;
}
