/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the device there, may the caller open it, is it of this version? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "doctor.h"
#include "pmccontrol.h"

#define RULES	"60-hwpmc.rules"
#define TRIGGER	"udevadm control --reload && " \
		"udevadm trigger /sys/class/misc/hwpmc"

/* ------------------------------------------------------------------------
 * Users and groups, as far as /etc has them
 */
/**
 * struct entry - a line of /etc/passwd or /etc/group that is looked for
 * @id:     its number
 * @name:   empty: not found
 * @member: this user is among the members of the group
 * @has_member: it is
 */
struct entry {
	unsigned long	id;
	char		name[64];
	const char	*member;
	bool		has_member;
};

static int find_entry(void *arg, char *line)
{
	struct entry *e = arg;
	char *field[4] = { NULL }, *name, *end;
	size_t i;

	for (i = 0; i < 4; i++)
		field[i] = strsep(&line, ":");
	if (!field[3] || !is_word(field[0]) ||
	    strlen(field[0]) >= sizeof(e->name))
		return 0;
	if (strtoul(field[2], &end, 10) != e->id || end == field[2] || *end)
		return 0;
	strcpy(e->name, field[0]);
	while (e->member && (name = strsep(&field[3], ",")))
		e->has_member |= !strcmp(name, e->member);
	return 1;
}

static bool has_group(const struct doctor *d, gid_t gid)
{
	size_t i;

	for (i = 0; i < d->ngroups; i++)
		if (d->groups[i] == gid)
			return true;
	return false;
}

/* The device is for members of a group, and the caller is none. */
static void tell_group(struct doctor *d, gid_t gid)
{
	struct entry user = { .id = d->uid };
	struct entry group = { .id = gid };

	file_lines(d, "/etc/passwd", find_entry, &user);
	if (user.name[0])
		group.member = user.name;
	else
		snprintf(user.name, sizeof(user.name), "USER");
	file_lines(d, "/etc/group", find_entry, &group);
	if (!group.name[0])
		snprintf(group.name, sizeof(group.name), "%u", gid);
	if (group.has_member) {
		answer(d, MARK_PROBLEM, "%s is a member of the group %s, which "
		       "may open /dev/hwpmc, but was not when this session "
		       "began: log in again, or", user.name, group.name);
		mend("newgrp %s", group.name);
		return;
	}
	answer(d, MARK_PROBLEM, "only members of the group %s may open "
	       "/dev/hwpmc; log in again after this:", group.name);
	mend("usermod -aG %s %s", group.name, user.name);
}

static bool has_rule(const struct doctor *d)
{
	return file_there(d, "/etc/udev/rules.d/" RULES) ||
	       file_there(d, "/usr/lib/udev/rules.d/" RULES) ||
	       file_there(d, "/lib/udev/rules.d/" RULES);
}

static int find_hwpmc(void *arg, char *line)
{
	(void)arg;
	return !strncmp(line, "hwpmc:", 6);
}

/* The device is root's. */
static void tell_rule(struct doctor *d)
{
	const char *add = file_lines(d, "/etc/group", find_hwpmc, NULL) > 0 ?
			  "" : "groupadd --system hwpmc && ";
	const char *doc = "/usr/local/share/doc/hwpmc/" RULES;
	const char *rule = "SUBSYSTEM==\"misc\", KERNEL==\"hwpmc\", GROUP=\"hwpmc\", MODE=\"0660\"";

	if (has_rule(d)) {
		answer(d, MARK_PROBLEM, "/dev/hwpmc is root's, although there "
		       "is a udev rule for it");
		mend("%s" TRIGGER, add);
		return;
	}
	if (file_there(d, "/usr/share/doc/hwpmc/" RULES))
		doc = "/usr/share/doc/hwpmc/" RULES;
	answer(d, MARK_PROBLEM, "/dev/hwpmc is root's: run this as root, or "
	       "lend the device to a group:");
	if (file_there(d, "%s", doc))
		mend("%scp %s /etc/udev/rules.d/ && " TRIGGER, add, doc);
	else
		mend("%secho '%s' >/etc/udev/rules.d/" RULES " && " TRIGGER, add, rule);
}

