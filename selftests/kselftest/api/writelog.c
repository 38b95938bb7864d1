// SPDX-License-Identifier: GPL-2.0-only
/*
 * What user space puts into the log, and what the kernel says of its modules.
 */

#include "module.h"
#include "proclog.h"
#include "rate.h"
#include "test.h"

/* ------------------------------------------------------------------------
 * Records for the bulk form
 */
struct batch {
	unsigned char data[8192];
	uint32_t len;
};

static void *add(struct batch *b, uint32_t type, uint32_t fixed,
		 const void *strings, uint32_t n)
{
	uint32_t len = (fixed + n + 3) & ~3U;
	struct pmclog_hdr *h = (void *)(b->data + b->len);

	memset(h, 0, len);
	h->header = PMCLOG_HEADER(type, len);
	h->tsc = 12345;		/* to be replaced */
	memcpy((char *)h + fixed, strings, n);
	b->len += len;
	return h;
}

static void *add_ext(struct batch *b, uint16_t subtype, uint32_t fixed,
		     const void *strings, uint32_t n)
{
	struct pmclog_ext *e = add(b, PMCLOG_T_USERDATA, fixed, strings, n);

	e->cookie = PMCLOG_EXT_COOKIE;
	e->subtype = subtype;
	return e;
}

static struct pmclog_map_in *add_map(struct batch *b, const char *path)
{
	struct pmclog_map_in *m = add(b, PMCLOG_T_MAP_IN, sizeof(*m), path,
				      strlen(path) + 1);

	m->pid = PMCLOG_PID_KERNEL;
	m->start = 0xFFFFFFFFC0100000ULL;
	return m;
}

#define KERNEL(b)	add_ext(b, PMCLOG_EXT_KERNEL, \
				sizeof(struct pmclog_ext_kernel), "a_symbol", 9)
#define MODULE(b)	add_ext(b, PMCLOG_EXT_MODULE, \
				sizeof(struct pmclog_ext_module), "a_module", 9)
#define SECTION(b)	add_ext(b, PMCLOG_EXT_SECTION, \
				sizeof(struct pmclog_ext_section), \
				"a_module\0.text", 15)
#define BUILDID(b)	add_ext(b, PMCLOG_EXT_BUILDID, \
				sizeof(struct pmclog_ext_buildid), "[kernel]", 9)
#define FIELDS(b)	add_ext(b, PMCLOG_EXT_FIELDS, \
				sizeof(struct pmclog_ext_fields), \
				"field:int a;\nfield:int b;\n", 27)

static void fill(struct batch *b)
{
	struct pmclog_ext_buildid *id;

	b->len = 0;
	add_map(b, "/lib/modules/a_module.ko");
	MODULE(b);
	SECTION(b);
	id = BUILDID(b);
	id->len = 20;
	FIELDS(b);
	KERNEL(b);
}

#define BATCH		6	/* records */

/* How many of the records of fill() are in the log, their stamps apart. */
static unsigned int find_batch(struct log *log, const struct batch *b)
{
	unsigned int found = 0;
	struct pmclog_rec rec;
	uint32_t at, len;

	LOG_FOR_EACH(log, rec) {
		for (at = 0; at < b->len; at += len) {
			const unsigned char *p = b->data + at;

			len = PMCLOG_HEADER_LEN(pmclog_get32(p));
			found += len == rec.len && !memcmp(p, rec.data, 8) &&
				 !memcmp(p + 16, rec.data + 16, len - 16);
		}
	}
	return found;
}

/* In the log, and again at the start of the next one; the stamps are right. */
TEST(bulk)
{
	int dev = dev_open(), first = temp_file(), second = temp_file();
	struct log log;
	struct batch b;

	fill(&b);
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len));
	ASSERT_EQ(0, dev_configure(dev, first));
	ASSERT_EQ(0, dev_bulk(dev, b.data, b.len));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), NULL));
	sleep_ms(200);
	ASSERT_EQ(0, dev_rotate(dev, second));
	sleep_ms(200);
	END_LOG(dev, first, &log, 0);
	EXPECT_EQ(BATCH, find_batch(&log, &b));
	LOAD_LOG(&log, second, 0);
	EXPECT_EQ(BATCH, find_batch(&log, &b));
}

