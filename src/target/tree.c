// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process and its descendants, as they are at one moment.
 *
 * The kernel lists processes in the order of their birth.  A parent is older
 * than its children.  So is a process that adopts them, because it is an
 * ancestor of their parent.  One pass over the list therefore finds all
 * descendants.  Its cost grows with the number of processes, not with the depth
 * of the tree.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "hwpmc.h"
#include "target.h"

static unsigned int count_processes(void)
{
	struct task_struct *p;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_process(p)
		n++;
	rcu_read_unlock();
	return n;
}

/* RCU read section.  Returns NULL if the process is being reaped. */
static struct pid *number_of(const struct task_struct *task)
{
	return READ_ONCE(task->signal->pids[PIDTYPE_TGID]);
}

/* Collects the pids, which an exec does not change.  Returns -ENOMEM. */
static int list_processes(struct tree *tree)
{
	unsigned int size = count_processes() + 16;
	struct task_struct *p;
	struct pid *pid;

	tree->all = target_alloc_array(size, sizeof(*tree->all));
	if (!tree->all)
		return -ENOMEM;
	rcu_read_lock();
	for_each_process(p) {
		tree->cut = tree->n == size;
		if (tree->cut)
			break;
		pid = number_of(p);
		if (!pid)
			continue;
		/* in the list: its count is not zero for a grace period */
		tree->all[tree->n].pid = get_pid(pid);
		tree->all[tree->n++].live = atomic_read(&p->signal->live);
	}
	rcu_read_unlock();
	return 0;
}

static int tree_add(struct tree *tree, struct pid *pid)
{
	return xa_err(xa_store(&tree->found, pid_nr(pid), pid, GFP_KERNEL));
}

/* Is @pid the root of the tree or one of its descendants? */
bool hwpmc_tree_has(struct tree *tree, struct pid *pid)
{
	/* another process may have got the number meanwhile */
	return pid && (pid == tree->root ||
		       xa_load(&tree->found, pid_nr(pid)) == pid);
}

static bool is_child(struct tree *tree, struct pid *pid)
{
	struct task_struct *task, *parent;
	bool yes = false;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task) {
		parent = rcu_dereference(task->real_parent);
		yes = hwpmc_tree_has(tree, number_of(parent));
	}
	rcu_read_unlock();
	return yes;
}

static int find_descendants(struct tree *tree)
{
	unsigned int i;
	int err = list_processes(tree);

	for (i = 0; i < tree->n && !err; i++) {
		if (is_child(tree, tree->all[i].pid))
			err = tree_add(tree, tree->all[i].pid);
		cond_resched();
	}
	return err;
}

/*
 * hwpmc_tree_find - find the process of @root and, if @all, its descendants
 *
 * Returns -ENOMEM.  Process context; the caller holds @root.  hwpmc_tree_free()
 * is needed in any case.
 */
int hwpmc_tree_find(struct tree *tree, struct task_struct *root, bool all)
{
	xa_init(&tree->found);
	tree->root = get_task_pid(root, PIDTYPE_TGID);
	tree->all = NULL;
	tree->n = 0;
	tree->cut = false;
	return all ? find_descendants(tree) : 0;
}

void hwpmc_tree_free(struct tree *tree)
{
	while (tree->n)
		put_pid(tree->all[--tree->n].pid);
	kvfree(tree->all);
	put_pid(tree->root);
	xa_destroy(&tree->found);
}
