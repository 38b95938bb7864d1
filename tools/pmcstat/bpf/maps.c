/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/maps.h"
#include "libpmc_thread.h"

/**
 * struct maps_reading - what the thread works on
 * @err, @read: the result, when the thread has ended
 */
struct maps_reading {
	struct pmc_thread t;
	uint32_t	pid;
	int		err;
	struct maps	read;
};

/* A line of /proc/PID/maps; 0: no executable mapping */
static int parse_line(char *line, uint32_t pid, struct mapping *m)
{
	unsigned long long from, to, offset, ino;
	unsigned int major, minor;
	char prot[8], *path;
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &from, &to, prot,
		   &offset, &major, &minor, &ino, &at) < 7 || prot[2] != 'x' ||
	    to <= from)
		return 0;
	path = line + at;
	path[strcspn(path, "\n")] = '\0';
	if (!strcmp(path, "[vsyscall]"))	/* no mapping of the process */
		return 0;
	m->m = (struct pmclog_ext_mapping){
		.pid = pid, .start = from, .len = to - from,
		.prot = (prot[0] == 'r') * PROT_READ |
			(prot[1] == 'w') * PROT_WRITE | PROT_EXEC,
	};
	if (ino) {
		m->m.offset = offset;
		m->m.dev_major = major;
		m->m.dev_minor = minor;
		m->m.ino = ino;
	}
	snprintf(m->path, sizeof(m->path), "%s",
		 ino || !strcmp(path, "[vdso]") ? path : "//anon");
	return 1;
}

/* In /proc/PID/maps "\012" is a newline, or these four characters: the link tells. */
static void read_link(struct mapping *m)
{
	char link[96], path[sizeof(m->path)];
	ssize_t n;

	if (!strstr(m->path, "\\012"))
		return;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", m->m.pid,
		 (unsigned long long)m->m.start,
		 (unsigned long long)(m->m.start + m->m.len));
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0)
		snprintf(m->path, sizeof(m->path), "%.*s", (int)n, path);
}

static void read_lines(struct maps_reading *r, FILE *from, FILE *to)
{
	struct mapping m;
	char *line = NULL;
	size_t size = 0;

	while (!r->t.stop && getline(&line, &size, from) > 0) {
		if (!parse_line(line, r->pid, &m))
			continue;
		read_link(&m);
		fwrite(&m.m, sizeof(m.m), 1, to);
		fwrite(m.path, strlen(m.path) + 1, 1, to);
	}
	free(line);
}

static void run(struct pmc_thread *t)
{
	struct maps_reading *r = (struct maps_reading *)t;
	FILE *from, *to = open_memstream(&r->read.text, &r->read.size);
	char path[64];

	if (!to) {
		r->err = ENOMEM;
		return;
	}
	snprintf(path, sizeof(path), "/proc/%u/maps", r->pid);
	from = fopen(path, "re");
	if (from) {
		read_lines(r, from, to);
		fclose(from);
	} else if (errno != ENOENT && errno != ESRCH) {	/* it has not ended */
		r->err = errno;
	}
	if (fclose(to))		/* the text ends in the middle of a mapping */
		r->err = ENOMEM;
}

static void free_reading(struct pmc_thread *t)
{
	struct maps_reading *r = (struct maps_reading *)t;

	pmc_thread_destroy(t);
	maps_free(&r->read);
	free(r);
}

int maps_read(struct maps *m, uint32_t pid)
{
	static unsigned int waited;	/* the main thread only */
	struct maps_reading *r = calloc(1, sizeof(*r));
	int err;

	*m = (struct maps){ 0 };
	if (!r)
		return ENOMEM;
	r->pid = pid;
	pmc_thread_init(&r->t, run, free_reading);
	err = pmc_thread_begin(&r->t);
	if (err) {
		free_reading(&r->t);
		return err;
	}
	err = pmc_thread_patient(&r->t, &waited) ? r->err : ETIMEDOUT;
	if (!err) {
		*m = r->read;
		r->read = (struct maps){ 0 };
	}
	pmc_thread_leave(&r->t);
	return err;
}

int maps_next(const struct maps *m, size_t *at, struct mapping *next)
{
	size_t len;

	if (*at == m->size)
		return 0;
	memcpy(&next->m, m->text + *at, sizeof(next->m));
	*at += sizeof(next->m);
	len = strlen(m->text + *at) + 1;
	memcpy(next->path, m->text + *at, len);
	*at += len;
	return 1;
}

void maps_free(struct maps *m)
{
	free(m->text);
}
