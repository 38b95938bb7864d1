/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes: what is asked of the kernel, with a tracefs that is made of files.
 * The programs that uprobes go into are those of the arguments: PIE, and not.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faketree.h"
#include "libpmc_probe.h"
#include "tap.h"

#define TRACE	"sys/kernel/tracing/"

static char msg[512];
static struct pmc_event_desc desc;
static unsigned long space;

static struct pmc_parse make_parse(void)
{
	return (struct pmc_parse) {
		.root = scratch, .desc = &desc, .msg = msg, .msglen = sizeof(msg),
	};
}

static int parse(struct pmc_parse *p, const char *fmt, const char *arg)
{
	char spec[600];

	*p = make_parse();
	snprintf(spec, sizeof(spec), fmt, arg);
	return pmc_parse_spec(p, spec);
}

/* Where nm and readelf say that the function is, in the file */
static unsigned long long offset_in(const char *path, const char *function)
{
	unsigned long long value = 0, at, off, size;
	char command[700], line[256], type[32];
	FILE *f;

	snprintf(command, sizeof(command), "nm %s | grep ' [Tt] %s$'", path,
		 function);
	f = popen(command, "r");
	abort_if(!f || fscanf(f, "%llx", &value) != 1);
	pclose(f);
	snprintf(command, sizeof(command), "readelf -lW %s", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %31s 0x%llx 0x%llx 0x%*x 0x%llx", type, &off,
			   &at, &size) == 4 && !strcmp(type, "LOAD") &&
		    value >= at && value - at < size)
			break;
	pclose(f);
	return value - at + off;
}

static void test_kprobe_places(void)
{
	static const struct {
		const char	*spec;
		int		ret;
		const char	*place;
		const char	*name;
	} good[] = {
		{ "kprobe:vfs_read", 0, "vfs_read", "kprobe:vfs_read" },
		{ "kprobe:vfs_read:entry", 0, "vfs_read", "kprobe:vfs_read" },
		{ "kprobe:vfs_read:return", 1, "vfs_read",
		  "kprobe:vfs_read:return" },
		{ "kprobe:vfs_read+0x10", 0, "vfs_read+0x10",
		  "kprobe:vfs_read+0x10" },
		{ "kprobe:vfs_read:k", 0, "vfs_read", "kprobe:vfs_read:k" },
		{ "kprobe:vfs_read:return:u", 1, "vfs_read",
		  "kprobe:vfs_read:return:u" },
		{ "kprobe:ext4:ext4_sync_file:return", 1,
		  "ext4:ext4_sync_file", "kprobe:ext4:ext4_sync_file:return" },
		{ "kprobe:a.constprop.0,name=c", 0, "a.constprop.0", "c" },
	};
	static const char *const bad[] = {
		"kprobe:", "kprobe:a b", "kprobe:a\np:x/y b", "kprobe:a+",
		"kprobe:a+x", "kprobe:a+4:return", "kprobe::return",
		"kprobe:a#", "kprobe:a:b:c",
	};
	struct pmc_parse p;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(!parse(&p, "%s", good[i].spec) &&
		   !strcmp(p.probe.place, good[i].place) &&
		   p.probe.ret == good[i].ret && !p.probe.uprobe &&
		   !strcmp(desc.name, good[i].name) && desc.period == 1 &&
		   desc.flags == (PMC_EVENT_PROBE | PMC_EVENT_TRACEPOINT),
		   "%s: %s, %s", good[i].spec, p.probe.place, desc.name);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(parse(&p, "%s", bad[i]) == -1 && errno == EINVAL && *msg,
		   "bad kprobe %zu", i);
}

static void test_uprobe_places(const char *path, const char *what)
{
	struct pmc_parse p;
	char want[600];

	snprintf(want, sizeof(want), "%s:%#llx", path,
		 offset_in(path, "probed"));
	ok(!parse(&p, "uprobe:%s:probed", path) && p.probe.uprobe &&
	   !p.probe.ret && !strcmp(p.probe.place, want),
	   "%s: a function is at its place in the file: %s", what, msg);
	ok(!parse(&p, "uprobe:%s:probed:return", path) && p.probe.ret &&
	   !strcmp(p.probe.place, want) &&
	   strstr(desc.name, ":probed:return"), "%s: where it returns", what);
	snprintf(want, sizeof(want), "%s:%#llx", path,
		 offset_in(path, "probed_too") + 1);
	ok(!parse(&p, "uprobe:%s:probed_too+1", path) &&
	   !strcmp(p.probe.place, want), "%s: inside of a function", what);
	snprintf(want, sizeof(want), "%s:0x123", path);
	ok(!parse(&p, "uprobe:%s:+0x123", path) &&
	   !strcmp(p.probe.place, want), "%s: a place in the file", what);
	ok(parse(&p, "uprobe:%s:probbed", path) == -1 &&
	   strstr(msg, "did you mean probed"), "%s: no such function", what);
}

