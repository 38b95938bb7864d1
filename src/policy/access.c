// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions.
 *
 * A counter created inside the kernel bypasses all checks of perf_event_open(), so
 * this file has rules that are as strict.  ptrace_may_access() and the hooks of the
 * security modules are not exported.  The module cannot ask Yama, SELinux and the
 * like, so an unprivileged process attaches only to itself and its descendants.
 *
 * A descriptor can be passed on, and credentials can change while it is open.  One
 * gate covers both, at each ioctl and read(2): a caller with fewer privileges than
 * the opener is refused everything.  Behind the gate the opener's credentials
 * decide; the owner references them, and they never change.  Only an attach to a
 * process must be allowed to the caller as well.
 *
 * The result of a check holds until the target execs or changes its credentials.  For
 * exec, hwpmc_access_hold() blocks it until the target's counters are in place.  Later,
 * perf removes all counters from a process that execs a program that may not be inspected
 * (set-uid, set-gid, file capabilities, not readable).  hwpmc_access_still() checks the
 * target after each exec, and before a dump reads its memory.  A child has its parent's
 * credentials.  After setuid(2) and the like the target stays attached, as with perf and
 * ptrace.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "trace.h"

static int access_refuse(const struct hwpmc_owner *o, const char *why)
{
	trace_hwpmc_refusal(o, why, -EPERM);
	return -EPERM;
}

/* May the opener profile the kernel? */
bool hwpmc_access_privileged(const struct hwpmc_owner *o)
{
	return file_ns_capable(o->file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(o->file, &init_user_ns, CAP_SYS_ADMIN);
}

/* May the opener see what all processes do in user mode? */
bool hwpmc_access_system(const struct hwpmc_owner *o)
{
	return o->cred->user_ns == &init_user_ns &&
	       (hwpmc_param_unprivileged() || hwpmc_access_privileged(o));
}

/* May the opener change settings that apply to all owners? */
bool hwpmc_access_admin(const struct hwpmc_owner *o)
{
	return file_ns_capable(o->file, &init_user_ns, CAP_SYS_ADMIN);
}

static bool is_user_only(const struct hwpmc_allocate *a)
{
	return (a->caps & HWPMC_CAP_USER) && !(a->caps & HWPMC_CAP_SYSTEM) &&
	       !branch_shows_kernel(a->branch);
}

/* perf requires more privilege for a breakpoint in the kernel. */
static int access_breakpoint(const struct hwpmc_owner *o,
			     const struct hwpmc_allocate *a)
{
	if (a->type != PERF_TYPE_BREAKPOINT || is_user_only(a) ||
	    hwpmc_access_admin(o))
		return 0;
	return access_refuse(o, "breakpoint in the kernel");
}

/*
 * hwpmc_access_is_private - does the event need privilege even if it excludes
 * the kernel?
 *
 * Tracepoints and unknown PMUs show the activity of other processes.  So does a
 * breakpoint that is not limited to a target process, and a counter of all
 * threads of a core.  Any context.
 */
bool hwpmc_access_is_private(u32 type, u64 config, u32 mode)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_HW_CACHE:
		return false;
	case PERF_TYPE_RAW:
		return config & COMPAT_RAW_ANY_THREAD;
	case PERF_TYPE_BREAKPOINT:
		return mode_is_system(mode);
	default:
		return true;
	}
}

/*
 * hwpmc_access_allocate - may this PMC be allocated?
 *
 * An unprivileged opener may not profile the kernel, nor use event sources that
 * show more than its own processes.  The administrator enables system modes.
 */
int hwpmc_access_allocate(const struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	if (mode_is_system(a->mode) && !hwpmc_access_system(o))
		return access_refuse(o, "system mode without privilege");
	if (hwpmc_access_privileged(o))
		return access_breakpoint(o, a);
	if (a->caps & HWPMC_CAP_SYSTEM)
		return access_refuse(o, "kernel mode without privilege");
	if (branch_shows_kernel(a->branch))
		return access_refuse(o, "kernel branches without privilege");
	/* a table chooses which stack words are read, on any process' stack */
	if (mode_is_system(a->mode) && (a->flags & HWPMC_F_UNWIND))
		return access_refuse(o, "unwind tables without privilege");
	if (hwpmc_access_is_private(a->type, a->config, a->mode))
		return access_refuse(o, "event source without privilege");
	a->caps |= HWPMC_CAP_USER;
	return 0;
}

/* -EPERM: lockdown denies kernel data even to a privileged opener. */
int hwpmc_access_locked(void)
{
	return security_locked_down(LOCKDOWN_PERF);
}

/*
 * Checks the current credentials.  The first check of perf_event_open() is not
 * exported: a security module's "open" hook, and the paranoid level at which
 * Debian's kernels admit only CAP_SYS_ADMIN.  Profiling the kernel requires more,
 * so this function requires that for everything.
 */
static int perf_allows(bool system, bool tracepoint)
{
	int err = compat_perf_allow_kernel();

	if (!err && system)
		err = compat_perf_allow_cpu();
	if (!err && tracepoint)
		err = compat_perf_allow_tracepoint();
	return err ? -EPERM : 0;
}

