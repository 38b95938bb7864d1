// SPDX-License-Identifier: GPL-2.0-only
/*
 * Administration as programs do it: through libpmc, and with pmccontrol.
 */
#include <pmc.h>
#include <sysexits.h>

#include "test.h"

FIXTURE(pmccontrol)
{
	char out[16384];	/* of the last run */
};

/* Runs pmccontrol; its exit status.  What it printed is in @out. */
static int control(FIXTURE_DATA(pmccontrol) *self, const char *options)
{
	char command[256];
	size_t n;
	int status;
	FILE *f;

	snprintf(command, sizeof(command), "pmccontrol %s 2>&1", options);
	fflush(stdout);
	f = popen(command, "r");
	if (!f)
		return -1;
	n = fread(self->out, 1, sizeof(self->out) - 1, f);
	self->out[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FIXTURE_SETUP(pmccontrol)
{
	ASSERT_EQ(0, control(self, "-e '*'"));
	ASSERT_EQ(0, pmc_init());
}

FIXTURE_TEARDOWN(pmccontrol)
{
	cpu_set_online(1, true);
	control(self, "-e '*'");
}

#define EXPECT_OUT(what) \
	EXPECT_NE(NULL, strstr(self->out, what)) \
		TH_LOG("no \"%s\" in:\n%s", what, self->out)
#define EXPECT_NOT_OUT(what) \
	EXPECT_EQ(NULL, strstr(self->out, what)) \
		TH_LOG("\"%s\" in:\n%s", what, self->out)

TEST_F(pmccontrol, library)
{
	struct hwpmc_driverstats all;
	struct pmc_driverstats few;
	struct pmc_pmcinfo *info;
	pmc_id_t id, other;
	uint32_t msr;
	int i;

	ASSERT_EQ(0, pmc_allocate("page-faults", PMC_MODE_SC, 0, 0, &id, 0));
	ASSERT_EQ(0, pmc_allocate("cpu-clock", PMC_MODE_SS,
				  PMC_F_CALLCHAIN, 1, &other, 54321000));
	ASSERT_EQ(0, pmc_disable(0, 5));
	EXPECT_EQ(-1, pmc_disable(0, PMC_ID_TO_ROWINDEX(id)));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, pmc_pmcinfo(0, &info));
	EXPECT_EQ(0, info->pm_cpu);
	for (i = 0; i < pmc_npmc(0); i++) {
		struct pmc_info *p = &info->pm_pmcs[i];
		int used = i == 0, disabled = i == 5;

		EXPECT_EQ(PMC_CLASS_SOFT, p->pm_class);
		EXPECT_EQ(!disabled, p->pm_enabled);
		EXPECT_EQ(used ? PMC_DISP_STANDALONE : disabled ?
			  PMC_DISP_UNKNOWN : PMC_DISP_FREE, p->pm_rowdisp);
		EXPECT_EQ(used ? getpid() : -1, p->pm_ownerpid);
	}
	EXPECT_STREQ("SOFT-255", info->pm_pmcs[255].pm_name);
	EXPECT_STREQ("page-faults",
		     pmc_name_of_event(info->pm_pmcs[0].pm_event));
	EXPECT_EQ(PMC_MODE_SC, info->pm_pmcs[0].pm_mode);
	free(info);
	ASSERT_EQ(0, pmc_pmcinfo(1, &info));
	EXPECT_EQ(PMC_MODE_SS, info->pm_pmcs[1].pm_mode);
	EXPECT_EQ(PMC_F_CALLCHAIN, info->pm_pmcs[1].pm_flags);
	EXPECT_EQ(54321000, info->pm_pmcs[1].pm_reloadcount);
	EXPECT_EQ(1, info->pm_pmcs[5].pm_enabled);
	free(info);
	EXPECT_EQ(-1, pmc_pmcinfo(1 << 20, &info));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmc_enable(0, 5));

	EXPECT_EQ(-1, pmc_get_msr(id, &msr));
	EXPECT_EQ(ENOSYS, errno);
	ASSERT_EQ(0, pmc_get_driver_stats(&few));
	ASSERT_EQ(0, pmc_get_driver_stats64(&all, sizeof(all)));
	EXPECT_EQ(few.pm_syscalls + 1, all.syscalls);
	EXPECT_EQ(few.pm_syscall_errors, all.syscall_errors);
	EXPECT_LE(3, all.syscall_errors);
}

