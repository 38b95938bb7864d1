// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps: where the code of a process is mapped, for the overflow handlers.
 *
 * A task builds the map of its process when it returns to user mode.  A later
 * executable mapping makes the map stale.  Handlers then defer the chain to the
 * task again, which builds a new map.  Until it can, it uses the stale map, and
 * doubts the areas in which code has been mapped since.  An unmapping does no harm:
 * no chain leads to code that is gone.
 *
 * The task reads the mappings under its mmap lock.  Then a worker takes unwinder->lock,
 * finds the files' objects and publishes the map.  All processes of an owner need that
 * lock, and a task may be preempted for any time.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "unwind.h"
#include "unwind_scan.h"

#define MAPS_MAX	8192
#define DOUBTED_MAX	32	/* areas, by one change */
/* tidying: of a round through all buckets, so much for each TIDY_WAIT */
#define ROUND_TURNS	64
#define TIDY_WAIT	(HZ / 20)
#define FAILED_WAIT	(HZ / 10)

/* A task waits for unwinder->lock for this many times 100 to 200 us. */
#define LOCK_TRIES	20
#define BUSY_WAIT	(HZ / 10)

/* Builds of a process' maps take a tenth of the time; a burst may exceed that. */
#define BUILD_SHARE	10
#define BUILD_BURST	(100 * NSEC_PER_MSEC)
/* A task that took longer was mostly preempted: the rest does not count. */
#define BUILD_MAX	(100 * NSEC_PER_MSEC)
/* For this time after one thread has begun a build, other threads begin none. */
#define BUILD_ALONE	(20 * NSEC_PER_MSEC)

static DEFINE_MUTEX(unwinders_mutex);
static LIST_HEAD(unwinders);		/* unwinders_mutex; RCU */
static atomic64_t ids = ATOMIC64_INIT(0);

/*
 * Stands for files that could not be remembered for lack of room.  Their code is
 * unwound by its frame pointer, as that of a process without a map is.  Such a map is
 * built again later; see hwpmc_unwind_tidy().
 */
static struct unwind_object no_room = { .state = UNWIND_BARE };

/*
 * hwpmc_unwind_map_find - the map of a process, if it has one; RCU, or
 * unwinder->lock
 *
 * Any context.
 */
const struct unwind_map *hwpmc_unwind_map_find(const struct unwinder *u,
					       const struct mm_struct *mm)
{
	struct unwind_map *map;

	hash_for_each_possible_rcu_notrace(u->maps, map, node,
					   (unsigned long)mm)
		if (map->mm == mm)
			return map;
	return NULL;
}

