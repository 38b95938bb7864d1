/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writer thread's files need of the kernel, for one thread in user space.
 * Included before each of them.  The kernel's own headers are empty here, except
 * those that user space has as well.
 *
 * On the path of a sample, each helper compiles to what it does in the kernel:
 * atomics and barriers.  Locks are not taken, because there is one thread only.
 */
#ifndef WRITER_KERNEL_H
#define WRITER_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <asm/posix_types.h>
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <linux/types.h>
#include <linux/utsname.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;
typedef unsigned int __poll_t;

/* ------------------------------------------------------------------------
 * The compiler, atomics and barriers
 */
#define __rcu
#define __aligned(n)		__attribute__((aligned(n)))
#define ____cacheline_aligned	__aligned(64)
#define noinline		__attribute__((noinline))
#define noreturn		__attribute__((noreturn))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" ::: "memory")
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(x)		(x)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#ifdef __x86_64__
#define rmb()			__asm__ volatile("lfence" ::: "memory")
#else
#define rmb()			smp_mb()
#endif
#define cmpxchg_local(p, old, new) ({					\
	__typeof__(*(p)) old_ = (old);					\
	__atomic_compare_exchange_n((p), &old_, (new), false,		\
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);\
	old_;								\
})

typedef struct { s64 counter; } atomic64_t;
typedef struct { int counter; } atomic_t;
typedef atomic64_t local64_t;

#define atomic_read(p)			READ_ONCE((p)->counter)
#define atomic64_read(p)		READ_ONCE((p)->counter)
#define atomic64_set(p, v)		WRITE_ONCE((p)->counter, (s64)(v))
#define atomic64_read_acquire(p)	smp_load_acquire(&(p)->counter)
#define atomic64_set_release(p, v)	smp_store_release(&(p)->counter, (s64)(v))
#define atomic64_add_return(v, p)	__atomic_add_fetch(&(p)->counter, (v), __ATOMIC_SEQ_CST)
#define atomic64_add(v, p)		((void)__atomic_fetch_add(&(p)->counter, (v), __ATOMIC_RELAXED))
#define atomic64_inc(p)			atomic64_add(1, p)
#define local64_read(p)			READ_ONCE((p)->counter)
#define local64_inc(p)			WRITE_ONCE((p)->counter, (p)->counter + 1)

/* ------------------------------------------------------------------------
 * Numbers and strings
 */
#define U64_MAX			(~0ULL)
#define NSEC_PER_SEC		1000000000L
#define HZ			250
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define PATH_MAX		4096
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define swap(a, b)		do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define abs(x)			((x) < 0 ? -(x) : (x))
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define rounddown_pow_of_two(n)	(1U << (31 - __builtin_clz(n)))
#define fls64(n)		((n) ? 64 - __builtin_clzll(n) : 0)
#define div64_u64(a, b)		((a) / (b))
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

static inline u64 div_u64_rem(u64 a, u32 b, u32 *rem)
{
	*rem = a % b;
	return a / b;
}

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
	return n;
}

/* Positive errnos that only the kernel has */
#define ERESTARTSYS		512
#define ERESTARTNOINTR		513
#define ERESTARTNOHAND		514
#define ERESTART_RESTARTBLOCK	516
#define MAX_ERRNO		4095
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)

/* ------------------------------------------------------------------------
 * Lists and bitmaps
 */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };

#define LIST_HEAD_INIT(h)	{ &(h), &(h) }
#define LIST_HEAD(h)		struct list_head h = LIST_HEAD_INIT(h)
#define list_entry(p, type, member)	container_of(p, type, member)
#define list_first_entry(h, type, m)	list_entry((h)->next, type, m)
#define list_next_entry(p, m)		list_entry((p)->m.next, __typeof__(*(p)), m)
#define list_entry_is_head(p, h, m)	(&(p)->m == (h))
#define list_for_each_entry(p, h, m) \
	for (p = list_first_entry(h, __typeof__(*p), m); \
	     !list_entry_is_head(p, h, m); p = list_next_entry(p, m))
