// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctls: the gate, arguments in, dispatch, arguments out.
 *
 * The rules of each operation are in the file that carries it out.
 *
 * If an answer cannot be written to the caller's memory, the ioctl returns EFAULT
 * and the operation has not happened.  One mechanism ensures this: an operation
 * that changes something and has an answer has an undo, which runs under the same
 * hold of owner->mutex.  Writing the answer first is no alternative: the memory can
 * be unmapped while the operation runs, and RECORD's answer is known only at its end.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "log/flight.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "trace.h"
#include "unwind/unwind.h"

/* any operation's argument */
union arg {
	struct hwpmc_configurelog configurelog;
	struct hwpmc_writelog writelog;
	struct hwpmc_cpuinfo cpuinfo;
	struct hwpmc_driverstats driverstats;
	struct hwpmc_moduleversion moduleversion;
	struct hwpmc_pmcinfo pmcinfo;
	struct hwpmc_dyneventinfo dyneventinfo;
	struct hwpmc_admin admin;
	struct hwpmc_allocate allocate;
	struct hwpmc_attach attach;
	struct hwpmc_simple simple;
	struct {
		struct hwpmc_setcount setcount;
		u64 old_count;		/* not visible to the user */
	};
	struct hwpmc_rw rw;
	struct hwpmc_filter filter;
	struct {
		struct hwpmc_record record;
		struct recorded recorded;	/* not visible to the user */
	};
	struct hwpmc_atbase atbase;
	struct hwpmc_snapshot snapshot;
	struct hwpmc_exittrigger exittrigger;
	struct hwpmc_unwindtable unwindtable;
	struct hwpmc_setbudget setbudget;
	struct hwpmc_getbudget getbudget;
	struct hwpmc_setcpus setcpus;
	struct {
		struct hwpmc_unwindnext unwindnext;
		struct file *unwindfile;	/* not visible to the user */
	};
};

static int do_configurelog(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_logging_configure(o, &a->configurelog);
}

static int do_rotatelog(struct hwpmc_owner *o, union arg *a)
{
	const struct hwpmc_configurelog *c = &a->configurelog;

	if ((c->flags & ~HWPMC_LOG_PACKED) || c->size)
		return -EINVAL;
	return hwpmc_logging_rotate(o, c->fd, c->flags);
}

static int do_flushlog(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_log_flush(o);
}

static int do_closelog(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_logging_close(o);
}

static int do_writelog(struct hwpmc_owner *o, union arg *a)
{
	const struct hwpmc_writelog *w = &a->writelog;

	if (w->len)
		return w->userdata ? -EINVAL :
		       hwpmc_log_write_records(o, w->records, w->len);
	if (w->records)
		return -EINVAL;
	return hwpmc_log_userdata(o, w->userdata);
}

static int do_getcpuinfo(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_info_cpus(&a->cpuinfo);
	return 0;
}

/* Not under owner->mutex: the log's reader may ask while others wait for it. */
static int do_getdriverstats(struct hwpmc_owner *o, union arg *a)
{
	if (a->driverstats.reserved)
		return -EINVAL;
	switch (a->driverstats.scope) {
	case HWPMC_STATS_MODULE:
		return hwpmc_stats_module(o, &a->driverstats);
	case HWPMC_STATS_OWNER:
		return hwpmc_stats_own(o, &a->driverstats);
	default:
		return -EINVAL;
	}
}

static int do_getmoduleversion(struct hwpmc_owner *o, union arg *a)
{
	struct hwpmc_moduleversion *v = &a->moduleversion;

	if (v->reserved)
		return -EINVAL;
	if (v->version >> 24 > HWPMC_ABI_VERSION >> 24)
		return -EPROTONOSUPPORT;
	v->version = HWPMC_ABI_VERSION;
	return 0;
}

static int do_getpmcinfo(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_info_pmcs(o, &a->pmcinfo);
}

static int do_getdyneventinfo(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_info_events(&a->dyneventinfo);
}

static int do_admin(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_rows_admin(o, &a->admin);
}

static int do_allocate(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_allocate(o, &a->allocate);
}

static void undo_allocate(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_pmc_allocate_undo(o, a->allocate.id);
}

