/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bpf/clock.h"
#include "bpf/writer.h"
#include "output/batch.h"
#include "output/outputs.h"

#define BUF_SIZE	(256U << 10)

#if defined(__x86_64__)
#define MACHINE		EM_X86_64
#elif defined(__aarch64__)
#define MACHINE		EM_AARCH64
#else
#define MACHINE		EM_NONE
#endif

int writer_init(struct writer *w, int fd)
{
	w->fd = fd;
	w->buf = malloc(BUF_SIZE);
	return w->buf ? 0 : -1;
}

void writer_free(struct writer *w)
{
	free(w->buf);
	w->buf = NULL;
}

/* Counts the complete records and samples in the first @bytes of the buffer. */
static void count_written(const struct writer *w, size_t bytes, uint64_t *samples,
			  uint64_t *records)
{
	uint32_t header;
	size_t at;

	*samples = 0;
	*records = 0;
	for (at = 0; at + sizeof(header) <= bytes; at += PMCLOG_HEADER_LEN(header)) {
		memcpy(&header, w->buf + at, sizeof(header));
		if (at + PMCLOG_HEADER_LEN(header) > bytes)
			break;
		++*records;
		*samples += PMCLOG_HEADER_TYPE(header) == PMCLOG_T_CALLCHAIN;
	}
}

/* A full disk has taken a part of the buffer, as a rule. */
int writer_flush(struct writer *w)
{
	struct pmclog_account *a = &w->stats.account;
	uint64_t samples = w->samples, records = w->records;
	size_t bytes = w->err ? 0 : output_write(w->fd, w->buf, w->used);

	if (bytes < w->used) {
		if (!w->err) {
			w->err = errno;
			w->stats.log_errno = (uint32_t)errno;
		}
		count_written(w, bytes, &samples, &records);
	}
	a->written += samples;
	a->discarded += w->samples - samples;
	w->stats.bytes_written += bytes;
	w->stats.records_written += records;
	w->used = 0;
	w->samples = 0;
	w->records = 0;
	return w->err ? -1 : 0;
}

static uint64_t forward(struct writer *w, uint64_t tsc)
{
	if (tsc > w->last)
		w->last = tsc;
	return w->last;
}

static void *take_room(struct writer *w, uint32_t len)
{
	void *p;

	if (BUF_SIZE - w->used < len)
		writer_flush(w);
	p = w->buf + w->used;
	w->used += len;
	w->records++;
	return p;
}

void writer_copy(struct writer *w, const void *record, uint64_t tsc, int sample)
{
	uint32_t header, len;
	unsigned char *p;

	memcpy(&header, record, sizeof(header));
	len = PMCLOG_HEADER_LEN(header);
	p = take_room(w, len);
	memcpy(p, record, len);
	tsc = forward(w, tsc);
	memcpy(p + offsetof(struct pmclog_hdr, tsc), &tsc, sizeof(tsc));
	w->samples += !!sample;
}

/* Fills in the header of @fixed, and adds it and @n strings. */
static void add_strings(struct writer *w, uint32_t type, void *fixed, size_t len,
			const char *const *strings, int n, uint64_t tsc)
{
	unsigned char record[PMCLOG_RECORD_MAX] = { 0 };
	uint32_t header;
	size_t each;
	int i;

	memcpy(record, fixed, len);
	for (i = 0; i < n; i++) {
		each = strnlen(strings[i], PMCLOG_PATH_MAX - 1);
		memcpy(record + len, strings[i], each);
		len += each + 1;
	}
	len = (len + 3) & ~(size_t)3;
	header = PMCLOG_HEADER(type, len);
	memcpy(record, &header, sizeof(header));
	w->stats.account.made++;
	writer_copy(w, record, tsc, 0);
}

static void add(struct writer *w, uint32_t type, void *fixed, size_t len,
		uint64_t tsc)
{
	add_strings(w, type, fixed, len, NULL, 0, tsc);
}

