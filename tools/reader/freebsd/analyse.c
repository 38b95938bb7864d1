/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the requested analyses of a log, in one pass. */
#include <string.h>
#include <sysexits.h>

#include "freebsd/log_view.h"

static int read_all(struct log *l, struct input *in)
{
	enum pmclog_iter_status status;
	struct pmclog_rec r;

	while ((status = input_poll(in, &r)) > 0) {
		if (status == PMCLOG_ITER_MORE)
			input_wait(in, -1);
		else if (!input_unwanted(l->o, &r))
			profile_record(&l->p, &r);
	}
	profile_finish(&l->p);
	return status == PMCLOG_ITER_ERROR ? input_failed(in) : 0;
}

/* Writes the analyses for standard output, or those for files. */
static int write_some(struct log *l, int to_stdout)
{
	static const struct analysis {
		size_t	file;	/* NULL: not asked for */
		int	(*run)(struct log *l);
	} analyses[] = {
		{ offsetof(struct reading, graph), read_graph },
		{ offsetof(struct reading, calltree), read_calltree },
		{ offsetof(struct reading, annotate), read_annotate },
		{ offsetof(struct reading, annotate_graph),
		  read_annotate_graph },
	};
	int status = 0, bad;
	size_t i;

	for (i = 0; i < nitems(analyses); i++) {
		const char *const *file = (const char *const *)
			((const char *)l->o + analyses[i].file);

		if (!*file || (strcmp(*file, "-") == 0) != to_stdout)
			continue;
		bad = analyses[i].run(l);
		status = status ? status : bad;
	}
	return status;
}

/* Files first: a closed pipe on standard output ends the program. */
static int write_all(struct log *l)
{
	int status = write_some(l, 0), bad;

	bad = l->o->gprof ? read_gprof(l) : 0;
	status = status ? status : bad;
	bad = write_some(l, 1);
	return status ? status : bad;
}

int read_analyse(const struct reading *o, struct input *in)
{
	struct log l;
	int status, bad;

	mem_status = EX_OSERR;
	log_init(&l, o);
	status = read_all(&l, in);
	if (l.p.log.records) {
		bad = log_resolve(&l);
		if (!bad)
			bad = write_all(&l);
		if (!bad)
			log_warn(&l);
		/* the analyses are of the readable part of the log */
		status = bad ? bad : status;
	} else if (!status && !o->live) {
		status = input_was_empty(in);
	}
	log_free(&l);
	return status;
}
