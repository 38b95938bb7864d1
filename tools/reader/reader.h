/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands of pmclog(1) share. */
#ifndef READER_H
#define READER_H

/*
 * Exit codes: 0, 1 when a file can't be read or is found faulty, 2 for a
 * wrong command line.
 */
#define READER_OK	0
#define READER_FAIL	1
#define READER_USAGE	2

/* A command gets its own name as argv[0] and returns the exit code. */
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_fold(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_html(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);

/* Prints @usage as an error; READER_USAGE. */
int reader_usage(const char *usage);

#endif /* READER_H */
