/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An owner who samples the page faults of a target with user chains by unwind
 * tables, and what his log has of plain_outer() (plain.h).  Included by each
 * program of such tests: the fixture is a part of it.
 */
#ifndef SAMPLING_UNWIND_H
#define SAMPLING_UNWIND_H

#include <pmc.h>

#include "plain.h"
#include "table.h"
#include "target.h"
#include "test.h"

/* Innermost first */
static const char * const callers[] = {
	"plain_leaf", "plain_mid", "plain_outer",
};

FIXTURE(unwind)
{
	struct pmc_owner *owner;
	struct symbols	*symbols;
	struct target	target;
	struct log	log;
	int		dev;
	int		file;
	uint32_t	id;
	unsigned int	told;
	unsigned int	tables;
};

FIXTURE_SETUP(unwind)
{
	self->symbols = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, self->symbols);
	self->owner = pmc_owner_open(0);
	ASSERT_NE(NULL, self->owner);
	self->dev = pmc_owner_fd(self->owner);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
}

FIXTURE_TEARDOWN(unwind)
{
	if (self->target.pid)
		target_kill(&self->target);
	pmc_owner_close(self->owner);
}

/* Not each program uses all of them. */
#define HELPER	static __attribute__((unused))

HELPER void begin_by(META, FIXTURE_DATA(unwind) *self, uint32_t flags,
		     int (*body)(struct target *t, void *arg), void *arg)
{
	ASSERT_TRUE(target_begin(&self->target, body, arg));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_faults(flags),
				self->target.pid, &self->id));
}

HELPER void begin(META, FIXTURE_DATA(unwind) *self,
		  int (*body)(struct target *t, void *arg), void *arg)
{
	begin_by(_metadata, self, HWPMC_F_UNWIND, body, arg);
}

HELPER bool is_wanted(int dev)
{
	struct pollfd fd = { .fd = dev, .events = POLLRDBAND };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLRDBAND);
}

HELPER void end_log(META, FIXTURE_DATA(unwind) *self, unsigned int flags)
{
	END_LOG(self->dev, self->file, &self->log, flags);
}

/* The target goes on to its end, and the log ends. */
HELPER void finish(META, FIXTURE_DATA(unwind) *self)
{
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
}

/* ... with the tables that it needs from its pause on */
HELPER void finish_by_tables(META, FIXTURE_DATA(unwind) *self)
{
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	finish(_metadata, self);
}

static const char *name(FIXTURE_DATA(unwind) *self, const struct sample *s,
			unsigned int i)
{
	return symbols_name(self->symbols, s->pc[i] - !!i);
}

/* The three, @bias above where the linker has put them, and so to the beginning */
static bool is_whole(FIXTURE_DATA(unwind) *self, const struct sample *s,
		     uint64_t bias)
{
	unsigned int i;

	if (s->npc < 4)
		return false;
	for (i = 0; i < 3; i++)
		if (strcmp(symbols_name(self->symbols, s->pc[i] - bias - !!i),
			   callers[i]))
			return false;
	return !strcmp(name(self, s, s->npc - 1), "_start");
}

/*
 * Faults in plain_leaf(), at @bias: all, whole ones, and those that say so (@told).  A
 * chain whose callers no table has found is not one by tables.
 */
HELPER unsigned int tally(META, FIXTURE_DATA(unwind) *self, uint64_t bias,
			  unsigned int *whole)
{
	unsigned int n = 0;
	bool is, told, tables;
	struct sample s;

	*whole = 0;
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!s.npc ||
		    strcmp(symbols_name(self->symbols, s.pc[0] - bias),
			   "plain_leaf"))
			continue;
		n++;
		if (s.late)
			continue;
		is = is_whole(self, &s, bias);
		told = s.flags & PMCLOG_CC_WHOLE;
		tables = s.flags & PMCLOG_CC_TABLES;
		EXPECT_LE(is, told);
		EXPECT_LE(is, tables);
		EXPECT_TRUE(!tables || s.npc > 1);
		self->tables += tables;
		*whole += is;
		self->told += told;
	}
	return n;
}

/* The id and the file of this program, asked for and not answered */
HELPER uint32_t ask(META, FIXTURE_DATA(unwind) *self, int *fd)
{
	struct hwpmc_unwindnext n;

	ASSERT_TRUE(target_step(&self->target)) return 0;
	ASSERT_EQ(0, table_next(self->dev, &n)) return 0;
	*fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	close(n.fd);
	return n.id;
}

/* A table, or none, for a new file */
HELPER int give_file(int dev, const void *table, size_t len)
{
	struct hwpmc_unwindtable t = {
		.fd = temp_file(), .data = (uintptr_t)table, .len = len,
	};
	int err = dev_ioctl(dev, HWPMC_IOC_UNWINDTABLE, &t);

	close(t.fd);
	return err;
}

#endif /* SAMPLING_UNWIND_H */