/* While samples are written: before the next flush ends. */
TEST(bulk_under_fire)
{
	int dev = dev_open(), file = temp_file(), i;
	struct log log;
	struct batch b;

	fill(&b);
	BEGIN_LOG(dev, file, pmc_clock(bearable_hz(5000)), NULL);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, dev_bulk(dev, b.data, b.len));
		sleep_ms(10);
	}
	ASSERT_EQ(0, dev_flush(dev));
	LOAD_LOG(&log, file, LOG_CUT | LOG_DROPS);
	EXPECT_EQ(20 * BATCH, find_batch(&log, &b));
	ASSERT_EQ(0, dev_closelog(dev));
}

/* One byte of one field spoils the batch: EINVAL, and none of it is taken. */
struct spoil {
	const char	*what;
	uint32_t	offset;		/* in the last record */
	uint32_t	size;
	uint32_t	value;
	enum { R_KERNEL, R_SECTION, R_BUILDID, R_FIELDS, R_MAP } record;
};

#define F(type, field)	offsetof(struct type, field), \
			sizeof(((struct type *)0)->field)

static const struct spoil spoils[] = {
	{ "magic", 3, 1, 0xED, R_KERNEL },
	{ "length 0", 0, 2, 0, R_KERNEL },
	{ "length of a header", 0, 2, 16, R_KERNEL },
	{ "length without string", 0, 2, 32, R_KERNEL },
	{ "length not of words", 0, 2, 34, R_KERNEL },
	{ "length beyond the batch", 0, 2, 400, R_KERNEL },
	{ "type CALLCHAIN", 2, 1, PMCLOG_T_CALLCHAIN, R_KERNEL },
	{ "type CLOSELOG", 2, 1, PMCLOG_T_CLOSELOG, R_KERNEL },
	{ "type 0", 2, 1, 0, R_KERNEL },
	{ "spare", F(pmclog_hdr, spare), 1, R_KERNEL },
	{ "cookie", F(pmclog_ext, cookie), 7, R_KERNEL },
	{ "subtype CLOCK", F(pmclog_ext, subtype), PMCLOG_EXT_CLOCK, R_KERNEL },
	{ "subtype HOST", F(pmclog_ext, subtype), PMCLOG_EXT_HOST, R_KERNEL },
	{ "subtype MAPPING", F(pmclog_ext, subtype), PMCLOG_EXT_MAPPING,
	  R_KERNEL },
	{ "subtype RATE", F(pmclog_ext, subtype), PMCLOG_EXT_RATE, R_KERNEL },
	{ "subtype 99", F(pmclog_ext, subtype), 99, R_KERNEL },
	{ "version", F(pmclog_ext, version), 1, R_KERNEL },
	{ "one string of two", sizeof(struct pmclog_ext_section) + 14, 2,
	  0x4141, R_SECTION },
	{ "build-id of 33 bytes", F(pmclog_ext_buildid, len), 33, R_BUILDID },
	{ "padding of fields", F(pmclog_ext_fields, pad), 1, R_FIELDS },
	{ "fields without a text", 0, 2, 40, R_FIELDS },
	{ "process' mapping", F(pmclog_map_in, pid), 1, R_MAP },
	{ "padding", F(pmclog_map_in, pad), 1, R_MAP },
};

TEST(bulk_refused)
{
	int dev = dev_open(), file = temp_file();
	struct batch good, b;
	unsigned int i;
	struct log log;
	void *rec;

	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < ARRAY_SIZE(spoils); i++) {
		const struct spoil *s = &spoils[i];

		fill(&b);
		rec = s->record == R_KERNEL ? KERNEL(&b) :
		      s->record == R_SECTION ? SECTION(&b) :
		      s->record == R_BUILDID ? BUILDID(&b) :
		      s->record == R_FIELDS ? FIELDS(&b) :
		      (void *)add_map(&b, "/x");
		memcpy((char *)rec + s->offset, &s->value, s->size);
		EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len))
			TH_LOG("%s", s->what);
	}
	/* the end cut off */
	fill(&b);
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len - 4));
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len + 4));
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, 8));
	/* a string without an end */
	b.len = 0;
	memset((char *)KERNEL(&b) + sizeof(struct pmclog_ext_kernel), 'A', 12);
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len));
	/* something behind the string, and more padding than it takes */
	b.len = 0;
	add_ext(&b, PMCLOG_EXT_KERNEL, sizeof(struct pmclog_ext_kernel),
		"abc\0x", 6);
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len));
	b.len = 0;
	add_ext(&b, PMCLOG_EXT_KERNEL, sizeof(struct pmclog_ext_kernel),
		"abc\0\0\0\0\0", 8);
	EXPECT_EQ(-EINVAL, dev_bulk(dev, b.data, b.len));
	END_LOG(dev, file, &log, 0);
	fill(&good);
	EXPECT_EQ(0, find_batch(&log, &good));
}

