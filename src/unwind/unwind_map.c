// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps: where the code of a process is mapped, for the overflow handlers.
 *
 * A task builds the map of its process on its way to user mode.  A later
 * executable mapping makes the map stale.  Handlers then defer the chain to the
 * task again, which builds a new map.  An unmapping does no harm: no chain
 * leads to code that is gone.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "unwind.h"

#define AREAS_MAX	4096
#define MAPS_MAX	8192
#define PATHS_AT_ONCE	16
#define BUCKETS_AT_ONCE	16	/* all buckets in a few seconds */
#define FAILED_WAIT	(HZ / 10)

static DEFINE_MUTEX(unwinders_mutex);
static LIST_HEAD(unwinders);		/* unwinders_mutex; RCU */
static atomic64_t ids = ATOMIC64_INIT(0);

/*
 * Stands for files that could not be remembered for lack of room; see
 * hwpmc_unwind_tidy().
 */
static struct unwind_object no_room = { .state = UNWIND_WANTED };

static bool is_code(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

/* The last address of all is in no file's code. */
static struct vm_area_struct *next_vma(struct mm_struct *mm, unsigned long addr)
{
	cond_resched();
	return addr < TASK_SIZE_MAX ? find_vma(mm, addr) : NULL;
}

/* mmap lock */
static u32 count_areas(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	u32 n = 0;

	for (vma = next_vma(mm, 0); vma && n < AREAS_MAX;
	     vma = next_vma(mm, vma->vm_end))
		n += is_code(vma);
	return n;
}

/* unwinder->lock.  Returns NULL for code without a file. */
static struct unwind_object *object_of(struct unwinder *u,
				       const struct vm_area_struct *vma)
{
	struct unwind_object *obj;

	if (vma->vm_file)
		obj = hwpmc_unwind_object_of(u, file_inode(vma->vm_file),
					     compat_user_path(vma->vm_file));
	else if (compat_vma_is_vdso(vma))
		obj = hwpmc_unwind_object_of(u, NULL, NULL);
	else
		return NULL;
	if (!IS_ERR(obj))
		return obj;
	if (PTR_ERR(obj) == -EINVAL)
		return NULL;
	u->lacking = true;
	return &no_room;
}

/* Adjacent areas of code without a file become one area. */
static void add_area(struct unwind_map *map, const struct vm_area_struct *vma,
		     struct unwind_object *obj)
{
	struct unwind_area *last = map->n ? &map->areas[map->n - 1] : NULL;

	if (!obj && last && !last->object && last->end == vma->vm_start) {
		last->end = vma->vm_end;
		return;
	}
	if (obj && obj != &no_room)
		atomic_inc(&obj->areas);
	map->areas[map->n++] = (struct unwind_area){
		.start = vma->vm_start,
		.end = vma->vm_end,
		.bias = (vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0) -
			vma->vm_start,
		.object = obj,
	};
}

/* mmap lock, unwinder->lock */
static void map_fill_areas(struct unwinder *u, struct unwind_map *map, u32 room)
{
	struct vm_area_struct *vma;

	for (vma = next_vma(map->mm, 0); vma && map->n < room;
	     vma = next_vma(map->mm, vma->vm_end))
		if (is_code(vma))
			add_area(map, vma, object_of(u, vma));
}

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

/* The area that contains @pc, or NULL.  Any context; log2(areas) steps. */
const struct unwind_area *hwpmc_unwind_map_area(const struct unwind_map *map,
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
	return low < map->n && map->areas[low].start <= pc ?
	       &map->areas[low] : NULL;
}

/* The map's objects may go once the handlers that run now have ended. */
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

static void reap_next(struct unwinder *u)
{
	u->tidied = (u->tidied + 1) % HASH_SIZE(u->maps);
	map_reap_bucket(u, u->tidied);
}

static void unwind_notify_reader(struct unwinder *u)
{
	if (u->wants || list_empty(&u->wanted))
		return;
	WRITE_ONCE(u->wants, true);
	wake_up_all(&u->owner->log.waitq);
}

/* unwinder->lock.  The old map stays until the new one is in the table. */
static int map_publish(struct unwinder *u, struct unwind_map *map,
		       struct unwind_map *old)
{
	int err;

	reap_next(u);
	reap_next(u);
	err = !old && u->nmaps >= MAPS_MAX ? -ENOSPC :
					     hwpmc_unwind_charge(u, map->bytes);
	if (err)
		return err;
	hash_add_rcu(u->maps, &map->node, (unsigned long)map->mm);
	u->nmaps++;
	if (old)
		map_drop(u, old);
	unwind_notify_reader(u);
	return 0;
}

/*
 * Not charged to the sampled task's memory cgroup, because the owner wants the
 * map.  mmap lock, unwinder->lock.
 */
static int map_make(struct unwinder *u, struct mm_struct *mm,
		    struct unwind_map *old)
{
	u32 room = count_areas(mm);
	struct unwind_map *map;
	int err;

	map = kvzalloc(struct_size(map, areas, room),
		       GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!map)
		return -ENOMEM;
	kref_init(&map->ref);
	map->mm = mm;
	map->bytes = struct_size(map, areas, room);
	map->id = (u64)atomic64_inc_return(&ids);
	map_fill_areas(u, map, room);
	/* under the mmap lock: the next mmap() finds the map and makes it stale */
	mmgrab(mm);
	err = map_publish(u, map, old);
	if (err) {
		let_go_of_objects(map);
		mmdrop(mm);
		kvfree(map);
	}
	return err;
}

/*
 * After a failure only smaller processes are tried for a while, because each try
 * walks all mappings.
 */
static bool is_hopeless(const struct unwinder *u, const struct mm_struct *mm)
{
	return u->failed_size && mm->map_count >= u->failed_size &&
	       time_before(jiffies, u->failed_until);
}

/* mmap lock, unwinder->lock */
static void make_locked(struct unwinder *u, struct mm_struct *mm)
{
	struct unwind_map *old;

	old = (struct unwind_map *)hwpmc_unwind_map_find(u, mm);
	if (old && !READ_ONCE(old->stale))
		return;		/* another thread was faster */
	if (!u->owner || is_hopeless(u, mm))
		return;
	if (!map_make(u, mm, old))
		return;
	u->failed_size = mm->map_count;
	u->failed_until = jiffies + FAILED_WAIT;
}

static struct unwind_map *get_fresh(struct unwinder *u, struct mm_struct *mm)
{
	struct unwind_map *map;

	rcu_read_lock();
	map = (struct unwind_map *)hwpmc_unwind_map_find(u, mm);
	if (map && (READ_ONCE(map->stale) || !kref_get_unless_zero(&map->ref)))
		map = NULL;
	rcu_read_unlock();
	return map;
}

/*
 * hwpmc_unwind_map_get - the map of the current task's process, referenced
 *
 * May sleep; takes the mmap lock.  Returns NULL if no map can be built now.
 */
struct unwind_map *hwpmc_unwind_map_get(struct unwinder *u,
					struct mm_struct *mm)
{
	struct unwind_map *map = get_fresh(u, mm);

	might_sleep();
	if (map || mmap_read_lock_killable(mm))
		return map;
	/* the task never waits for other tasks; the next sample tries again */
	if (mutex_trylock(&u->lock)) {
		make_locked(u, mm);
		mutex_unlock(&u->lock);
	}
	mmap_read_unlock(mm);
	return get_fresh(u, mm);
}

/*
 * Does the map have code without a file there?  A JIT compiler may map its page
 * again.
 */
static bool is_known(const struct unwind_map *map,
		     const struct vm_area_struct *vma, u64 start, u64 end)
{
	const struct unwind_area *a;

	if (vma->vm_file || compat_vma_is_vdso(vma))
		return false;
	a = hwpmc_unwind_map_area(map, start);
	return a && !a->object && end <= a->end;
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
	const struct unwind_map *map;
	struct unwinder *u;

	rcu_read_lock();
	list_for_each_entry_rcu(u, &unwinders, all) {
		map = hwpmc_unwind_map_find(u, vma->vm_mm);
		if (map && !is_known(map, vma, start, end))
			WRITE_ONCE(((struct unwind_map *)map)->stale, true);
	}
	rcu_read_unlock();
}

/* unwinder->lock.  The next samples build maps, and request tables, again. */
static void make_all_stale(struct unwinder *u)
{
	struct unwind_map *map;
	unsigned int i;

	hash_for_each(u->maps, i, map, node)
		WRITE_ONCE(map->stale, true);
}

/*
 * True once per round through all maps.  A file that still lacks room sets
 * @lacking again.
 */
static bool tries_again(struct unwinder *u)
{
	if (!u->lacking || u->tidied >= BUCKETS_AT_ONCE)
		return false;
	u->lacking = false;
	return true;
}

/*
 * hwpmc_unwind_tidy - drop maps of ended processes, give up files without an
 * answer
 *
 * Called by the writer thread.
 */
void hwpmc_unwind_tidy(struct hwpmc_owner *o)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);
	struct path last[PATHS_AT_ONCE];
	unsigned int n;

	if (!u || !mutex_trylock(&u->lock))
		return;
	for (n = 0; n < BUCKETS_AT_ONCE; n++)
		reap_next(u);
	hwpmc_unwind_objects_spare(u);
	n = hwpmc_unwind_objects_lapse(u, last, ARRAY_SIZE(last), false);
	if (tries_again(u) || n)
		make_all_stale(u);
	mutex_unlock(&u->lock);
	while (n--)
		path_put(&last[n]);
}

/*
 * hwpmc_unwind_rest - the log ends: give up all files without an answer
 *
 * No handler runs any more.  A task that has begun to build a map may still want
 * files; they stay until there is a log again, or until the close.
 */
void hwpmc_unwind_rest(struct hwpmc_owner *o)
{
	struct unwinder *u = smp_load_acquire(&o->unwinder);
	struct path last[PATHS_AT_ONCE];
	unsigned int n, i;
	bool any = false;

	if (!u)
		return;
	do {
		mutex_lock(&u->lock);
		n = hwpmc_unwind_objects_lapse(u, last, ARRAY_SIZE(last), true);
		/* the next log wants them again */
		if (n && !any)
			make_all_stale(u);
		any = true;
		mutex_unlock(&u->lock);
		for (i = 0; i < n; i++)
			path_put(&last[i]);
	} while (n);
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

/* No handler and no task looks up a map any more; hooks may. */
void hwpmc_unwind_maps_free(struct unwinder *u)
{
	struct unwind_map *map;
	struct hlist_node *next;
	unsigned int i;

	mutex_lock(&u->lock);
	hash_for_each_safe(u->maps, i, next, map, node)
		map_drop(u, map);
	mutex_unlock(&u->lock);
}
