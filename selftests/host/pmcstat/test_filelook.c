/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids are read by a thread.  One that hangs in a file is left there, and the next
 * one finds what is elsewhere.
 *
 * The files are on a tmpfs: its device is one that is made up, so they may be mapped
 * from any other.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sideband/fileids.h"
#include "tap.h"

#define TMPFS		0x01021994
#define SECOND		1000000000ULL
#define FUTURE		(1LL << 62)	/* the files were not written to since */

/**
 * struct server - of the files
 * @held: reading this one does not come back; 0: all do
 * @open: signals that a reader would have taken
 */
static struct {
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	ino_t		held;
	int		open;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static struct fileids ids = { .lock = PTHREAD_MUTEX_INITIALIZER };
static char dir[] = "/dev/shm/filelook-XXXXXX";

uint32_t pmc_elfid_of_file(int fd, unsigned char id[ELFID_MAX])
{
	struct stat st;
	sigset_t set;

	fstat(fd, &st);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	pthread_mutex_lock(&server.lock);
	server.open |= !sigismember(&set, SIGINT) || !sigismember(&set, SIGCHLD);
	while (server.held == st.st_ino)
		pthread_cond_wait(&server.changed, &server.lock);
	pthread_mutex_unlock(&server.lock);
	memset(id, 0xab, 8);
	return 8;
}

uint32_t pmc_elfid_of_vdso(unsigned char id[ELFID_MAX])
{
	return 0;
}

static void hold(ino_t ino)
{
	pthread_mutex_lock(&server.lock);
	server.held = ino;
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
}

/* A file that was mapped from the device 0:@minor */
static struct fileid *file_on(uint32_t minor, const char *name)
{
	struct fileid key = { .minor = minor, .since = FUTURE }, *f;
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	abort_if(fd < 0 || fstat(fd, &st));
	close(fd);
	key.path = path;
	key.ino = st.st_ino;
	pthread_mutex_lock(&ids.lock);
	f = fileids_add(&ids, &key);
	pthread_mutex_unlock(&ids.lock);
	return f;
}

static int is_found(struct fileid *f)
{
	int is;

	pthread_mutex_lock(&ids.lock);
	is = f->read && f->len == 8;
	pthread_mutex_unlock(&ids.lock);
	return is;
}

/* Threads that have not come back */
static int lookers(void)
{
	int n = 0;
	size_t i;

	pthread_mutex_lock(&ids.lock);
	for (i = 0; i < FILEIDS_LOOKERS; i++)
		n += ids.looker[i].busy;
	pthread_mutex_unlock(&ids.lock);
	return n;
}

static void let_go(void)
{
	hold(0);
	while (lookers())
		usleep(1000);
}

static void set_since(struct fileid *f, int64_t since)
{
	pthread_mutex_lock(&ids.lock);
	f->since = since;
	pthread_mutex_unlock(&ids.lock);
}

static void remove_all(void)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	char path[64];
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	struct fileid *hangs, *beside, *elsewhere, *late;
	struct statfs fs;
	uint64_t since;
	int err;

	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS || !mkdtemp(dir)) {
		puts("1..0 # SKIP /dev/shm is no tmpfs");
		return 0;
	}
	hangs = file_on(1001, "a");
	beside = file_on(1001, "b");
	elsewhere = file_on(1002, "c");

	hold((ino_t)hangs->ino);
	since = now_ns();
	err = fileids_find(&ids);
	ok(err == ETIMEDOUT, "a file hangs");
	ok(now_ns() - since < 8 * SECOND, "nobody waits for it for long");
	ok(!is_found(hangs) && !is_found(beside) && is_found(elsewhere),
	   "what is elsewhere is found");
	ok(fileids_find(&ids) == ETIMEDOUT && !is_found(beside),
	   "it hangs still");
	ok(lookers() == 1, "no other thread goes there");

	let_go();
	ok(is_found(hangs), "it comes back: it is found");
	ok(!fileids_find(&ids) && is_found(beside), "so is the other one");

	late = file_on(1001, "d");
	hold((ino_t)late->ino);
	ok(fileids_find(&ids) == ETIMEDOUT, "another one hangs");
	set_since(late, FUTURE + 1);
	fileids_free(&ids);
	ok(ids.n == 4, "nothing is freed meanwhile");
	let_go();
	ok(!is_found(late), "a later log wants it: as it was does not count");
	ok(!fileids_find(&ids) && is_found(late), "it is looked at again");
	ok(!server.open, "the threads take no signals");
	fileids_free(&ids);
	ok(!ids.n, "all is freed");
	remove_all();
	return done();
}