/*
 * hwpmc_access_perf - would perf_event_open() admit both the caller and the
 * opener?
 *
 * Checked only if the parameter perf_rules is set; never less strict than perf's
 * check.  May sleep.
 */
int hwpmc_access_perf(struct hwpmc_owner *o, bool system, bool tracepoint)
{
	const struct cred *old;
	int err;

	might_sleep();
	if (!hwpmc_param_perf_rules())
		return 0;
	err = perf_allows(system, tracepoint);
	if (err)
		return err;
	old = override_creds(o->cred);	/* the owner's reference */
	err = perf_allows(system, tracepoint);
	revert_creds(old);
	return err;
}

/* Does lockdown forbid this PMC? */
int hwpmc_access_lockdown(const struct hwpmc_allocate *a)
{
	if (is_user_only(a) &&
	    !hwpmc_access_is_private(a->type, a->config, a->mode))
		return 0;
	return hwpmc_access_locked();
}

/* The caller holds a reference to @cred; before 6.14 override_creds() takes one. */
static bool has_cap(const struct cred *cred, struct user_namespace *ns, int cap)
{
	const struct cred *old = override_creds(cred);
	bool yes = ns_capable_noaudit(ns, cap);

	revert_creds(old);
	return yes;
}

static bool may_trace_all(const struct cred *cred, struct user_namespace *ns)
{
	return (has_cap(cred, ns, CAP_PERFMON) ||
		has_cap(cred, ns, CAP_SYS_ADMIN)) &&
	       has_cap(cred, ns, CAP_SYS_PTRACE);
}

/* Group lists are sorted; the kernel's own search relies on this. */
static bool has_groups(const struct cred *cred, const kgid_t *gid, int n)
{
	const struct group_info *own = cred->group_info;
	int i, at = 0;

	for (i = 0; i < n; i++) {
		if (gid_eq(gid[i], cred->egid))
			continue;
		while (at < own->ngroups && gid_lt(own->gid[at], gid[i]))
			at++;
		if (at == own->ngroups || !gid_eq(own->gid[at], gid[i]))
			return false;
	}
	return true;
}

/* @cred has all groups that @t acts with. */
static bool covers_groups(const struct cred *cred, const struct cred *t)
{
	return has_groups(cred, &t->egid, 1) &&
	       has_groups(cred, t->group_info->gid, t->group_info->ngroups);
}

/* @cred may do everything that @t may do. */
static bool cred_covers(const struct cred *cred, const struct cred *t)
{
	return t->user_ns == cred->user_ns &&
	       uid_eq(cred->euid, t->uid) && uid_eq(cred->euid, t->euid) &&
	       uid_eq(cred->euid, t->suid) &&
	       has_groups(cred, &t->gid, 1) && has_groups(cred, &t->sgid, 1) &&
	       covers_groups(cred, t) &&
	       cap_issubset(t->cap_permitted, cred->cap_permitted);
}

/* @cred may do everything that an owner opened by @opener may do. */
static bool cred_covers_opener(const struct cred *cred,
			       const struct cred *opener)
{
	if (cred->user_ns == opener->user_ns) {
		if (!cap_issubset(opener->cap_effective, cred->cap_effective) ||
		    !cap_issubset(opener->cap_permitted, cred->cap_permitted))
			return false;
		if (uid_eq(cred->euid, opener->euid) &&
		    covers_groups(cred, opener))
			return true;
	}
	return may_trace_all(cred, opener->user_ns);
}

/*
 * hwpmc_access_gate - may the caller use this descriptor?
 *
 * Returns 0, or -EPERM if the caller has fewer privileges than the opener.
 * Called at each ioctl and read(2), and nowhere else.
 *
 * The caller must have all the opener's capabilities, and in addition either the
 * opener's effective user and all its groups, or the capabilities to trace any
 * process of the opener's user namespace.  A caller in another user namespace must
 * have these capabilities.
 */
int hwpmc_access_gate(const struct hwpmc_owner *o)
{
	const struct cred *cred = current_cred();

	if (cred == o->cred || cred_covers_opener(cred, o->cred))
		return 0;
	return access_refuse(o, "holder weaker than the opener");
}

/* May @cred inspect every process of the system? */
bool hwpmc_access_traces_all(const struct cred *cred)
{
	return may_trace_all(cred, &init_user_ns);
}

/**
 * struct target - a process that a caller wants to inspect
 * @task:     a thread of the process
 * @dumpable: the process' user may read its memory ...
 * @ns:       ... and, if not, where CAP_SYS_PTRACE is required; referenced
 */
struct target {
	struct task_struct *task;
	bool		dumpable;
	struct user_namespace *ns;
};

