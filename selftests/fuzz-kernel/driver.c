// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer, whose programs a virtual machine runs.
 *
 * The machine may die of any of them: what must outlive it is here.  Coverage
 * comes back as keys (program.h), each of which is one of libFuzzer's counters.
 * Environment: HWPMC_FUZZ_SOCKET, where the machine's port is; HWPMC_FUZZ_STATE,
 * a directory for "covered" (a key a line, in hexadecimal), "count" (programs
 * run), "input" (the last of them) and "trouble" (what was wrong at the end);
 * HWPMC_FUZZ_STOP, a file that is there once the kernel has reported something.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mutate.h"
#include "text.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOT_BEGUN	3		/* exit status */

#define COUNTERS	(1U << 17)

/* volatile: only libFuzzer reads them, and finds them by the section's name */
__attribute__((section("__libfuzzer_extra_counters")))
static volatile uint8_t counters[COUNTERS];

static uint8_t known[1U << 29];		/* a bit for each key */

static int guest;
static FILE *covered;
static const char *state;
static const char *stop;
static unsigned long long count, died;

static void write_state(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", state, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		err(1, "%s", path);
}

/* What runs is in a file: whatever comes of it. */
static void write_input(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[512];

	snprintf(path, sizeof(path), "%s/input", state);
	if (fd < 0)
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, size))
		err(1, "%s", path);
}

static void trouble(const char *what, const uint8_t *data, size_t size)
{
	fprintf(stderr, "\nfuzz-kernel: after %llu programs: %s\n", count, what);
	text_write(stderr, data, size);
	write_state("trouble", what);
	fflush(NULL);
	abort();
}

/* libFuzzer's alarm interrupts what waits. */
static bool write_all(const void *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = send(guest, buf, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		len -= n;
		buf = (const char *)buf + n;
	}
	return true;
}

static bool read_all(void *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = read(guest, buf, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		len -= n;
		buf = (char *)buf + n;
	}
	return true;
}

/* Returns whether the guest has answered. */
static bool read_answer(struct answer *a, uint32_t *keys, char *text,
			size_t size)
{
	memset(text, 0, size);
	return read_all(a, sizeof(*a)) && a->nkeys <= 1U << 15 &&
	       a->text < size && read_all(keys, a->nkeys * sizeof(*keys)) &&
	       read_all(text, a->text);
}

/* Returns whether it is new. */
static bool note(uint32_t key)
{
	counters[key * 2654435761U >> 15] = 1;
	if (known[key >> 3] & 1U << (key & 7))
		return false;
	known[key >> 3] |= 1U << (key & 7);
	fprintf(covered, "%08x\n", key);
	return true;
}

/* The machine may have its port before it listens to it. */
static int dial(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned int tries;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	for (tries = 0; tries < 300; tries++) {
		if (!connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
			return fd;
		usleep(100000);
	}
	err(1, "%s", path);
}

static void load_known(void)
{
	unsigned int key;

	rewind(covered);
	while (fscanf(covered, "%x", &key) == 1)
		known[key >> 3] |= 1U << (key & 7);
	fseek(covered, 0, SEEK_END);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *path = getenv("HWPMC_FUZZ_SOCKET");
	static uint32_t keys[1U << 15];
	struct answer a;
	char text[1024];

	(void)argc;
	(void)argv;
	state = getenv("HWPMC_FUZZ_STATE");
	stop = getenv("HWPMC_FUZZ_STOP");
	if (!path || !state)
		errx(2, "run selftests/fuzz-kernel/run");
	snprintf(text, sizeof(text), "%s/covered", state);
	covered = fopen(text, "a+");
	if (!covered)
		err(1, "%s", text);
	load_known();
	guest = dial(path);
	if (!read_answer(&a, keys, text, sizeof(text)) ||
	    a.status != ANSWER_READY)
		errx(NOT_BEGUN, "the guest has not begun");
	if (*text)
		fprintf(stderr, "fuzz-driver: %s\n", text);
	return 0;
}

static void write_count(void)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu %llu\n", count, died);
	write_state("count", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t keys[1U << 15];
	uint32_t len = size, i, news = 0;
	struct answer a;
	char text[1024];

	if (size < PROGRAM_HEADER + sizeof(struct op))
		return 0;
	write_input(data, size);
	if (!write_all(&len, sizeof(len)) || !write_all(data, size) ||
	    !read_answer(&a, keys, text, sizeof(text)))
		trouble("the kernel is gone", data, size);
	count++;
	for (i = 0; i < a.nkeys; i++)
		news += note(keys[i]);
	fflush(covered);
	/* what the corpus reaches was new once */
	if (news || count < 256)
		mutate_pool(data, size);
	died += a.status == ANSWER_DIED;
	write_count();
	if (a.status == ANSWER_TROUBLE)
		trouble(text, data, size);
	if (stop && !access(stop, F_OK))
		trouble("the kernel has reported something", data, size);
	return 0;
}