int writer_metadata(void *arg, const void *records, size_t len)
{
	const unsigned char *p = records;
	struct writer *w = arg;
	uint32_t header;

	for (; len; p += PMCLOG_HEADER_LEN(header), len -= PMCLOG_HEADER_LEN(header)) {
		memcpy(&header, p, sizeof(header));
		w->stats.account.made++;
		writer_copy(w, p, w->last, 0);
	}
	errno = w->err;
	return w->err ? -1 : 0;
}

static uint64_t wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void writer_clock(struct writer *w)
{
	struct pmclog_ext_clock c = {
		.e = record_ext(PMCLOG_EXT_CLOCK), .raw = clock_raw(),
		.mono = clock_mono(), .real = wall_clock(),
	};

	add(w, PMCLOG_T_USERDATA, &c, sizeof(c), w->last);
}

static void add_host(struct writer *w, int owner_pid)
{
	struct pmclog_ext_host h = {
		.e = record_ext(PMCLOG_EXT_HOST),
		.ncpu = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.machine = MACHINE, .owner_pid = (uint32_t)owner_pid,
	};
	struct utsname u;
	const char *names[] = { u.release, u.nodename };

	uname(&u);
	add_strings(w, PMCLOG_T_USERDATA, &h,
		    offsetof(struct pmclog_ext_host, release), names, 2, w->last);
}

/* Address of @symbol; 0: kernel.kptr_restrict hides it */
static uint64_t kernel_address(const char *symbol)
{
	unsigned long long addr, found = 0;
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], type;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) == 3 &&
		    type == 'T' && !strcmp(name, symbol))
			found = addr;
	if (f)
		fclose(f);
	return found;
}

/* The symbol that the module uses, too */
static void add_kernel(struct writer *w)
{
	const char *symbol = "schedule", *path = "[kernel]";
	struct pmclog_ext_kernel k = {
		.e = record_ext(PMCLOG_EXT_KERNEL), .addr = kernel_address(symbol),
	};
	struct pmclog_map_in m = { .pid = PMCLOG_PID_KERNEL, .start = k.addr };

	if (!k.addr)
		return;
	add_strings(w, PMCLOG_T_MAP_IN, &m, offsetof(struct pmclog_map_in, path),
		    &path, 1, w->last);
	add_strings(w, PMCLOG_T_USERDATA, &k,
		    offsetof(struct pmclog_ext_kernel, symbol), &symbol, 1,
		    w->last);
}

void writer_begin(struct writer *w, int owner_pid)
{
	uint64_t raw = clock_raw(), real = wall_clock();
	struct pmclog_initialize i = {
		.version = PMCLOG_VERSION, .cputype = PMCLOG_CPUTYPE_GENERIC,
		.tsc_freq = 1000000000, .ts_sec = (int64_t)(real / 1000000000),
		.ts_nsec = (int64_t)(real % 1000000000),
	};

	add(w, PMCLOG_T_INITIALIZE, &i, sizeof(i), raw);
	add_host(w, owner_pid);
	writer_clock(w);
	add_kernel(w);
}

void writer_counter(struct writer *w, const struct counter *c, uint32_t row)
{
	struct pmclog_pmcallocatedyn a = {
		.pmcid = c->id, .event = 0x20000 + row, .flags = c->flags,
		.rate = PMC_IS_SAMPLING_MODE(c->mode) ? c->period : 0,
		.config = c->event.config, .type = c->event.type, .cpu = c->cpu,
	};

	snprintf(a.name, sizeof(a.name), "%s", c->event.name);
	add(w, PMCLOG_T_PMCALLOCATEDYN, &a, sizeof(a), w->last);
}

