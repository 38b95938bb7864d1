// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: kernel symbols as text, on a log whose samples are there. */

#include "fuzz.h"
#include "commands/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *log, *root;
	const char *args[] = { "fold", "-k", NULL, "-r", NULL, NULL, NULL };

	if (!log) {
		log = fuzz_path("kernel.pmclog");
		root = fuzz_path("nothing");
	}
	args[2] = fuzz_file(0, data, size);
	args[4] = root;
	args[5] = log;
	fuzz_run(cmd_fold, args);
	return 0;
}
