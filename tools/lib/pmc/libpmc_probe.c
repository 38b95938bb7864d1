/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes are made and removed in tracefs, in groups of our own:
 * hwpmc_NAMESPACE_PID, from the inode of the pid namespace and the process.  If a
 * process dies without removing its probes, the next process that makes probes
 * removes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"
#include "libpmc_probe.h"

#define PREFIX		"hwpmc_"
#define PATIENCE_MS	5000	/* until users of the probe have released it */
#define NAP_MS		10

/**
 * struct pmc_probe - a probe that has been made
 * @path:   path of the file for its definition
 * @remove: the line that removes it; prepared in advance for signal handlers
 */
struct pmc_probe {
	char	path[PATH_MAX];
	char	remove[160];
	char	name[128];
};

static const char *const files[] = { "kprobe_events", "uprobe_events" };

/* Writes one line; 0, or -1 with errno.  Safe in signal handlers. */
static int write_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), err = 0;
	ssize_t n, len = (ssize_t)strlen(line);

	if (fd < 0)
		return -1;
	n = write(fd, line, (size_t)len);
	if (n != len)
		err = n < 0 ? errno : EIO;
	close(fd);
	errno = err;
	return err ? -1 : 0;
}

static unsigned long our_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long)st.st_ino;
}

/* ------------------------------------------------------------------------
 * Probes that other processes have left
 */
static int is_stale(const char *group, int *pid)
{
	unsigned long space;
	int end = 0;

	if (sscanf(group, PREFIX "%lu_%d/%n", &space, pid, &end) != 2 || !end ||
	    space != our_namespace() || *pid <= 0)
		return 0;
	/* we have no probes yet: an earlier process had our pid */
	return *pid == getpid() || (kill(*pid, 0) && errno == ESRCH);
}

/* "p:GROUP/EVENT PLACE", "r8:GROUP/EVENT PLACE" */
static void remove_if_stale(const char *path, char *line)
{
	char *name = strchr(line, ':'), removal[256];
	int pid;

	if (!name || !is_stale(++name, &pid))
		return;
	name[strcspn(name, " ")] = '\0';
	if ((size_t)snprintf(removal, sizeof(removal), "-:%s\n", name) <
	    sizeof(removal))
		write_line(path, removal);	/* in use: it stays */
}

static void remove_stale(const char *tracefs)
{
	char path[PATH_MAX], *text, *line, *save;
	size_t i;

	for (i = 0; i < 2; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", tracefs,
				     files[i]) >= sizeof(path))
			return;
		text = pmc_file_all(path, NULL);
		if (!text)
			continue;
		for (line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			remove_if_stale(path, line);
		free(text);
	}
}

/* ------------------------------------------------------------------------
 * Why the kernel refuses
 */
/* The last error about this name in error_log; modifies @text */
static char *last_error(char *text, const char *name)
{
	char *at, *error = NULL, *next;

	for (at = strstr(text, "error: "); at; at = next) {
		next = strstr(at + 1, "error: ");
		if (next)
			next[-1] = '\0';
		if (strstr(at, name))
			error = at + strlen("error: ");
	}
	if (error)
		error[strcspn(error, "\n")] = '\0';
	return error;
}

static void near_functions(struct pmc_parse *p, const char *tracefs)
{
	char path[PATH_MAX], word[SPEC_MAX + 64], *text, *line, *save;
	struct pmc_near near = { .word = word };

	snprintf(word, sizeof(word), "%s", p->probe.place);
	word[strcspn(word, "+")] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/available_filter_functions",
			     tracefs) >= sizeof(path))
		return;
	text = pmc_file_all(path, NULL);
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " \t")] = '\0';
		if (!strcmp(line, word))	/* it exists, but cannot be probed */
			near.word = "";
		pmc_near_offer(&near, line);
	}
	if (*near.word)
		pmc_near_say(&near, p);
	free(text);
}

