/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit codes of the commands of pmclog(1). */
#ifndef READER_EXIT_H
#define READER_EXIT_H

/*
 * Exit codes: 0, 1 when a file can't be read or is found faulty, 2 for a
 * wrong command line.
 */
#define READER_OK	0
#define READER_FAIL	1
#define READER_USAGE	2

/* Prints @usage as an error; returns READER_USAGE. */
int reader_usage(const char *usage);

#endif /* READER_EXIT_H */
