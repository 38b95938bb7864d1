/* SPDX-License-Identifier: BSD-2-Clause */
/* pmccontrol doctor: what a check is told, and how it answers. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PATH_ROOM	512
#define LINE_ROOM	1024

/* Does recording work?  It does with notes; it does not with a problem. */
enum mark { MARK_OK, MARK_NOTE, MARK_PROBLEM };

/* What the caller can record */
enum reach {
	REACH_UNKNOWN,	/* the device could not be asked */
	REACH_NOTHING,
	REACH_OWN,	/* own processes, in user mode */
	REACH_USER,	/* the system, in user mode */
	REACH_SYSTEM
};

/**
 * struct doctor - a machine, and what has been found on it so far
 * @root:     what all paths begin with: "", or the folder of a made-up machine
 * @release:  of the kernel, as uname -r prints it
 * @uid, @groups, @ngroups: the caller's; @groups are all of them
 * @name:     the check that looks
 * @problems: checks that found one
 * @module:   file of the module for this kernel, without @root; or empty
 * @unindexed: modprobe does not find @module
 * @loaded:   the module is in the kernel
 * @owner:    the device, if it could be opened; otherwise
 * @error:    why not, or 0
 * @reach:    by the trial
 */
struct doctor {
	const char	*root;
	const char	*release;
	uid_t		uid;
	const gid_t	*groups;
	size_t		ngroups;

	const char	*name;
	unsigned int	problems;
	char		module[PATH_ROOM];
	bool		unindexed;
	bool		loaded;
	struct pmc_owner *owner;
	int		error;
	enum reach	reach;
};

/* doctor.c: all checks; the exit status */
int doctor_examine(struct doctor *d);

/* The answer of the check that looks: once. */
void answer(struct doctor *d, enum mark mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The command that mends what was just answered */
void mend(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------------
 * doctor_file.c: files of the machine.  Nothing is believed of their contents.
 */
/* A regular file, open for reading; or -1 */
int file_open(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool file_there(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * The first bytes, as many as fit, and a NUL; their number, or -1 with errno.  What
 * file_open() has returned is closed.
 */
ssize_t take_bytes(int fd, void *buf, size_t size);
/* The first line, printable; 0, or -1 with errno */
int take_line(int fd, char *line, size_t size);
#define file_read(d, buf, size, ...)	take_bytes(file_open(d, __VA_ARGS__), buf, size)
#define file_line(d, line, size, ...)	take_line(file_open(d, __VA_ARGS__), line, size)
/*
 * Calls @f for each line, which is printable and cut to LINE_ROOM, until @f
 * returns a value other than 0.  That value, 0, or -1 with errno.  Huge files
 * are cut.
 */
int file_lines(const struct doctor *d, const char *path,
	       int (*f)(void *arg, char *line), void *arg);
/* Letters, digits, ".+~_-" and what is in @others: can be part of a command */
bool is_word_of(const char *name, const char *others);
bool is_word(const char *name);

/* doctor_module.c */
void find_module(struct doctor *d);
void look_at_headers(struct doctor *d);
void look_at_module(struct doctor *d);
void look_at_loaded(struct doctor *d);
/* The version that dkms has of the module; an empty word: none */
void dkms_version(const struct doctor *d, char *version, size_t size);
/* /etc/os-release: the distribution is Ubuntu, or made of it */
bool is_ubuntu(const struct doctor *d);
/* The command that installs @package, if this distribution is known */
void tell_package(const struct doctor *d, const char *package);

/* doctor_boot.c */
void look_at_signature(struct doctor *d);
void look_at_lockdown(struct doctor *d);

/* doctor_device.c */
void look_at_device(struct doctor *d);
void look_at_version(struct doctor *d);

/* doctor_record.c: what only the device can tell */
void look_at_rules(struct doctor *d);
void look_at_recording(struct doctor *d);
void look_at_processes(struct doctor *d);
void look_at_chains(struct doctor *d);

/* doctor_machine.c */
void look_at_cache(struct doctor *d);
void look_at_symbols(struct doctor *d);
void look_at_counters(struct doctor *d);

#endif /* DOCTOR_H */
