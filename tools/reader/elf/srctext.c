// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/imagefile.h"
#include "elf/srctext.h"

#define FILE_MAX	(16 << 20)
#define TOTAL_MAX	(256 << 20)

void srctext_init(struct srctext *t, const char *dir)
{
	memset(t, 0, sizeof(*t));
	t->dir = dir;
	strtab_init(&t->name);
}

/* May everybody read it, as root would say?  @st: of the file */
static bool is_public(int fd, const struct stat *st)
{
	char link[32], path[PATH_MAX], *s;
	struct stat dir;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || !(st->st_mode & S_IROTH))
		return false;
	path[n] = '\0';
	for (s = strrchr(path, '/'); s && s > path; s = strrchr(path, '/')) {
		*s = '\0';
		if (stat(path, &dir) || !(dir.st_mode & S_IXOTH))
			return false;
	}
	return s;
}

static bool read_all(struct srcfile *f, int fd, size_t size)
{
	size_t got = 0;
	ssize_t n;

	f->text = xmalloc(size + 1);
	while (got < size && (n = read(fd, f->text + got, size - got)) > 0)
		got += (size_t)n;
	f->text[got] = '\0';
	return got;
}

static void find_lines(struct srcfile *f)
{
	const char *s = f->text;

	while (s && *s) {
		APPEND(f->line, f->n, f->cap) = s;
		s = strchr(s, '\n');
		s = s ? s + 1 : NULL;
	}
}

/*
 * A file that was compiled elsewhere is searched below --source-root, removing
 * one directory after another from the start of its path.
 */
static int open_source(const struct srctext *t, const char *path)
{
	const struct image_root root = { .dir = t->dir };
	const char *why;
	int fd;

	/* a jitdump's names can be empty, or longer than any path */
	if (!*path || strlen(path) >= PATH_MAX)
		return -1;
	fd = image_open_file(&root, path, &why);
	while (fd < 0 && t->dir && (path = strchr(path + 1, '/')))
		fd = image_open_file(&root, path, &why);
	return fd;
}

static void load(struct srctext *t, struct srcfile *f, const char *path)
{
	struct stat st;
	int fd = open_source(t, path);

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= FILE_MAX &&
	    t->total + (size_t)st.st_size <= TOTAL_MAX &&
	    read_all(f, fd, (size_t)st.st_size)) {
		f->owner = st.st_uid;
		f->free = t->dir || is_public(fd, &st);
		t->total += (size_t)st.st_size;
		find_lines(f);
	}
	close(fd);
}

static struct srcfile *file_of(struct srctext *t, const char *path)
{
	uint32_t id = strtab_id(&t->name, path);

	if (id >= t->n) {
		t->file = xreallocarray(t->file, (size_t)id + 1,
					sizeof(*t->file));
		memset(t->file + t->n, 0, (id + 1 - t->n) * sizeof(*t->file));
		t->n = id + 1;
		load(t, &t->file[id], path);
	}
	return &t->file[id];
}

const char *srctext_line(struct srctext *t, const char *path, uint32_t line,
			 uid_t owner, size_t *len)
{
	const struct srcfile *f = file_of(t, path);

	if (!line || line > f->n || !(f->free || f->owner == owner))
		return NULL;
	*len = strcspn(f->line[line - 1], "\r\n");
	return f->line[line - 1];
}

void srctext_free(struct srctext *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		free(t->file[i].text);
		free(t->file[i].line);
	}
	free(t->file);
	strtab_free(&t->name);
}
