// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "commands/tarfile.h"

#define BLOCK		512
#define OCTAL_MAX	((1ULL << 33) - 1)	/* 11 digits */

/* as it is in the file */
struct header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char sum[8];
	char type;
	char link[100];
	char magic[6], version[2];
	char uname[32], gname[32];
	char devmajor[8], devminor[8];
	char prefix[155];
	char pad[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* Octal digits; GNU's binary form for larger numbers. */
static void number(char *field, size_t size, uint64_t v)
{
	size_t i;

	if (v > OCTAL_MAX && size == 12) {
		for (i = size; i-- > 1; v >>= 8)
			field[i] = (char)(v & 0xff);
		field[0] = (char)0x80;
		return;
	}
	field[--size] = '\0';
	for (; size--; v >>= 3)
		field[size] = (char)('0' + (v & 7));
}

static void put_header(struct privout *o, const char *name, size_t len,
		       char type, uint64_t size, int64_t mtime)
{
	struct header h = { .type = type, .magic = "ustar", .version = "00" };
	const unsigned char *p = (const unsigned char *)&h;
	unsigned int sum = 0, i;

	memcpy(h.name, name, len < sizeof(h.name) ? len : sizeof(h.name));
	number(h.mode, sizeof(h.mode), 0600);
	number(h.uid, sizeof(h.uid), 0);
	number(h.gid, sizeof(h.gid), 0);
	number(h.size, sizeof(h.size), size);
	number(h.mtime, sizeof(h.mtime), mtime > 0 ? (uint64_t)mtime : 0);
	memset(h.sum, ' ', sizeof(h.sum));
	for (i = 0; i < sizeof(h); i++)
		sum += p[i];
	number(h.sum, 7, sum);
	privout_bytes(o, &h, sizeof(h));
}

void tar_end(struct privout *o, uint64_t size)
{
	static const char zeros[BLOCK];

	if (size % BLOCK)
		privout_bytes(o, zeros, BLOCK - size % BLOCK);
}

void tar_begin(struct privout *o, const char *name, uint64_t size,
	       int64_t mtime)
{
	static const char long_name[] = "././@LongLink";
	size_t len = strlen(name);

	if (len > sizeof(((struct header *)0)->name)) {
		put_header(o, long_name, sizeof(long_name), 'L', len + 1, 0);
		privout_bytes(o, name, len + 1);
		tar_end(o, len + 1);
	}
	put_header(o, name, len, '0', size, mtime);
}

void tar_finish(struct privout *o)
{
	static const char zeros[2 * BLOCK];

	privout_bytes(o, zeros, sizeof(zeros));
}