/* They are the log's, not the descriptor's, which may have many. */
TEST(bulk_of_one_log)
{
	int dev = dev_open(), file = -1;
	unsigned int i, n = 0;
	struct batch b;
	struct log log;
	char *big = calloc(1, HWPMC_WRITELOG_MAX);
	uint32_t len = 0;

	ASSERT_NE(NULL, big);
	fill(&b);
	for (; len + b.len <= HWPMC_WRITELOG_MAX / 3; len += b.len, n++)
		memcpy(big + len, b.data, b.len);
	for (i = 0; i < 5; i++) {
		close(file);
		file = temp_file();
		ASSERT_EQ(0, dev_configure(dev, file));
		ASSERT_EQ(0, dev_bulk(dev, big, len));
		ASSERT_EQ(0, dev_closelog(dev));
	}
	LOAD_LOG(&log, file, 0);
	EXPECT_EQ(n * BATCH, find_batch(&log, &b));
	free(big);
	close(dev);
}

/* A log's bound, and not a byte more in many calls either. */
TEST(bulk_bound)
{
	int dev = dev_open(), file = temp_file(), err;
	char *big = calloc(1, HWPMC_WRITELOG_MAX + 4096);
	uint32_t len = 0, total = 0;
	struct log log;
	struct batch b;

	ASSERT_NE(NULL, big);
	fill(&b);
	ASSERT_EQ(0, dev_configure(dev, file));
	while (len + b.len <= HWPMC_WRITELOG_MAX / 2) {
		memcpy(big + len, b.data, b.len);
		len += b.len;
	}
	while (!(err = dev_bulk(dev, big, len)))
		total += len;
	EXPECT_EQ(-E2BIG, err);
	EXPECT_LE(total, HWPMC_WRITELOG_MAX);
	EXPECT_LT(HWPMC_WRITELOG_MAX, total + len);
	while (!(err = dev_bulk(dev, b.data, b.len)))
		total += b.len;
	EXPECT_EQ(-E2BIG, err);
	EXPECT_LE(total, HWPMC_WRITELOG_MAX);
	EXPECT_LT(HWPMC_WRITELOG_MAX, total + b.len);
	END_LOG(dev, file, &log, 0);
	EXPECT_EQ(total / b.len * BATCH, find_batch(&log, &b));
}

/* Words from both CPUs, in the order in which they were written. */
TEST(words)
{
	int dev = dev_open(), file = temp_file();
	unsigned int i, n = 500, next = 0;
	struct pmclog_rec rec;
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < n; i++) {
		pin_to(i / 10 % 2);
		ASSERT_EQ(0, dev_userdata(dev, 0x10000 + i));
	}
	ASSERT_EQ(0, dev_userdata(dev, 0));
	ASSERT_EQ(0, dev_userdata(dev, UINT32_MAX));
	END_LOG(dev, file, &log, 0);
	LOG_FOR_EACH(&log, rec) {
		uint32_t v = REC32(&rec, userdata, userdata);

		if (rec.type == PMCLOG_T_USERDATA && v >> 16 == 1)
			EXPECT_EQ(0x10000 + next++, v);
	}
	EXPECT_EQ(n, next);
	EXPECT_EQ(1, log_count(&log, PMCLOG_T_USERDATA, 16, UINT32_MAX));
}

/* ------------------------------------------------------------------------
 * Kernel modules that come and go
 */