static void tell_access(struct doctor *d, const struct stat *st)
{
	if ((st->st_mode & 0006) == 0006 ||
	    ((st->st_mode & 0060) == 0060 && has_group(d, st->st_gid)) ||
	    (st->st_uid == d->uid && (st->st_mode & 0600) == 0600))
		answer(d, MARK_PROBLEM, "the mode of /dev/hwpmc admits this "
		       "user, but it cannot be opened: %s; a security module "
		       "refuses it, or its file system is mounted with nodev",
		       strerror(d->error));
	else if ((st->st_mode & 0060) == 0060 && st->st_gid)
		tell_group(d, st->st_gid);
	else
		tell_rule(d);
}

/* ------------------------------------------------------------------------
 * The device
 */
/* The number that the module has got for it */
static bool device_number(const struct doctor *d, unsigned int *major_no,
			  unsigned int *minor_no)
{
	char line[32], end;

	return !file_line(d, line, sizeof(line), "/sys/class/misc/hwpmc/dev") &&
	       sscanf(line, "%9u:%9u%c", major_no, minor_no, &end) == 2;
}

static void tell_node(struct doctor *d, const char *what, const char *remove)
{
	unsigned int major_no, minor_no;

	answer(d, MARK_PROBLEM, "%s; /dev is not the kernel's own, as in a "
	       "container", what);
	if (device_number(d, &major_no, &minor_no))
		mend("%smknod -m 600 /dev/hwpmc c %u %u", remove, major_no,
		     minor_no);
}

static bool is_the_device(const struct doctor *d, const struct stat *st)
{
	unsigned int major_no, minor_no;

	return S_ISCHR(st->st_mode) &&
	       (!device_number(d, &major_no, &minor_no) ||
		st->st_rdev == makedev(major_no, minor_no));
}

static void open_device(struct doctor *d, const struct stat *st)
{
	d->owner = pmc_owner_open(0);
	d->error = d->owner ? 0 : errno;
	switch (d->error) {
	case 0: case EPROTONOSUPPORT:
		answer(d, MARK_OK, "this user may open /dev/hwpmc: "
		       "pmcstat records by the module");
		break;
	case EACCES: case EPERM:
		tell_access(d, st);
		break;
	case EMFILE:
		answer(d, MARK_PROBLEM, "this user has as many devices open as "
		       "the module's parameter max_owners allows");
		mend("echo 1024 >/sys/module/hwpmc/parameters/max_owners");
		break;
	default:
		answer(d, MARK_PROBLEM, "/dev/hwpmc cannot be opened: %s",
		       strerror(d->error));
	}
}

void look_at_device(struct doctor *d)
{
	char path[PATH_ROOM];
	struct stat st;

	if (!d->loaded) {
		answer(d, MARK_NOTE, "the module makes it when it is loaded; "
		       "until then pmcstat %s",
		       file_there(d, "/sys/kernel/btf/vmlinux") ?
		       "records by BPF, with CAP_BPF and CAP_PERFMON" :
		       "cannot record: the kernel has no BTF for --bpf");
		return;
	}
	snprintf(path, sizeof(path), "%s/dev/hwpmc", d->root);
	if (stat(path, &st))
		tell_node(d, "there is no /dev/hwpmc", "");
	else if (!is_the_device(d, &st))
		tell_node(d, "/dev/hwpmc is not the module's device",
			  "rm /dev/hwpmc && ");
	else
		open_device(d, &st);
}

/* ------------------------------------------------------------------------
 * Its version
 */
#define TEXT(v)		(v) >> 24, (v) >> 16 & 0xFF, (v) & 0xFFFF

void look_at_version(struct doctor *d)
{
	struct hwpmc_moduleversion v = { .version = 0 };
	const unsigned int ours = HWPMC_ABI_VERSION;

	if (d->error == EPROTONOSUPPORT) {
		answer(d, MARK_PROBLEM, "the module in the kernel is older "
		       "than these tools, whose interface is %u.%u.%u",
		       TEXT(ours));
		mend("modprobe -r hwpmc && modprobe hwpmc");
	} else if (!d->owner) {
		answer(d, MARK_NOTE, "not known before the device can be "
		       "opened");
	} else if (ioctl(pmc_owner_fd(d->owner), HWPMC_IOC_GETMODULEVERSION,
			 &v)) {
		answer(d, MARK_PROBLEM, "the module does not say its version: "
		       "%s", strerror(errno));
	} else if (v.version == ours) {
		answer(d, MARK_OK, "the module's interface is that of the "
		       "tools, %u.%u.%u", TEXT(ours));
	} else {
		answer(d, MARK_NOTE, "the module's interface is %u.%u.%u, that "
		       "of the tools %u.%u.%u: use tools of the module's "
		       "version", TEXT(v.version), TEXT(ours));
	}
}
