// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that does nothing: hwpmc logs each module that is loaded or unloaded.
 */
#include <linux/init.h>
#include <linux/module.h>

static int __init fuzz_nothing_init(void)
{
	return 0;
}

static void __exit fuzz_nothing_exit(void)
{
}

module_init(fuzz_nothing_init);
module_exit(fuzz_nothing_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("nothing");
