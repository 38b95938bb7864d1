// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that ioctls add to a log: those of the module itself, by a ring, and those
 * that a program hands over (WRITELOG).
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hwpmc.h"
#include "log.h"
#include "sample/record.h"

/* -ENOMEM: there is no ring; -EAGAIN: the ring has no room now. */
static int try_commit(struct hwpmc_owner *o, const void *rec, u32 len)
{
	struct ring_stamp *s = NULL;
	enum ring_result res;
	struct owner_ring *or;
	u64 entered;
	int err = -ENOMEM;
	u64 now;

	preempt_disable();
	or = owner_ioctl_ring(o);
	if (or) {
		err = -EAGAIN;
		entered = ring_enter(&or->ring);
		s = ring_reserve(&or->ring, len, KIND_RECORD, 0, &now, &res);
		if (s) {
			err = 0;
			s->header = ((const struct ring_stamp *)rec)->header;
			s->spare = 0;
			memcpy(s + 1, rec + sizeof(*s), len - sizeof(*s));
			WRITE_ONCE(or->proc_committed, or->proc_committed + 1);
		}
		ring_exit(&or->ring, entered);
	}
	preempt_enable();
	return err;
}

static void log_sleep(struct hwpmc_owner *o)
{
	mutex_unlock(&o->cpus_mutex);	/* as in log_wait() */
	set_current_state(WAIT_INTERRUPTIBLE);
	schedule_timeout(msecs_to_jiffies(10));
	mutex_lock(&o->cpus_mutex);
}

/*
 * hwpmc_log_commit - commit a complete record to a ring, except for its stamp
 *
 * Waits for room.  ENOMEM instead if the device is non-blocking, or must be read
 * first.  ERESTARTSYS: interrupted by a signal; nothing is committed.
 */
int hwpmc_log_commit(struct hwpmc_owner *o, const void *rec, u32 len)
{
	int err;

	while ((err = try_commit(o, rec, len))) {
		hwpmc_log_kick(o);
		if (err == -ENOMEM || (o->file->f_flags & O_NONBLOCK) ||
		    hwpmc_stream_full(o))
			return -ENOMEM;
		log_sleep(o);
		if (signal_pending(current))
			return -ERESTARTSYS;
	}
	hwpmc_log_kick(o);
	return 0;
}

/*
 * WRITELOG of one value.  EINVAL without a log, else like hwpmc_log_commit().
 */
int hwpmc_log_userdata(struct hwpmc_owner *o, u32 value)
{
	struct pmclog_userdata u = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(u)),
		.userdata = value,
	};

	return hwpmc_log_active(o) ? hwpmc_log_commit(o, &u, sizeof(u)) :
	       -EINVAL;
}

/* For a record of the bulk form: where its strings begin, and their number. */
static bool meta_strings(const struct pmclog_ext *e, u32 len, u32 *at, u32 *n)
{
	*n = 1;
	if (PMCLOG_HEADER_TYPE(e->h.header) == PMCLOG_T_MAP_IN) {
		const struct pmclog_map_in *m = (const void *)e;

		*at = sizeof(*m);
		return len > *at && m->pid == PMCLOG_PID_KERNEL && !m->pad &&
		       len - *at <= PMCLOG_PATH_MAX;
	}
	if (PMCLOG_HEADER_TYPE(e->h.header) != PMCLOG_T_USERDATA ||
	    len < sizeof(*e) || e->cookie != PMCLOG_EXT_COOKIE || e->version)
		return false;
	switch (e->subtype) {
	case PMCLOG_EXT_KERNEL:
		*at = sizeof(struct pmclog_ext_kernel);
		break;
	case PMCLOG_EXT_MODULE:
		*at = sizeof(struct pmclog_ext_module);
		break;
	case PMCLOG_EXT_SECTION:
		*at = sizeof(struct pmclog_ext_section);
		*n = 2;
		break;
	case PMCLOG_EXT_BUILDID: {
		const struct pmclog_ext_buildid *b = (const void *)e;

		*at = sizeof(*b);
		if (len < *at || b->len > sizeof(b->id) || b->pad ||
		    memchr_inv(b->id + b->len, 0, sizeof(b->id) - b->len))
			return false;
		break;
	}
	case PMCLOG_EXT_FIELDS:
		*at = sizeof(struct pmclog_ext_fields);
		return len > *at && !((const struct pmclog_ext_fields *)e)->pad;
	default:
		return false;
	}
	return true;
}

/* Checks for one whole record of an allowed kind with terminated strings. */
static bool meta_record_ok(const u8 *p, u32 left, u32 *len)
{
	const struct pmclog_ext *e = (const void *)p;
	u32 at, strings;

	if (left < sizeof(struct pmclog_hdr))
		return false;
	*len = PMCLOG_HEADER_LEN(e->h.header);
	if (PMCLOG_HEADER_MAGIC(e->h.header) != PMCLOG_MAGIC || e->h.spare ||
	    *len % 4 || *len < sizeof(struct pmclog_hdr) || *len > left ||
	    *len > PMCLOG_RECORD_MAX || !meta_strings(e, *len, &at, &strings))
		return false;
	for (; at < *len; at++)
		if (!p[at] && strings && !--strings)
			break;
	/* only padding may follow the last string */
	return at < *len && *len - at <= 4 && !memchr_inv(p + at, 0, *len - at);
}

static bool meta_ok(const struct log_meta *m)
{
	u32 at, len;

	for (at = 0; at < m->len; at += len)
		if (!meta_record_ok(m->data + at, m->len - at, &len))
			return false;
	return true;
}

static int meta_add(struct hwpmc_log *log, struct log_meta *m)
{
	int err = 0;

	spin_lock(&log->lock);
	if (log->meta_bytes + m->len > HWPMC_WRITELOG_MAX) {
		err = -E2BIG;
	} else {
		log->meta_bytes += m->len;
		list_add_tail(&m->list, &log->meta);
	}
	spin_unlock(&log->lock);
	return err;
}

/*
 * hwpmc_log_write_records - WRITELOG's bulk form
 *
 * E2BIG beyond the log's limit, EINVAL without a log or if any record is not
 * allowed (then none is taken), EFAULT, ENOMEM.
 */
int hwpmc_log_write_records(struct hwpmc_owner *o, u64 uaddr, u32 len)
{
	struct log_meta *m;
	int err;

	if (!hwpmc_log_active(o))
		return -EINVAL;
	if (len > HWPMC_WRITELOG_MAX)
		return -E2BIG;
	m = hwpmc_memory(struct_size(m, data, len), NUMA_NO_NODE, __GFP_ACCOUNT);
	if (!m)
		return -ENOMEM;
	m->len = len;
	err = -EFAULT;
	if (copy_from_user(m->data, u64_to_user_ptr(uaddr), len))
		goto err_free;
	err = -EINVAL;
	if (!meta_ok(m))
		goto err_free;
	err = meta_add(&o->log, m);
	if (err)
		goto err_free;
	hwpmc_log_kick(o);
	return 0;

err_free:
	kvfree(m);
	return err;
}
