/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's modules: their files, and the load addresses of their sections,
 * for symbols that are missing in the kernel's symbol table.
 */
#ifndef READER_KMODS_H
#define READER_KMODS_H

#include "base/strtab.h"

struct profile;
struct symtab;

/* values by unique hashes */
struct kmods_values {
	uint64_t *value;
	uint32_t n, cap;
	struct idtab tab;
};

/**
 * struct kmods - what the log has of modules; of a module that was loaded again, the last
 * @sections: load addresses, by module and section
 * @files:    string numbers of paths, by module
 */
struct kmods {
	struct kmods_values sections, files;
};

void kmods_section(struct kmods *t, struct strtab *str, const char *mod,
		   const char *name, uint64_t addr);
void kmods_file(struct kmods *t, uint32_t mod, uint32_t path);
/* Adds functions of modules that have none in @t, and sorts @t again. */
void kmods_load(struct symtab *t, struct profile *p);
void kmods_free(struct kmods *t);

#endif /* READER_KMODS_H */
