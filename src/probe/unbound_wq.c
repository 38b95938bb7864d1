// SPDX-License-Identifier: GPL-2.0-only
/* The system's queue for work of any CPU has a new name, and the old one is warned of */
#include <linux/workqueue.h>

struct workqueue_struct *probe(bool is_long);
struct workqueue_struct *probe(bool is_long)
{
#ifdef PROBE_OLD
	return system_unbound_wq;
#else
	/* came with the warning; the new name was there before it */
	return is_long ? system_dfl_long_wq : system_dfl_wq;
#endif
}
