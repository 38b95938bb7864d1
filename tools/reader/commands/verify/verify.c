// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify: checks that a log is one that hwpmc could write, and that its
 * account agrees with its samples.  Stops at the first fault.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/verify/verify.h"
#include "log/input.h"
#include "log/logdir.h"
#include "log/merge.h"

static const char usage[] =
"usage: pmclog verify FILE\n"
"Checks structure, order, announcement before use and the account of samples.\n"
"Of FreeBSD's logs, which have no account, only what they promise.\n"
"Exit status 0 and a summary when all is well, else 1 and the first fault as\n"
"\"FILE: offset N: fault\" on standard output.\n"
"  FILE   a log, a directory of logs, or - for standard input\n";

static void print_ends(const struct verify *v)
{
	struct ends_sum sum = ends_of_event(&v->ends.ends, 0);
	char *text, *callers;

	if (!sum.all)
		return;
	text = ends_text(&sum, true);
	callers = ends_callers(&sum, v->ends.x86, v->asked_tables);
	printf("user chains: %s\nunwound: %s\n", text, callers);
	free(text);
	free(callers);
}

static void print_counts(const struct verify *v)
{
	printf("ok: %" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " dropped, %"
	       PRIu32 " %s, %.3f s", v->nrecords,
	       plural(v->nrecords, "record", "records"), v->nsamples,
	       plural(v->nsamples, "sample", "samples"), v->ndropped,
	       v->npmcs_total, plural(v->npmcs_total, "PMC", "PMCs"),
	       v->nsec / 1e9);
	if (v->nproc_dropped)
		printf(", %" PRIu64 " process %s dropped", v->nproc_dropped,
		       plural(v->nproc_dropped, "record", "records"));
	if (v->nsessions > 1)
		printf(", %" PRIu32 " logs in one", v->nsessions);
	putchar('\n');
}

static void print_summary(const struct verify *v)
{
	print_counts(v);
	if (v->nforeign)
		printf("%s FreeBSD's: not checked are padding, lost samples, "
		       "whose processes PMCs are, and the order of records "
		       "but for samples of one CPU\n",
		       v->nforeign < v->nsessions ? "some of them are" :
						    "it is");
	print_ends(v);
}

static int print_fault(const struct input *in, uint64_t offset,
		       const char *what)
{
	printf("%s: offset %" PRIu64 ": %s\n", in->path, offset, what);
	return READER_FAIL;
}

/* Prints the first fault, if there is one. */
static int verify_input(struct input *in, struct verify *v)
{
	enum pmclog_iter_status status;
	struct pmclog_rec rec;
	const char *what;
	uint64_t offset;

	v->format = pmclog_iter_format(in->it);
	while ((status = input_read(in, &rec)) == PMCLOG_ITER_RECORD) {
		what = verify_record(v, &rec);
		if (what)
			return print_fault(in, rec.offset, what);
	}
	if (status == PMCLOG_ITER_EOF)
		what = verify_end(v, &offset);
	else
		what = pmclog_iter_error(in->it, &offset);
	if (what)
		return print_fault(in, offset, what);
	return READER_OK;
}

static int verify_log(struct input *in)
{
	struct verify v;
	int ret;

	verify_init(&v);
	ret = verify_input(in, &v);
	if (ret == READER_OK)
		print_summary(&v);
	verify_free(&v);
	return ret;
}

/* ------------------------------------------------------------------------
 * A directory: each log on its own, and the sum of those that are in order
 */
struct total {
	uint32_t nbad;
	uint64_t nrecords, nsamples, ndropped;
};

static void verify_one(const struct logdir *d, const struct logdir_log *log,
		       struct total *t)
{
	const char *why;
	int fd = logdir_open(d, log, &why);
	struct verify v;
	struct input in;

	t->nbad++;
	if (fd < 0) {
		printf("%s: %s\n", log->label, why);
		return;
	}
	if (input_fd_strict(&in, log->label, fd))
		return;
	verify_init(&v);
	if (verify_input(&in, &v) == READER_OK) {
		printf("%s: ", log->label);
		print_counts(&v);
		t->nbad--;
		t->nrecords += v.nrecords;
		t->nsamples += v.nsamples;
		t->ndropped += v.ndropped;
	}
	verify_free(&v);
	input_close(&in);
}

static int verify_directory(const struct logdir *d)
{
	struct total t = { .nbad = d->unread };
	uint32_t i, n = d->n + d->unread;

	for (i = 0; i < d->n; i++)
		verify_one(d, &d->logs[i], &t);
	if (t.nbad)
		printf("%" PRIu32 " of %" PRIu32 " %s not in order; "
		       "the others: ", t.nbad, n, plural(t.nbad, "logs is", "logs are"));
	else
		printf("ok: %" PRIu32 " %s, ", n, plural(n, "log", "logs"));
	printf("%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " dropped\n",
	       t.nrecords, plural(t.nrecords, "record", "records"), t.nsamples,
	       plural(t.nsamples, "sample", "samples"), t.ndropped);
	return t.nbad ? READER_FAIL : READER_OK;
}

static int verify_file(const char *path)
{
	struct input in;
	int ret;

	if (input_open_strict(&in, path))
		return READER_FAIL;
	ret = in.merge ? verify_directory(merge_logs(in.merge)) :
			 verify_log(&in);
	input_close(&in);
	if (fflush(stdout)) {
		perror("pmclog: cannot write");
		return READER_FAIL;
	}
	return ret;
}

int cmd_verify(int argc, char **argv)
{
	return cmdline_file(usage, argc, argv, verify_file);
}
