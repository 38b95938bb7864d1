// SPDX-License-Identifier: GPL-2.0-only
/*
 * writer CHAINS KIND RINGS BATCH SAMPLES [KIND RINGS BATCH SAMPLES]...
 *
 * Runs the writer thread on each load in turn, and prints a line for each:
 *
 *	RAW kind=... rings=... batch=... samples=... records=... bytes=... ns=...
 *
 * KIND is unpacked, packed, or alone: packed, with processes of its own on each CPU.
 * BATCH is the number of samples in a ring when a pass begins, SAMPLES the number in
 * the log, about.  ns is the CPU time of the passes.  The log must have all samples
 * that were put into the rings, in the order of time.
 *
 * Under callgrind it counts the instructions of the passes.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/pmclog.h>

#include "pmclog_iter.h"
#include "writer.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAVE_CALLGRIND	1
#endif
#endif

#define RECORD_BYTES	256	/* more than any record of the log has */

static struct program programs[LOAD_PROGRAMS];
static uint64_t ns, began, overhead;
static unsigned char *cold;
static size_t cold_size;

void *measure_alloc(size_t size)
{
	void *p;

	size = (size + 63) / 64 * 64;
	p = aligned_alloc(64, size);
	if (!p)
		err(1, "%zu bytes", size);
	/* not during a pass: the kernel's memory is there at once */
	return memset(p, 0, size);
}

void measure_free(void *p)
{
	free(p);
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* What a measurement of nothing takes. */
static uint64_t clock_overhead(void)
{
	uint64_t least = UINT64_MAX, t;
	int i;

	for (i = 0; i < 10000; i++) {
		t = cpu_time();
		t = cpu_time() - t;
		if (t < least)
			least = t;
	}
	return least;
}

/*
 * The caches that belong to a CPU have other data when the thread wakes: it has slept,
 * and other CPUs have written the samples.
 */
static void cool_caches(void)
{
	size_t i;

	for (i = 0; i < cold_size; i += 64)
		((volatile unsigned char *)cold)[i]++;
}

void measure_begin(void)
{
	cool_caches();
#ifdef HAVE_CALLGRIND
	CALLGRIND_TOGGLE_COLLECT;
#endif
	began = cpu_time();
}

void measure_end(void)
{
	uint64_t took = cpu_time() - began;

#ifdef HAVE_CALLGRIND
	CALLGRIND_TOGGLE_COLLECT;
#endif
	ns += took > overhead ? took - overhead : 0;
}

static char *read_word(FILE *f)
{
	static char word[512];

	if (fscanf(f, "%511s", word) != 1)
		errx(1, "the chains end too early");
	return word;
}

static unsigned long read_number(FILE *f, int base)
{
	char *word = read_word(f), *end;
	unsigned long n = strtoul(word, &end, base);

	if (*end)
		errx(1, "the chains: %s is no number", word);
	return n;
}

/*
 * A sample with more than LOAD_FRAMES frames loses the outermost ones.  Of others the
 * outermost frame is repeated, at another place of the function each time.
 */
static void set_chain(__u64 *to, const __u64 *pc, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < LOAD_FRAMES; i++)
		to[i] = i < n ? pc[i] : pc[n - 1] + 32 * (i - n + 1);
}

static void read_program(FILE *f, struct program *p)
{
	__u64 pc[128], last[128], *address;
	unsigned int i, n = 0, shared;
	unsigned long count, samples;
	char *at;

	read_word(f);	/* the name */
	count = read_number(f, 10);
	samples = read_number(f, 10);
	if (samples != LOAD_SAMPLES)
		errx(1, "the chains: %lu samples", samples);
	address = measure_alloc(count * sizeof(*address));
	for (i = 0; i < count; i++)
		address[i] = read_number(f, 16);
	for (i = 0; i < samples; i++) {
		unsigned int was = n, place;

		memcpy(last, pc, n * sizeof(*pc));
		shared = strtoul(read_word(f), &at, 10);
		for (n = 0; *at == ','; n++) {
			place = strtoul(at + 1, &at, 10);
			if (place >= count || n + shared >= 128)
				errx(1, "the chains: a sample is wrong");
			pc[n] = address[place];
		}
		if (*at || shared > was)
			errx(1, "the chains: a sample is wrong");
		memcpy(pc + n, last + was - shared, shared * sizeof(*pc));
		n += shared;
		set_chain(p->pc[i], pc, n);
	}
	measure_free(address);
}

