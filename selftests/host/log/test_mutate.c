// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged logs: memory and feeding must agree on what is in them, and the
 * commands must survive them.  Under the sanitizers a read out of bounds ends
 * the program.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmclog.h>
#include <pmclog_iter.h>

#include "commands/commands.h"
#include "loggen.h"
#include "reading.h"
#include "rnd.h"
#include "tap.h"

/* The log of the test that runs */
static struct loggen g;

#define ROUNDS		20000
#define COMMAND_ROUNDS	600

/* Where the header of a random record is. */
static size_t random_record(const unsigned char *buf, size_t len)
{
	size_t at = 0, n = rnd(40), step;

	while (n--) {
		step = PMCLOG_HEADER_LEN(pmclog_get32(buf + at));
		if (step < 16 || at + step + 16 > len)
			break;
		at += step;
	}
	return at;
}

static void mutate(unsigned char *buf, size_t len)
{
	static const unsigned char wild[] = { 0, 1, 0x7F, 0x80, 0xFE, 0xFF };
	size_t n = 1 + rnd(6), at;

	while (n--) {
		switch (rnd(4)) {
		case 0:
			buf[rnd(len)] ^= 1 << rnd(8);
			break;
		case 1:
			buf[rnd(len)] = wild[rnd(sizeof(wild))];
			break;
		case 2:	/* a record's length or type */
			at = random_record(buf, len);
			buf[at + rnd(3)] = rnd(256);
			break;
		case 3:	/* the length, but a possible one */
			at = random_record(buf, len);
			buf[at] = (buf[at] + 4 * rnd(64)) & ~3;
			break;
		}
	}
}

static size_t some(void)
{
	return 1 + rnd(300);
}

static uint64_t by_events(const unsigned char *buf, size_t len)
{
	static struct pmclog_ev ev;
	void *ps = pmclog_open(PMCLOG_FD_NONE);
	uint64_t n = 0;

	abort_if(pmclog_feed(ps, (char *)buf, len));
	do {
		while (!pmclog_read(ps, &ev))
			n++;
	} while (ev.pl_state == PMCLOG_EOF);
	pmclog_close(ps);
	return n;
}

static bool agree(const struct seen *a, const struct seen *b)
{
	if (a->n != b->n || a->end != b->end || a->sum != b->sum)
		return false;
	/* feeding waits for what memory knows to be missing */
	return a->error == b->error || !strcmp(a->error, "truncated record");
}

static void test_library(const char *name)
{
	size_t i, len, differ = 0, errors = 0, events = 0;
	struct seen mem, feed;
	unsigned char *copy;

	lg_make(&g, name);
	for (i = 0; i < ROUNDS; i++) {
		len = i % 3 ? g.len : 16 + rnd(g.len - 16);
		copy = malloc(len);
		memcpy(copy, g.buf, len);
		mutate(copy, len);
		mem = read_mem(copy, len, false);
		feed = read_feed(copy, len, some, false);
		events += by_events(copy, len);
		differ += !agree(&mem, &feed);
		errors += strcmp(mem.error, "no error") != 0;
		free(copy);
	}
	ok(!differ, "%s: memory and feeding agree on %u damaged logs", name,
	   ROUNDS);
	ok(errors > ROUNDS / 4 && errors < ROUNDS && events,
	   "%s: %zu of them are in error", name, errors);
}

static void run_command(const char *name, const unsigned char *buf, size_t len)
{
	int fd = lg_file(buf, len);
	char path[40];
	char json[] = "--json";
	char *argv[4] = { (char *)name, path, NULL, NULL };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	optind = 0;
	if (!strcmp(name, "info"))
		cmd_info(2, argv);
	else if (!strcmp(name, "verify"))
		cmd_verify(2, argv);
	else if (!strcmp(name, "dump"))
		cmd_dump(2, argv);
	argv[2] = json;
	optind = 0;
	if (!strcmp(name, "json"))
		cmd_dump(3, argv);
	close(fd);
}

/* In one process, with what they print thrown away. */
static void test_command(const char *name)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);
	static const char *const logs[] = { "full", "strings", "packed" };
	unsigned char *copy;
	size_t i;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	for (i = 0; i < COMMAND_ROUNDS; i++) {
		lg_make(&g, logs[i % 3]);
		copy = malloc(g.len);
		memcpy(copy, g.buf, g.len);
		mutate(copy, g.len);
		dup2(null, STDERR_FILENO);
		run_command(name, copy, g.len);
		dup2(err, STDERR_FILENO);	/* for the sanitizer */
		free(copy);
	}
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(err);
	close(null);
	ok(true, "%s of %u damaged logs", name, COMMAND_ROUNDS);
}

int main(void)
{
	test_library("full");
	test_library("strings");
	test_library("twice");
	test_library("packed");
	test_command("info");
	test_command("verify");
	test_command("dump");
	test_command("json");
	return done();
}
