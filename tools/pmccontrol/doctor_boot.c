/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the kernel take the module?  What does it refuse, being locked down? */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

#define EFI		"/sys/firmware/efi"
#define GLOBAL		"8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SHIM		"605dab50-e046-4300-abb6-3dd810dd8b23"
#define SIGNED		"~Module signature appended~\n"
#define DKMS_KEY	"/var/lib/dkms/mok.pub"
#define UBUNTU_KEY	"/var/lib/shim-signed/mok/MOK.der"
#define OWN_KEY		"/root/hwpmc-key"
#define KEY_MAX		8192
#define KEYS_MAX	(1U << 20)

enum lockdown {
	LOCKDOWN_UNSEEN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY
};

enum secure_boot { BOOT_NO_EFI, BOOT_UNSEEN, BOOT_OFF, BOOT_ON };

/* "none [integrity] confidentiality" */
static enum lockdown lockdown(const struct doctor *d)
{
	char line[128];

	if (file_line(d, line, sizeof(line), "/sys/kernel/security/lockdown"))
		return LOCKDOWN_UNSEEN;
	if (strstr(line, "[none]"))
		return LOCKDOWN_NONE;
	if (strstr(line, "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	if (strstr(line, "[confidentiality]"))
		return LOCKDOWN_CONFIDENTIALITY;
	return LOCKDOWN_UNSEEN;
}

void look_at_lockdown(struct doctor *d)
{
	switch (lockdown(d)) {
	case LOCKDOWN_CONFIDENTIALITY:
		answer(d, MARK_NOTE, "the kernel is locked down for "
		       "confidentiality: only user mode can be recorded, by "
		       "events such as cpu-clock:u, also by root");
		break;
	case LOCKDOWN_INTEGRITY:
		answer(d, MARK_OK, "the kernel is locked down for integrity; "
		       "that does not hinder a recording");
		break;
	case LOCKDOWN_NONE:
		answer(d, MARK_OK, "the kernel is not locked down");
		break;
	default:
		answer(d, MARK_OK, "there is none, or securityfs is not "
		       "mounted");
	}
}

/* ------------------------------------------------------------------------
 * Keys
 */
/* Four bytes of attributes come before the value. */
static enum secure_boot secure_boot(const struct doctor *d)
{
	unsigned char var[16];
	ssize_t n;

	if (!file_there(d, EFI))
		return BOOT_NO_EFI;
	n = file_read(d, var, sizeof(var), EFI "/efivars/SecureBoot-" GLOBAL);
	if (n != 5)
		return BOOT_UNSEEN;
	return var[4] == 1 ? BOOT_ON : BOOT_OFF;
}

static const char *boot_text(enum secure_boot boot)
{
	switch (boot) {
	case BOOT_ON:
		return "Secure Boot is on";
	case BOOT_OFF:
		return "Secure Boot is off";
	case BOOT_NO_EFI:
		return "this machine has no Secure Boot";
	default:
		return "Secure Boot cannot be seen";
	}
}

/* Does the kernel refuse modules without a good signature? */
static bool is_enforced(const struct doctor *d, enum secure_boot boot)
{
	enum lockdown l = lockdown(d);
	char enforce[8];

	if (!file_line(d, enforce, sizeof(enforce),
		       "/sys/module/module/parameters/sig_enforce") &&
	    !strcmp(enforce, "Y"))
		return true;
	/* without securityfs: as the kernels of most distributions do */
	return l > LOCKDOWN_NONE || (l == LOCKDOWN_UNSEEN && boot == BOOT_ON);
}

/* 1, 0, or -1: a compressed file, or one that cannot be read */
static int is_signed(const struct doctor *d)
{
	const size_t len = sizeof(SIGNED) - 1;
	const char *dot = strrchr(d->module, '.');
	char end[sizeof(SIGNED)];
	int fd, yes = -1;
	struct stat st;

	if (!dot || strcmp(dot, ".ko"))
		return -1;
	fd = file_open(d, "%s", d->module);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_size < (off_t)len)
		yes = 0;
	else if (pread(fd, end, len, st.st_size - (off_t)len) == (ssize_t)len)
		yes = !memcmp(end, SIGNED, len);
	close(fd);
	return yes;
}

/* mok_certificate=PATH, of which the last one counts; the path becomes part of commands. */
static int read_dkms_line(void *arg, char *line)
{
	char *key = arg, *value, end[] = " #";

	line += strspn(line, " ");
	if (strncmp(line, "mok_certificate=", 16))
		return 0;
	value = line + 16;
	if (*value == '"' || *value == '\'') {
		end[0] = end[1] = *value;
		value++;
	}
	value[strcspn(value, end)] = '\0';
	if (*value == '/' && strlen(value) < PATH_ROOM && is_word_of(value, "/"))
		strcpy(key, value);
	return 0;
}

/* The certificate of the key that dkms signs with: what is set, Ubuntu's, or its own */
static bool key_of_dkms(const struct doctor *d, char key[PATH_ROOM])
{
	struct dirent **names = NULL;
	char path[PATH_ROOM];
	int n = -1, i;

	strcpy(key, is_ubuntu(d) ? UBUNTU_KEY : DKMS_KEY);
	file_lines(d, "/etc/dkms/framework.conf", read_dkms_line, key);
	if (snprintf(path, sizeof(path), "%s/etc/dkms/framework.conf.d", d->root) < PATH_ROOM)
		n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/etc/dkms/framework.conf.d/%s", names[i]->d_name);
		if (fnmatch("*.conf", names[i]->d_name, 0) == 0)
			file_lines(d, path, read_dkms_line, key);
		free(names[i]);
	}
	free(names);
	return file_there(d, "%s", key);
}

