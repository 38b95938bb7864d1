/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptors of all kinds that may be offered as a log. */
#ifndef TEST_LOGKIND_H
#define TEST_LOGKIND_H

#include <stddef.h>

/* @take: what CONFIGURELOG and ROTATELOG say; @write: if that is 0, FLUSHLOG */
struct log_kind {
	const char	*what;
	int		(*make)(void);	/* or */
	const char	*path;
	int		flags;
	int		take;
	int		write;
};

extern const struct log_kind log_kinds[];
extern const size_t log_nkinds;

/* A descriptor of the kind; -1 with errno. */
int log_kind_make(const struct log_kind *k);

#endif /* TEST_LOGKIND_H */
