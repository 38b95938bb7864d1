// SPDX-License-Identifier: GPL-2.0-only
/* it has no kprobes (CONFIG_KPROBES), which tell of mappings */
#include <linux/kprobes.h>

#ifndef CONFIG_KPROBES
#error "no kprobes"
#endif