static int refused(struct pmc_parse *p, const char *tracefs, const char *spec,
		   const char *name, int err)
{
	char path[PATH_MAX], *text = NULL, *why = NULL;

	if ((size_t)snprintf(path, sizeof(path), "%s/error_log", tracefs) <
	    sizeof(path))
		text = pmc_file_all(path, NULL);
	if (text)
		why = last_error(text, name);
	pmc_parse_fail(p, "cannot make %s: %s%s%s%s", spec, strerror(err),
		       why ? " (" : "", why ? why : "", why ? ")" : "");
	free(text);
	if (err == ENOENT && !p->probe.uprobe)
		near_functions(p, tracefs);
	return fail_with(err);
}

/* ------------------------------------------------------------------------
 * Making and removing
 */
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nprobes;

/*
 * The number of the next probe.  The first call removes stale probes, and probes
 * with our pid are stale then.  So no thread makes a probe before it is done.
 */
static unsigned int take_number(const char *tracefs)
{
	unsigned int n;

	pthread_mutex_lock(&first);
	n = nprobes++;
	if (!n)
		remove_stale(tracefs);
	pthread_mutex_unlock(&first);
	return n;
}

static int name_probe(struct pmc_parse *p, struct pmc_probe *probe,
		      const char *tracefs, char *line, size_t len)
{
	const struct pmc_probe_def *def = &p->probe;
	unsigned int n = take_number(tracefs);

	snprintf(probe->name, sizeof(probe->name), PREFIX "%lu_%d/%c%u_%s",
		 our_namespace(), getpid(), def->ret ? 'r' : 'p', n,
		 def->label);
	snprintf(probe->remove, sizeof(probe->remove), "-:%s\n", probe->name);
	if ((size_t)snprintf(probe->path, sizeof(probe->path), "%s/%s", tracefs,
			     files[def->uprobe]) >= sizeof(probe->path) ||
	    (size_t)snprintf(line, len, "%c:%s %s\n", def->ret ? 'r' : 'p',
			     probe->name, def->place) >= len)
		return fail_with(ENAMETOOLONG);
	return 0;
}

/* Finds the event that the kernel has made for the probe. */
static int find_event(struct pmc_parse *p, const struct pmc_probe *probe,
		      const char *tracefs)
{
	char system[sizeof(probe->name)];
	char *slash;

	strcpy(system, probe->name);
	slash = strchr(system, '/');
	*slash++ = '\0';
	return pmc_trace_id(tracefs, system, slash, &p->desc->config);
}

static int make(struct pmc_parse *p, struct pmc_probe *probe, const char *spec)
{
	char tracefs[PATH_MAX], line[SPEC_MAX + 256];

	if (pmc_trace_root(p, tracefs, sizeof(tracefs)))
		return -1;
	if (name_probe(p, probe, tracefs, line, sizeof(line)) ||
	    write_line(probe->path, line))
		return refused(p, tracefs, spec, probe->name, errno);
	if (find_event(p, probe, tracefs)) {
		int err = errno;

		pmc_probe_remove(probe);
		return refused(p, tracefs, spec, probe->name, err);
	}
	return 0;
}

struct pmc_probe *pmc_probe_make_at(struct pmc_parse *p, const char *spec)
{
	struct pmc_probe *probe;

	if (pmc_parse_spec(p, spec))
		return NULL;
	if (!(p->desc->flags & PMC_EVENT_PROBE)) {
		pmc_parse_fail(p, "%s is no probe", spec);
		return NULL;
	}
	probe = calloc(1, sizeof(*probe));
	if (probe && !make(p, probe, spec))
		return probe;
	free(probe);
	return NULL;
}

struct pmc_probe *pmc_probe_make(const char *spec, struct pmc_event_desc *desc,
				 char *msg, size_t msglen)
{
	struct pmc_parse p = {
		.root = "", .desc = desc, .msg = msg, .msglen = msglen,
	};

	return pmc_probe_make_at(&p, spec);
}

int pmc_probe_remove(const struct pmc_probe *probe)
{
	int left = PATIENCE_MS / NAP_MS;

	while (write_line(probe->path, probe->remove)) {
		if (errno != EBUSY || !left--)
			return -1;
		poll(NULL, 0, NAP_MS);
	}
	return 0;
}

void pmc_probe_free(struct pmc_probe *probe)
{
	free(probe);
}

const char *pmc_probe_name(const struct pmc_probe *probe)
{
	return probe->name;
}
