/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that come after one of which it is not known yet whether it stays:
 * they wait, for the order of a log is that of time.
 */
#ifndef READER_HELDRECS_H
#define READER_HELDRECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What waits may take. */
#define HELDRECS_BYTES	((size_t)32 << 20)

/**
 * struct heldrec - one of them
 * @met:   what is known of one that is @open
 * @open:  not known yet
 * @tied:  it goes with the one before it
 */
struct heldrec {
	unsigned char *data;
	uint64_t met;
	uint32_t len;
	bool open, tied;
};

/**
 * struct heldrecs
 * @rec:   those from @first on, the first is number @number
 * @bytes: of all of them
 * @put:   takes what stays
 */
struct heldrecs {
	struct heldrec *rec;
	uint32_t first, n, cap, number;
	size_t bytes;
	void (*put)(void *ctx, const void *p, uint32_t len);
	void *ctx;
};

/* A record that stays. */
void heldrecs_add(struct heldrecs *t, const void *p, uint32_t len);
/* One that is to be told of by heldrecs_decide(), by the number returned. */
uint32_t heldrecs_wait(struct heldrecs *t, const void *p, uint32_t len,
		       uint64_t met);
uint64_t heldrecs_met(const struct heldrecs *t, uint32_t number);
/* What was added last waits: this goes where it goes. */
void heldrecs_tie(struct heldrecs *t, const void *p, uint32_t len);
void heldrecs_decide(struct heldrecs *t, uint32_t number, bool stays);
void heldrecs_free(struct heldrecs *t);

#endif /* READER_HELDRECS_H */
