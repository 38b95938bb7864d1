// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gelf.h>
#include <elfutils/libdwelf.h>
#include <linux/openat2.h>

#include "imagefile.h"
#include "mem.h"

#define DEBUG_DIR	"/usr/lib/debug"

/* O_NONBLOCK: a FIFO or device must not hold us up before it is refused. */
#define OPEN_FLAGS	(O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* Absolute symbolic links in the recorded file system stay inside it. */
static int open_in_root(const char *dir, const char *path)
{
	struct open_how how = {
		.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT,
	};
	int fd, dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *joined;

	if (dirfd < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	close(dirfd);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	joined = xasprintf("%s/%s", dir, path);
	fd = open(joined, OPEN_FLAGS);
	free(joined);
	return fd;
}

int image_open_file(const struct image_root *root, const char *path,
		    const char **why)
{
	bool here = !root || !root->dir || !*root->dir;
	struct stat st;
	int fd;

	fd = here ? open(path, OPEN_FLAGS) : open_in_root(root->dir, path);
	if (fd < 0) {
		*why = errno == ENOENT || errno == ENOTDIR ? "no such file" :
		       errno == EACCES ? "permission denied" :
					 "can't be opened";
		return -1;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		*why = "not a regular file";
		close(fd);
		return -1;
	}
	return fd;
}

static bool set_elf(struct image *im, Elf *elf, const char **why)
{
	im->elf = elf;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return true;
	*why = "not an ELF file";
	image_close(im);
	return false;
}

bool image_open(struct image *im, const struct image_root *root,
		const char *path, const char **why)
{
	elf_version(EV_CURRENT);
	im->elf = NULL;
	im->fd = image_open_file(root, path, why);
	if (im->fd < 0)
		return false;
	/* not mapped: a file that shrinks meanwhile must not kill us */
	return set_elf(im, elf_begin(im->fd, ELF_C_READ, NULL), why);
}

void image_close(struct image *im)
{
	if (im->elf)
		elf_end(im->elf);
	if (im->fd >= 0)
		close(im->fd);
	im->elf = NULL;
	im->fd = -1;
}

bool image_open_vdso(struct image *im, const char **why)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];
	bool found = false;

	im->elf = NULL;
	im->fd = -1;
	elf_version(EV_CURRENT);
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "[vdso]") &&
			sscanf(line, "%lx-%lx", &start, &end) == 2;
	if (f)
		fclose(f);
	if (found)
		return set_elf(im, elf_memory((char *)start, end - start),
			       why);
	*why = "this process has none";
	return false;
}

static bool exec_extent(Elf *elf, struct image_extent *e)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		uint64_t page = ph.p_align > 1 ? ph.p_align - 1 : 0xfff;

		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (page & (page + 1))
			return false;
		e->offset = ph.p_offset & ~page;
		e->len = ph.p_memsz + (ph.p_offset & page);
		return e->len >= ph.p_memsz;
	}
	return false;
}

bool image_exec_extent(const struct image_root *root, const char *path,
		       struct image_extent *e)
{
	struct image im;
	const char *why;
	bool ok;

	if (!image_open(&im, root, path, &why))
		return false;
	ok = exec_extent(im.elf, e);
	image_close(&im);
	return ok;
}

size_t image_buildid(const struct image *im, const void **id)
{
	ssize_t n = dwelf_elf_gnu_build_id(im->elf, id);

	return n > 0 ? (size_t)n : 0;
}

static bool same_buildid(const struct image *a, const struct image *b)
{
	const void *ida, *idb;
	size_t na = image_buildid(a, &ida), nb = image_buildid(b, &idb);

	return na && na == nb && !memcmp(ida, idb, na);
}

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
	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		for (k = 0; k < n; k++)
			crc = crc >> 8 ^ table[(crc ^ buf[k]) & 0xff];
		at += n;
	}
	return ~crc;
}

/* Takes @path if it is the other half of @im. */
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

static bool try_buildid(struct image *debug, const struct image *im,
			const struct image_root *root)
{
	char hex[2 * 64 + 1], path[sizeof(DEBUG_DIR) + sizeof(hex) + 32];
	const unsigned char *id;
	const void *bytes;
	size_t n = image_buildid(im, &bytes), i;

	if (n < 2 || n > 64)
		return false;
	id = bytes;
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%.2s/%s.debug",
		 hex, hex + 2);
	return try_debug(debug, im, root, path, NULL);
}

bool image_open_debug(struct image *debug, const struct image *im,
		      const struct image_root *root, const char *path)
{
	static const char *const forms[] = {
		"%.*s/%s", "%.*s/.debug/%s", DEBUG_DIR "%.*s/%s",
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
		return false;
	crc = word;
	for (i = 0; i < 3 && !found; i++) {
		char *s = xasprintf(forms[i], (int)(slash - path), path, link);

		found = strcmp(s, path) &&
			try_debug(debug, im, root, s, &crc);
		free(s);
	}
	return found;
}
