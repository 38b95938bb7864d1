// SPDX-License-Identifier: BSD-2-Clause
/* Packs the samples of a log with the module's own code. */
#include <stdlib.h>
#include <string.h>

#include <pmclog_iter.h>

#include "abort.h"
#include "loggen.h"
#include "log/pack_code.h"

#define HEAD	sizeof(struct pmclog_callchain)

struct packer {
	struct loggen *to;
	struct pack *pack;
	u64 rec[PMCLOG_PACK_MAX / 8];
};

static void flush(struct packer *pk)
{
	struct pack *p = pk->pack;

	if (!p->rec)
		return;
	memcpy(lg_room(pk->to, pack_len(p)), pk->rec, pack_len(p));
	pack_close(p);
}

static bool add(struct packer *pk, const unsigned char *rec, size_t len)
{
	static u64 aligned[(64 << 10) / 8];
	struct pmclog_callchain *cc = (void *)aligned;
	u32 n = (len - HEAD) / 8;
	const u32 *before = pk->pack->at;

	if (!n || n > pk->pack->depth)
		return false;
	memcpy(aligned, rec, len);
	if (hwpmc_pack_add(pk->pack, cc, n, cc->h.tsc))
		return true;
	abort_if(pk->pack->at != before);
	flush(pk);
	hwpmc_pack_open(pk->pack, pk->rec, cc->h.tsc);
	abort_if(!hwpmc_pack_add(pk->pack, cc, n, cc->h.tsc));
	return true;
}

static void begin(struct packer *pk, unsigned int depth)
{
	free(pk->pack);
	pk->pack = calloc(1, hwpmc_pack_size(depth));
	abort_if(!pk->pack);
	pk->pack->depth = depth;
}

void lg_pack(struct loggen *g, const struct loggen *plain, unsigned int depth)
{
	struct packer *pk = calloc(1, sizeof(*pk));
	u32 header, len;
	size_t at;

	abort_if(!pk);
	pk->to = g;
	begin(pk, depth);
	for (at = 0; at < plain->len; at += len) {
		header = pmclog_get32(plain->buf + at);
		len = PMCLOG_HEADER_LEN(header);
		if (PMCLOG_HEADER_TYPE(header) == PMCLOG_T_CALLCHAIN &&
		    add(pk, plain->buf + at, len))
			continue;
		flush(pk);
		if (PMCLOG_HEADER_TYPE(header) == PMCLOG_T_INITIALIZE)
			begin(pk, depth);
		memcpy(lg_room(g, len), plain->buf + at, len);
	}
	flush(pk);
	free(pk->pack);
	free(pk);
}
