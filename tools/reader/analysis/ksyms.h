/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's functions, at the addresses they had when it was recorded. */
#ifndef READER_KSYMS_H
#define READER_KSYMS_H

#include "elf/symtab.h"
#include "profile/profile.h"

/**
 * struct ksyms - a kernel symbol table that fits the log
 * @source: where it is from, NULL when there is none
 * @slide:  what was added to the table's addresses
 * @root:   it is below that
 * @elf:    it is a vmlinux
 * @why:    without a table, why
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
 * @file: what the user named, or NULL to look in the usual places; @log_path:
 * of the log, or NULL.  False only if @file can't be used; a message was
 * printed then.
 */
bool ksyms_open(struct ksyms *k, struct profile *p, const char *file,
		const char *log_path);
void ksyms_close(struct ksyms *k);

#endif /* READER_KSYMS_H */