static void test_bad_uprobes(const char *path)
{
	struct pmc_parse p;

	put("", "empty");
	ok(parse(&p, "uprobe:%s/empty:f", scratch) == -1 &&
	   strstr(msg, "not a program"), "an empty file");
	abort_if(!getuid() && setresuid(0, 65534, 0));
	errno = 0;
	/* another user; without privilege the file itself */
	ok((!getuid() || !chmod("empty", 0)) && parse(&p, "uprobe:%s/empty:f", scratch) == -1 &&
	   errno == EACCES, "a file that may not be read: %s", msg);
	abort_if(!getuid() && setresuid(0, 0, 0));
	ok(parse(&p, "uprobe:%s:f", "/nonesuch") == -1 &&
	   strstr(msg, "No such file"), "no file: %s", msg);
	ok(parse(&p, "uprobe:%s:f", "relative") == -1 &&
	   strstr(msg, "whole path"), "a path that is not whole");
	ok(parse(&p, "uprobe:%s:f", "/with blank") == -1 &&
	   strstr(msg, "no blanks"), "a blank in the path");
	ok(parse(&p, "uprobe:%s:f", "/with#comment") == -1 &&
	   strstr(msg, "no blanks"), "what the kernel takes for a comment");
	ok(parse(&p, "uprobe:%s", path) == -1, "no function");
	ok(parse(&p, "uprobe:%s:a b", path) == -1, "no name of a function");
	ok(parse(&p, "uprobe:%s:probed+4:return", path) == -1,
	   "no offset where a function returns");
}

/* Any byte of an ELF file may be any other. */
static void test_damaged(const char *path)
{
	static unsigned char whole[1 << 16], copy[1 << 16];
	struct pmc_parse p;
	size_t len, n;
	int i;
	FILE *f = fopen(path, "re");

	len = f ? fread(whole, 1, sizeof(whole), f) : 0;
	abort_if(len < 1000);
	fclose(f);
	srand(1);
	for (i = 0; i < 3000; i++) {
		memcpy(copy, whole, len);
		for (n = 1 + (size_t)rand() % 4; n; n--)
			copy[i & 1 ? (size_t)rand() % 64 : (size_t)rand() % len]
				= (unsigned char)rand();
		f = fopen("damaged", "we");
		abort_if(!f || !fwrite(copy, i & 2 ? len : (size_t)rand() % len + 1,
				       1, f));
		fclose(f);
		parse(&p, "uprobe:%s/damaged:probed", scratch);
	}
	ok(1, "damaged files do no harm");
}

static void id_of(unsigned int n, const char *rest, const char *id)
{
	put(id, TRACE "events/hwpmc_%lu_%d/%c%u_%s/id", space, getpid(), 'p', n,
	    rest);
}

static char *kprobe_events(void)
{
	return pmc_file_all(TRACE "kprobe_events", NULL);
}

/* A number that was a process' until a moment ago */
static int dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static off_t size_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_size;
}

static off_t before;	/* the size of what is left, as it was found */

/* While the first probe's thread removes what the dead have left */
static void *make_second(void *program)
{
	struct pmc_event_desc event;
	char why[512], spec[600];
	struct pmc_parse p = {
		.root = scratch, .desc = &event, .msg = why, .msglen = sizeof(why),
	};

	while (size_of(TRACE "kprobe_events") == before)
		poll(NULL, 0, 1);
	snprintf(spec, sizeof(spec), "uprobe:%s:probed", (char *)program);
	return pmc_probe_make_at(&p, spec);
}

/* Of a new process: only its first probe looks for what is left. */
static int two_threads(char *program)
{
	static char stale[200000];
	struct pmc_parse p = make_parse();
	struct pmc_probe *first;
	size_t n = 0;
	int i, dead = dead_pid();
	pthread_t thread;
	void *second;
	char *text;

	for (i = 0; i < 3000; i++)
		n += (size_t)snprintf(stale + n, sizeof(stale) - n,
				      "p:hwpmc_%lu_%d/p%d_a a\n", space, dead, i);
	put(stale, TRACE "kprobe_events");
	put("", TRACE "uprobe_events");
	id_of(0, "vfs_read", "4711\n");
	id_of(1, "probed", "4712\n");
	before = size_of(TRACE "kprobe_events");
	if (pthread_create(&thread, NULL, make_second, program))
		return 0;
	first = pmc_probe_make_at(&p, "kprobe:vfs_read");
	pthread_join(thread, &second);
	text = pmc_file_all(TRACE "uprobe_events", NULL);
	i = first && second && text && !strncmp(text, "p:", 2) &&
	    !strstr(text, "-:");
	free(text);
	pmc_probe_free(first);
	pmc_probe_free(second);
	return i;
}

