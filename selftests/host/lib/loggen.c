// SPDX-License-Identifier: BSD-2-Clause
/* Makes logs for tests. */
#include <err.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#include "abort.h"
#include "loggen.h"

void lg_free(struct loggen *g)
{
	free(g->buf);
	memset(g, 0, sizeof(*g));
}

void lg_start(struct loggen *g)
{
	lg_free(g);
	g->tsc = 1000000000000ULL;
	g->step = 1000;
}

int lg_file(const unsigned char *buf, size_t len)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	abort_if(fd < 0 || write(fd, buf, len) != (ssize_t)len);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

void *lg_room(struct loggen *g, size_t len)
{
	unsigned char *p;

	while (g->len + len > g->cap) {
		g->cap = g->cap ? g->cap * 2 : 4096;
		g->buf = realloc(g->buf, g->cap);
		abort_if(!g->buf);
	}
	p = g->buf + g->len;
	memset(p, 0, len);
	g->len += len;
	return p;
}

void *lg_record(struct loggen *g, unsigned int type, size_t len)
{
	struct pmclog_hdr h = { PMCLOG_HEADER(type, len), 0, g->tsc };
	unsigned char *p;

	g->last = g->len;
	p = lg_room(g, len);
	memcpy(p, &h, sizeof(h));
	g->tsc += g->step;
	return p;
}

void lg_put(struct loggen *g, unsigned int type, const void *r, size_t fixed,
	    const void *tail, size_t len)
{
	const size_t head = sizeof(struct pmclog_hdr);
	unsigned char *p = lg_record(g, type, (fixed + len + 3) & ~(size_t)3);

	memcpy(p + head, (const char *)r + head, fixed - head);
	if (len)
		memcpy(p + fixed, tail, len);
}

void lg_write(const struct loggen *g, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f || fwrite(g->buf, 1, g->len, f) != g->len || fflush(f))
		err(1, "%s", path);
	if (f != stdout)
		fclose(f);
}

void lg_init(struct loggen *g)
{
	LG_RECORD(g, INITIALIZE, initialize, .version = PMCLOG_VERSION,
	       .cputype = PMCLOG_CPUTYPE_GENERIC, .tsc_freq = 1000000000,
	       .ts_sec = 1767225600, .ts_nsec = 999999000,
	       .cpuid = "GenuineIntel-6-8F-8");
	memset(&g->account, 0, sizeof(g->account));
}

void lg_begin(struct loggen *g)
{
	lg_start(g);
	lg_init(g);
}

void lg_close(struct loggen *g)
{
	LG_RECORD(g, CLOSELOG, closelog, .account = g->account);
}

static void announce(struct loggen *g, const char *name, struct pmclog_pmcallocatedyn a)
{
	a.event = 0x20000 + (a.pmcid & 0xFF);
	memcpy(a.name, name, strlen(name));
	lg_put(g, PMCLOG_T_PMCALLOCATEDYN, &a, sizeof(a), NULL, 0);
}

#define ANNOUNCE(g, name, ...) \
	announce(g, name, (struct pmclog_pmcallocatedyn){ __VA_ARGS__ })
#define CHAINS	(HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN)

void lg_allocatedyn(struct loggen *g, uint32_t pmcid, const char *name,
		    uint64_t rate, int32_t cpu)
{
	ANNOUNCE(g, name, .pmcid = pmcid, .flags = CHAINS, .rate = rate, .cpu = cpu,
		 .type = PERF_TYPE_SOFTWARE, .config = 0x1a8);
}

void lg_tracepoint(struct loggen *g, uint32_t pmcid, const char *name,
		   uint64_t config)
{
	ANNOUNCE(g, name, .pmcid = pmcid, .flags = CHAINS | HWPMC_F_RAW, .rate = 1,
		 .cpu = -2, .type = PERF_TYPE_TRACEPOINT, .config = config);
}

void lg_hardware(struct loggen *g, uint32_t pmcid, const char *name, uint32_t flags)
{
	ANNOUNCE(g, name, .pmcid = pmcid, .flags = CHAINS | flags, .rate = 1000,
		 .cpu = -2, .type = PERF_TYPE_HARDWARE, .config = 0x1a8);
}

void lg_freq(struct loggen *g, uint32_t pmcid, const char *name, uint64_t rate)
{
	ANNOUNCE(g, name, .pmcid = pmcid, .flags = CHAINS | HWPMC_F_FREQ, .rate = rate,
		 .cpu = -2, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES);
}

void lg_sample(struct loggen *g, uint32_t pid, uint32_t tid, uint32_t pmcid,
	       uint32_t cpuflags, unsigned int npc, const uint64_t *pcs)
{
	LG_TAILED(g, CALLCHAIN, callchain, pcs, 8 * npc, .pid = pid, .tid = tid,
		  .pmcid = pmcid, .cpuflags = cpuflags);
	g->account.overflows++;
	g->account.committed++;
	g->account.written++;
	g->account.late += !!(cpuflags & PMCLOG_CC_USERLATE);
}

void lg_stack(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, const uint64_t *pcs)
{
	lg_sample(g, pid, pid + 1, pmcid, PMCLOG_CC_CPUFLAGS(cpu, flags), npc, pcs);
}

