// SPDX-License-Identifier: GPL-2.0-only
/* it has no uprobes (CONFIG_UPROBES), by which unmapped memory is seen */
#include <linux/uprobes.h>

#ifndef CONFIG_UPROBES
#error "no uprobes"
#endif
