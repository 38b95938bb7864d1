/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of libpmc that understand events, among themselves. */
#ifndef LIBPMC_EVENT_H
#define LIBPMC_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmc.h"

#define SPEC_MAX	1024	/* an event specification, with the NUL */
#define LABEL_MAX	58	/* of a name: ":u" follows, and spare */

/**
 * struct pmc_evtab_entry - a name for an event
 * @name:   matched without regard to case
 * @descr:  what it counts; of an alias: the event's first name
 * @type, @config: as in struct perf_event_attr
 * @alias:  another entry has the same event
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
 * struct pmc_probe_def - a probe that has to be made
 * @uprobe, @ret: of a program or library; when the function returns
 * @place: as the kernel wants it: FUNCTION+OFFSET, or PATH:OFFSET
 * @label: letters, digits and underscores
 */
struct pmc_probe_def {
	int	uprobe;
	int	ret;
	char	place[SPEC_MAX + 64];
	char	label[40];
};

/**
 * struct pmc_parse - a specification that is being understood
 * @root: of the tree that has sys and proc in it; "" but for tests
 * @probe: filled in when @desc has PMC_EVENT_PROBE
 */
struct pmc_parse {
	const char	*root;
	struct pmc_event_desc *desc;
	char		*msg;
	size_t		msglen;
	int		have_type;
	int		have_config;
	struct pmc_probe_def probe;
};

/* libpmc_event.c: each 0, or -1 with the message */
int pmc_parse_spec(struct pmc_parse *p, const char *spec);
/* -1, with EINVAL */
int pmc_parse_fail(struct pmc_parse *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A number in base 10 or 16 or (0) either, all of the word, without a sign */
int pmc_parse_number(const char *word, int base, uint64_t *value);
/* "name=": letters that can be shown */
int pmc_parse_label(struct pmc_parse *p, const char *word);
/* What may follow an event: nothing, ":uk", ",usr,name=WORD"; it is cut up. */
int pmc_parse_tail(struct pmc_parse *p, char *tail);
/* "r" and hexadecimal digits */
int pmc_parse_is_raw(const char *word);

/* libpmc_pmu.c */
/* PMU/term,.../tail; @spec is cut up */
int pmc_pmu_parse(struct pmc_parse *p, char *spec);
/* 1: @word is an alias of a core PMU, 0: it is not, -1: it is, and wrong */
int pmc_pmu_core_alias(struct pmc_parse *p, const char *word);
/* Its CPUs, as sysfs lists them: 0, or -1: on all of them */
int pmc_pmu_cpus(const char *root, uint32_t type, char *list, size_t len);
/* The first of the CPUs that are online */
unsigned int pmc_first_cpu(const char *root);

struct pmc_near;
/* Calls @f for each PMU that can be named; until one is not 0, which it returns */
int pmc_pmu_each(const char *root, int (*f)(void *arg, const char *pmu),
		 void *arg);
/* the same for each event of a PMU; or what each of its terms sets */
int pmc_pmu_each_event(const char *root, const char *pmu,
		       int (*f)(void *arg, const char *event), void *arg);
int pmc_pmu_each_term(const char *root, const char *pmu,
		      int (*f)(void *arg, const char *term), void *arg);
/* What sysfs says of an event ("events") or term ("format") of a PMU */
void pmc_pmu_text(const char *root, const char *pmu, const char *dir,
		  const char *name, char *buf, size_t len);
/* Those that are written in another way */
int pmc_pmu_is_special(const char *pmu);
void pmc_pmu_offer_aliases(struct pmc_parse *p, struct pmc_near *near);

/* libpmc_trace.c */
/* Where tracefs is: 0, or -1 with a message that says how to get at it */
int pmc_trace_root(struct pmc_parse *p, char *path, size_t len);
/* SYSTEM:EVENT, without more */
int pmc_trace_event(struct pmc_parse *p, const char *system,
		    const char *event);
/* The number of an event; 0, or -1 with errno */
int pmc_trace_id(const char *tracefs, const char *system, const char *event,
		 uint64_t *id);
/* The lines "field:" of an event's format; the caller frees; NULL with errno */
char *pmc_trace_field_lines(const char *tracefs, const char *system,
			    const char *event);

/* libpmc_provider.c: 1: none of ours, 0, or -1; @spec is cut up */
int pmc_provider_parse(struct pmc_parse *p, char *spec);
/* How they are spelled: a line for each, NULL at the end */
extern const struct pmc_provider_help {
	const char *spec;
	const char *descr;
} pmc_provider_help[];

/* libpmc_place.c: what is behind "kprobe:" and "uprobe:" */
int pmc_place_kprobe(struct pmc_parse *p, char *text);
int pmc_place_uprobe(struct pmc_parse *p, char *text);

/*
 * libpmc_elf.c
 * Where functions of a program or library are: 0, or -1 with errno (ENOEXEC: it
 * is no ELF file of this machine's kind).  @each is called with all names.
 */
int pmc_elf_functions(const char *path, void (*each)(void *arg,
		      const char *name, uint64_t offset, int global),
		      void *arg);

/* libpmc_near.c: names that a word may have meant */
#define NEAR_MAX	4

struct pmc_near {
	const char	*word;
	size_t		n;
	struct {
		unsigned int	distance;
		char		name[96];
	} best[NEAR_MAX];
};

void pmc_near_offer(struct pmc_near *near, const char *name);
/* Appends "; did you mean a, b?" to the message */
void pmc_near_say(const struct pmc_near *near, struct pmc_parse *p);

/* libpmc_file.c */
/*
 * A small file, without what is blank at its end; its length, or -1 with errno.
 * More than there is room for is cut off.
 */
long pmc_file_text(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A file whose size is not known before; the caller frees; NULL with errno */
char *pmc_file_all(const char *path);
/* A name that leads nowhere else: no slash, and no point at the start */
int pmc_file_is_name(const char *name);
/* Entries of a directory, sorted; until @f returns not 0, which it returns */
int pmc_file_each(int (*f)(void *arg, const char *name), void *arg,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif /* LIBPMC_EVENT_H */
