// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <gelf.h>
#include <elfutils/libdwelf.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include "base/mem.h"
#include "base/samefile.h"
#include "base/say.h"
#include "elf/imagecheck.h"
#include "elf/imagefile.h"
#include "elf/pidstart.h"

static int open_root(const struct image_root *root)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	char path[32];
	int fd;

	if (!root->pid)
		return open(root->dir, flags);
	snprintf(path, sizeof(path), "/proc/%u/root", root->pid);
	fd = open(path, flags);
	/* the same process still runs, so the root that was opened is its */
	if (fd >= 0 && pid_start(root->pid) != root->start) {
		close(fd);
		errno = ENOENT;
		fd = -1;
	}
	return fd;
}

/*
 * Absolute symbolic links in the recorded file system stay inside it.  If the
 * kernel cannot enforce that, a directory that the user named is trusted, but a
 * container is not.
 */
static int open_in_root(const struct image_root *root, const char *path,
			int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT,
	};
	int fd, dirfd = open_root(root);
	char *joined;

	if (dirfd < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	close(dirfd);
	if (fd >= 0 || root->pid || (errno != ENOSYS && errno != EPERM))
		return fd;
	joined = xasprintf("%s/%s", root->dir, path);
	fd = open(joined, flags);
	free(joined);
	return fd;
}

bool image_root_is(const char *dir)
{
	struct stat st;
	int err = 0;

	if (!*dir)
		return true;
	if (stat(dir, &st))
		err = errno;
	else if (!S_ISDIR(st.st_mode))
		err = ENOTDIR;
	if (err)
		warn_line("--root %s: %s", dir, strerror(err));
	return !err;
}

static bool is_own(const struct image_root *root)
{
	return !root || (!root->pid && (!root->dir || !*root->dir));
}

static int open_below(const void *at, const char *path, int flags)
{
	const struct image_root *root = at;

	return is_own(root) ? open(path, flags) : open_in_root(root, path, flags);
}

static bool real_path(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return *path == '/';
}

bool image_real_path(const struct image *im, const struct image_root *root,
		     char path[PATH_MAX])
{
	char top[PATH_MAX];
	size_t n;
	int fd;

	if (im->fd < 0 || !real_path(im->fd, path))
		return false;
	if (is_own(root))
		return true;
	fd = open_root(root);
	if (fd < 0 || !real_path(fd, top))
		*top = '\0';
	if (fd >= 0)
		close(fd);
	n = strcmp(top, "/") ? strlen(top) : 0;
	if (!*top || strncmp(path, top, n) || path[n] != '/')
		return false;
	memmove(path, path + n, strlen(path + n) + 1);
	return true;
}

/* Files of these are made by the kernel: reading one can take it, or have an effect. */
static const uint32_t kernel_systems[] = {
	PROC_SUPER_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, DEBUGFS_MAGIC, SECURITYFS_MAGIC,
	EFIVARFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC,
	SELINUX_MAGIC, SMACK_MAGIC, AAFS_MAGIC, PSTOREFS_MAGIC, XENFS_SUPER_MAGIC,
	BINFMTFS_MAGIC, BPF_FS_MAGIC, NSFS_MAGIC, DEVPTS_SUPER_MAGIC, OPENPROM_SUPER_MAGIC,
	/* not in linux/magic.h: configfs, fusectl, mqueue */
	0x62656570, 0x65735543, 0x19800202,
};

static bool is_of_kernel(int fd)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < sizeof(kernel_systems) / sizeof(kernel_systems[0]); i++)
		if ((uint32_t)fs.f_type == kernel_systems[i])
			return true;
	return false;
}

