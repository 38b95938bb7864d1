/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves frames while the log is being read, and keeps the objects' symbols,
 * for commands that need more of a place than its function's name.
 */
#ifndef READER_RESOLVER_H
#define READER_RESOLVER_H

#include "analysis/objsyms.h"
#include "analysis/resolve.h"

/**
 * struct resolver - what was resolved so far
 * @done:  frames with a lower number are resolved
 * @syms:  by object, valid if @open is set
 * @reads: by object: struct jit.reads when @syms was opened
 * @ready: @k was opened, for the first frame of the kernel
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
 * @addr:  its address in the file (ELF); at run time for the kernel's modules
 * @start, @end: of the function, 0: unknown
 * @name:  the raw symbol, NULL: none
 * @image: object number
 */
struct place {
	uint64_t addr, start, end;
	const char *name;
	uint32_t image;
};

/* False after a message: the kernel symbol file can't be used. */
bool resolver_update(struct resolver *r, struct profile *p);
/* Sets @place for a frame that is resolved. */
void resolver_place(struct resolver *r, const struct profile *p,
		    uint32_t frame, struct place *place);
/* The ELF address of an offset in a file; false: it is in no segment, or not known. */
bool resolver_vaddr(struct resolver *r, struct profile *p, uint32_t obj,
		    uint64_t offset, uint64_t *vaddr);
void resolver_close(struct resolver *r);

#endif /* READER_RESOLVER_H */
