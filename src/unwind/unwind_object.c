// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: executed files, as known to an owner with unwind tables.
 *
 * An object is found by fields of its inode, without a reference to the inode.
 * Only its path is referenced, while it waits for UNWINDNEXT and for the
 * answer.  That is two seconds at most while the writer thread runs, and ends with
 * the log, so a file system is not kept from being unmounted for longer.  A worker puts
 * the path, because the last reference to a deleted file frees all of its data.  All is
 * under unwinder->lock except @areas, which is decremented without it.
 */
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "compat.h"
#include "unwind.h"

#define OBJECTS_MAX	(1U << 14)
/* Objects that are no longer executed are kept for later up to these limits. */
#define OBJECTS_SPARE	(OBJECTS_MAX / 2)
#define BYTES_SPARE	(256ULL << 20)
#define PATIENCE	(2 * HZ)

static u32 hash_of(const struct unwinder *u, const struct unwind_key *key)
{
	return jhash(key, sizeof(*key), u->seed);
}

static struct unwind_object *object_find(struct unwinder *u,
					 const struct unwind_key *key)
{
	struct unwind_object *obj;

	hash_for_each_possible(u->objects, obj, node, hash_of(u, key))
		if (!memcmp(&obj->key, key, sizeof(*key)))
			return obj;
	return NULL;
}

static void object_want(struct unwinder *u, struct unwind_object *obj,
			const struct path *path)
{
	if (path && !obj->path.dentry) {	/* otherwise the worker has not put it */
		obj->path = *path;
		path_get(&obj->path);
	}
	obj->since = jiffies;
	list_move_tail(&obj->want, &u->wanted);
	WRITE_ONCE(obj->state, UNWIND_WANTED);
}

static struct unwind_object *object_make(struct unwinder *u,
					 const struct unwind_key *key,
					 const struct path *path)
{
	struct unwind_object *obj;
	int err;

	err = u->nobjects < OBJECTS_MAX ? hwpmc_unwind_charge(u, sizeof(*obj)) :
					  -ENOSPC;
	if (err) {
		u->crowded = true;
		return ERR_PTR(err);
	}
	/* the caller may be a sampled task: its memory cgroup is not charged */
	obj = kzalloc(sizeof(*obj), GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!obj) {
		hwpmc_unwind_uncharge(u, sizeof(*obj));
		return ERR_PTR(-ENOMEM);
	}
	obj->key = *key;
	INIT_LIST_HEAD(&obj->want);
	u->nobjects++;
	u->next_id = u->next_id % INT_MAX + 1;
	obj->id = u->next_id;
	object_want(u, obj, path);
	hash_add(u->objects, &obj->node, hash_of(u, key));
	return obj;
}

/*
 * hwpmc_unwind_key_of - what identifies a file and its content
 * @inode: the mapped inode, below stacking file systems; NULL: the vdso
 *
 * Any context.  False: not a regular file.
 */
bool hwpmc_unwind_key_of(struct unwind_key *key, const struct inode *inode)
{
	*key = (struct unwind_key){ };
	if (!inode)
		return true;
	if (!S_ISREG(inode->i_mode))
		return false;
	key->ino = inode->i_ino;
	key->size = i_size_read(inode);
	key->mtime = compat_inode_mtime(inode);
	key->dev = inode->i_sb->s_dev;
	key->generation = inode->i_generation;
	return true;
}

/*
 * hwpmc_unwind_object_by_key - find or create an object
 * @path: the path as the user sees it; NULL: the vdso
 *
 * ENOMEM, ENOSPC, and the errors of hwpmc_unwind_charge().
 */
struct unwind_object *hwpmc_unwind_object_by_key(struct unwinder *u,
						 const struct unwind_key *key,
						 const struct path *path)
{
	struct unwind_object *obj;

	lockdep_assert_held(&u->lock);
	obj = object_find(u, key);
	if (!obj)
		return object_make(u, key, path);
	if (obj->state == UNWIND_LAPSED)
		object_want(u, obj, path);
	return obj;
}

