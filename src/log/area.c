// SPDX-License-Identifier: GPL-2.0-only
/* How a log describes a mapping of code: the same for the hooks and for a dump. */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>

#include "area.h"
#include "compat.h"
#include "log.h"
#include "sample/record.h"

struct area hwpmc_area_of(const struct vm_area_struct *vma)
{
	return (struct area) {
		.start = vma->vm_start,
		.len = vma->vm_end - vma->vm_start,
		.pgoff = vma->vm_pgoff,
	};
}

/*
 * Returns the file of a mapping, referenced, or NULL.  A log without a reader
 * keeps the file for long.  An io_uring can be mapped and could have the device
 * in its table; then neither would ever be released.
 */
struct file *hwpmc_area_file(const struct vm_area_struct *vma)
{
	return vma->vm_file && !hwpmc_log_may_hold(vma->vm_file) ?
		       get_file(vma->vm_file) :
		       NULL;
}

/*
 * Fills in the properties of a mapping for the writer thread, and references its file.
 * @a: the place of the mapping, now or in the future
 */
void hwpmc_area_fill(struct ring_map *m, struct vm_area_struct *vma,
		     const struct area *a, u32 pid)
{
	m->file = hwpmc_area_file(vma);
	m->start = a->start;
	m->len = a->len;
	m->offset = (u64)a->pgoff << PAGE_SHIFT;
	m->pid = pid;
	m->prot = !!(vma->vm_flags & VM_READ) * PROT_READ |
		  !!(vma->vm_flags & VM_WRITE) * PROT_WRITE |
		  !!(vma->vm_flags & VM_EXEC) * PROT_EXEC;
	m->vdso = !vma->vm_file && compat_vma_is_vdso(vma);
	m->pad = 0;
}
