// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events there are, and what is known when one happens: as libpmc lists it,
 * against tracefs, and in the way of dt(4).
 */

#include <pmc.h>

#include "test.h"
#include "tracefs.h"

FIXTURE(sourcelist)
{
	struct pmc_source *list;
	size_t n;
};

FIXTURE_SETUP(sourcelist)
{
	size_t size = 0, room;

	ASSERT_TRUE(tracefs_mount());
	/* nothing asked for but how much there is */
	ASSERT_EQ(0, pmc_source_list(NULL, &size));
	ASSERT_LT(0, size);
	ASSERT_EQ(0, size % sizeof(*self->list));
	self->list = malloc(size);
	ASSERT_NE(NULL, self->list);
	room = size;
	ASSERT_EQ(0, pmc_source_list(self->list, &size));
	ASSERT_EQ(room, size);
	self->n = size / sizeof(*self->list);
}

FIXTURE_TEARDOWN(sourcelist)
{
}

static const struct pmc_source *find(const struct pmc_source *s, size_t n,
				     const char *provider, const char *function,
				     const char *name)
{
	for (; n; s++, n--)
		if (!strcmp(s->provider, provider) &&
		    (!function || !strcmp(s->function, function)) &&
		    !strcmp(s->name, name))
			return s;
	return NULL;
}

TEST_F(sourcelist, list)
{
	EXPECT_NE(NULL, find(self->list, self->n, "software", NULL,
			     "page-faults"));
	EXPECT_NE(NULL, find(self->list, self->n, "hardware", NULL, "cycles"));
	EXPECT_NE(NULL, find(self->list, self->n, "tracepoint", "sched",
			     "sched_switch"));
}

TEST_F(sourcelist, too_short)
{
	size_t size = sizeof(*self->list);
	struct pmc_source one;

	EXPECT_EQ(-1, pmc_source_list(&one, &size));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(self->n * sizeof(one), size);
	size = 1;
	EXPECT_EQ(-1, pmc_source_list(&one, &size));
	EXPECT_EQ(ENOSPC, errno);
}

/* The fields of a tracepoint are those that its format names. */
TEST_F(sourcelist, arguments)
{
	const struct pmc_source *s = find(self->list, self->n, "tracepoint",
					  "sched", "sched_process_fork");
	struct pmc_source_field *f;
	struct tracefs_field is;
	size_t size = 0, i;

	ASSERT_NE(NULL, s);
	ASSERT_LT(1, s->nargs);
	ASSERT_EQ(0, pmc_source_fields(s->number, NULL, &size));
	ASSERT_EQ(s->nargs * sizeof(*f), size);
	f = malloc(size);
	ASSERT_NE(NULL, f);
	ASSERT_EQ(0, pmc_source_fields(s->number, f, &size));
	for (i = 0; i < s->nargs; i++) {
		ASSERT_TRUE(tracefs_field("sched/sched_process_fork",
					  f[i].name, &is));
		EXPECT_EQ(is.offset, f[i].offset);
		EXPECT_EQ(is.size, f[i].size);
		EXPECT_NE('\0', f[i].type[0]);
	}
	size -= 1;
	EXPECT_EQ(-1, pmc_source_fields(s->number, f, &size));
	EXPECT_EQ(ENOSPC, errno);
}

TEST_F(sourcelist, no_such_number)
{
	uint32_t highest = 0;
	size_t size = 0, i;

	for (i = 0; i < self->n; i++)
		if (self->list[i].number > highest)
			highest = self->list[i].number;
	EXPECT_EQ(-1, pmc_source_fields(highest + 0x80000, NULL, &size));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, pmc_source_fields(~0U, NULL, &size));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
