// SPDX-License-Identifier: BSD-2-Clause
/* Makes logs for tests. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#include "loggen.h"

void lg_start(struct loggen *g)
{
	memset(g, 0, sizeof(*g));
	g->tsc = 1000000000000ULL;
	g->step = 1000;
}

void lg_free(struct loggen *g)
{
	free(g->buf);
	memset(g, 0, sizeof(*g));
}

int lg_file(const unsigned char *buf, size_t len)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	if (fd < 0 || write(fd, buf, len) != (ssize_t)len)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

void *lg_room(struct loggen *g, size_t len)
{
	unsigned char *p;

	while (g->len + len > g->cap) {
		g->cap = g->cap ? g->cap * 2 : 4096;
		g->buf = realloc(g->buf, g->cap);
		if (!g->buf)
			abort();
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

void *lg_strings(struct loggen *g, unsigned int type, size_t fixed, int n,
		 const char *const *s)
{
	size_t len = fixed, size;
	unsigned char *p;
	int i;

	for (i = 0; i < n; i++)
		len += strlen(s[i]) + 1;
	p = lg_record(g, type, (len + 3) & ~(size_t)3);
	for (i = 0, len = fixed; i < n; i++, len += size) {
		size = strlen(s[i]) + 1;
		memcpy(p + len, s[i], size);
	}
	return p;
}

/* Records are 4-aligned only: fields are stored byte by byte. */
#define PUT(p, type, field, value)					\
	do {								\
		__typeof__(((struct type *)0)->field) v_ = (value);	\
		memcpy((char *)(p) + offsetof(struct type, field), &v_,	\
		       sizeof(v_));					\
	} while (0)
#define PUTS(p, type, field, s) \
	memcpy((char *)(p) + offsetof(struct type, field), s, strlen(s))

void lg_write(const struct loggen *g, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f || fwrite(g->buf, 1, g->len, f) != g->len || fflush(f)) {
		perror(path);
		exit(1);
	}
	if (f != stdout)
		fclose(f);
}

void lg_init(struct loggen *g)
{
	void *p = lg_record(g, PMCLOG_T_INITIALIZE,
			    sizeof(struct pmclog_initialize));

	PUT(p, pmclog_initialize, version, PMCLOG_VERSION);
	PUT(p, pmclog_initialize, cputype, PMCLOG_CPUTYPE_GENERIC);
	PUT(p, pmclog_initialize, tsc_freq, 1000000000);
	PUT(p, pmclog_initialize, ts_sec, 1767225600);
	PUT(p, pmclog_initialize, ts_nsec, 999999000);
	PUTS(p, pmclog_initialize, cpuid, "GenuineIntel-6-8F-8");
	memset(&g->account, 0, sizeof(g->account));
}

void lg_begin(struct loggen *g)
{
	lg_start(g);
	lg_init(g);
}

void lg_close(struct loggen *g)
{
	void *p = lg_record(g, PMCLOG_T_CLOSELOG,
			    sizeof(struct pmclog_closelog));

	PUT(p, pmclog_closelog, account, g->account);
}

void lg_allocatedyn(struct loggen *g, uint32_t pmcid, const char *name,
		    uint64_t rate, int32_t cpu)
{
	void *p = lg_record(g, PMCLOG_T_PMCALLOCATEDYN,
			    sizeof(struct pmclog_pmcallocatedyn));

	PUT(p, pmclog_pmcallocatedyn, pmcid, pmcid);
	PUT(p, pmclog_pmcallocatedyn, event, 0x20000 + (pmcid & 0xFF));
	PUT(p, pmclog_pmcallocatedyn, flags, 0x180);
	PUTS(p, pmclog_pmcallocatedyn, name, name);
	PUT(p, pmclog_pmcallocatedyn, rate, rate);
	PUT(p, pmclog_pmcallocatedyn, config, 0x1a8);
	PUT(p, pmclog_pmcallocatedyn, type, 1);
	PUT(p, pmclog_pmcallocatedyn, cpu, cpu);
}

