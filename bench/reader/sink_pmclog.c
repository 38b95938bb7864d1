// SPDX-License-Identifier: GPL-2.0-only
/* Writes the recording as the module does. */
#include <elf.h>
#include <stdio.h>

#include <linux/pmclog.h>

#include "model.h"
#include "sink.h"

#define PMCID	0x10000001U

static struct sinkfile file;
static struct pmclog_account account;

#define ALIGN4(n)	(((n) + 3) & ~(size_t)3)

/* A record with the fields of @fixed, all but its header, and @tail behind them */
static void put(uint32_t type, uint64_t time, const void *fixed, size_t len,
		const void *tail, size_t tail_len)
{
	size_t all = ALIGN4(len + tail_len);
	struct pmclog_hdr h = { PMCLOG_HEADER(type, all), 0, time };
	char *p = sink_room(&file, all);

	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), (const char *)fixed + sizeof(h), len - sizeof(h));
	if (tail_len)
		memcpy(p + len, tail, tail_len);
}

#define PUT_TAILED(type, name, time, tail, len, ...) \
	put(PMCLOG_T_##type, time, &(struct pmclog_##name){ __VA_ARGS__ }, \
	    sizeof(struct pmclog_##name), tail, len)
#define PUT(type, name, time, ...) \
	PUT_TAILED(type, name, time, NULL, 0, __VA_ARGS__)
#define PUT_EXT(type, name, time, tail, len, ...) \
	PUT_TAILED(USERDATA, ext_##name, time, tail, len, \
		   .e.cookie = PMCLOG_EXT_COOKIE, \
		   .e.subtype = PMCLOG_EXT_##type, __VA_ARGS__)

static void map_in(uint64_t time, uint32_t pid, uint64_t start,
		   const char *path)
{
	PUT_TAILED(MAP_IN, map_in, time, path, strlen(path) + 1, .pid = pid,
		   .start = start);
}

static void start(uint64_t kernel_len)
{
	static const char names[] = "6.12.0-bench\0bench";

	PUT(INITIALIZE, initialize, MODEL_BEGIN, .version = PMCLOG_VERSION,
	    .cputype = PMCLOG_CPUTYPE_GENERIC, .tsc_freq = 1000000000,
	    .ts_sec = 1700000000, .cpuid = "bench");
	PUT_EXT(HOST, host, MODEL_BEGIN, names, sizeof(names), .ncpu = MODEL_CPUS,
		.page_size = 4096, .machine = EM_X86_64, .owner_pid = 1);
	PUT_EXT(KERNEL, kernel, MODEL_BEGIN, "_text", sizeof("_text"),
		.addr = KERNEL_START);
	map_in(MODEL_BEGIN, PMCLOG_PID_KERNEL, KERNEL_START, "[kernel]");
	PUT_EXT(MAPPING, mapping, MODEL_BEGIN, NULL, 0, .pid = PMCLOG_PID_KERNEL,
		.prot = 5, .start = KERNEL_START, .len = kernel_len);
	PUT(PMCALLOCATEDYN, pmcallocatedyn, MODEL_BEGIN, .pmcid = PMCID,
	    .event = 0x20001, .name = "cpu-clock", .rate = 50000, .type = 1,
	    .cpu = -1);
}

static void do_fork(uint64_t time, uint32_t parent, uint32_t child)
{
	PUT(PROCFORK, procfork, time, .oldpid = parent, .newpid = child);
}

static void do_exec(uint64_t time, uint32_t pid, const struct object *program)
{
	struct pmclog_proc_create c = { .pid = pid };

	snprintf(c.comm, sizeof(c.comm), "%.15s", program->name);
	put(PMCLOG_T_PROC_CREATE, time, &c, PMCLOG_PROC_CREATE_LEN, NULL, 0);
	PUT_TAILED(PROCEXEC, procexec, time, program->path,
		   strlen(program->path) + 1, .pid = pid,
		   .pmcid = PMCLOG_PMCID_NONE);
}

static void do_map(uint64_t time, uint32_t pid, const struct object *o,
		   uint64_t base)
{
	map_in(time, pid, base, o->path);
	PUT_EXT(MAPPING, mapping, time, NULL, 0, .pid = pid, .prot = 5,
		.start = base, .len = o->len, .offset = o->offset,
		.dev_major = o->dev_major, .dev_minor = o->dev_minor,
		.ino = o->ino);
}

static void do_exit(uint64_t time, uint32_t pid)
{
	PUT(SYSEXIT, sysexit, time, .pid = pid);
}

static void do_sample(const struct sample *s)
{
	PUT_TAILED(CALLCHAIN, callchain, s->time, s->pc, s->n * sizeof(s->pc[0]),
		   .pid = s->pid, .tid = s->pid, .pmcid = PMCID,
		   .cpuflags = PMCLOG_CC_CPUFLAGS(s->cpu,
				s->nkernel ? 0 : PMCLOG_CC_USERSPACE));
	account.overflows++;
	account.committed++;
	account.written++;
}

static void end(uint64_t time)
{
	PUT(CLOSELOG, closelog, time, .account = account);
	sinkfile_close(&file);
}

struct sink pmclog_sink = {
	.file = &file, .start = start, .fork = do_fork, .exec = do_exec, .map = do_map,
	.exit = do_exit, .sample = do_sample, .end = end,
};
