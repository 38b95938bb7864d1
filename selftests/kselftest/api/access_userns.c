// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which processes a process may attach across the border of a user namespace, from
 * outside and from inside.
 */
#include <sched.h>
#include <sys/prctl.h>

#include "test.h"
#include "trial.h"
#include "user.h"

FIXTURE(access_userns)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(access_userns)
{
	ASSERT_TRUE(device_for_group());
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(access_userns)
{
	device_for_root();
}

/* The user, outside; inside root, with every capability. */
static bool fake_root(void)
{
	return trial_as_user() && !unshare(CLONE_NEWUSER) &&
	       !prctl(PR_SET_DUMPABLE, 1) &&
	       write_text("/proc/self/uid_map", "0 1000 1") &&
	       write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/gid_map", "0 1000 1") && !getuid();
}

static bool can_be_fake_root(void)
{
	return !IN_CHILD(!fake_root());
}

static pid_t child_of_fake_root(void)
{
	return fake_root() ? trial_become(trial_as_root) : -1;
}

static BECOMES(unshare_again, !unshare(CLONE_NEWUSER))

/* In another namespace still, within its parent's. */
static pid_t inner_fake_root(void)
{
	return fake_root() ? trial_become(unshare_again) : -1;
}

/* What is in the user's namespace is the user's. */
TEST_F(access_userns, into)
{
	if (!can_be_fake_root())
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(0, TRY(.target = fake_root));
	EXPECT_EQ(0, TRY(.target = fake_root, .alone = true));
	EXPECT_EQ(EPERM, TRY(.target = fake_root, .dev = self->dev));
	EXPECT_EQ(EPERM, TRY(.target = fake_root, .caller = trial_as_other,
			     .alone = true));
	EXPECT_EQ(0, TRY(.target = fake_root, .caller = trial_as_root,
			 .alone = true));
}

/* A process that is root in a namespace has no rights outside of it. */
TEST_F(access_userns, out)
{
	pid_t kthread = find_comm("kthreadd");
	int dev;

	if (!can_be_fake_root())
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(0, trial_oneself(fake_root, 0));
	EXPECT_EQ(0, trial_found(child_of_fake_root));
	EXPECT_EQ(0, trial_found(inner_fake_root));
	for (dev = 0; dev <= self->dev; dev += self->dev) {
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .alone = true));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = trial_as_other));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = trial_as_root));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = fake_root));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .pid = 1));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .pid = kthread));
	}
	/* and what he opened there is not for outside */
	dev = trial_open_as(fake_root);
	ASSERT_LE(0, dev);
	EXPECT_EQ(EPERM, TRY(.dev = dev));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = trial_as_root));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = trial_as_root,
			     .target = trial_as_root));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = trial_as_root, .pid = kthread));
}

TEST_HARNESS_MAIN