TEST_F(pmccontrol, events)
{
	struct pmc_owner *owner = pmc_owner_open(0);
	struct hwpmc_dynevent *events;
	size_t n, i, found = 0;

	ASSERT_NE(NULL, owner);
	ASSERT_EQ(0, pmc_owner_events(owner, &events, &n));
	for (i = 0; i < n; i++)
		found += !strcmp(events[i].name, "cpu-clock") &&
			 events[i].type == PERF_TYPE_SOFTWARE;
	EXPECT_EQ(1, found);
	free(events);
	pmc_owner_close(owner);
}

TEST_F(pmccontrol, many)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	struct pmc_owner *owner = pmc_owner_open(0);
	struct hwpmc_pmcinfo_row *rows;
	size_t n, i;

	ASSERT_NE(NULL, owner);
	for (i = 0; i < HWPMC_NROW; i++)
		ASSERT_EQ(0, dev_allocate(pmc_owner_fd(owner), &a));
	ASSERT_EQ(0, pmc_owner_pmcinfo(owner, 1, &rows, &n));
	ASSERT_EQ(HWPMC_NROW, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(i, rows[i].row);
	free(rows);
	pmc_owner_close(owner);
}

TEST_F(pmccontrol, list)
{
	struct pmc_allocate_opts o = {
		.size = sizeof(o), .mode = PMC_MODE_TS, .cpu = PMC_CPU_ANY,
	};
	struct pmc_owner *owner = pmc_owner_open(0);
	char line[160];
	pmc_id_t id;

	ASSERT_NE(NULL, owner);
	ASSERT_EQ(0, pmc_owner_allocate(owner, "cpu-clock", &o, &id));
	ASSERT_EQ(0, control(self, "-c 1 -d 200 -c 0 -d 201 -d 202"));
	ASSERT_EQ(0, control(self, "-l"));
	snprintf(line, sizeof(line), " 0   SOFT-0           SOFT   ENABLED  "
		 "THREAD     (pid %d) cpu-clock (TS, allocated, reload count "
		 "65536)\n", getpid());
	EXPECT_OUT(line);
	EXPECT_OUT("#CPU 0:\n");
	EXPECT_OUT(" 201 SOFT-201         SOFT   DISABLED UNKNOWN\n"
		   " 202 SOFT-202         SOFT   DISABLED UNKNOWN\n"
		   " rows 1-200, 203-255 free\n#CPU 1:\n");
	EXPECT_OUT(" 200 SOFT-200         SOFT   DISABLED UNKNOWN\n"
		   " rows 1-199, 201-255 free\n");
	pmc_owner_close(owner);
}

/* A CPU is what its number says, not its place among those that are online. */
TEST_F(pmccontrol, list_offline)
{
	ASSERT_EQ(0, control(self, "-c 1 -d 200 -c 0 -d 201"));
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_EQ(0, control(self, "-l"));
	EXPECT_OUT("#CPU 0:\n");
	EXPECT_NOT_OUT("#CPU 1:");
	EXPECT_EQ(EX_UNAVAILABLE, control(self, "-c 1 -e 200"));
	EXPECT_OUT("row 200 on CPU 1: the CPU is offline");
	/* all that are online */
	EXPECT_EQ(0, control(self, "-e '*'"));
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_EQ(0, control(self, "-l"));
	EXPECT_OUT(" 200 SOFT-200         SOFT   DISABLED UNKNOWN\n");
	EXPECT_NOT_OUT("SOFT-201");
}

