/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_CPULIST_H
#define READER_CPULIST_H

#define CPU_LIMIT		4095	/* PMC ids hold 12 bits; ~0 is taken */

struct cpulist {
	int		all;
	unsigned char	set[CPU_LIMIT];
};

/* "0,2-3" or "*"; 0, or -1 */
int cpulist_parse(struct cpulist *list, const char *text);

#endif /* READER_CPULIST_H */
