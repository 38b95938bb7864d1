// SPDX-License-Identifier: GPL-2.0-only
/* it is older than 6.1: mappings are not in a maple tree yet */
#include <linux/mm.h>

unsigned long probe(struct mm_struct *mm);
unsigned long probe(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma)
		return vma->vm_start;
	return 0;
}
