// SPDX-License-Identifier: BSD-2-Clause
/* The client library is loaded on demand, since few machines have it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/idtab.h"
#include "base/mem.h"
#include "base/say.h"
#include "elf/debuginfod.h"

#define LIBRARY		"libdebuginfod.so.1"
#define VARIABLE	"DEBUGINFOD_URLS"
#define PATIENCE	"10"	/* seconds without an answer */
#define FILE_PATIENCE	120	/* seconds for one file */

struct debuginfod_client;

/* a build-id that was requested */
struct asked {
	uint64_t hash;
	char *path;		/* NULL: no server has it */
};

static struct {
	char *urls;
	void *library;
	struct debuginfod_client *client;
	int (*find)(struct debuginfod_client *, const unsigned char *, int,
		    char **);
	struct asked *asked;
	uint32_t n, cap;
	time_t since;
	bool shown, gone;
} d;

void debuginfod_hide(void)
{
	const char *urls = getenv(VARIABLE);

	if (urls && *urls)
		d.urls = xstrdup(urls);
	unsetenv(VARIABLE);
}

static void clear_line(void)
{
	if (d.shown)
		fputs("\r\033[K", stderr);
	d.shown = false;
}

/* Returns 1 to give up. */
static int progress(struct debuginfod_client *c, long got, long all)
{
	(void)c;
	if (isatty(STDERR_FILENO) && time(NULL) > d.since) {
		fprintf(stderr, "\r\033[Kdebuginfod: %ld of %ld kB",
			got / 1024, all > 0 ? all / 1024 : 0);
		d.shown = true;
	}
	return time(NULL) > d.since + FILE_PATIENCE;
}

static bool load_library(void)
{
	struct debuginfod_client *(*begin)(void);
	void (*on_progress)(struct debuginfod_client *,
			    int (*)(struct debuginfod_client *, long, long));

	d.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!d.library)
		return false;
	*(void **)&begin = dlsym(d.library, "debuginfod_begin");
	*(void **)&d.find = dlsym(d.library, "debuginfod_find_debuginfo");
	*(void **)&on_progress = dlsym(d.library, "debuginfod_set_progressfn");
	d.client = begin && d.find ? begin() : NULL;
	if (d.client && on_progress)
		on_progress(d.client, progress);
	return d.client;
}

bool debuginfod_ask(void)
{
	const char *why = NULL;

	if (debuginfod_on())
		return true;
	if (!d.urls) {
		why = VARIABLE " names no server";
	} else {
		setenv(VARIABLE, d.urls, 1);
		setenv("DEBUGINFOD_TIMEOUT", PATIENCE, 0);
		setenv("DEBUGINFOD_RETRY_LIMIT", "1", 0);
		if (!load_library())
			why = "there is no " LIBRARY;
		unsetenv(VARIABLE);
	}
	if (why)
		warn_line("--debuginfod: %s", why);
	return !why;
}

bool debuginfod_on(void)
{
	return d.client;
}

static struct asked *asked_before(uint64_t hash)
{
	uint32_t i;

	for (i = 0; i < d.n; i++)
		if (d.asked[i].hash == hash)
			return &d.asked[i];
	return NULL;
}

/* Servers that do not answer get no further requests. */
static void told_off(int err)
{
	if (err == -ENOENT || d.gone)
		return;
	d.gone = true;
	warn_line("debuginfod: %s: not asked any more", strerror(-err));
}

static char *ask(const void *id, size_t len)
{
	char *path = NULL;
	int fd;

	if (d.gone)
		return NULL;
	d.since = time(NULL);
	/* the library reads the variable in each call */
	setenv(VARIABLE, d.urls, 1);
	fd = d.find(d.client, id, (int)len, &path);
	unsetenv(VARIABLE);
	clear_line();
	if (fd < 0) {
		told_off(fd);
		return NULL;
	}
	close(fd);
	return path;
}

int debuginfod_fetch(const void *id, size_t len)
{
	uint64_t hash = hash_bytes(id, len, 0);
	struct asked *a = asked_before(hash);

	if (!a) {
		a = &APPEND(d.asked, d.n, d.cap);
		a->hash = hash;
		a->path = ask(id, len);
	}
	return a->path ? open(a->path, O_RDONLY | O_CLOEXEC) : -1;
}
