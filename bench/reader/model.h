/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine at work, made from a seed: programs and libraries (real ELF files,
 * see objects.c), short and long processes, and the address of each sample. A
 * sink writes the recording.
 */
#ifndef BENCH_MODEL_H
#define BENCH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_START	0xffffffff81000000ULL
#define MODEL_CPUS	2
#define MODEL_FRAMES	127
#define MODEL_BEGIN	1000000000000ULL	/* clock of the first record */

struct function {
	uint32_t at, size;	/* in the text */
};

/**
 * struct object - a program, a library, or the kernel
 * @segment, @offset, @len: its executable segment: address, place in the file
 * @text: address of the first function
 */
struct object {
	const char *name;
	uint32_t nfunc;
	struct function *func;
	uint32_t text_len;
	char path[256];
	uint64_t segment, offset, len, text;
	uint64_t ino;
	uint32_t dev_major, dev_minor;
};

struct sample {
	uint64_t time;
	uint32_t pid, cpu;
	uint32_t nkernel, n;	/* the kernel's frames first */
	uint64_t pc[MODEL_FRAMES];
};

struct sink {
	struct sinkfile *file;
	void (*start)(uint64_t kernel_len);
	void (*fork)(uint64_t time, uint32_t parent, uint32_t child);
	void (*exec)(uint64_t time, uint32_t pid, const struct object *program);
	void (*map)(uint64_t time, uint32_t pid, const struct object *o,
		    uint64_t base);
	void (*exit)(uint64_t time, uint32_t pid);
	void (*sample)(const struct sample *s);
	void (*end)(uint64_t time);
	bool chains;		/* set by the model before start() */
};

/* xorshift64*: the same on every machine */
static inline uint64_t rnd(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static inline uint32_t rnd_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((rnd(state) >> 32) * n >> 32);
}

/* Small numbers far more often. */
static inline uint32_t rnd_skewed(uint64_t *state, uint32_t n)
{
	double r = (double)(rnd(state) >> 11) * 0x1p-53;

	return (uint32_t)(r * r * r * n);
}

/* objects.c */
extern struct object objects[];
extern struct object kernel;
struct object *object_named(const char *name);
/* Sources for the assembler, and the kernel's symbols, into @dir. */
void objects_write(const char *dir);
/* Finds out where the linker has put what objects_write() has written. */
void objects_load(const char *dir);

/* model.c; it ends when the sink has written @size bytes, if that is not 0 */
bool model_run(const char *shape, uint64_t samples, struct sink *sink, uint64_t size);

/* sinks */
extern struct sink pmclog_sink, perf_sink;

#endif /* BENCH_MODEL_H */
