// SPDX-License-Identifier: GPL-2.0-only
/*
 * No memory for those who work for an owner: the writer thread, who makes it,
 * and CPUs that come up.  The log says what is missing, and is complete again
 * when there is memory.
 */
#include "faults.h"

#define MAX_POINTS	100

/* The thread dumps a process again a second after it had no memory for that. */
#define AGAIN_MS	2000

/* The module's memory is what fails: at each of its points, while there are more */
#define FOR_EACH_POINT(n, hit)						\
	struct code module_;						\
									\
	NEED_POINTS();							\
	ASSERT_TRUE(code_of_module(&module_));				\
	inject_select(INJECT_MEMORY, &module_);				\
	for (n = 1; hit && n < MAX_POINTS; n++)

/* An owner with a log, and the next one. */
struct recorder {
	int		dev;
	int		file;
	int		next;
	pid_t		thread;
};

/* The thread has nothing to do yet. */
static void begin(META, struct recorder *r)
{
	*r = (struct recorder){
		.dev = dev_open(), .file = temp_file(), .next = temp_file(),
	};
	ASSERT_EQ(0, dev_configure(r->dev, r->file));
	r->thread = recorder_pid();
	ASSERT_LT(0, r->thread);
}

static void end(struct recorder *r)
{
	close(r->dev);
	close(r->file);
	close(r->next);
}

static int sample(struct recorder *r)
{
	return dev_run(r->dev, pmc_clock(100), NULL);
}

/* Then to write to it takes no memory. */
static void make_room(int file)
{
	fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 2 << 20);
}

/*
 * A log in which not all processes could be told of says so, and tells of them
 * later: of the first, and of us.  Returns whether it has said so.
 */
static bool check_told(META, int file, bool hit, uint64_t samples)
{
	size_t pid = offsetof(struct pmclog_proc_create, pid);
	struct log log;

	ASSERT_TRUE(log_load(&log, file));
	/* without the drops, all had to be told of before their samples */
	ASSERT_LOG(&log, hit ? LOG_PROC_DROPS : 0);
	EXPECT_LE(samples, log.samples);
	EXPECT_LT(0, log_count(&log, PMCLOG_T_PROC_CREATE, pid, 1));
	EXPECT_LT(0, log_count(&log, PMCLOG_T_PROC_CREATE, pid, getpid()));
	log_free(&log);
	return log.proc_dropped;
}

TEST(dump)
{
	unsigned int n, said = 0;
	struct recorder r;
	bool hit = true;

	FOR_EACH_POINT(n, hit) {
		begin(_metadata, &r);
		make_room(r.file);
		ASSERT_TRUE(inject_arm(r.thread, n));
		EXPECT_EQ(0, sample(&r)) TH_LOG("point %u", n);
		sleep_ms(300);
		hit = inject_disarm(r.thread);
		sleep_ms(hit ? AGAIN_MS : 0);
		ASSERT_EQ(0, dev_closelog(r.dev));
		said += check_told(_metadata, r.file, hit, 1);
		end(&r);
	}
	TH_LOG("dump of the processes: %u allocations failed, %u times told late",
	       n - 2, said);
	EXPECT_LT(0, said);
}

TEST(rotation)
{
	unsigned int n, said = 0;
	struct recorder r;
	bool hit = true;

	FOR_EACH_POINT(n, hit) {
		begin(_metadata, &r);
		make_room(r.file);
		make_room(r.next);
		ASSERT_EQ(0, sample(&r));
		ASSERT_EQ(0, dev_flush(r.dev));
		ASSERT_TRUE(inject_arm(r.thread, n));
		EXPECT_EQ(0, dev_rotate(r.dev, r.next)) TH_LOG("point %u", n);
		sleep_ms(300);
		hit = inject_disarm(r.thread);
		sleep_ms(hit ? AGAIN_MS : 0);
		ASSERT_EQ(0, dev_closelog(r.dev));
		/*
		 * The first may be over before the first sample.  It is dumped into
		 * as well, as far as a process is new to it: then it may say so, too.
		 */
		check_told(_metadata, r.file, hit, 0);
		said += check_told(_metadata, r.next, hit, 1);
		end(&r);
	}
	TH_LOG("rotation: %u allocations failed, %u times told late", n - 2,
	       said);
	EXPECT_LT(0, said);
}

/* Words enough for several pages of the file. */
static int write_words(int dev)
{
	int i, err = 0;

	for (i = 0; i < 1000 && !err; i++)
		err = dev_userdata(dev, i);
	return err ?: dev_flush(dev);
}

/*
 * The file has no memory for what is written: an error like any other, or a
 * short write.  The next log is not touched.
 */
