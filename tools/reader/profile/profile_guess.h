/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings that are incomplete in the log. */
#ifndef READER_PROFILE_GUESS_H
#define READER_PROFILE_GUESS_H

#include "profile/profile.h"

/*
 * Length of a mapping whose length is not known: up to the next mapping, but at
 * most this.
 */
#define GUESSED_LEN	((uint64_t)64 << 20)

static inline uint64_t map_end(uint64_t start, uint64_t len)
{
	return start + len < start ? UINT64_MAX : start + len;
}

/* Shortens @m to end at the next mapping. */
void map_clip(const struct aspace *as, struct mapping *m);

/* A process mapping whose extent was not logged: it is read from the file. */
void profile_guess_map(struct profile *p, const struct pending_map *w);
/*
 * Mappings made by an exec itself: FreeBSD logs no MAP_IN for the program and
 * its loader, only their addresses.
 */
void profile_guess_exec(struct profile *p, const struct pmclog_rec *r);

/*
 * Number of the object that a process has mapped; the caller fills in path and
 * file of @o.
 */
uint32_t profile_user_object(struct profile *p, uint32_t pid, struct object *o);

#endif /* READER_PROFILE_GUESS_H */
