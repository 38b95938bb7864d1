// SPDX-License-Identifier: GPL-2.0-only
/* call chains are known of amd64 and arm64 only */
#if !defined(CONFIG_X86_64) && !defined(CONFIG_ARM64)
#error "no way to walk stacks"
#endif
/* the numbers of a log are little-endian */
#ifdef CONFIG_CPU_BIG_ENDIAN
#error "big-endian"
#endif
