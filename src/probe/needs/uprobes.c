// SPDX-License-Identifier: GPL-2.0-only
/* it has no uprobes (CONFIG_UPROBES), which tell of mappings that go */
#include <linux/uprobes.h>

#ifndef CONFIG_UPROBES
#error "no uprobes"
#endif
