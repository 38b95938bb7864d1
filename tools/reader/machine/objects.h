/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects (what can be mapped) and frames (places in them), by number.
 *
 * A frame's address is an offset in the file for files and jitdumps, the
 * run-time address for the kernel, its modules and other JITs, the offset from
 * the start of the mapping for the vdso, and 0 where an address is meaningless
 * after the process ended.
 */
#ifndef READER_OBJECTS_H
#define READER_OBJECTS_H

#include "base/strtab.h"

enum obj_kind {
	OBJ_UNKNOWN,		/* nothing was mapped there */
	OBJ_ANON,		/* memory without a file */
	OBJ_JIT,		/* the same, of a process with names for it */
	OBJ_VDSO,
	OBJ_FILE,
	OBJ_KERNEL,
	OBJ_MODULE,
};

/* the objects every log has */
#define OBJ_ID_UNKNOWN	0U
#define OBJ_ID_KERNEL	1U

/**
 * struct object - something mapped
 * @path:  string number: the path as logged, a module's name
 * @brief: string number: the name to show
 * @ino:   inode of the file, or pid of a JIT
 * @first: log clock when it was mapped first, 0: not known
 * @first_wall: the same in nanoseconds since 1970, 0: its log has not ended
 * @shares_path: the log has another file of this path, on the same device
 * @dev_minor: of the file, or of a JIT: number + 1 of its jitdump, 0: it has a
 *	   map
 * @names_from: string number of the file that a module's names are from, 0: there is none
 * @why:   why it has no symbols, NULL if it has some
 * @lost:  samples whose innermost frame has no name
 */
struct object {
	enum obj_kind kind;
	uint32_t path, brief, names_from;
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	uint64_t first;
	int64_t first_wall;
	bool shares_path;
	const char *why;
	uint64_t lost;
};

struct objects {
	struct object *obj;
	uint32_t n, cap;
	uint32_t timed;		/* objects of logs that have ended */
	struct idtab tab;
	struct idtab of_path;	/* the first file of a path and device */
};

void objects_init(struct objects *t, struct strtab *str);
void objects_free(struct objects *t);
/* @want: kind, path, device and inode are filled in */
uint32_t objects_id(struct objects *t, struct strtab *str,
		    const struct object *want);
/* It is mapped at @tsc. */
void objects_mapped(struct objects *t, uint32_t id, uint64_t tsc);
/* What kind of object a process mapping of that name is. */
enum obj_kind objects_kind(const char *path);

struct frame {
	uint64_t addr;
	uint32_t obj;
	uint32_t func;		/* set when the frame is resolved */
};

struct frames {
	struct frame *frame;
	uint32_t n, cap;
	struct idtab tab;
};

uint32_t frames_id(struct frames *t, uint32_t obj, uint64_t addr);
/* Prefetches the slot of a frame that will be looked up. */
void frames_prefetch(const struct frames *t, uint32_t obj, uint64_t addr);
void frames_free(struct frames *t);

static inline bool obj_is_kernel(enum obj_kind kind)
{
	return kind == OBJ_KERNEL || kind == OBJ_MODULE;
}

#endif /* READER_OBJECTS_H */
