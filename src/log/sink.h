/* SPDX-License-Identifier: GPL-2.0-only */
/* The destination of a log. */
#ifndef HWPMC_SINK_H
#define HWPMC_SINK_H

#include "hwpmc.h"

/**
 * struct sink_ops - the destination of a log: a file, a reader of the device, memory
 * @write: returns the bytes taken, or a negative errno; EAGAIN: not now
 * @wait:  waits until more may be taken, or for a while
 * @tend:  NULL, or work to do between two passes
 * @end:   the log is complete
 * @prompt: a reader waits for each record
 * Called by the writer thread only.
 */
struct sink_ops {
	ssize_t (*write)(struct hwpmc_owner *o, const void *buf, u32 len);
	void (*wait)(struct hwpmc_owner *o);
	void (*tend)(struct hwpmc_owner *o);
	void (*end)(struct hwpmc_owner *o);
	bool prompt;
};

/* sink.c */
int hwpmc_sink_attach(struct hwpmc_owner *o, struct file *file,
		      const struct hwpmc_configurelog *c);
int hwpmc_sink_check(struct file *file);
void hwpmc_sink_begin(struct hwpmc_log *log);
void hwpmc_sink_flush(struct hwpmc_owner *o);
void hwpmc_sink_check_keeper(struct hwpmc_owner *o);
void hwpmc_sink_swap(struct hwpmc_log *log, struct file *file);
void hwpmc_sink_detach(struct hwpmc_log *log);
int hwpmc_sink_put_file(struct hwpmc_owner *o, const void *buf, u32 len);
void hwpmc_sink_end_file(struct hwpmc_owner *o);

#endif /* HWPMC_SINK_H */
