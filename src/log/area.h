/* SPDX-License-Identifier: GPL-2.0-only */
/* Mappings of code, as a log has them. */
#ifndef HWPMC_AREA_H
#define HWPMC_AREA_H

#include <linux/mm_types.h>

struct file;
struct ring_map;

/* @start, @len: bytes; @pgoff: pages */
struct area {
	unsigned long	start;
	unsigned long	len;
	pgoff_t		pgoff;
};

/* area.c; under the mmap lock */
struct area hwpmc_area_of(const struct vm_area_struct *vma);
struct file *hwpmc_area_file(const struct vm_area_struct *vma);
void hwpmc_area_fill(struct ring_map *m, struct vm_area_struct *vma,
		     const struct area *a, u32 pid);

#endif /* HWPMC_AREA_H */
