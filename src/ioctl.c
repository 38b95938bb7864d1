// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctls: arguments in, dispatch, arguments out.
 *
 * The rules of each operation are where it is carried out.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "hwpmc.h"

/* any operation's argument */
union arg {
	struct hwpmc_configurelog configurelog;
	struct hwpmc_writelog writelog;
	struct hwpmc_cpuinfo cpuinfo;
	struct hwpmc_driverstats driverstats;
	struct hwpmc_moduleversion moduleversion;
	struct hwpmc_allocate allocate;
	struct hwpmc_simple simple;
	struct hwpmc_setcount setcount;
	struct hwpmc_rw rw;
};

static int do_configurelog(struct hwpmc_owner *o, union arg *a)
{
	if (a->configurelog.flags)
		return -EINVAL;
	return log_configure(o, a->configurelog.fd);
}

static int do_rotatelog(struct hwpmc_owner *o, union arg *a)
{
	if (a->configurelog.flags)
		return -EINVAL;
	return log_rotate(o, a->configurelog.fd);
}

static int do_flushlog(struct hwpmc_owner *o, union arg *a)
{
	return log_flush(o);
}

static int do_closelog(struct hwpmc_owner *o, union arg *a)
{
	return log_close(o);
}

static int do_writelog(struct hwpmc_owner *o, union arg *a)
{
	const struct hwpmc_writelog *w = &a->writelog;

	if (w->len)
		return w->userdata ? -EINVAL :
		       log_write_records(o, w->records, w->len);
	if (w->records)
		return -EINVAL;
	return log_userdata(o, w->userdata);
}

static int do_getcpuinfo(struct hwpmc_owner *o, union arg *a)
{
	struct hwpmc_cpuinfo *c = &a->cpuinfo;

	memset(c, 0, sizeof(*c));
	c->cputype = PMCLOG_CPUTYPE_GENERIC;
	c->ncpu = nr_cpu_ids;
	c->ncpu_online = num_online_cpus();
	c->npmc = HWPMC_NROW;
	c->nclass = 1;
	c->classes[0].pmc_class = HWPMC_CLASS_SOFT;
	c->classes[0].caps = HWPMC_CAPS_OFFERED;
	c->classes[0].width = 64;
	c->classes[0].num = HWPMC_NROW;
	compat_cpuid(c->cpuid, sizeof(c->cpuid));
	return 0;
}

static int do_getdriverstats(struct hwpmc_owner *o, union arg *a)
{
	if (a->driverstats.reserved)
		return -EINVAL;
	switch (a->driverstats.scope) {
	case HWPMC_STATS_MODULE:
		stats_module(&a->driverstats);
		break;
	case HWPMC_STATS_OWNER:
		stats_owner(o, &a->driverstats);
		a->driverstats.scope = HWPMC_STATS_OWNER;
		break;
	default:
		return -EINVAL;
	}
	return 0;
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

static int do_allocate(struct hwpmc_owner *o, union arg *a)
{
	return pmc_allocate(o, &a->allocate);
}

static int do_setcount(struct hwpmc_owner *o, union arg *a)
{
	return pmc_setcount(o, &a->setcount);
}

static int do_rw(struct hwpmc_owner *o, union arg *a)
{
	return pmc_rw(o, &a->rw);
}

static int simple(struct hwpmc_owner *o, union arg *a,
		  int (*fn)(struct hwpmc_owner *o, u32 id))
{
	return a->simple.reserved ? -EINVAL : fn(o, a->simple.id);
}

static int do_release(struct hwpmc_owner *o, union arg *a)
{
	return simple(o, a, pmc_release);
}

static int do_start(struct hwpmc_owner *o, union arg *a)
{
	return simple(o, a, pmc_start);
}

static int do_stop(struct hwpmc_owner *o, union arg *a)
{
	return simple(o, a, pmc_stop);
}

struct op {
	int (*fn)(struct hwpmc_owner *o, union arg *a);
	u32 cmd;
};

#define OP(name, func)	[_IOC_NR(HWPMC_IOC_##name)] = \
			{ .fn = (func), .cmd = HWPMC_IOC_##name }

static const struct op ops[] = {
	OP(CONFIGURELOG,	do_configurelog),
	OP(FLUSHLOG,		do_flushlog),
	OP(GETCPUINFO,		do_getcpuinfo),
	OP(GETDRIVERSTATS,	do_getdriverstats),
	OP(GETMODULEVERSION,	do_getmoduleversion),
	OP(PMCALLOCATE,		do_allocate),
	OP(PMCRELEASE,		do_release),
	OP(PMCRW,		do_rw),
	OP(PMCSETCOUNT,		do_setcount),
	OP(PMCSTART,		do_start),
	OP(PMCSTOP,		do_stop),
	OP(WRITELOG,		do_writelog),
	OP(CLOSELOG,		do_closelog),
	OP(ROTATELOG,		do_rotatelog),
};

/* An older client's structure ends early, a newer one's must end in zeros. */
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

static int run(struct hwpmc_owner *o, const struct op *op, unsigned int cmd,
	       void __user *uarg)
{
	union arg a;
	int err;

	err = copy_in(&a, cmd, uarg, op);
	if (err)
		return err;
	if (mutex_lock_interruptible(&o->mutex))
		return -ERESTARTSYS;
	err = op->fn(o, &a);
	/*
	 * An id that its owner cannot learn would be lost until the close;
	 * nothing else that an operation returns needs to be undone.
	 */
	if (!err && copy_out(uarg, cmd, &a, op)) {
		if (op->fn == do_allocate)
			pmc_release(o, a.allocate.id);
		err = -EFAULT;
	}
	mutex_unlock(&o->mutex);
	return err;
}

long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hwpmc_owner *o = file->private_data;
	unsigned int nr = _IOC_NR(cmd);
	const struct op *op;
	int err;

	atomic64_inc(&o->syscalls);
	err = -ENOTTY;
	if (_IOC_TYPE(cmd) != HWPMC_IOC_MAGIC || nr >= ARRAY_SIZE(ops))
		goto out;
	op = &ops[nr];
	if (!op->fn || _IOC_DIR(cmd) != _IOC_DIR(op->cmd))
		goto out;
	err = run(o, op, cmd, (void __user *)arg);
out:
	if (err)
		atomic64_inc(&o->syscall_errors);
	return err;
}
