// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "elf/altfile.h"
#include "elf/debugfile.h"

/* name and build-id in the main file's link */
struct wanted {
	const char *name;
	const void *id;
	size_t len;
};

/* What the section has: a name that ends in a NUL, and all of a build-id. */
static bool link_of(struct wanted *w, Elf *elf)
{
	GElf_Shdr sh;
	const Elf_Data *data = image_section(elf, ".gnu_debugaltlink", &sh);
	const char *nul = data ? memchr(data->d_buf, '\0', data->d_size) : NULL;

	if (!nul)
		return false;
	w->name = data->d_buf;
	w->id = nul + 1;
	w->len = data->d_size - (size_t)(nul + 1 - w->name);
	return w->len;
}

static bool try_path(struct image *alt, const struct image_root *root,
		     const char *path, const struct wanted *w)
{
	const char *why;
	const void *id;

	if (!image_open(alt, root, path, &why))
		return false;
	if (image_buildid(alt, &id) == w->len && !memcmp(id, w->id, w->len))
		return true;
	image_close(alt);
	return false;
}

/* A relative name is relative to the directory of the main file, and stays in the root. */
static bool try_beside(struct image *alt, const struct image *im,
		       const struct image_root *root, const struct wanted *w)
{
	char dir[PATH_MAX], *path;
	bool ok;

	if (!image_real_path(im, root, dir))
		return false;
	path = xasprintf("%.*s/%s", (int)(strrchr(dir, '/') - dir), dir, w->name);
	ok = try_path(alt, root, path, w);
	free(path);
	return ok;
}

static bool find(struct image *alt, const struct image *im,
		 const struct image_root *root, const struct wanted *w)
{
	char path[DEBUGFILE_PATH];

	return (debugfile_path(path, w->id, w->len) &&
		try_path(alt, root, path, w)) ||
	       (*w->name == '/' ? try_path(alt, root, w->name, w) :
				  try_beside(alt, im, root, w));
}

bool altfile_image(struct image *alt, const struct image *im,
		   const struct image_root *root)
{
	struct wanted w;

	return link_of(&w, im->elf) && find(alt, im, root, &w);
}

bool altfile_open(struct altfile *a, Dwarf *dw, const struct image *im,
		  const struct image_root *root)
{
	struct wanted w;

	memset(a, 0, sizeof(*a));
	a->im.fd = -1;
	if (!link_of(&w, im->elf))
		return true;
	if (!find(&a->im, im, root, &w))
		return false;
	image_inflate(&a->im);
	a->dw = dwarf_begin_elf(a->im.elf, DWARF_C_READ, NULL);
	if (a->dw)
		dwarf_setalt(dw, a->dw);
	else
		image_close(&a->im);
	return a->dw;
}

void altfile_close(struct altfile *a)
{
	if (!a->dw)
		return;
	dwarf_end(a->dw);
	image_close(&a->im);
	a->dw = NULL;
}
