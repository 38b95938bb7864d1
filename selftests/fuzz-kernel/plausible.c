// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that make sense: arguments that a program would give, and before an
 * operation those that it would be nothing without.
 */
#include <stdbool.h>
#include <string.h>

#include "mutate.h"

/* What there has to be. */
#define DEV		0x01
#define LOG		0x02		/* a log, of any kind */
#define FLIGHT		0x04		/* ... a flight recorder */
#define STREAM		0x08		/* ... one that is read from the device */
#define SLOT		0x10		/* something that a log can go to */
#define PMC		0x20
#define PROCESS		0x40		/* ... of a process mode */
#define SAMPLER		0x80		/* ... of a sampling mode */
#define RUNS		0x100		/* ... that runs */
#define RESTS		0x200		/* ... that does not */
#define CHILD		0x400
#define INSIDE		0x800		/* of a child: it is one's operation */
#define UNWINDS		0x1000		/* a PMC that samples by unwind tables */
#define SAMPLED		0x2000		/* ... and something that it has sampled */
#define EMPTY		0x4000		/* a device without PMCs and log */

/* @weight: how often, compared with others, at most 12; 0: two */
static const struct rule {
	uint16_t needs;
	uint8_t	weight;
} rules[CODES] = {
	[OP_OPEN]		= { 0, 1 },
	[OP_CLOSE]		= { DEV, 1 },
	[OP_DUP]		= { DEV, 1 },
	[OP_CONFIGURELOG]	= { DEV | SLOT, 5 },
	[OP_ROTATELOG]		= { LOG | SLOT, 3 },
	[OP_FLUSHLOG]		= { LOG, 3 },
	[OP_CLOSELOG]		= { LOG, 2 },
	[OP_USERDATA]		= { LOG, 2 },
	[OP_RECORDS]		= { LOG, 12 },
	[OP_GETCPUINFO]		= { DEV, 1 },
	[OP_GETMODULEVERSION]	= { DEV, 1 },
	[OP_GETDRIVERSTATS]	= { DEV, 1 },
	[OP_GETPMCINFO]		= { DEV, 2 },
	[OP_GETDYNEVENTINFO]	= { DEV, 1 },
	[OP_PMCADMIN]		= { DEV, 1 },
	[OP_ALLOCATE]		= { DEV, 6 },
	[OP_ATTACH]		= { PROCESS, 5 },
	[OP_DETACH]		= { PROCESS, 2 },
	[OP_GETMSR]		= { DEV, 1 },
	[OP_RELEASE]		= { PMC, 2 },
	[OP_RW]			= { PMC, 3 },
	[OP_SETCOUNT]		= { PMC | RESTS, 2 },
	[OP_START]		= { LOG | PMC, 5 },
	[OP_STOP]		= { RUNS, 2 },
	[OP_FILTER]		= { SAMPLER | RESTS, 5 },
	[OP_RECORD]		= { PMC, 3 },
	[OP_GETATBASE]		= { DEV, 1 },
	[OP_SNAPSHOT]		= { FLIGHT | SLOT, 5 },
	[OP_EXITTRIGGER]	= { FLIGHT, 3 },
	[OP_IOCTL]		= { DEV, 1 },
	[OP_READ]		= { STREAM, 3 },
	[OP_POLL]		= { LOG, 2 },
	[OP_FCNTL]		= { DEV, 1 },
	[OP_ODD]		= { DEV, 1 },
	[OP_LOGOPEN]		= { 0, 3 },
	[OP_LOGREAD]		= { LOG, 2 },
	[OP_LOGCLOSE]		= { LOG, 1 },
	[OP_LOGSPOIL]		= { LOG, 1 },
	[OP_FORK]		= { 0, 5 },
	[OP_EXEC]		= { 0, 4 },
	[OP_KILL]		= { CHILD, 2 },
	[OP_WAIT]		= { CHILD, 1 },
	[OP_THREAD]		= { 0, 4 },
	[OP_SEND]		= { DEV, 1 },
	[OP_RECEIVE]		= { 0, 1 },
	[OP_MAP]		= { 0, 5 },
	[OP_PRCTL]		= { 0, 2 },
	[OP_SETUID]		= { INSIDE, 2 },
	[OP_UNSHARE]		= { INSIDE, 1 },
	[OP_LOAD]		= { RUNS, 5 },
	[OP_STACK]		= { RUNS, 3 },
	[OP_SLEEP]		= { 0, 1 },
	[OP_REPEAT]		= { 0, 1 },
	[OP_UNWINDTABLE]	= { UNWINDS | RUNS | SAMPLED, 6 },
	[OP_UNWINDNEXT]		= { UNWINDS | RUNS | SAMPLED, 4 },
	[OP_HOSTILE]		= { UNWINDS | RUNS, 6 },
	[OP_PARAM]		= { DEV, 1 },
	[OP_HOTPLUG]		= { RUNS, 1 },
	[OP_CGROUP]		= { 0, 2 },
	[OP_MODULE]		= { RUNS, 2 },
	[OP_TRACE]		= { 0, 1 },
	[OP_OUTSIDE]		= { 0, 2 },
	[OP_FAULTS]		= { LOG, 1 },
	[OP_SETBUDGET]		= { DEV | EMPTY, 2 },
	[OP_GETBUDGET]		= { DEV, 1 },
	[OP_SETCPUS]		= { DEV | EMPTY, 2 },
};

