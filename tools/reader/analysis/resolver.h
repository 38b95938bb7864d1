/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves frames while a log is still being read, and keeps the objects'
 * symbols: for who asks more of a place than its function's name.
 */
#ifndef READER_RESOLVER_H
#define READER_RESOLVER_H

#include "analysis/objsyms.h"
#include "analysis/resolve.h"

/**
 * struct resolver - what was resolved so far
 * @done:  frames below this have their function
 * @syms:  by object, valid where @open says so
 * @reads: how often its jitdump had been read then
 * @ready: @k was opened; it is with the first frame of the kernel
 */
struct resolver {
	uint32_t done;
	struct objsyms *syms;
	bool *open;
	uint32_t *reads;
	uint32_t n;
	const char *kernel;	/* -k, or NULL */
	const char *log_path;	/* or NULL */
	struct ksyms k;
	bool ready;
};

/**
 * struct place - a frame in terms of the file it is in
 * @addr:  its address there (ELF), at run time for the kernel's modules
 * @start, @end: of the function, 0: unknown
 * @name:  the raw symbol, NULL: none
 * @image: object number
 */
struct place {
	uint64_t addr, start, end;
	const char *name;
	uint32_t image;
};

/* False after a message: the kernel's symbols that were named can't be used. */
bool resolver_update(struct resolver *r, struct profile *p);
/* Of a frame that was resolved. */
void resolver_place(struct resolver *r, const struct profile *p,
		    uint32_t frame, struct place *place);
void resolver_close(struct resolver *r);

#endif /* READER_RESOLVER_H */
