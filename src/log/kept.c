// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of kernel modules that came or went while a log was open.  The next log of the
 * owner needs them, too: a module that was loaded during the last log is in no list that
 * a program wrote before it, and no hook runs for it again.
 *
 * Only the writer thread uses them; between two logs, the owner's last user.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "emit.h"
#include "hwpmc.h"
#include "kept.h"

/* hwpmc_kept_start - the module's address, in a record of which hwpmc_kept_wants() is true */
u64 hwpmc_kept_start(const struct pmclog_hdr *h)
{
	const struct pmclog_map_in *m = (const void *)h;	/* and MAP_OUT */

	if (PMCLOG_HEADER_TYPE(h->header) == PMCLOG_T_USERDATA)
		return ((const struct pmclog_ext_module *)h)->start;
	return m->start;
}

static bool is_out(const struct pmclog_hdr *h)
{
	return PMCLOG_HEADER_TYPE(h->header) == PMCLOG_T_MAP_OUT;
}

/* True for a record of a kernel module, made by kmod.c. */
bool hwpmc_kept_wants(const struct pmclog_hdr *h)
{
	const struct pmclog_ext *e = (const void *)h;
	const struct pmclog_map_in *m = (const void *)h;	/* and MAP_OUT */

	switch (PMCLOG_HEADER_TYPE(h->header)) {
	case PMCLOG_T_MAP_IN:
	case PMCLOG_T_MAP_OUT:
		return m->pid == PMCLOG_PID_KERNEL;
	case PMCLOG_T_USERDATA:
		return PMCLOG_HEADER_LEN(h->header) >= sizeof(*e) &&
		       e->cookie == PMCLOG_EXT_COOKIE &&
		       e->subtype == PMCLOG_EXT_MODULE;
	default:
		return false;
	}
}

/* hwpmc_kept_is_end - true for the record of the end of a module */
bool hwpmc_kept_is_end(const struct pmclog_hdr *h)
{
	return is_out(h) && hwpmc_kept_wants(h);
}

/* Far more than there are modules; for machines that load and unload them all the time */
#define KEPT_MAX	4096

/* Drops what a module that has gone had. */
static void drop_at(struct log_kept *k, u64 start)
{
	struct log_meta *m, *next;

	list_for_each_entry_safe(m, next, &k->records, list) {
		const struct pmclog_hdr *h = (const void *)m->data;

		if (is_out(h) || hwpmc_kept_start(h) != start)
			continue;
		list_del(&m->list);
		kfree(m);
		k->n--;
	}
}

static bool has_out(const struct log_kept *k, u64 start)
{
	const struct log_meta *m;

	list_for_each_entry(m, &k->records, list) {
		const struct pmclog_hdr *h = (const void *)m->data;

		if (is_out(h) && hwpmc_kept_start(h) == start)
			return true;
	}
	return false;
}

/*
 * hwpmc_kept_add - a record for which hwpmc_kept_wants() is true
 *
 * The end of a module is kept even if its beginning was: a program may have written the
 * module meanwhile.  There is one end for each address.  Without room the next log
 * reports a loss.
 */
void hwpmc_kept_add(struct log_kept *k, const struct pmclog_hdr *h)
{
	u32 len = PMCLOG_HEADER_LEN(h->header);
	struct log_meta *m;

	if (is_out(h)) {
		drop_at(k, hwpmc_kept_start(h));
		if (has_out(k, hwpmc_kept_start(h)))
			return;
	}
	m = k->n < KEPT_MAX ? kmalloc(struct_size(m, data, len),
				      HWPMC_GFP) : NULL;
	if (!m) {
		k->lost++;
		return;
	}
	m->len = len;
	memcpy(m->data, h, len);
	list_add_tail(&m->list, &k->records);
	k->n++;
}

/* hwpmc_kept_emit - what is kept, into the log */
void hwpmc_kept_emit(struct hwpmc_owner *o)
{
	const struct log_meta *m;

	if (!o->log.maker.tell_kernel)
		return;
	list_for_each_entry(m, &o->log.kept.records, list)
		hwpmc_emit_meta(o, m);
}

/* hwpmc_kept_begin - a log begins after another one: it lacks what could not be kept */
void hwpmc_kept_begin(struct hwpmc_owner *o)
{
	const struct log_kept *k = &o->log.kept;
	u64 lost = k->lost + atomic64_read(&k->no_room);

	hwpmc_kept_emit(o);
	if (lost && o->log.maker.tell_kernel)
		atomic64_add(lost, &o->noring.beyond_dump);
}

/* hwpmc_kept_forget - what follows is the first log of a program; no thread runs */
void hwpmc_kept_forget(struct log_kept *k)
{
	struct log_meta *m, *next;

	list_for_each_entry_safe(m, next, &k->records, list) {
		list_del(&m->list);
		kfree(m);
	}
	k->n = 0;
	k->lost = 0;
	atomic64_set(&k->no_room, 0);
}
