// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a log tells of mappings: finding their records.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "maplog.h"

bool find_map(struct log *log, uint32_t pid, uint64_t start, unsigned int nth,
	      struct map *m)
{
	struct pmclog_rec rec;
	bool in = false, found = false;

	memset(m, 0, sizeof(*m));
	LOG_FOR_EACH(log, rec) {
		if (found)
			continue;
		if (in) {
			if (pmclog_iter_ext_subtype(&rec) != PMCLOG_EXT_MAPPING)
				return false;
#define EXT(field)	PMCLOG_FIELD64(&rec, struct pmclog_ext_mapping, field)
#define EXT32(field)	PMCLOG_FIELD32(&rec, struct pmclog_ext_mapping, field)
			m->len = EXT(len);
			m->offset = EXT(offset);
			m->prot = EXT32(prot);
			m->ino = EXT(ino);
			m->major = EXT32(dev_major);
			m->minor = EXT32(dev_minor);
			found = EXT32(pid) == pid && EXT(start) == start;
			in = false;
			continue;
		}
		if (rec.type != PMCLOG_T_MAP_IN ||
		    PMCLOG_FIELD32(&rec, struct pmclog_map_in, pid) != pid ||
		    PMCLOG_FIELD64(&rec, struct pmclog_map_in, start) != start)
			continue;
		if (nth--)
			continue;
		in = true;
		m->tsc = rec.tsc;
		snprintf(m->path, sizeof(m->path), "%s",
			 (const char *)rec.data +
			 offsetof(struct pmclog_map_in, path));
	}
	return found;
}

unsigned int map_outs(struct log *log, uint32_t pid, uint64_t start,
		      uint64_t end)
{
	struct pmclog_rec rec;
	unsigned int n = 0;
	uint64_t s, e;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_MAP_OUT ||
		    PMCLOG_FIELD32(&rec, struct pmclog_map_out, pid) != pid)
			continue;
		s = PMCLOG_FIELD64(&rec, struct pmclog_map_out, start);
		e = PMCLOG_FIELD64(&rec, struct pmclog_map_out, end);
		if (s == start && e == end)
			n += 1000;
		else if (s < end && e > start)
			n++;
	}
	return n;
}

int exec_file(const char *path, long pages, long page)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);

	return fd < 0 || ftruncate(fd, pages * page) ? -1 : fd;
}
