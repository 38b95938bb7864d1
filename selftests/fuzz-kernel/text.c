// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char * const names[CODES] = {
#define X(code, name) [OP_##code] = #name,
	PROGRAM_CODES(X)
#undef X
};

static const char * const users[USERS] = { "root", "plain", "namespace" };

/* ------------------------------------------------------------------------
 * Reading
 */
static bool find(const char * const *list, unsigned int n, const char *word,
		 uint8_t *to)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i], word)) {
			*to = i;
			return true;
		}
	return false;
}

static bool read_header(struct program *p, char *words)
{
	char *w = strtok(words, " \t\n");

	if (!w || !find(users, USERS, w, &p->user))
		return false;
	while ((w = strtok(NULL, " \t\n"))) {
		if (!strcmp(w, "system"))
			p->spare[0] |= 1;
		else if (!strcmp(w, "narrow"))
			p->spare[0] |= 2;
		else
			return false;
	}
	return true;
}

static bool read_args(struct op *op, char *w)
{
	unsigned int i;

	for (i = 0; i < 6; i++) {
		op->arg[i] = strtoul(w, &w, 0);
		if (*w == ')')
			return !w[1];
		if (*w++ != ',')
			return false;
	}
	return false;
}

static bool read_word(struct op *op, char *w)
{
	char *end;

	op->where = strtoul(w, &end, 0);
	if (end == w || *end != ':')
		return false;
	op->word = strtoul(end + 1, &w, 0);
	op->how |= HOW_WORD;
	return !*w;
}

static bool read_number(unsigned long *n, const char *w)
{
	char *end;

	*n = strtoul(w, &end, 0);
	return end != w && !*end;
}

static bool read_part(struct op *op, char *w)
{
	unsigned long n;

	if (*w == '(')
		return read_args(op, w + 1);
	if (!strncmp(w, "word=", 5))
		return read_word(op, w + 5);
	if (!strncmp(w, "fail=", 5) && read_number(&n, w + 5) && n) {
		op->nth = n - 1;
		op->how |= HOW_FAIL;
	} else if (!strncmp(w, "bad=", 4) && read_number(&n, w + 4)) {
		op->where = n;
		op->how |= HOW_BAD;
	} else if (!strncmp(w, "size=", 5) && read_number(&n, w + 5)) {
		op->word = n;
		op->how |= HOW_SIZE;
	} else if (*w == 'd' && read_number(&n, w + 1)) {
		op->dev = n;
	} else if (*w == 'p' && read_number(&n, w + 1)) {
		op->pmc = n;
	} else {
		return false;
	}
	return true;
}

static bool read_op(struct op *op, char *name, char *rest)
{
	char *at = strchr(name, '@'), *w;

	if (at) {
		*at = '\0';
		op->how = strtoul(at + 1, NULL, 0) & HOW_WORKER;
	}
	if (!find(names, CODES, name, &op->code))
		return false;
	for (w = strtok(rest, " \t\n"); w; w = strtok(NULL, " \t\n"))
		if (!read_part(op, w))
			return false;
	return true;
}

static bool read_line(struct program *p, unsigned int *n, char *line)
{
	char *name, *rest;

	line[strcspn(line, "#\n")] = '\0';
	name = line + strspn(line, " \t");
	if (!*name)
		return true;
	rest = name + strcspn(name, " \t");
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(name, "user"))
		return read_header(p, rest);
	return *n < PROGRAM_OPS && read_op(&p->op[(*n)++], name, rest);
}

size_t text_read(FILE *f, struct program *p, char *why, size_t size)
{
	char line[256], copy[256];
	unsigned int n = 0, at = 0;

	memset(p, 0, sizeof(*p));
	while (fgets(line, sizeof(line), f)) {
		at++;
		strcpy(copy, line);
		if (read_line(p, &n, line))
			continue;
		snprintf(why, size, "line %u: %.*s", at,
			 (int)strcspn(copy, "\n"), copy);
		return 0;
	}
	return PROGRAM_HEADER + n * sizeof(struct op);
}

/* ------------------------------------------------------------------------
 * Writing
 */
static void write_op(FILE *f, const struct op *op)
{
	unsigned int worker = op->how & HOW_WORKER, i, n = 6;

	fputs(names[op->code % CODES], f);
	if (worker)
		fprintf(f, "@%u", worker);
	if (op->dev)
		fprintf(f, " d%u", op->dev);
	if (op->pmc)
		fprintf(f, " p%u", op->pmc);
	while (n && !op->arg[n - 1])
		n--;
	for (i = 0; i < n; i++)
		fprintf(f, "%s%u", i ? "," : " (", op->arg[i]);
	fputs(n ? ")" : "", f);
	if (op->how & HOW_FAIL)
		fprintf(f, " fail=%u", op->nth + 1);
	if (op->how & HOW_WORD)
		fprintf(f, " word=%u:%#x", op->where, op->word);
	if (op->how & HOW_BAD)
		fprintf(f, " bad=%u", op->where);
	if (op->how & HOW_SIZE)
		fprintf(f, " size=%u", op->word);
	fputc('\n', f);
}

void text_write(FILE *f, const uint8_t *data, size_t len)
{
	struct program p = { 0 };
	unsigned int i;

	if (len > sizeof(p))
		len = sizeof(p);
	memcpy(&p, data, len);
	fprintf(f, "user %s%s%s\n", users[p.user % USERS],
		p.spare[0] & 1 ? " system" : "",
		p.spare[0] & 2 ? " narrow" : "");
	for (i = 0; PROGRAM_HEADER + (i + 1) * sizeof(struct op) <= len; i++)
		write_op(f, &p.op[i]);
}
