// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions.
 *
 * Counters made inside the kernel pass by all checks of perf_event_open(), so
 * rules as strict are here.  ptrace_may_access() and the security modules' hooks
 * are not exported: Yama, SELinux and the like cannot be asked, so without
 * privilege a process attaches only to itself and to its descendants.
 *
 * Descriptors can be passed on, and credentials change while a descriptor is
 * held.  There is one gate for that, at each ioctl and read(2): a holder weaker
 * than the opener is refused everything.  Behind the gate the opener's
 * credentials, which the owner references and which never change, decide; only to
 * attach to a process, the caller must be allowed as well.
 *
 * An answer holds as long as the target neither exec's nor changes its
 * credentials.  exec: access_hold() keeps the target from it until its counters
 * are in place.  After that perf takes all counters away from a process that
 * exec's what it may not be looked at in (set-uid, set-gid, file capabilities,
 * not readable); code that puts them back, or follows into a child, calls
 * access_still() first.  setuid(2) and the like: as with perf and ptrace, the
 * target stays attached.
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
#include "pmc.h"
#include "trace.h"

static int refuse(const struct hwpmc_owner *o, const char *why)
{
	trace_hwpmc_refusal(o, why, -EPERM);
	return -EPERM;
}

/* May profile the kernel. */
bool pmc_privileged(const struct hwpmc_owner *o)
{
	return file_ns_capable(o->file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(o->file, &init_user_ns, CAP_SYS_ADMIN);
}

/* May see what all processes do, in user mode. */
bool access_system(const struct hwpmc_owner *o)
{
	return o->cred->user_ns == &init_user_ns &&
	       (param_unprivileged() || pmc_privileged(o));
}

/* May change what holds for all owners. */
bool access_admin(const struct hwpmc_owner *o)
{
	return file_ns_capable(o->file, &init_user_ns, CAP_SYS_ADMIN);
}

static bool is_user_only(const struct hwpmc_allocate *a)
{
	return (a->caps & HWPMC_CAP_USER) && !(a->caps & HWPMC_CAP_SYSTEM);
}

/* perf asks for more before it puts a breakpoint into the kernel. */
static int access_breakpoint(const struct hwpmc_owner *o,
			     const struct hwpmc_allocate *a)
{
	if (a->type != PERF_TYPE_BREAKPOINT || is_user_only(a) ||
	    access_admin(o))
		return 0;
	return refuse(o, "breakpoint in the kernel");
}

/*
 * access_allocate - may this PMC be had?
 *
 * Without privilege the kernel stays out of sight, and so do all event sources
 * that tell of more than one's own; system modes are the administrator's to open.
 */
int access_allocate(const struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	if (mode_is_system(a->mode) && !access_system(o))
		return refuse(o, "system mode without privilege");
	if (pmc_privileged(o))
		return access_breakpoint(o, a);
	if (a->caps & HWPMC_CAP_SYSTEM)
		return refuse(o, "kernel mode without privilege");
	/* tables say what of a stack is read, and that is anybody's */
	if (mode_is_system(a->mode) && (a->flags & HWPMC_F_UNWIND))
		return refuse(o, "unwind tables without privilege");
	if (source_is_private(a->type, a->config, a->mode))
		return refuse(o, "event source without privilege");
	a->caps |= HWPMC_CAP_USER;
	return 0;
}

/* -EPERM: even the privileged get nothing of the kernel. */
int access_locked(void)
{
	return security_locked_down(LOCKDOWN_PERF);
}

/*
 * Of the current credentials.  What perf asks before it lets in anybody at all is
 * not exported: a security module's "open", and the level at which Debian's
 * kernels let in none but CAP_SYS_ADMIN.  To be let at the kernel takes more, so
 * that is asked for everything.
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
 * access_perf - would perf_event_open() let the caller and the opener, too?
 *
 * Asked only with the parameter perf_rules, and never less than perf would ask.
 * May sleep.
 */
int access_perf(struct hwpmc_owner *o, bool system, bool tracepoint)
{
	const struct cred *old;
	int err;

	might_sleep();
	if (!param_perf_rules())
		return 0;
	err = perf_allows(system, tracepoint);
	if (err)
		return err;
	old = override_creds(o->cred);	/* the owner's reference */
	err = perf_allows(system, tracepoint);
	revert_creds(old);
	return err;
}

/* What a locked-down kernel does not let be allocated. */
int access_lockdown(const struct hwpmc_allocate *a)
{
	if (is_user_only(a) && !source_is_private(a->type, a->config, a->mode))
		return 0;
	return access_locked();
}

/* The caller holds a reference to @cred: before 6.14 this takes more of them. */
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

/* Lists of groups are sorted; the kernel's own search relies on it. */
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

/* All groups that @t acts with are among @cred's. */
static bool covers_groups(const struct cred *cred, const struct cred *t)
{
	return has_groups(cred, &t->egid, 1) &&
	       has_groups(cred, t->group_info->gid, t->group_info->ngroups);
}

/* There is nothing that @t may do and @cred may not. */
static bool covers(const struct cred *cred, const struct cred *t)
{
	return t->user_ns == cred->user_ns &&
	       uid_eq(cred->euid, t->uid) && uid_eq(cred->euid, t->euid) &&
	       uid_eq(cred->euid, t->suid) &&
	       has_groups(cred, &t->gid, 1) && has_groups(cred, &t->sgid, 1) &&
	       covers_groups(cred, t) &&
	       cap_issubset(t->cap_permitted, cred->cap_permitted);
}

/* There is nothing that an owner opened by @opener may do and @cred may not. */
static bool replaces(const struct cred *cred, const struct cred *opener)
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
 * access_gate - may the caller use this descriptor?
 *
 * Returns 0, or -EPERM: the caller is weaker than the opener.  Asked at each
 * ioctl and read(2), by nothing else.
 *
 * The caller must have all the opener's capabilities and either its effective
 * user and all its groups, or what it takes to trace any process of its user
 * namespace; in another user namespace, the latter.
 */
int access_gate(const struct hwpmc_owner *o)
{
	const struct cred *cred = current_cred();

	if (cred == o->cred || replaces(cred, o->cred))
		return 0;
	return refuse(o, "holder weaker than the opener");
}

/* @cred may look into every process there is. */
bool access_traces_all(const struct cred *cred)
{
	return may_trace_all(cred, &init_user_ns);
}

/**
 * struct target - a process somebody wants to look at
 * @task:     a thread of it
 * @dumpable: its user may look into its memory ...
 * @ns:       ... and, if not, who has CAP_SYS_PTRACE here; referenced
 */
struct target {
	struct task_struct *task;
	bool		dumpable;
	struct user_namespace *ns;
};

/* False: the process is gone, or nearly. */
static bool target_get(struct target *t, struct task_struct *task)
{
	struct task_struct *thread;
	bool found = false;

	t->task = task;
	t->dumpable = false;
	/* one of its flags that never change */
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

static void target_put(struct target *t)
{
	put_user_ns(t->ns);
}

/*
 * May @cred look at all threads of the process?  Their credentials can differ,
 * but they share their memory.  @as_user: not only by privilege.  @self: the
 * process asks for itself, and needs no leave to look into its memory.
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
		yes = (as_user && covers(cred, its)) ||
		      may_trace_all(cred, its->user_ns);
		if (!yes)
			break;
	}
	rcu_read_unlock();
	return yes;
}

/* Is @task of the caller's process, or of a descendant of that? */
static bool is_kin(struct task_struct *task)
{
	unsigned int n;
	bool yes = false;

	rcu_read_lock();
	for (n = 0; n < MAX_GENERATIONS && !yes; n++) {
		yes = same_thread_group(task, current);
		/* who is gone does not say any more who his parent was */
		if (!pid_alive(task) || is_idle_task(task))
			break;
		task = rcu_dereference(task->real_parent);
	}
	rcu_read_unlock();
	return yes;
}

/*
 * access_attach - may the caller attach a PMC of @o to @task's process?
 *
 * Process context, under owner->mutex and access_hold() of @task, which is
 * referenced.  Returns 0, -EPERM, or -ESRCH for a process that has ended.
 *
 * Both the caller and the opener must have CAP_PERFMON (or CAP_SYS_ADMIN) and
 * CAP_SYS_PTRACE in the user namespaces of the process and its memory; or have
 * its user as their effective one, all its groups and permitted capabilities, be
 * of the same user namespace, and allowed to look into its memory.  The caller
 * then also must be of the process, or of one that it descends from.  To its own
 * process the caller's rules do not apply.
 */
int access_attach(struct hwpmc_owner *o, struct task_struct *task)
{
	bool self = same_thread_group(task, current);
	struct target t;
	bool yes;

	lockdep_assert_held(&o->mutex);
	if (!target_get(&t, task))
		return -ESRCH;
	yes = (self || may_look(current_cred(), &t, is_kin(task), false)) &&
	      may_look(o->cred, &t, true, self);
	target_put(&t);
	return yes ? 0 : refuse(o, "process out of reach");
}

/*
 * access_still - may PMCs of @o look at @task's process, after exec or fork?
 *
 * Process context; @task is current, or referenced.  Descent is not asked again:
 * the caller of access_attach() is gone, and parents may be.
 */
bool access_still(struct hwpmc_owner *o, struct task_struct *task)
{
	struct target t;
	bool yes;

	if (!target_get(&t, task))
		return false;
	yes = may_look(o->cred, &t, true, false);
	target_put(&t);
	return yes;
}

/*
 * access_hold - keep @task's process from exec until access_release()
 *
 * From before access_attach() until its counters are there, as
 * perf_event_open() does.  Returns -EINTR when interrupted.  Under owner->mutex;
 * mmap_lock, perf's locks and cpus_read_lock may be taken within.
 *
 * Who execs gives his old memory back meanwhile, and what he had mapped may be
 * for a file server to write that does not answer.
 */
int access_hold(struct task_struct *task)
{
	return down_read_interruptible(&task->signal->exec_update_lock);
}

/* The same for callers that must not wait: false while it execs. */
bool access_try_hold(struct task_struct *task)
{
	return down_read_trylock(&task->signal->exec_update_lock);
}

void access_release(struct task_struct *task)
{
	up_read(&task->signal->exec_update_lock);
}
