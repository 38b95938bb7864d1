// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds what is in the padding of records, and types and lengths
 * that there are not.
 */
#include "expect_verify.h"

/* Byte @offset of a record that make() makes is not 0. */
static void test_padding(void (*make)(struct loggen *g), size_t offset,
			 const char *what)
{
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	make(&g);
	g.buf[at + offset] = 1;
	lg_close(&g);
	expect(&g, at, what);
}

static void exit_record(struct loggen *g)
{
	lg_exit(g, 1);
}

static void map_record(struct loggen *g)
{
	lg_map_in(g, 1, 1, "/a");
}

static void thread_record(struct loggen *g)
{
	lg_thr_create(g, 1, 1, "t");
}

static void process_record(struct loggen *g)
{
	lg_proc_create(g, 1, "t");
}

static void section_record(struct loggen *g)
{
	lg_section(g, 1, "m", ".s");
}

static void buildid_record(struct loggen *g)
{
	lg_buildid(g, 20, "m");
}

static void alloc_record(struct loggen *g)
{
	lg_allocatedyn(g, 1, "m", 1, 1);
}

static void userdata_record(struct loggen *g)
{
	lg_userdata(g, 1);
}

static void map_out_record(struct loggen *g)
{
	lg_map_out(g, 1, 1, 2);
}

static void thread_exit_record(struct loggen *g)
{
	lg_thr_exit(g, 1);
}

static void drop_record(struct loggen *g)
{
	lg_drop(g, LG_PMC, 0, 0, 1);
}

static void test_paddings(void)
{
	struct loggen g;
	size_t at;

	test_padding(exit_record, 4, "spare word of the header is not 0");
	test_padding(exit_record, 20, "padding of exit's pad is not 0");
	test_padding(map_record, 20, "padding of map-in's pad is not 0");
	test_padding(map_record, 35, "padding of map-in's path is not 0");
	test_padding(map_out_record, 20, "padding of map-out's pad is not 0");
	test_padding(thread_record, 28, "padding of thr-create's pad is not 0");
	test_padding(thread_record, 34,
		     "padding of thr-create's name is not 0");
	test_padding(thread_exit_record, 20,
		     "padding of thr-exit's pad is not 0");
	test_padding(process_record, 43, "padding of create's comm is not 0");
	test_padding(section_record, 37,
		     "padding of section's section is not 0");
	test_padding(buildid_record, 28, "padding of buildid's pad is not 0");
	test_padding(buildid_record, 55, "padding of buildid's id is not 0");
	test_padding(buildid_record, 66, "padding of buildid's name is not 0");
	test_padding(alloc_record, 28, "padding of allocatedyn's pad is not 0");
	test_padding(alloc_record, 95,
		     "padding of allocatedyn's name is not 0");
	test_padding(userdata_record, 20, "padding of userdata's pad is not 0");
	test_padding(drop_record, 28, "padding of drop's pad is not 0");

	begin(&g);
	at = g.len;
	lg_record(&g, 77, 16);
	expect(&g, at, "unknown record type 77");

	/* unknown extensions are to be skipped */
	begin(&g);
	at = g.len;
	lg_ext(&g, 999, 64);
	memset(g.buf + at + 24, 0xFF, 40);
	lg_close(&g);
	expect_ok(&g, "ok: 4 records, 0 samples, 0 dropped, 1 PMC, 0.000 s\n");

	begin(&g);
	at = g.len;
	lg_record(&g, PMCLOG_T_SYSEXIT, 4132);
	expect(&g, at, "record of 4132 bytes, more than 4128");
}

int main(void)
{
	test_paddings();
	return verify_done();
}