/* What a program has at some place, as far as that can be told. */
struct have {
	bool	dev[4];
	uint16_t log[4];		/* LOG and its kind */
	bool	slot[4];
	struct {
		bool	there, runs, unwinds;
		uint8_t	dev, mode;
	} pmc[8];
	bool	child;
};

static void note_log(struct have *h, const struct op *op)
{
	unsigned int flags = op->arg[1] & 6, log = 0;

	if (flags == 4)
		log = LOG | FLIGHT;
	else if (flags == 2)
		log = LOG | STREAM;
	else if (!flags && op->arg[0] % 8 < 4 && h->slot[op->arg[0] % 4])
		log = LOG;
	h->log[op->dev % 4] = log;
}

static void note(struct have *h, const struct op *op)
{
	unsigned int dev = op->dev % 4, pmc = op->pmc % 8;

	switch (op->code % CODES) {
	case OP_OPEN:
		h->dev[dev] = true;
		h->log[dev] = 0;
		break;
	case OP_CLOSE:
		h->dev[dev] = false;
		h->log[dev] = 0;
		break;
	case OP_CONFIGURELOG:
		note_log(h, op);
		break;
	case OP_CLOSELOG:
		h->log[dev] = 0;
		break;
	case OP_LOGOPEN:
		h->slot[op->arg[0] % 4] = true;
		break;
	case OP_ALLOCATE:
		h->pmc[pmc].there = h->dev[dev];
		h->pmc[pmc].dev = dev;
		h->pmc[pmc].mode = op->arg[0] & 3;
		h->pmc[pmc].unwinds = op->arg[0] & 4 && op->arg[3] & 8;
		h->pmc[pmc].runs = false;
		break;
	case OP_RELEASE:
		h->pmc[pmc].there = false;
		break;
	case OP_START:
	case OP_STOP:
		h->pmc[pmc].runs = op->code % CODES == OP_START;
		break;
	case OP_FORK:
		h->child = true;
		break;
	}
}

static unsigned int random_code(void)
{
	unsigned int code, weight;

	do {
		code = below(CODES);
		weight = rules[code].weight ?: 2;
		/* takes a second */
		if (code == OP_HOTPLUG && below(16))
			weight = 0;
	} while (below(12) >= weight);
	return code;
}