#define list_for_each_entry_safe(p, n, h, m) \
	for (p = list_first_entry(h, __typeof__(*p), m), n = list_next_entry(p, m); \
	     !list_entry_is_head(p, h, m); p = n, n = list_next_entry(n, m))

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h;
	h->prev = h;
}

static inline void list_add(struct list_head *n, struct list_head *h)
{
	n->next = h->next;
	n->prev = h;
	h->next->prev = n;
	h->next = n;
}

static inline void list_add_tail(struct list_head *n, struct list_head *h)
{
	list_add(n, h->prev);
}

static inline void list_del(struct list_head *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
}

#define BITS_PER_LONG		64
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, n)	unsigned long name[BITS_TO_LONGS(n)]

/* all CPUs have a bit, as in the kernel */
struct cpumask { unsigned long bits[BITS_TO_LONGS(1024)]; };
typedef struct cpumask cpumask_var_t[1];

extern unsigned int nr_cpu_ids;
extern struct cpumask __cpu_possible_mask;
#define cpu_possible_mask	(&__cpu_possible_mask)
#define num_possible_cpus()	nr_cpu_ids
#define num_present_cpus()	nr_cpu_ids
#define num_online_cpus()	nr_cpu_ids
unsigned int cpumask_next(int cpu, const struct cpumask *mask);
#define for_each_possible_cpu(cpu) \
	for ((cpu) = -1; (cpu) = cpumask_next((cpu), cpu_possible_mask), (cpu) < nr_cpu_ids; )
#define for_each_set_bit(bit, map, n) \
	for ((bit) = 0; (bit) < (n); (bit)++) \
		if ((map)[(bit) / 64] >> (bit) % 64 & 1)
#define raw_smp_processor_id()		smp_processor_id()
#define preempt_disable()		do { } while (0)
#define local_irq_save(flags)		((flags) = 0)
#define local_irq_restore(flags)	((void)(flags))
#define preempt_enable()		do { } while (0)
#define zalloc_cpumask_var(p, gfp)	((void)(p), true)
#define free_cpumask_var(p)		((void)(p))
#define cpumask_and(to, a, b)		((void)(to), (void)(a), (void)(b), 1)
#define cpumask_test_cpu(cpu, mask)	((int)((mask)->bits[(cpu) / 64] >> (cpu) % 64 & 1))
#define cpumask_weight(mask)		((void)(mask), nr_cpu_ids)
#define cpumask_empty(mask)		((void)(mask), 0)
#define cpumask_subset(a, b)		((void)(a), (void)(b), 1)
#define cpumask_copy(to, from)		(*(to) = *(from))

/* ------------------------------------------------------------------------
 * Objects that are only stored, or whose functions do nothing with one thread
 */
typedef struct { int lock; } spinlock_t;
struct mutex { int lock; };
struct kref { atomic_t refcount; };
typedef struct { atomic_t refs; } refcount_t;
struct rcu_head { void *next; };
struct callback_head { void *next; };
struct rhlist_head { void *next; };
struct work_struct { void *data; };
struct delayed_work { struct work_struct work; };
struct completion { unsigned int done; };
typedef struct { int waiters; } wait_queue_head_t;
struct irq_work { int queued; };
struct xarray { void *head; };
struct fasync_struct;
struct mem_cgroup;
struct perf_event;
struct perf_sample_data;
struct pid;
struct pid_namespace;
struct pt_regs;
struct poll_table_struct { int unused; };
struct poll_wqueues { struct poll_table_struct pt; int triggered; };
typedef void (*perf_overflow_handler_t)(struct perf_event *, struct perf_sample_data *,
					struct pt_regs *);

