/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzzers of pmclog's commands share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "abort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The path of a file in memory that has these bytes; it is one for each slot. */
#define FUZZ_SLOTS	2
const char *fuzz_file(int slot, const void *data, size_t size);
/*
 * The path of a pipe that has @now of the @size bytes; the others come a moment later.
 * NULL: they are too many for it.  fuzz_pipe_end() closes it, read or not.
 */
const char *fuzz_pipe(const uint8_t *data, size_t size, size_t now);
void fuzz_pipe_end(void);
/* $FUZZ_DIR/NAME: what fuzz.sh has prepared; never freed. */
const char *fuzz_path(const char *name);

/*
 * Runs a command of pmclog as main() would; the last of @args is NULL.  What it
 * says is of no interest, its exit status has to be one of those documented.
 */
void fuzz_run(int (*command)(int argc, char **argv), const char *const *args);

#endif /* FUZZ_H */
