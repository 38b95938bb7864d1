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

#include "base/mem.h"

/**
 * struct image_root - where the recorded machine's files are
 * @dir: prefix of all paths, NULL or "" for this machine's own
 * @pid: not 0: what this process sees, rather than @dir
 * @start: its pid_start(); what runs under that number later has no files
 */
struct image_root {
	const char *dir;
	uint32_t pid;
	uint64_t start;
};

struct image {
	Elf *elf;
	int fd;			/* -1: from memory */
	void *mem;		/* that memory, if it is to be freed */
	struct arena unpacked;	/* sections, see image_inflate() */
};

#define IMAGE_CODE_MAX	8

/**
 * struct image_layout - how a program is mapped, as far as its file tells
 * @fixed:  at the addresses of the file
 * @interp: the program that is mapped with it and loads the rest, or ""
 * @code:   the executable parts, as whole pages
 */
struct image_layout {
	bool fixed;
	uint64_t entry;
	char interp[256];
	unsigned int n;
	struct image_code {
		uint64_t vaddr, offset, len;
	} code[IMAGE_CODE_MAX];
};

/* False after a message: there is no directory @dir for it. */
bool image_root_is(const char *dir);

/* False if that can't be told: there is no code in it. */
bool image_layout(const struct image_root *root, const char *path,
		  struct image_layout *l);

/* An open file descriptor, or -1 and the reason. */
int image_open_file(const struct image_root *root, const char *path,
		    const char **why);
/* The same, but not of a symbolic link. */
int image_open_nofollow(const struct image_root *root, const char *path,
			const char **why);
/* False: *why says why it can't be used. */
bool image_open(struct image *im, const struct image_root *root,
		const char *path, const char **why);
/* The same of an open file, or of memory, which are the image's then. */
bool image_open_fd(struct image *im, int fd, const char **why);
bool image_open_memory(struct image *im, void *mem, size_t len);
/* The vdso of this process. */
bool image_open_vdso(struct image *im, const char **why);
void image_close(struct image *im);

/* Bytes of the build-id, 0 without one; *id is valid while it is open. */
size_t image_buildid(const struct image *im, const void **id);
/* The file that has the symbols stripped from @im, which is @path. */
bool image_open_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path);
/* The symbols that are packed into the file itself (.gnu_debugdata). */
bool image_open_packed(struct image *packed, const struct image *im);
/* Unpacks sections that libelf can't, so that it finds them unpacked. */
void image_inflate(struct image *im);

#endif /* READER_IMAGEFILE_H */