#define DEFINE_MUTEX(m)			struct mutex m
#define spin_lock(l)			do { (void)(l); barrier(); } while (0)
#define spin_unlock(l)			do { (void)(l); barrier(); } while (0)
#define mutex_lock(m)			do { (void)(m); barrier(); } while (0)
#define mutex_unlock(m)			do { (void)(m); barrier(); } while (0)
#define mutex_lock_interruptible(m)	((void)(m), 0)
#define lockdep_assert_held(m)		((void)(m))
#define rcu_read_lock()			barrier()
#define rcu_read_unlock()		barrier()
#define complete_all(c)			((void)((c)->done = 1))
#define kref_read(k)			atomic_read(&(k)->refcount)
#define kref_get(k)			((void)(k)->refcount.counter++)
#define kref_put(k, release)		((void)(k), (void)(release))
#define kref_get_unless_zero(k)		((k)->refcount.counter++ != 0)

static inline void wake_up_all(wait_queue_head_t *q)
{
	q->waiters = 0;
}

/* a ring is half full: the thread is not asleep when rings are filled */
static inline void irq_work_queue(struct irq_work *w)
{
	w->queued = 1;
}

/* ------------------------------------------------------------------------
 * Memory
 */
#define GFP_KERNEL		0
#define GFP_NOWAIT		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_ACCOUNT		0
#define __GFP_NOWARN		0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_ZERO		0
#define NUMA_NO_NODE		(-1)
void *writer_zalloc(size_t size);
void writer_free(const void *p);
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define array_size(n, size)	((n) * (size))
#define kmalloc(n, gfp)		writer_zalloc(n)
#define kzalloc(n, gfp)		writer_zalloc(n)
#define kvmalloc(n, gfp)	writer_zalloc(n)
#define kvzalloc(n, gfp)	writer_zalloc(n)
#define kvcalloc(n, size, gfp)	writer_zalloc((n) * (size))
#define kfree(p)		writer_free(p)
#define kvfree(p)		writer_free(p)
static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *m)
{
	return m;
}
#define get_mem_cgroup_from_mm(mm)	((void)(mm), (struct mem_cgroup *)NULL)
#define mem_cgroup_put(m)	((void)(m))

/* ------------------------------------------------------------------------
 * The thread, its clock and its sleep
 */
struct mm_struct;
struct signal_struct { atomic_t live; };
struct sched_entity { u64 sum_exec_runtime; };
struct task_struct {
	struct sched_entity se;
	struct mm_struct *mm;
	struct signal_struct *signal;
	unsigned int flags, policy;
	struct cpumask cpus_mask;
	const struct cpumask *cpus_ptr;
	pid_t pid, tgid;
};
extern struct task_struct writer_current;
#define current			(&writer_current)

#define TASK_COMM_LEN		16
#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_KILLABLE		2
#define TASK_FREEZABLE		4
#define TASK_FREEZABLE_UNSAFE	8
#define PF_NOFREEZE		0x8000
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX
#define SIGKILL			9
#define SIGIO			29
#define set_current_state(s)	do { (void)(s); smp_mb(); } while (0)
#define __set_current_state(s)	((void)(s))
#define signal_pending(t)	((void)(t), 0)
#define allow_kernel_signal(s)	((void)(s))
#define try_to_freeze()		((void)0)
#define set_freezable()		((void)0)
#define nsecs_to_jiffies(n)	((n) / (NSEC_PER_SEC / HZ))
#define task_nice(t)		((void)(t), 0)
#define set_user_nice(t, n)	((void)(t), (void)(n))
#define sched_setattr_nocheck(t, a)	((void)(t), (void)(a))
#define set_cpus_allowed_ptr(t, c)	((void)(t), (void)(c))

/* a call, as in a kernel that is preempted voluntarily */
void cond_resched(void);
/* the thread is ready for more: load.c fills the rings */
long schedule_timeout(long timeout);
#define schedule_timeout_interruptible(t)	schedule_timeout(t)
void schedule(void);
void module_put_and_kthread_exit(long code) noreturn;
unsigned int smp_processor_id(void);
void usleep_range(unsigned long min, unsigned long max);
#define udelay(us)	((void)(us))	/* no handler runs beside the thread */

