// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds each fault, at its offset.  Every case is a sound log
 * with one thing made wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmclog_wire.h>

#include "../../tools/reader/reader.h"
#include "loggen.h"
#include "tap.h"

#define PID	100
#define START	0x555555555000ULL

int reader_usage(const char *usage)
{
	fputs(usage, stderr);
	return READER_USAGE;
}

/* Runs verify on @g; its standard output goes to @text. */
static int run_verify(const struct loggen *g, char *text, size_t size)
{
	char log[] = "/tmp/test_verify.XXXXXX";
	char out[] = "/tmp/test_verify.XXXXXX";
	char *argv[] = { "verify", log, NULL };
	int fd = mkstemp(log), ofd = mkstemp(out), saved, ret;
	ssize_t n;

	if (fd < 0 || ofd < 0 || write(fd, g->buf, g->len) != (ssize_t)g->len)
		abort();
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(ofd, STDOUT_FILENO);
	optind = 0;
	ret = cmd_verify(2, argv);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	n = pread(ofd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	close(ofd);
	unlink(log);
	unlink(out);
	/* "FILE: " is of no interest */
	if (!strncmp(text, log, strlen(log)))
		memmove(text, text + strlen(log) + 2,
			strlen(text + strlen(log) + 2) + 1);
	return ret;
}

static void begin(struct loggen *g)
{
	lg_start(g);
	lg_init(g);
	lg_allocatedyn(g, LG_PMC, "cpu-clock", 1000000, -2);
}

static void expect(struct loggen *g, size_t offset, const char *what)
{
	char text[512], want[512];
	int ret = run_verify(g, text, sizeof(text));

	snprintf(want, sizeof(want), "offset %zu: %s\n", offset, what);
	if (!ok(ret == READER_FAIL && !strcmp(text, want), "%s", what))
		printf("# exit %d\n# got  %s# want %s", ret, text, want);
	lg_free(g);
}

static void expect_ok(struct loggen *g, const char *summary)
{
	char text[512];
	int ret = run_verify(g, text, sizeof(text));

	if (!ok(ret == READER_OK && !strcmp(text, summary), "%.*s",
		(int)strcspn(summary, "\n"), summary))
		printf("# exit %d\n# got %s", ret, text);
	lg_free(g);
}

/* The last record's field becomes @value. */
#define SET(g, at, type, field, value)					\
	do {								\
		__typeof__(((struct type *)0)->field) v_ = (value);	\
		memcpy((g)->buf + (at) + offsetof(struct type, field),	\
		       &v_, sizeof(v_));				\
	} while (0)

static void test_sound(void)
{
	struct loggen g;

	lg_make(&g, "small");
	expect_ok(&g, "ok: 6 records, 1 samples, 0 dropped, 1 PMCs, 0.000 s\n");
	lg_make(&g, "full");
	expect_ok(&g, "ok: 47 records, 8 samples, 13 dropped, 3 PMCs, 0.000 s,"
		  " 3 process records dropped\n");
	lg_make(&g, "twice");
	expect_ok(&g, "ok: 53 records, 9 samples, 13 dropped, 4 PMCs, 0.000 s,"
		  " 3 process records dropped, 2 logs in one\n");
}

/* Counts start anew with each log, sums do not. */
static void test_sums(void)
{
	struct loggen g;
	int i;

	lg_start(&g);
	for (i = 0; i < 2; i++) {
		lg_init(&g);
		lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
		lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
		g.tsc += 1250000000;
		lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
		lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_FULL, 2);
		lg_drop(&g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 3);
		lg_close(&g);
	}
	expect_ok(&g, "ok: 14 records, 2 samples, 4 dropped, 2 PMCs, 2.500 s,"
		  " 6 process records dropped, 2 logs in one\n");
}

static void test_ends(void)
{
	struct loggen g;
	size_t at;

	lg_start(&g);
	lg_make(&g, "small");
	g.len = 0;
	expect(&g, 0, "empty, no INITIALIZE");

	lg_make(&g, "small");
	g.len -= 4;
	expect(&g, g.len + 4 - 136, "truncated record");

	lg_make(&g, "small");
	g.len -= 136;
	expect(&g, g.len, "no CLOSELOG: the log was cut");

	lg_make(&g, "twice");
	g.len -= 136;
	expect(&g, g.len, "no CLOSELOG: the log was cut");

	begin(&g);
	lg_close(&g);
	at = g.len;
	lg_exit(&g, 1);
	expect(&g, at, "record after CLOSELOG");

	begin(&g);
	at = g.len;
	lg_init(&g);
	expect(&g, at, "INITIALIZE without a CLOSELOG before it");
}

static void test_order(void)
{
	struct loggen g;
	size_t at;

	begin(&g);
	lg_exit(&g, 1);
	g.tsc -= 2000;
	at = g.len;
	lg_exit(&g, 1);
	expect(&g, at, "time goes back from 1000000002000 to 1000000001000");

	lg_start(&g);
	g.step = 0;
	lg_init(&g);
	lg_exit(&g, 1);
	lg_close(&g);
	expect_ok(&g, "ok: 3 records, 0 samples, 0 dropped, 0 PMCs, 0.000 s\n");
}