/* With user chains by unwind tables: mostly of page faults, which are many */
static void good_unwind(uint8_t *arg)
{
	arg[0] |= 4;
	arg[3] |= 8;
	if (below(3)) {
		arg[1] = 2;
		arg[2] = 1;
	}
}

/* Few flags are of all modes. */
static void good_allocate(uint8_t *arg, unsigned int mode)
{
	static const uint8_t flags[] = { 0xF8, 0, 0x59, 0x07 };

	arg[0] = mode | (below(8) ? 0 : 0x10 | below(4) << 5);
	arg[1] = below(below(2) ? 4 : 16);
	arg[2] = below(below(2) ? 7 : 12);
	arg[3] = below(256) & flags[mode];
	arg[4] = mode >= 2 && below(2) ? 1 : below(4);
	arg[5] = below(4) ? 0 : below(8);
	/* a user's chain is wanted where there is one at all */
	if (!(mode & 1) && below(2))
		arg[3] |= 0x18;
	if (!(mode & 1) && !below(3))
		good_unwind(arg);
	/* at a rate */
	if (!(mode & 1) && !below(3))
		arg[4] |= 8;
}

/* A process: the caller, or a child. */
static uint8_t good_pid(void)
{
	return below(2) ? 8 : below(below(4) ? 3 : 14);
}

static void good_records(uint8_t *arg)
{
	arg[0] = below(7);
	arg[1] = below(8) ? below(40) : 200 + below(56);
	arg[2] = below(2) ? 0 : below(4) | below(7) << 4;
	arg[3] = below(256);
	arg[4] = below(3) ? 0 : below(5);
	/* a call takes no time: many, which differ */
	arg[5] = (below(4) ? 0x20 : 0) | below(2) << 4 | below(2) << 6 |
		 (below(3) ? 15 : below(16));
}

static void good_unwindtable(uint8_t *arg)
{
	arg[0] = below(8) | below(4) << 3 | (below(4) ? 0 : below(32) << 3);
	arg[1] = below(8);
	arg[2] = below(256);
	arg[3] = below(256);
	arg[4] = below(3) ? 0 : below(256);
	arg[5] = below(4) ? 0 : below(4);
}

static void good_hostile(uint8_t *arg)
{
	unsigned int i;

	arg[0] = below(9);
	for (i = 1; i < 4; i++)
		arg[i] = below(2) ? below(16) : below(256);
	/* of the stack, where a walk goes on */
	if (below(2))
		arg[1] = below(4) | below(16) << 4;
	arg[4] = below(16) | (below(3) ? 0 : below(4)) << 4;
	arg[5] = (below(8) ? 0 : 8) | below(8) | (below(4) ? 0 : 16) |
		 (below(3) ? 0 : 32);
}

static void good_configurelog(uint8_t *arg)
{
	static const uint8_t kinds[] = { 0, 0, 0, 2, 4, 4 };
	unsigned int kind = kinds[below(6)];

	arg[0] = kind ? 4 : below(4);
	arg[1] = kind | below(2);
	/* a window is 256 KiB at least; a queue 64, or as the module likes */
	arg[2] = kind == 4 ? 4 + below(3) : kind ? below(2) * (3 + below(3)) : 0;
}

static void good_filter(uint8_t *arg)
{
	arg[0] = below(8) ? 1 + below(4) : below(18);
	arg[1] = below(256);
	arg[2] = below(256);
	arg[3] = below(2) ? 0 : below(256);
	arg[4] = below(4) ? below(24) : below(256);
	arg[5] = below(4) ? 0 : below(16);
}

