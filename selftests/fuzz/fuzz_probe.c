// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: probes, in a tree of their own that stands for tracefs.  A
 * specification, and behind a NUL each: the list of probes that are there, what the
 * kernel says about errors, the functions that can be probed, and the new event's
 * number.  Without a number the kernel has refused the probe.  The texts are also what
 * says the fields of a tracepoint, and the terms and an event of a PMU.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "libpmc_probe.h"

#define TRACE	"tree/sys/kernel/tracing"

#define PMU	"tree/sys/bus/event_source/devices/fuzzed"

static const char *errors, *format, *term, *alias;

struct text {
	const uint8_t *p, *end;
};

/* The next text, as a string of its own */
static char *next(struct text *t)
{
	const uint8_t *nul = memchr(t->p, 0, (size_t)(t->end - t->p));
	size_t len = (size_t)((nul ? nul : t->end) - t->p);
	char *s = malloc(len + 1);

	memcpy(s, t->p, len);
	s[len] = '\0';
	t->p = nul ? nul + 1 : t->end;
	return s;
}

static void fill(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t len = strlen(text);

	abort_if(fd < 0 || write(fd, text, len) != (ssize_t)len);
	close(fd);
}

/* Adds a stale probe: no process can have its pid. */
static void fill_list(const char *path, const char *text)
{
	struct stat st;
	char *all;

	abort_if(stat("/proc/self/ns/pid", &st) ||
		 asprintf(&all, "%s\np:hwpmc_%lu_999999999/p0_x x\n", text,
			  (unsigned long)st.st_ino) < 0);
	fill(path, all);
	free(all);
}

/* Makes or removes the directory of the event that the kernel makes for probe @n. */
static void make_event(const struct pmc_probe_def *def, const char *id,
		       unsigned int n, bool make)
{
	static char *events;
	struct stat st;
	char dir[4096], name[4096], path[8192];

	if (!events)
		events = (char *)fuzz_path(TRACE "/events");
	abort_if(stat("/proc/self/ns/pid", &st));
	snprintf(dir, sizeof(dir), "%s/hwpmc_%lu_%d", events,
		 (unsigned long)st.st_ino, getpid());
	snprintf(name, sizeof(name), "%s/%c%u_%s", dir, def->ret ? 'r' : 'p', n,
		 def->label);
	snprintf(path, sizeof(path), "%s/id", name);
	if (!make) {
		unlink(path);
		rmdir(name);
		return;
	}
	mkdir(dir, 0700);
	mkdir(name, 0700);
	fill(path, id);
}

/* Errors are about the command that has the name of the probe. */
static void fill_errors(const struct pmc_probe_def *def, const char *says,
			unsigned int n)
{
	struct stat st;
	char *all;

	abort_if(stat("/proc/self/ns/pid", &st) ||
		 asprintf(&all, "[1] trace_kprobe: error: %s\n  Command: "
			  "p:hwpmc_%lu_%d/%c%u_%s x\n[2] error: other\n", says,
			  (unsigned long)st.st_ino, getpid(), def->ret ? 'r' : 'p',
			  n, def->label) < 0);
	fill(errors, all);
	free(all);
}

/* The number of a probe follows that of the one before. */
static void try_probe(const char *root, const char *spec, const char *says,
		      const char *id)
{
	static unsigned int n;
	struct pmc_event_desc desc;
	struct pmc_probe *probe;
	char msg[256];
	struct pmc_parse p = {
		.root = root, .desc = &desc, .msg = msg, .msglen = sizeof(msg),
	};

	if (pmc_parse_spec(&p, spec) || !(desc.flags & PMC_EVENT_PROBE))
		return;
	fill_errors(&p.probe, says, n);
	if (*id)
		make_event(&p.probe, id, n, true);
	probe = pmc_probe_make_at(&p, spec);
	abort_if(probe && !*pmc_probe_name(probe));
	abort_if(probe && pmc_probe_remove(probe));
	if (probe)
		pmc_probe_free(probe);
	if (*id)
		make_event(&p.probe, id, n, false);
	n++;
}

/* The same texts as what describes fields, a PMU's terms and its aliases */
static void try_texts(const char *root, const char *spec)
{
	struct pmc_event_desc desc, all[PMC_EVENTS_MAX];
	int n = pmc_parse_all(root, spec, all, PMC_EVENTS_MAX, NULL, 0);
	char msg[256], list[64], *lines, *tracing;
	struct pmc_parse p = {
		.root = root, .desc = &desc, .msg = msg, .msglen = sizeof(msg),
	};

	abort_if(n > PMC_EVENTS_MAX || n == 0);
	while (--n >= 0)
		abort_if(!memchr(all[n].name, 0, sizeof(all[n].name)));
	if (!pmc_parse_spec(&p, spec)) {
		pmc_event_cpus(&desc, list, sizeof(list));
		abort_if(!pmc_pmu_cpus(root, desc.type, list, sizeof(list)) &&
			 strlen(list) >= sizeof(list));
		pmc_first_cpu(root);
	}
	abort_if(asprintf(&tracing, "%s/sys/kernel/tracing", root) < 0);
	lines = pmc_trace_field_lines(tracing, "sched", "sched_switch");
	abort_if(lines && *lines && !strstr(lines, "field:"));
	free(lines);
	free(tracing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *root, *list, *functions, *uprobes;
	struct text t = { data, data + size };
	char *spec = next(&t), *probes = next(&t), *says = next(&t);
	char *names = next(&t), *id = next(&t);

	if (!root) {
		root = fuzz_path("tree");
		list = fuzz_path(TRACE "/kprobe_events");
		errors = fuzz_path(TRACE "/error_log");
		functions = fuzz_path(TRACE "/available_filter_functions");
		uprobes = fuzz_path(TRACE "/uprobe_events");
		format = fuzz_path(TRACE "/events/sched/sched_switch/format");
		term = fuzz_path(PMU "/format/x");
		alias = fuzz_path(PMU "/events/e");
		fill(uprobes, "");
	}
	fill_list(list, probes);
	fill(functions, names);
	fill(format, says);
	fill(term, names);
	fill(alias, id);
	try_probe(root, spec, says, id);
	try_texts(root, spec);
	free(spec);
	free(probes);
	free(says);
	free(names);
	free(id);
	return 0;
}
