// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: files that are executed, as an owner with unwind tables knows them.
 *
 * Found by what their inodes say, without a reference: no file system is kept from
 * being unmounted for longer than UNWINDNEXT is left without an answer, and that is
 * two seconds at most while the writer thread runs.  All is under unwinder->lock but
 * @areas, which falls without it.
 */
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "compat.h"
#include "unwind.h"

#define OBJECTS_MAX	(1U << 14)
/* What nobody executes any more may stay below these, for the next time. */
#define OBJECTS_SPARE	(OBJECTS_MAX / 2)
#define BYTES_SPARE	(256ULL << 20)
#define BUCKETS_AT_ONCE	64
#define PATIENCE	(2 * HZ)

static u32 hash_of(const struct unwinder *u, const struct unwind_key *key)
{
	return jhash(key, sizeof(*key), u->seed);
}

static struct unwind_object *find(struct unwinder *u,
				  const struct unwind_key *key)
{
	struct unwind_object *obj;

	hash_for_each_possible(u->objects, obj, node, hash_of(u, key))
		if (!memcmp(&obj->key, key, sizeof(*key)))
			return obj;
	return NULL;
}

static void want(struct unwinder *u, struct unwind_object *obj,
		 const struct path *path)
{
	if (path) {
		obj->path = *path;
		path_get(&obj->path);
	}
	obj->since = jiffies;
	list_add_tail(&obj->want, &u->wanted);
	WRITE_ONCE(obj->state, UNWIND_WANTED);
}

