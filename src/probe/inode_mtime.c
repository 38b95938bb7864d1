// SPDX-License-Identifier: GPL-2.0-only
/* the time of an inode's last change is read by a function */
#include <linux/fs.h>

struct timespec64 probe(const struct inode *inode);
struct timespec64 probe(const struct inode *inode)
{
#ifdef PROBE_OLD
	return inode->i_mtime;
#else
	return inode_get_mtime(inode);
#endif
}
