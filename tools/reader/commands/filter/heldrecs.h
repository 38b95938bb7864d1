/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records queued behind one whose fate is still undecided, to keep the log in
 * the order of time.
 */
#ifndef READER_HELDRECS_H
#define READER_HELDRECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit for the memory of waiting records. */
#define HELDRECS_BYTES	((size_t)32 << 20)

/**
 * struct heldrec - a waiting record
 * @met:   conditions that an @open record meets so far
 * @open:  not decided yet
 * @tied:  shares the fate of the record before it
 */
struct heldrec {
	unsigned char *data;
	uint64_t met;
	uint32_t len;
	bool open, tied;
};

/**
 * struct heldrecs
 * @rec:   records wait from @first on; the first is number @number
 * @bytes: length of all of them
 * @put:   writes a record that stays
 */
struct heldrecs {
	struct heldrec *rec;
	uint32_t first, n, cap, number;
	size_t bytes;
	void (*put)(void *ctx, const void *p, uint32_t len);
	void *ctx;
};

/* Adds a record that stays. */
void heldrecs_add(struct heldrecs *t, const void *p, uint32_t len);
/* Adds an undecided record; returns its number for heldrecs_decide(). */
uint32_t heldrecs_wait(struct heldrecs *t, const void *p, uint32_t len,
		       uint64_t met);
uint64_t heldrecs_met(const struct heldrecs *t, uint32_t number);
/* Adds a record that shares the fate of the last one, which waits. */
void heldrecs_tie(struct heldrecs *t, const void *p, uint32_t len);
void heldrecs_decide(struct heldrecs *t, uint32_t number, bool stays);
void heldrecs_free(struct heldrecs *t);

#endif /* READER_HELDRECS_H */