/* The first area that ends above @pc, or NULL.  Any context; log2(areas) steps. */
static const struct unwind_area *area_after(const struct unwind_map *map,
					    u64 pc)
{
	u32 low = 0, high = map->n;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (map->areas[mid].end <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low < map->n ? &map->areas[low] : NULL;
}

/* The area that contains @pc, or NULL.  Any context. */
const struct unwind_area *hwpmc_unwind_map_area(const struct unwind_map *map,
						u64 pc)
{
	const struct unwind_area *a = area_after(map, pc);

	return a && a->start <= pc ? a : NULL;
}

/* The map's objects may be freed once the handlers that run now have ended. */
static void let_go_of_objects(const struct unwind_map *map)
{
	u32 i;

	for (i = 0; i < map->n; i++)
		if (map->areas[i].object && map->areas[i].object != &no_room)
			atomic_dec(&map->areas[i].object->areas);
}

static void map_release(struct kref *ref)
{
	struct unwind_map *map = container_of(ref, struct unwind_map, ref);

	let_go_of_objects(map);
	mmdrop(map->mm);	/* the pointer is only compared from here on */
	kvfree_rcu(map, rcu);
}

void hwpmc_unwind_map_put(struct unwind_map *map)
{
	kref_put(&map->ref, map_release);
}

/* unwinder->lock */
static void map_drop(struct unwinder *u, struct unwind_map *map)
{
	hash_del_rcu(&map->node);
	u->nmaps--;
	hwpmc_unwind_uncharge(u, map->bytes);
	hwpmc_unwind_map_put(map);
}

/* unwinder->lock.  Drops the maps of ended processes in one bucket. */
static void map_reap_bucket(struct unwinder *u, unsigned int bucket)
{
	struct unwind_map *map;
	struct hlist_node *next;

	hlist_for_each_entry_safe(map, next, &u->maps[bucket], node)
		if (!atomic_read(&map->mm->mm_users))
			map_drop(u, map);
}

/* unwinder->lock.  Does @map have code of a file that was given up, or had no room? */
static bool is_lacking(const struct unwind_map *map)
{
	const struct unwind_object *obj;
	u32 i;

	for (i = 0; i < map->n; i++) {
		obj = map->areas[i].object;
		if (obj && (obj == &no_room || obj->state == UNWIND_LAPSED))
			return true;
	}
	return false;
}

/*
 * unwinder->lock.  The next samples of these processes build their maps, and
 * request the tables, again.
 */
static void make_lacking_stale(struct unwinder *u, unsigned int bucket)
{
	struct unwind_map *map;

	hlist_for_each_entry(map, &u->maps[bucket], node)
		if (!READ_ONCE(map->stale) && is_lacking(map))
			WRITE_ONCE(map->stale, true);
}

static void reap_next(struct unwinder *u)
{
	u->tidied = (u->tidied + 1) % HASH_SIZE(u->maps);
	map_reap_bucket(u, u->tidied);
}

/* unwinder->lock.  Each bucket comes once in a round through all maps. */
static void ask_next(struct unwinder *u)
{
	if (!u->to_ask)
		return;
	u->to_ask--;
	u->asking = (u->asking + 1) % HASH_SIZE(u->maps);
	make_lacking_stale(u, u->asking);
}

/* The mm_struct, its page directory and its counters stay as long as a map of it */
#define PINNED_BYTES	(sizeof(struct mm_struct) + 2 * PAGE_SIZE)

static struct unwind_map *map_new(const struct unwind_scan *scan)
{
	struct unwind_map *map;
	size_t bytes = struct_size(map, areas, scan->n);
	u32 i;

	map = kvzalloc(bytes, GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!map)
		return NULL;
	kref_init(&map->ref);
	mmgrab(scan->mm);
	map->mm = scan->mm;
	map->bytes = bytes + PINNED_BYTES;
	map->id = (u64)atomic64_inc_return(&ids);
	map->cut = scan->cut;
	map->n = scan->n;
	for (i = 0; i < map->n; i++) {
		map->areas[i].start = scan->at[i].start;
		map->areas[i].end = scan->at[i].end;
		map->areas[i].bias = scan->at[i].bias;
	}
	return map;
}

/* unwinder->lock.  NULL: code without a file. */
static struct unwind_object *object_of(struct unwinder *u, const struct unwind_seen *s)
{
	struct unwind_object *obj;

	if (!s->has_object)
		return NULL;
	obj = hwpmc_unwind_object_by_key(u, &s->key,
					 s->path.dentry ? &s->path : NULL);
	if (IS_ERR(obj)) {
		u->to_ask = HASH_SIZE(u->maps);
		return &no_room;
	}
	atomic_inc(&obj->areas);
	return obj;
}

/*
 * unwinder->lock.  A new map takes over the charge of the map that it replaces: there
 * need not be room for both.
 */
static int map_charge(struct unwinder *u, const struct unwind_map *map,
		      struct unwind_map *old)
{
	const size_t had = old ? old->bytes : 0;
	int err = 0;

	if (!old && u->nmaps >= MAPS_MAX)
		return -ENOSPC;
	if (map->bytes > had)
		err = hwpmc_unwind_charge(u, map->bytes - had);
	else
		hwpmc_unwind_uncharge(u, had - map->bytes);
	if (old && !err)
		old->bytes = 0;
	return err;
}

/*
 * unwinder->lock.  False: there is no owner any more; or its log ends or has ended,
 * so that hwpmc_unwind_rest() may miss a map that is published from now on.
 */
static bool is_recording(const struct unwinder *u)
{
	lockdep_assert_held(&u->lock);
	return u->owner && READ_ONCE(u->owner->log.state) == LOG_OPEN;
}

/*
 * Was code mapped since the scan began?  It is not known where: all areas are doubted.
 */
static void check_changes(struct unwind_map *map, const struct unwind_scan *scan)
{
	if (atomic_read(hwpmc_unwind_scan_changes(map->mm)) == scan->changes)
		return;
	WRITE_ONCE(map->doubted, true);
	WRITE_ONCE(map->stale, true);
}

/*
 * unwinder->lock.  The old map stays until the new one is in the table.  ENXIO: maps
 * are not wanted any more.
 */
static int map_publish(struct unwinder *u, struct unwind_map *map,
		       const struct unwind_scan *scan, struct unwind_map *old)
{
	int err;
	u32 i;

	if (!is_recording(u))
		return -ENXIO;
	for (i = 0; i < map->n; i++)
		map->areas[i].object = object_of(u, &scan->at[i]);
	/* even if there is no room for the map: there may be later */
	hwpmc_unwind_objects_announce(u);
	reap_next(u);
	reap_next(u);
	err = map_charge(u, map, old);
	if (err) {
		let_go_of_objects(map);
		return err;
	}
	/* checked before handlers see the map, so that they rarely see an outdated one */
	check_changes(map, scan);
	hash_add_rcu(u->maps, &map->node, (unsigned long)map->mm);
	u->nmaps++;
	/* pairs with hwpmc_unwind_mapped(): that finds the map, or this finds its change */
	smp_mb();
	check_changes(map, scan);
	if (old)
		map_drop(u, old);
	return 0;
}

/* Takes the lock if it is free now, or soon. */
static bool lock_soon(struct unwinder *u)
{
	unsigned int i;

	if (mutex_trylock(&u->lock))
		return true;
	if (time_before(jiffies, READ_ONCE(u->busy_until)))
		return false;
	for (i = 0; i < LOCK_TRIES; i++) {
		usleep_range(100, 200);
		if (mutex_trylock(&u->lock))
			return true;
	}
	WRITE_ONCE(u->busy_until, jiffies + BUSY_WAIT);
	return false;
}

/**
 * struct install - a map that is to be published
 * @u: where
 * @map: the map
 * @scan: of which it was made
 * @err: out: -EAGAIN: not now, or another thread was faster
 */
struct install {
	struct unwinder *u;
	struct unwind_map *map;
	const struct unwind_scan *scan;
	int err;
};

static void install_work(void *arg)
{
	struct install *in = arg;
	struct unwinder *u = in->u;
	struct unwind_map *old;

	if (!lock_soon(u))
		return;
	old = (struct unwind_map *)hwpmc_unwind_map_find(u, in->map->mm);
	if (!old || READ_ONCE(old->stale))
		in->err = map_publish(u, in->map, in->scan, old);
	mutex_unlock(&u->lock);
}

/*
 * Consumes @map.  True, unless there is no room for it.  A worker takes the lock, because
 * the current task may be any that is sampled: one that gets no CPU would hold up the
 * owner's threads.  A real-time task gets one, and does not wait for a worker that may
 * get none.
 */
static bool map_install(struct unwinder *u, struct unwind_map *map,
			const struct unwind_scan *scan)
{
	struct install in = { .u = u, .map = map, .scan = scan, .err = -EAGAIN };
	int err;

	lockdep_assert_not_held(&map->mm->mmap_lock);
	if (current->prio < MAX_RT_PRIO)
		install_work(&in);
	else
		hwpmc_run_by_worker(install_work, &in);
	err = in.err;
	if (err) {
		mmdrop(map->mm);
		kvfree(map);
	}
	return !err || err == -EAGAIN || err == -ENXIO;
}

/* @due: of the map that this one replaces */
static bool map_build(struct unwinder *u, struct mm_struct *mm, u64 due)
{
	struct unwind_scan *scan = hwpmc_unwind_scan_code(mm);
	struct unwind_map *map = scan ? map_new(scan) : NULL;
	bool done = false;
	u64 now;

	if (map) {
		now = ktime_get_ns();
		map->due = max(due, now) + BUILD_SHARE *
			   min_t(u64, now - scan->began, BUILD_MAX);
		done = map_install(u, map, scan);
	}
	hwpmc_unwind_scan_free(scan);
	return done;
}

/*
 * May a task replace the process' map?  A program that maps code all the time would
 * otherwise do little else.  One of several threads builds: from here on, @map refuses
 * other builders.
 * @due: out: the previous @map->due
 */
static bool may_build(struct unwind_map *map, u64 *due)
{
	const u64 now = ktime_get_ns();

	*due = READ_ONCE(map->due);
	return *due <= now + BUILD_BURST &&
	       cmpxchg64(&map->due, *due, now + BUILD_BURST + BUILD_ALONE) ==
		       *due;
}

/*
 * After a failure only smaller processes are tried for a while, because each try
 * walks all mappings.
 */
static bool is_hopeless(const struct unwinder *u, const struct mm_struct *mm)
{
	const int size = READ_ONCE(u->failed_size);

	return size && READ_ONCE(mm->map_count) >= size &&
	       time_before(jiffies, READ_ONCE(u->failed_until));
}

static void map_try_build(struct unwinder *u, struct mm_struct *mm, u64 due)
{
	if (is_hopeless(u, mm) || map_build(u, mm, due) ||
	    fatal_signal_pending(current))
		return;
	WRITE_ONCE(u->failed_until, jiffies + FAILED_WAIT);
	WRITE_ONCE(u->failed_size, READ_ONCE(mm->map_count));
}

/* The map in the table, referenced */
static struct unwind_map *map_ref(struct unwinder *u, struct mm_struct *mm)
{
	struct unwind_map *map;

	rcu_read_lock();
	map = (struct unwind_map *)hwpmc_unwind_map_find(u, mm);
	if (map && !kref_get_unless_zero(&map->ref))
		map = NULL;
	rcu_read_unlock();
	return map;
}

/*
 * hwpmc_unwind_map_get - the map of the current task's process, referenced
 *
 * May sleep; takes the mmap lock.  Returns a stale map if no other can be built now,
 * and NULL if there is none.
 */
struct unwind_map *hwpmc_unwind_map_get(struct unwinder *u,
					struct mm_struct *mm)
{
	struct unwind_map *old = map_ref(u, mm), *map;
	u64 due = 0;

	might_sleep();
	if (old && (!READ_ONCE(old->stale) || !may_build(old, &due)))
		return old;
	map_try_build(u, mm, due);
	map = map_ref(u, mm);
	if (!map)
		return old;
	if (old)
		hwpmc_unwind_map_put(old);
	return map;
}

/*
 * Does @map have code without a file there, or is it cut and has no area there?  A
 * JIT compiler may map its page again.
 */
static bool is_known(const struct unwind_map *map,
		     const struct vm_area_struct *vma, u64 start, u64 end)
{
	const struct unwind_area *a;

	if (unwind_may_have_object(vma))
		return false;
	a = area_after(map, start);
	if (!a || end <= a->start)
		return map->cut;
	return !a->object && a->start <= start && end <= a->end;
}

/*
 * Other code is mapped at [@start, @end).  Any context; RCU.  A program can map over all
 * areas in one call, and all owners may have a map of it: all are doubted then.
 */
static void map_outdate(struct unwind_map *map, u64 start, u64 end)
{
	struct unwind_area *a = (struct unwind_area *)area_after(map, start);
	unsigned int n = 0;

	for (; a && a < map->areas + map->n && a->start < end; a++) {
		if (n++ == DOUBTED_MAX) {
			WRITE_ONCE(map->doubted, true);
			break;
		}
		WRITE_ONCE(a->doubted, true);
	}
	WRITE_ONCE(map->stale, true);
}

/*
 * hwpmc_unwind_mapped - code has been mapped: the maps of the process become
 * stale
 * @vma: a mapping that becomes, or is moved or extended to, [@start, @end)
 *
 * The mmap lock is held for writing; atomic context.
 */
void hwpmc_unwind_mapped(const struct vm_area_struct *vma, u64 start, u64 end)
{
	struct unwind_map *map;
	struct unwinder *u;

	atomic_inc(hwpmc_unwind_scan_changes(vma->vm_mm));
	/* pairs with map_publish() */
	smp_mb__after_atomic();
	rcu_read_lock();
	list_for_each_entry_rcu(u, &unwinders, all) {
		map = (struct unwind_map *)hwpmc_unwind_map_find(u, vma->vm_mm);
		if (map && !is_known(map, vma, start, end))
			map_outdate(map, start, end);
	}
	rcu_read_unlock();
}

/*
 * How many turns of a round are due?  The writer thread may have rested.  Under
 * unwinder->lock
 */
static unsigned int turns_due(struct unwinder *u)
{
	unsigned long waited = jiffies - u->tidied_at;

	u->tidied_at = jiffies;
	return min_t(unsigned long, ROUND_TURNS, waited / TIDY_WAIT + 1);
}

/*
 * hwpmc_unwind_tidy - drop maps of ended processes, give up files without an
 * answer
 *
 * Called by the writer thread.  Returns whether there is more to do soon: files that were
 * given up are to be asked for, or there is too much that nobody uses.
 */
bool hwpmc_unwind_tidy(struct hwpmc_owner *o)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);
	unsigned int turns, n;
	bool more, lapsed;

	if (!u)
		return false;
	if (!mutex_trylock(&u->lock))
		return true;
	turns = turns_due(u);
	for (n = turns * (HASH_SIZE(u->maps) / ROUND_TURNS); n; n--) {
		reap_next(u);
		ask_next(u);
	}
	n = turns * (HASH_SIZE(u->objects) / ROUND_TURNS);
	more = hwpmc_unwind_objects_spare(u, n);
	lapsed = hwpmc_unwind_objects_lapse(u, false);
	if (lapsed)
		u->to_ask = HASH_SIZE(u->maps);
	more |= u->to_ask > 0;
	mutex_unlock(&u->lock);
	if (lapsed)
		hwpmc_unwind_put_lapsed(u);
	return more;
}