TEST_F(pmccontrol, change)
{
	pmc_id_t id;

	ASSERT_EQ(0, pmc_allocate("page-faults", PMC_MODE_SC, 0, 0, &id, 0));
	EXPECT_EQ(EX_TEMPFAIL, control(self, "-d '*'"));
	EXPECT_OUT("cannot disable row 0 on CPU 0: in use");
	EXPECT_NOT_OUT("CPU 1");
	EXPECT_EQ(-1, pmc_allocate("page-faults", PMC_MODE_SC, 0, 0, &id, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(0, control(self, "-e 9 -c 1 -e '*' -d 9"));
	EXPECT_EQ(0, pmc_allocate("page-faults", PMC_MODE_SC, 0, 0, &id, 0));
	EXPECT_EQ(9, PMC_ID_TO_ROWINDEX(id));
	ASSERT_EQ(0, control(self, "-l"));
	EXPECT_OUT(" no row is free\n#CPU 1:\n");
	EXPECT_OUT(" rows 0-8, 10-255 free\n");
	EXPECT_EQ(EX_DATAERR, control(self, "-c 1048576 -d 0"));
	EXPECT_EQ(EX_DATAERR, control(self, "-d 256"));
	EXPECT_EQ(EX_USAGE, control(self, "-c 0"));
}

/* What is disabled is what the administrator wants, not who profiles. */
TEST_F(pmccontrol, privilege)
{
	EXPECT_EQ(0, chmod("/dev/hwpmc", 0666));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	EXPECT_EQ(EX_NOPERM, control(self, "-c 0 -d 3"));
	EXPECT_OUT("cannot disable row 3 on CPU 0: that needs CAP_SYS_ADMIN");
	EXPECT_EQ(0, control(self, "-l"));
	ASSERT_EQ(0, setresuid(0, 0, 0));
	EXPECT_EQ(0, chmod("/dev/hwpmc", 0600));
}

/* All that recording needs is there; a user is told what is left. */
TEST_F(pmccontrol, doctor)
{
	EXPECT_EQ(0, control(self, "doctor"));
	EXPECT_OUT("ok       loaded: ");
	EXPECT_OUT("ok       device: ");
	EXPECT_OUT("ok       version: the module's interface is that of");
	EXPECT_OUT("ok       recording: the whole system can be recorded, "
		   "kernel");
	EXPECT_OUT("ok       processes: ");
	EXPECT_OUT("ok       user chains: by unwind tables");
	EXPECT_NOT_OUT("problem");

	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	EXPECT_EQ(1, control(self, "doctor"));
	EXPECT_OUT("problem  device: /dev/hwpmc is root's");
	ASSERT_EQ(0, setresuid(0, 0, 0));
	EXPECT_EQ(0, chmod("/dev/hwpmc", 0666));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	EXPECT_EQ(0, control(self, "doctor"));
	EXPECT_OUT("ok       recording: this user's own processes");
	EXPECT_OUT("ok       user chains: by unwind tables");
	ASSERT_EQ(0, setresuid(0, 0, 0));
	EXPECT_EQ(0, chmod("/dev/hwpmc", 0600));
}

/* The whole trial is refused, not its beginning alone. */
TEST_F(pmccontrol, doctor_of_disabled_rows)
{
	ASSERT_EQ(0, control(self, "-c 1 -d '*'"));
	EXPECT_EQ(1, control(self, "doctor"));
	EXPECT_OUT("problem  recording: the administrator has disabled all "
		   "rows\n             pmccontrol -e '*'\n");
	EXPECT_EQ(0, control(self, "-e '*'"));
	EXPECT_EQ(0, control(self, "doctor"));
}

TEST_F(pmccontrol, statistics)
{
	ASSERT_EQ(0, control(self, "-s"));
	EXPECT_OUT("system calls: ");
	EXPECT_OUT("samples written: ");
	ASSERT_EQ(0, control(self, "-L"));
	EXPECT_OUT("cpu-clock ");
}

TEST_HARNESS_MAIN
