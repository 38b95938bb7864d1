/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the module built for this kernel, and loaded? */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define DKMS	"/var/lib/dkms/hwpmc"

/* ------------------------------------------------------------------------
 * The module's file
 */
static const char *const suffixes[] = { "", ".gz", ".xz", ".zst", NULL };

/* A path that can be part of a command, and ends in the module's name */
static bool is_module(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t i;

	if (strncmp(name, "hwpmc.ko", 8) || strpbrk(path, " '\"$&();<>?\\`|"))
		return false;
	for (i = 0; suffixes[i]; i++)
		if (!strcmp(name + 8, suffixes[i]))
			return true;
	return false;
}

/* A line of modules.dep: the file of a module, and what it needs */
static int find_in_line(void *arg, char *line)
{
	struct doctor *d = arg;
	char *colon = strchr(line, ':');
	int n;

	if (!colon)
		return 0;
	*colon = '\0';
	if (!is_module(line))
		return 0;
	if (*line == '/')
		n = snprintf(d->module, PATH_ROOM, "%s", line);
	else
		n = snprintf(d->module, PATH_ROOM, "/lib/modules/%s/%s",
			     d->release, line);
	if (n > 0 && n < PATH_ROOM && file_there(d, "%s", d->module))
		return 1;
	d->module[0] = '\0';
	return 0;
}

/* Where dkms, "make modules_install" and packages put modules */
static void find_in_folders(struct doctor *d)
{
	static const char *const folders[] = {
		"updates/dkms", "updates", "extra", "weak-updates", NULL
	};
	size_t i, k;

	for (i = 0; folders[i]; i++)
		for (k = 0; suffixes[k]; k++) {
			snprintf(d->module, PATH_ROOM,
				 "/lib/modules/%s/%s/hwpmc.ko%s", d->release,
				 folders[i], suffixes[k]);
			if (file_there(d, "%s", d->module))
				return;
		}
	d->module[0] = '\0';
}

void find_module(struct doctor *d)
{
	char index[PATH_ROOM];

	d->loaded = file_there(d, "/sys/module/hwpmc");
	snprintf(index, sizeof(index), "/lib/modules/%s/modules.dep",
		 d->release);
	if (file_lines(d, index, find_in_line, d) > 0)
		return;
	find_in_folders(d);
	d->unindexed = d->module[0];
}

/* ------------------------------------------------------------------------
 * Headers
 */
/**
 * struct os - what /etc/os-release says
 * @ids: the distribution, and those that it is like: " ubuntu debian "
 */
struct os {
	char	ids[2 * LINE_ROOM];
};

static int read_os_line(void *arg, char *line)
{
	struct os *os = arg;
	char *value = strchr(line, '='), *c;
	size_t n = strlen(os->ids);

	if (strncmp(line, "ID=", 3) && strncmp(line, "ID_LIKE=", 8))
		return 0;
	for (c = ++value; *c; c++)
		if (*c == '"' || *c == '\'')
			*c = ' ';
	snprintf(os->ids + n, sizeof(os->ids) - n, " %s ", value);
	return 0;
}

static const struct way {
	const char *id;
	const char *install;
	const char *headers;
	int with_release;
} ways[] = {
	{ " debian ", "apt install", "linux-headers-", 1 },
	{ " ubuntu ", "apt install", "linux-headers-", 1 },
	{ " fedora ", "dnf install", "kernel-devel-", 1 },
	{ " rhel ", "dnf install", "kernel-devel-", 1 },
	{ " suse ", "zypper install", "kernel-default-devel", 0 },
	{ " arch ", "pacman -S", "linux-headers", 0 },
};

/* How packages are installed here; NULL: not known */
static const struct way *way_to_install(const struct doctor *d)
{
	struct os os = { "" };
	size_t i;

	if (file_lines(d, "/etc/os-release", read_os_line, &os))
		return NULL;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strstr(os.ids, ways[i].id))
			return &ways[i];
	return NULL;
}

