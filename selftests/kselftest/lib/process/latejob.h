/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose stacks are not in memory when they are sampled: late_root() ->
 * late_outer() -> late_mid() -> late_leaf() -> a body.  Whether the words that link
 * frames are above the rest of a frame or below it, those of late_outer() are not in
 * memory.
 */
#ifndef TEST_LATEJOB_H
#define TEST_LATEJOB_H

#include "recorder.h"

struct job {
	void		(*body)(const struct job *job);
	unsigned int	*rounds;	/* that all have made */
	uintptr_t	top;
	int		fd;	/* what the body reads */
	char		*buf;
	size_t		len;
	int		cpu;
	uid_t		uid;	/* 0: stays root */
};

void body_spin(const struct job *job);
void body_read(const struct job *job);
void body_clock(const struct job *job);
void body_signal(const struct job *job);
/* ... calls probed() */
void body_probe(const struct job *job);
void probed(void);

/* Without the descriptor @closed, unless that is negative. */
pid_t start_job(struct job job, unsigned int threads, int closed);

struct recording {
	int		dev;
	int		file;
	uint32_t	id;
	struct log	log;
};

/* @flags: HWPMC_LOG_* */
int record_begin(struct recording *r, struct hwpmc_allocate a, uint32_t flags);
/* NULL, or what is wrong with the log */
const char *record_end(struct recording *r);
/* Does this kernel export what it takes?  (HAVE_TASK_WORK in src/compat.h) */
bool chains_come_later(void);
/* User chains that have come for the owner @dev; waits until there are @n. */
uint64_t answers_of(int dev);
bool wait_answers(int dev, uint64_t n);

#define ASSERT_END(r) do {						\
	const char *fault_ = record_end(r);				\
	if (fault_)							\
		TH_LOG("%s", fault_);					\
	ASSERT_EQ(NULL, fault_);					\
} while (0)

#define NEEDS_LATER() do {						\
	if (!chains_come_later())					\
		SKIP(return, "this kernel does not export task_work_add()"); \
} while (0)

#endif /* TEST_LATEJOB_H */
