/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids as logged.  The name they are logged under is "[kernel]", "[vdso]",
 * a module's or a path; where several files of one path were mapped, it is
 * "MAJOR:MINOR:INODE:PATH".
 */
#ifndef READER_BUILDIDS_H
#define READER_BUILDIDS_H

#include "machine/objects.h"

#define BUILDID_MAX	32

/**
 * struct buildid - build-id of the object named @name
 * @path: string number of the path in a MAJOR:MINOR:INODE:PATH name, else 0
 */
struct buildid {
	uint32_t name, path;
	uint32_t len;
	unsigned char id[BUILDID_MAX];
};

/**
 * struct buildids
 * @final: those of all of the log are known: none is replaced any more
 */
struct buildids {
	struct buildid *id;
	uint32_t n, cap;
	struct idtab tab;
	bool final;
};

/* The last build-id of a name replaces earlier ones, until they are final. */
void buildids_add(struct buildids *t, struct strtab *str, const char *name,
		  const void *id, uint32_t len);
/*
 * A log of the stream ends: each file gets the id that the log has for its path.  The
 * next log may have another file of that path.
 */
void buildids_keep(struct buildids *t, struct strtab *str,
		   const struct objects *objs);
/* NULL if none was logged. */
const struct buildid *buildids_find(const struct buildids *t, uint32_t name);
const struct buildid *buildids_of(const struct buildids *t, struct strtab *str,
				  const struct object *o);
/* Was the build-id logged for another file of the same path? */
bool buildids_of_other(const struct buildids *t, const struct object *o,
		       const void *id, size_t len);
void buildids_free(struct buildids *t);

static inline bool buildid_is(const struct buildid *b, const void *id,
			      size_t len)
{
	return b->len == len && !memcmp(b->id, id, len);
}

#endif /* READER_BUILDIDS_H */
