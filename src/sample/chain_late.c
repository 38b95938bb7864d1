// SPDX-License-Identifier: GPL-2.0-only
/*
 * User memory for the walks of deferred chains.
 *
 * A walk reads where registers and stack words lead it, which a program can choose.
 * If the page is absent, the task would wait for whoever supplies it.  That may be the
 * task itself: a thread that serves the userfaultfd of its own process.  So the walk
 * waits only for pages of the mapping that the task has its stack in, because the
 * program needs these pages just as much, and for none that a userfaultfd supplies.
 *
 * Called by the task on its way to user mode, without locks.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>

#include "sample.h"

/*
 * Looks the mapping up.  Another thread may replace it at any time: then the next read
 * fails, or waits for what the program would wait for when it returns to user mode.
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
 * Waits for an absent page only if it is of @stack.  False: it cannot be read.
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