/* A record that names PMC 0x77, which nobody announced. */
static void expect_unannounced(struct loggen *g, size_t at)
{
	lg_close(g);
	expect(g, at, "PMC 0x77 was not announced before");
}

static void test_wire_pmc(unsigned int type, size_t len, size_t offset)
{
	const uint32_t pmcid = 0x77;
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	memcpy((char *)lg_record(&g, type, len) + offset, &pmcid, 4);
	expect_unannounced(&g, at);
}

static void test_announced(void)
{
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	lg_chain(&g, PID, 0x77, 0, 0, 1, START);
	expect_unannounced(&g, at);

	begin(&g);
	at = g.len;
	lg_drop(&g, 0x77, 0, PMCLOG_DROP_FULL, 1);
	expect_unannounced(&g, at);

	begin(&g);
	at = g.len;
	lg_rate(&g, 0x77, 0, 1, 1);
	expect_unannounced(&g, at);

	begin(&g);
	at = g.len;
	lg_exec(&g, PID, 0x77, 0, 0, "/bin/x");
	expect_unannounced(&g, at);

	test_wire_pmc(PMCLOG_T_PMCATTACH, 28, 16);
	test_wire_pmc(PMCLOG_T_PMCDETACH, 24, 16);
	test_wire_pmc(PMCLOG_T_PROCCSW, 40, 24);
	test_wire_pmc(PMCLOG_T_PROCEXIT, 32, 16);

	/* the next log starts without PMCs */
	begin(&g);
	lg_close(&g);
	lg_init(&g);
	at = g.len;
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_close(&g);
	expect(&g, at, "PMC 0xfff00f00 was not announced before");
}

static void test_init(void)
{
	struct loggen g;

	begin(&g);
	SET(&g, 0, pmclog_initialize, tsc_freq, 2400000000);
	expect(&g, 0, "the clock does not count nanoseconds");

	begin(&g);
	SET(&g, 0, pmclog_initialize, ts_nsec, 1000000000);
	expect(&g, 0, "wall clock with more than a second of nanoseconds");

	begin(&g);
	SET(&g, 112, pmclog_pmcallocatedyn, name[0], 0);
	memset(g.buf + 112 + 32, 0, 64);
	expect(&g, 112, "PMC without a name");

	lg_start(&g);
	lg_init(&g);
	lg_record(&g, PMCLOG_T_PMCALLOCATEDYN, 96);
	expect(&g, 112, "PMCALLOCATEDYN without rate and config");
}

static void test_chains(void)
{
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	lg_chain(&g, PID, LG_PMC, 0, 0, 0, START);
	expect(&g, at, "call chain without a pc");

	begin(&g);
	at = g.len;
	lg_chain(&g, PID, LG_PMC, 0, 0, 513, START);
	expect(&g, at, "call chain of 513 pcs, more than 512");

	begin(&g);
	lg_chain(&g, PID, LG_PMC, 0, 0, 512, START);
	lg_close(&g);
	expect_ok(&g, "ok: 4 records, 1 samples, 0 dropped, 1 PMCs, 0.000 s\n");
}

static void test_drops(void)
{
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	lg_record(&g, PMCLOG_T_DROPNOTIFY, 16);
	lg_exit(&g, 1);		/* must not be taken for its padding */
	expect(&g, at, "DROPNOTIFY without a count");

	begin(&g);
	at = g.len;
	lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_NCAUSE, 1);
	expect(&g, at, "DROPNOTIFY with unknown cause 4");

	begin(&g);
	at = g.len;
	lg_drop(&g, LG_PMC, 0, 0, 0);
	expect(&g, at, "DROPNOTIFY of nothing");

	begin(&g);
	at = g.len;
	lg_drop(&g, LG_PMC, 0, 0, 1);
	SET(&g, at, pmclog_dropnotify, first, 2000000000000ULL);
	expect(&g, at, "DROPNOTIFY whose last is before its first");
}

static void test_maps(void)
{
	static char path[1100];
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	lg_map_out(&g, PID, START, START);
	expect(&g, at, "MAP_OUT from 0x555555555000 to 0x555555555000");

	memset(path, 'x', 1023);
	begin(&g);
	lg_map_in(&g, PID, START, path);
	lg_close(&g);
	expect_ok(&g, "ok: 4 records, 0 samples, 0 dropped, 1 PMCs, 0.000 s\n");

	memset(path, 'x', 1024);
	begin(&g);
	at = g.len;
	lg_map_in(&g, PID, START, path);
	expect(&g, at, "room for a path of 1028 bytes, more than 1024");

	begin(&g);
	at = g.len;
	lg_exec(&g, PID, LG_PMC, 0, 0, path);
	expect(&g, at, "room for a path of 1028 bytes, more than 1024");

	begin(&g);
	at = g.len;
	lg_record(&g, PMCLOG_T_PMCATTACH, 24 + 1028);
	expect(&g, at, "room for a path of 1028 bytes, more than 1024");
}