void good_op(struct op *op, unsigned int code)
{
	uint8_t *arg = op->arg;
	unsigned int i;

	*op = (struct op) { .code = code, .dev = below(6) ? 0 : below(4),
			    .pmc = below(2) ? 0 : below(4) };
	for (i = 0; i < 6; i++)
		arg[i] = below(3) ? below(8) : below(256);
	switch (code) {
	case OP_ALLOCATE:
		good_allocate(arg, below(4));
		break;
	case OP_ATTACH:
	case OP_DETACH:
	case OP_GETATBASE:
		arg[0] = good_pid();
		break;
	case OP_RECORDS:
		good_records(arg);
		break;
	case OP_USERDATA:
		arg[1] = below(4) ? 0 : arg[1];
		break;
	case OP_CONFIGURELOG:
	case OP_ROTATELOG:
		good_configurelog(arg);
		break;
	case OP_SNAPSHOT:
		arg[0] = below(below(4) ? 4 : 8);
		break;
	case OP_LOGOPEN:
		arg[0] = below(4);
		arg[1] = below(2) ? below(2) : below(20);
		break;
	case OP_FILTER:
		good_filter(arg);
		break;
	case OP_UNWINDTABLE:
		good_unwindtable(arg);
		break;
	case OP_UNWINDNEXT:
		arg[0] = below(4);
		arg[1] = below(16);
		arg[2] = below(2) ? below(2) : below(32);
		break;
	case OP_HOSTILE:
		good_hostile(arg);
		break;
	case OP_SLEEP:
		arg[1] = below(8) ? 0 : below(40);
		break;
	case OP_FORK:
		arg[0] = 1 + below(8);
		arg[1] = below(5);
		break;
	case OP_OUTSIDE:
		arg[0] = 1 + below(24);
		arg[1] = below(5);
		break;
	case OP_THREAD:
		arg[2] = below(4) ? 0 : below(32);
		break;
	case OP_LOAD:
	case OP_STACK:
		arg[0] = 1 + below(below(2) ? 15 : 31);
		arg[1] = below(32);
		break;
	case OP_REPEAT:
		arg[0] = below(4);
		arg[1] = below(24);
		break;
	case OP_SETBUDGET:
		arg[0] = below(below(4) ? 6 : 9);
		arg[1] = !below(16);
		break;
	case OP_SETCPUS:
		arg[0] = below(below(4) ? 3 : 8);
		arg[1] = !below(16);
		break;
	case OP_OPEN:
		arg[0] = below(4) ? 0 : below(6);
		arg[1] = 0;
		break;
	}
}

/* ------------------------------------------------------------------------
 * What is missing
 */

/* The first, from a random one on, that @list has; or that one. */
static unsigned int pick(const bool *list, unsigned int n)
{
	unsigned int from = below(n), i;

	for (i = 0; i < n; i++)
		if (list[(from + i) % n])
			return (from + i) % n;
	return below(3) ? 0 : from;
}

struct plan {
	struct have h;
	struct op *ops;
	unsigned int n;
};

static void put(struct plan *pl, struct op op)
{
	if (pl->n == PLAUSIBLE_OPS - 1)
		return;
	pl->ops[pl->n++] = op;
	note(&pl->h, &op);
}

static void need_dev(struct plan *pl, unsigned int dev)
{
	if (!pl->h.dev[dev])
		put(pl, (struct op) { OP_OPEN, .dev = dev });
}

static unsigned int need_slot(struct plan *pl)
{
	unsigned int slot = pick(pl->h.slot, 4);
	struct op op;

	if (!pl->h.slot[slot]) {
		good_op(&op, OP_LOGOPEN);
		op.arg[0] = slot;
		put(pl, op);
	}
	return slot;
}

static void need_log(struct plan *pl, unsigned int dev, unsigned int needs)
{
	unsigned int kind = needs & FLIGHT ? 4 : needs & STREAM ? 2 : 0;

	if (!(needs & ~pl->h.log[dev] & (LOG | FLIGHT | STREAM)))
		return;
	need_dev(pl, dev);
	put(pl, (struct op) { OP_CONFIGURELOG, .dev = dev,
		.arg = { kind ? 4 : need_slot(pl), kind | below(2),
			 kind == 4 ? 4 + below(2) : 0 } });
}

