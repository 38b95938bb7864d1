/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User chains by unwind tables.
 *
 * An owner with HWPMC_F_UNWIND has a struct unwinder.  It has the objects
 * (executed files) with their tables, and a map of the code of each sampled
 * process.  Handlers read both under RCU.  Tasks build the maps when they
 * return to user mode (chain_deferred.c).  Ioctls supply the tables.
 *
 * The mmap lock and unwinder->lock are never held together.  A sampled task waits
 * for unwinder->lock for some milliseconds only, because the holder may be
 * preempted for long.
 */
#ifndef HWPMC_UNWIND_H
#define HWPMC_UNWIND_H

#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/workqueue.h>

#include "hwpmc.h"
#include "unwind_table.h"

#define UNWIND_OBJECT_BITS	12
#define UNWIND_MAP_BITS		10

enum unwind_object_state {
	UNWIND_WANTED,		/* no table yet; UNWINDNEXT has not returned it */
	UNWIND_ASKED,		/* UNWINDNEXT has returned it */
	UNWIND_LAPSED,		/* no answer; the next map wants it again */
	UNWIND_BARE,		/* there is no table for it, or no room for the object */
	UNWIND_READY,		/* @table is valid */
};

/* Identifies a file and its content; all 0: the vdso. */
struct unwind_key {
	u64		ino;
	u64		size;
	s64		mtime;
	u32		dev;
	u32		generation;
};

/**
 * struct unwind_object - a file that is executed, or the vdso
 * @node:  unwinder->lock
 * @want:  unwinder->lock; in a list of the unwinder while it has a path, or is WANTED or
 *	ASKED
 * @since: unwinder->lock; time of becoming WANTED (jiffies)
 * @key, @id: constant
 * @path:  unwinder->lock; referenced while WANTED or ASKED, and until a worker has put it
 * @state: stored under unwinder->lock, with release; handlers acquire
 * @table: constant once READY
 * @data, @len: memory that @table points into, and its bytes; freed with the
 *	object
 * @areas: number of areas in maps that handlers and tasks may use.  0: may be
 *	   freed, see hwpmc_unwind_objects_spare()
 */
struct unwind_object {
	struct hlist_node node;
	struct rcu_head	rcu;
	struct list_head want;
	unsigned long	since;
	struct unwind_key key;
	u32		id;
	enum unwind_object_state state;
	struct path	path;
	struct unwind_table table;
	void		*data;
	size_t		len;
	atomic_t	areas;
};

/*
 * Mapped code: [@start, @end); pc + @bias is the place in its file.
 * @object: NULL for code without a file
 * @doubted: code has been mapped there since; stored in any context, never cleared
 */
struct unwind_area {
	u64		start;
	u64		end;
	u64		bias;
	struct unwind_object *object;
	bool		doubted;
};

/**
 * struct unwind_map - the code of a process
 * @node:  unwinder->lock; handlers read under RCU
 * @ref:   held by the unwinder while the map is in its table, and by walks that
 *	   may sleep
 * @mm:    mmgrab(): no other process can get the same pointer
 * @id:    unique for ever
 * @bytes: charged for it, or 0 once another map has taken that over;
 *	   unwinder->lock once the map is in the table
 * @due:   time (ns) at which the builds of the process' maps make up a tenth of
 *	   the time again; tasks change it with cmpxchg, see may_build()
 * @stale: code has been mapped since; any context
 * @doubted: as if each area were; any context
 * @cut:   there was no room for more areas: an address in none may be code
 *	without a table; constant
 * @areas: sorted by address; constant, but for @doubted
 */
struct unwind_map {
	struct hlist_node node;
	struct rcu_head	rcu;
	struct kref	ref;
	struct mm_struct *mm;
	u64		id;
	size_t		bytes;
	u64		due;
	bool		stale;
	bool		doubted;
	bool		cut;
	u32		n;
	struct unwind_area areas[];
};

/**
 * struct unwinder - objects and maps of an owner
 * @ref:   held by the owner, by tasks that walk, and by @lapse_work
 * @owner: @lock; NULL: it is gone
 * @account: of the owner, referenced; NULL: none; constant
 * @all:   unwinders_mutex; hooks read under RCU
 * @lock:  objects and maps; its holder waits for nothing but memory
 * @seed:  for the hash of objects, because file systems choose their inode
 *	   numbers
 * @wanted, @asked: objects without a table
 * @lapsed: objects that were given up, whose path @lapse_work puts
 * @bytes: charged for maps and tables
 * @wants: UNWINDNEXT has an object to return; for poll(2)
 * @tidied, @spared: last bucket of maps, and of objects, that was checked
 * @tidied_at: when that of maps was; jiffies
 * @next_id: for objects
 * @failed_size, @failed_until: number of mappings of the last process that got no
 *	map (0: none), and until when no process with as many or more is tried
 *	(jiffies).  No lock: the two may be of two failures
 * @busy_until: no task waits for @lock until then, because one has waited in vain
 *	(jiffies); no lock
 * @used_objects, @used_bytes: objects that maps have, with their tables, as of the
 *	last round through all objects
 * @counted_objects, @counted_bytes: the same, of the round in progress
 * @crowded: something was refused for lack of room
 * @asking, @to_ask: last bucket of maps that was checked for files that were given up
 *	or had no room, and number of buckets that remain
 */
