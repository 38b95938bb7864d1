/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of a log: memory that is somewhere else each time, with nothing behind its end. */
#ifndef MOVING_H
#define MOVING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct moving {
	const unsigned char *buf;
	size_t len, upto, step;	/* what a step is, the test says */
	unsigned char *copy;
};

/* From @offset on, @more than so far: what pmclog_iter_window()'s function returns. */
static inline ssize_t moving_on(struct moving *m, uint64_t offset, size_t more,
				const unsigned char **p)
{
	size_t n;

	m->upto += more;
	if (m->upto > m->len)
		m->upto = m->len;
	n = m->upto > offset ? m->upto - offset : 0;
	free(m->copy);
	m->copy = malloc(n ? n : 1);
	memcpy(m->copy, m->buf + offset, n);
	*p = m->copy;
	return (ssize_t)n;
}

#endif
