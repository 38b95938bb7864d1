// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGIO, as a program for FreeBSD gets it from libpmc: without asking.
 */
#include <pmc.h>

#include "test.h"

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	signals++;
}

static void handle(int sig)
{
	struct sigaction act = { .sa_handler = count_signal };

	sigaction(sig, &act, NULL);
}

static void block(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(how, &set, NULL);
}

/* SIGIO is blocked: none comes between the question and the wait. */
static void wait_for_signal(void)
{
	sigset_t none;

	sigemptyset(&none);
	while (!signals)
		sigsuspend(&none);
}

/* A log to a pipe that nobody reads any more */
static int log_to_nobody(void)
{
	pmc_id_t id;
	int p[2];

	if (pipe2(p, O_CLOEXEC) || pmc_configure_logfile(p[1]) ||
	    pmc_allocate("cpu-clock", PMC_MODE_SS, 0, 0, &id, 1000000) ||
	    pmc_start(id))
		return -1;
	return close(p[0]);
}

TEST(log_fails)
{
	struct sigaction act;

	handle(SIGIO);
	block(SIG_BLOCK);
	ASSERT_EQ(0, pmc_init());
	ASSERT_EQ(0, sigaction(SIGIO, NULL, &act));
	ASSERT_EQ((void *)count_signal, (void *)act.sa_handler);
	ASSERT_EQ(0, log_to_nobody());
	wait_for_signal();
	EXPECT_EQ(-1, pmc_flush_logfile());
	EXPECT_EQ(EPIPE, errno);
}

/* A handler may also come later. */
TEST(last_target_ends)
{
	pmc_id_t id;
	pid_t pid;

	block(SIG_BLOCK);
	ASSERT_EQ(0, pmc_init());
	handle(SIGIO);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, pmc_allocate("task-clock", PMC_MODE_TC, 0, PMC_CPU_ANY,
				  &id, 0));
	ASSERT_EQ(0, pmc_attach(id, pid));
	ASSERT_EQ(0, pmc_start(id));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	wait_for_signal();
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

/* Where there is no handler, nobody is killed. */
TEST(no_handler)
{
	sigset_t set;

	block(SIG_BLOCK);
	ASSERT_EQ(0, pmc_init());
	ASSERT_EQ(0, log_to_nobody());
	do {
		usleep(1000);
		ASSERT_EQ(0, sigpending(&set));
	} while (!sigismember(&set, SIGIO));
	block(SIG_UNBLOCK);
	EXPECT_EQ(-1, pmc_flush_logfile());
	EXPECT_EQ(EPIPE, errno);
}

/* Nor is what such a program executes. */
TEST(executed)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, pmc_init());
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "kill -IO $$; exit 7", NULL);
		_exit(127);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status)) TH_LOG("signal %d", WTERMSIG(status));
	EXPECT_EQ(7, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
