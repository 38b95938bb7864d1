/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/sampler_load.h"
#include "libpmc_event.h"
#include "sampler.skel.h"

/* Which queue the records of a ring go to */
struct taker {
	struct queues	*q;
	unsigned int	queue;
};

static int verbosity;

static int say(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level > LIBBPF_WARN || verbosity < 2)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static void refuse(int err, const char *what)
{
	if (err == EPERM || err == EACCES)
		die(EX_NOPERM, "--bpf: cannot %s: %s: it needs CAP_BPF and "
		    "CAP_PERFMON, or root", what, strerror(err));
	die(EX_UNAVAILABLE, "--bpf: cannot %s: %s (-vv shows what libbpf says)",
	    what, strerror(err));
}

/* kernel.perf_event_max_stack is the most that a part of a chain can have. */
static uint32_t read_max_stack(void)
{
	char text[32];
	uint32_t n;

	if (pmc_file_text(text, sizeof(text), "/proc/sys/kernel/perf_event_max_stack") < 0 ||
	    sscanf(text, "%u", &n) != 1 || n > SAMPLER_PART_MAX)
		return SAMPLER_PART_MAX;
	return n;
}

static void set_constants(const struct sampler *s, struct sampler_bpf *b,
			  const struct counter *c, uint32_t row, int other_pid)
{
	int leaves_out = c->mode == PMC_MODE_SS &&
			 !(c->flags & HWPMC_F_INCLUDE_OWNER);

	b->rodata->pmcid = c->id;
	b->rodata->row = row;
	b->rodata->rows = s->rows;
	b->rodata->own_pid = leaves_out ? (uint32_t)getpid() : 0;
	b->rodata->other_pid = leaves_out ? (uint32_t)other_pid : 0;
	b->rodata->max_part = read_max_stack();
	b->rodata->ring_size = s->ring_size;
	b->rodata->with_chain = !!(c->flags & PMC_F_CALLCHAIN);
	b->rodata->with_user_chain = !!(c->flags & PMC_F_USERCALLCHAIN);
	b->rodata->user_only = !(c->event.caps & PMC_CAP_SYSTEM) &&
			       (c->event.caps & PMC_CAP_USER);
	b->rodata->without_idle = !!(c->flags & PMC_F_EXCLUDE_IDLE);
	b->rodata->by_rate = !!(c->flags & PMC_F_FREQ);
}

/* The maps of the first object, which has made them, are those of the others. */
static int share_maps(struct sampler_bpf *b, const struct sampler_bpf *first)
{
	bpf_program__set_autoload(b->progs.process_exec, false);
	return bpf_map__reuse_fd(b->maps.rings, bpf_map__fd(first->maps.rings)) ||
	       bpf_map__reuse_fd(b->maps.cpus, bpf_map__fd(first->maps.cpus)) ||
	       bpf_map__reuse_fd(b->maps.counts,
				 bpf_map__fd(first->maps.counts)) ||
	       bpf_map__reuse_fd(b->maps.gate, bpf_map__fd(first->maps.gate)) ||
	       bpf_map__reuse_fd(b->maps.scratch,
				 bpf_map__fd(first->maps.scratch));
}

static int size_maps(const struct sampler *s, struct sampler_bpf *b)
{
	return bpf_map__set_max_entries(b->maps.rings, s->ncpu) ||
	       bpf_map__set_max_entries(b->maps.cpus, s->ncpu) ||
	       bpf_map__set_max_entries(b->maps.counts, s->ncpu * s->rows);
}

static const struct sampler_bpf *first_object(const struct sampler *s)
{
	uint32_t row;

	for (row = 0; row < s->rows; row++)
		if (s->object[row])
			return s->object[row];
	return NULL;
}

static void load(struct sampler *s, const struct counter *c, uint32_t row,
		 int other_pid)
{
	const struct sampler_bpf *first = first_object(s);
	struct sampler_bpf *b = sampler_bpf__open();

	if (!b)
		refuse(errno, "open the BPF program");
	set_constants(s, b, c, row, other_pid);
	if (first ? share_maps(b, first) : size_maps(s, b))
		refuse(errno, "make the BPF maps");
	if (sampler_bpf__load(b))
		refuse(errno, "load the BPF program");
	if (!first) {
		b->links.process_exec =
			bpf_program__attach(b->progs.process_exec);
		if (!b->links.process_exec)
			refuse(errno, "follow sched_process_exec");
	}
	s->object[row] = b;
}

