/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line.  As in FreeBSD, -c holds for the -d and -e after it.
 */
#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmccontrol.h"

enum { OPT_HELP = 256, OPT_VERSION };

static const char short_options[] = "+:c:d:e:hlLs";

static const struct option long_options[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/**
 * struct parser - the options so far
 * @cpu:      the CPU in force, or ALL
 * @dangling: the argument of a -c that no -d or -e has followed yet; or NULL
 */
struct parser {
	struct options	*o;
	int		cpu;
	const char	*dangling;
	char		*msg;
	size_t		msglen;
};

static int __attribute__((format(printf, 2, 3)))
fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->msg, p->msglen, fmt, ap);
	va_end(ap);
	return -1;
}

/* A number in base 10 that is all of the word, or "*" */
static int parse_number(const char *word, int *number)
{
	const char *c;
	int n = 0;

	if (!strcmp(word, "*")) {
		*number = ALL;
		return 0;
	}
	for (c = word; isdigit((unsigned char)*c); c++) {
		if (n > (INT_MAX - (*c - '0')) / 10)
			return -1;
		n = n * 10 + (*c - '0');
	}
	*number = n;
	return *word && !*c ? 0 : -1;
}

static int set_action(struct parser *p, enum action action)
{
	struct options *o = p->o;

	/* a request for help has priority over errors */
	if (o->action == ACTION_HELP || o->action == ACTION_VERSION)
		return 0;
	if (o->action != ACTION_NONE && o->action != action &&
	    action != ACTION_HELP && action != ACTION_VERSION)
		return fail(p, "one of doctor, -l, -L, -s, or -d and -e at a "
			    "time");
	o->action = action;
	return 0;
}

static int set_cpu(struct parser *p, const char *word)
{
	if (parse_number(word, &p->cpu))
		return fail(p, "-c %s: not a CPU, nor *", word);
	p->dangling = word;
	return set_action(p, ACTION_CHANGE);
}

static int add_change(struct parser *p, int letter, const char *word)
{
	struct options *o = p->o;
	struct change *c;
	int row;

	if (parse_number(word, &row))
		return fail(p, "-%c %s: not a row, nor *", letter, word);
	c = realloc(o->changes, (o->nchanges + 1) * sizeof(*c));
	if (!c)
		return fail(p, "out of memory");
	o->changes = c;
	c += o->nchanges++;
	c->cpu = p->cpu;
	c->row = row;
	c->enable = letter == 'e';
	p->dangling = NULL;
	return set_action(p, ACTION_CHANGE);
}

static int parse_option(struct parser *p, int letter, char **argv)
{
	switch (letter) {
	case 'c':
		return set_cpu(p, optarg);
	case 'd': case 'e':
		return add_change(p, letter, optarg);
	case 'l':
		return set_action(p, ACTION_ROWS);
	case 'L':
		return set_action(p, ACTION_EVENTS);
	case 's':
		return set_action(p, ACTION_STATS);
	case 'h': case OPT_HELP:
		return set_action(p, ACTION_HELP);
	case OPT_VERSION:
		return set_action(p, ACTION_VERSION);
	case ':':
		return fail(p, "-%c needs an argument", optopt);
	default:
		if (optopt >= OPT_HELP)
			return fail(p, "%s takes no argument",
				    argv[optind - 1]);
		if (optopt)
			return fail(p, "unknown option -%c", optopt);
		return fail(p, "unknown option %s", argv[optind - 1]);
	}
}

static int check(struct parser *p, int argc, char **argv)
{
	enum action action = p->o->action;

	if (action == ACTION_HELP || action == ACTION_VERSION)
		return 0;
	if (optind < argc)
		return fail(p, "what is %s for?", argv[optind]);
	if (action == ACTION_NONE)
		return fail(p, "nothing to do: -l lists rows, -d and -e "
			    "disable and enable them");
	if (p->dangling)
		return fail(p, "-c %s holds for rows named after it only: put "
			    "it before -d or -e", p->dangling);
	return 0;
}

int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen)
{
	struct parser p = { .o = o, .cpu = ALL, .msg = msg, .msglen = msglen };
	int letter;

	memset(o, 0, sizeof(*o));
	if (argc > 1 && !strcmp(argv[1], "doctor")) {
		o->action = ACTION_DOCTOR;
		argc--;
		argv++;
	}
	optind = 0;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, short_options, long_options,
				     NULL)) != -1)
		if (parse_option(&p, letter, argv))
			return -1;
	return check(&p, argc, argv);
}

void options_free(struct options *o)
{
	free(o->changes);
	memset(o, 0, sizeof(*o));
}

void usage(FILE *f)
{
	fputs("usage: pmccontrol [-c cpu | -d row | -e row] ...\n"
	      "       pmccontrol -l | -L | -s\n"
	      "       pmccontrol doctor\n"
	      "\n"
	      "  -c cpu  a CPU, or * (all that are online, the default), for "
	      "what follows\n"
	      "  -d row  disable this row there: nobody can allocate it; * for "
	      "all rows\n"
	      "  -e row  enable it again\n"
	      "  -l      list the rows that are used or disabled\n"
	      "  -L      list the events\n"
	      "  -s      print the module's statistics\n"
	      "  doctor  say why a recording would not work here, and what "
	      "mends it\n", f);
}
