/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of pmclog(1). */
#ifndef READER_COMMANDS_H
#define READER_COMMANDS_H

#include "base/exit.h"

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
int cmd_annotate(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);

#endif /* READER_COMMANDS_H */
