/* SPDX-License-Identifier: BSD-2-Clause */
/* Interface between the parts of libpmc that parse events. */
#ifndef LIBPMC_EVENT_H
#define LIBPMC_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmc.h"

#define SPEC_MAX	1024	/* an event specification, with the NUL */
#define LABEL_MAX	58	/* of a name, leaves room for ":u" */
#define LIST_MAX	4100	/* a list of CPUs: sysfs writes a page at most */

/**
 * struct pmc_evtab_entry - a name for an event
 * @name:   matched without regard to case
 * @descr:  what the event counts; for an alias, the event's first name
 * @type, @config: as in struct perf_event_attr
 * @alias:  another entry names the same event
 */
struct pmc_evtab_entry {
	const char	*name;
	const char	*descr;
	uint32_t	type;
	uint64_t	config;
	int		alias;
};

extern const struct pmc_evtab_entry pmc_evtab[];
extern const size_t pmc_evtab_len;

/**
 * struct pmc_probe_def - the definition of a probe to be made
 * @uprobe: the probe is in a program or library
 * @ret:    the probe is at the return of the function
 * @place: in the kernel's syntax: FUNCTION+OFFSET, or PATH:OFFSET
 * @label: letters, digits and underscores
 */
struct pmc_probe_def {
	int	uprobe;
	int	ret;
	char	place[SPEC_MAX + 64];
	char	label[40];
};

/**
 * struct pmc_core - the PMU of a kind of core
 * @cpus: its CPUs, as a list from sysfs
 */
struct pmc_core {
	char		name[64];
	uint32_t	type;
	char		cpus[512];
};

#define PMC_CORES_MAX	8

/**
 * struct pmc_parse - a specification that is being parsed
 * @root: root of the tree that contains sys and proc; "" except in tests
 * @probe: filled in if @desc has PMC_EVENT_PROBE
 * @core: an event that names no PMU is to be one of this PMU; NULL: perf chooses
 * @generic: the event names no PMU, and more than one may have it
 */
struct pmc_parse {
	const char	*root;
	struct pmc_event_desc *desc;
	char		*msg;
	size_t		msglen;
	int		have_type;
	int		have_config;
	struct pmc_probe_def probe;
	const struct pmc_core *core;
	int		generic;
};

