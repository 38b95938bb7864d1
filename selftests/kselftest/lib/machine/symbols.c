// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "symbols.h"

struct symbol {
	uint64_t	addr;
	uint64_t	end;	/* 0: up to the next one */
	char		*name;
};

struct symbols {
	struct symbol	*s;
	size_t		n;
	size_t		size;
};

static void add(struct symbols *sy, uint64_t addr, uint64_t len,
		const char *name)
{
	if (sy->n == sy->size) {
		sy->size = sy->size ? 2 * sy->size : 256;
		sy->s = realloc(sy->s, sy->size * sizeof(*sy->s));
	}
	sy->s[sy->n].addr = addr;
	sy->s[sy->n].end = len ? addr + len : 0;
	sy->s[sy->n++].name = strdup(name);
}

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct symbols *finish(struct symbols *sy)
{
	if (!sy->n) {
		symbols_free(sy);
		return NULL;
	}
	qsort(sy->s, sy->n, sizeof(*sy->s), by_addr);
	return sy;
}

/* The file is one of ours: no checks beyond what finding the table takes. */
#define READ_ELF(bits)							\
static void read_elf##bits(struct symbols *sy, const char *base)	\
{									\
	const Elf##bits##_Ehdr *eh = (const void *)base;		\
	const Elf##bits##_Shdr *sh = (const void *)(base + eh->e_shoff); \
	const Elf##bits##_Sym *sym, *end;				\
	const char *names;						\
	unsigned int i;							\
									\
	for (i = 0; i < eh->e_shnum; i++) {				\
		if (sh[i].sh_type != SHT_SYMTAB)			\
			continue;					\
		sym = (const void *)(base + sh[i].sh_offset);		\
		end = sym + sh[i].sh_size / sizeof(*sym);		\
		names = base + sh[sh[i].sh_link].sh_offset;		\
		for (; sym < end; sym++)				\
			if (ELF##bits##_ST_TYPE(sym->st_info) == STT_FUNC) \
				add(sy, sym->st_value, sym->st_size,	\
				    names + sym->st_name);		\
	}								\
}

READ_ELF(32)
READ_ELF(64)

struct symbols *symbols_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbols *sy;
	struct stat st;
	char *base;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	base = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return NULL;
	sy = calloc(1, sizeof(*sy));
	if (base[EI_CLASS] == ELFCLASS32)
		read_elf32(sy, base);
	else
		read_elf64(sy, base);
	munmap(base, st.st_size);
	return finish(sy);
}

struct symbols *symbols_kernel(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	struct symbols *sy = calloc(1, sizeof(*sy));
	char line[600], name[512], type;
	unsigned long long addr;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) == 3 &&
		    strchr("tTwW", type))
			add(sy, addr, 0, name);
	if (f)
		fclose(f);
	return finish(sy);
}

void symbols_free(struct symbols *sy)
{
	while (sy->n)
		free(sy->s[--sy->n].name);
	free(sy->s);
	free(sy);
}

const char *symbols_name(const struct symbols *sy, uint64_t addr)
{
	size_t lo = 0, hi = sy->n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (sy->s[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || (sy->s[lo - 1].end && addr >= sy->s[lo - 1].end))
		return "?";
	return sy->s[lo - 1].name;
}

/* A test can have the name of the workload that it measures. */
static bool is_this_program(const char *path)
{
	struct stat self, other;

	return !stat("/proc/self/exe", &self) && !stat(path, &other) &&
	       self.st_dev == other.st_dev && self.st_ino == other.st_ino;
}

const char *workload_path(const char *name)
{
	static char path[4096 + 64];

	snprintf(path, sizeof(path), "%s/bin/%s", program_dir(), name);
	if (access(path, X_OK))
		snprintf(path, sizeof(path), "/usr/bin/%s", name);
	return access(path, X_OK) || is_this_program(path) ? NULL : path;
}

/* Waits for the exec of @pid, whose @ends of a pipe close by it. */
static void wait_exec(pid_t pid, int ends[2])
{
	char path[64], byte;
	FILE *maps;

	close(ends[1]);
	(void)!read(ends[0], &byte, 1);
	close(ends[0]);
	/* the kernel lets no other task look before the exec is over */
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (maps)
		fclose(maps);
}

int workload_start(const char *name, int cpu)
{
	const char *path = workload_path(name);
	int ends[2];
	pid_t pid;

	if (!path || pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork_bound();
	if (!pid) {
		pin_to(cpu);
		execl(path, name, NULL);
		_exit(127);
	}
	wait_exec(pid, ends);
	return pid;
}