struct unwind_object *hwpmc_unwind_object_by_id(struct unwinder *u, u32 id)
{
	struct unwind_object *obj;
	unsigned int i;

	lockdep_assert_held(&u->lock);
	hash_for_each(u->objects, i, obj, node)
		if (obj->id == id)
			return obj;
	return NULL;
}

/* @last: out: the object's path; the caller puts it without the lock. */
static void object_settle(struct unwind_object *obj, enum unwind_object_state state,
			  struct path *last)
{
	*last = obj->path;
	obj->path = (struct path){ };
	list_del_init(&obj->want);
	/* handlers may use the table from here on */
	smp_store_release(&obj->state, state);
}

/*
 * hwpmc_unwind_object_set - give an object its table, or note that it has none
 * @data: @t's memory of @len bytes, charged; the object takes it over.  NULL: none
 * @last: out: path that the caller puts without the lock
 *
 * EEXIST: the object already has an answer.
 */
int hwpmc_unwind_object_set(struct unwinder *u, struct unwind_object *obj,
			    void *data, size_t len,
			    const struct unwind_table *t, struct path *last)
{
	lockdep_assert_held(&u->lock);
	if (obj->state >= UNWIND_BARE)
		return -EEXIST;
	if (!data) {
		object_settle(obj, UNWIND_BARE, last);
		return 0;
	}
	obj->data = data;
	obj->len = len;
	obj->table = *t;
	object_settle(obj, UNWIND_READY, last);
	return 0;
}

/*
 * hwpmc_unwind_objects_announce - wake poll(2) if there are wanted objects that it
 * does not know of
 *
 * Called after objects have become wanted.  The unwinder has an owner.
 */
void hwpmc_unwind_objects_announce(struct unwinder *u)
{
	lockdep_assert_held(&u->lock);
	if (u->wants || list_empty(&u->wanted))
		return;
	WRITE_ONCE(u->wants, true);
	wake_up_all(&u->owner->log.waitq);
}

/* unwinder->lock.  Clears @wants if no object is wanted any more. */
static void settle_wants(struct unwinder *u)
{
	if (list_empty(&u->wanted))
		WRITE_ONCE(u->wants, false);
}

/* Marks the first wanted object as asked for, and returns it; NULL: none. */
struct unwind_object *hwpmc_unwind_object_ask(struct unwinder *u)
{
	struct unwind_object *obj;

	lockdep_assert_held(&u->lock);
	obj = list_first_entry_or_null(&u->wanted, struct unwind_object, want);
	if (obj) {
		list_move_tail(&obj->want, &u->asked);
		WRITE_ONCE(obj->state, UNWIND_ASKED);
	}
	settle_wants(u);
	return obj;
}

/* UNWINDNEXT could not return the object: it is wanted again. */
void hwpmc_unwind_object_unask(struct unwinder *u, struct unwind_object *obj)
{
	lockdep_assert_held(&u->lock);
	if (obj->state != UNWIND_ASKED)
		return;
	list_move(&obj->want, &u->wanted);
	WRITE_ONCE(obj->state, UNWIND_WANTED);
	hwpmc_unwind_objects_announce(u);
}

static bool object_lapse_list(struct unwinder *u, struct list_head *list,
			      unsigned int patience)
{
	struct unwind_object *obj, *next;
	bool some = false;

	list_for_each_entry_safe(obj, next, list, want) {
		if (time_before(jiffies, obj->since + patience))
			break;
		list_move_tail(&obj->want, &u->lapsed);
		WRITE_ONCE(obj->state, UNWIND_LAPSED);
		some = true;
	}
	return some;
}

/*
 * hwpmc_unwind_objects_lapse - give up, for now, objects that have had no
 * answer for long
 * @all: all objects without an answer
 *
 * Returns whether there were any.
 */
