// SPDX-License-Identifier: GPL-2.0-only
/*
 * User memory for the walks of deferred chains.
 *
 * A walk follows registers and stack words, which the program can choose.  If a page is
 * absent, the task would wait for the supplier of the page.  The supplier may be the
 * task itself: a thread that serves the userfaultfd of its own process.  So the walk
 * waits only for pages of the mapping that has the task's stack, because the program
 * needs these pages as well.  It waits for no page that a userfaultfd supplies.
 *
 * Called by the task when it returns to user mode, without locks.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>

#include "sample.h"

/*
 * Looks up the mapping.  Another thread may replace it at any time.  The next read
 * then fails, or waits for a page that the program would wait for in user mode.
 */
static void find_stack(struct late_stack *stack)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	stack->known = true;
	if (mmap_read_lock_killable(mm))
		return;
	vma = vma_lookup(mm, stack->sp);
	if (vma && !userfaultfd_armed(vma)) {
		stack->start = vma->vm_start;
		stack->end = vma->vm_end;
	}
	mmap_read_unlock(mm);
}

static bool is_in_stack(struct late_stack *stack, unsigned long from,
			size_t len)
{
	if (!stack->known)
		find_stack(stack);
	return from >= stack->start && from < stack->end &&
	       len <= stack->end - from;
}

/*
 * hwpmc_chain_late_read - copy @len bytes of user memory at @from
 *
 * Waits for an absent page only if the page is in @stack.  False: it cannot be read.
 */
bool hwpmc_chain_late_read(struct late_stack *stack, void *to,
			   unsigned long from, size_t len)
{
	const void __user *p = (const void __user *)from;

	might_sleep();
	if (!copy_from_user_nofault(to, p, len))
		return true;
	return is_in_stack(stack, from, len) && !copy_from_user(to, p, len);
}
