// SPDX-License-Identifier: GPL-2.0-only
/* Writes the recording as the module does. */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>

#include <linux/pmclog.h>

#include "model.h"
#include "sink.h"

#define PMCID	0x10000001U

static struct sinkfile file;
static struct pmclog_account account;
static struct sink pmclog;

#define ALIGN4(n)	(((n) + 3) & ~(size_t)3)

static void *record(uint32_t type, uint64_t time, size_t len)
{
	struct pmclog_hdr *h = sink_room(&file, len);

	h->header = PMCLOG_HEADER(type, len);
	h->tsc = time;
	return h;
}

static void *ext(uint32_t subtype, uint64_t time, size_t len)
{
	struct pmclog_ext *e = record(PMCLOG_T_USERDATA, time, len);

	e->cookie = PMCLOG_EXT_COOKIE;
	e->subtype = (uint16_t)subtype;
	return e;
}

/* 64-bit fields are 4-aligned in a log. */
static void set64(void *p, size_t offset, uint64_t v)
{
	memcpy((char *)p + offset, &v, sizeof(v));
}

static void map_in(uint64_t time, uint32_t pid, uint64_t start,
		   const char *path)
{
	size_t fixed = sizeof(struct pmclog_map_in);
	void *m = record(PMCLOG_T_MAP_IN, time,
			 ALIGN4(fixed + strlen(path) + 1));

	memcpy((char *)m + offsetof(struct pmclog_map_in, pid), &pid, 4);
	set64(m, offsetof(struct pmclog_map_in, start), start);
	strcpy((char *)m + fixed, path);
}

static void mapping(uint64_t time, uint32_t pid, uint64_t start, uint64_t len,
		    const struct object *o)
{
	struct pmclog_ext_mapping m = {
		.pid = pid, .prot = 5, .start = start, .len = len,
	};
	char *p = ext(PMCLOG_EXT_MAPPING, time, sizeof(m));

	if (o) {
		m.offset = o->offset;
		m.dev_major = o->dev_major;
		m.dev_minor = o->dev_minor;
		m.ino = o->ino;
	}
	memcpy(p + sizeof(m.e), (char *)&m + sizeof(m.e),
	       sizeof(m) - sizeof(m.e));
}

static void host(uint64_t time)
{
	static const char names[] = "6.12.0-bench\0bench";
	size_t fixed = offsetof(struct pmclog_ext_host, release);
	char *p = ext(PMCLOG_EXT_HOST, time, ALIGN4(fixed + sizeof(names)));
	struct pmclog_ext_host h = {
		.ncpu = MODEL_CPUS, .page_size = 4096, .machine = EM_X86_64,
		.owner_pid = 1,
	};

	memcpy(p + sizeof(h.e), (char *)&h + sizeof(h.e),
	       fixed - sizeof(h.e));
	memcpy(p + fixed, names, sizeof(names));
}

static void kernel_at(uint64_t time)
{
	size_t fixed = sizeof(struct pmclog_ext_kernel);
	char *p = ext(PMCLOG_EXT_KERNEL, time, ALIGN4(fixed + sizeof("_text")));

	set64(p, offsetof(struct pmclog_ext_kernel, addr), KERNEL_START);
	strcpy(p + fixed, "_text");
}

