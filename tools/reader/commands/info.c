// SPDX-License-Identifier: BSD-2-Clause
/* pmclog info: what is in a log. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/hwpmc.h>

#include "base/numbers.h"
#include "base/out.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/summary.h"
#include "log/causes.h"
#include "log/input.h"
#include "log/pmcid.h"
#include "log/record.h"

static const char usage[] =
"usage: pmclog info FILE\n"
"Shows where and when a log was recorded, what was counted, how many samples\n"
"came of it, and what was lost.\n"
"  FILE   a log, a directory of logs, or - for standard input\n";

/* hwpmc.h's numbers are unsigned long long to printf, ours may not be */
typedef unsigned long long ull;

static void put_label(struct out *o, const char *label)
{
	out_printf(o, "%-10s ", label);
}

static void put_quoted(struct out *o, const char *s)
{
	out_quoted(o, s, strlen(s));
}

static void put_host(struct out *o, const struct summary *s)
{
	const char *machine = machine_name(s->machine);

	if (s->release) {
		put_label(o, "machine");
		put_quoted(o, s->node);
		if (machine)
			out_printf(o, ", %s", machine);
		else
			out_printf(o, ", ELF machine %u", s->machine);
		out_printf(o, ", %u %s, pages of %u bytes\n", s->ncpu,
			   plural(s->ncpu, "CPU", "CPUs"), s->page_size);
		put_label(o, "kernel");
		put_quoted(o, s->release);
		out_char(o, '\n');
		put_label(o, "recorder");
		out_printf(o, "pid %d\n", s->owner_pid);
	}
	if (s->cpuid[0]) {
		put_label(o, "cpu");
		put_quoted(o, s->cpuid);
		out_char(o, '\n');
	}
}

static void put_format(struct out *o, const struct pmclog_format *f)
{
	static const char *const eras[] = {
		[PMCLOG_ERA_A] = "A, of FreeBSD 6 to 11",
		[PMCLOG_ERA_B] = "B, of FreeBSD 12 and 13",
		[PMCLOG_ERA_C] = "C, of FreeBSD 14 and later",
	};

	put_label(o, "format");
	out_printf(o, "era %s; %s-endian, ",
		   f->ours ? "C, of hwpmc for Linux" : eras[f->era],
		   f->big_endian ? "big" : "little");
	if (f->word)
		out_printf(o, "addresses of %u bytes, ", f->word);
	else
		out_str(o, "without addresses, ");
	if (f->era == PMCLOG_ERA_A)
		out_str(o, "wall clock\n");
	else if (f->freq)
		out_printf(o, "clock of %" PRIu64 " Hz\n", f->freq);
	else
		out_str(o, "clock of an unknown rate\n");
}

