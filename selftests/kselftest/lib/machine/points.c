// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "module.h"
#include "points.h"

#define MAX_POINTS	400
#define LOG_DIR		"/tmp/faults"
#define FILE_BYTES	(16 << 20)

bool points_possible;

bool points_begin(void)
{
	points_possible = inject_init() && small_tmpfs(LOG_DIR, FILE_BYTES);
	return points_possible;
}

static bool undo(struct world *w, const struct op *op)
{
	int err = op->undo ? op->undo(w) : 0;

	if (err)
		printf("# %s: taken back: error %d\n", op->name, -err);
	return !err;
}

/*
 * Waits until the module has @most users at most; *@most: how many these are.  A
 * writer thread drops the module after its log's end, so a log that was taken back
 * may still count.
 */
static bool users_are(int *most)
{
	int users;

	if (!WAIT_UNTIL((users = module_users()) <= *most, 5000))
		return false;
	*most = users;
	return true;
}

/* What is wrong after a point has failed, or NULL. */
static const char *wrong(struct world *w, const struct op *op,
			 enum inject_kind kind, int err, int *users)
{
	if (!err)
		return kind == INJECT_COPY && !op->part ?
		       "done without the copy" : NULL;
	if (err != (kind == INJECT_COPY ? -EFAULT : -ENOMEM))
		return "another error";
	if (!users_are(users))
		return "the module is held";
	if (op->same && !op->same(w))
		return "not as before";
	return NULL;
}

bool fail_each(struct world *w, const struct op *op, enum inject_kind kind,
	       const struct code *from)
{
	const char *what = kind == INJECT_COPY ? "copies" : "allocations";
	unsigned int n, refused = 0, done = 0, bad = 0;
	int err, users = module_users();
	const char *fault;

	inject_select(kind, from);
	for (n = 1; n < MAX_POINTS; n++) {
		if (!inject_arm(0, n))
			return false;
		err = op->run(w);
		if (!inject_disarm(0))
			break;
		fault = wrong(w, op, kind, err, &users);
		if (fault) {
			bad++;
			printf("# %s: point %u of the %s: %s (%d)\n", op->name,
			       n, what, fault, -err);
		}
		if (err) {
			refused++;
			continue;
		}
		done++;
		if (!undo(w, op))
			return false;
	}
	if (n > 1)
		printf("# %s: %u %s failed: %u times refused, %u times done\n",
		       op->name, n - 1, what, refused, done);
	if (err)
		printf("# %s: error %d without a failure\n", op->name, -err);
	fflush(stdout);
	return !err && !bad && n < MAX_POINTS;
}

bool fail_all(struct world *w, const struct op *op)
{
	return fail_each(w, op, INJECT_MEMORY, NULL) && undo(w, op) &&
	       fail_each(w, op, INJECT_COPY, NULL);
}

int new_file(void)
{
	char path[] = LOG_DIR "/log.XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	return fd;
}

void empty(int file)
{
	if (ftruncate(file, 0))
		perror("ftruncate");
	lseek(file, 0, SEEK_SET);
}

static bool files_are_let_go(void)
{
	if (WAIT_UNTIL(!umount2(LOG_DIR, 0), 1000))
		return small_tmpfs(LOG_DIR, FILE_BYTES);
	printf("# a log's file is held\n");
	return false;
}

bool nothing_stays(void)
{
	int err = module_unload_soon();
	bool good = !err;

	if (err)
		printf("# the module cannot be unloaded: error %d\n", -err);
	good &= files_are_let_go();
	if (env_number("HWPMC_FAULTS_LONG", 0))
		good &= no_leaks();
	if (!err)
		err = module_load("");
	if (err)
		printf("# the module cannot be loaded: error %d\n", -err);
	return good && !err && module_wait_for_device();
}

int run_allocate(struct world *w)
{
	struct hwpmc_allocate a = w->a;
	int err = dev_allocate(w->dev, &a);

	w->id = a.id;
	return err;
}

OP(run_release, dev_release(w->dev, w->id))
OP(run_configure, dev_configure(w->dev, w->file))

int undo_configure(struct world *w)
{
	int err = dev_configure(w->dev, -1);

	empty(w->file);
	return err;
}

OP(run_start, dev_start(w->dev, w->id))
OP(run_stop, dev_stop(w->dev, w->id))

int run_read(struct world *w)
{
	uint64_t value;

	return dev_read(w->dev, w->id, HWPMC_CPU_ALL, &value);
}

bool no_log_yet(struct world *w)
{
	struct stat st;

	return dev_flush(w->dev) == -EINVAL && !fstat(w->file, &st) &&
	       !st.st_size;
}

STATE(log_is_open, !dev_flush(w->dev))
STATE(never_started, dev_stop(w->dev, w->id) == -EINVAL)