#define OTHER	"loop"	/* of every kernel we know */

static uint64_t section_addr(const char *module, const char *section)
{
	char path[200], line[64];

	snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module,
		 section);
	return read_line(path, line, sizeof(line)) ?
	       strtoull(line, NULL, 16) : 0;
}

/* A log in @file, during which module OTHER comes */
#define OTHER_COMES(dev, file) do {					\
	char path_[PATH_MAX];						\
									\
	if (!other_module_find(OTHER, path_))				\
		SKIP(return, "no module to load here");			\
	other_module_unload(OTHER);					\
	if (!access("/sys/module/" OTHER, F_OK))			\
		SKIP(return, OTHER " is in use");			\
	BEGIN_LOG(dev, file, pmc_clock(1000), NULL);			\
	ASSERT_EQ(0, other_module_load(path_));				\
} while (0)

TEST(module_comes_and_goes)
{
	int dev = dev_open(), file = temp_file();
	uint64_t text, start = 0, len = 0;
	unsigned int in = 0, out = 0;
	struct pmclog_rec rec;
	struct log log;

	OTHER_COMES(dev, file);
	text = section_addr(OTHER, ".text");
	ASSERT_EQ(0, other_module_unload(OTHER));
	END_LOG(dev, file, &log, 0);
	LOG_FOR_EACH(&log, rec) {
		if (rec.type == PMCLOG_T_MAP_IN &&
		    !strcmp(REC_TEXT(&rec, map_in, path), "[" OTHER "]")) {
			in++;
			EXPECT_EQ(PMCLOG_PID_KERNEL, REC32(&rec, map_in, pid));
			start = REC64(&rec, map_in, start);
		}
		if (IS_EXT(&rec, MODULE) &&
		    !strcmp(REC_TEXT(&rec, ext_module, name), OTHER)) {
			EXPECT_EQ(start, REC64(&rec, ext_module, start));
			len = REC64(&rec, ext_module, len);
		}
		if (rec.type == PMCLOG_T_MAP_OUT &&
		    REC32(&rec, map_out, pid) == PMCLOG_PID_KERNEL) {
			out++;
			EXPECT_EQ(start, REC64(&rec, map_out, start));
			EXPECT_EQ(start + len, REC64(&rec, map_out, end));
		}
	}
	EXPECT_EQ(1, in);
	EXPECT_EQ(1, out);
	/* .text lies in it, if not at its very start */
	EXPECT_LE(start, text);
	EXPECT_LT(text, start + len);
}

/* What hwpmc(4) says of modules that are there already; how many were told */
static unsigned int log_modules(int dev)
{
	FILE *f = fopen("/proc/modules", "re");
	struct batch b;
	unsigned int n = 0;
	char name[64], path[72];
	uint64_t start;

	while (f && fscanf(f, "%63s %*s %*s %*s %*s %" SCNx64 "%*[^\n]", name,
			   &start) == 2) {
		b.len = 0;
		snprintf(path, sizeof(path), "[%s]", name);
		add_map(&b, path)->start = start;
		n += !dev_bulk(dev, b.data, b.len);
	}
	if (f)
		fclose(f);
	return n;
}

/* As proc_kernel_maps(), of a file. */
static unsigned int kernel_maps(int file, const char *path, uint64_t *start)
{
	unsigned int n;
	struct log log;

	if (!log_load(&log, file) || log_check(&log, 0))
		return ~0U;
	n = proc_kernel_maps(&log, path, start);
	log_free(&log);
	return n;
}

/* ... which a client writes that it is there */
#define OTHER_IS_THERE(dev, file) do {					\
	char path_[PATH_MAX];						\
									\
	if (!other_module_find(OTHER, path_))				\
		SKIP(return, "no module to load here");			\
	other_module_load(path_);	/* or it is there */		\
	ASSERT_EQ(0, access("/sys/module/" OTHER, F_OK));		\
	ASSERT_EQ(0, dev_configure(dev, file));				\
	ASSERT_LT(0, log_modules(dev));					\
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), NULL));		\
} while (0)