bool hwpmc_unwind_objects_lapse(struct unwinder *u, bool all)
{
	const unsigned int patience = all ? 0 : PATIENCE;
	bool some;

	lockdep_assert_held(&u->lock);
	some = object_lapse_list(u, &u->asked, patience);
	some |= object_lapse_list(u, &u->wanted, patience);
	settle_wants(u);
	return some;
}

/*
 * hwpmc_unwind_object_put_lapsed - put the path of the first object that was given up
 *
 * False: there is none.  Takes unwinder->lock.  May take long: a worker calls this.
 */
bool hwpmc_unwind_object_put_lapsed(struct unwinder *u)
{
	struct unwind_object *obj;
	struct path last = { };

	mutex_lock(&u->lock);
	obj = list_first_entry_or_null(&u->lapsed, struct unwind_object, want);
	if (obj)
		object_settle(obj, UNWIND_LAPSED, &last);
	mutex_unlock(&u->lock);
	path_put(&last);	/* may be empty */
	return obj;
}

static void free_rcu_work(struct rcu_head *rcu)
{
	struct unwind_object *obj = container_of(rcu, struct unwind_object, rcu);

	kvfree(obj->data);
	kfree(obj);
}

/* Is the object unused?  A map starts to use an object only under the lock. */
static bool is_spare(const struct unwind_object *obj)
{
	return list_empty(&obj->want) && !atomic_read(&obj->areas);
}

/*
 * Are there more unused objects than are kept for later?  Objects in use were
 * counted in the last round.  Newer objects count as unused, so that the limits
 * hold at once.
 */
static bool has_too_many_spare(const struct unwinder *u)
{
	return u->crowded || u->nobjects > u->used_objects + OBJECTS_SPARE ||
	       u->bytes > u->used_bytes + BYTES_SPARE;
}

static void spare_free(struct unwinder *u, struct unwind_object *obj)
{
	hash_del(&obj->node);
	u->nobjects--;
	hwpmc_unwind_uncharge(u, sizeof(*obj) + obj->len);
	/* handlers may still use a map that was released just now */
	call_rcu(&obj->rcu, free_rcu_work);
}

static void spare_bucket(struct unwinder *u, struct hlist_head *bucket)
{
	struct unwind_object *obj;
	struct hlist_node *next;

	hlist_for_each_entry_safe(obj, next, bucket, node) {
		if (!is_spare(obj)) {
			u->counted_objects++;
			u->counted_bytes += sizeof(*obj) + obj->len;
		} else if (has_too_many_spare(u)) {
			spare_free(u, obj);
		}
	}
}

/* All objects have been checked. */
static void spare_end_round(struct unwinder *u)
{
	u->crowded = false;
	u->used_objects = u->counted_objects;
	u->used_bytes = u->counted_bytes;
	u->counted_objects = 0;
	u->counted_bytes = 0;
}

/*
 * hwpmc_unwind_objects_spare - free objects that are not executed any more, if room
 * is short, and count the others
 *
 * Called by the writer thread from time to time, for @n buckets each time.  Returns
 * whether there is more to free.
 * Code that needs room does not free objects itself: the memory is available
 * only after the handlers that run now have ended.
 */
bool hwpmc_unwind_objects_spare(struct unwinder *u, unsigned int n)
{
	lockdep_assert_held(&u->lock);
	for (; n; n--) {
		u->spared = (u->spared + 1) % HASH_SIZE(u->objects);
		spare_bucket(u, &u->objects[u->spared]);
		if (!u->spared)
			spare_end_round(u);
	}
	return has_too_many_spare(u);
}

/* No handler, task or map uses the objects any more. */
void hwpmc_unwind_objects_free(struct unwinder *u)
{
	struct unwind_object *obj;
	struct hlist_node *next;
	unsigned int i;

	hash_for_each_safe(u->objects, i, next, obj, node) {
		path_put(&obj->path);	/* may be empty */
		kvfree(obj->data);
		kfree(obj);
		cond_resched();
	}
}
