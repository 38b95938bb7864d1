/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's structures as far as the programs look into them.  libbpf replaces
 * the offsets by those of the running kernel, from its BTF.
 */
#ifndef PMCSTAT_CORE_TYPES_H
#define PMCSTAT_CORE_TYPES_H

#define RELOCATED	__attribute__((preserve_access_index))

struct mm_struct {
	unsigned long saved_auxv[1];	/* the kernel has more */
} RELOCATED;

struct task_struct {
	struct mm_struct *mm;
} RELOCATED;

struct linux_binprm {
	char	buf[256];		/* the beginning of the file */
} RELOCATED;

#endif /* PMCSTAT_CORE_TYPES_H */
