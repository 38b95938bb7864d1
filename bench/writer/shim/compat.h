/* SPDX-License-Identifier: GPL-2.0-only */
/* What the writer thread uses of src/compat.h. */
#ifndef HWPMC_COMPAT_H
#define HWPMC_COMPAT_H

#define compat_user_path(file)		(&(file)->f_path)
#define compat_maps_inode(file)		file_inode(file)
#define compat_cpuid(buf, len)		strscpy((buf), "unknown", (len))
#define COMPAT_PERF_RULES		false

#ifdef __x86_64__
#define COMPAT_ELF_MACHINE		EM_X86_64
#else
#define COMPAT_ELF_MACHINE		EM_AARCH64
#endif

#endif /* HWPMC_COMPAT_H */
