// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs pmclog verify on a log, and looks at what it says.
 */
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands.h"
#include "expect_verify.h"
#include "tap.h"

struct loggen g;

/* Runs verify on the log; its standard output goes to @text. */
static int run_verify(char *text, size_t size)
{
	char log[] = "/tmp/test_verify.XXXXXX";
	char out[] = "/tmp/test_verify.XXXXXX";
	char *argv[] = { "verify", log, NULL };
	int fd = mkstemp(log), ofd = mkstemp(out), saved, ret;
	ssize_t n;

	abort_if(fd < 0 || ofd < 0 || write(fd, g.buf, g.len) != (ssize_t)g.len);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(ofd, STDOUT_FILENO);
	optind = 0;
	ret = cmd_verify(2, argv);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	n = pread(ofd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	close(ofd);
	unlink(log);
	unlink(out);
	/* "FILE: " is of no interest */
	if (!strncmp(text, log, strlen(log)))
		memmove(text, text + strlen(log) + 2,
			strlen(text + strlen(log) + 2) + 1);
	return ret;
}

void begin(void)
{
	lg_begin(&g);
	lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
}

void expect(size_t offset, const char *what)
{
	char text[512], want[512];
	int ret = run_verify(text, sizeof(text));

	snprintf(want, sizeof(want), "offset %zu: %s\n", offset, what);
	if (!ok(ret == READER_FAIL && !strcmp(text, want), "%s", what))
		printf("# exit %d\n# got  %s# want %s", ret, text, want);
}

void expect_ok(const char *summary)
{
	char text[512];
	int ret = run_verify(text, sizeof(text));
	char *chains = strstr(text, "user chains: ");

	/* how they end has tests of its own */
	if (chains)
		*chains = '\0';
	if (!ok(ret == READER_OK && !strcmp(text, summary), "%.*s",
		(int)strcspn(summary, "\n"), summary))
		printf("# exit %d\n# got %s", ret, text);
}

void expect_last(const char *what)
{
	expect(g.last, what);
}

void expect_either(size_t offset, const char *what, const char *summary)
{
	if (what)
		expect(offset, what);
	else
		expect_ok(summary);
}

int verify_done(void)
{
	return done();
}
