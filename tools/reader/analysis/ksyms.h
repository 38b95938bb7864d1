/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's functions, at their addresses during the recording. */
#ifndef READER_KSYMS_H
#define READER_KSYMS_H

#include "elf/symtab.h"
#include "profile/profile.h"

/**
 * struct ksyms - a kernel symbol table that fits the log
 * @source: where the table is from, NULL without a table
 * @slide:  offset that was added to the table's addresses
 * @root:   root directory of @source
 * @elf:    the table is from a vmlinux
 * @why:    why there is no table
 */
struct ksyms {
	struct symtab tab;
	char *source;
	uint64_t slide;
	char *why;
	const struct image_root *root;
	bool elf;
};

/*
 * @file: file that the user named, or NULL to look in the usual places;
 * @log_path: path of the log, or NULL.  False, after a message, only if @file
 * can't be used.
 */
bool ksyms_open(struct ksyms *k, struct profile *p, const char *file,
		const char *log_path);
void ksyms_close(struct ksyms *k);

#endif /* READER_KSYMS_H */
