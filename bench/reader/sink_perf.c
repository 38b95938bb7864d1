// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the recording as "perf record -F 20000 [-g] -e cpu-clock -a" does, but
 * already sorted by time.
 */
#include <linux/perf_event.h>
#include <stddef.h>

#include "model.h"
#include "sink.h"

#define FINISHED_ROUND		68U
#define ROUND			1000U	/* samples */
#define STRING_LEN		64

struct section {
	uint64_t offset, size;
};

struct perf_head {
	char	magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, types;
	uint64_t features[4];
};

struct perf_attr {
	struct perf_event_attr attr;
	struct section ids;
};

/* at the end of every record that is not a sample */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, pad;
};

static struct sinkfile file;
static uint64_t first, last, in_round;

static void *record(uint32_t type, uint32_t misc, size_t len)
{
	struct perf_event_header *h = sink_room(&file, len);

	h->type = type;
	h->misc = (uint16_t)misc;
	h->size = (uint16_t)len;
	return h;
}

/* Writes a record with @body, an optional string, and the trailer. */
static void side(uint32_t type, uint32_t misc, uint64_t time, uint32_t pid,
		 const void *body, size_t len, const char *string)
{
	size_t slen = string ? (strlen(string) + 8) & ~(size_t)7 : 0;
	struct trailer t = { .pid = pid, .tid = pid, .time = time };
	size_t fixed = sizeof(struct perf_event_header);
	char *p = record(type, misc, fixed + len + slen + sizeof(t));

	memcpy(p + fixed, body, len);
	if (string)
		strcpy(p + fixed + len, string);
	memcpy(p + fixed + len + slen, &t, sizeof(t));
}

static void start(uint64_t kernel_len)
{
	struct perf_head head = { .magic = "PERFILE2" };
	struct perf_attr a = { .attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a.attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 50000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_PERIOD,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.sample_id_all = 1, .exclude_guest = 1,
	} };
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} map = { .pid = UINT32_MAX, .addr = KERNEL_START, .len = kernel_len,
		  .pgoff = KERNEL_START };

	if (perf_sink.chains)
		a.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	memcpy(sink_room(&file, sizeof(head)), &head, sizeof(head));
	memcpy(sink_room(&file, sizeof(a)), &a, sizeof(a));
	side(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, 0, 0, &map, sizeof(map),
	     "[kernel.kallsyms]_text");
}

static void do_fork(uint64_t time, uint32_t parent, uint32_t child)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} f = { child, parent, child, parent, time };

	side(PERF_RECORD_FORK, 0, time, child, &f, sizeof(f), NULL);
}

static void do_exec(uint64_t time, uint32_t pid, const struct object *program)
{
	uint32_t ids[2] = { pid, pid };

	side(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, time, pid, ids,
	     sizeof(ids), program->name);
}

static void do_map(uint64_t time, uint32_t pid, const struct object *o,
		   uint64_t base)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, ino_generation;
		uint32_t prot, flags;
	} map = {
		.pid = pid, .tid = pid, .addr = base, .len = o->len,
		.pgoff = o->offset, .maj = o->dev_major, .min = o->dev_minor,
		.ino = o->ino, .prot = 5, .flags = 2,
	};

	side(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, time, pid, &map,
	     sizeof(map), o->path);
}

static void do_exit(uint64_t time, uint32_t pid)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} x = { pid, 1, pid, 1, time };

	side(PERF_RECORD_EXIT, 0, time, pid, &x, sizeof(x), NULL);
}

/* Each part of the chain begins with a context mark. */
static void put_chain(uint64_t *p, const struct sample *s)
{
	uint32_t user = s->n - s->nkernel;

	*p++ = s->n + (s->nkernel > 0) + (user > 0);
	if (s->nkernel) {
		*p++ = (uint64_t)PERF_CONTEXT_KERNEL;
		memcpy(p, s->pc, s->nkernel * sizeof(*p));
		p += s->nkernel;
	}
	if (user) {
		*p++ = (uint64_t)PERF_CONTEXT_USER;
		memcpy(p, s->pc + s->nkernel, user * sizeof(*p));
	}
}

static void do_sample(const struct sample *s)
{
	struct {
		struct perf_event_header h;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, pad;
		uint64_t period;
		uint64_t chain[];
	} *r;
	size_t len = sizeof(*r);

	if (perf_sink.chains)
		len += 8 * (1 + s->n + (s->nkernel > 0) + (s->nkernel < s->n));
	r = record(PERF_RECORD_SAMPLE, s->nkernel ? PERF_RECORD_MISC_KERNEL :
			PERF_RECORD_MISC_USER, len);
	r->ip = s->pc[0];
	r->pid = r->tid = s->pid;
	r->time = s->time;
	r->cpu = s->cpu;
	r->period = 50000;
	if (perf_sink.chains)
		put_chain(r->chain, s);
	if (!first)
		first = s->time;
	last = s->time;
	if (++in_round == ROUND) {
		record(FINISHED_ROUND, 0, sizeof(struct perf_event_header));
		in_round = 0;
	}
}

/* features that perf's converters need, by number */
struct feature {
	uint32_t bit;
	const char *string;		/* or two numbers */
};

static const struct feature features[] = {
	{ 3, "bench" },			/* host */
	{ 4, "6.12.0-bench" },		/* release */
	{ 5, "6.12" },			/* of perf */
	{ 6, "x86_64" },
	{ 7, NULL },			/* CPUs */
	{ 8, "bench" },			/* CPU */
	{ 9, "bench,0,0,0" },
	{ 21, NULL },			/* first and last sample */
};

#define NFEATURES (sizeof(features) / sizeof(features[0]))

static size_t feature_len(const struct feature *f)
{
	if (f->string)
		return 4 + STRING_LEN;
	return f->bit == 7 ? 8 : 16;
}

static void put_feature(const struct feature *f)
{
	char *p = sink_room(&file, feature_len(f));
	uint32_t len = STRING_LEN, cpus[2] = { MODEL_CPUS, MODEL_CPUS };
	uint64_t times[2] = { first, last };

	if (f->string) {
		memcpy(p, &len, sizeof(len));
		strcpy(p + sizeof(len), f->string);
	} else if (f->bit == 7) {
		memcpy(p, cpus, sizeof(cpus));
	} else {
		memcpy(p, times, sizeof(times));
	}
}

static void end(uint64_t time)
{
	uint64_t data = sizeof(struct perf_head) + sizeof(struct perf_attr);
	struct perf_head head = {
		.magic = "PERFILE2", .size = sizeof(head),
		.attr_size = sizeof(struct perf_attr),
		.attrs = { sizeof(head), sizeof(struct perf_attr) },
		.data = { data, file.bytes - data },
	};
	struct section at = {
		.offset = file.bytes + NFEATURES * sizeof(at),
	};
	size_t i;

	(void)time;
	for (i = 0; i < NFEATURES; i++) {
		at.size = feature_len(&features[i]);
		memcpy(sink_room(&file, sizeof(at)), &at, sizeof(at));
		at.offset += at.size;
		head.features[0] |= 1ULL << features[i].bit;
	}
	for (i = 0; i < NFEATURES; i++)
		put_feature(&features[i]);
	sinkfile_flush(&file);
	sinkfile_write_at(&file, &head, sizeof(head), 0);
	sinkfile_close(&file);
}

struct sink perf_sink = {
	.file = &file, .start = start, .fork = do_fork, .exec = do_exec, .map = do_map,
	.exit = do_exit, .sample = do_sample, .end = end,
};