void writer_name(struct writer *w, uint32_t pid, uint32_t tid, const char *comm,
		 uint64_t tsc)
{
	struct pmclog_proc_create p = { .pid = pid };
	struct pmclog_thr_create t = { .tid = tid, .pid = pid };

	snprintf(p.comm, sizeof(p.comm), "%s", comm);
	snprintf(t.name, sizeof(t.name), "%s", comm);
	if (pid == tid)
		add(w, PMCLOG_T_PROC_CREATE, &p, PMCLOG_PROC_CREATE_LEN, tsc);
	else
		add(w, PMCLOG_T_THR_CREATE, &t, PMCLOG_THR_CREATE_LEN, tsc);
}

void writer_attach(struct writer *w, uint32_t pmcid, uint32_t pid,
		   const char *path)
{
	struct pmclog_pmcattach a = { .pmcid = pmcid, .pid = pid };

	add_strings(w, PMCLOG_T_PMCATTACH, &a,
		    offsetof(struct pmclog_pmcattach, path), &path, 1, w->last);
}

void writer_fork(struct writer *w, uint32_t from, uint32_t to, uint64_t tsc)
{
	struct pmclog_procfork f = { .oldpid = from, .newpid = to };

	add(w, PMCLOG_T_PROCFORK, &f, sizeof(f), tsc);
}

void writer_thread_exit(struct writer *w, uint32_t tid, uint64_t tsc)
{
	struct pmclog_thr_exit x = { .tid = tid };

	add(w, PMCLOG_T_THR_EXIT, &x, sizeof(x), tsc);
}

void writer_exit(struct writer *w, uint32_t pid, uint64_t tsc)
{
	struct pmclog_sysexit x = { .pid = pid };

	add(w, PMCLOG_T_SYSEXIT, &x, sizeof(x), tsc);
}

void writer_mapping(struct writer *w, const struct mapping *map, uint64_t tsc)
{
	struct pmclog_map_in in = { .pid = map->m.pid, .start = map->m.start };
	struct pmclog_ext_mapping m = map->m;
	const char *path = map->path;

	add_strings(w, PMCLOG_T_MAP_IN, &in, offsetof(struct pmclog_map_in, path),
		    &path, 1, tsc);
	m.e = record_ext(PMCLOG_EXT_MAPPING);
	add(w, PMCLOG_T_USERDATA, &m, sizeof(m), tsc);
}

void writer_exec(struct writer *w, const struct pmclog_procexec *x,
		 const char *path, uint64_t tsc)
{
	struct pmclog_procexec fixed = *x;

	add_strings(w, PMCLOG_T_PROCEXEC, &fixed,
		    offsetof(struct pmclog_procexec, path), &path, 1, tsc);
}

void writer_drop(struct writer *w, const struct pmclog_dropnotify *d)
{
	struct pmclog_dropnotify copy = *d;

	add(w, PMCLOG_T_DROPNOTIFY, &copy, sizeof(copy), w->last);
}

void writer_period(struct writer *w, uint32_t pmcid, uint32_t cpu,
		   uint64_t period, uint64_t tsc)
{
	struct pmclog_ext_period p = {
		.e = record_ext(PMCLOG_EXT_PERIOD), .pmcid = pmcid, .cpu = cpu,
		.period = period,
	};

	add(w, PMCLOG_T_USERDATA, &p, sizeof(p), tsc);
}

void writer_rate(struct writer *w, const struct pmclog_ext_rate *r)
{
	struct pmclog_ext_rate copy = *r;

	copy.e = record_ext(PMCLOG_EXT_RATE);
	add(w, PMCLOG_T_USERDATA, &copy, sizeof(copy), w->last);
}

void writer_end(struct writer *w, const struct pmclog_account *account)
{
	struct pmclog_closelog c = { .account = *account };
	const struct pmclog_account *a = &w->stats.account;

	writer_clock(w);
	writer_flush(w);
	c.account.written = a->written;
	c.account.discarded = a->discarded;
	c.account.made = a->made;
	w->stats.account = c.account;
	add(w, PMCLOG_T_CLOSELOG, &c, sizeof(c), w->last);
	writer_flush(w);
}
