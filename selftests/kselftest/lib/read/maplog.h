/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a log tells of mappings, and files to map.
 */
#ifndef TEST_MAPLOG_H
#define TEST_MAPLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "logfile.h"

/* A MAP_IN and the MAPPING behind it, decoded. */
struct map {
	uint32_t	pid;
	uint64_t	start;
	uint64_t	len;
	uint64_t	offset;
	uint32_t	prot;
	uint64_t	ino;
	uint32_t	major;
	uint32_t	minor;
	uint64_t	tsc;
	char		path[1200];
};

/* The @nth (from 0) of @pid at @start. */
bool find_map(struct log *log, uint32_t pid, uint64_t start, unsigned int nth,
	      struct map *m);
/* MAP_OUTs of @pid that touch [start, end); exact ones count 1000. */
unsigned int map_outs(struct log *log, uint32_t pid, uint64_t start,
		      uint64_t end);

/* A new file of that many pages that can be mapped executable; -1: none. */
int exec_file(const char *path, long pages, long page);

/*
 * A log of all processes, from here to there, in a test with test.h whose fixture
 * has dev, file and log.
 */
#define BEGIN() do {							\
	uint32_t id_;							\
	ASSERT_EQ(0, dev_configure(self->dev, self->file));		\
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id_));	\
} while (0)

#define END() do {							\
	ASSERT_EQ(0, dev_closelog(self->dev));				\
	ASSERT_TRUE(log_load(&self->log, self->file));			\
	ASSERT_LOG(&self->log, 0);					\
} while (0)

#endif /* TEST_MAPLOG_H */
