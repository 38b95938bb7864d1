// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the debug files of stripped files.  A debug file is accepted if its
 * build-id matches the image, or its checksum the one in the image's link.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>
#include <elfutils/libdwelf.h>

#include "base/mem.h"
#include "elf/debugfile.h"
#include "elf/debuginfod.h"
#include "elf/imagefile.h"
#include "elf/unpack.h"

static bool same_buildid(const struct image *a, const struct image *b)
{
	const void *ida, *idb;
	size_t na = image_buildid(a, &ida), nb = image_buildid(b, &idb);

	return na && na == nb && !memcmp(ida, idb, na);
}

/* A larger file is another one: any program can name one with holes. */
#define CRC_MAX	((off_t)8 << 30)

/* CRC of .gnu_debuglink: the usual reflected CRC-32. */
static uint32_t file_crc(int fd)
{
	unsigned char buf[16384];
	uint32_t table[256], crc = ~0U, i;
	ssize_t n, k;
	off_t at = 0;

	for (i = 0; i < 256; i++) {
		uint32_t c = i;

		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320U : c >> 1;
		table[i] = c;
	}
	while (at < CRC_MAX && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		for (k = 0; k < n; k++)
			crc = crc >> 8 ^ table[(crc ^ buf[k]) & 0xff];
		at += n;
	}
	return ~crc;
}

/* Opens @path if it is the debug file of @im. */
static bool try_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path,
		      const uint32_t *crc)
{
	const char *why;

	if (!image_open(debug, root, path, &why))
		return false;
	if (same_buildid(im, debug) || (crc && file_crc(debug->fd) == *crc))
		return true;
	image_close(debug);
	return false;
}

bool debugfile_path(char path[DEBUGFILE_PATH], const void *id, size_t len)
{
	const unsigned char *byte = id;
	char hex[2 * DEBUGFILE_ID + 1];
	size_t i;

	if (len < 2 || len > DEBUGFILE_ID)
		return false;
	for (i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", byte[i]);
	snprintf(path, DEBUGFILE_PATH, DEBUGFILE_DIR "/.build-id/%.2s/%s.debug",
		 hex, hex + 2);
	return true;
}

static bool try_buildid(struct image *debug, const struct image *im,
			const struct image_root *root)
{
	char path[DEBUGFILE_PATH];
	const void *id;
	size_t n = image_buildid(im, &id);

	return debugfile_path(path, id, n) &&
	       try_debug(debug, im, root, path, NULL);
}

/* Fetches it from a server, if the user asked for that. */
static bool try_debuginfod(struct image *debug, const struct image *im)
{
	const void *id;
	size_t n = image_buildid(im, &id);
	const char *why;
	int fd;

	if (!debuginfod_on() || !n)
		return false;
	fd = debuginfod_fetch(id, n);
	if (fd < 0 || !image_open_fd(debug, fd, &why))
		return false;
	if (same_buildid(im, debug))
		return true;
	image_close(debug);
	return false;
}

bool image_open_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path)
{
	static const char *const forms[] = {
		"%.*s/%s", "%.*s/.debug/%s", DEBUGFILE_DIR "%.*s/%s",
	};
	const char *slash = strrchr(path, '/'), *link;
	GElf_Word word;
	uint32_t crc;
	bool found = false;
	size_t i;

	if (try_buildid(debug, im, root))
		return true;
	link = dwelf_elf_gnu_debuglink(im->elf, &word);
	if (!link || !*link || strchr(link, '/') || !slash)
		return try_debuginfod(debug, im);
	crc = word;
	for (i = 0; i < 3 && !found; i++) {
		char *s = xasprintf(forms[i], (int)(slash - path), path, link);

		found = strcmp(s, path) &&
			try_debug(debug, im, root, s, &crc);
		free(s);
	}
	return found || try_debuginfod(debug, im);
}

bool image_open_packed(struct image *packed, const struct image *im)
{
	GElf_Shdr sh;
	const Elf_Data *data = image_section(im->elf, ".gnu_debugdata", &sh);
	size_t len;
	void *buf = data ? unpack(data->d_buf, data->d_size, &len) : NULL;

	return buf && image_open_memory(packed, buf, len);
}
