// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "elf/altfile.h"
#include "elf/debugfile.h"

/* name and build-id in the main file's link */
struct wanted {
	const char *name;
	const void *id;
	size_t len;
};

static bool try_path(struct altfile *a, const struct image_root *root,
		     const char *path, const struct wanted *w)
{
	const char *why;
	const void *id;

	if (!image_open(&a->im, root, path, &why))
		return false;
	if (image_buildid(&a->im, &id) == w->len && !memcmp(id, w->id, w->len)) {
		image_inflate(&a->im);
		a->dw = dwarf_begin_elf(a->im.elf, DWARF_C_READ, NULL);
	}
	if (!a->dw)
		image_close(&a->im);
	return a->dw;
}

/* A relative name is relative to the directory of the main file. */
static bool try_beside(struct altfile *a, const struct image *im,
		       const struct wanted *w)
{
	char link[32], dir[4096], *path, *slash;
	ssize_t n;
	bool ok;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", im->fd);
	n = im->fd < 0 ? -1 : readlink(link, dir, sizeof(dir) - 1);
	if (n <= 0)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	path = xasprintf("%.*s/%s", (int)(slash - dir), dir, w->name);
	ok = try_path(a, NULL, path, w);
	free(path);
	return ok;
}

bool altfile_open(struct altfile *a, Dwarf *dw, const struct image *im,
		  const struct image_root *root)
{
	struct wanted w;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dw, &w.name, &w.id);
	char path[DEBUGFILE_PATH];

	memset(a, 0, sizeof(*a));
	a->im.fd = -1;
	if (n <= 0)
		return true;
	w.len = (size_t)n;
	if ((debugfile_path(path, w.id, w.len) && try_path(a, root, path, &w)) ||
	    (*w.name == '/' ? try_path(a, root, w.name, &w) :
			      try_beside(a, im, &w))) {
		dwarf_setalt(dw, a->dw);
		return true;
	}
	return false;
}

void altfile_close(struct altfile *a)
{
	if (!a->dw)
		return;
	dwarf_end(a->dw);
	image_close(&a->im);
	a->dw = NULL;
}
