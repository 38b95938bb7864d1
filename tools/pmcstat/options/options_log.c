/* SPDX-License-Identifier: BSD-2-Clause */
/* Options for logs in several files. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/options.h"
#include "reader/base/samefile.h"

#define RING_MAX	(256ULL << 20)
#define SECONDS_MAX	1000000000ULL

static const struct unit {
	char		letter;
	int		is_time;
	uint64_t	factor;
} units[] = {
	{ 'K', 0, 1ULL << 10 },
	{ 'M', 0, 1ULL << 20 },
	{ 'G', 0, 1ULL << 30 },
	{ 'T', 0, 1ULL << 40 },
	{ 's', 1, 1 },
	{ 'm', 1, 60 },
	{ 'h', 1, 3600 },
	{ 'd', 1, 86400 },
};

/* Parses a number and its unit; NULL if it is not that */
static const struct unit *parse_unit(const char *text, uint64_t *value)
{
	size_t i;
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno || !*value || !*end ||
	    end[1])
		return NULL;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].letter == *end)
			break;
	if (i == sizeof(units) / sizeof(units[0]) ||
	    *value > INT64_MAX / units[i].factor)
		return NULL;
	*value *= units[i].factor;
	return &units[i];
}

int parse_rotate(struct parser *p, const char *text)
{
	struct options *o = p->o;
	uint64_t value;
	const struct unit *u = parse_unit(text, &value);

	if (!u || (u->is_time && value > SECONDS_MAX))
		return options_fail(p, "--rotate %s: neither a size (100M, 1G) "
				    "nor a time (30s, 10m, 1h)", text);
	if (u->is_time ? o->rotate_seconds > 0 : o->rotate_size)
		return options_fail(p, "--rotate: two %s",
				    u->is_time ? "times" : "sizes");
	if (u->is_time)
		o->rotate_seconds = (double)value;
	else
		o->rotate_size = value;
	return 0;
}

int parse_keep(struct parser *p, const char *text)
{
	return options_number(text, &p->o->keep) ? 0 :
	       options_fail(p, "--keep %s: not a number of files", text);
}

int parse_flight(struct parser *p, const char *text)
{
	uint64_t value;
	const struct unit *u = parse_unit(text, &value);

	if (!u || u->is_time)
		return options_fail(p, "--flight %s: not a size (4M, 1G)",
				    text);
	p->o->flight_size = value;
	return 0;
}

int parse_writers(struct parser *p, const char *text)
{
	struct options *o = p->o;

	if (!strcmp(text, "node")) {
		o->writers = WRITERS_OF_NODES;
		return 0;
	}
	if (!options_number(text, &o->writers) || o->writers > WRITERS_MAX)
		return options_fail(p, "--writers %s: neither a number of logs nor "
				    "node", text);
	return 0;
}

/* A ring buffer of BPF has a power of two of bytes, in whole pages. */
int parse_ring(struct parser *p, const char *text)
{
	uint64_t value, size = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct unit *u = parse_unit(text, &value);

	if (!u || u->is_time || value > RING_MAX)
		return options_fail(p, "--ring %s: not a size of at most 256M "
				    "(64K, 4M)", text);
	while (size < value)
		size *= 2;
	p->o->ring_size = (uint32_t)size;
	return 0;
}

/* The module has one trigger of exits. */
static int set_exit(struct parser *p, uint32_t what, uint32_t status)
{
	struct options *o = p->o;

	if (o->exit_what != HWPMC_EXIT_NEVER &&
	    (o->exit_what != what || o->exit_status != status))
		return options_fail(p, "--trigger exit can be given only once");
	o->exit_what = what;
	o->exit_status = status;
	return 0;
}

static int parse_exit(struct parser *p, const char *text)
{
	unsigned long n;
	char *end;

	if (!*text)
		return set_exit(p, HWPMC_EXIT_FAILED, 0);
	n = strtoul(text + 1, &end, 10);
	if (!isdigit((unsigned char)text[1]) || *end || n > 255)
		return options_fail(p, "--trigger exit%s: not a status of 0 "
				    "to 255", text);
	return set_exit(p, HWPMC_EXIT_STATUS, (uint32_t)n);
}

int parse_trigger(struct parser *p, const char *text, size_t *len,
		  uint64_t *count)
{
	static const char word[] = ",count=";
	const char *at = strstr(text, word);
	char *end;

	p->o->triggers = 1;
	if (!strcmp(text, "exit") || !strncmp(text, "exit=", 5))
		return parse_exit(p, text + 4);
	*len = at ? (size_t)(at - text) : strlen(text);
	*count = 1;
	if (!at)
		return 1;
	at += sizeof(word) - 1;
	errno = 0;
	*count = strtoull(at, &end, 10);
	if (!isdigit((unsigned char)*at) || errno || *end || !*count ||
	    *count > INT64_MAX)
		return options_fail(p, "--trigger %s: not a number of events",
				    text);
	return 1;
}

/*
 * A flight recorder's triggers are system-wide if one of its PMCs with samples
 * is.
 */
static int check_flight(struct parser *p)
{
	struct options *o = p->o;
	size_t i, system = 0, processes = 0;

	if (!o->flight_size)
		return o->triggers ? options_fail(p, "--trigger goes with "
						  "--flight") : 0;
	if (o->rotate_size || o->rotate_seconds > 0)
		return options_fail(p, "--flight and --rotate do not go "
				    "together");
	if (o->compress)
		return options_fail(p, "--flight and -Z do not go together");
	if (!o->log_path || !strcmp(o->log_path, "-"))
		return options_fail(p, "--flight needs a file or a directory "
				    "for snapshots: -O FILE, -O DIR/");
	for (i = 0; i < o->ncounters; i++) {
		if (o->counters[i].flags & HWPMC_F_TRIGGER)
			continue;
		system += o->counters[i].mode == PMC_MODE_SS;
		processes += o->counters[i].mode == PMC_MODE_TS;
	}
	if (!system && !processes)
		return options_fail(p, "--flight needs samples: -P or -S");
	for (i = 0; i < o->ncounters && !system; i++) {
		if (!(o->counters[i].flags & HWPMC_F_TRIGGER))
			continue;
		if (o->counters[i].event.flags & PMC_EVENT_ONE_CPU)
			return options_fail(p, "--trigger %s: it is of one CPU, not of "
					    "processes: with -S", o->counters[i].spec);
		o->counters[i].mode = PMC_MODE_TS;
		o->counters[i].cpu = PMC_CPU_ANY;
		o->counters[i].flags |= PMC_F_DESCENDANTS;
	}
	return 0;
}

/* -O DIR/ is always a directory, -O DIR only with --rotate, --keep or --writers. */
int options_check_files(struct parser *p)
{
	struct options *o = p->o;
	const char *path = o->log_path;
	int rotates = o->rotate_size || o->rotate_seconds > 0;
	const char *option = rotates ? "--rotate" : o->keep ? "--keep" : "--writers";
	size_t len = path ? strlen(path) : 0;

	if (check_flight(p))
		return -1;
	if (!rotates && !o->keep && !o->writers &&
	    (!len || path[len - 1] != '/'))
		return 0;
	if (!len)
		return options_fail(p, "%s goes with -O DIR", option);
	o->log_dir = 1;
	if (path[len - 1] == '/' || path_is_directory(path))
		return 0;
	return options_fail(p, "%s needs a directory for the logs, which %s is "
			    "not: -O DIR", option, path);
}