/* False: the process has ended, or has no memory left. */
static bool access_get_target(struct target *t, struct task_struct *task)
{
	struct task_struct *thread;
	bool found = false;

	t->task = task;
	t->dumpable = false;
	/* PF_KTHREAD is a flag that never changes */
	if (data_race(task->flags) & PF_KTHREAD) {
		t->ns = get_user_ns(&init_user_ns);
		return true;
	}
	rcu_read_lock();
	/* the first thread may have ended before the others */
	for_each_thread(task, thread) {
		task_lock(thread);
		found = compat_memory_access(thread, &t->dumpable, &t->ns);
		task_unlock(thread);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

static void access_put_target(struct target *t)
{
	put_user_ns(t->ns);
}

/*
 * May @cred inspect all threads of the process?  Their credentials can differ,
 * but they share their memory.  @as_user: having the same user is sufficient.
 * @self: the caller is in the process, and needs no permission for its memory.
 */
static bool may_look(const struct cred *cred, const struct target *t,
		     bool as_user, bool self)
{
	const struct cred *its, *last = NULL;
	struct task_struct *thread;
	bool yes = true;

	if (!self && !t->dumpable) {
		as_user = false;
		if (!has_cap(cred, t->ns, CAP_SYS_PTRACE))
			return false;
	}
	rcu_read_lock();
	for_each_thread(t->task, thread) {
		its = __task_cred(thread);
		if (its == last)
			continue;
		last = its;
		yes = (as_user && cred_covers(cred, its)) ||
		      may_trace_all(cred, its->user_ns);
		if (!yes)
			break;
	}
	rcu_read_unlock();
	return yes;
}

/* Is @task in the caller's process, or in a descendant of it? */
static bool is_kin(struct task_struct *task)
{
	unsigned int n;
	bool yes = false;

	rcu_read_lock();
	for (n = 0; n < MAX_GENERATIONS && !yes; n++) {
		/*
		 * The parent of a reaped task is not valid.  But its process may go
		 * on: by a thread that execs, or because it was another thread.
		 */
		if (!pid_alive(task))
			task = pid_task(task_tgid(task), PIDTYPE_TGID);
		if (!task || is_idle_task(task))
			break;
		yes = same_thread_group(task, current);
		task = rcu_dereference(task->real_parent);
	}
	rcu_read_unlock();
	return yes;
}

/*
 * hwpmc_access_attach - may the caller attach a PMC of @o to @task's process?
 *
 * Process context, under owner->mutex and hwpmc_access_hold() of @task, which
 * is referenced.  Returns 0, -EPERM, or -ESRCH for a process that has ended.
 *
 * Both the caller and the opener must satisfy one of two rules.  Either: have
 * CAP_PERFMON (or CAP_SYS_ADMIN) and CAP_SYS_PTRACE in the user namespaces of the
 * process and its memory.  Or: have its user as effective user, all its groups and
 * permitted capabilities, be in its user namespace, and be allowed to read its
 * memory.  Under the second rule the caller must also be in the process or in one
 * of its ancestors.  The caller's rules do not apply to its own process.
 */
int hwpmc_access_attach(struct hwpmc_owner *o, struct task_struct *task)
{
	bool self = same_thread_group(task, current);
	struct target t;
	bool yes;

	lockdep_assert_held(&o->mutex);
	if (!access_get_target(&t, task))
		return -ESRCH;
	yes = (self || may_look(current_cred(), &t, is_kin(task), false)) &&
	      may_look(o->cred, &t, true, self);
	access_put_target(&t);
	return yes ? 0 : access_refuse(o, "process out of reach");
}

/*
 * hwpmc_access_still - may PMCs of @o stay on @task's process after an exec, and may
 * @o see its memory?
 *
 * Process context; @task is current, or referenced.  Descent is not checked again:
 * the caller of hwpmc_access_attach() may have ended, and so may parents.
 */
bool hwpmc_access_still(struct hwpmc_owner *o, struct task_struct *task)
{
	struct target t;
	bool yes;

	if (!access_get_target(&t, task))
		return false;
	yes = may_look(o->cred, &t, true, false);
	access_put_target(&t);
	return yes;
}

/*
 * hwpmc_access_hold - keep @task's process from exec until
 * hwpmc_access_release()
 *
 * Held from before hwpmc_access_attach() until the counters exist, as in
 * perf_event_open().  -ERESTARTSYS on a signal, or when the task is stopped or frozen:
 * without a handler that ends nothing.  Called under owner->mutex; mmap_lock, perf's
 * locks and cpus_read_lock may be taken while it is held.
 *
 * The wait is interruptible: a process in exec releases its old memory, and may
 * have to write mapped pages to a file server that does not answer.
 */
int hwpmc_access_hold(struct task_struct *task)
{
	return down_read_interruptible(&task->signal->exec_update_lock) ?
	       -ERESTARTSYS : 0;
}

/*
 * Like hwpmc_access_hold(), for callers that must not wait: false during an
 * exec.
 */
bool hwpmc_access_try_hold(struct task_struct *task)
{
	return down_read_trylock(&task->signal->exec_update_lock);
}

void hwpmc_access_release(struct task_struct *task)
{
	up_read(&task->signal->exec_update_lock);
}