static void put_times(struct out *o, const struct summary *s)
{
	uint64_t ticks = s->last_tsc - s->first_tsc;
	time_t sec = s->ts_sec;
	char text[64];
	struct tm tm;

	put_label(o, "started");
	if (gmtime_r(&sec, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		out_printf(o, "%s.%09" PRIu64 " UTC\n", text,
			   (uint64_t)s->ts_nsec % 1000000000);
	else
		out_printf(o, "%" PRId64 " s after 1970\n", s->ts_sec);
	put_label(o, "lasted");
	if (s->tsc_freq)
		out_printf(o, "%.9f s\n", (double)ticks / s->tsc_freq);
	else
		out_printf(o, "%" PRIu64 " ticks of a clock of an unknown "
			   "rate\n", ticks);
}

static void put_end(struct out *o, const struct summary *s, const char *error)
{
	put_label(o, "ended");
	if (s->closed)
		out_str(o, "in order");
	else if (error)
		out_printf(o, "at a fault: %s", error);
	else
		out_str(o, "cut, without CLOSELOG");
	out_char(o, '\n');
}

static void put_records(struct out *o, const struct summary *s)
{
	const char *name;
	int i;

	put_label(o, "records");
	out_printf(o, "%" PRIu64 " in %" PRIu64 " bytes\n", s->nrecords,
		   s->bytes);
	for (i = 0; i < 256; i++) {
		if (!s->types[i])
			continue;
		name = pmclog_iter_type_name(i);
		if (name)
			out_printf(o, "  %-14s", name);
		else
			out_printf(o, "  type %-9d", i);
		out_printf(o, "%10" PRIu64 "\n", s->types[i]);
	}
}

static void put_repaired(struct out *o, const struct summary *s)
{
	if (!s->wrong_times)
		return;
	put_label(o, "repaired");
	out_printf(o, "%" PRIu64 " %s with a damaged time: that of the "
		   "record beside it is taken\n", s->wrong_times,
		   plural(s->wrong_times, "record", "records"));
}

static void put_unknown(struct out *o, const struct summary *s)
{
	if (!s->unknown)
		return;
	put_label(o, "unknown");
	out_printf(o, "%" PRIu64 " %s of a kind that this pmclog does not know\n",
		   s->unknown, plural(s->unknown, "record", "records"));
}

static void put_packs(struct out *o, const struct summary *s)
{
	if (!s->packs)
		return;
	put_label(o, "packed");
	out_printf(o, "%" PRIu64 " %s in %" PRIu64 " %s, %.1f bytes a "
		   "sample instead of %.1f\n", s->packed,
		   plural(s->packed, "sample", "samples"), s->packs,
		   plural(s->packs, "pack", "packs"),
		   (double)s->pack_bytes / s->packed,
		   (double)s->plain_bytes / s->packed);
}

static void put_recording(struct out *o, const struct summary *s)
{
	if (!s->recorded[0] && !s->recorded[1])
		return;
	put_label(o, "switched");
	out_printf(o, "on %" PRIu64 " and off %" PRIu64 " %s, %u %s within "
		   "%" PRIu64 " ns\n", s->recorded[1], s->recorded[0],
		   plural(s->recorded[0], "time", "times"), s->npmc,
		   plural(s->npmc, "PMC", "PMCs"), s->skew);
}

/* How a process ended, as wait(2) tells it. */
static void put_status(struct out *o, int status)
{
	if (WIFEXITED(status))
		out_printf(o, "exited with %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		out_printf(o, "was killed by signal %d", WTERMSIG(status));
	else
		out_printf(o, "ended with status %#x", status);
}

static void put_snapshot(struct out *o, const struct summary *s)
{
	const struct pmclog_ext_snapshot *t = &s->snapshot;

	if (!s->is_snapshot)
		return;
	put_label(o, "snapshot");
	switch (t->cause) {
	case PMCLOG_SNAPSHOT_ASKED:
		out_str(o, "asked for");
		break;
	case PMCLOG_SNAPSHOT_PMC:
		out_printf(o, "by PMC 0x%x", t->pmcid);
		break;
	case PMCLOG_SNAPSHOT_EXIT:
		out_printf(o, "process %d ", (int)t->pid);
		put_status(o, t->status);
		break;
	default:
		out_printf(o, "for cause %u", t->cause);
	}
	out_printf(o, ", at %.9f s; complete from %.9f s on\n",
		   (double)(int64_t)(t->when - s->first_tsc) / 1e9,
		   (double)(int64_t)(t->since - s->first_tsc) / 1e9);
}

static bool is_sampling(const struct summary *s, const struct sum_pmc *pmc)
{
	uint32_t mode = pmcid_mode(s->version, pmc->id);

	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS;
}

static void put_period(struct out *o, const struct sum_pmc *pmc)
{
	if (!(pmc->flags & HWPMC_F_FREQ)) {
		out_printf(o, ", period %" PRIu64, pmc->rate);
		return;
	}
	out_str(o, ", ");
	if (pmc->rate_least < pmc->rate)
		out_printf(o, "%" PRIu64 " to ", pmc->rate_least);
	out_printf(o, "%" PRIu64 " %s a second", pmc->rate,
		   plural(pmc->rate, "sample", "samples"));
	if (pmc->samples)
		out_printf(o, ", periods %" PRIu64 " to %" PRIu64, pmc->least,
			   pmc->most);
}

static void put_mode(struct out *o, const struct summary *s,
		     const struct sum_pmc *pmc)
{
	static const char *const modes[] = {
		[HWPMC_MODE_SS] = "system sampling",
		[HWPMC_MODE_SC] = "system counting",
		[HWPMC_MODE_TS] = "process sampling",
		[HWPMC_MODE_TC] = "process counting",
	};
	uint32_t mode = pmcid_mode(s->version, pmc->id);

	if (mode < nitems(modes))
		out_str(o, modes[mode]);
	else
		out_printf(o, "mode %u", mode);
	if (pmc->cpu >= 0)
		out_printf(o, ", CPU %d", pmc->cpu);
	else if (pmc->cpu == HWPMC_CPU_ALL)
		out_str(o, ", all CPUs");
	if (is_sampling(s, pmc) && (pmc->rate || !pmc->foreign))
		put_period(o, pmc);
	if (pmc->flags & HWPMC_F_CALLCHAIN)
		out_str(o, pmc->flags & HWPMC_F_USERCALLCHAIN ?
			", kernel and user chains" : ", kernel chains");
	if (pmc->flags & HWPMC_F_RAW)
		out_str(o, ", fields");
	if (pmc->flags & HWPMC_F_BRANCH)
		out_str(o, ", branches");
	if (pmc->flags & HWPMC_F_DATA)
		out_str(o, ", accesses to memory");
}

static uint64_t lost_total(const uint64_t *lost)
{
	uint64_t total = 0;
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		total += lost[i];
	return total;
}

static void put_causes(struct out *o, const uint64_t *lost)
{
	char *text = causes_text(": ", lost, drop_texts, PMCLOG_DROP_NCAUSE, true);

	out_str(o, text);
	free(text);
}

static void put_lost(struct out *o, const uint64_t *lost)
{
	out_printf(o, "%" PRIu64, lost_total(lost));
	put_causes(o, lost);
}

/* See event_rate_is_more(). */
static bool rate_is_more(const struct summary *s, const struct sum_pmc *pmc,
			 uint64_t achieved)
{
	const struct pmclog_account *a = &s->account;

	return s->accounted &&
	       achieved > pmc->samples + lost_total(pmc->lost) + a->filtered +
			  a->discarded + a->in_rings;
}

static void put_rate(struct out *o, const struct summary *s,
		     const struct sum_pmc *pmc, const struct sum_cpu *cpu,
		     const struct sum_cpu *end)
{
	uint64_t asked = 0, achieved = 0, throttled = 0;
	int rated = 0;

	for (; cpu < end; cpu++) {
		rated |= cpu->rated;
		asked += cpu->asked;
		achieved += cpu->achieved;
		throttled += cpu->throttled;
	}
	if (!rated)
		return;
	/* nobody knows what a clock that skips some modes should give */
	if (asked)
		out_printf(o, "  asked for    %" PRIu64 ", achieved %" PRIu64
			   " (%.1f %%)", asked, achieved,
			   percent(achieved, asked));
	else
		out_printf(o, "  achieved     %" PRIu64, achieved);
	out_printf(o, ", throttled %" PRIu64 " %s%s\n", throttled,
		   plural(throttled, "time", "times"),
		   rate_is_more(s, pmc, achieved) ? "; since the PMC began: this "
		   "log has a part of that" : "");
}

/* @freq: samples stand for different numbers of events */
static void put_cpus(struct out *o, const struct sum_cpu *cpu,
		     const struct sum_cpu *end, bool freq)
{
	if (cpu == end)
		return;
	out_printf(o, "  %4s %12s %12s %12s %12s", "CPU", "samples", "lost",
		   "asked", "achieved");
	out_str(o, freq ? "           events\n" : "\n");
	for (; cpu < end; cpu++) {
		/* a PMC of processes has one rate for all its CPUs */
		if (cpu->cpu == PMCLOG_CPU_NONE)
			out_str(o, "   all");
		else
			out_printf(o, "  %4u", cpu->cpu);
		out_printf(o, " %12" PRIu64 " %12" PRIu64, cpu->samples,
			   cpu->lost);
		if (cpu->rated)
			out_printf(o, " %12" PRIu64 " %12" PRIu64,
				   cpu->asked, cpu->achieved);
		else
			out_printf(o, " %12s %12s", "-", "-");
		if (freq)
			out_printf(o, " %16" PRIu64, cpu->weight);
		out_char(o, '\n');
	}
}

/* What the samples stand for, if the PMC samples at a rate. */
static void put_weight(struct out *o, const struct sum_pmc *pmc)
{
	if (!(pmc->flags & HWPMC_F_FREQ) || !pmc->samples)
		return;
	out_printf(o, "\n  events       %" PRIu64 ": %.1f %% user, %.1f %% "
		   "kernel", pmc->weight, percent(pmc->user_weight, pmc->weight),
		   percent(pmc->weight - pmc->user_weight, pmc->weight));
	if (pmc->guessed)
		out_printf(o, "; %" PRIu64 " %s no period in the log: that "
			   "of another CPU is taken, or 1", pmc->guessed,
			   plural(pmc->guessed, "sample has", "samples have"));
}

static void put_ends(struct out *o, const struct summary *s,
		     const struct sum_pmc *pmc)
{
	struct ends_sum sum = ends_of_event(&s->ends.ends,
					    (uint32_t)(pmc - s->pmcs));
	char *text, *callers;

	if (!sum.all)
		return;
	text = ends_text(&sum, true);
	callers = ends_callers(&sum, s->ends.x86, pmc->flags & HWPMC_F_UNWIND);
	out_printf(o, "\n  user chains  %s\n  unwound      %s", text, callers);
	free(text);
	free(callers);
}

static void put_samples(struct out *o, const struct summary *s,
			const struct sum_pmc *pmc,
			const struct sum_cpu *cpu, const struct sum_cpu *end)
{
	out_printf(o, "  samples      %" PRIu64, pmc->samples);
	if (pmc->samples)
		out_printf(o, ": %.1f %% user, %.1f %% kernel, %" PRIu64
			   " %s, %.1f frames a sample",
			   percent(pmc->user, pmc->samples),
			   percent(pmc->samples - pmc->user, pmc->samples),
			   pmc->nprocs,
			   plural(pmc->nprocs, "process", "processes"),
			   (double)pmc->frames / pmc->samples);
	put_weight(o, pmc);
	put_ends(o, s, pmc);
	out_str(o, "\n  lost         ");
	if (s->closed && !s->accounted && !lost_total(pmc->lost))
		out_str(o, "not told");
	else
		put_lost(o, pmc->lost);
	out_char(o, '\n');
	put_rate(o, s, pmc, cpu, end);
	put_cpus(o, cpu, end, pmc->flags & HWPMC_F_FREQ);
}

static void put_processes(struct out *o, const struct sum_pmc *pmc)
{
	if (pmc->attached)
		out_printf(o, "  attached     %" PRIu64 "\n", pmc->attached);
	if (pmc->exits) {
		out_printf(o, "  exits        %" PRIu64 ", %" PRIu64
			   " in all", pmc->exits, pmc->exit_value);
		if (pmc->enabled)
			out_printf(o, ", counted %.1f %% of the time",
				   percent(pmc->running, pmc->enabled));
		out_char(o, '\n');
	}
	if (pmc->switches)
		out_printf(o, "  switches     %" PRIu64 ", %" PRIu64
			   " in all\n", pmc->switches, pmc->switch_value);
}

/* The PMC's CPUs begin at @cpu; where they end. */
static void put_event(struct out *o, const struct sum_pmc *pmc)
{
	if (pmc->foreign)
		out_printf(o, "\n  event        0x%x\n", pmc->event);
	else
		out_printf(o, "\n  event        type %u, config 0x%" PRIx64
			   "\n", pmc->type, pmc->config);
}

static const struct sum_cpu *put_pmc(struct out *o, const struct summary *s,
				     const struct sum_pmc *pmc,
				     const struct sum_cpu *cpu)
{
	const struct sum_cpu *last = s->ncpus ? s->cpus + s->ncpus : cpu;
	const struct sum_cpu *end = cpu;

	while (end < last && s->pmcs + end->pmc == pmc)
		end++;
	out_printf(o, "\nPMC 0x%x ", pmc->id);
	if (pmc->announced)
		put_quoted(o, pmc->name);
	else
		out_str(o, "never announced");
	out_str(o, "\n  mode         ");
	put_mode(o, s, pmc);
	put_event(o, pmc);
	put_processes(o, pmc);
	if (is_sampling(s, pmc) || pmc->samples)
		put_samples(o, s, pmc, cpu, end);
	return end;
}

static void put_cuts(struct out *o, const struct summary *s)
{
	const struct pmclog_account *a = &s->account;
	char *causes = account_cuts(a, true);

	out_printf(o, "  chains cut   %llu%s\n", (ull)a->cut, causes);
	free(causes);
	if (s->cuts)
		out_printf(o, "  chains late  %llu, %llu %s came\n",
			   (ull)a->late, (ull)a->late_answered,
			   plural(a->late_answered, "user chain",
				  "user chains"));
}

static void put_account(struct out *o, const struct summary *s)
{
	const struct pmclog_account *a = &s->account;
	uint64_t lost[PMCLOG_DROP_NCAUSE];
	int i;

	if (!s->accounted)
		return;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		lost[i] = a->dropped[i];
	out_str(o, "\naccount\n");
	out_printf(o, "  overflows    %llu\n", (ull)a->overflows);
	out_printf(o, "    committed  %llu: %llu written, %llu discarded, "
		   "%llu left in rings\n", (ull)a->committed, (ull)a->written,
		   (ull)a->discarded, (ull)a->in_rings);
	out_str(o, "    dropped    ");
	put_lost(o, lost);
	out_printf(o, "\n    filtered   %llu\n", (ull)a->filtered);
	out_printf(o, "  processes    %llu %s, %llu dropped\n",
		   (ull)a->proc_committed,
		   plural(a->proc_committed, "record", "records"),
		   (ull)a->proc_dropped);
	out_printf(o, "  made         %llu %s by the writer thread\n",
		   (ull)a->made, plural(a->made, "record", "records"));
	put_cuts(o, s);
	out_printf(o, "  throttled    %llu %s\n", (ull)a->throttled,
		   plural(a->throttled, "time", "times"));
}

static void put_summary(struct out *o, struct summary *s, const char *error)
{
	const struct sum_cpu *cpu;
	uint32_t i;

	summary_sort(s);
	cpu = s->cpus;
	put_label(o, "log");
	out_printf(o, "version %u.%u.%u, at offset %" PRIu64 "\n",
		   s->version >> 24, s->version >> 16 & 0xFF,
		   s->version & 0xFFFF, s->offset);
	put_format(o, &s->format);
	put_host(o, s);
	put_times(o, s);
	put_end(o, s, error);
	put_repaired(o, s);
	put_records(o, s);
	put_unknown(o, s);
	put_packs(o, s);
	put_recording(o, s);
	put_snapshot(o, s);
	for (i = 0; i < s->npmcs; i++)
		cpu = put_pmc(o, s, &s->pmcs[i], cpu);
	if (s->proc_lost) {
		out_printf(o, "\nprocess records lost: %" PRIu64,
			   s->proc_lost);
		put_causes(o, s->proc_lost_by);
		out_str(o, "; samples may be of other processes than it says, "
			"and names and mappings may be missing\n");
	}
	put_account(o, s);
}

static int info_input(struct input *in, struct out *o, struct summary *s)
{
	enum pmclog_iter_status status;
	struct pmclog_rec rec;
	const char *error = NULL;
	uint64_t offset, before = 0;

	while ((status = input_read(in, &rec)) == PMCLOG_ITER_RECORD) {
		if (rec.type == PMCLOG_T_INITIALIZE && s->nrecords) {
			put_summary(o, s, NULL);
			out_char(o, '\n');
			summary_free(s);
			summary_init(s);
		}
		summary_add(s, &rec);
		s->wrong_times += in->steady.wrong - before;
		before = in->steady.wrong;
		s->format = *input_format(in);
	}
	if (status == PMCLOG_ITER_ERROR)
		error = input_error(in, &offset);
	if (s->nrecords)
		put_summary(o, s, error);
	if (error)
		input_complain(in);
	else if (!s->nrecords)
		warn_line("%s: is empty", in->path);
	return error || !s->nrecords ? READER_FAIL : READER_OK;
}

static int info_file(const char *path)
{
	struct out *o = out_stdout();
	struct summary s;
	struct input in;
	int ret, wrote;

	if (input_open(&in, path))
		return READER_FAIL;
	summary_init(&s);
	ret = info_input(&in, o, &s);
	summary_free(&s);
	input_close(&in);
	wrote = out_finish(o);
	return ret ? ret : wrote;
}

int cmd_info(int argc, char **argv)
{
	return cmdline_file(usage, argc, argv, info_file);
}