struct unwinder {
	struct kref	ref;
	struct rcu_head	rcu;
	struct work_struct free_work;
	struct work_struct lapse_work;
	struct hwpmc_owner *owner;
	struct limit_account *account;
	struct list_head all;
	struct mutex	lock;
	u32		seed;
	u32		nobjects;
	u32		nmaps;
	u32		tidied;
	u32		spared;
	u32		used_objects;
	u32		counted_objects;
	u32		asking;
	u32		to_ask;
	u32		next_id;
	int		failed_size;
	unsigned long	failed_until;
	unsigned long	busy_until;
	unsigned long	tidied_at;
	u64		bytes;
	u64		used_bytes;
	u64		counted_bytes;
	bool		wants;
	bool		crowded;
	struct list_head wanted;
	struct list_head asked;
	struct list_head lapsed;
	DECLARE_HASHTABLE(maps, UNWIND_MAP_BITS);
	DECLARE_HASHTABLE(objects, UNWIND_OBJECT_BITS);
};

/* unwind.c: creation and release, ioctls, accounts */
int hwpmc_unwind_init(void);
void hwpmc_unwind_exit(void);
struct unwinder *hwpmc_unwind_new(struct hwpmc_owner *o);
void hwpmc_unwind_begin(struct hwpmc_owner *o, struct unwinder *u);
void hwpmc_unwind_close(struct hwpmc_owner *o);
void hwpmc_unwind_end(struct hwpmc_owner *o);
void hwpmc_unwind_put(struct unwinder *u);
void hwpmc_unwind_put_lapsed(struct unwinder *u);
void hwpmc_unwind_sync_lapsed(struct hwpmc_owner *o);
bool hwpmc_unwind_wants(const struct hwpmc_owner *o);
int hwpmc_unwind_charge(struct unwinder *u, size_t bytes);
void hwpmc_unwind_uncharge(struct unwinder *u, size_t bytes);
int hwpmc_unwind_give(struct hwpmc_owner *o, const struct hwpmc_unwindtable *a);
int hwpmc_unwind_next(struct hwpmc_owner *o, struct hwpmc_unwindnext *a,
		      struct file **file);
void hwpmc_unwind_next_undo(struct hwpmc_owner *o,
			    const struct hwpmc_unwindnext *a,
			    struct file *file);

/* unwind_object.c: under unwinder->lock, but for hwpmc_unwind_key_of() and _put_lapsed() */
bool hwpmc_unwind_key_of(struct unwind_key *key, const struct inode *inode);
struct unwind_object *hwpmc_unwind_object_by_key(struct unwinder *u,
						 const struct unwind_key *key,
						 const struct path *path);
struct unwind_object *hwpmc_unwind_object_by_id(struct unwinder *u, u32 id);
int hwpmc_unwind_object_set(struct unwinder *u, struct unwind_object *obj,
			    void *data, size_t len,
			    const struct unwind_table *t, struct path *last);
void hwpmc_unwind_objects_announce(struct unwinder *u);
struct unwind_object *hwpmc_unwind_object_ask(struct unwinder *u);
void hwpmc_unwind_object_unask(struct unwinder *u, struct unwind_object *obj);
bool hwpmc_unwind_objects_lapse(struct unwinder *u, bool all);
bool hwpmc_unwind_object_put_lapsed(struct unwinder *u);
bool hwpmc_unwind_objects_spare(struct unwinder *u, unsigned int n);
void hwpmc_unwind_objects_free(struct unwinder *u);

/**
 * struct unwind_asked - the last answer that a walk in the task got from the mappings
 * @start, @end, @bias: as of an area: the executable mapping that was found last; 0:
 *	none.  Successive frames are often in one mapping
 * @key: of its object; only with @has_object
 * @has_object: it is of a regular file, or the vdso
 * @waited: for the mmap lock, in all (ns)
 *
 * On the stack of the task; zeroed at the beginning of the walk.
 */
struct unwind_asked {
	u64		start;
	u64		end;
	u64		bias;
	struct unwind_key key;
	bool		has_object;
	u64		waited;
};

/* unwind_scan.c; see also unwind_scan.h */
bool hwpmc_unwind_is_code(struct unwind_asked *asked, struct mm_struct *mm,
			  u64 pc);

/* unwind_map.c */
const struct unwind_map *hwpmc_unwind_map_find(const struct unwinder *u,
					       const struct mm_struct *mm);
const struct unwind_area *hwpmc_unwind_map_area(const struct unwind_map *map,
						u64 pc);
struct unwind_map *hwpmc_unwind_map_get(struct unwinder *u,
					struct mm_struct *mm);
void hwpmc_unwind_map_put(struct unwind_map *map);
bool hwpmc_unwind_tidy(struct hwpmc_owner *o);
void hwpmc_unwind_rest(struct hwpmc_owner *o);
void hwpmc_unwind_maps_free(struct unwinder *u);
void hwpmc_unwind_mapped(const struct vm_area_struct *vma, u64 start, u64 end);
void hwpmc_unwind_watch(struct unwinder *u);
void hwpmc_unwind_unwatch(struct unwinder *u);

/* chain_tables.c */
struct rule_cache;
struct user_place;
struct rule_cache *hwpmc_chain_tables_new_cache(int node);
unsigned int hwpmc_chain_tables_walk(const struct unwinder *u,
				     struct rule_cache *cache, u64 *pc,
				     unsigned int max, struct pt_regs *regs,
				     unsigned int *end);
unsigned int hwpmc_chain_tables_walk_deferred(struct unwinder *u, u64 *pc,
					      unsigned int max,
					      const struct user_place *at,
					      struct pt_regs *regs,
					      unsigned int *end);

#endif /* HWPMC_UNWIND_H */
