/* SPDX-License-Identifier: GPL-2.0-only */
/* The mapped code of the current task's process. */
#ifndef HWPMC_UNWIND_SCAN_H
#define HWPMC_UNWIND_SCAN_H

#include <linux/mm.h>

#include "compat.h"
#include "unwind.h"

/**
 * struct unwind_seen - mapped code that a scan has found
 * @start: see struct unwind_area
 * @end: likewise
 * @bias: likewise
 * @key: of its object; only with @has_object
 * @path: referenced; empty for code without a file, and for the vdso
 * @has_object: it is of a regular file, or the vdso
 */
struct unwind_seen {
	u64		start;
	u64		end;
	u64		bias;
	struct unwind_key key;
	struct path	path;
	bool		has_object;
};

/**
 * struct unwind_scan - the mapped code of a process
 * @mm: the process is the current task's
 * @began: when the mappings were about to be read (ns)
 * @changes: of the mm, at that time
 * @room: of @at
 * @n: code found
 * @cut: there was no room for code without a file, or for more
 * @at: sorted by address
 */
struct unwind_scan {
	struct mm_struct *mm;
	u64		began;
	int		changes;
	u32		room;
	u32		n;
	bool		cut;
	struct unwind_seen at[];
};

static inline bool unwind_may_have_object(const struct vm_area_struct *vma)
{
	return vma->vm_file || compat_vma_is_vdso(vma);
}

struct unwind_scan *hwpmc_unwind_scan_code(struct mm_struct *mm);
void hwpmc_unwind_scan_free(struct unwind_scan *scan);
atomic_t *hwpmc_unwind_scan_changes(const struct mm_struct *mm);

#endif /* HWPMC_UNWIND_SCAN_H */