void lg_stack(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, const uint64_t *pcs)
{
	size_t fixed = sizeof(struct pmclog_callchain);
	unsigned char *p = lg_record(g, PMCLOG_T_CALLCHAIN, fixed + 8 * npc);

	PUT(p, pmclog_callchain, pid, pid);
	PUT(p, pmclog_callchain, tid, pid + 1);
	PUT(p, pmclog_callchain, pmcid, pmcid);
	PUT(p, pmclog_callchain, cpuflags, PMCLOG_CC_CPUFLAGS(cpu, flags));
	if (npc)
		memcpy(p + fixed, pcs, 8 * npc);
	g->account.overflows++;
	g->account.committed++;
	g->account.written++;
	g->account.late += !!(flags & PMCLOG_CC_USERLATE);
}

void lg_userchain(struct loggen *g, uint32_t pid, uint64_t first,
		  unsigned int npc, const uint64_t *pcs)
{
	size_t fixed = sizeof(struct pmclog_ext_userchain);
	unsigned char *p = lg_ext(g, PMCLOG_EXT_USERCHAIN, fixed + 8 * npc);

	PUT(p, pmclog_ext_userchain, pid, pid);
	PUT(p, pmclog_ext_userchain, tid, pid + 1);
	PUT(p, pmclog_ext_userchain, first, first);
	if (npc)
		memcpy(p + fixed, pcs, 8 * npc);
	g->account.late_answered++;
}

void lg_chain(struct loggen *g, uint32_t pid, uint32_t pmcid, uint32_t cpu,
	      uint32_t flags, unsigned int npc, uint64_t base)
{
	uint64_t pcs[1024];
	unsigned int i;

	if (npc > sizeof(pcs) / sizeof(pcs[0]))
		abort();
	for (i = 0; i < npc; i++, base += 16)
		pcs[i] = base;
	lg_stack(g, pid, pmcid, cpu, flags, npc, pcs);
}

void lg_drop(struct loggen *g, uint32_t pmcid, uint32_t cpu, uint32_t cause,
	     uint64_t count)
{
	uint64_t now = g->tsc;
	void *p = lg_record(g, PMCLOG_T_DROPNOTIFY,
			    sizeof(struct pmclog_dropnotify));

	PUT(p, pmclog_dropnotify, pmcid, pmcid);
	PUT(p, pmclog_dropnotify, cpu, cpu);
	PUT(p, pmclog_dropnotify, cause, cause);
	PUT(p, pmclog_dropnotify, count, count);
	PUT(p, pmclog_dropnotify, first, now - 500);
	PUT(p, pmclog_dropnotify, last, now - 100);
	if (pmcid == PMCLOG_PMCID_NONE) {
		g->account.proc_dropped += count;
		return;
	}
	g->account.overflows += count;
	if (cause < PMCLOG_DROP_NCAUSE)
		g->account.dropped[cause] += count;
}

void lg_map_in(struct loggen *g, uint32_t pid, uint64_t start,
	       const char *path)
{
	void *p = lg_strings(g, PMCLOG_T_MAP_IN, sizeof(struct pmclog_map_in),
			     1, &path);

	PUT(p, pmclog_map_in, pid, pid);
	PUT(p, pmclog_map_in, start, start);
}

void lg_map_out(struct loggen *g, uint32_t pid, uint64_t start, uint64_t end)
{
	void *p = lg_record(g, PMCLOG_T_MAP_OUT, sizeof(struct pmclog_map_out));

	PUT(p, pmclog_map_out, pid, pid);
	PUT(p, pmclog_map_out, start, start);
	PUT(p, pmclog_map_out, end, end);
}

void lg_exec(struct loggen *g, uint32_t pid, uint32_t pmcid, uint64_t base,
	     uint64_t dyn, const char *path)
{
	void *p = lg_strings(g, PMCLOG_T_PROCEXEC,
			     sizeof(struct pmclog_procexec), 1, &path);

	PUT(p, pmclog_procexec, pid, pid);
	PUT(p, pmclog_procexec, pmcid, pmcid);
	PUT(p, pmclog_procexec, base, base);
	PUT(p, pmclog_procexec, dyn, dyn);
}

void lg_attach(struct loggen *g, uint32_t pmcid, uint32_t pid,
	       const char *path)
{
	void *p = lg_strings(g, PMCLOG_T_PMCATTACH,
			     sizeof(struct pmclog_pmcattach), 1, &path);

	PUT(p, pmclog_pmcattach, pmcid, pmcid);
	PUT(p, pmclog_pmcattach, pid, pid);
}

void lg_detach(struct loggen *g, uint32_t pmcid, uint32_t pid)
{
	void *p = lg_record(g, PMCLOG_T_PMCDETACH,
			    sizeof(struct pmclog_pmcdetach));

	PUT(p, pmclog_pmcdetach, pmcid, pmcid);
	PUT(p, pmclog_pmcdetach, pid, pid);
}

