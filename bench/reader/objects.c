// SPDX-License-Identifier: GPL-2.0-only
/* Programs and libraries with thousands of functions, and a kernel's symbols. */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "model.h"

struct object objects[] = {
	{ .name = "service", .nfunc = 200 },
	{ .name = "libw0.so", .nfunc = 400 },
	{ .name = "libw1.so", .nfunc = 400 },
	{ .name = "libw2.so", .nfunc = 400 },
	{ .name = "libw3.so", .nfunc = 400 },
	{ .name = "libw4.so", .nfunc = 400 },
	{ .name = "libw5.so", .nfunc = 400 },
	{ .name = "libc.so.6", .nfunc = 3000 },
	{ .name = "loader.so", .nfunc = 300 },
	{ .name = "libstdc++.so.6", .nfunc = 5000 },
	{ .name = "compiler", .nfunc = 20000 },
	{ .name = "assembler", .nfunc = 3000 },
	{ .name = "linker", .nfunc = 4000 },
	{ .name = "snake", .nfunc = 7000 },
	{ .name = "pearl", .nfunc = 2500 },
	{ .name = "seek", .nfunc = 300 },
	{ .name = "order", .nfunc = 200 },
	{ .name = "shell", .nfunc = 800 },
	{ 0 }
};

struct object kernel = { .name = "kernel", .nfunc = 20000 };

struct object *object_named(const char *name)
{
	struct object *o;

	for (o = objects; strcmp(o->name, name); o++)
		;
	return o;
}

/* The layout of the text is the seed's, so it need not be read back. */
static void lay_out(struct object *o, uint64_t seed)
{
	uint64_t state = 0x9E3779B97F4A7C15ULL * (seed + 1);
	uint32_t i, at = 0;

	o->func = calloc(o->nfunc, sizeof(*o->func));
	if (!o->func)
		err(1, "memory");
	for (i = 0; i < o->nfunc; i++) {
		o->func[i].at = at;
		o->func[i].size = 48 + 16 * rnd_skewed(&state, 100);
		at += o->func[i].size;
	}
	o->text_len = at;
}

static void lay_out_all(void)
{
	struct object *o;

	for (o = objects; o->name; o++)
		lay_out(o, (uint64_t)(o - objects));
	lay_out(&kernel, 1000);
}

static void function_name(char *buf, size_t size, const struct object *o,
			  uint32_t i)
{
	static const char *const verb[] = {
		"get", "put", "parse", "walk", "lookup", "insert", "copy",
		"flush", "init", "finish", "update", "scan", "emit", "merge",
		"resolve", "alloc", "release",
	};
	static const char *const noun[] = {
		"node", "token", "buffer", "type_decl", "symbol", "page",
		"entry", "request", "frame_info", "tree", "expr", "stream",
		"hash_bucket", "string", "inode", "queue", "list_head",
		"register_class", "block",
	};

	const char *prefix = strncmp(o->name, "lib", 3) ? o->name :
							   o->name + 3;

	snprintf(buf, size, "%.2s_%s_%s_%u", prefix, verb[i % 17],
		 noun[i % 19], i);
}

static FILE *create(const char *dir, const char *name, const char *suffix)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, suffix);
	f = fopen(path, "w");
	if (!f)
		err(1, "%s", path);
	return f;
}

static void close_checked(FILE *f)
{
	if (ferror(f) | fclose(f))
		errx(1, "write error");
}

static void write_source(const char *dir, const struct object *o)
{
	FILE *f = create(dir, o->name, ".s");
	char name[64];
	uint32_t i;

	fputs("\t.text\n\t.p2align 4\n", f);
	for (i = 0; i < o->nfunc; i++) {
		function_name(name, sizeof(name), o, i);
		fprintf(f, "\t.globl %s\n\t.type %s,@function\n%s:\n"
			"\t.skip %u,0x90\n\t.size %s,%u\n", name, name, name,
			o->func[i].size, name, o->func[i].size);
	}
	close_checked(f);
}

static void write_kallsyms(const char *dir)
{
	FILE *f = create(dir, "kallsyms", "");
	char name[64];
	uint32_t i;

	fprintf(f, "%llx T _text\n", KERNEL_START);
	fprintf(f, "%llx T _stext\n", KERNEL_START);
	for (i = 0; i < kernel.nfunc; i++) {
		function_name(name, sizeof(name), &kernel, i);
		/* 16: no function begins where the marks do */
		fprintf(f, "%llx %c %s\n", KERNEL_START + 16 +
			kernel.func[i].at, i % 3 ? 't' : 'T', name);
	}
	fprintf(f, "%llx T _etext\n", KERNEL_START + 16 + kernel.text_len);
	close_checked(f);
}

void objects_write(const char *dir)
{
	struct object *o;

	lay_out_all();
	for (o = objects; o->name; o++)
		write_source(dir, o);
	write_kallsyms(dir);
}

static void find_segment(struct object *o, const unsigned char *file)
{
	const Elf64_Ehdr *eh = (const void *)file;
	const Elf64_Phdr *ph = (const void *)(file + eh->e_phoff);
	const Elf64_Shdr *sh = (const void *)(file + eh->e_shoff);
	const char *names = (const char *)file + sh[eh->e_shstrndx].sh_offset;
	int i;

	for (i = 0; i < eh->e_shnum; i++)
		if (!strcmp(names + sh[i].sh_name, ".text"))
			o->text = sh[i].sh_addr;
	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X))
			continue;
		o->segment = ph[i].p_vaddr & ~0xfffULL;
		o->offset = ph[i].p_offset & ~0xfffULL;
		o->len = (ph[i].p_vaddr + ph[i].p_memsz - o->segment + 0xfff) &
			 ~0xfffULL;
	}
	if (!o->text || !o->len)
		errx(1, "%s: no text", o->path);
}

static void load(struct object *o, const char *dir)
{
	struct stat st;
	void *file;
	int fd;

	if (snprintf(o->path, sizeof(o->path), "%s/%s", dir, o->name) >=
	    (int)sizeof(o->path))
		errx(1, "%s: too long", dir);
	fd = open(o->path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", o->path);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		err(1, "%s", o->path);
	find_segment(o, file);
	munmap(file, (size_t)st.st_size);
	close(fd);
	o->ino = st.st_ino;
	o->dev_major = major(st.st_dev);
	o->dev_minor = minor(st.st_dev);
}

void objects_load(const char *dir)
{
	struct object *o;

	lay_out_all();
	for (o = objects; o->name; o++)
		load(o, dir);
	kernel.text = KERNEL_START + 16;
}
