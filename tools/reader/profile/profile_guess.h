/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings of which the log does not tell all. */
#ifndef READER_PROFILE_GUESS_H
#define READER_PROFILE_GUESS_H

#include "profile/profile.h"

/*
 * How far a mapping reaches whose length nobody told: to the next one, but not
 * further than this.
 */
#define GUESSED_LEN	((uint64_t)64 << 20)

static inline uint64_t map_end(uint64_t start, uint64_t len)
{
	return start + len < start ? UINT64_MAX : start + len;
}

/* Up to the next one, if that is nearer. */
void map_clip(const struct aspace *as, struct mapping *m);

/* A process mapping whose extent was not logged: asks the file. */
void profile_guess_map(struct profile *p, const struct pending_map *w);
/*
 * What an exec has mapped by itself: FreeBSD logs no MAP_IN for the program and
 * its loader, but where they are.
 */
void profile_guess_exec(struct profile *p, const struct pmclog_rec *r);

/*
 * What a process has mapped there: number of the object; of @o the path and the
 * file are filled in.
 */
uint32_t profile_user_object(struct profile *p, uint32_t pid, struct object *o);

#endif /* READER_PROFILE_GUESS_H */
