// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes make random calls, and are killed at random moments: nothing
 * hangs, nothing is left, nothing is said, and no log tells a lie.
 *
 * A storm is rounds; in each, processes of actors (lib/actor.h) come and go.
 * HWPMC_STORM_SECONDS is its length, HWPMC_SEED repeats one (what every actor
 * tries, that is: the machine decides on the rest), HWPMC_STORM_ROUND begins it
 * at that round.
 */
#include "test.h"

#include <sys/mount.h>

#include "actor.h"
#include "module.h"

/* The watchdog and whoever runs us have limits of their own. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	14400

#define PROCESSES	3
#define HOTPLUG_SLOT	(PROCESSES * ACTOR_THREADS)
#define MODULE_SLOT	(HOTPLUG_SLOT + 1)
#define RUN_SLOT	(HOTPLUG_SLOT + 2)

/* A close takes a second at most; ticks of 10 ms of the watchdog. */
#define CALL_TICKS	scaled(200, 600)
/* A process has a few devices, and ends one after the other. */
#define DEATH_TICKS	scaled(1500, 3000)
/* Seconds that a slow machine has for its first sample and its first whole log. */
#define MORE_TIME	240

/**
 * struct control - who lets the storm loose
 * @doomed: the watchdog's tick by which the process must be gone, 0: lives
 * @hung: says what was wrong
 */
struct control {
	struct storm	*st;
	struct rng	rng;
	pid_t		pid[PROCESSES];
	uint32_t	life[PROCESSES];
	uint64_t	doomed[PROCESSES];
	pid_t		hotplug, module;
	unsigned int	deaths;
	bool		hung;
};

/* ------------------------------------------------------------------------
 * The watch
 */
static void hang(struct control *c, const char *what, const char *call,
		 pid_t pid, pid_t tid, uint64_t step)
{
	unsigned int i;

	printf("# HWPMC_SEED=%llu round %u: %s: %s (pid %d tid %d step %llu)\n",
	       (unsigned long long)c->st->seed, c->st->round, what,
	       call ? call : "?", pid, tid, (unsigned long long)step);
	watch_dump();
	c->hung = true;
	c->st->stop = true;
	for (i = 0; i < PROCESSES; i++)
		if (c->pid[i] > 0)
			kill(c->pid[i], SIGKILL);
}

static void reap(struct control *c, unsigned int i)
{
	int status;

	if (c->pid[i] <= 0)
		return;
	if (waitpid(c->pid[i], &status, WNOHANG) != c->pid[i]) {
		if (c->doomed[i] && c->st->watch.now > c->doomed[i] && !c->hung)
			hang(c, "does not die", "exit", c->pid[i], c->pid[i], 0);
		return;
	}
	if (WIFEXITED(status) ? WEXITSTATUS(status) :
				WTERMSIG(status) != SIGKILL) {
		printf("# process %u ended with %#x\n", i, status);
		c->st->faults++;
	}
	watch_forget(&c->st->watch, c->pid[i]);
	c->pid[i] = 0;
}

static void tick(struct control *c)
{
	const struct watch_slot *s;
	unsigned int i;

	sleep_ms(WATCH_TICK_MS);
	s = watch_tick(&c->st->watch);
	if (s && !c->hung)
		hang(c, "does not return", s->call, s->pid, s->tid, s->step);
	for (i = 0; i < PROCESSES; i++)
		reap(c, i);
}

