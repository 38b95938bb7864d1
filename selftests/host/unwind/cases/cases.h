/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CASES_H
#define CASES_H

/* one of its own, with the arguments that it says it has */
#ifdef __clang__
#define FUNCTION	__attribute__((noinline))
#else
#define FUNCTION	__attribute__((noipa))
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern volatile int sink;
void bottom(void);
void case_exception(void);
#ifdef __cplusplus
}
#endif

#endif /* CASES_H */
