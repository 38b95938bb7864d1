/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files that a log names.  A log may name anything, so only regular files
 * are opened, and what they say is believed only within bounds.
 */
#ifndef READER_IMAGEFILE_H
#define READER_IMAGEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <libelf.h>

/**
 * struct image_root - where the recorded machine's files are
 * @dir: prefix of all paths, NULL or "" for this machine's own
 */
struct image_root {
	const char *dir;
};

struct image {
	Elf *elf;
	int fd;			/* -1: from memory */
};

struct image_extent {
	uint64_t offset, len;
};

/* The first executable PT_LOAD; false if that can't be told. */
bool image_exec_extent(const struct image_root *root, const char *path,
		       struct image_extent *e);

/* An open file descriptor, or -1 and the reason. */
int image_open_file(const struct image_root *root, const char *path,
		    const char **why);
/* False: *why says why it can't be used. */
bool image_open(struct image *im, const struct image_root *root,
		const char *path, const char **why);
/* The vdso of this process. */
bool image_open_vdso(struct image *im, const char **why);
void image_close(struct image *im);

/* Bytes of the build-id, 0 without one; *id is valid while it is open. */
size_t image_buildid(const struct image *im, const void **id);
/* The file that has the symbols stripped from @im, which is @path. */
bool image_open_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path);

#endif /* READER_IMAGEFILE_H */
