// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "guest.h"
#include "tracefs.h"

#define TRACEFS	"/sys/kernel/tracing"
#define PMUS	"/sys/bus/event_source/devices"

bool tracefs_mount(void)
{
	if (!access(TRACEFS "/events", F_OK))
		return true;
	return !mount("tracefs", TRACEFS, "tracefs", 0, NULL) &&
	       !access(TRACEFS "/events", F_OK);
}

uint64_t tracefs_id(const char *event)
{
	char path[200], line[40];

	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", event);
	return read_line(path, line, sizeof(line)) ? strtoull(line, NULL, 0) : 0;
}

/* "\tfield:TYPE NAME[N];\toffset:8;\tsize:4;\tsigned:1;" */
static bool parse_field(const char *line, const char *name,
			struct tracefs_field *f)
{
	size_t n = strlen(name);
	const char *end, *at;

	if (!strstr(line, "field:"))
		return false;
	end = strchr(line, ';');
	if (!end)
		return false;
	for (at = strstr(line, name); at && at < end; at = strstr(at + 1, name))
		if ((at[-1] == ' ' || at[-1] == '*') &&
		    (at[n] == ';' || at[n] == '['))
			return sscanf(end, "; offset:%u; size:%u;", &f->offset,
				      &f->size) == 2;
	return false;
}

bool tracefs_field(const char *event, const char *name,
		   struct tracefs_field *f)
{
	char path[200], line[400];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), TRACEFS "/events/%s/format", event);
	file = fopen(path, "r");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = parse_field(line, name, f);
	fclose(file);
	return found;
}

uint64_t tracefs_value(const struct tracefs_field *f, const void *data,
		       uint32_t len)
{
	uint64_t value = 0;

	if (f->size <= sizeof(value) && f->offset + f->size <= len)
		memcpy(&value, (const char *)data + f->offset, f->size);
	return value;
}

const char *tracefs_string(const struct tracefs_field *f, const void *data,
			   uint32_t len)
{
	uint64_t loc = tracefs_value(f, data, len);
	uint32_t at = loc & 0xFFFF, n = loc >> 16 & 0xFFFF;

	if (!n || at + n > len || memchr((const char *)data + at, 0, n) == NULL)
		return "";
	return (const char *)data + at;
}

static bool append(const char *kind, const char *text)
{
	char path[100];
	bool good;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/%s_events", kind);
	fd = open(path, O_WRONLY | O_APPEND);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!good && text[0] != '-')
		fprintf(stderr, "# %s: %s: %s\n", path, text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

bool tracefs_probe(const char *kind, const char *definition)
{
	return append(kind, definition);
}

void tracefs_unprobe(const char *kind, const char *event)
{
	char text[100];

	snprintf(text, sizeof(text), "-:%s", event);
	append(kind, text);
}

bool tracefs_enable(const char *event, bool on)
{
	char path[200];
	bool good;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/events/%s/enable", event);
	fd = open(path, O_WRONLY);
	good = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;
	if (fd >= 0)
		close(fd);
	return good;
}

int pmu_type(const char *name)
{
	char path[200], line[40];

	snprintf(path, sizeof(path), PMUS "/%s/type", name);
	return read_line(path, line, sizeof(line)) ? atoi(line) : -1;
}

bool file_offset(const void *addr, uint64_t *offset)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long long start, end, off;
	bool found = false;
	char line[400];

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &off) != 3)
			continue;
		found = (uintptr_t)addr >= start && (uintptr_t)addr < end;
		*offset = (uintptr_t)addr - start + off;
	}
	if (file)
		fclose(file);
	return found;
}