/* Lists of keys hold certificates as they are. */
static bool holds(const struct doctor *d, const char *list, const void *key,
		  size_t len)
{
	char *keys = malloc(KEYS_MAX);
	bool yes = false;
	ssize_t n;

	if (!keys)
		return false;
	n = file_read(d, keys, KEYS_MAX, "%s", list);
	if (n > 0)
		yes = memmem(keys, (size_t)n, key, len);
	free(keys);
	return yes;
}

enum enrolled { KEY_UNSEEN, KEY_MISSING, KEY_WAITS, KEY_ENROLLED };

static enum enrolled is_enrolled(const struct doctor *d, const char *path)
{
	char key[KEY_MAX];
	ssize_t n = file_read(d, key, sizeof(key), "%s", path);

	/* shorter than any certificate */
	if (n < 64)
		return KEY_UNSEEN;
	if (holds(d, EFI "/efivars/MokListRT-" SHIM, key, (size_t)n) ||
	    holds(d, EFI "/mok-variables/MokListRT", key, (size_t)n))
		return KEY_ENROLLED;
	if (holds(d, EFI "/efivars/MokNew-" SHIM, key, (size_t)n))
		return KEY_WAITS;
	return file_there(d, EFI "/efivars/SecureBoot-" GLOBAL) ?
	       KEY_MISSING : KEY_UNSEEN;
}

/* Without dkms: by its key all the same, or by one that is made and enrolled. */
static void tell_to_sign(struct doctor *d, const char *certificate)
{
	bool is_dkms = !strcmp(certificate, DKMS_KEY) && file_there(d, DKMS_KEY);

	if (!is_dkms)
		mend("openssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 "
		     "-subj /CN=hwpmc/ -outform DER -keyout " OWN_KEY ".key "
		     "-out " OWN_KEY ".der");
	mend("/lib/modules/%s/build/scripts/sign-file sha256 %s %s %s", d->release,
	     is_dkms ? "/var/lib/dkms/mok.key" : OWN_KEY ".key",
	     is_dkms ? DKMS_KEY : OWN_KEY ".der", d->module);
	if (!is_dkms)
		mend("mokutil --import " OWN_KEY ".der && reboot");
}

static void tell_unsigned(struct doctor *d)
{
	char version[64], key[PATH_ROOM];
	/* dkms builds without a key, too, and does not sign then. */
	bool no_key = !key_of_dkms(d, key) && !file_there(d, "/usr/bin/openssl");

	dkms_version(d, version, sizeof(version));
	answer(d, MARK_PROBLEM, "the kernel takes only signed modules, and %s "
	       "is not signed%s", d->module, !no_key ? "" :
	       *version ? ": dkms makes its key by openssl, which is missing" :
	       ": a key is made by openssl, which is missing");
	if (no_key)
		tell_package(d, "openssl");
	if (*version)
		mend("dkms build --force hwpmc/%s -k %s && "
		     "dkms install --force hwpmc/%s -k %s", version,
		     d->release, version, d->release);
	else
		tell_to_sign(d, key);
}

static void tell_key(struct doctor *d, const char *key)
{
	switch (is_enrolled(d, key)) {
	case KEY_ENROLLED:
		answer(d, MARK_OK, "the kernel takes only signed modules, and "
		       "%s is enrolled", key);
		break;
	case KEY_WAITS:
		answer(d, MARK_PROBLEM, "the firmware has not enrolled %s yet: "
		       "choose \"Enroll MOK\" when the machine starts", key);
		mend("reboot");
		break;
	case KEY_MISSING:
		answer(d, MARK_PROBLEM, "the kernel takes only signed modules, "
		       "and %s is not enrolled; restart after this, and choose "
		       "\"Enroll MOK\":", key);
		mend("mokutil --import %s", key);
		break;
	default:
		answer(d, MARK_NOTE, "the kernel takes only signed modules; "
		       "whether %s is enrolled cannot be seen", key);
	}
}

void look_at_signature(struct doctor *d)
{
	enum secure_boot boot = secure_boot(d);
	char key[PATH_ROOM];
	bool has_key = key_of_dkms(d, key);
	int is = is_signed(d);

	if (d->loaded)
		answer(d, MARK_OK, "the kernel has taken the module; %s",
		       boot_text(boot));
	else if (!is_enforced(d, boot))
		answer(d, MARK_OK, "the kernel needs none; %s",
		       boot_text(boot));
	else if (!d->module[0])
		answer(d, MARK_NOTE, "the kernel takes only signed modules; "
		       "%s", boot_text(boot));
	else if (!is)
		tell_unsigned(d);
	else if (has_key)
		tell_key(d, key);
	else
		answer(d, MARK_NOTE, "the kernel takes only signed modules; "
		       "whether it knows the key of %s cannot be seen",
		       d->module);
}