static void test_threads(char *program)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!two_threads(program));
	ok(waitpid(pid, &status, 0) == pid && !status,
	   "a thread's first probe is not taken for one that was left");
}

static void test_make(void)
{
	char stale[512], want[512], *text;
	int dead = dead_pid(), parent = getppid();
	struct pmc_parse p = make_parse();
	struct pmc_probe *probe;

	snprintf(stale, sizeof(stale),
		 "p:hwpmc_%lu_%d/p0_a a\n"	/* died */
		 "r8:hwpmc_%lu_%d/r1_b b\n"	/* died, too */
		 "p:hwpmc_%lu_%d/p0_c c\n"	/* lives */
		 "p:hwpmc_%lu_%d/p0_d d\n"	/* of another namespace */
		 "p:kprobes/mine e\n"		/* not ours */
		 "p:hwpmc_%lu_%d/p0_f f\n",	/* who was us before */
		 space, dead, space, dead, space, parent, space + 1, dead,
		 space, getpid());
	put(stale, TRACE "kprobe_events");
	id_of(0, "vfs_read", "4711\n");
	probe = pmc_probe_make_at(&p, "kprobe:vfs_read");
	ok(probe && desc.config == 4711 && desc.type == 2,
	   "a probe is made and its event found: %s", msg);
	text = kprobe_events();
	snprintf(want, sizeof(want), "-:hwpmc_%lu_%d/p0_a\n"
		 "-:hwpmc_%lu_%d/r1_b\n-:hwpmc_%lu_%d/p0_f\n"
		 "p:hwpmc_%lu_%d/p0_vfs_read vfs_read\n",
		 space, dead, space, dead, space, getpid(), space, getpid());
	ok(text && !strcmp(text + strlen(stale), want),
	   "what the dead have left is removed first, and nothing else");
	if (text)
		printf("# %s", text + strlen(stale));
	free(text);
	if (!probe)
		return;
	put("", TRACE "kprobe_events");
	ok(!pmc_probe_remove(probe), "the probe is removed");
	text = kprobe_events();
	snprintf(want, sizeof(want), "-:hwpmc_%lu_%d/p0_vfs_read\n", space,
		 getpid());
	ok(text && !strcmp(text, want), "by its name");
	free(text);
	pmc_probe_free(probe);
}

static void test_refused(void)
{
	struct pmc_parse p = make_parse();
	char path[256], *text;

	/* without an event it has not come to be */
	put("", TRACE "kprobe_events");
	put("vfs_read\nvfs_write\nmodfunc [mod]\n",
	    TRACE "available_filter_functions");
	snprintf(path, sizeof(path), "[    1.2] trace_kprobe: error: older\n"
		 "  Command: p:hwpmc_%lu_%d/p1_vfs_red vfs_red\n"
		 "[    1.3] trace_kprobe: error: Invalid probed address\n"
		 "  Command: p:hwpmc_%lu_%d/p1_vfs_red vfs_red\n   ^\n"
		 "[    1.4] trace_kprobe: error: not ours\n"
		 "  Command: p:other/p1 x\n", space, getpid(), space, getpid());
	put(path, TRACE "error_log");
	ok(!pmc_probe_make_at(&p, "kprobe:vfs_red") &&
	   strstr(msg, "(Invalid probed address)") &&
	   strstr(msg, "did you mean vfs_read") && !strchr(msg, '\n'),
	   "what the kernel says, and near names: %s", msg);
	text = kprobe_events();
	ok(text && strstr(text, "\n-:hwpmc_"), "nothing is left of it");
	free(text);
	p = make_parse();
	ok(!pmc_probe_make_at(&p, "cycles") && strstr(msg, "is no probe"),
	   "only probes are made");
	unlink(TRACE "kprobe_events");
	p = make_parse();
	ok(!pmc_probe_make_at(&p, "kprobe:vfs_read") && *msg,
	   "a kernel without kprobes: %s", msg);
}

int main(int argc, char **argv)
{
	struct stat st;

	if (argc != 3 || stat("/proc/self/ns/pid", &st))
		return 2;
	space = (unsigned long)st.st_ino;
	scratch_begin();
	put("1\n", TRACE "events/x/y/id");
	test_kprobe_places();
	test_uprobe_places(argv[1], "a PIE");
	test_uprobe_places(argv[2], "no PIE");
	test_bad_uprobes(argv[1]);
	test_damaged(argv[1]);
	test_threads(argv[1]);
	test_make();
	test_refused();
	scratch_end();
	return done();
}
