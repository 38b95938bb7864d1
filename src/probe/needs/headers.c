// SPDX-License-Identifier: GPL-2.0-only
/* its headers cannot compile the simplest module */
#include <linux/module.h>

int probe(const struct module *mod);
int probe(const struct module *mod)
{
	return mod->state;
}