TEST(write_error)
{
	unsigned int n, failed = 0;
	struct recorder r;
	bool hit = true;
	struct log log;
	int err;

	FOR_EACH_POINT(n, hit) {
		begin(_metadata, &r);
		ASSERT_TRUE(inject_arm(r.thread, n));
		err = write_words(r.dev);
		hit = inject_disarm(r.thread);
		if (err) {
			failed++;
			EXPECT_EQ(-ENOMEM, err) TH_LOG("point %u", n);
			EXPECT_EQ(-ENOMEM, dev_closelog(r.dev));
		}
		ASSERT_EQ(0, sample(&r));
		ASSERT_EQ(0, dev_rotate(r.dev, r.next));
		EXPECT_EQ(0, dev_flush(r.dev));
		sleep_ms(100);
		END_LOG(r.dev, r.next, &log, 0);
		log_free(&log);
		end(&r);
	}
	TH_LOG("writing: %u allocations failed, %u times for the user to see",
	       n - 2, failed);
	EXPECT_LT(0, failed);
}

/*
 * A log that is read from the device: what the queue has no memory for is put
 * there later.  Nothing is lost, and nothing comes twice.
 */
TEST(stream)
{
	unsigned int n, retried = 0;
	struct reader rd;
	bool hit = true;
	pid_t thread;
	int dev, i;

	FOR_EACH_POINT(n, hit) {
		dev = dev_open();
		ASSERT_EQ(0, dev_stream(dev, 0, 0));
		thread = recorder_pid();
		ASSERT_LT(0, thread);
		reader_begin(&rd, dev, 65536, 0);
		ASSERT_EQ(0, dev_flush(dev));
		ASSERT_TRUE(inject_arm(thread, n));
		for (i = 0; i < 20; i++) {
			EXPECT_EQ(0, dev_userdata(dev, i));
			EXPECT_EQ(0, dev_flush(dev));
		}
		hit = inject_disarm(thread);
		EXPECT_EQ(0, dev_closelog(dev)) TH_LOG("point %u", n);
		reader_end(&rd);
		ASSERT_LOG(&rd.log, 0);
		EXPECT_EQ(20, log_words(&rd.log));
		retried += hit;
		log_free(&rd.log);
		close(dev);
	}
	TH_LOG("stream: %u allocations failed", retried);
	EXPECT_LT(0, retried);
}

#define KTHREADD	2

/* The thread itself cannot be made. */
TEST(thread)
{
	int dev = dev_open(), file = temp_file(), err;
	unsigned int n, failed = 0;
	bool hit = true;

	NEED_POINTS();
	inject_select(INJECT_MEMORY, NULL);
	for (n = 1; hit && n < MAX_POINTS; n++) {
		ASSERT_TRUE(inject_arm(KTHREADD, n));
		err = dev_configure(dev, file);
		hit = inject_disarm(KTHREADD);
		if (err) {
			failed++;
			EXPECT_EQ(-ENOMEM, err) TH_LOG("point %u", n);
			EXPECT_TRUE(hit);
			EXPECT_EQ(-EINVAL, dev_flush(dev));
			EXPECT_EQ(1, module_users());
		} else {
			EXPECT_EQ(0, dev_closelog(dev));
		}
	}
	TH_LOG("writer thread: %u allocations failed, %u times no log", n - 2,
	       failed);
	EXPECT_LT(0, failed);
	close(dev);
	EXPECT_EQ(0, module_users());
}

/*
 * A CPU comes up while @from has no memory.  It joins in later; what was lost
 * until then is counted.  Returns how many samples were.
 */
static uint64_t bring_cpu(META, const struct code *from)
{
	uint64_t count = 0, dropped;
	struct recorder r;
	struct log log;
	uint32_t id;

	begin(_metadata, &r);
	make_room(r.file);
	ASSERT_EQ(0, sample(&r));
	ASSERT_EQ(0, dev_run(r.dev, pmc_counter(CPU_CLOCK), &id));
	inject_select(INJECT_MEMORY, from);
	inject_everywhere(true);
	EXPECT_EQ(0, cpu_set_online(1, true));
	sleep_ms(500);
	inject_everywhere(false);
	EXPECT_TRUE(wait_samples(r.dev, r.file, 1, .cpus = 1 << 1));
	EXPECT_EQ(0, dev_read(r.dev, id, 1, &count));
	EXPECT_LT(0, count);
	END_LOG(r.dev, r.file, &log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, log.cpu_samples[1]);
	dropped = log_dropped(&log);
	EXPECT_EQ(dropped, log.dropped[PMCLOG_DROP_NORING]);
	log_free(&log);
	end(&r);
	return dropped;
}

TEST(cpu_without_ring)
{
	struct code ring;
	uint64_t dropped;

	NEED_POINTS();
	ASSERT_TRUE(code_of_function("ring_create", &ring));
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	dropped = bring_cpu(_metadata, &ring);
	TH_LOG("%llu samples lost without a ring", (unsigned long long)dropped);
	EXPECT_LT(0, dropped);
}

TEST(cpu_without_events)
{
	struct code module;

	NEED_POINTS();
	ASSERT_TRUE(code_of_module(&module));
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	bring_cpu(_metadata, &module);
}

TEST_HARNESS_MAIN
