/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of events from a tree other than this machine's, for tests. */
#ifndef LIBPMC_SOURCE_H
#define LIBPMC_SOURCE_H

#include "pmc.h"

int pmc_source_list_at(const char *root, struct pmc_source *list,
		       size_t *size);
int pmc_source_fields_at(const char *root, uint32_t number,
			 struct pmc_source_field *fields, size_t *size);
int pmc_source_fields_of(const char *root, const struct pmc_source *s,
			 struct pmc_source_field *fields, size_t *size);
void pmc_source_describe_at(const char *root, const struct pmc_source *s,
			    char *buf, size_t len);

#endif /* LIBPMC_SOURCE_H */