static struct unwind_object *make(struct unwinder *u,
				  const struct unwind_key *key,
				  const struct path *path)
{
	struct unwind_object *obj;

	if (u->nobjects == OBJECTS_MAX) {
		u->crowded = true;
		return ERR_PTR(-ENOSPC);
	}
	obj = kzalloc(sizeof(*obj), GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->key = *key;
	u->nobjects++;
	u->next_id = u->next_id % INT_MAX + 1;
	obj->id = u->next_id;
	want(u, obj, path);
	hash_add(u->objects, &obj->node, hash_of(u, key));
	return obj;
}

/*
 * unwind_object_of - the object of a file, a new one if need be
 * @inode: the one that is mapped, below file systems that stack; NULL: the vdso
 * @path:  the user's
 *
 * EINVAL: it is no regular file.  ENOMEM, ENOSPC.
 */
struct unwind_object *unwind_object_of(struct unwinder *u,
				       const struct inode *inode,
				       const struct path *path)
{
	struct unwind_key key = { };
	struct unwind_object *obj;

	lockdep_assert_held(&u->lock);
	if (inode) {
		if (!S_ISREG(inode->i_mode))
			return ERR_PTR(-EINVAL);
		key.ino = inode->i_ino;
		key.size = i_size_read(inode);
		key.mtime = compat_inode_mtime(inode);
		key.dev = inode->i_sb->s_dev;
		key.generation = inode->i_generation;
	}
	obj = find(u, &key);
	if (!obj)
		return make(u, &key, path);
	if (obj->state == UNWIND_LAPSED)
		want(u, obj, path);
	return obj;
}

struct unwind_object *unwind_object_by_id(struct unwinder *u, u32 id)
{
	struct unwind_object *obj;
	unsigned int i;

	lockdep_assert_held(&u->lock);
	hash_for_each(u->objects, i, obj, node)
		if (obj->id == id)
			return obj;
	return NULL;
}

/* @last: its path is the caller's to put, when the lock is gone. */
static void settle(struct unwind_object *obj, enum unwind_state state,
		   struct path *last)
{
	*last = obj->path;
	obj->path = (struct path){ };
	list_del_init(&obj->want);
	/* handlers look at the table from here on */
	smp_store_release(&obj->state, state);
}

/*
 * unwind_object_set - what there is for an object: a table, or none
 * @data: @t's, of @len bytes, charged; the object's from here on.  NULL: none
 * @last: the caller's to put, when the lock is gone
 *
 * EEXIST: that is known already.
 */
int unwind_object_set(struct unwinder *u, struct unwind_object *obj,
		      void *data, size_t len, const struct unwind_table *t,
		      struct path *last)
{
	lockdep_assert_held(&u->lock);
	if (obj->state >= UNWIND_BARE)
		return -EEXIST;
	if (!data) {
		settle(obj, UNWIND_BARE, last);
		return 0;
	}
	obj->data = data;
	obj->len = len;
	obj->table = *t;
	settle(obj, UNWIND_READY, last);
	return 0;
}

/* One that nobody has been asked for, which is asked for now; NULL: none. */
struct unwind_object *unwind_object_ask(struct unwinder *u)
{
	struct unwind_object *obj;

	lockdep_assert_held(&u->lock);
	obj = list_first_entry_or_null(&u->wanted, struct unwind_object, want);
	if (obj) {
		list_move_tail(&obj->want, &u->asked);
		WRITE_ONCE(obj->state, UNWIND_ASKED);
	}
	WRITE_ONCE(u->wants, !list_empty(&u->wanted));
	return obj;
}

/* The asker has not heard it. */
void unwind_object_unask(struct unwinder *u, struct unwind_object *obj)
{
	lockdep_assert_held(&u->lock);
	if (obj->state != UNWIND_ASKED)
		return;
	list_move(&obj->want, &u->wanted);
	WRITE_ONCE(obj->state, UNWIND_WANTED);
	WRITE_ONCE(u->wants, true);
}

static unsigned int lapse(struct list_head *list, struct path *last,
			  unsigned int room)
{
	struct unwind_object *obj, *next;
	unsigned int n = 0;

	list_for_each_entry_safe(obj, next, list, want) {
		if (n == room || time_before(jiffies, obj->since + PATIENCE))
			break;
		settle(obj, UNWIND_LAPSED, &last[n++]);
	}
	return n;
}

/*
 * unwind_objects_lapse - objects without an answer for long are given up for now
 *
 * Returns how many there were; their paths are the caller's to put.
 */
unsigned int unwind_objects_lapse(struct unwinder *u, struct path *last,
				  unsigned int room)
{
	unsigned int n;

	lockdep_assert_held(&u->lock);
	n = lapse(&u->asked, last, room);
	n += lapse(&u->wanted, last + n, room - n);
	WRITE_ONCE(u->wants, !list_empty(&u->wanted));
	return n;
}

static void free_rcu_work(struct rcu_head *rcu)
{
	struct unwind_object *obj = container_of(rcu, struct unwind_object, rcu);

	kvfree(obj->data);
	kfree(obj);
}

/* Is it of no use to anybody now?  No map comes to know it without the lock. */
static bool is_spare(const struct unwind_object *obj)
{
	return obj->state != UNWIND_WANTED && obj->state != UNWIND_ASKED &&
	       !atomic_read(&obj->areas);
}

static void spare_bucket(struct unwinder *u, struct hlist_head *bucket)
{
	struct unwind_object *obj;
	struct hlist_node *next;

	hlist_for_each_entry_safe(obj, next, bucket, node) {
		if (!is_spare(obj))
			continue;
		hash_del(&obj->node);
		u->nobjects--;
		unwind_uncharge(u, obj->len);
		/* handlers may look at a map that was let go of just now */
		call_rcu(&obj->rcu, free_rcu_work);
	}
}

/*
 * unwind_objects_spare - if there is little room, what nobody executes any more goes
 *
 * The writer thread, now and then: some buckets each time.  Nobody makes room at
 * once for himself: the memory is there only when the handlers of now have ended.
 */
void unwind_objects_spare(struct unwinder *u)
{
	unsigned int i;

	lockdep_assert_held(&u->lock);
	if (!u->crowded && u->nobjects <= OBJECTS_SPARE &&
	    u->bytes <= BYTES_SPARE)
		return;
	for (i = 0; i < BUCKETS_AT_ONCE; i++) {
		u->spared = (u->spared + 1) % HASH_SIZE(u->objects);
		spare_bucket(u, &u->objects[u->spared]);
		if (!u->spared)
			u->crowded = false;
	}
}

/* No handler, no task and no map knows them any more. */
void unwind_objects_free(struct unwinder *u)
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