/* @arg: true after ID=ubuntu, or a list that begins with it */
static int find_ubuntu(void *arg, char *line)
{
	bool *is = arg, id = !strncmp(line, "ID=", 3);

	if (!id && strncmp(line, "ID_LIKE=", 8))
		return 0;
	line = strchr(line, '=') + 1;
	line += strspn(line, "\"'");
	line[strcspn(line, id ? "\"'" : "\"' ")] = '\0';
	*is |= !strcmp(line, "ubuntu");
	return 0;
}

/* As dkms knows it, for which Linux Mint is one, too */
bool is_ubuntu(const struct doctor *d)
{
	bool is = false;

	file_lines(d, "/etc/os-release", find_ubuntu, &is);
	return is;
}

static void tell_headers(const struct doctor *d)
{
	const struct way *way = way_to_install(d);

	if (way)
		mend("%s %s%s", way->install, way->headers,
		     way->with_release ? d->release : "");
}

void tell_package(const struct doctor *d, const char *package)
{
	const struct way *way = way_to_install(d);

	if (way)
		mend("%s %s", way->install, package);
}

void look_at_headers(struct doctor *d)
{
	if (file_there(d, "/lib/modules/%s/build/Makefile", d->release)) {
		answer(d, MARK_OK, "those of %s are installed", d->release);
		return;
	}
	if (d->module[0] || d->loaded)
		answer(d, MARK_NOTE, "those of %s are missing; that matters "
		       "when the module is built again", d->release);
	else
		answer(d, MARK_PROBLEM, "those of %s are missing: the module "
		       "cannot be built", d->release);
	tell_headers(d);
}

/* ------------------------------------------------------------------------
 * DKMS
 */
void dkms_version(const struct doctor *d, char *version, size_t size)
{
	char path[PATH_ROOM];
	struct dirent *e;
	DIR *dir = NULL;

	*version = '\0';
	if (snprintf(path, sizeof(path), "%s" DKMS, d->root) < PATH_ROOM)
		dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (!is_word(e->d_name) || strlen(e->d_name) >= size ||
		    !file_there(d, DKMS "/%s/source", e->d_name))
			continue;
		if (strverscmp(version, e->d_name) < 0)
			strcpy(version, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (!*version &&
	    file_there(d, "/usr/src/hwpmc-" TOOLS_VERSION "/dkms.conf"))
		snprintf(version, size, "%s", TOOLS_VERSION);
}

/**
 * struct make_log - of a build that failed
 * @release: the kernel of this machine
 * @ours:    the build was for it
 * @error:   the first line that looks like the reason, or empty
 */
struct make_log {
	const char	*release;
	bool		ours;
	char		error[LINE_ROOM];
};

static int read_log_line(void *arg, char *line)
{
	static const char begin[] = "for kernel ";
	struct make_log *l = arg;
	const char *kernel = strstr(line, begin);
	size_t len = strlen(l->release);

	if (!l->ours) {
		if (!kernel)
			return 0;
		kernel += strlen(begin);
		l->ours = !strncmp(kernel, l->release, len) &&
			  (!kernel[len] || kernel[len] == ' ');
		return !l->ours;
	}
	if (!strcasestr(line, "error") && !strstr(line, "cannot be built"))
		return 0;
	snprintf(l->error, sizeof(l->error), "%s", line);
	return 1;
}

#define FAULTS	"perf of 6.16 and 6.17 has faults that a recording meets: use 6.12 or 6.18"

/* Documentation/design/kernels.rst; dkms.conf excludes the same kernels */
static bool perf_has_faults(const struct doctor *d)
{
	return (!strncmp(d->release, "6.16", 4) ||
		!strncmp(d->release, "6.17", 4)) &&
	       !isdigit((unsigned char)d->release[4]);
}

/* dkms has sources; what became of them? */
static void tell_dkms(struct doctor *d, const char *version)
{
	struct make_log l = { .release = d->release };
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), DKMS "/%s/build/make.log", version);
	file_lines(d, path, read_log_line, &l);
	if (file_there(d, DKMS "/%s/%s", version, d->release))
		answer(d, MARK_PROBLEM, "dkms has built hwpmc/%s for %s, but "
		       "it is not installed", version, d->release);
	else if (l.ours)
		answer(d, MARK_PROBLEM, "dkms failed to build hwpmc/%s for "
		       "%s; %s says: %s", version, d->release, path,
		       l.error[0] ? l.error : "nothing of an error");
	else if (perf_has_faults(d))
		answer(d, MARK_PROBLEM, "dkms has hwpmc/%s, but does not build "
		       "it for %s unasked: " FAULTS, version, d->release);
	else
		answer(d, MARK_PROBLEM, "dkms has hwpmc/%s, but it is not "
		       "built for %s", version, d->release);
	mend("dkms install hwpmc/%s -k %s", version, d->release);
}