/* unwinder->lock */
static void map_drop_bucket(struct unwinder *u, unsigned int bucket)
{
	struct unwind_map *map;
	struct hlist_node *next;

	hlist_for_each_entry_safe(map, next, &u->maps[bucket], node)
		map_drop(u, map);
}

/*
 * May sleep.  Handlers may still look up a map, under RCU; a task that walks by one
 * holds a reference to it.
 */
void hwpmc_unwind_maps_free(struct unwinder *u)
{
	unsigned int i;

	for (i = 0; i < HASH_SIZE(u->maps); i++) {
		mutex_lock(&u->lock);
		map_drop_bucket(u, i);
		mutex_unlock(&u->lock);
		cond_resched();
	}
}

/*
 * hwpmc_unwind_rest - the log ends: give up all files without an answer, and drop all
 * maps
 *
 * Called by the writer thread.  No handler runs any more, and no task publishes a map.
 * Without a log no thread would notice the end of a process, and its map would keep
 * the mm_struct.  Tables stay.
 */
void hwpmc_unwind_rest(struct hwpmc_owner *o)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);

	if (!u)
		return;
	mutex_lock(&u->lock);
	hwpmc_unwind_objects_lapse(u, true);
	mutex_unlock(&u->lock);
	hwpmc_unwind_put_lapsed(u);
	hwpmc_unwind_maps_free(u);
}

void hwpmc_unwind_watch(struct unwinder *u)
{
	mutex_lock(&unwinders_mutex);
	list_add_tail_rcu(&u->all, &unwinders);
	mutex_unlock(&unwinders_mutex);
}

/* Hooks may still use @u for a grace period. */
void hwpmc_unwind_unwatch(struct unwinder *u)
{
	mutex_lock(&unwinders_mutex);
	list_del_rcu(&u->all);
	mutex_unlock(&unwinders_mutex);
}