void lg_userchain(struct loggen *g, uint32_t pid, uint64_t first,
		  unsigned int npc, const uint64_t *pcs)
{
	LG_EXT_TAILED(g, USERCHAIN, userchain, pcs, 8 * npc, .pid = pid, .tid = pid + 1,
		   .first = first);
	g->account.late_answered++;
}

void lg_chain(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, uint64_t base)
{
	uint64_t pcs[1024];
	unsigned int i;

	abort_if(npc > sizeof(pcs) / sizeof(pcs[0]));
	for (i = 0; i < npc; i++, base += 16)
		pcs[i] = base;
	lg_stack(g, pid, pmcid, cpu, flags, npc, pcs);
}

void lg_drop(struct loggen *g, uint32_t pmcid, uint32_t cpu, uint32_t cause,
	     uint64_t count)
{
	LG_RECORD(g, DROPNOTIFY, dropnotify, .pmcid = pmcid, .cpu = cpu, .cause = cause,
	       .count = count, .first = g->tsc - 500, .last = g->tsc - 100);
	if (pmcid == PMCLOG_PMCID_NONE) {
		g->account.proc_dropped += count;
		return;
	}
	g->account.overflows += count;
	if (cause < PMCLOG_DROP_NCAUSE)
		g->account.dropped[cause] += count;
}

void lg_thr_create(struct loggen *g, uint32_t tid, uint32_t pid,
		   const char *name)
{
	struct pmclog_thr_create t = { .tid = tid, .pid = pid };

	memcpy(t.name, name, strlen(name));
	lg_put(g, PMCLOG_T_THR_CREATE, &t, PMCLOG_THR_CREATE_LEN, NULL, 0);
}

void lg_proc_create(struct loggen *g, uint32_t pid, const char *name)
{
	struct pmclog_proc_create c = { .pid = pid };

	memcpy(c.comm, name, strlen(name));
	lg_put(g, PMCLOG_T_PROC_CREATE, &c, PMCLOG_PROC_CREATE_LEN, NULL, 0);
}

void *lg_ext(struct loggen *g, unsigned int subtype, size_t len)
{
	const struct pmclog_ext e = { .cookie = PMCLOG_EXT_COOKIE, .subtype = subtype };
	unsigned char *p = lg_record(g, PMCLOG_T_USERDATA, len);

	memcpy(p + sizeof(e.h), (const char *)&e + sizeof(e.h), sizeof(e) - sizeof(e.h));
	return p;
}

void lg_samples(struct loggen *g, uint32_t samples, const uint32_t *w,
		uint32_t n)
{
	LG_EXT_TAILED(g, SAMPLES, samples, w, 4UL * n, .samples = samples);
}

#define TWO_MAX	4096

/* Two strings, each with its NUL; their length */
static size_t join(char two[TWO_MAX], const char *a, const char *b)
{
	int n = snprintf(two, TWO_MAX, "%s%c%s", a, '\0', b);

	abort_if(n >= TWO_MAX);
	return (size_t)n + 1;
}

void lg_host(struct loggen *g, const char *release, const char *node)
{
	char names[TWO_MAX];
	size_t len = join(names, release, node);

	LG_EXT_TAILED(g, HOST, host, names, len, .ncpu = 2, .page_size = 4096,
		   .machine = EM_X86_64, .owner_pid = 321);
}

void lg_mapping(struct loggen *g, uint32_t pid, uint64_t start, uint64_t len,
		uint64_t offset)
{
	LG_EXT(g, MAPPING, mapping, .pid = pid, .prot = PROT_READ | PROT_EXEC,
	    .start = start, .len = len, .offset = offset, .dev_major = 8,
	    .dev_minor = 1, .ino = 4711);
}

void lg_section(struct loggen *g, uint64_t addr, const char *module,
		const char *section)
{
	char names[TWO_MAX];
	size_t len = join(names, module, section);

	LG_EXT_TAILED(g, SECTION, section, names, len, .addr = addr);
}

void lg_buildid(struct loggen *g, unsigned int len, const char *name)
{
	size_t at = g->len + offsetof(struct pmclog_ext_buildid, id);
	unsigned int i;

	LG_EXT_NAMED(g, BUILDID, buildid, name, .len = len);
	for (i = 0; i < len && i < 32; i++)
		g->buf[at + i] = 0xA0 + i;
}

void lg_fields(struct loggen *g, uint64_t config, const char *text)
{
	LG_EXT_NAMED(g, FIELDS, fields, text, .type = PERF_TYPE_TRACEPOINT,
		  .config = config);
}

void lg_detail(struct loggen *g, const struct pmclog_ext_detail *d,
	       const struct pmclog_branch *b, uint32_t n)
{
	struct pmclog_ext_detail r = *d;

	r.e = (struct pmclog_ext){ .cookie = PMCLOG_EXT_COOKIE,
				   .subtype = PMCLOG_EXT_DETAIL };
	g->tsc -= g->step;
	lg_put(g, PMCLOG_T_USERDATA, &r, sizeof(r), b, n * sizeof(*b));
}