/* Ends it; then it is in the log and the next one, at *@start. */
static void check_both(META, int dev, int file, int next, uint64_t *start)
{
	uint64_t again = 1;

	ASSERT_EQ(0, dev_rotate(dev, next));
	ASSERT_EQ(0, dev_closelog(dev));
	EXPECT_EQ(1, kernel_maps(file, "[" OTHER "]", start));
	EXPECT_EQ(1, kernel_maps(next, "[" OTHER "]", &again));
	EXPECT_EQ(*start, again);
}

/* A client that writes them has them in this log, and in the next one. */
TEST(module_loaded_earlier)
{
	int dev = dev_open(), file = temp_file(), next = temp_file();
	uint64_t start = 0, text;

	OTHER_IS_THERE(dev, file);
	check_both(_metadata, dev, file, next, &start);
	text = section_addr(OTHER, ".text");
	EXPECT_LE(start, text);
	EXPECT_GT(start + (1 << 24), text);
	other_module_unload(OTHER);
}

/* True if the last that @log says of the module at @start is that it has gone. */
static bool kernel_map_is_out(int file, uint64_t start)
{
	struct pmclog_rec rec;
	bool out = false;
	struct log log;

	if (!log_load(&log, file))
		return false;
	LOG_FOR_EACH(&log, rec) {
		if (rec.type == PMCLOG_T_MAP_IN &&
		    REC64(&rec, map_in, start) == start)
			out = false;
		if (rec.type == PMCLOG_T_MAP_OUT &&
		    REC64(&rec, map_out, start) == start)
			out = true;
	}
	log_free(&log);
	return out;
}

/* Loaded while a log is open, a module is in the logs that follow until it goes. */
TEST(module_in_next_log)
{
	int dev = dev_open(), file = temp_file(), next = temp_file();
	int third = temp_file(), last = temp_file();
	uint64_t start = 0, again = 1, thrice = 2, none;

	OTHER_COMES(dev, file);
	ASSERT_EQ(0, dev_rotate(dev, next));
	ASSERT_EQ(0, dev_rotate(dev, third));
	ASSERT_EQ(0, other_module_unload(OTHER));
	ASSERT_EQ(0, dev_rotate(dev, last));
	ASSERT_EQ(0, dev_closelog(dev));
	EXPECT_EQ(1, kernel_maps(file, "[" OTHER "]", &start));
	EXPECT_EQ(1, kernel_maps(next, "[" OTHER "]", &again));
	EXPECT_EQ(1, kernel_maps(third, "[" OTHER "]", &thrice));
	EXPECT_EQ(0, kernel_maps(last, "[" OTHER "]", &none));
	EXPECT_EQ(start, again);
	EXPECT_EQ(start, thrice);
	EXPECT_FALSE(kernel_map_is_out(next, start));
	EXPECT_TRUE(kernel_map_is_out(third, start));
}

/* As pmcstat does: it writes the modules again before each rotation. */
TEST(module_written_meanwhile)
{
	int dev = dev_open(), file = temp_file(), next = temp_file();
	int last = temp_file();
	uint64_t start = 0;

	OTHER_COMES(dev, file);
	ASSERT_LT(0, log_modules(dev));
	ASSERT_EQ(0, dev_rotate(dev, next));
	ASSERT_EQ(0, other_module_unload(OTHER));
	ASSERT_EQ(0, dev_rotate(dev, last));
	ASSERT_EQ(0, dev_closelog(dev));
	EXPECT_LT(0, kernel_maps(next, "[" OTHER "]", &start));
	EXPECT_TRUE(kernel_map_is_out(next, start));
	EXPECT_LT(0, kernel_maps(last, "[" OTHER "]", &start));
	EXPECT_TRUE(kernel_map_is_out(last, start));
}

/* A client has written it, and it has gone since: the next log has no such module. */
TEST(module_gone_in_next_log)
{
	int dev = dev_open(), file = temp_file(), next = temp_file();
	uint64_t start = 0;

	OTHER_IS_THERE(dev, file);
	if (other_module_unload(OTHER))
		SKIP(return, OTHER " is in use");
	check_both(_metadata, dev, file, next, &start);
	EXPECT_TRUE(kernel_map_is_out(file, start));
	EXPECT_TRUE(kernel_map_is_out(next, start));
}

TEST_HARNESS_MAIN
