// SPDX-License-Identifier: GPL-2.0-only
/*
 * An owner that nobody else knows.  When all went well its logs are whole, and
 * their accounts are right.
 */
#include <errno.h>
#include <unistd.h>

#include "actor.h"
#include "guest.h"

#define SESSION_LOGS	5
#define SESSION_PMCS	6

struct session {
	struct actor	*a;
	struct rng	*r;
	struct dev	dev;
	struct actor_log log[SESSION_LOGS];
	unsigned int	nlogs;
	uint32_t	id[SESSION_PMCS];
	unsigned int	npmcs;
	bool		whole;
	bool		stream;
};

static int call(struct session *s, const char *name, enum patience patience,
		unsigned long cmd, void *arg)
{
	int err = actor_call(s->a, s->dev, name, patience, cmd, arg);

	if (err == -EINTR || err == -ERESTART || err == -EINPROGRESS)
		s->whole = false;	/* who knows what was done */
	return err;
}

/* The first log, or the next one. */
static void next_log(struct session *s, unsigned long cmd, const char *name)
{
	struct hwpmc_configurelog c = {};
	struct actor_log *l = &s->log[s->nlogs];
	struct log none;

	if (s->nlogs == SESSION_LOGS)
		return;
	actorlog_good(s->a, s->r, l);
	s->a->storm->may_wait[s->dev.owner % STORM_NOWNER] |= l->may_wait;
	c.fd = l->fd;
	if (!call(s, name, WAITS_KILL, cmd, &c) || !s->whole) {
		s->nlogs++;
		close(l->fd);
		return;
	}
	close(l->fd);
	if (actorlog_load(l, &none))
		log_free(&none);
}

/* Or one that is read from the device. */
static void first_log(struct session *s)
{
	struct hwpmc_configurelog c = {
		.fd = -1,
		.flags = HWPMC_LOG_STREAM | rng_below(s->r, 2),
		.size = rng_once(s->r, 2) ? 64 << 10 : 0,
	};

	if (!rng_once(s->r, 3)) {
		next_log(s, HWPMC_IOC_CONFIGURELOG, "CONFIGURELOG");
		return;
	}
	if (call(s, "CONFIGURELOG", WAITS_KILL, HWPMC_IOC_CONFIGURELOG, &c))
		return;
	s->stream = actorlog_stream(s->a, s->r, &s->log[0], s->dev.fd);
	s->nlogs = s->stream;
}

static void add_pmc(struct session *s)
{
	struct hwpmc_allocate pmc = args_pmc(s->r);
	struct hwpmc_attach at = { .pid = args_pid(s->r) };
	struct hwpmc_simple start = {};

	if (s->npmcs == SESSION_PMCS ||
	    call(s, "PMCALLOCATE", WAITS_SIGNAL, HWPMC_IOC_PMCALLOCATE, &pmc))
		return;
	s->id[s->npmcs++] = start.id = at.id = pmc.id;
	if (pmc.cpu == HWPMC_CPU_ANY)
		call(s, "PMCATTACH", WAITS_KILL, HWPMC_IOC_PMCATTACH, &at);
	call(s, "PMCSTART", WAITS_KILL, HWPMC_IOC_PMCSTART, &start);
}

static void change_pmc(struct session *s)
{
	static const struct {
		const char *name;
		unsigned long cmd;
	} ops[] = {
		{ "PMCSTART", HWPMC_IOC_PMCSTART },
		{ "PMCSTOP", HWPMC_IOC_PMCSTOP },
		{ "PMCRELEASE", HWPMC_IOC_PMCRELEASE },
	};
	unsigned int op = rng_below(s->r, 3), i;
	struct hwpmc_simple arg = {};

	if (!s->npmcs)
		return;
	i = rng_below(s->r, s->npmcs);
	arg.id = s->id[i];
	if (!call(s, ops[op].name, WAITS_KILL, ops[op].cmd, &arg) && op == 2)
		s->id[i] = s->id[--s->npmcs];
}

static void filter_pmc(struct session *s)
{
	struct hwpmc_condition c[2];
	struct hwpmc_filter f = {
		.n = rng_below(s->r, 3),
		.conditions = (uintptr_t)c,
	};
	unsigned int i;

	if (!s->npmcs)
		return;
	for (i = 0; i < 2; i++)
		c[i] = args_condition(s->r, -1);
	f.id = s->id[rng_below(s->r, s->npmcs)];
	call(s, "PMCFILTER", WAITS_SIGNAL, HWPMC_IOC_PMCFILTER, &f);
}

static void record(struct session *s)
{
	struct hwpmc_record rec = { .on = rng_below(s->r, 2) };

	call(s, "RECORD", WAITS_KILL, HWPMC_IOC_RECORD, &rec);
}

static void step(struct session *s)
{
	struct hwpmc_writelog word = { .userdata = rng_next(s->r) };

	switch (rng_below(s->r, 10)) {
	case 0:
		next_log(s, HWPMC_IOC_ROTATELOG, "ROTATELOG");
		break;
	case 1:
		call(s, "FLUSHLOG", WAITS_SIGNAL, HWPMC_IOC_FLUSHLOG, NULL);
		break;
	case 2:
		call(s, "WRITELOG", WAITS_KILL, HWPMC_IOC_WRITELOG, &word);
		break;
	case 3:
	case 4:
		add_pmc(s);
		break;
	case 5:
		change_pmc(s);
		break;
	case 6:
		filter_pmc(s);
		break;
	case 7:
		record(s);
		break;
	default:
		sleep_ms(rng_below(s->r, 30));
	}
}

static void check_logs(struct session *s)
{
	struct log log;
	unsigned int i;

	for (i = 0; i < s->nlogs; i++) {
		bool all = actorlog_load(&s->log[i], &log);

		actorlog_check(s->a, &log, s->whole && all);
		log_free(&log);
	}
}

void session(struct actor *a, struct rng *r)
{
	struct session s = { .a = a, .r = r, .whole = true };
	unsigned int left = rng_below(r, 25);
	int err;

	s.dev = actor_open(a);
	if (s.dev.fd < 0)
		return;
	first_log(&s);
	add_pmc(&s);
	while (left-- && !a->storm->stop)
		step(&s);
	do {	/* a reader of the device waits for it */
		err = call(&s, "CLOSELOG", WAITS_SIGNAL, HWPMC_IOC_CLOSELOG,
			   NULL);
		s.whole &= !err;
	} while (err == -EINTR && s.stream);
	actor_close(a, s.dev.fd);
	check_logs(&s);
}