void lg_csw(struct loggen *g, uint32_t pmcid, uint32_t pid, uint32_t tid,
	    uint64_t value)
{
	void *p = lg_record(g, PMCLOG_T_PROCCSW, sizeof(struct pmclog_proccsw));

	PUT(p, pmclog_proccsw, value, value);
	PUT(p, pmclog_proccsw, pmcid, pmcid);
	PUT(p, pmclog_proccsw, pid, pid);
	PUT(p, pmclog_proccsw, tid, tid);
}

void lg_procexit(struct loggen *g, uint32_t pmcid, uint32_t pid,
		 uint64_t value)
{
	void *p = lg_record(g, PMCLOG_T_PROCEXIT,
			    sizeof(struct pmclog_procexit));

	PUT(p, pmclog_procexit, pmcid, pmcid);
	PUT(p, pmclog_procexit, pid, pid);
	PUT(p, pmclog_procexit, value, value);
	PUT(p, pmclog_procexit, enabled, 5000000);
	PUT(p, pmclog_procexit, running, 4000000);
}

void lg_fork(struct loggen *g, uint32_t oldpid, uint32_t newpid)
{
	void *p = lg_record(g, PMCLOG_T_PROCFORK,
			    sizeof(struct pmclog_procfork));

	PUT(p, pmclog_procfork, oldpid, oldpid);
	PUT(p, pmclog_procfork, newpid, newpid);
}

void lg_exit(struct loggen *g, uint32_t pid)
{
	void *p = lg_record(g, PMCLOG_T_SYSEXIT, sizeof(struct pmclog_sysexit));

	PUT(p, pmclog_sysexit, pid, pid);
}

void lg_userdata(struct loggen *g, uint32_t value)
{
	void *p = lg_record(g, PMCLOG_T_USERDATA,
			    sizeof(struct pmclog_userdata));

	PUT(p, pmclog_userdata, userdata, value);
}

void lg_thr_create(struct loggen *g, uint32_t tid, uint32_t pid,
		   const char *name)
{
	void *p = lg_record(g, PMCLOG_T_THR_CREATE, PMCLOG_THR_CREATE_LEN);

	PUT(p, pmclog_thr_create, tid, tid);
	PUT(p, pmclog_thr_create, pid, pid);
	PUTS(p, pmclog_thr_create, name, name);
}

void lg_thr_exit(struct loggen *g, uint32_t tid)
{
	void *p = lg_record(g, PMCLOG_T_THR_EXIT,
			    sizeof(struct pmclog_thr_exit));

	PUT(p, pmclog_thr_exit, tid, tid);
}

void lg_proc_create(struct loggen *g, uint32_t pid, const char *name)
{
	void *p = lg_record(g, PMCLOG_T_PROC_CREATE, PMCLOG_PROC_CREATE_LEN);

	PUT(p, pmclog_proc_create, pid, pid);
	PUTS(p, pmclog_proc_create, comm, name);
}

static void *ext_header(void *p, unsigned int subtype)
{
	PUT(p, pmclog_ext, cookie, PMCLOG_EXT_COOKIE);
	PUT(p, pmclog_ext, subtype, subtype);
	return p;
}

void *lg_ext(struct loggen *g, unsigned int subtype, size_t len)
{
	return ext_header(lg_record(g, PMCLOG_T_USERDATA, len), subtype);
}

static void *ext_strings(struct loggen *g, unsigned int subtype, size_t fixed,
			 int n, const char *const *s)
{
	return ext_header(lg_strings(g, PMCLOG_T_USERDATA, fixed, n, s),
			  subtype);
}

void lg_samples(struct loggen *g, uint32_t samples, const uint32_t *w,
		uint32_t n)
{
	const size_t head = sizeof(struct pmclog_ext_samples);
	unsigned char *p = lg_ext(g, PMCLOG_EXT_SAMPLES, head + 4UL * n);

	memcpy(p + offsetof(struct pmclog_ext_samples, samples), &samples, 4);
	memcpy(p + head, w, 4UL * n);
}