static bool pmc_will_do(const struct have *h, unsigned int pmc, unsigned int needs)
{
	return h->pmc[pmc].there &&
	       !(needs & PROCESS && h->pmc[pmc].mode < 2) &&
	       !(needs & SAMPLER && h->pmc[pmc].mode & 1) &&
	       !(needs & UNWINDS && !h->pmc[pmc].unwinds);
}

/* Most PMCs sample, and those need a log. */
static unsigned int need_pmc(struct plan *pl, unsigned int dev,
			     unsigned int needs)
{
	unsigned int pmc, mode = below(4), from = below(8), i;
	struct op op;

	for (i = 0; i < 8; i++) {
		pmc = (from + i) % 8;
		if (pmc_will_do(&pl->h, pmc, needs))
			return pmc;
	}
	if (needs & PROCESS)
		mode |= 2;
	if (needs & (SAMPLER | UNWINDS))
		mode &= ~1;
	pmc = below(4);
	need_dev(pl, dev);
	good_op(&op, OP_ALLOCATE);
	good_allocate(op.arg, mode);
	if (needs & UNWINDS)
		good_unwind(op.arg);
	op.dev = dev;
	op.pmc = pmc;
	put(pl, op);
	if (mode >= 2)
		put(pl, (struct op) { OP_ATTACH, .dev = dev, .pmc = pmc,
				      .arg = { good_pid() } });
	return pmc;
}

static void need_running(struct plan *pl, unsigned int pmc, unsigned int dev)
{
	if (pl->h.pmc[pmc].runs)
		return;
	need_log(pl, dev, LOG);
	put(pl, (struct op) { OP_START, .dev = dev, .pmc = pmc });
}

/* Something that the module wants a table for; and UNWINDTABLE may answer. */
static void need_sample(struct plan *pl, unsigned int code)
{
	struct op op;

	if (below(2)) {
		good_op(&op, OP_HOSTILE);
		put(pl, op);
	}
	if (code == OP_UNWINDTABLE && below(2)) {
		good_op(&op, OP_UNWINDNEXT);
		put(pl, op);
	}
}

unsigned int plausible(const struct program *p, unsigned int at, struct op *ops)
{
	struct plan pl = { .ops = ops };
	unsigned int i, code = random_code(), needs = rules[code].needs;
	struct op op;

	for (i = 0; i < at; i++)
		note(&pl.h, &p->op[i]);
	good_op(&op, code);
	op.dev = pick(pl.h.dev, 4);
	if (needs & DEV)
		need_dev(&pl, op.dev);
	if (needs & EMPTY && below(4))
		put(&pl, (struct op) { OP_OPEN, .dev = op.dev });
	if (needs & SLOT)
		op.arg[0] = code == OP_CONFIGURELOG && op.arg[1] & 6 ?
			    op.arg[0] : need_slot(&pl);
	if (needs & (LOG | FLIGHT | STREAM))
		need_log(&pl, op.dev, needs);
	if (needs & (PMC | PROCESS | SAMPLER | RUNS | UNWINDS)) {
		op.pmc = need_pmc(&pl, op.dev, needs);
		op.dev = pl.h.pmc[op.pmc].dev;
	}
	if (needs & RUNS)
		need_running(&pl, op.pmc, op.dev);
	if (needs & SAMPLED)
		need_sample(&pl, code);
	if (needs & RESTS && pl.h.pmc[op.pmc].runs)
		put(&pl, (struct op) { OP_STOP, .dev = op.dev, .pmc = op.pmc });
	if (needs & CHILD && !pl.h.child)
		put(&pl, (struct op) { OP_FORK, .arg = { 0, 3 } });
	if (needs & INSIDE)
		put(&pl, (struct op) { OP_FORK,
			.arg = { 1 + below(5), below(5), below(2) } });
	ops[pl.n++] = op;
	return pl.n;
}
