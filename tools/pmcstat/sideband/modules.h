/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_MODULES_H
#define PMCSTAT_MODULES_H

#include "pmcstat.h"

#define MODULE_NAME_MAX	64

/**
 * struct section - one of a module's, but for those of its start
 * @code: it lies in the module's text
 * @text: it has functions
 */
struct section {
	char		*name;
	uint64_t	addr;
	int		code;
	int		text;
};

/**
 * struct module - a loaded module
 * @start: of its text
 * @len:   of its text, as far as that can be told
 * @path:  its file, NULL when it is not known
 */
struct module {
	char		name[MODULE_NAME_MAX];
	uint64_t	start;
	uint64_t	len;
	char		*path;
	struct section	*sections;
	size_t		nsections;
};

struct modules {
	struct module	*module;	/* by start */
	size_t		n;
};

/* What cannot be read is left out: the log is good without it. */
void modules_read(struct modules *mods, const char *root, const char *release);
void modules_free(struct modules *mods);
/* What one of them holds */
void module_free(struct module *m);

/* The whole file, with a NUL behind it, or NULL. */
void *file_read(const char *path, size_t *len);

#endif /* PMCSTAT_MODULES_H */