/* the clock of the load, which stands still while the thread runs */
u64 ktime_get_raw_fast_ns(void);
#define ktime_get_mono_fast_ns()	ktime_get_raw_fast_ns()
#define ktime_get_real_fast_ns()	ktime_get_raw_fast_ns()
#define ktime_get_ns()			ktime_get_raw_fast_ns()

/* ------------------------------------------------------------------------
 * Files: the log is one, and no process record has one
 */
struct cred;
struct path { void *dentry; };
struct super_block { unsigned long s_magic; dev_t s_dev; };
struct inode { mode_t i_mode; struct super_block *i_sb; unsigned long i_ino; };
#define THIS_MODULE		((void *)1)
struct file_operations { void *owner, *write, *write_iter; };
struct file {
	struct inode *f_inode;
	const struct file_operations *f_op;
	unsigned int f_mode;
	loff_t f_pos;
	const struct cred *f_cred;
	struct path f_path;
};
#define FMODE_LSEEK		1
#define FMODE_STREAM		2
#define FMODE_CAN_WRITE		4
#define EPOLLOUT		4
#define EPOLLERR		8
#define POLL_ERR		4
#define MAJOR(dev)		((u32)((dev) >> 20))
#define MINOR(dev)		((u32)((dev) & 0xFFFFF))
#define file_inode(f)		((f)->f_inode)
#define sock_from_file(f)	((void)(f), NULL)
#define override_creds(c)	(c)
#define revert_creds(c)		((void)(c))
#define fput(f)			((void)(f))
#define __fput_sync(f)		((void)(f))
#define kill_fasync(p, s, b)	((void)(p))
#define poll_initwait(w)	((w)->triggered = 0)
#define poll_freewait(w)	((void)(w))
#define vfs_poll(f, t)		((void)(f), (void)(t), EPOLLOUT)
#define d_path(path, buf, n)	((void)(path), (void)(n), (const char *)(buf))
ssize_t kernel_write(struct file *file, const void *buf, size_t len, loff_t *pos);

/* ------------------------------------------------------------------------
 * Processes: the rings lose no record, so none is looked for
 */
#define PIDTYPE_TGID		1
#define get_pid(p)		((void)(p), (struct pid *)NULL)
#define put_pid(p)		((void)(p))
#define find_pid_ns(nr, ns)	((void)(nr), (void)(ns), (struct pid *)NULL)
#define get_pid_task(p, type)	((void)(p), (struct task_struct *)NULL)
#define put_task_struct(t)	((void)(t))
#define pid_alive(t)		((void)(t), 1)
#define task_tgid_nr_ns(t, ns)	((void)(ns), (t)->tgid)
#define task_pid_nr_ns(t, ns)	((void)(ns), (t)->pid)
#define is_idle_task(t)		((void)(t), 0)
extern struct pid_namespace init_pid_ns;
extern struct new_utsname writer_utsname;
#define init_utsname()		(&writer_utsname)

/* ------------------------------------------------------------------------
 * Parameters have their defaults
 */
struct kernel_param;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buf, const struct kernel_param *kp);
};
#define KERNEL_PARAM_OPS_FL_NOARG	1
#define param_get_bool			NULL
#define kstrtobool(s, res)		((void)(s), *(res) = true, 0)
#define module_param(name, type, perm)	struct kernel_param
#define module_param_cb(name, ops, arg, perm) \
	const void *const writer_param_##name[] __attribute__((unused)) = { ops, arg }
#define __MODULE_PARM_TYPE(name, type)	struct kernel_param
#define MODULE_PARM_DESC(name, desc)	struct kernel_param
#define pr_err(...)			((void)0)
#define pr_warn(...)			((void)0)

#endif /* WRITER_KERNEL_H */
