/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files that a log names.  A log may name any path, so only regular files
 * are opened, none that the kernel makes, and their contents are checked against bounds.
 */
#ifndef READER_IMAGEFILE_H
#define READER_IMAGEFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <gelf.h>

#include "base/mem.h"

/**
 * struct image_root - root directory of the recorded machine's files
 * @dir: prefix of all paths, NULL or "" for this machine's own
 * @pid: if not 0, the root of this process is used instead of @dir
 * @start: its pid_start(); a later process with the same pid is not used
 */
struct image_root {
	const char *dir;
	uint32_t pid;
	uint64_t start;
};

struct image {
	Elf *elf;
	int fd;			/* -1: the image is in memory */
	void *mem;		/* that memory, if image_close() frees it */
	struct arena unpacked;	/* sections, see image_inflate() */
};

#define IMAGE_CODE_MAX	8

/**
 * struct image_layout - how a program is mapped, according to its file
 * @fixed:  at the addresses in the file
 * @interp: path of the dynamic loader that is mapped with it, or ""
 * @code:   the executable segments, as whole pages
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

/* False after a message: @dir is not a directory. */
bool image_root_is(const char *dir);

/* False if the layout is not known: the file has no code. */
bool image_layout(const struct image_root *root, const char *path,
		  struct image_layout *l);

/* An open file descriptor, or -1 and the reason in *@why. */
int image_open_file(const struct image_root *root, const char *path,
		    const char **why);
/* As image_open_file(); but also of procfs and the like, since the log did not name it. */
int image_open_named(const struct image_root *root, const char *path,
		     const char **why);
/* As image_open_file(), but fails for a symbolic link. */
int image_open_nofollow(const struct image_root *root, const char *path,
			const char **why);
/* False: *@why is the reason why the file can't be used. */
bool image_open(struct image *im, const struct image_root *root,
		const char *path, const char **why);
/* As image_open() for an open file or for memory; the image takes ownership. */
bool image_open_fd(struct image *im, int fd, const char **why);
bool image_open_memory(struct image *im, void *mem, size_t len);
/* The vdso of this process. */
bool image_open_vdso(struct image *im, const char **why);
void image_close(struct image *im);
/* The path of an open file in the tree of @root; false: it has none there. */
bool image_real_path(const struct image *im, const struct image_root *root,
		     char path[PATH_MAX]);

/* Length of the build-id, 0 without one; *@id is valid while @im is open. */
size_t image_buildid(const struct image *im, const void **id);
/* What the section has, as it is in the file; NULL: it is not there, or has nothing. */
const Elf_Data *image_section(Elf *elf, const char *name, GElf_Shdr *sh);
/* Opens the debug file of @im; @path is the path of @im. */
bool image_open_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path);
/* Opens the compressed symbols in the file itself (.gnu_debugdata). */
bool image_open_packed(struct image *packed, const struct image *im);
/* Decompresses the sections that libelf can't decompress itself. */
void image_inflate(struct image *im);

#endif /* READER_IMAGEFILE_H */
