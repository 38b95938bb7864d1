/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events whose first word names their provider, in the syntax of dt(4) and similar
 * tools: PROVIDER:WHAT:...
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "libpmc_event.h"

#define NS_PER_S	1000000000ULL

/* Cuts a word off; *tail is the rest, with its colon or comma. */
static char *word_of(char **tail, char *kept)
{
	char *word = *tail;

	*tail += strcspn(*tail, ":,");
	*kept = **tail;
	**tail = '\0';
	return word;
}

/* The word after the colon; NULL if there is none */
static char *next_word(char **tail, char *kept)
{
	if (*kept != ':')
		return NULL;
	(*tail)++;
	return word_of(tail, kept);
}

static int finish(struct pmc_parse *p, char *tail, char kept)
{
	*tail = kept;
	return pmc_parse_tail(p, tail);
}

/* tracepoint:SYSTEM:EVENT */
static int parse_tracepoint(struct pmc_parse *p, char *text)
{
	char *tail = text, kept, *system, *event;

	system = word_of(&tail, &kept);
	event = next_word(&tail, &kept);
	if (!*system || !event || !*event)
		return pmc_parse_fail(p, "a tracepoint is SYSTEM:EVENT");
	return pmc_trace_event(p, system, event) ? -1 : finish(p, tail, kept);
}

/* Offers NAME of perf's syscalls:sys_enter_NAME */
static int offer_syscall(void *arg, const char *event)
{
	if (!strncmp(event, "sys_enter_", 10))
		pmc_near_offer(arg, event + 10);
	return 0;
}

static int is_syscall(void *arg, const char *event)
{
	(void)arg;
	return !strncmp(event, "sys_enter_", 10);
}

static int no_syscall(struct pmc_parse *p, const char *tracefs,
		      const char *name)
{
	struct pmc_near near = { .word = name };

	if (!pmc_file_each(is_syscall, NULL, "%s/events/syscalls", tracefs))
		return pmc_parse_fail(p, "this kernel has no tracepoints of "
				      "system calls "
				      "(CONFIG_FTRACE_SYSCALLS)");
	pmc_parse_fail(p, "there is no system call \"%s\" to be traced", name);
	pmc_file_each(offer_syscall, &near, "%s/events/syscalls", tracefs);
	return pmc_near_say(&near, p);
}

static int parse_syscall(struct pmc_parse *p, char *text)
{
	char *tail = text, kept, *name, *where, event[128], tracefs[PATH_MAX];
	uint64_t id;
	int entry;

	name = word_of(&tail, &kept);
	where = next_word(&tail, &kept);
	entry = where && !strcmp(where, "entry");
	if (!*name || !where || (!entry && strcmp(where, "return")))
		return pmc_parse_fail(p, "a system call is NAME:entry or "
				      "NAME:return");
	if (strlen(name) > 64)
		return pmc_parse_fail(p, "there is no such system call");
	snprintf(event, sizeof(event), "sys_%s_%s", entry ? "enter" : "exit",
		 name);
	if (pmc_trace_root(p, tracefs, sizeof(tracefs)))
		return -1;
	if (pmc_trace_id(tracefs, "syscalls", event, &id) && errno == ENOENT)
		return no_syscall(p, tracefs, name);
	if (pmc_trace_event(p, "syscalls", event))
		return -1;
	snprintf(p->desc->name, LABEL_MAX + 1, "syscall:%s:%s", name, where);
	return finish(p, tail, kept);
}

static const struct unit {
	const char	*name;
	uint64_t	ns;	/* 0: a rate per second */
} units[] = {
	{ "hz", 0 }, { "s", NS_PER_S }, { "ms", 1000000 }, { "us", 1000 },
};

#define NUNITS	(sizeof(units) / sizeof(units[0]))

static int period_of(struct pmc_parse *p, const char *unit, const char *number)
{
	uint64_t n;
	size_t i;

	for (i = 0; i < NUNITS && strcmp(units[i].name, unit); i++)
		;
	if (i == NUNITS)
		return pmc_parse_fail(p, "unknown unit \"%s\"; known are hz, "
				      "s, ms and us", unit);
	if (pmc_parse_number(number, 10, &n) || !n ||
	    n > (units[i].ns ? INT64_MAX / units[i].ns : NS_PER_S))
		return pmc_parse_fail(p, "\"%s\": not a number of %s", number,
				      unit);
	p->desc->period = units[i].ns ? n * units[i].ns :
			  (NS_PER_S + n / 2) / n;
	return 0;
}

/* UNIT:NUMBER, of a clock */
static int parse_rate(struct pmc_parse *p, char *text, const char *provider,
		      uint32_t flags)
{
	char *tail = text, kept, *unit, *number;
	struct pmc_event_desc *d = p->desc;

	unit = word_of(&tail, &kept);
	number = next_word(&tail, &kept);
	if (!*unit || !number || !*number)
		return pmc_parse_fail(p, "%s: is followed by hz:N, s:N, ms:N "
				      "or us:N", provider);
	if (period_of(p, unit, number))
		return -1;
	d->type = PERF_TYPE_SOFTWARE;
	d->config = PERF_COUNT_SW_CPU_CLOCK;
	d->flags |= PMC_EVENT_RATE | flags;
	snprintf(d->name, LABEL_MAX + 1, "%s:%s:%s", provider, unit, number);
	return finish(p, tail, kept);
}

static int parse_profile(struct pmc_parse *p, char *text)
{
	return parse_rate(p, text, "profile", 0);
}

static int parse_interval(struct pmc_parse *p, char *text)
{
	return parse_rate(p, text, "interval", PMC_EVENT_ONE_CPU);
}

