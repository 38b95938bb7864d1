/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is around a recording: who reads its log, the thread that writes it, its
 * device while it goes on, and somebody else who records at the same time.
 */
#ifndef TEST_RECORDER_H
#define TEST_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfile.h"

/* Reads all that comes out of @fd into @log, @chunk bytes every @pause_ms. */
struct reader {
	int		fd;
	size_t		chunk;
	unsigned int	pause_ms;
	struct log	log;
	pthread_t	thread;
};

void reader_begin(struct reader *r, int fd, size_t chunk,
		  unsigned int pause_ms);
/* From now on it pauses twice as long. */
void reader_slower(struct reader *r);
/* Waits until it has @bytes. */
bool reader_has(struct reader *r, size_t bytes);
/* Waits for the end of what it reads. */
void reader_end(struct reader *r);
/* A process that reads @fd and forgets it; nobody else has it then. */
pid_t reader_process(int fd);

/* A thread that writes a log of this process, 0: none; how many there are. */
pid_t recorder_pid(void);
unsigned int recorder_count(void);
/* Nanoseconds that a thread has run for; 0: the kernel does not say. */
uint64_t task_ran(pid_t tid);

/*
 * A second is promised for the close of a device; what does not hang takes no
 * longer than this on any machine.
 */
#define CLOSE_MS	60000

/*
 * Whether the writer threads that were told to end have: module_users() is
 * @users then, or less, where one of an earlier test was about to end when they
 * were counted.  They tell the closer before their very last steps.
 */
bool recorders_are(int users);

/* poll(2)'s answer of now. */
short dev_events(int dev);

/*
 * Wait for what is to come, for a minute at most: @n more samples committed; a
 * write error; a file that takes no more; a closed device's time in ms.
 */
bool wait_committed(int dev, uint64_t n);
bool wait_error(int dev);
bool wait_stalled(int dev);
unsigned int close_ms(int dev);

/*
 * SIGALRM every @ms from now on, which interrupts system calls; 0: no more.
 * @handler: NULL for one that does nothing; @flags: of sigaction(2)
 */
void alarm_every(unsigned int ms, void (*handler)(int sig), int flags);
/* A pipe that holds as little as one can. */
int small_pipe(int ends[2]);
/* Junk, until the pipe of @fd takes no more. */
int pipe_fill(int fd);

/*
 * Likewise, until what @dev's log in @file has by now is @enough; until it has @n
 * samples, of those that are wanted: wait_samples(dev, file, 10, .pid = pid).
 */
bool wait_log(int dev, int file, bool (*enough)(struct log *log, void *arg),
	      void *arg);
bool wait_samples_of(int dev, int file, unsigned int n,
		     const struct sample_wanted *w);
#define wait_samples(dev, file, n, ...) \
	wait_samples_of(dev, file, n, &(struct sample_wanted){ __VA_ARGS__ })

/*
 * Another owner, who samples into a file of his own and is not to notice
 * anything.
 */
struct bystander {
	int		dev;
	int		file;
};

int bystander_begin(struct bystander *b);
bool bystander_goes_on(struct bystander *b);
/* Ends and checks his log: NULL, or what is wrong; then the text is in @log. */
const char *bystander_end(struct bystander *b, struct log *log);

#endif /* TEST_RECORDER_H */
