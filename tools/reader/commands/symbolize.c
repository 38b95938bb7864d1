// SPDX-License-Identifier: BSD-2-Clause
/* pmclog symbolize: functions and lines of addresses of an ELF file. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/shown.h"
#include "base/out.h"
#include "base/say.h"
#include "commands/commands.h"
#include "elf/elfsyms.h"
#include "elf/inlines.h"

static const char usage[] =
	"usage: pmclog symbolize [OPTION]... -e FILE [ADDRESS]...\n"
	"\n"
	"Tells the function and source line of addresses in an ELF file, and\n"
	"what was inlined there.  Addresses are hexadecimal and those of the\n"
	"file; without any on the command line, standard input has one a\n"
	"line.\n"
	"\n"
	"  -e, --exe FILE     the program, library or vmlinux\n"
	"  -r, --root DIR     where the file and its debug file are\n"
	"      --no-inline    only the functions, not what was inlined\n"
	"      --no-demangle  symbols as they are in the file\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "exe", required_argument, NULL, 'e' },
	{ "root", required_argument, NULL, 'r' },
	{ "no-inline", no_argument, NULL, 'I' },
	{ "no-demangle", no_argument, NULL, 'D' },
	{ NULL, 0, NULL, 0 },
};

struct symbolizing {
	const char *file;
	struct image_root root;
	bool inlines, demangle;
	struct inlines x;
	struct symtab tab;
	struct out *out;
};

static void put_frame(struct symbolizing *s, const struct src_frame *f)
{
	char name[SHOWN_MAX], file[SHOWN_MAX];

	out_str(s->out, f->func ? shown_name(name, f->func, s->demangle) : "??");
	out_str(s->out, " at ");
	out_str(s->out, f->file ? shown_name(file, f->file, false) : "??");
	out_char(s->out, ':');
	if (f->line)
		out_u64(s->out, (uint64_t)f->line);
	else
		out_char(s->out, '?');
	out_char(s->out, '\n');
}

static bool mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

/*
 * Assembly has lines but no functions, and functions of C++ that no other file
 * can call have only half a name: then symbols tell more.
 */
static void outermost(struct src_frame *f, const struct sym *sym)
{
	if (sym && sym->name && (!f->func || (mangled(sym->name) &&
					      !mangled(f->func))))
		f->func = sym->name;
}

static void symbolize(struct symbolizing *s, uint64_t addr)
{
	struct src_frame frame[INLINES_MAX];
	uint32_t n = inlines_find(&s->x, addr, frame), i = 0;

	if (!n)
		frame[n++] = (struct src_frame){ 0 };
	outermost(&frame[n - 1], symtab_find(&s->tab, addr));
	if (!s->inlines) {
		frame[n - 1].file = frame[0].file;
		frame[n - 1].line = frame[0].line;
		i = n - 1;
	}
	out_hex(s->out, addr);
	out_str(s->out, ": ");
	for (; i < n; i++) {
		put_frame(s, &frame[i]);
		if (i + 1 < n)
			out_str(s->out, " (inlined by) ");
	}
}

static bool parse_address(const char *arg, uint64_t *addr)
{
	char *end;

	errno = 0;
	*addr = strtoull(arg, &end, 16);
	while (*end == '\n' || *end == '\r' || *end == ' ')
		end++;
	if (end != arg && !*end && *arg != '-' && !errno)
		return true;
	return !reader_usage("pmclog symbolize: \"%.40s\" is not an address\n", arg);
}

static int from_stdin(struct symbolizing *s)
{
	bool wait = isatty(STDIN_FILENO);
	int ret = READER_OK;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	uint64_t addr;

	while (ret == READER_OK && (n = getline(&line, &cap, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		if (!parse_address(line, &addr))
			ret = READER_USAGE;
		else
			symbolize(s, addr);
		if (wait)
			out_flush(s->out);
	}
	if (ret == READER_OK && ferror(stdin)) {
		warn_line("cannot read standard input: %s", strerror(errno));
		ret = READER_FAIL;
	}
	free(line);
	return ret;
}

static void load_symbols(struct symbolizing *s, const struct image *im)
{
	const char *why = elfsyms_names(&s->tab, im, &s->root, s->file);

	/* of a stripped file, addresses without a name are expected */
	if (s->tab.cut)
		warn_line("%s: %s", s->file, why);
	elfsyms_bounds(&s->tab, im->elf);
	symtab_sort(&s->tab);
}

static int run(struct symbolizing *s, int argc, char **argv)
{
	struct image im;
	const char *why;
	uint64_t addr;
	int ret = READER_OK, end;

	if (!image_open(&im, &s->root, s->file, &why)) {
		warn_line("%s: %s", s->file, why);
		return READER_FAIL;
	}
	load_symbols(s, &im);
	image_close(&im);
	inlines_open(&s->x, &s->root, s->file);
	if (optind == argc)
		ret = from_stdin(s);
	for (; optind < argc && ret == READER_OK; optind++) {
		if (parse_address(argv[optind], &addr))
			symbolize(s, addr);
		else
			ret = READER_USAGE;
	}
	inlines_close(&s->x);
	symtab_free(&s->tab);
	end = out_finish(s->out);
	return ret ? ret : end;
}

int cmd_symbolize(int argc, char **argv)
{
	struct symbolizing s = {
		.inlines = true, .demangle = true, .out = out_stdout(),
	};
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "he:r:", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return READER_OK;
		case 'e':
			s.file = optarg;
			break;
		case 'r':
			s.root.dir = optarg;
			break;
		case 'I':
			s.inlines = false;
			break;
		case 'D':
			s.demangle = false;
			break;
		default:
			return reader_usage("try: pmclog symbolize --help\n");
		}
	}
	if (s.file)
		return run(&s, argc, argv);
	return reader_usage("pmclog symbolize: name a file with -e; see "
			    "pmclog symbolize --help\n");
}
