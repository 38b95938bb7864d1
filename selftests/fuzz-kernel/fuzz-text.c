// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz-text FILE OUT		makes a program of a text ...
 * fuzz-text --show FILE	and a text of a program
 */
#include <err.h>
#include <string.h>

#include "text.h"

static int show(const char *path)
{
	uint8_t data[PROGRAM_MAX];
	FILE *f = fopen(path, "r");

	if (!f)
		err(1, "%s", path);
	text_write(stdout, data, fread(data, 1, sizeof(data), f));
	fclose(f);
	return 0;
}

static int make(const char *path, const char *to)
{
	FILE *f = fopen(path, "r"), *out;
	char why[320] = "";
	struct program p;
	size_t len;

	if (!f)
		err(1, "%s", path);
	len = text_read(f, &p, why, sizeof(why));
	fclose(f);
	if (!len)
		errx(1, "%s: %s", path, why);
	out = fopen(to, "w");
	if (!out || fwrite(&p, len, 1, out) != 1 || fclose(out))
		err(1, "%s", to);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return strcmp(argv[1], "--show") ? make(argv[1], argv[2]) :
						   show(argv[2]);
	fprintf(stderr, "usage: fuzz-text FILE OUT\n       fuzz-text --show FILE\n");
	return 2;
}
