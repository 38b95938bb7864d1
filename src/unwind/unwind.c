// SPDX-License-Identifier: GPL-2.0-only
/* User chains by unwind tables: the unwinder of an owner, and the ioctls. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "hwpmc.h"
#include "unwind.h"

#ifdef CONFIG_ARM64
#define MACHINE	EM_AARCH64
#else
#define MACHINE	EM_X86_64
#endif

#define TABLE_MAX	(128U << 20)
#define BYTES_MAX	(1ULL << 30)	/* for an owner without another limit */
/* A log waits for so long at its end until the files are let go of that had no table. */
#define LAPSE_WAIT	(HZ / 2)

/*
 * Unwinders are freed here, because a sampled task may drop the last reference, and paths
 * are put.
 */
static struct workqueue_struct *free_queue;

#ifdef CONFIG_ARM64
unsigned long hwpmc_unwind_user_end __ro_after_init;
#endif

/* Before the first sample. */
int hwpmc_unwind_init(void)
{
#ifdef CONFIG_ARM64
	hwpmc_unwind_user_end = TASK_SIZE_64;	/* may be read from a register */
#endif
	free_queue = alloc_workqueue("hwpmc_unwind", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return free_queue ? 0 : -ENOMEM;
}

/* No owner and no task has an unwinder any more; work that is queued may. */
void hwpmc_unwind_exit(void)
{
	destroy_workqueue(free_queue);
	rcu_barrier();	/* RCU callbacks that free objects are module code */
}

/* The charge is given back with the memory. */
static void unwinder_free(struct unwinder *u)
{
	hwpmc_unwind_maps_free(u);
	hwpmc_unwind_objects_free(u);
	hwpmc_limit_give_back(u->account, LIMIT_RING_BYTES, u->bytes);
	hwpmc_limit_drop(u->account);
	mutex_destroy(&u->lock);
	kvfree_rcu(u, rcu);
}

static void free_work(struct work_struct *work)
{
	unwinder_free(container_of(work, struct unwinder, free_work));
}

static void last_put(struct kref *ref)
{
	struct unwinder *u = container_of(ref, struct unwinder, ref);

	queue_work(free_queue, &u->free_work);
}

/* Any context. */
void hwpmc_unwind_put(struct unwinder *u)
{
	kref_put(&u->ref, last_put);
}

/* May sleep. */
static void last_put_now(struct kref *ref)
{
	unwinder_free(container_of(ref, struct unwinder, ref));
}

static void lapse_work(struct work_struct *work)
{
	struct unwinder *u = container_of(work, struct unwinder, lapse_work);

	while (hwpmc_unwind_object_put_lapsed(u))
		cond_resched();
	hwpmc_unwind_put(u);
}

/* A worker puts the paths of objects that were given up.  The caller has a reference. */
void hwpmc_unwind_put_lapsed(struct unwinder *u)
{
	kref_get(&u->ref);	/* not zero */
	if (!queue_work(free_queue, &u->lapse_work))
		hwpmc_unwind_put(u);
}

/*
 * Waits for a moment until that is done: file systems can be unmounted again.  One that
 * does not let go of a file keeps the worker, but not the log.  Writer thread.
 */
void hwpmc_unwind_sync_lapsed(struct hwpmc_owner *o)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);
	const unsigned long until = jiffies + LAPSE_WAIT;

	while (u && work_busy(&u->lapse_work) && !READ_ONCE(o->log.abort) &&
	       time_before(jiffies, until))
		usleep_range(100, 500);
}

static struct unwinder *unwinder_new(struct hwpmc_owner *o)
{
	struct unwinder *u = hwpmc_memory(sizeof(*u), NUMA_NO_NODE,
					  __GFP_ACCOUNT | __GFP_ZERO);

	if (!u)
		return NULL;
	kref_init(&u->ref);
	INIT_WORK(&u->free_work, free_work);
	INIT_WORK(&u->lapse_work, lapse_work);
	u->owner = o;
	u->account = hwpmc_limit_hold(o);
	mutex_init(&u->lock);
	u->busy_until = jiffies;
	u->seed = get_random_u32();
	hash_init(u->maps);
	hash_init(u->objects);
	INIT_LIST_HEAD(&u->wanted);
	INIT_LIST_HEAD(&u->asked);
	INIT_LIST_HEAD(&u->lapsed);
	return u;
}

