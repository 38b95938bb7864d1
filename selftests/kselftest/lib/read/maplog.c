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
			if (!IS_EXT(&rec, MAPPING))
				return false;
			m->len = REC64(&rec, ext_mapping, len);
			m->offset = REC64(&rec, ext_mapping, offset);
			m->prot = REC32(&rec, ext_mapping, prot);
			m->ino = REC64(&rec, ext_mapping, ino);
			m->major = REC32(&rec, ext_mapping, dev_major);
			m->minor = REC32(&rec, ext_mapping, dev_minor);
			found = REC32(&rec, ext_mapping, pid) == pid &&
				REC64(&rec, ext_mapping, start) == start;
			in = false;
			continue;
		}
		if (rec.type != PMCLOG_T_MAP_IN ||
		    REC32(&rec, map_in, pid) != pid ||
		    REC64(&rec, map_in, start) != start)
			continue;
		if (nth--)
			continue;
		in = true;
		m->tsc = rec.tsc;
		snprintf(m->path, sizeof(m->path), "%s",
			 REC_TEXT(&rec, map_in, path));
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
		    REC32(&rec, map_out, pid) != pid)
			continue;
		s = REC64(&rec, map_out, start);
		e = REC64(&rec, map_out, end);
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