static void *map_array(const struct bpf_map *map)
{
	size_t len = (size_t)bpf_map__value_size(map) *
		     bpf_map__max_entries(map);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(map), 0);

	if (p == MAP_FAILED)
		refuse(errno, "map a BPF map");
	return p;
}

void sampler_open(struct sampler *s, const struct options *o, unsigned int ncpu,
		  int other_pid)
{
	const struct sampler_bpf *first;
	uint32_t row;

	verbosity = o->verbose;
	libbpf_set_print(say);
	s->ncpu = ncpu;
	s->rows = (uint32_t)o->ncounters;
	s->ring_size = o->ring_size;
	s->object = calloc(s->rows, sizeof(*s->object));
	s->ring = calloc(ncpu, sizeof(*s->ring));
	s->taker = calloc(ncpu, sizeof(*s->taker));
	if (!s->object || !s->ring || !s->taker)
		die(EX_OSERR, "out of memory");
	for (row = 0; row < s->rows; row++)
		if (PMC_IS_SAMPLING_MODE(o->counters[row].mode))
			load(s, &o->counters[row], row, other_pid);
	first = first_object(s);
	s->cpu = map_array(first->maps.cpus);
	s->count = map_array(first->maps.counts);
	s->gate = map_array(first->maps.gate);
}

/* Negative when the queue may have no room for the next one. */
static int take_record(void *arg, void *data, size_t len)
{
	const struct sampler_head *head = data;
	const struct taker *t = arg;

	queue_push(t->q, t->queue, head->kind, head + 1,
		   (u32)(len - sizeof(*head)));
	return queue_has_room(t->q, t->queue) ? 0 : -ENOBUFS;
}

int sampler_add_ring(struct sampler *s, unsigned int cpu, struct queues *q,
		     unsigned int queue)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pmcstat", 0, 0,
				s->ring_size, NULL);
	int rings = bpf_map__fd(first_object(s)->maps.rings);

	if (fd < 0)
		return -1;
	s->taker[cpu] = (struct taker){ .q = q, .queue = queue };
	s->ring[cpu] = ring_buffer__new(fd, take_record, &s->taker[cpu], NULL);
	if (!s->ring[cpu] || bpf_map_update_elem(rings, &cpu, &fd, BPF_ANY))
		return -1;
	close(fd);	/* the map of maps has it */
	return 0;
}

int sampler_attach(struct sampler *s, uint32_t row, struct event *e)
{
	e->link = bpf_program__attach_perf_event(
			s->object[row]->progs.sample_overflow, e->fd);
	return e->link ? 0 : -1;
}

/* The link owns the event. */
void sampler_detach(struct event *e)
{
	if (!e->link)
		return;
	bpf_link__destroy(e->link);
	e->link = NULL;
	e->fd = -1;
}

static uint64_t read_state(const struct sampler *s, unsigned int cpu)
{
	return __atomic_load_n(&s->cpu[cpu].state, __ATOMIC_ACQUIRE);
}

/*
 * As the module looks at its rings: if no program ran from before the look until after
 * it, everything older than the look is taken.  The caller has read the clock, and
 * executed a full barrier.
 */
enum take sampler_take(struct sampler *s, unsigned int cpu)
{
	const struct taker *t = &s->taker[cpu];
	uint64_t state;

	if (!s->ring[cpu])
		return TAKE_ALL;
	if (!queue_has_room(t->q, t->queue))
		return TAKE_FULL;
	state = read_state(s, cpu);
	if (ring_buffer__consume(s->ring[cpu]) < 0)
		return TAKE_FULL;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(state & SAMPLER_DEPTH_MASK) && read_state(s, cpu) == state ?
	       TAKE_ALL : TAKE_SOME;
}

int sampler_poll_fd(const struct sampler *s, unsigned int cpu)
{
	return s->ring[cpu] ? ring_buffer__epoll_fd(s->ring[cpu]) : -1;
}

void sampler_close(struct sampler *s)
{
	unsigned int cpu;
	uint32_t row;

	for (cpu = 0; s->ring && cpu < s->ncpu; cpu++)
		ring_buffer__free(s->ring[cpu]);
	for (row = 0; s->object && row < s->rows; row++)
		sampler_bpf__destroy(s->object[row]);
	free(s->object);
	free(s->ring);
	free(s->taker);
	memset(s, 0, sizeof(*s));
}
