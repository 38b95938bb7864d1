// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "log/record.h"
#include "sample/ends_log.h"

void ends_log_init(struct ends_log *t)
{
	memset(t, 0, sizeof(*t));
	ends_init(&t->ends);
}

void ends_log_free(struct ends_log *t)
{
	ends_free(&t->ends);
	late_free(&t->late);
}

/* Index of the first user pc, which may be in the vsyscall page. */
static uint32_t user_part(const unsigned char *pc, uint32_t n, uint32_t flags)
{
	uint32_t i = 0;

	while (!(flags & PMCLOG_CC_USERSPACE) && i < n &&
	       pmclog_get64(pc + (size_t)i * 8) >> 63)
		i++;
	return i;
}

void ends_log_wait(struct ends_log *t, const struct pmclog_rec *rec,
		   uint32_t event)
{
	const unsigned char *pc = rec->data + sizeof(struct pmclog_callchain);
	uint32_t n = (rec->len - sizeof(struct pmclog_callchain)) / 8;
	uint32_t flags = REC32(rec, callchain, cpuflags);
	struct late_sample s = {
		.sample = {
			.tsc = rec->tsc, .tid = REC32(rec, callchain, tid),
			.event = event, .ends = ends_of(flags),
		},
	};
	uint32_t i = user_part(pc, n, flags);

	s.user = pmclog_get64(pc + (size_t)(i < n ? i : 0) * 8);
	late_add(&t->late, &s, rec->data);
}

static void answer(struct ends_log *t, const struct pmclog_rec *rec)
{
	uint8_t ends = record_ends(rec);
	struct late_sample *s;
	size_t at;

	if (!record_pcs(rec, &at))
		return;
	t->ends.told |= ends & END_TELLS;
	while ((s = late_take(&t->late, REC32(rec, ext_userchain, tid),
			      REC64(rec, ext_userchain, first),
			      pmclog_get64(rec->data + at)))) {
		ends_move(&t->ends, s->sample.event, 0,
			  ends_late(s->sample.ends),
			  ends_answered(s->sample.ends, ends));
		free(s);
	}
}

static void begin(struct ends_log *t, const struct pmclog_rec *rec)
{
	char cpuid[PMCLOG_CPUID_LEN + 1] = "";

	memcpy(cpuid, REC_STR(rec, initialize, cpuid), PMCLOG_CPUID_LEN);
	ends_settle(&t->ends);
	late_free(&t->late);
	t->x86 = machine_is_x86(0, cpuid);
}

static void ext(struct ends_log *t, const struct pmclog_rec *rec)
{
	switch (pmclog_iter_ext_subtype(rec)) {
	case PMCLOG_EXT_HOST:
		t->x86 = machine_is_x86(REC32(rec, ext_host, machine), "");
		break;
	case PMCLOG_EXT_USERCHAIN:
		answer(t, rec);
		break;
	}
}

void ends_log_record(struct ends_log *t, const struct pmclog_rec *rec)
{
	late_record(&t->late, rec);
	switch (rec->type) {
	case PMCLOG_T_INITIALIZE:
		begin(t, rec);
		break;
	case PMCLOG_T_USERDATA:
		ext(t, rec);
		break;
	}
}
