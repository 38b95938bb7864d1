/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of calls, and the error that each returns.  Included by each program of
 * such tables: the fixture is a part of it.
 */
#ifndef API_ERRORS_H
#define API_ERRORS_H

#include <sys/eventfd.h>

#include "test.h"

#define NO_FD	9999

/* What is written over an otherwise good argument. */
struct patch {
	size_t		offset;
	size_t		size;
	uint64_t	value;
};

#define P(type, field, v) \
	{ offsetof(struct type, field), sizeof(((struct type *)0)->field), \
	  (uint64_t)(v) }
#define A(field, v)	P(hwpmc_allocate, field, v)
#define S(field, v)	P(hwpmc_simple, field, v)
#define C(field, v)	P(hwpmc_setcount, field, v)
#define R(field, v)	P(hwpmc_rw, field, v)
#define W(field, v)	P(hwpmc_writelog, field, v)
#define L(field, v)	P(hwpmc_configurelog, field, v)
#define F(field, v)	P(hwpmc_filter, field, v)

/* Values only known at run time, told from others by their upper half. */
#define LATE		0xAB5E11ULL << 40
enum late {
	COUNTER = 1, SAMPLER, RUNNING, STOPPED, SINGLE,	/* PMC ids */
	FILE_FD, RDONLY_FD, DIR_FD, PATH_FD, NULL_FD, EVENT_FD, DEVICE_FD,
	JUNK_PTR, ZERO_PTR, NO_PTR,
	NLATE,
};
#define LATER(what)	(LATE | (what))

/* fresh: just opened; owner: has PMCs; logging: has the same and a log */
enum state { FRESH, OWNER, LOGGING, NSTATE };

struct call {
	const char	*what;
	enum state	state;
	unsigned long	cmd;
	int		want;
	struct patch	patch[4];
};

FIXTURE(errors)
{
	int dev[NSTATE];
	uint64_t late[NLATE];
};

static uint32_t make_pmcs(int dev, uint64_t *late)
{
	struct hwpmc_allocate a[5] = {
		pmc_counter(FAULTS),
		pmc_clock(100),
		pmc_counter(CPU_CLOCK),
		pmc_counter(CPU_CLOCK),
		pmc_counter(CPU_CLOCK),
	};
	unsigned int i, bad = 0;

	a[4].cpu = 0;
	for (i = 0; i < 5; i++) {
		bad |= !!dev_allocate(dev, &a[i]);
		late[COUNTER + i] = a[i].id;
	}
	bad |= dev_start(dev, late[RUNNING]) || dev_start(dev, late[STOPPED]);
	bad |= !!dev_stop(dev, late[STOPPED]);
	return bad;
}

FIXTURE_SETUP(errors)
{
	static unsigned char zeros[64];
	static unsigned char junk[64] = { [0 ... 63] = 0x5A };
	unsigned int i;

	for (i = 0; i < NSTATE; i++) {
		OPEN_DEVICE(self->dev[i]);
	}
	ASSERT_EQ(0, make_pmcs(self->dev[OWNER], self->late));
	/* rows are handed out in turn: the same ids again */
	ASSERT_EQ(0, make_pmcs(self->dev[LOGGING], self->late));
	self->late[FILE_FD] = temp_file();
	self->late[RDONLY_FD] = open("/proc/self/exe", O_RDONLY);
	self->late[DIR_FD] = open("/tmp", O_RDONLY | O_DIRECTORY);
	self->late[PATH_FD] = open("/tmp", O_PATH);
	self->late[NULL_FD] = open("/dev/null", O_WRONLY);
	self->late[EVENT_FD] = eventfd(0, 0);
	self->late[DEVICE_FD] = self->dev[FRESH];
	self->late[JUNK_PTR] = (uintptr_t)junk;
	self->late[ZERO_PTR] = (uintptr_t)zeros;
	self->late[NO_PTR] = 8;
	for (i = FILE_FD; i <= DEVICE_FD; i++)
		ASSERT_LE(0, (int)self->late[i]);
	ASSERT_EQ(0, dev_configure(self->dev[LOGGING], temp_file()));
}

FIXTURE_TEARDOWN(errors)
{
}

static void apply(void *arg, const struct patch *p, const uint64_t *late)
{
	uint64_t value = p->value;

	if ((value & (0xFFFFFFULL << 40)) == LATE)
		value = late[value & 0xFF];
	memcpy((char *)arg + p->offset, &value, p->size);
}

static uint64_t failures(int dev)
{
	struct hwpmc_driverstats st;

	return dev_stats(dev, HWPMC_STATS_OWNER, &st) ? UINT64_MAX :
							st.syscall_errors;
}

static int do_call(const struct call *c, int dev, const uint64_t *late)
{
	unsigned char arg[512] = {};
	unsigned int i;

	if (c->cmd == HWPMC_IOC_PMCALLOCATE) {
		struct hwpmc_allocate a = pmc_clock(100);

		a.flags &= ~HWPMC_F_INCLUDE_OWNER;	/* of one mode only */
		memcpy(arg, &a, sizeof(a));
	}
	for (i = 0; i < 4; i++)
		apply(arg, &c->patch[i], late);
	return dev_ioctl(dev, c->cmd, arg);
}

static void run_calls(META, const int *devs, const uint64_t *late,
		      const struct call *calls, unsigned int n)
{
	uint64_t before, after;
	unsigned int i;
	int got;

	for (i = 0; i < n; i++) {
		const struct call *c = &calls[i];

		before = failures(devs[c->state]);
		got = do_call(c, devs[c->state], late);
		after = failures(devs[c->state]);
		EXPECT_EQ(c->want, got)
			TH_LOG("%s: %s, not %s", c->what, strerror(-got),
			       strerror(-c->want));
		EXPECT_EQ(before + !!got, after)
			TH_LOG("%s: syscall_errors %" PRIu64 " -> %" PRIu64,
			       c->what, before, after);
	}
}

#define RUN_CALLS(table)						\
	run_calls(_metadata, self->dev, self->late, table, ARRAY_SIZE(table))

/* An id that could be one, and some that cannot. */
#define ID_FREE		HWPMC_ID(0xFFF, HWPMC_MODE_SC, HWPMC_CLASS_SOFT, 77)
#define ID_NO_CLASS	HWPMC_ID(0xFFF, HWPMC_MODE_SC, 0, 0)
#define ID_NO_MODE	HWPMC_ID(0xFFF, 7, HWPMC_CLASS_SOFT, 0)
#define ID_OTHER_CPU	HWPMC_ID(3, HWPMC_MODE_SC, HWPMC_CLASS_SOFT, 0)

#endif /* API_ERRORS_H */
