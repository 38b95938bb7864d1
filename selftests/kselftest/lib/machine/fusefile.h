/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system with one file, of which a process of the test is the server: it can
 * be told not to answer.
 */
#ifndef TEST_FUSEFILE_H
#define TEST_FUSEFILE_H

#include <stdbool.h>
#include <sys/types.h>

#define FUSEFILE_SIZE	(8 * 4096)

/**
 * struct fusefile - shared with the server
 * @hold_setattr: a change of attributes, as before the last write, is not answered ...
 * @hold_flush: a close of it is not answered ...
 * @hold_open: opening it is not answered, once this is set.  A process that is
 *	killed meanwhile gets an answer, as on NFS: the kernel waits for one otherwise
 * @hold_read: what is read of it is not answered ...
 * @deaf: ... not even if who waits is killed, as on a server that hangs
 * @read_ms: an answer to a read takes so long
 * @held: somebody waits for an answer ...
 * @let_go: ... of the first kind, which is given when this is set
 * @opens: so many wait to open it, or have waited
 * @reads: ... to read it
 * @content: of the file, as it is read
 */
struct fusefile {
	volatile bool	hold_setattr;
	volatile bool	hold_flush;
	volatile bool	hold_open;
	volatile bool	hold_read;
	volatile bool	deaf;
	volatile unsigned int read_ms;
	volatile bool	held;
	volatile bool	let_go;
	volatile unsigned int opens;
	volatile unsigned int reads;
	char		content[FUSEFILE_SIZE];
};

/*
 * Mounts it at @place, a directory that is made: the server, or 0 without FUSE.  The
 * file has any name in there.  @f: shared memory
 */
pid_t fusefile_begin(const char *place, struct fusefile *f);
void fusefile_end(const char *place, pid_t server);

#endif /* TEST_FUSEFILE_H */
