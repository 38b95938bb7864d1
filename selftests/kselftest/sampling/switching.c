// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples taken within a switch from one process to another: the memory is the
 * other's already, and the task still the first.  Its chain has none of the other's
 * callers.
 *
 * Both processes have their stacks at the same addresses, and on them frames of the
 * same size, of other functions.
 */
#include <pthread.h>

#include <pmc.h>

#include "source.h"
#include "test.h"

#define TURNS		scaled(2000, 400)
#define DEPTH		6
#define STACK_SIZE	(256 << 10)
#define STACK_AT	((void *)0x3000000000UL)

/* A function that returns when the memory is the next task's */
#if defined(__x86_64__)
#define SWITCHED	"switch_mm_irqs_off"
#else
#define SWITCHED	"fpsimd_thread_switch"
#endif

#define FRAME	__attribute__((noipa, optimize("no-omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

/* ------------------------------------------------------------------------
 * The processes: alpha_down(), or beta_down(), calls itself DEPTH times and then plays
 * with the other process: each waits for the other's byte.
 */
struct player {
	int		in;
	int		out;
	int		done;	/* negative: it does not count turns */
};

FRAME static void play(const struct player *p)
{
	unsigned int turn;
	char c = 0;

	for (turn = 1; ; turn++) {
		if (read(p->in, &c, 1) != 1)
			_exit(1);
		if (write(p->done >= 0 && !(turn % TURNS) ? p->done : p->out, &c,
			  1) != 1)
			_exit(1);
	}
}

#define DOWN(name)							\
FRAME static void name(const struct player *p, unsigned int n)		\
{									\
	if (n)								\
		name(p, n - 1);						\
	else								\
		play(p);						\
	__asm__ volatile("");						\
}

DOWN(alpha_down)
DOWN(beta_down)

static void *alpha(void *p)
{
	pin_to(0);
	alpha_down(p, DEPTH);
	return NULL;
}

static void *beta(void *p)
{
	pin_to(0);
	beta_down(p, DEPTH);
	return NULL;
}

static pid_t start_player(void *(*body)(void *p), struct player p)
{
	pid_t pid = fork_bound();
	pthread_attr_t attr;
	pthread_t t;
	void *stack;

	if (pid)
		return pid;
	stack = mmap(STACK_AT, STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pthread_attr_init(&attr);
	if (stack != STACK_AT ||
	    pthread_attr_setstack(&attr, stack, STACK_SIZE) ||
	    pthread_create(&t, &attr, body, &p))
		_exit(1);
	for (;;)
		pause();
}

/* ------------------------------------------------------------------------ */

FIXTURE(switching)
{
	struct pmc_owner *owner;
	struct pmc_unwinder *unwinder;	/* NULL: no tables */
	struct symbols	*symbols;
	struct log	log;
	int		file;
	int		kick;		/* who writes there begins the turns */
	int		done;		/* ... and reads here when they are over */
	pid_t		alpha;
	pid_t		beta;
};

FIXTURE_SETUP(switching)
{
	int a[2], b[2], done[2];

	if (!tracefs_mount())
		SKIP(return, "this kernel has no tracefs");
	self->symbols = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, self->symbols);
	self->owner = pmc_owner_open(0);
	ASSERT_NE(NULL, self->owner);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(pmc_owner_fd(self->owner), self->file));
	ASSERT_EQ(0, pipe(a));
	ASSERT_EQ(0, pipe(b));
	ASSERT_EQ(0, pipe(done));
	self->kick = a[1];
	self->done = done[0];
	self->alpha = start_player(alpha, (struct player){ a[0], b[1], done[1] });
	self->beta = start_player(beta, (struct player){ b[0], a[1], -1 });
	ASSERT_LT(0, self->alpha);
	ASSERT_LT(0, self->beta);
}

FIXTURE_TEARDOWN(switching)
{
	if (!self->owner)
		return;
	load_end(self->alpha);
	load_end(self->beta);
	pmc_unwinder_end(self->unwinder);
	pmc_owner_close(self->owner);
}

static bool take_turns(FIXTURE_DATA(switching) *self)
{
	char c = 0;

	return write(self->kick, &c, 1) == 1 && read(self->done, &c, 1) == 1;
}

static bool is_player(FIXTURE_DATA(switching) *self, uint32_t pid)
{
	return pid == self->alpha || pid == self->beta;
}

/* Whether @rec is a chain that came later; then it is in @s. */
static bool user_chain(const struct pmclog_rec *rec, struct sample *s)
{
	const size_t head = sizeof(struct pmclog_ext_userchain);

	if (!IS_EXT(rec, USERCHAIN))
		return false;
	s->pid = REC32(rec, ext_userchain, pid);
	s->npc = (rec->len - head) / sizeof(s->pc[0]);
	memcpy(s->pc, rec->data + head, rec->len - head);
	return true;
}

struct callers {
	unsigned int	own;
	unsigned int	foreign;
};