static void start(uint64_t kernel_len)
{
	struct pmclog_initialize init = {
		.version = PMCLOG_VERSION, .cputype = PMCLOG_CPUTYPE_GENERIC,
		.tsc_freq = 1000000000, .ts_sec = 1700000000, .cpuid = "bench",
	};
	struct pmclog_pmcallocatedyn alloc = {
		.pmcid = PMCID, .event = 0x20001,
		.flags = 0, .name = "cpu-clock", .rate = 50000, .type = 1,
		.cpu = -1,
	};
	char *p = record(PMCLOG_T_INITIALIZE, MODEL_BEGIN, sizeof(init));

	memcpy(p + sizeof(init.h), (char *)&init + sizeof(init.h),
	       sizeof(init) - sizeof(init.h));
	host(MODEL_BEGIN);
	kernel_at(MODEL_BEGIN);
	map_in(MODEL_BEGIN, PMCLOG_PID_KERNEL, KERNEL_START, "[kernel]");
	mapping(MODEL_BEGIN, PMCLOG_PID_KERNEL, KERNEL_START, kernel_len, NULL);
	p = record(PMCLOG_T_PMCALLOCATEDYN, MODEL_BEGIN, sizeof(alloc));
	memcpy(p + sizeof(alloc.h), (char *)&alloc + sizeof(alloc.h),
	       sizeof(alloc) - sizeof(alloc.h));
}

static void name_process(uint64_t time, uint32_t pid, const char *name)
{
	char *p = record(PMCLOG_T_PROC_CREATE, time, PMCLOG_PROC_CREATE_LEN);

	memcpy(p + offsetof(struct pmclog_proc_create, pid), &pid, 4);
	snprintf(p + offsetof(struct pmclog_proc_create, comm),
		 PMCLOG_COMM_MAX, "%.15s", name);
}

static void do_fork(uint64_t time, uint32_t parent, uint32_t child)
{
	struct pmclog_procfork *f = record(PMCLOG_T_PROCFORK, time, sizeof(*f));

	f->oldpid = parent;
	f->newpid = child;
}

static void do_exec(uint64_t time, uint32_t pid, const struct object *program)
{
	size_t fixed = sizeof(struct pmclog_procexec);
	uint32_t none = PMCLOG_PMCID_NONE;
	char *p;

	name_process(time, pid, program->name);
	p = record(PMCLOG_T_PROCEXEC, time,
		   ALIGN4(fixed + strlen(program->path) + 1));
	memcpy(p + offsetof(struct pmclog_procexec, pid), &pid, 4);
	memcpy(p + offsetof(struct pmclog_procexec, pmcid), &none, 4);
	strcpy(p + fixed, program->path);
}

static void do_map(uint64_t time, uint32_t pid, const struct object *o,
		   uint64_t base)
{
	map_in(time, pid, base, o->path);
	mapping(time, pid, base, o->len, o);
}

static void do_exit(uint64_t time, uint32_t pid)
{
	struct pmclog_sysexit *x = record(PMCLOG_T_SYSEXIT, time, sizeof(*x));

	x->pid = pid;
}

static void do_sample(const struct sample *s)
{
	size_t pcs = s->n * sizeof(s->pc[0]);
	struct pmclog_callchain cc = {
		.pid = s->pid, .tid = s->pid, .pmcid = PMCID,
		.cpuflags = PMCLOG_CC_CPUFLAGS(s->cpu,
				s->nkernel ? 0 : PMCLOG_CC_USERSPACE),
	};
	char *p = record(PMCLOG_T_CALLCHAIN, s->time, sizeof(cc) + pcs);

	memcpy(p + sizeof(cc.h), (char *)&cc + sizeof(cc.h),
	       sizeof(cc) - sizeof(cc.h));
	memcpy(p + sizeof(cc), s->pc, pcs);
	account.overflows++;
	account.committed++;
	account.written++;
}

static void end(uint64_t time)
{
	char *p = record(PMCLOG_T_CLOSELOG, time,
			 sizeof(struct pmclog_closelog));

	memcpy(p + offsetof(struct pmclog_closelog, account), &account,
	       sizeof(account));
	sinkfile_close(&file);
}

static struct sink pmclog = {
	.start = start, .fork = do_fork, .exec = do_exec, .map = do_map,
	.exit = do_exit, .sample = do_sample, .end = end,
};

struct sink *pmclog_sink(const char *path, const uint64_t **bytes)
{
	sinkfile_open(&file, path);
	*bytes = &file.bytes;
	return &pmclog;
}
