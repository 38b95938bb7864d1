// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel modules that are loaded and unloaded during sampling.
 *
 * The list of the modules that are already loaded is not exported: pmcstat reads
 * them from /sys and passes them on through WRITELOG.
 */
#include <linux/module.h>
#include <linux/notifier.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "sample/record.h"
#include "sample/sample.h"

#define NAME_LEN	ALIGN(MODULE_NAME_LEN + 2, 4)

struct kmod_in {
	struct pmclog_map_in m;
	char path[NAME_LEN];
};

struct kmod_ext {
	struct pmclog_ext_module e;
	char name[NAME_LEN];
};

/* Commits a complete record to this CPU's ring of each owner that follows processes. */
static void commit_all(const void *rec, u32 len)
{
	struct hwpmc_owner *o;

	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		if (READ_ONCE(o->log.maker.tell_kernel) &&
		    owner_has_cpu(o, smp_processor_id()) &&
		    !hwpmc_record_commit(o, rec, len, PMCLOG_PID_KERNEL))
			atomic64_inc(&o->log.kept.no_room);
	preempt_enable();
	rcu_read_unlock();
}

static void module_in(const struct module *mod)
{
	struct kmod_in in = {};
	struct kmod_ext ext = {};
	unsigned long start, len;

	start = compat_module_text(mod, &len);
	in.m.h.header = PMCLOG_HEADER(PMCLOG_T_MAP_IN, sizeof(in));
	in.m.pid = PMCLOG_PID_KERNEL;
	in.m.start = start;
	snprintf(in.path, sizeof(in.path), "[%s]", mod->name);
	commit_all(&in, sizeof(in));

	ext.e.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(ext));
	ext.e.e.cookie = PMCLOG_EXT_COOKIE;
	ext.e.e.subtype = PMCLOG_EXT_MODULE;
	ext.e.start = start;
	ext.e.len = len;
	strscpy(ext.name, mod->name, sizeof(ext.name));
	commit_all(&ext, sizeof(ext));
}

static void module_out(const struct module *mod)
{
	struct pmclog_map_out out = {};
	unsigned long len;

	out.h.header = PMCLOG_HEADER(PMCLOG_T_MAP_OUT, sizeof(out));
	out.pid = PMCLOG_PID_KERNEL;
	out.start = compat_module_text(mod, &len);
	out.end = out.start + len;
	if (len)
		commit_all(&out, sizeof(out));
}

static int module_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	switch (event) {
	case MODULE_STATE_COMING:
		module_in(data);
		break;
	case MODULE_STATE_GOING:
		module_out(data);
		hwpmc_chain_cache_forget();
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call = module_event,
};

int hwpmc_kmod_register(void)
{
	BUILD_BUG_ON(offsetof(struct kmod_in, path) !=
		     sizeof(struct pmclog_map_in));
	BUILD_BUG_ON(offsetof(struct kmod_ext, name) !=
		     sizeof(struct pmclog_ext_module));
	/* for modules unloaded while the notifier was not registered */
	hwpmc_chain_cache_forget();
	return register_module_notifier(&module_nb);
}

void hwpmc_kmod_unregister(void)
{
	unregister_module_notifier(&module_nb);
}