/* Has @fn done in a process of its own, under watch. */
static int watched(struct control *c, const char *name, int (*fn)(const char *),
		   const char *arg)
{
	struct watch *w = &c->st->watch;
	pid_t pid = fork_bound();
	int status;

	if (!pid) {
		watch_begin(w, RUN_SLOT, name, WAITS_NOT);
		status = fn(arg);
		watch_end(w, RUN_SLOT);
		_exit(-status);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		tick(c);
		if (c->hung)
			return -ETIMEDOUT;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* ------------------------------------------------------------------------
 * Who comes and goes
 */
static unsigned int processes(const struct storm *st)
{
	return st->sparse ? 2 : PROCESSES;
}

static void spawn(struct control *c, unsigned int i)
{
	c->doomed[i] = 0;
	c->pid[i] = fork_bound();
	if (c->pid[i])
		return;
	actor_process(c->st, i, c->life[i]);
	_exit(0);
}

static void slay(struct control *c, unsigned int i)
{
	if (c->pid[i] <= 0 || c->doomed[i])
		return;
	kill(c->pid[i], SIGKILL);
	c->doomed[i] = c->st->watch.now + DEATH_TICKS;
	c->deaths++;
}

/* CPU 1 goes and comes; what waits for that is not late. */
static void hotplug_body(struct storm *st, struct rng r)
{
	while (!st->stop) {
		sleep_ms(rng_below(&r, 1500));
		st->watch.paused++;
		cpu_set_online(1, false);
		st->watch.paused--;
		sleep_ms(rng_below(&r, 500));
		st->watch.paused++;
		cpu_set_online(1, true);
		st->watch.paused--;
	}
}

static const char *some_params(struct rng *r)
{
	static const char * const params[] = {
		"", "", "ringsize=16", "ringsize=64 logbuffersize=1",
		"callchaindepth=1", "callchaindepth=512 logbuffersize=4096",
	};

	return params[rng_below(r, ARRAY_SIZE(params))];
}

/* The module is unloaded whenever nobody uses it, and soon comes back. */
static void module_body(struct storm *st, struct rng r)
{
	int err;

	while (!st->stop) {
		sleep_ms(rng_below(&r, 100));
		watch_begin(&st->watch, MODULE_SLOT, "rmmod", WAITS_NOT);
		err = module_unload();
		watch_end(&st->watch, MODULE_SLOT);
		if (err)
			continue;
		st->unloads++;
		watch_begin(&st->watch, MODULE_SLOT, "insmod", WAITS_NOT);
		err = module_load(some_params(&r));
		watch_end(&st->watch, MODULE_SLOT);
		if (err) {
			printf("# insmod in the storm: %d\n", err);
			st->faults++;
		}
	}
}

static pid_t helper(struct control *c, unsigned int n,
		    void (*body)(struct storm *st, struct rng r))
{
	struct rng r = rng_branch(c->rng.state, n);
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	body(c->st, r);
	_exit(0);
}

/* ------------------------------------------------------------------------
 * A round
 */
static void round_begin(struct control *c)
{
	struct storm *st = c->st;
	unsigned int i;

	st->stop = false;
	c->rng = rng_branch(rng_branch(st->seed, st->round).state, 1000);
	st->sparse = rng_once(&c->rng, 4);
	socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, st->mail);
	for (i = 0; i < processes(st); i++) {
		c->life[i] = 0;
		spawn(c, i);
	}
	c->module = helper(c, 1, module_body);
	c->hotplug = rng_once(&c->rng, 3) ? helper(c, 2, hotplug_body) : 0;
}

/* The first one lives longer: some trouble takes its time. */
static unsigned int victim(struct control *c)
{
	unsigned int n = processes(c->st);

	return rng_once(&c->rng, 4) ? 0 : rng_below(&c->rng, n - 1) + 1;
}

/* Deaths are by steps taken, or slow machines would see nothing but births. */
static void round_go_on(struct control *c, uint64_t until)
{
	struct storm *st = c->st;
	uint64_t next_steps = 0, next_time = 0;
	unsigned int i;

	while (now_ns() < until && !c->hung) {
		tick(c);
		if (st->steps >= next_steps && now_ns() >= next_time) {
			if (next_steps)
				slay(c, victim(c));
			next_steps = st->steps + 20 + rng_below(&c->rng, 200);
			next_time = now_ns() + rng_below(&c->rng, 800) * MSEC;
		}
		for (i = 0; i < processes(st); i++) {
			if (c->pid[i] || c->hung)
				continue;
			c->life[i]++;
			spawn(c, i);
		}
	}
}

static bool anybody(const struct control *c)
{
	unsigned int i;

	for (i = 0; i < PROCESSES; i++)
		if (c->pid[i] > 0)
			return true;
	return false;
}

/* In peace, or by death. */
static void round_end(struct control *c)
{
	bool peace = rng_once(&c->rng, 2);
	uint64_t limit = c->st->watch.now + 2 * DEATH_TICKS;
	unsigned int i;

	c->st->stop = true;
	for (i = 0; i < PROCESSES; i++)
		if (!peace)
			slay(c, i);
	while (anybody(c) && !c->hung) {
		tick(c);
		if (c->st->watch.now > limit && !c->hung)
			hang(c, "does not end", "process", 0, 0, 0);
	}
	if (c->hung)
		return;
	wait_for(c->module);
	if (c->hotplug)
		wait_for(c->hotplug);
	cpu_set_online(1, true);
	close(c->st->mail[0]);
	close(c->st->mail[1]);
}

/* The device's last descriptor may be in a process' child, or on its way. */
static void wait_for_idle(struct control *c)
{
	uint64_t limit = c->st->watch.now + DEATH_TICKS;

	while (module_users() > 0 && !c->hung) {
		tick(c);
		if (c->st->watch.now > limit && !c->hung)
			hang(c, "is not given up", "the module", 0, 0, 0);
	}
}

/* All that was sampled since the module came has become something. */
static void check_module_account(struct control *c)
{
	struct hwpmc_driverstats st = {};
	struct pmclog_account *a = &st.account;
	uint64_t dropped = 0;
	int dev = dev_open(), i;

	if (dev < 0 || dev_stats(dev, HWPMC_STATS_MODULE, &st)) {
		printf("# no statistics: %d\n", dev);
		c->st->faults++;
	}
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		dropped += a->dropped[i];
	if (a->in_rings || a->committed != a->written + a->discarded ||
	    a->overflows != a->committed + dropped + a->filtered) {
		printf("# HWPMC_SEED=%llu round %u: %llu overflows, %llu committed, %llu dropped, %llu filtered, %llu written, %llu discarded, %lld in rings\n",
		       (unsigned long long)c->st->seed, c->st->round,
		       (unsigned long long)a->overflows,
		       (unsigned long long)a->committed,
		       (unsigned long long)dropped,
		       (unsigned long long)a->filtered,
		       (unsigned long long)a->written,
		       (unsigned long long)a->discarded,
		       (long long)a->in_rings);
		c->st->faults++;
	}
	close(dev);
}

static int unload(const char *params)
{
	return module_unload();
}

/* In one round; false ends the storm. */
static bool storm_round(struct control *c, uint64_t until)
{
	int err;

	round_begin(c);
	round_go_on(c, until);
	round_end(c);
	if (!c->hung)
		wait_for_idle(c);
	if (!c->hung)
		check_module_account(c);
	if (!c->hung)
		err = watched(c, "rmmod", unload, NULL);
	if (!c->hung && !err)
		err = watched(c, "insmod", module_load, some_params(&c->rng));
	if (c->hung)
		return false;
	if (err || !module_wait_for_device()) {
		printf("# the module went and came with %d\n", err);
		c->st->faults++;
		return false;
	}
	return !c->st->faults;
}

/* ------------------------------------------------------------------------
 * The storm
 */
static struct storm *storm_new(void)
{
	struct storm *st = shared_memory(sizeof(*st));

	if (!st)
		return NULL;
	st->seed = env_number("HWPMC_SEED", rng_seed());
	st->round = env_number("HWPMC_STORM_ROUND", 0);
	st->watch.limit = CALL_TICKS;
	return st;
}

static bool said_stuck(int kmsg)
{
	char rec[2048];
	bool stuck = false;
	ssize_t n;

	while ((n = read(kmsg, rec, sizeof(rec) - 1)) > 0 || errno == EPIPE) {
		rec[n > 0 ? n : 0] = '\0';
		stuck |= !!strstr(rec, "is stuck in its log file");
	}
	return stuck;
}

TEST(storm)
{
	unsigned int seconds = env_number("HWPMC_STORM_SECONDS", scaled(10, 30));
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct control c = { .st = storm_new() };
	uint64_t end, before = 0, after;
	struct storm *st = c.st;

	ASSERT_NE(NULL, st);
	TH_LOG("HWPMC_SEED=%llu HWPMC_STORM_SECONDS=%u",
	       (unsigned long long)st->seed, seconds);
	lseek(kmsg, 0, SEEK_END);
	ASSERT_TRUE(small_tmpfs(STORM_DIR, scaled(128, 256) << 20));
	ASSERT_TRUE(small_tmpfs(STORM_SMALL, 65536));
	end = now_ns() + seconds * NSEC;
	do {
		if (!storm_round(&c, now_ns() + scaled(5, 20) * NSEC))
			break;
		after = kernel_memory_kib();
		before = before ?: after;	/* caches are full */
		TH_LOG("round %u: %llu steps, %llu of %llu calls good, %u deaths, %llu reloads, logs: %llu whole, %llu cut, %llu samples; %llu KiB",
		       st->round, (unsigned long long)st->steps,
		       (unsigned long long)st->good,
		       (unsigned long long)st->calls, c.deaths,
		       (unsigned long long)st->unloads,
		       (unsigned long long)st->whole_logs,
		       (unsigned long long)st->cut_logs,
		       (unsigned long long)st->samples,
		       (unsigned long long)after);
		st->round++;
	} while (now_ns() < end || (!(st->samples && st->whole_logs) &&
				    now_ns() < end + MORE_TIME * NSEC));
	umount2(STORM_DIR, MNT_DETACH);
	umount2(STORM_SMALL, MNT_DETACH);
	TH_LOG("%u owners, %u waits ended by a signal, %u by death",
	       st->owners, st->watch.signals, st->watch.kills);
	ASSERT_FALSE(c.hung);
	EXPECT_EQ(0, st->faults);
	/* a slow machine's threads need not be stuck to be late */
	EXPECT_TRUE(!said_stuck(kmsg) || guest_is_slow());
	EXPECT_LT(0, st->whole_logs);
	EXPECT_LT(0, st->samples);
	/* an owner is 2 KiB, a ring is up to 1 MiB; kmemleak has its own memory */
	EXPECT_GT(before + scaled(800, 1 << 20) + st->owners / 2, after);
	EXPECT_TRUE(no_leaks());
}

TEST_HARNESS_MAIN
