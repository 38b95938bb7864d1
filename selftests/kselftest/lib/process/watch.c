// SPDX-License-Identifier: GPL-2.0-only
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "watch.h"

#define WAKE_AFTER	50	/* ticks in a call before the first signal */
#define WAKE_EVERY	10	/* it may have come just before the wait */
#define HANGS_AFTER	5	/* limits: what only is late has ended by then */

void watch_begin(struct watch *w, unsigned int slot, const char *call,
		 enum patience patience)
{
	struct watch_slot *s = &w->slot[slot];

	s->pid = getpid();
	s->tid = syscall(SYS_gettid);
	s->patience = patience;
	s->since = w->now;
	s->killed = false;
	s->call = call;
}

void watch_end(struct watch *w, unsigned int slot)
{
	w->slot[slot].call = NULL;
}

void watch_forget(struct watch *w, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < WATCH_NSLOT; i++)
		if (w->slot[i].pid == pid)
			w->slot[i].call = NULL;
}

/* True: it does not end, whatever one does. */
static bool look_after(struct watch *w, struct watch_slot *s)
{
	uint64_t age = w->now - s->since;

	if (!s->call || s->killed)	/* its death has a limit of its own */
		return false;
	if (s->patience == WAITS_NOT)
		return age > HANGS_AFTER * w->limit;
	if (age >= WAKE_AFTER && age % WAKE_EVERY == 0) {
		syscall(SYS_tgkill, s->pid, s->tid, WATCH_SIGNAL);
		w->signals++;
	}
	if (age <= WAKE_AFTER + w->limit)
		return false;
	if (s->patience == WAITS_SIGNAL)
		return age > HANGS_AFTER * w->limit;
	w->kills++;
	s->killed = true;
	kill(s->pid, SIGKILL);
	return false;
}

const struct watch_slot *watch_tick(struct watch *w)
{
	unsigned int i;

	if (w->paused)
		return NULL;
	w->now++;
	for (i = 0; i < WATCH_NSLOT; i++)
		if (look_after(w, &w->slot[i]))
			return &w->slot[i];
	return NULL;
}

static void print_file(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		printf("#   %s", line);
	if (f)
		fclose(f);
}

void watch_dump(void)
{
	char path[300], comm[64];
	glob_t tasks = {};
	size_t i;

	glob("/proc/[0-9]*/task/*", 0, NULL, &tasks);
	for (i = 0; i < tasks.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%s/comm", tasks.gl_pathv[i]);
		if (!read_line(path, comm, sizeof(comm)))
			continue;
		printf("# %s %s\n", tasks.gl_pathv[i], comm);
		snprintf(path, sizeof(path), "%s/stack", tasks.gl_pathv[i]);
		print_file(path);
	}
	globfree(&tasks);
	fflush(stdout);
	write_text("/proc/sysrq-trigger", "w");
}