/* Found out before it is opened, which can have an effect, too. */
static bool names_kernel_file(const struct image_root *root, const char *path, bool follow)
{
	int place = open_below(root, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	bool is = place >= 0 && is_of_kernel(place);

	if (place >= 0)
		close(place);
	return is;
}

static int cannot(const char **why)
{
	*why = errno == ENOENT || errno == ENOTDIR ? "no such file" :
	       errno == EACCES ? "permission denied" :
	       errno == EINVAL ? "not a regular file" : "can't be opened";
	return -1;
}

static int open_image(const struct image_root *root, const char *path, bool follow,
		      const char **why)
{
	int fd = -1;

	if (!names_kernel_file(root, path, follow)) {
		fd = regular_open_below(open_below, root, path, follow);
		if (fd < 0)
			return cannot(why);
		/* the name may be another file's by now */
		if (!is_of_kernel(fd))
			return fd;
		close(fd);
	}
	*why = "a file of procfs, sysfs or the like";
	return -1;
}

int image_open_file(const struct image_root *root, const char *path,
		    const char **why)
{
	return open_image(root, path, true, why);
}

int image_open_named(const struct image_root *root, const char *path,
		     const char **why)
{
	int fd = regular_open_below(open_below, root, path, true);

	return fd < 0 ? cannot(why) : fd;
}

int image_open_nofollow(const struct image_root *root, const char *path,
			const char **why)
{
	return open_image(root, path, false, why);
}

static void image_init(struct image *im, int fd)
{
	elf_version(EV_CURRENT);
	*im = (struct image){ .fd = fd };
}

static bool set_elf(struct image *im, const struct image_bytes *b, const char **why)
{
	*why = imagecheck_head(b);
	if (!*why) {
		/* not mapped: a file that shrinks meanwhile must not kill us */
		im->elf = b->fd >= 0 ? elf_begin(b->fd, ELF_C_READ, NULL) :
				       elf_memory(b->mem, b->len);
		*why = im->elf && elf_kind(im->elf) == ELF_K_ELF ?
		       imagecheck_sections(b, im->elf) : "not an ELF file";
	}
	if (*why)
		image_close(im);
	return !*why;
}

bool image_open_fd(struct image *im, int fd, const char **why)
{
	image_init(im, fd);
	return set_elf(im, &(struct image_bytes){ .fd = fd }, why);
}

bool image_open(struct image *im, const struct image_root *root,
		const char *path, const char **why)
{
	int fd = image_open_file(root, path, why);

	image_init(im, -1);
	return fd >= 0 && image_open_fd(im, fd, why);
}

bool image_open_memory(struct image *im, void *mem, size_t len)
{
	const char *why;

	image_init(im, -1);
	im->mem = mem;
	return set_elf(im, &(struct image_bytes){ -1, mem, len }, &why);
}

void image_close(struct image *im)
{
	if (im->elf)
		elf_end(im->elf);
	if (im->fd >= 0)
		close(im->fd);
	free(im->mem);
	arena_free(&im->unpacked);
	*im = (struct image){ .fd = -1 };
}

bool image_open_vdso(struct image *im, const char **why)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];
	bool found = false;

	image_init(im, -1);
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "[vdso]") &&
			sscanf(line, "%lx-%lx", &start, &end) == 2;
	if (f)
		fclose(f);
	if (found)
		return set_elf(im, &(struct image_bytes){ -1, (void *)start, end - start },
			       why);
	*why = "this process has none";
	return false;
}

/* Segments are mapped as whole pages, even with a larger alignment. */
#define PAGE_MASK	4095ULL

static void add_code(struct image_layout *l, const GElf_Phdr *ph)
{
	uint64_t before = ph->p_vaddr & PAGE_MASK;
	struct image_code *c = &l->code[l->n];

	if (l->n == IMAGE_CODE_MAX || before > ph->p_offset ||
	    ph->p_memsz + before < ph->p_memsz)
		return;
	c->vaddr = ph->p_vaddr - before;
	c->offset = ph->p_offset - before;
	c->len = ph->p_memsz + before;
	l->n++;
}

static void layout(struct image_layout *l, const struct image *im)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t n, i;

	if (!gelf_getehdr(im->elf, &eh) || elf_getphdrnum(im->elf, &n))
		return;
	l->fixed = eh.e_type == ET_EXEC;
	l->entry = eh.e_entry;
	for (i = 0; i < n && gelf_getphdr(im->elf, (int)i, &ph); i++) {
		/* the text ends at its NUL; the bytes behind it are ignored */
		if (ph.p_type == PT_INTERP &&
		    pread(im->fd, l->interp, sizeof(l->interp) - 1,
			  (off_t)ph.p_offset) < 0)
			l->interp[0] = '\0';
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			add_code(l, &ph);
	}
}

bool image_layout(const struct image_root *root, const char *path,
		  struct image_layout *l)
{
	struct image im;
	const char *why;

	memset(l, 0, sizeof(*l));
	if (!image_open(&im, root, path, &why))
		return false;
	layout(l, &im);
	image_close(&im);
	return l->n;
}

size_t image_buildid(const struct image *im, const void **id)
{
	ssize_t n = dwelf_elf_gnu_build_id(im->elf, id);

	return n > 0 ? (size_t)n : 0;
}

const Elf_Data *image_section(Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	const char *s;
	size_t strndx;

	if (elf_getshdrstrndx(elf, &strndx))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, sh) || sh->sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(elf, strndx, sh->sh_name);
		if (s && !strcmp(s, name)) {
			data = elf_rawdata(scn, NULL);
			return data && data->d_buf ? data : NULL;
		}
	}
	return NULL;
}