/*
 * hwpmc_unwind_new - the unwinder that @o's first PMC with tables needs, for
 * hwpmc_unwind_begin()
 *
 * EOPNOTSUPP: this kernel has no way to queue work to a task.  ENOMEM.
 */
struct unwinder *hwpmc_unwind_new(struct hwpmc_owner *o)
{
	if (!compat_can_follow())
		return ERR_PTR(-EOPNOTSUPP);
	return unwinder_new(o) ?: ERR_PTR(-ENOMEM);
}

/* @u becomes @o's.  The hooks report mappings of code by now.  owner->mutex */
void hwpmc_unwind_begin(struct hwpmc_owner *o, struct unwinder *u)
{
	hwpmc_unwind_watch(u);
	/* handlers of the owner's PMCs see a complete unwinder */
	smp_store_release(&o->unwinder, u);
}

/*
 * The device is closed: no map is used any more, and so the hooks need not know of any.
 * A target may keep the owner for long.
 */
void hwpmc_unwind_close(struct hwpmc_owner *o)
{
	if (o->unwinder)
		hwpmc_unwind_unwatch(o->unwinder);
}

/*
 * The owner is about to be freed: no handler uses the unwinder any more; tasks
 * may.  A task that is stuck in a fault keeps the tables and their charge.
 */
void hwpmc_unwind_end(struct hwpmc_owner *o)
{
	struct unwinder *u = o->unwinder;

	if (!u)
		return;
	mutex_lock(&u->lock);
	u->owner = NULL;
	mutex_unlock(&u->lock);
	/* at once: the process that closed the device may want tables again */
	kref_put(&u->ref, last_put_now);
}

/* poll(2) */
bool hwpmc_unwind_wants(const struct hwpmc_owner *o)
{
	const struct unwinder *u = smp_load_acquire(&o->unwinder);

	return u && READ_ONCE(u->wants);
}

/*
 * hwpmc_unwind_charge - charge @bytes of maps or tables; unwinder->lock
 *
 * EDQUOT: too much for the user (max_ringmem).  ENOSPC: too much for the owner.
 * ENXIO: no owner.
 */
int hwpmc_unwind_charge(struct unwinder *u, size_t bytes)
{
	int err;

	lockdep_assert_held(&u->lock);
	if (!u->owner)
		return -ENXIO;
	err = u->bytes + bytes > BYTES_MAX ? -ENOSPC :
	      hwpmc_limit_charge(u->owner, LIMIT_RING_BYTES, bytes);
	if (err)
		u->crowded = true;
	else
		u->bytes += bytes;
	return err;
}

/* unwinder->lock */
void hwpmc_unwind_uncharge(struct unwinder *u, size_t bytes)
{
	lockdep_assert_held(&u->lock);
	hwpmc_limit_give_back(u->account, LIMIT_RING_BYTES, bytes);
	u->bytes -= bytes;
}

/* unwinder->lock */
static struct unwind_object *unwind_find_named(struct unwinder *u,
					       const struct hwpmc_unwindtable *a,
					       struct file *file)
{
	struct unwind_key key;

	if (a->id)
		return hwpmc_unwind_object_by_id(u, a->id) ?: ERR_PTR(-ENOENT);
	if (!hwpmc_unwind_key_of(&key, file ?
				 d_real_inode(file->f_path.dentry) : NULL))
		return ERR_PTR(-EINVAL);
	return hwpmc_unwind_object_by_key(u, &key, file ? &file->f_path : NULL);
}

static int unwind_check_args(const struct hwpmc_unwindtable *a)
{
	const bool vdso = a->flags & HWPMC_UNWIND_VDSO;

	if (a->reserved || (a->flags & ~HWPMC_UNWIND_VDSO) || a->fd < -1)
		return -EINVAL;
	/* exactly one of the three names the object */
	if (!!a->id + (a->fd >= 0) + vdso != 1)
		return -EINVAL;
	return a->len > TABLE_MAX ? -E2BIG : 0;
}

/* @data: the @a->len bytes that @t points into, or NULL */
static int unwind_set_table(struct unwinder *u,
			    const struct hwpmc_unwindtable *a,
			    struct file *file, void *data,
			    const struct unwind_table *t)
{
	struct path last = { };
	struct unwind_object *obj;
	int err;

	mutex_lock(&u->lock);
	obj = unwind_find_named(u, a, file);
	err = IS_ERR(obj) ? PTR_ERR(obj) :
	      hwpmc_unwind_object_set(u, obj, data, a->len, t, &last);
	mutex_unlock(&u->lock);
	path_put(&last);
	return err;
}

