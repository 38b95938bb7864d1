// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/folded.h"
#include "export/export.h"

static void end(struct export *e)
{
	fold_write(&e->a, e->out, e->unit);
}

const struct export_format export_folded = {
	.name = "folded",
	.help = "a line a stack: flamegraph.pl, inferno, speedscope",
	.takes = TAKES_WEIGHT | TAKES_BY,
	.folded = true,
	.end = end,
};