/* Callers of the one process and of the other, in a chain of @pid */
static struct callers look_at(FIXTURE_DATA(switching) *self, pid_t pid,
			      const uint64_t *pc, unsigned int npc)
{
	const bool is_alpha = pid == self->alpha;
	struct callers c = {};
	unsigned int i;

	for (i = 1; i < npc; i++) {
		const char *name = symbols_name(self->symbols, pc[i] - 1);

		if (!strcmp(name, "alpha_down"))
			++*(is_alpha ? &c.own : &c.foreign);
		else if (!strcmp(name, "beta_down"))
			++*(is_alpha ? &c.foreign : &c.own);
	}
	return c;
}

/* What the log has of both processes */
struct switching_tally {
	unsigned int	n;
	unsigned int	late;
	unsigned int	cut;		/* because memory was not there */
	unsigned int	whole;		/* at once, with all of their own callers */
	unsigned int	answers;	/* likewise, later */
	unsigned int	foreign;	/* with a caller of the other process */
};

static void count(FIXTURE_DATA(switching) *self, const struct pmclog_rec *rec,
		  struct switching_tally *t)
{
	struct callers c;
	struct sample s;

	if (log_sample(rec, &s)) {
		if (!is_player(self, s.pid))
			return;
		c = look_at(self, s.pid, s.pc, s.npc);
		t->n++;
		t->late += s.late;
		t->cut += !!(s.flags & PMCLOG_CC_CUT(PMCLOG_CUT_USER));
		t->whole += c.own == DEPTH + 1;
	} else if (user_chain(rec, &s)) {
		if (!is_player(self, s.pid))
			return;
		c = look_at(self, s.pid, s.pc, s.npc);
		t->answers += c.own == DEPTH + 1;
	} else {
		return;
	}
	t->foreign += !!c.foreign;
}

/*
 * Nobody has a caller of the other process.  A thread answers for tables: a round may
 * take longer than the module waits for an answer.
 */
static void record(META, FIXTURE_DATA(switching) *self,
		   struct hwpmc_allocate a, unsigned int rounds,
		   struct switching_tally *t)
{
	int dev = pmc_owner_fd(self->owner);
	struct pmclog_rec rec;
	uint32_t id;

	*t = (struct switching_tally){};
	ASSERT_EQ(0, dev_run(dev, a, &id));
	if (a.flags & HWPMC_F_UNWIND) {
		self->unwinder = pmc_unwinder_begin(self->owner);
		ASSERT_NE(NULL, self->unwinder);
	}
	while (rounds--)
		EXPECT_TRUE(take_turns(self));
	ASSERT_EQ(0, dev_release(dev, id));
	END_LOG(dev, self->file, &self->log, LOG_DROPS);
	LOG_FOR_EACH(&self->log, rec)
		count(self, &rec, t);
	TH_LOG("%u samples: %u whole at once, %u late, %u cut; %u whole answers; %u have foreign callers",
	       t->n, t->whole, t->late, t->cut, t->answers, t->foreign);
	EXPECT_EQ(0, t->foreign);
}

/*
 * An event within the switch: all wait for their own chains, or are cut where this
 * kernel does not export what that takes.
 */
static void record_switches(META, FIXTURE_DATA(switching) *self,
			    const char *event, uint32_t flags)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_SS,
						 tracefs_id(event));
	struct switching_tally t;

	a.flags |= flags;
	record(_metadata, self, a, 3, &t);
	EXPECT_LT(TURNS, t.n);
	EXPECT_LE(9 * t.n, 10 * (t.late + t.cut));
	if (t.late)
		EXPECT_LT(TURNS / 2, t.answers);
}

static void record_kprobe(META, FIXTURE_DATA(switching) *self, uint32_t flags)
{
	tracefs_unprobe("kprobe", "hwpmc_k/switched");
	ASSERT_TRUE(tracefs_probe("kprobe", "r:hwpmc_k/switched " SWITCHED));
	record_switches(_metadata, self, "hwpmc_k/switched", flags);
	tracefs_unprobe("kprobe", "hwpmc_k/switched");
}

#if defined(__x86_64__)
TEST_F(switching, tracepoint)
{
	record_switches(_metadata, self, "tlb/tlb_flush", 0);
}

TEST_F(switching, tracepoint_by_tables)
{
	record_switches(_metadata, self, "tlb/tlb_flush", HWPMC_F_UNWIND);
}
#endif

TEST_F(switching, kprobe)
{
	record_kprobe(_metadata, self, 0);
}

TEST_F(switching, kprobe_by_tables)
{
	record_kprobe(_metadata, self, HWPMC_F_UNWIND);
}

/* Where overflows are NMIs, some hit the switch. */
static void record_cycles(META, FIXTURE_DATA(switching) *self, uint32_t flags)
{
	struct hwpmc_allocate a = pmc_sampler(CYCLES, CYCLES_PERIOD / 5 + 3);
	struct switching_tally t;

	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	a.flags |= flags;
	record(_metadata, self, a, scaled(10, 5), &t);
	EXPECT_LT(20, t.whole);
}

TEST_F(switching, cycles)
{
	record_cycles(_metadata, self, 0);
}

TEST_F(switching, cycles_by_tables)
{
	record_cycles(_metadata, self, HWPMC_F_UNWIND);
}

TEST_HARNESS_MAIN
