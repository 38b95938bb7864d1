/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_MODULES_H
#define PMCSTAT_MODULES_H

#include "pmcstat.h"

#define MODULE_NAME_MAX	64

/**
 * struct section - a section of a module, except those for its initialisation
 * @code: the section is in the module's text
 * @text: the section has functions
 */
struct section {
	char		*name;
	uint64_t	addr;
	int		code;
	int		text;
};

/**
 * struct module - a loaded module
 * @start: start of its text
 * @len:   length of its text; if not known, an upper limit
 * @path:  its file, NULL if unknown
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

/* Skips what cannot be read: the log is valid without it. */
void modules_read(struct modules *mods, const char *root, const char *release);
void modules_free(struct modules *mods);
/* Frees the members of a module, not the structure. */
void module_free(struct module *m);

#endif /* PMCSTAT_MODULES_H */