static int do_setcount(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_setcount(o, &a->setcount, &a->old_count);
}

static void undo_setcount(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_pmc_setcount_undo(o, a->setcount.id, a->old_count);
}

static int do_rw(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_rw(o, &a->rw);
}

static void undo_rw(struct hwpmc_owner *o, union arg *a)
{
	if (a->rw.flags & HWPMC_F_NEWVALUE)
		hwpmc_pmc_rw_undo(o, a->rw.id);
}

static int do_attach(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_attach(o, &a->attach);
}

static int do_detach(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_detach(o, &a->attach);
}

static int do_filter(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_pmc_filter(o, &a->filter);
}

static int do_record(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_recordall_run(o, &a->record, &a->recorded);
}

static void undo_record(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_recordall_undo(o, &a->record, &a->recorded);
}

static int do_getatbase(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_atbase_get(o, &a->atbase);
}

static int do_snapshot(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_logging_snapshot(o, &a->snapshot);
}

static int do_exittrigger(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_trigger_exits(o, &a->exittrigger);
}

/* Each pass of the writer thread frees some of the tables that nobody uses. */
static int do_unwindtable(struct hwpmc_owner *o, union arg *a)
{
	int err = hwpmc_unwind_give(o, &a->unwindtable);

	hwpmc_log_end_rest(o);
	return err;
}

static int do_unwindnext(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_unwind_next(o, &a->unwindnext, &a->unwindfile);
}

static void undo_unwindnext(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_unwind_next_undo(o, &a->unwindnext, a->unwindfile);
}

static void done_unwindnext(union arg *a)
{
	if (a->unwindfile)
		fd_install(a->unwindnext.fd, a->unwindfile);
}

static int do_setbudget(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_budget_set(o, &a->setbudget);
}

static int do_getbudget(struct hwpmc_owner *o, union arg *a)
{
	hwpmc_budget_get(o, &a->getbudget);
	return 0;
}

static int do_setcpus(struct hwpmc_owner *o, union arg *a)
{
	return hwpmc_cpus_set(o, &a->setcpus);
}

static int do_pmc_id(struct hwpmc_owner *o, union arg *a,
		     int (*fn)(struct hwpmc_owner *o, u32 id))
{
	return a->simple.reserved ? -EINVAL : fn(o, a->simple.id);
}

static int do_release(struct hwpmc_owner *o, union arg *a)
{
	return do_pmc_id(o, a, hwpmc_pmc_release);
}

static int do_start(struct hwpmc_owner *o, union arg *a)
{
	return do_pmc_id(o, a, hwpmc_pmc_start);
}

static int do_stop(struct hwpmc_owner *o, union arg *a)
{
	return do_pmc_id(o, a, hwpmc_pmc_stop);
}

/*
 * @undo: undoes what @fn has done, given the argument as @fn left it
 * @done: the part that runs only after the caller has the answer
 * @never: errno of an operation that this module cannot support
 * @unlocked: runs without owner->mutex, so it waits for no other operation, or only for
 *	the workers of its user
 */
struct op {
	int (*fn)(struct hwpmc_owner *o, union arg *a);
	void (*undo)(struct hwpmc_owner *o, union arg *a);
	void (*done)(union arg *a);
	u32 cmd;
	int never;
	bool unlocked;
};

