// SPDX-License-Identifier: BSD-2-Clause
/* Demangled names, within limits: any file can have any names. */
#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "analysis/demangle.h"
#include "base/say.h"

/*
 * libiberty's.  Its header is in another folder than Debian's on some distributions, and in
 * none on others, which have the library.
 */
#define DMGL_PARAMS	(1 << 0)
#define DMGL_ANSI	(1 << 1)
typedef void demangle_write(const char *s, size_t len, void *opaque);
int cplus_demangle_v3_callback(const char *name, int options, demangle_write *write, void *opaque);
int rust_demangle_callback(const char *name, int options, demangle_write *write, void *opaque);
char *dlang_demangle(const char *name, int options);

#define MANGLED_MAX	4096
#define D_MAX		512	/* of D: they take memory */
#define BACK_REFS_MAX	20	/* of D: some double all that is before them */
/* Others get this time of a CPU, in us; most take some microseconds. */
#define TIME_MAX	100000
/* So many names may take longer.  After them none is demangled. */
#define SLOW_MAX	20

enum way { WAY_FULL = 1, WAY_SLOW };

/**
 * struct demangling - where a demangler writes
 *
 * A short name can expand to gigabytes, or to years without a byte of output, and the
 * demanglers have no way to stop.  So they are left by longjmp(), which is safe as they
 * use no heap here, but for the names of takes_memory().
 */
struct demangling {
	char *buf;
	size_t n;
	bool untimed;
	jmp_buf way_out;
};

/* Of the thread that demangles: a signal may come to any. */
static _Thread_local struct demangling *volatile demangling;

static void demangled(const char *s, size_t len, void *opaque)
{
	struct demangling *d = opaque;
	size_t room = DEMANGLED_MAX - 1 - d->n;

	if (len > room)
		len = room;
	memcpy(d->buf + d->n, s, len);
	d->n += len;
	if (len == room)
		longjmp(d->way_out, WAY_FULL);
}

/* Rust's names with more than ASCII take memory, which longjmp() would leave in any state. */
static bool takes_memory(const char *name)
{
	for (; *name; name++)
		if (name[0] == 'u' && isdigit((unsigned char)name[1]))
			return true;
	return false;
}

/* May it have more than 62^2 lifetimes? */
static bool has_many_lifetimes(const char *name)
{
	const char *p = name;
	size_t n;

	while ((p = strchr(p, 'G'))) {
		for (n = 0, p++; isalnum((unsigned char)p[n]); n++)
			;
		if (n > 2 && p[n] == '_')
			return true;
	}
	return false;
}

static bool run_demangler(const char *name, struct demangling *d)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (!strncmp(name, "_R", 2))
		return rust_demangle_callback(name, options, demangled, d);
	if (strncmp(name, "_Z", 2) && strncmp(name, "__Z", 3))
		return false;
	if (rust_demangle_callback(name, options, demangled, d))
		return true;
	d->n = 0;
	return cplus_demangle_v3_callback(name, options, demangled, d);
}

static bool refers_back_often(const char *name)
{
	unsigned int n = 0;

	for (; *name; name++)
		n += *name == 'Q';
	return n > BACK_REFS_MAX;
}

static bool demangle_d(const char *name, struct demangling *d)
{
	char *s;

	if (strcmp(name, "_Dmain") &&
	    (strncmp(name, "_D", 2) || name[2] < '1' || name[2] > '9' ||
	     strlen(name) > D_MAX || refers_back_often(name)))
		return false;
	s = dlang_demangle(name, DMGL_PARAMS);
	if (!s)
		return false;
	snprintf(d->buf, DEMANGLED_MAX, "%s", s);
	free(s);
	return true;
}

/* SIGVTALRM, which is not blocked meanwhile (SA_NODEFER) */
static void out_of_time(int sig)
{
	struct demangling *d = demangling;

	(void)sig;
	if (!d)
		return;
	demangling = NULL;
	longjmp(d->way_out, WAY_SLOW);
}

/* The timer goes on: another thread may get the first signal. */
static void begin_time(struct demangling *d)
{
	static const struct itimerval limit = {
		.it_interval.tv_usec = TIME_MAX / 10,
		.it_value.tv_usec = TIME_MAX,
	};
	const struct sigaction action = {
		.sa_handler = out_of_time, .sa_flags = SA_NODEFER | SA_RESTART,
	};
	static bool installed;
	sigset_t set;

	if (!installed) {
		sigemptyset(&set);
		sigaddset(&set, SIGVTALRM);
		sigaction(SIGVTALRM, &action, NULL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		installed = true;
	}
	demangling = d;
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static void end_time(void)
{
	static const struct itimerval none;

	demangling = NULL;
	setitimer(ITIMER_VIRTUAL, &none, NULL);
}

static bool run_in_time(const char *name, struct demangling *d)
{
	static unsigned int slow;
	bool good;

	if (slow == SLOW_MAX || (d->untimed && has_many_lifetimes(name)))
		return false;
	switch (setjmp(d->way_out)) {
	case 0:
		if (!d->untimed)
			begin_time(d);
		good = run_demangler(name, d);
		break;
	case WAY_FULL:
		good = true;
		break;
	default:
		good = false;
		if (++slow == SLOW_MAX)
			warn_line("many names take too long to demangle: the others are shown as they are in the files");
		break;
	}
	end_time();
	return good;
}

const char *demangled_name(char buf[DEMANGLED_MAX], const char *name)
{
	struct demangling d = { .buf = buf };

	if (strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	if (demangle_d(name, &d))
		return buf;
	d.n = 0;
	d.untimed = !strncmp(name, "_R", 2) && takes_memory(name);
	if (!run_in_time(name, &d))
		return NULL;
	buf[d.n] = '\0';
	return buf;
}
