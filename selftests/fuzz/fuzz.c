// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/exit.h"
#include "fuzz.h"

#define ARGS_MAX	24
#define PIPE_ROOM	65536	/* bytes that a pipe takes before somebody reads */
#define PAUSE_US	300

const char *fuzz_file(int slot, const void *data, size_t size)
{
	static int fds[FUZZ_SLOTS];
	static char path[FUZZ_SLOTS][32];

	if (!fds[slot]) {
		fds[slot] = memfd_create("fuzz", 0);
		snprintf(path[slot], sizeof(path[slot]), "/proc/self/fd/%d",
			 fds[slot]);
	}
	abort_if(ftruncate(fds[slot], 0) ||
		 pwrite(fds[slot], data, size, 0) != (ssize_t)size);
	return path[slot];
}

/* A pipe with a log: what is not written yet comes by a thread of its own. */
static struct {
	int fds[2];
	char path[32];
	const uint8_t *rest;
	size_t len;
	pthread_t thread;
} stream;

static void put(const uint8_t *data, size_t size)
{
	abort_if(write(stream.fds[1], data, size) != (ssize_t)size);
}

static void *go_on(void *arg)
{
	usleep(PAUSE_US);
	put(stream.rest, stream.len);
	close(stream.fds[1]);
	return arg;
}

const char *fuzz_pipe(const uint8_t *data, size_t size, size_t now)
{
	if (size > PIPE_ROOM || pipe2(stream.fds, O_CLOEXEC))
		return NULL;
	snprintf(stream.path, sizeof(stream.path), "/proc/self/fd/%d",
		 stream.fds[0]);
	put(data, now);
	stream.rest = data + now;
	stream.len = size - now;
	if (!stream.len)
		close(stream.fds[1]);
	else if (pthread_create(&stream.thread, NULL, go_on, NULL))
		abort();
	return stream.path;
}

void fuzz_pipe_end(void)
{
	if (stream.len)
		pthread_join(stream.thread, NULL);
	close(stream.fds[0]);
}

const char *fuzz_path(const char *name)
{
	char *path;

	abort_if(asprintf(&path, "%s/%s", getenv("FUZZ_DIR"), name) < 0);
	return path;
}

/* Everything that a command prints goes here. */
static void no_output(void)
{
	int null = open("/dev/null", O_WRONLY);

	abort_if(null < 0 || dup2(null, STDOUT_FILENO) < 0);
	close(null);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!getenv("FUZZ_DIR")) {
		fputs("FUZZ_DIR is not set: use fuzz.sh\n", stderr);
		exit(2);
	}
	no_output();
	return 0;
}

void fuzz_run(int (*command)(int argc, char **argv), const char *const *args)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	int argc, ret;

	for (argc = 0; args[argc] && argc < ARGS_MAX; argc++)
		argv[argc] = (char *)args[argc];
	optind = 0;
	ret = command(argc, argv);
	/* our command lines are good ones */
	abort_if(ret != READER_OK && ret != READER_FAIL);
}
