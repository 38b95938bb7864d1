// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds what is in the padding of records, and types and lengths
 * that there are not.
 */
#include "expect_verify.h"

/* Byte @offset of the last record is not 0. */
static void spoiled(size_t offset, const char *what)
{
	size_t at = g.last;

	g.buf[at + offset] = 1;
	lg_close(&g);
	expect(at, what);
}

#define PADDING(make, offset, what) \
	(begin(), make, spoiled(offset, what))

static void test_paddings(void)
{
	size_t at;

	PADDING(lg_exit(&g, 1), 4, "spare word of the header is not 0");
	PADDING(lg_exit(&g, 1), 20, "padding of exit's pad is not 0");
	PADDING(lg_map_in(&g, 1, 1, "/a"), 20, "padding of map-in's pad is not 0");
	PADDING(lg_map_in(&g, 1, 1, "/a"), 35, "padding of map-in's path is not 0");
	PADDING(lg_map_out(&g, 1, 1, 2), 20, "padding of map-out's pad is not 0");
	PADDING(lg_thr_create(&g, 1, 1, "t"), 28, "padding of thr-create's pad is not 0");
	PADDING(lg_thr_create(&g, 1, 1, "t"), 34, "padding of thr-create's name is not 0");
	PADDING(lg_thr_exit(&g, 1), 20, "padding of thr-exit's pad is not 0");
	PADDING(lg_proc_create(&g, 1, "t"), 43, "padding of create's comm is not 0");
	PADDING(lg_section(&g, 1, "m", ".s"), 37, "padding of section's section is not 0");
	PADDING(lg_buildid(&g, 20, "m"), 28, "padding of buildid's pad is not 0");
	PADDING(lg_buildid(&g, 20, "m"), 55, "padding of buildid's id is not 0");
	PADDING(lg_buildid(&g, 20, "m"), 66, "padding of buildid's name is not 0");
	PADDING(lg_allocatedyn(&g, 1, "m", 1, 1), 28, "padding of allocatedyn's pad is not 0");
	PADDING(lg_allocatedyn(&g, 1, "m", 1, 1), 95, "padding of allocatedyn's name is not 0");
	PADDING(lg_userdata(&g, 1), 20, "padding of userdata's pad is not 0");
	PADDING(lg_drop(&g, LG_PMC, 0, 0, 1), 28, "padding of drop's pad is not 0");

	EXPECT_WRONG(lg_record(&g, 77, 16), "unknown record type 77");

	/* unknown extensions are to be skipped */
	begin();
	at = g.len;
	lg_ext(&g, 999, 64);
	memset(g.buf + at + 24, 0xFF, 40);
	lg_close(&g);
	expect_ok("ok: 4 records, 0 samples, 0 dropped, 1 PMC, 0.000 s\n");

	EXPECT_WRONG(lg_record(&g, PMCLOG_T_SYSEXIT, 4132),
		     "record of 4132 bytes, more than 4128");
}

int main(void)
{
	test_paddings();
	return verify_done();
}