static void read_chains(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[128];
	unsigned int i;
	int c;

	if (!f)
		err(1, "%s", path);
	while ((c = getc(f)) == '#')
		if (!fgets(line, sizeof(line), f))
			errx(1, "%s is empty", path);
	ungetc(c, f);
	for (i = 0; i < LOAD_PROGRAMS; i++)
		read_program(f, &programs[i]);
	fclose(f);
}

static uint64_t sum_of(const struct pmclog_rec *rec)
{
	const size_t fixed = sizeof(struct pmclog_callchain);
	unsigned int n = (rec->len - fixed) / sizeof(uint64_t);
	__u64 pc[LOAD_FRAMES];

	if (n != LOAD_FRAMES)
		errx(1, "a sample has %u frames", n);
	memcpy(pc, rec->data + fixed, sizeof(pc));
	return load_sum(rec->tsc, PMCLOG_FIELD32(rec, struct pmclog_callchain, tid), pc, n);
}

/* The log has what was put into the rings, and its account says the same. */
static void check_log(const struct run *r)
{
	struct pmclog_iter *it = pmclog_iter_mem(r->out, r->size);
	uint64_t samples = 0, sum = 0, last = 0, written = 0, processes = 0;
	enum pmclog_iter_status status;
	struct pmclog_rec rec;

	if (!it)
		err(1, "the log");
	while ((status = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD) {
		if (rec.tsc < last)
			errx(1, "the log is not in the order of time");
		last = rec.tsc;
		if (rec.type == PMCLOG_T_CALLCHAIN) {
			samples++;
			sum += sum_of(&rec);
		} else if (rec.type == PMCLOG_T_CLOSELOG) {
			written = PMCLOG_FIELD64(&rec, struct pmclog_closelog, account.written);
			processes = PMCLOG_FIELD64(&rec, struct pmclog_closelog,
						   account.proc_committed);
		}
	}
	if (status != PMCLOG_ITER_EOF)
		errx(1, "the log: %s", pmclog_iter_error(it, NULL));
	if (samples != r->samples || written != r->samples || sum != r->sum)
		errx(1, "%ju samples in the log, %ju in its account, of %ju%s",
		     (uintmax_t)samples, (uintmax_t)written, (uintmax_t)r->samples,
		     sum == r->sum ? "" : ", not the same ones");
	if (processes != r->records)
		errx(1, "%ju process records of %ju", (uintmax_t)processes,
		     (uintmax_t)r->records);
	pmclog_iter_close(it);
}

static void run_load(const char *kind, unsigned long rings, unsigned long batch,
		     unsigned long samples)
{
	static unsigned char *out;
	static size_t room;
	struct run r = {
		.programs = programs,
		.rings = rings,
		.batch = batch,
		.packed = strcmp(kind, "unpacked"),
		.alone = !strcmp(kind, "alone"),
	};

	if (!rings || rings > WRITER_CPUS || !batch)
		errx(1, "%s %lu %lu %lu", kind, rings, batch, samples);
	r.passes = samples / (rings * batch) + !(samples / (rings * batch));
	r.room = RECORD_BYTES * (rings * batch * r.passes + 65536);
	if (r.room > room) {
		free(out);
		out = measure_alloc(r.room);
		room = r.room;
	}
	r.out = out;
	ns = 0;
	load_run(&r);
	check_log(&r);
	printf("RAW kind=%s rings=%u batch=%u samples=%ju records=%ju bytes=%zu ns=%ju\n",
	       kind, r.rings, r.batch, (uintmax_t)r.samples, (uintmax_t)r.records, r.size,
	       (uintmax_t)ns);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
	int i;

	if (argc < 6 || argc % 4 != 2)
		errx(2, "usage: writer CHAINS KIND RINGS BATCH SAMPLES...");
	load_begin();
	read_chains(argv[1]);
	cold_size = 2 * (cache > 0 ? cache : 1 << 20);
	cold = measure_alloc(cold_size);
	overhead = clock_overhead();
	for (i = 2; i < argc; i += 4)
		run_load(argv[i], strtoul(argv[i + 1], NULL, 10),
			 strtoul(argv[i + 2], NULL, 10), strtoul(argv[i + 3], NULL, 10));
	return 0;
}