/* The table's length is charged already. */
static int give_data(struct unwinder *u, const struct hwpmc_unwindtable *a,
		     struct file *file)
{
	struct unwind_table t = { };
	void *data;
	int err;

	data = hwpmc_memory(a->len, NUMA_NO_NODE, __GFP_ACCOUNT);
	if (!data)
		return -ENOMEM;
	if (copy_from_user(data, u64_to_user_ptr(a->data), a->len))
		err = -EFAULT;
	else
		err = hwpmc_unwind_table_check(&t, data, a->len, MACHINE);
	if (!err)
		err = unwind_set_table(u, a, file, data, &t);
	if (err)
		kvfree(data);
	return err;
}

/* Charges the table's length before allocating memory for it. */
static int unwind_give_table(struct unwinder *u,
			     const struct hwpmc_unwindtable *a,
			     struct file *file)
{
	const struct unwind_table none = { };
	int err;

	if (!a->len)
		return unwind_set_table(u, a, file, NULL, &none);
	mutex_lock(&u->lock);
	err = hwpmc_unwind_charge(u, a->len);
	mutex_unlock(&u->lock);
	if (err)
		return err;
	err = give_data(u, a, file);
	if (err) {
		mutex_lock(&u->lock);
		hwpmc_unwind_uncharge(u, a->len);
		mutex_unlock(&u->lock);
	}
	return err;
}

/* UNWINDTABLE. owner->mutex is not held, because the copy may take long. */
int hwpmc_unwind_give(struct hwpmc_owner *o, const struct hwpmc_unwindtable *a)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);
	struct file *file = NULL;
	int err = unwind_check_args(a);

	if (err)
		return err;
	if (!u)
		return -ENXIO;
	if (a->fd >= 0) {
		file = fget(a->fd);
		if (!file)
			return -EBADF;
	}
	err = unwind_give_table(u, a, file);
	if (file)
		fput(file);
	return err;
}

static void unwind_unask(struct unwinder *u, u32 id)
{
	struct unwind_object *obj;

	mutex_lock(&u->lock);
	obj = hwpmc_unwind_object_by_id(u, id);
	if (obj)
		hwpmc_unwind_object_unask(u, obj);
	mutex_unlock(&u->lock);
}

/* Returns the next object's id; @path: referenced, empty for the vdso */
static u32 unwind_ask_next(struct unwinder *u, struct path *path)
{
	struct unwind_object *obj;
	u32 id = 0;

	mutex_lock(&u->lock);
	obj = hwpmc_unwind_object_ask(u);
	if (obj) {
		id = obj->id;
		*path = obj->path;
		path_get(path);
	}
	mutex_unlock(&u->lock);
	return id;
}

/* Returns a descriptor's number and its file, which can only be opened again. */
static int open_path(const struct path *path, struct file **file)
{
	int fd;

	*file = NULL;
	if (!path->dentry)
		return -1;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	*file = dentry_open(path, O_PATH, current_cred());
	if (!IS_ERR(*file))
		return fd;
	put_unused_fd(fd);
	return PTR_ERR(*file);
}

/*
 * UNWINDNEXT.  @file: fd_install() it at @a->fd once the caller has that
 * number; NULL: no file.
 */
int hwpmc_unwind_next(struct hwpmc_owner *o, struct hwpmc_unwindnext *a,
		      struct file **file)
{
	struct unwinder *u = o->unwinder;
	struct path path = { };
	int fd;

	if (a->id || a->fd || a->reserved)
		return -EINVAL;
	if (!u)
		return -ENXIO;
	a->id = unwind_ask_next(u, &path);
	if (!a->id)
		return -EAGAIN;
	fd = open_path(&path, file);
	if (path.dentry && fd < 0)
		unwind_unask(u, a->id);
	a->fd = fd;
	fd = path.dentry && fd < 0 ? fd : 0;
	path_put(&path);
	return fd;
}

/* The result cannot be returned to the caller: the object is wanted again. */
void hwpmc_unwind_next_undo(struct hwpmc_owner *o,
			    const struct hwpmc_unwindnext *a, struct file *file)
{
	if (file) {
		put_unused_fd(a->fd);
		fput(file);
	}
	unwind_unask(o->unwinder, a->id);
}