/* The tools came by a package if this is there; the module's was built with it */
static const struct {
	const char *path;
	const char *install;
} packages[] = {
	{ "/usr/share/doc/hwpmc-tools/copyright",
	  "apt install ./hwpmc-dkms_" TOOLS_VERSION "_all.deb" },
	{ "/usr/share/licenses/hwpmc-libs",
	  "dnf install ./hwpmc-dkms-" TOOLS_VERSION "-*.noarch.rpm" },
};

static void tell_sources(struct doctor *d)
{
	size_t i;

	for (i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		if (!file_there(d, "%s", packages[i].path))
			continue;
		answer(d, MARK_PROBLEM, "there is no hwpmc below /lib/modules/%s; "
		       "the package of the module was built with that of these "
		       "tools:", d->release);
		mend("%s", packages[i].install);
		return;
	}
	answer(d, MARK_PROBLEM, "there is no hwpmc below /lib/modules/%s, and "
	       "dkms does not know it; in the folder of its sources:",
	       d->release);
	if (file_there(d, "/usr/sbin/dkms"))
		mend("make clean && mkdir -p /usr/src/hwpmc-" TOOLS_VERSION " && cp -r Kbuild "
		     "Makefile dkms.conf src include /usr/src/hwpmc-" TOOLS_VERSION " && "
		     "dkms add hwpmc/" TOOLS_VERSION " && "
		     "dkms install hwpmc/" TOOLS_VERSION " -k %s", d->release);
	else
		mend("make module && make install");
}

void look_at_module(struct doctor *d)
{
	char version[64];

	if (d->module[0] && d->unindexed) {
		answer(d, d->loaded ? MARK_NOTE : MARK_PROBLEM,
		       "%s is there, but modprobe does not know it", d->module);
		mend("depmod -a");
		return;
	}
	if (d->module[0] && perf_has_faults(d)) {
		answer(d, MARK_NOTE, "built for %s: %s; " FAULTS, d->release,
		       d->module);
		return;
	}
	if (d->module[0]) {
		answer(d, MARK_OK, "built for %s: %s", d->release, d->module);
		return;
	}
	if (d->loaded) {
		answer(d, MARK_NOTE, "there is none below /lib/modules/%s: "
		       "what is loaded now will not be after a restart",
		       d->release);
		return;
	}
	dkms_version(d, version, sizeof(version));
	if (*version)
		tell_dkms(d, version);
	else
		tell_sources(d);
}

/* ------------------------------------------------------------------------
 * Loaded
 */
void look_at_loaded(struct doctor *d)
{
	char state[32], disabled[32];

	if (!d->loaded) {
		if (!file_line(d, disabled, sizeof(disabled),
			       "/proc/sys/kernel/modules_disabled") &&
		    !strcmp(disabled, "1")) {
			answer(d, MARK_PROBLEM, "the module is not, and the "
			       "kernel takes no more modules until it is "
			       "restarted (kernel.modules_disabled)");
			mend("reboot");
			return;
		}
		answer(d, MARK_PROBLEM, "the module is not in the kernel");
		mend("modprobe hwpmc");
		return;
	}
	if (file_line(d, state, sizeof(state), "/sys/module/hwpmc/initstate") ||
	    !strcmp(state, "live"))
		answer(d, MARK_OK, "the module is in the kernel");
	else
		answer(d, MARK_NOTE, "the module is on its way: %s", state);
}
