// SPDX-License-Identifier: BSD-2-Clause
/*
 * The records have the layout that FreeBSD 14 gives them on 64-bit machines: its
 * fields, at its offsets, as numbers.  What is ours stands behind them.
 */
#include <linux/pmclog.h>
#include <stddef.h>

#include "tap.h"

struct field {
	const char	*record, *name;
	size_t		at, size;	/* here */
	size_t		want, wide;	/* there */
};

#define F(type, field, want, wide) {					\
	#type, #field, offsetof(struct pmclog_##type, field),		\
	sizeof(((struct pmclog_##type *)0)->field), want, wide }
/* a string, or addresses, up to the record's end */
#define END(type, field, want) {					\
	#type, #field, offsetof(struct pmclog_##type, field), 0, want, 0 }

static const struct field fields[] = {
	F(hdr, header, 0, 4), F(hdr, tsc, 8, 8),

	F(initialize, version, 16, 4),
	F(initialize, cputype, 20, 4),
	F(initialize, tsc_freq, 24, 8),
	F(initialize, ts_sec, 32, 8),
	F(initialize, ts_nsec, 40, 8),
	F(initialize, cpuid, 48, 64),

	F(pmcattach, pmcid, 16, 4),
	F(pmcattach, pid, 20, 4),
	END(pmcattach, path, 24),

	F(pmcdetach, pmcid, 16, 4),
	F(pmcdetach, pid, 20, 4),

	F(proccsw, value, 16, 8),
	F(proccsw, pmcid, 24, 4),
	F(proccsw, pid, 28, 4),
	F(proccsw, tid, 32, 4),

	F(procexec, pid, 16, 4),
	F(procexec, pmcid, 20, 4),
	F(procexec, base, 24, 8),
	F(procexec, dyn, 32, 8),
	END(procexec, path, 40),

	F(procexit, pmcid, 16, 4),
	F(procexit, pid, 20, 4),
	F(procexit, value, 24, 8),

	F(procfork, oldpid, 16, 4),
	F(procfork, newpid, 20, 4),

	F(sysexit, pid, 16, 4),

	F(userdata, userdata, 16, 4),

	F(map_in, pid, 16, 4),
	F(map_in, start, 24, 8),
	END(map_in, path, 32),

	F(map_out, pid, 16, 4),
	F(map_out, start, 24, 8),
	F(map_out, end, 32, 8),

	F(callchain, pid, 16, 4),
	F(callchain, tid, 20, 4),
	F(callchain, pmcid, 24, 4),
	F(callchain, cpuflags, 28, 4),
	END(callchain, pc, 32),

	F(pmcallocatedyn, pmcid, 16, 4),
	F(pmcallocatedyn, event, 20, 4),
	F(pmcallocatedyn, flags, 24, 4),
	F(pmcallocatedyn, name, 32, 64),

	F(thr_create, tid, 16, 4),
	F(thr_create, pid, 20, 4),
	F(thr_create, flags, 24, 4),
	F(thr_create, name, 32, 20),

	F(thr_exit, tid, 16, 4),

	F(proc_create, pid, 16, 4),
	F(proc_create, flags, 20, 4),
	F(proc_create, comm, 24, 20),
};

static const struct {
	const char	*name;
	unsigned int	here, there;
} types[] = {
#define T(name, n) { #name, PMCLOG_T_##name, n }
	T(CLOSELOG, 1), T(DROPNOTIFY, 2),
	T(INITIALIZE, 3),
	T(PMCATTACH, 6),
	T(PMCDETACH, 7),
	T(PROCCSW, 8),
	T(PROCEXEC, 9),
	T(PROCEXIT, 10),
	T(PROCFORK, 11),
	T(SYSEXIT, 12),
	T(USERDATA, 13),
	T(MAP_IN, 14),
	T(MAP_OUT, 15),
	T(CALLCHAIN, 16),
	T(PMCALLOCATEDYN, 17),
	T(THR_CREATE, 18),
	T(THR_EXIT, 19),
	T(PROC_CREATE, 20),
};

int main(void)
{
	size_t i, n = sizeof(fields) / sizeof(fields[0]), bad = 0;
	const struct field *f;

	for (f = fields; f < fields + n; f++)
		if (f->at != f->want || f->size != f->wide) {
			printf("# %s.%s: %zu, %zu bytes, not %zu, %zu\n", f->record,
			       f->name, f->at, f->size, f->want, f->wide);
			bad++;
		}
	ok(!bad, "%zu fields are where FreeBSD has them", n);
	n = sizeof(types) / sizeof(types[0]);
	for (i = bad = 0; i < n; i++)
		if (types[i].here != types[i].there) {
			printf("# %s: %u\n", types[i].name, types[i].here);
			bad++;
		}
	ok(!bad, "%zu types have FreeBSD's numbers", n);
	ok(PMCLOG_HEADER(16, 40) == 0xEE100028, "so has the header");
	return done();
}