/* How many addresses symbols of the kernel with this name have; *addr is the first. */
static unsigned int kernel_symbol(struct pmc_parse *p, const char *name, uint64_t *addr)
{
	char path[PATH_MAX], line[512], symbol[256];
	unsigned int n = 0;
	uint64_t value;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/kallsyms", p->root);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &value, symbol) != 2 ||
		    strcmp(symbol, name) || !value || (n && value == *addr))
			continue;
		if (!n++)
			*addr = value;
	}
	fclose(f);
	return n;
}

static int address_of(struct pmc_parse *p, const char *word)
{
	uint64_t *addr = &p->desc->config1;	/* bp_addr */
	unsigned int n;

	if (!pmc_parse_number(word, 0, addr))
		return 0;
	n = kernel_symbol(p, word, addr);
	if (n == 1)
		return 0;
	if (n)
		return pmc_parse_fail(p, "the kernel has %u symbols \"%s\": give the "
				      "address", n, word);
	return pmc_parse_fail(p, "\"%s\" is no address, and no symbol of the "
			      "kernel that is known here", word);
}

/* The kinds of access from a word of r, w and x; 0 for any other word */
static uint32_t access_of(const char *word)
{
	uint32_t type = 0;

	for (; *word; word++) {
		if (*word == 'r')
			type |= HW_BREAKPOINT_R;
		else if (*word == 'w')
			type |= HW_BREAKPOINT_W;
		else if (*word == 'x')
			type |= HW_BREAKPOINT_X;
		else
			return 0;
	}
	return type;
}

static int check_breakpoint(struct pmc_parse *p, const char *length)
{
	struct pmc_event_desc *d = p->desc;
	int code = d->bp_type == HW_BREAKPOINT_X;

	if ((d->bp_type & HW_BREAKPOINT_X) && !code)
		return pmc_parse_fail(p, "mem: x does not go with r and w");
	/* bp_len: the kernel takes the size of its long for code, whatever the program's is */
	d->config2 = code ? HW_BREAKPOINT_LEN_8 : HW_BREAKPOINT_LEN_4;
	if (length && (pmc_parse_number(length, 10, &d->config2) ||
		       !d->config2 || d->config2 > HW_BREAKPOINT_LEN_8))
		return pmc_parse_fail(p, "mem: \"%s\": a length is 1 to 8 "
				      "bytes", length);
	return 0;
}

/* mem:ADDR[/LEN][:rwx] */
static int parse_mem(struct pmc_parse *p, char *text)
{
	char *tail = text, kept, *addr, *length, *mode, *after;
	struct pmc_event_desc *d = p->desc;
	char after_kept;

	addr = word_of(&tail, &kept);
	snprintf(d->name, sizeof(d->name), "mem:%.*s", LABEL_MAX - 4, addr);
	length = strchr(addr, '/');
	if (length)
		*length++ = '\0';
	d->type = PERF_TYPE_BREAKPOINT;
	d->bp_type = HW_BREAKPOINT_RW;
	d->period = 1;
	if (address_of(p, addr))
		return -1;
	if (kept == ':') {
		after = tail + 1;
		mode = word_of(&after, &after_kept);
		if (access_of(mode)) {
			d->bp_type = access_of(mode);
			if (strlen(d->name) + 1 + strlen(mode) <= LABEL_MAX) {
				strcat(d->name, ":");
				strcat(d->name, mode);
			}
			tail = after;
			kept = after_kept;
		} else {
			*after = after_kept;
		}
	}
	return check_breakpoint(p, length) ? -1 : finish(p, tail, kept);
}

static const struct provider {
	const char	*name;
	int		(*parse)(struct pmc_parse *p, char *text);
} providers[] = {
	{ "interval:",	parse_interval },
	{ "kprobe:",	pmc_place_kprobe },
	{ "mem:",	parse_mem },
	{ "profile:",	parse_profile },
	{ "static:",	parse_tracepoint },
	{ "syscall:",	parse_syscall },
	{ "tracepoint:", parse_tracepoint },
	{ "uprobe:",	pmc_place_uprobe },
};

const struct pmc_provider_help pmc_provider_help[] = {
	{ "rHEX", "the CPU's own event of this number" },
	{ "type=N,config=N", "any event, by perf_event_open(2)'s numbers" },
	{ "PMU/TERM[=N],.../", "of a PMU, by its own names" },
	{ "SYSTEM:EVENT", "a tracepoint, also tracepoint:SYSTEM:EVENT" },
	{ "syscall:NAME:entry", "calls of a system call" },
	{ "syscall:NAME:return", "its ends" },
	{ "kprobe:FUNCTION[+N]", "a place in the kernel" },
	{ "kprobe:FUNCTION:return", "the ends of a function of the kernel" },
	{ "uprobe:FILE:FUNCTION[+N]", "a place in a program or library" },
	{ "uprobe:FILE:FUNCTION:return", "the ends of a function there" },
	{ "uprobe:FILE:+OFFSET", "the place at this offset of the file" },
	{ "profile:hz:N", "so many samples a second on each CPU; also s:N, "
	  "ms:N, us:N" },
	{ "interval:hz:N", "the same on one CPU" },
	{ "mem:ADDR[/LEN][:rwx]", "accesses to memory" },
	{ NULL, NULL },
};

int pmc_provider_parse(struct pmc_parse *p, char *spec)
{
	size_t i, len;

	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		len = strlen(providers[i].name);
		if (!strncmp(spec, providers[i].name, len))
			return providers[i].parse(p, spec + len);
	}
	return 1;
}