static void test_mappings(void)
{
	struct loggen g;
	size_t at;

	begin(&g);
	at = g.len;
	lg_mapping(&g, PID, START, 1, 0);
	expect(&g, at, "MAPPING without its MAP_IN before it");

	begin(&g);
	lg_map_in(&g, PID + 1, START, "/x");
	at = g.len;
	lg_mapping(&g, PID, START, 1, 0);
	expect(&g, at, "MAPPING without its MAP_IN before it");

	begin(&g);
	lg_map_in(&g, PID, START + 0x1000, "/x");
	at = g.len;
	lg_mapping(&g, PID, START, 1, 0);
	expect(&g, at, "MAPPING without its MAP_IN before it");

	begin(&g);
	lg_map_in(&g, PID, START, "/x");
	lg_close(&g);
	lg_init(&g);
	at = g.len;
	lg_mapping(&g, PID, START, 1, 0);
	expect(&g, at, "MAPPING without its MAP_IN before it");

	begin(&g);
	lg_map_in(&g, PID, START, "/x");
	at = g.len;
	lg_mapping(&g, PID, START, 0, 0);
	expect(&g, at, "mapping of 0x0 bytes at 0x555555555000");

	begin(&g);
	lg_map_in(&g, PID, UINT64_MAX - 0xFFF, "/x");
	lg_mapping(&g, PID, UINT64_MAX - 0xFFF, 0x1000, 0);
	at = g.len;
	lg_mapping(&g, PID, UINT64_MAX - 0xFFF, 0x1001, 0);
	expect(&g, at, "mapping of 0x1001 bytes at 0xfffffffffffff000");

	begin(&g);
	at = g.len;
	lg_buildid(&g, 33, "x");
	expect(&g, at, "build-id of 33 bytes");
}

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
	expect_ok(&g, "ok: 4 records, 0 samples, 0 dropped, 1 PMCs, 0.000 s\n");

	begin(&g);
	at = g.len;
	lg_record(&g, PMCLOG_T_SYSEXIT, 4132);
	expect(&g, at, "record of 4132 bytes, more than 4128");
}

/* A log of 3 samples and 4 drops, whose account changes by @delta. */
static void test_account(size_t field, int delta, const char *what)
{
	struct loggen g;
	uint64_t v;
	size_t at;

	begin(&g);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_CONTENDED, 4);
	lg_drop(&g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 5);
	at = g.len;
	lg_close(&g);
	memcpy(&v, g.buf + at + 16 + field, 8);
	v += delta;
	memcpy(g.buf + at + 16 + field, &v, 8);
	expect(&g, at, what);
}

#define A(field) offsetof(struct pmclog_account, field)

static void test_accounts(void)
{
	const size_t dropped = A(dropped);
	struct loggen g;
	size_t at;

	test_account(A(overflows), 1, "account: 8 overflows, but 7 committed, "
		     "dropped or filtered");
	test_account(A(filtered), 1, "account: 7 overflows, but 8 committed, "
		     "dropped or filtered");
	test_account(dropped, 1, "account: 7 overflows, but 8 committed, "
		     "dropped or filtered");
	test_account(dropped + 24, -1, "account: 7 overflows, but "
		     "18446744073709551615 committed, dropped or filtered");
	test_account(A(written), -1, "account: 3 committed, but 2 written, "
		     "discarded or in rings");
	test_account(A(discarded), 1, "account: 3 committed, but 4 written, "
		     "discarded or in rings");
	test_account(A(in_rings), 1, "account: 3 committed, but 4 written, "
		     "discarded or in rings");
	test_account(A(proc_dropped), 1, "account: 6 process records dropped, "
		     "but 5 by the DROPNOTIFYs");

	/* laws kept, but the log tells another story */
	begin(&g);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	g.account.overflows++;
	g.account.committed++;
	g.account.written++;
	at = g.len;
	lg_close(&g);
	expect(&g, at, "account: 2 samples written, but 1 are in the log");

	begin(&g);
	g.account.overflows += 2;
	g.account.dropped[PMCLOG_DROP_NORING] = 2;
	at = g.len;
	lg_close(&g);
	expect(&g, at, "account: 2 dropped (noring), but 0 by the DROPNOTIFYs");

	begin(&g);
	at = g.len;
	lg_record(&g, PMCLOG_T_CLOSELOG, 16);
	expect(&g, at, "CLOSELOG without an account");
}

int main(void)
{
	test_sound();
	test_sums();
	test_ends();
	test_order();
	test_announced();
	test_init();
	test_chains();
	test_drops();
	test_maps();
	test_mappings();
	test_paddings();
	test_accounts();
	return done();
}
