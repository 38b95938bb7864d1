// SPDX-License-Identifier: GPL-2.0-only
/* struct module_memory instead of module_layout */
#include <linux/module.h>

unsigned int probe(const struct module *mod);
unsigned int probe(const struct module *mod)
{
#ifdef PROBE_OLD
	return mod->core_layout.text_size;
#else
	return mod->mem[MOD_TEXT].size;
#endif
}