/* libpmc_event.c: these return 0, or -1 with the message */
int pmc_parse_spec(struct pmc_parse *p, const char *spec);
/* Returns -1 with errno EINVAL. */
int pmc_parse_fail(struct pmc_parse *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* An unsigned number in base 10, 16 or (0) either; it must be the whole word */
int pmc_parse_number(const char *word, int base, uint64_t *value);
/* "name=": printable characters */
int pmc_parse_label(struct pmc_parse *p, const char *word);
/* The text after an event: nothing, ":uk", ",usr,name=WORD".  Modifies @tail. */
int pmc_parse_tail(struct pmc_parse *p, char *tail);
/* pmc_event_cpus() in a tree other than this machine's, for tests */
int pmc_event_cpus_at(const char *root, const struct pmc_event_desc *desc,
		      char *list, size_t len);
/* "r" and hexadecimal digits */
int pmc_parse_is_raw(const char *word);

/* An event by its name, without regard to case; NULL: there is none */
const struct pmc_evtab_entry *pmc_evtab_find(const char *word);

/* libpmc_core.c */
/* The PMUs of the kinds of cores, of which other processors have one or none */
size_t pmc_cores_at(const char *root, struct pmc_core core[PMC_CORES_MAX]);
/* Has a list of CPUs, such as "0-3,8", all CPUs of another one? */
int pmc_cpus_have(const char *list, const char *cpus);
/* The number of the PMU that has the event */
uint32_t pmc_core_type(const struct pmc_event_desc *d);
/* The event is one of a processor, and some CPUs that are online do not have it. */
int pmc_core_is_of_some(const char *root, const struct pmc_event_desc *d);
/* The event becomes one of @p->core, if that is given. */
void pmc_core_give(struct pmc_parse *p);
/* Its name: @word, or as an event of @p->core "PMU/word/" */
void pmc_core_name(struct pmc_parse *p, const char *word);
/* As pmc_event_parse_all() */
int pmc_parse_all(const char *root, const char *spec, struct pmc_event_desc *desc,
		  size_t room, char *msg, size_t msglen);

/* libpmc_pmu.c */
/* The number of a PMU; 0, or -1: there is none */
int pmc_pmu_type(const char *root, const char *pmu, uint32_t *type);
/* The CPUs of a core PMU, as a list from sysfs; 0, or -1: it has no such list */
int pmc_pmu_core_cpus(const char *root, const char *pmu, char *list, size_t len);
/* PMU/term,.../tail; modifies @spec */
int pmc_pmu_parse(struct pmc_parse *p, char *spec);
/* 1: @word is an alias of a core PMU, 0: it is not, -1: it is, but invalid */
int pmc_pmu_core_alias(struct pmc_parse *p, const char *word);
/* The CPUs of a PMU, as a list from sysfs: 0, or -1: all CPUs */
int pmc_pmu_cpus(const char *root, uint32_t type, char *list, size_t len);
/* The first CPU that is online */
unsigned int pmc_first_cpu(const char *root);

struct pmc_near;
/* Calls @f for each PMU that can be named, until @f returns non-zero; returns that */
int pmc_pmu_each(const char *root, int (*f)(void *arg, const char *pmu),
		 void *arg);
/* the same for each event of a PMU, or for each of its terms */
int pmc_pmu_each_event(const char *root, const char *pmu,
		       int (*f)(void *arg, const char *event), void *arg);
int pmc_pmu_each_term(const char *root, const char *pmu,
		      int (*f)(void *arg, const char *term), void *arg);
/* The text in sysfs of an event ("events") or term ("format") of a PMU */
void pmc_pmu_text(const char *root, const char *pmu, const char *dir,
		  const char *name, char *buf, size_t len);
/* PMUs whose events have another syntax */
int pmc_pmu_is_special(const char *pmu);
void pmc_pmu_offer_aliases(struct pmc_parse *p, struct pmc_near *near);

/* libpmc_trace.c */
/* The path of tracefs: 0, or -1 with a message that says how to get access */
int pmc_trace_root(struct pmc_parse *p, char *path, size_t len);
/* SYSTEM:EVENT alone */
int pmc_trace_event(struct pmc_parse *p, const char *system,
		    const char *event);
/* The number of an event; 0, or -1 with errno */
int pmc_trace_id(const char *tracefs, const char *system, const char *event,
		 uint64_t *id);
/* The lines "field:" of an event's format; the caller frees; NULL with errno */
char *pmc_trace_field_lines(const char *tracefs, const char *system,
			    const char *event);

/* libpmc_provider.c: 0, -1, or 1: no provider has this event; modifies @spec */
int pmc_provider_parse(struct pmc_parse *p, char *spec);
/* Syntax of the providers' events: an entry for each, NULL at the end */
extern const struct pmc_provider_help {
	const char *spec;
	const char *descr;
} pmc_provider_help[];

/* libpmc_place.c: parses the text after "kprobe:" and "uprobe:" */
int pmc_place_kprobe(struct pmc_parse *p, char *text);
int pmc_place_uprobe(struct pmc_parse *p, char *text);

/*
 * libpmc_elf.c
 * Finds the functions of a program or library: 0, or -1 with errno (ENOEXEC: not an
 * ELF file of this machine's kind).  Calls @each for all names.
 */
int pmc_elf_functions(const char *path, void (*each)(void *arg,
		      const char *name, uint64_t offset, int global),
		      void *arg);

/* libpmc_near.c: names that the user may have meant by a word */
#define NEAR_MAX	4

struct pmc_near {
	const char	*word;
	size_t		n;
	struct {
		unsigned int	distance;
		char		name[96];
	} best[NEAR_MAX];
};

/* Returns 0: pmc_file_each() and pmc_pmu_each*() can call it for @near. */
int pmc_near_offer(void *near, const char *name);
/* Appends "; did you mean a, b?" to the message; returns -1 with EINVAL */
int pmc_near_say(const struct pmc_near *near, struct pmc_parse *p);

/* libpmc_file.c */
/*
 * Reads a small file without blanks at its end.  Returns the length, or -1 with
 * errno.  A file that does not fit is cut.
 */
long pmc_file_text(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Reads a file of unknown size, and appends a NUL; the caller frees the result; NULL with
 * errno.  @len: NULL, or where its size goes
 */
char *pmc_file_all(const char *path, size_t *len);
/* A name within one directory: no slash, and no dot at the start */
int pmc_file_is_name(const char *name);
/* Calls @f for the sorted entries of a directory, until non-zero; returns that */
int pmc_file_each(int (*f)(void *arg, const char *name), void *arg,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif /* LIBPMC_EVENT_H */