#define UNDOABLE(name, func, undo_func)				\
	[_IOC_NR(HWPMC_IOC_##name)] = {				\
		.fn = (func), .undo = (undo_func), .cmd = HWPMC_IOC_##name \
	}
#define OP(name, func)	UNDOABLE(name, func, NULL)
#define UNLOCKED(name, func)					\
	[_IOC_NR(HWPMC_IOC_##name)] = {				\
		.fn = (func), .cmd = HWPMC_IOC_##name, .unlocked = true \
	}
#define NEVER(name, error)					\
	[_IOC_NR(HWPMC_IOC_##name)] = {				\
		.never = (error), .cmd = HWPMC_IOC_##name	\
	}

static const struct op ops[] = {
	OP(CONFIGURELOG,	do_configurelog),
	OP(FLUSHLOG,		do_flushlog),
	OP(GETCPUINFO,		do_getcpuinfo),
	UNLOCKED(GETDRIVERSTATS, do_getdriverstats),
	OP(GETMODULEVERSION,	do_getmoduleversion),
	UNLOCKED(GETPMCINFO,	do_getpmcinfo),
	OP(GETDYNEVENTINFO,	do_getdyneventinfo),
	OP(PMCADMIN,		do_admin),
	UNDOABLE(PMCALLOCATE,	do_allocate, undo_allocate),
	OP(PMCATTACH,		do_attach),
	OP(PMCDETACH,		do_detach),
	NEVER(PMCGETMSR,	-ENOSYS),
	OP(PMCRELEASE,		do_release),
	UNDOABLE(PMCRW,		do_rw, undo_rw),
	UNDOABLE(PMCSETCOUNT,	do_setcount, undo_setcount),
	OP(PMCSTART,		do_start),
	OP(PMCSTOP,		do_stop),
	OP(WRITELOG,		do_writelog),
	OP(CLOSELOG,		do_closelog),
	OP(ROTATELOG,		do_rotatelog),
	OP(PMCFILTER,		do_filter),
	UNDOABLE(RECORD,	do_record, undo_record),
	OP(GETATBASE,		do_getatbase),
	OP(SNAPSHOT,		do_snapshot),
	OP(EXITTRIGGER,		do_exittrigger),
	UNLOCKED(UNWINDTABLE,	do_unwindtable),
	[_IOC_NR(HWPMC_IOC_UNWINDNEXT)] = {
		.fn = do_unwindnext, .undo = undo_unwindnext,
		.done = done_unwindnext, .cmd = HWPMC_IOC_UNWINDNEXT,
	},
	OP(SETBUDGET,		do_setbudget),
	OP(GETBUDGET,		do_getbudget),
	OP(SETCPUS,		do_setcpus),
};

/* An older client's structure ends early; a newer one's must end in zeros. */
static int copy_in(union arg *a, unsigned int cmd, void __user *uarg,
		   const struct op *op)
{
	memset(a, 0, sizeof(*a));
	if (!(_IOC_DIR(cmd) & _IOC_WRITE))
		return 0;
	return copy_struct_from_user(a, _IOC_SIZE(op->cmd), uarg,
				     _IOC_SIZE(cmd));
}

static int copy_out(void __user *uarg, unsigned int cmd, const union arg *a,
		    const struct op *op)
{
	size_t size = min(_IOC_SIZE(cmd), _IOC_SIZE(op->cmd));

	if (!(_IOC_DIR(cmd) & _IOC_READ))
		return 0;
	return copy_to_user(uarg, a, size) ? -EFAULT : 0;
}

static int ioctl_run_op(struct hwpmc_owner *o, const struct op *op,
			unsigned int cmd, void __user *uarg)
{
	union arg a;
	int err;

	err = copy_in(&a, cmd, uarg, op);
	if (err)
		return err;
	if (!op->unlocked && hwpmc_owner_lock(o))
		return -ERESTARTSYS;
	err = op->fn(o, &a);
	if (!err && copy_out(uarg, cmd, &a, op)) {
		if (op->undo)
			op->undo(o, &a);
		err = -EFAULT;
	} else if (!err && op->done) {
		op->done(&a);
	}
	if (!op->unlocked)
		hwpmc_owner_unlock(o);
	return err;
}

long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hwpmc_owner *o = file->private_data;
	unsigned int nr = _IOC_NR(cmd);
	const struct op *op;
	int err;

	atomic64_inc(&o->calls.done);
	err = -ENOTTY;
	if (_IOC_TYPE(cmd) != HWPMC_IOC_MAGIC || nr >= ARRAY_SIZE(ops))
		goto out;
	op = &ops[array_index_nospec(nr, ARRAY_SIZE(ops))];
	if (!op->cmd || _IOC_DIR(cmd) != _IOC_DIR(op->cmd))
		goto out;
	err = hwpmc_access_gate(o) ?: op->never ?:
	      ioctl_run_op(o, op, cmd, (void __user *)arg);
out:
	if (err)
		atomic64_inc(&o->calls.failed);
	trace_hwpmc_ioctl(o, nr, err);
	return err;
}
