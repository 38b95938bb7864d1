/* SPDX-License-Identifier: BSD-2-Clause */
/* Where what is made of a run goes. */
#ifndef PMCSTAT_OUTPUTS_H
#define PMCSTAT_OUTPUTS_H

/* Can a file be written there? 0, or EX_CANTCREAT after a message; NULL can. */
int output_check(const char *path);
/* Is it a directory? 0, or @status after a message. */
int directory_check(const char *option, const char *path, int status);

#endif /* PMCSTAT_OUTPUTS_H */
