// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/annotate/annotate_jit.h"

static const char *take(struct jitbytes *b, const struct jitdump *d,
			const struct jitcode *c, int fd, size_t len)
{
	ssize_t n;

	b->len = len < c->size ? len : c->size;
	b->start = c->addr;
	b->code = xmalloc(b->len);
	n = pread(fd, b->code, b->len, (off_t)c->off);
	/* the process may have ended before it wrote all of it */
	if (n <= 0)
		return "has no code";
	b->len = (size_t)n;
	jitlines_read(&b->lines, d, c, fd);
	return NULL;
}

const char *jitbytes_open(struct jitbytes *b, struct profile *p, uint32_t obj,
			  uint64_t start, size_t len)
{
	struct jit *j = jits_of(p, &p->objs.obj[obj]);
	const struct jitcode *c;
	const char *why;
	struct stat st;
	int fd;

	memset(b, 0, sizeof(*b));
	if (!j)
		return "has its names from a map, which has no code; a "
		       "jitdump has";
	c = jitdump_code(&j->dump, start);
	if (!c)
		return "has no code";
	/* some writers leave the machine out: take the log's */
	b->machine = j->dump.machine ? j->dump.machine : p->log.machine;
	fd = jits_open(p, j, &why);
	if (fd < 0)
		return "is not there any more";
	b->owner = fstat(fd, &st) ? (uid_t)-1 : st.st_uid;
	why = take(b, &j->dump, c, fd, len);
	close(fd);
	return why;
}

void jitbytes_close(struct jitbytes *b)
{
	jitlines_free(&b->lines);
	free(b->code);
	b->code = NULL;
}
