// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the files that a command will map as code, before it runs.  The program's own
 * loader lists the libraries, because only the loader knows its search path.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libpmc_command.h"
#include "libpmc_elf.h"
#include "libpmc_unwind.h"

#define HEAD_LEN	256	/* bytes of a script that the kernel examines */
#define SCRIPTS_MAX	5	/* most nested interpreters, like in the kernel */
#define FILES_MAX	512

#if defined(__x86_64__)
#define OUR_MACHINE	EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE	EM_AARCH64
#else
#define OUR_MACHINE	EM_NONE		/* there are no tables */
#endif

/**
 * struct files - files found so far
 * @seen: identity of each file, independent of its name
 */
struct files {
	const struct command *c;
	struct {
		dev_t	dev;
		ino_t	ino;
	} seen[FILES_MAX];
	size_t		n;
};

static int open_file(const char *path)
{
	int file, fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -1;
	file = pmc_unwind_reopen(fd);
	close(fd);
	return file;
}

static int is_new(struct files *f, int fd)
{
	struct stat st;
	size_t i;

	if (f->n == FILES_MAX || fstat(fd, &st))
		return 0;
	for (i = 0; i < f->n; i++)
		if (f->seen[i].ino == st.st_ino && f->seen[i].dev == st.st_dev)
			return 0;
	f->seen[f->n].dev = st.st_dev;
	f->seen[f->n++].ino = st.st_ino;
	return 1;
}

/* A return value other than 0 ends the search */
static int take_open(struct files *f, int fd, const char *path)
{
	if (*f->c->stop)
		return -1;
	return is_new(f, fd) ? f->c->file(f->c->arg, fd, path) : 0;
}

static int take(struct files *f, const char *path)
{
	int status, fd = open_file(path);

	if (fd < 0)
		return 0;
	status = take_open(f, fd, path);
	close(fd);
	return status;
}

static int is_executable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & 0111);
}

/*
 * Does an interpreter execute this file?  @name: the interpreter.  A file that is not
 * a program and names no interpreter is executed by the shell, as in execvp(3).
 */
static int is_script(int fd, char name[HEAD_LEN + 1])
{
	char head[HEAD_LEN + 1] = "";
	ssize_t n = pread(fd, head, HEAD_LEN, 0);
	size_t from, len;

	if (n < 0 || !memcmp(head, ELFMAG, SELFMAG))
		return 0;
	if (memcmp(head, "#!", 2)) {
		strcpy(name, "/bin/sh");
		return 1;
	}
	from = 2 + strspn(head + 2, " \t");
	len = strcspn(head + from, " \t\n");
	/* the kernel does not run a cut name either: such a file does not exist */
	memcpy(name, head + from, len);
	name[from + len < HEAD_LEN ? len : 0] = '\0';
	return 1;
}

/* The ELF file that executes @path: @path itself, or its interpreter */
static int open_program(const char *path)
{
	char name[HEAD_LEN + 1];
	unsigned int scripts = 0;
	int fd = open_file(path);

	while (fd >= 0 && is_executable(fd) && is_script(fd, name)) {
		close(fd);
		fd = scripts++ < SCRIPTS_MAX ? open_file(name) : -1;
	}
	return fd;
}

/* The loader would then search elsewhere, and the caller may not see such a program. */
static int has_other_credentials(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return 1;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	       ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	       (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static int is_for_us(const struct elf *e)
{
	return e->wide == (sizeof(long) == 8) && e->machine == OUR_MACHINE &&
	       (e->type == ET_EXEC || e->type == ET_DYN);
}

/* The caller frees the result; NULL: no interpreter */
static char *interpreter_of(const struct elf *e)
{
	const unsigned char *row = pmc_elf_segment(e, PT_INTERP);
	uint64_t len = row ? FIELD(e, row, Phdr, p_filesz) : 0;
	char *name = NULL;

	if (len && len <= PATH_MAX)
		name = pmc_elf_part(e, FIELD(e, row, Phdr, p_offset), len);
	if (name && *name == '/')
		return name;
	free(name);
	return NULL;
}

static void take_listed(struct files *f, const char *loader,
			const char *program)
{
	char *list, path[PATH_MAX];
	const char *at;
	size_t len;

	list = pmc_loader_list(loader, program, f->c->env, f->c->stop, &len);
	at = list;
	while (at && pmc_loader_next(&at, list + len, path))
		if (take(f, path))
			break;
	free(list);
}

/* An interpreter that is the program, or would change credentials, is not run. */
static int may_list(const char *loader, int program)
{
	int fd = pmc_loader_knows_list(loader) ? open_file(loader) : -1;
	struct stat a, b;
	int may = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &a) && !fstat(program, &b))
		may = !has_other_credentials(fd) &&
		      (a.st_ino != b.st_ino || a.st_dev != b.st_dev);
	close(fd);
	return may;
}

/*
 * The program's real path: $ORIGIN refers to its directory, and the path cannot be
 * taken for an option.
 */
static int path_of(int fd, char path[PATH_MAX])
{
	char name[40];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, PATH_MAX - 1);
	if (n <= 0 || *path != '/')
		return -1;
	path[n] = '\0';
	return 0;
}

/* Passes the files in the order in which they run. */
static void take_all(struct files *f, int program, const char *loader)
{
	char path[PATH_MAX];

	if (path_of(program, path) || (loader && take(f, loader)) ||
	    take_open(f, program, path))
		return;
	if (loader && may_list(loader, program))
		take_listed(f, loader, path);
}

void pmc_command_files(const struct command *c)
{
	struct files f = { .c = c };
	int fd = open_program(c->path);
	struct elf e;
	char *loader;

	if (fd < 0)
		return;
	if (is_executable(fd) && !has_other_credentials(fd) &&
	    !pmc_elf_read(&e, fd)) {
		loader = interpreter_of(&e);
		if (is_for_us(&e))
			take_all(&f, fd, loader);
		free(loader);
		pmc_elf_close(&e);
	}
	close(fd);
}
