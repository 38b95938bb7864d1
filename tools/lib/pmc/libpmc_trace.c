/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints, from tracefs: events/SYSTEM/EVENT/id has the number for perf,
 * .../format has the fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"

static const char *const mounts[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
};

#define NMOUNTS	(sizeof(mounts) / sizeof(mounts[0]))

static int find_tracefs(const char *root, char *path, size_t len)
{
	char events[PATH_MAX];
	int err = ENOENT;
	size_t i;

	for (i = 0; i < NMOUNTS; i++) {
		snprintf(path, len, "%s%s", root, mounts[i]);
		snprintf(events, sizeof(events), "%s/events/", path);
		if (!faccessat(AT_FDCWD, events, R_OK | X_OK, AT_EACCESS))
			return 0;
		if (errno == EACCES || errno == EPERM)
			err = errno;
	}
	return fail_with(err);
}

/* EACCES if the caller may not read tracefs: the event may be right; else EINVAL */
static int unreadable(struct pmc_parse *p, int err, const char *what)
{
	pmc_parse_fail(p, "cannot read %s: %s", what, strerror(err));
	return fail_with(err == EACCES || err == EPERM ? EACCES : EINVAL);
}

int pmc_trace_root(struct pmc_parse *p, char *path, size_t len)
{
	char what[64];

	if (!find_tracefs(p->root, path, len))
		return 0;
	if (errno == ENOENT)
		return pmc_parse_fail(p, "tracefs is not there: mount -t "
				      "tracefs tracefs %s", mounts[0]);
	snprintf(what, sizeof(what), "tracefs (%s)", mounts[0]);
	return unreadable(p, EACCES, what);
}

int pmc_trace_id(const char *tracefs, const char *system, const char *event,
		 uint64_t *id)
{
	char text[32];

	if (!pmc_file_is_name(system) || !pmc_file_is_name(event))
		return fail_with(ENOENT);
	if (pmc_file_text(text, sizeof(text), "%s/events/%s/%s/id", tracefs,
			  system, event) < 0)
		return -1;
	if (!pmc_parse_number(text, 10, id))
		return 0;
	return fail_with(EINVAL);
}

static int is_system(const char *tracefs, const char *name)
{
	char path[PATH_MAX];

	return pmc_file_is_name(name) &&
	       (size_t)snprintf(path, sizeof(path), "%s/events/%s", tracefs,
				name) < sizeof(path) &&
	       !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS);
}

/* Offers the names of directories; other entries are files with settings */
static int offer_dir(void *arg, const char *name)
{
	if (strcmp(name, "enable") && strcmp(name, "filter") &&
	    strncmp(name, "header_", 7))
		pmc_near_offer(arg, name);
	return 0;
}

/* Offers the events of @system, or, if it is NULL, the systems */
static void offer_all(struct pmc_near *near, const char *tracefs,
		      const char *system)
{
	pmc_file_each(offer_dir, near, "%s/events/%s", tracefs,
		      system ? system : "");
}

static int unknown(struct pmc_parse *p, const char *tracefs,
		   const char *system, const char *event)
{
	struct pmc_near near = { .word = event };

	if (!is_system(tracefs, system)) {
		near.word = system;
		pmc_parse_fail(p, "there are no tracepoints of \"%s\"", system);
		offer_all(&near, tracefs, NULL);
	} else {
		pmc_parse_fail(p, "there is no tracepoint \"%s:%s\"", system,
			       event);
		offer_all(&near, tracefs, system);
	}
	return pmc_near_say(&near, p);
}

int pmc_trace_event(struct pmc_parse *p, const char *system, const char *event)
{
	struct pmc_event_desc *d = p->desc;
	char tracefs[PATH_MAX], what[3 * LABEL_MAX];
	int err;

	if (pmc_trace_root(p, tracefs, sizeof(tracefs)))
		return -1;
	if (pmc_trace_id(tracefs, system, event, &d->config)) {
		err = errno;
		if (err == ENOENT || err == ENOTDIR)
			return unknown(p, tracefs, system, event);
		snprintf(what, sizeof(what), "the number of \"%.*s:%.*s\"",
			 LABEL_MAX, system, LABEL_MAX, event);
		return unreadable(p, err, what);
	}
	d->type = PERF_TYPE_TRACEPOINT;
	d->period = 1;
	d->flags |= PMC_EVENT_TRACEPOINT;
	snprintf(d->name, sizeof(d->name), "%.*s", LABEL_MAX, system);
	snprintf(d->name + strlen(d->name), LABEL_MAX + 1 - strlen(d->name),
		 ":%s", event);
	return 0;
}

char *pmc_trace_field_lines(const char *tracefs, const char *system,
			    const char *event)
{
	char path[PATH_MAX], *text, *line, *next, *out;

	if (!pmc_file_is_name(system) || !pmc_file_is_name(event) ||
	    (size_t)snprintf(path, sizeof(path), "%s/events/%s/%s/format",
			     tracefs, system, event) >= sizeof(path)) {
		errno = ENOENT;
		return NULL;
	}
	text = pmc_file_all(path, NULL);
	out = text;
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (strncmp(line + strspn(line, " \t"), "field:", 6))
			continue;
		memmove(out, line, (size_t)(next - line));
		out += next - line;
	}
	if (text)
		*out = '\0';
	return text;
}