void lg_clock(struct loggen *g)
{
	uint64_t now = g->tsc;
	void *p = lg_ext(g, PMCLOG_EXT_CLOCK, sizeof(struct pmclog_ext_clock));

	PUT(p, pmclog_ext_clock, raw, now);
	PUT(p, pmclog_ext_clock, mono, now + 17);
	PUT(p, pmclog_ext_clock, real, 1767225600999999000ULL);
}

void lg_host(struct loggen *g, const char *release, const char *node)
{
	const char *const s[] = { release, node };
	void *p = ext_strings(g, PMCLOG_EXT_HOST,
			      sizeof(struct pmclog_ext_host), 2, s);

	PUT(p, pmclog_ext_host, ncpu, 2);
	PUT(p, pmclog_ext_host, page_size, 4096);
	PUT(p, pmclog_ext_host, machine, EM_X86_64);
	PUT(p, pmclog_ext_host, owner_pid, 321);
}

void lg_kernel(struct loggen *g, uint64_t addr, const char *symbol)
{
	void *p = ext_strings(g, PMCLOG_EXT_KERNEL,
			      sizeof(struct pmclog_ext_kernel), 1, &symbol);

	PUT(p, pmclog_ext_kernel, addr, addr);
}

void lg_mapping(struct loggen *g, uint32_t pid, uint64_t start, uint64_t len,
		uint64_t offset)
{
	void *p = lg_ext(g, PMCLOG_EXT_MAPPING,
			 sizeof(struct pmclog_ext_mapping));

	PUT(p, pmclog_ext_mapping, pid, pid);
	PUT(p, pmclog_ext_mapping, prot, PROT_READ | PROT_EXEC);
	PUT(p, pmclog_ext_mapping, start, start);
	PUT(p, pmclog_ext_mapping, len, len);
	PUT(p, pmclog_ext_mapping, offset, offset);
	PUT(p, pmclog_ext_mapping, dev_major, 8);
	PUT(p, pmclog_ext_mapping, dev_minor, 1);
	PUT(p, pmclog_ext_mapping, ino, 4711);
}

void lg_module(struct loggen *g, uint64_t start, uint64_t len,
	       const char *name)
{
	void *p = ext_strings(g, PMCLOG_EXT_MODULE,
			      sizeof(struct pmclog_ext_module), 1, &name);

	PUT(p, pmclog_ext_module, start, start);
	PUT(p, pmclog_ext_module, len, len);
}

void lg_section(struct loggen *g, uint64_t addr, const char *module,
		const char *section)
{
	const char *const s[] = { module, section };
	void *p = ext_strings(g, PMCLOG_EXT_SECTION,
			      sizeof(struct pmclog_ext_section), 2, s);

	PUT(p, pmclog_ext_section, addr, addr);
}

void lg_buildid(struct loggen *g, unsigned int len, const char *name)
{
	unsigned char *p = ext_strings(g, PMCLOG_EXT_BUILDID,
				       sizeof(struct pmclog_ext_buildid), 1,
				       &name);
	unsigned int i;

	PUT(p, pmclog_ext_buildid, len, len);
	for (i = 0; i < len && i < 32; i++)
		p[offsetof(struct pmclog_ext_buildid, id) + i] = 0xA0 + i;
}

void lg_rate(struct loggen *g, uint32_t pmcid, uint32_t cpu, uint64_t expected,
	     uint64_t achieved)
{
	void *p = lg_ext(g, PMCLOG_EXT_RATE, sizeof(struct pmclog_ext_rate));

	PUT(p, pmclog_ext_rate, pmcid, pmcid);
	PUT(p, pmclog_ext_rate, cpu, cpu);
	PUT(p, pmclog_ext_rate, period, 1000000);
	PUT(p, pmclog_ext_rate, expected, expected);
	PUT(p, pmclog_ext_rate, achieved, achieved);
	PUT(p, pmclog_ext_rate, throttled, 1);
	PUT(p, pmclog_ext_rate, enabled, 5000000);
	PUT(p, pmclog_ext_rate, running, 4000000);
}

void lg_tracepoint(struct loggen *g, uint32_t pmcid, const char *name,
		   uint64_t config)
{
	size_t at = g->len;

	lg_allocatedyn(g, pmcid, name, 1, -2);
	PUT(g->buf + at, pmclog_pmcallocatedyn, flags,
	    HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN | HWPMC_F_RAW);
	PUT(g->buf + at, pmclog_pmcallocatedyn, type, PERF_TYPE_TRACEPOINT);
	PUT(g->buf + at, pmclog_pmcallocatedyn, config, config);
}

void lg_fields(struct loggen *g, uint64_t config, const char *text)
{
	size_t fixed = sizeof(struct pmclog_ext_fields);
	void *p = lg_ext(g, PMCLOG_EXT_FIELDS,
			 (fixed + strlen(text) + 4) & ~(size_t)3);

	PUT(p, pmclog_ext_fields, type, PERF_TYPE_TRACEPOINT);
	PUT(p, pmclog_ext_fields, config, config);
	PUTS(p, pmclog_ext_fields, text, text);
}

void lg_raw(struct loggen *g, uint32_t pmcid, uint32_t tid, const void *data,
	    uint32_t len, uint32_t size)
{
	size_t fixed = sizeof(struct pmclog_ext_raw);
	unsigned char *p;

	g->tsc -= g->step;
	p = lg_ext(g, PMCLOG_EXT_RAW, (fixed + len + 3) & ~(size_t)3);
	PUT(p, pmclog_ext_raw, pmcid, pmcid);
	PUT(p, pmclog_ext_raw, tid, tid);
	PUT(p, pmclog_ext_raw, len, len);
	PUT(p, pmclog_ext_raw, size, size);
	memcpy(p + fixed, data, len);
}

void lg_hardware(struct loggen *g, uint32_t pmcid, const char *name, uint32_t flags)
{
	size_t at = g->len;

	lg_allocatedyn(g, pmcid, name, 1000, -2);
	PUT(g->buf + at, pmclog_pmcallocatedyn, flags,
	    HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN | flags);
	PUT(g->buf + at, pmclog_pmcallocatedyn, type, PERF_TYPE_HARDWARE);
}

void lg_detail(struct loggen *g, const struct pmclog_ext_detail *d,
	       const struct pmclog_branch *b, uint32_t n)
{
	const size_t fixed = sizeof(*d);
	unsigned char *p;

	g->tsc -= g->step;
	p = lg_ext(g, PMCLOG_EXT_DETAIL, fixed + n * sizeof(*b));
	memcpy(p + sizeof(d->e), (const char *)d + sizeof(d->e),
	       fixed - sizeof(d->e));
	if (n)
		memcpy(p + fixed, b, n * sizeof(*b));
}

void lg_recording(struct loggen *g, uint32_t on, uint32_t npmc, uint64_t skew)
{
	void *p = lg_ext(g, PMCLOG_EXT_RECORD,
			 sizeof(struct pmclog_ext_record));

	PUT(p, pmclog_ext_record, on, on);
	PUT(p, pmclog_ext_record, npmc, npmc);
	PUT(p, pmclog_ext_record, skew, skew);
}

void lg_snapshot(struct loggen *g, uint32_t cause, uint32_t pmcid,
		 uint32_t pid, int32_t status, uint64_t when, uint64_t since)
{
	void *p = lg_ext(g, PMCLOG_EXT_SNAPSHOT,
			 sizeof(struct pmclog_ext_snapshot));

	PUT(p, pmclog_ext_snapshot, cause, cause);
	PUT(p, pmclog_ext_snapshot, pmcid, pmcid);
	PUT(p, pmclog_ext_snapshot, pid, pid);
	PUT(p, pmclog_ext_snapshot, status, status);
	PUT(p, pmclog_ext_snapshot, when, when);
	PUT(p, pmclog_ext_snapshot, since, since);
}

void lg_period(struct loggen *g, uint32_t pmcid, uint32_t cpu, uint64_t period)
{
	void *p = lg_ext(g, PMCLOG_EXT_PERIOD, sizeof(struct pmclog_ext_period));

	PUT(p, pmclog_ext_period, pmcid, pmcid);
	PUT(p, pmclog_ext_period, cpu, cpu);
	PUT(p, pmclog_ext_period, period, period);
}

void lg_freq(struct loggen *g, uint32_t pmcid, const char *name, uint64_t rate)
{
	size_t at = g->len;

	lg_allocatedyn(g, pmcid, name, rate, -2);
	PUT(g->buf + at, pmclog_pmcallocatedyn, flags,
	    HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN | HWPMC_F_FREQ);
	PUT(g->buf + at, pmclog_pmcallocatedyn, type, PERF_TYPE_HARDWARE);
	PUT(g->buf + at, pmclog_pmcallocatedyn, config,
	    PERF_COUNT_HW_CPU_CYCLES);
}
