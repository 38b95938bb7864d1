// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "guest.h"
#include "wild.h"

#define THREADS		2
#define WORDS		(WILD_BLOCK / 8)
#define POOLS		4
#define ALT_SIZE	(64UL << 10)

/**
 * struct wild - a wild process
 * @pool: a file of random words, of which stacks are read
 * @file: another one, which is mapped as stack and truncated
 * @touch: a page that comes and goes
 * @fertile: has children; they have none, or there would be ever more
 */
struct wild {
	struct rng	rng;
	int		pool;
	int		file;
	char		*touch;
	bool		fertile;
	pid_t		tid[THREADS];
};

struct thread {
	struct wild	*w;
	struct rng	rng;
	unsigned int	n;
};

static __thread struct thread self;

/* ------------------------------------------------------------------------
 * Threads
 */
static void choose_regs(struct rng *r, struct wild_regs *regs)
{
	unsigned int i;

	/* near the lower end of a stack most of all: there is much above it */
	regs->sp = rng_once(r, 6) ? wild_word(r, 20) :
		   WILD_STACKS + rng_below(r, WILD_NSTACKS) * WILD_BLOCK +
		   8 * rng_below(r, 1024);
	regs->fp = rng_once(r, 4) ? wild_word(r, 20) :
		   regs->sp + 8 * rng_below(r, 64);
	for (i = 0; i < sizeof(regs->reg) / sizeof(*regs->reg); i++)
		regs->reg[i] = wild_word(r, 50);
}

static void run_once(struct thread *t, unsigned int count)
{
	struct wild_regs regs = {
		.count = count / 4 + rng_below(&t->rng, count),
		.touch = (uintptr_t)t->w->touch,
	};

	choose_regs(&t->rng, &regs);
	wild_run(&t->rng, &regs);
}

/* On the alternate stack, over a stack that may be anywhere. */
static void on_signal(int sig)
{
	run_once(&self, 4000);
}

/* @steps: 0: until it is killed, or a while */
static void become_another(struct rng *r, unsigned int steps)
{
	char seed[40], life[40], *argv[] = { "wild", NULL };
	char *envp[] = { seed, life, NULL };

	snprintf(seed, sizeof(seed), "HWPMC_WILD=%llu",
		 (unsigned long long)(rng_next(r) | 1));
	snprintf(life, sizeof(life), "HWPMC_WILD_STEPS=%u", steps);
	execve("/proc/self/exe", argv, envp);
	_exit(96);
}

/* A child with the same memory, which soon has another or none. */
static void have_child(struct thread *t)
{
	pid_t parent = getpid(), pid = fork();
	unsigned int n;

	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	t->rng = rng_branch(rng_next(&t->rng), 77);
	for (n = rng_below(&t->rng, 30); n; n--)
		run_once(t, 10000);
	if (rng_once(&t->rng, 2))
		become_another(&t->rng, 20);
	_exit(0);
}

static void *thread_body(void *arg)
{
	stack_t alt = { .ss_sp = malloc(ALT_SIZE), .ss_size = ALT_SIZE };

	self = *(struct thread *)arg;
	sigaltstack(&alt, NULL);
	__atomic_store_n(&self.w->tid[self.n], syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	for (;;) {
		run_once(&self, 20000);
		if (self.w->fertile && rng_once(&self.rng, 200))
			have_child(&self);
	}
	return NULL;
}

/* Nothing of what a wild process does is wrong: says what it was at. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	const mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	uint64_t pc = m->gregs[REG_RIP], sp = m->gregs[REG_RSP], code = 0;
#else
	uint64_t pc = m->pc, sp = m->sp, code = 0;
#endif
	struct iovec to = { &code, sizeof(code) };
	struct iovec from = { (void *)pc, sizeof(code) };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	printf("# wild process %d: signal %d, code %d, address %p, pc %llx, sp %llx, %zd bytes there: %llx\n",
	       getpid(), sig, info->si_code, info->si_addr, (long long)pc,
	       (long long)sp, n, (long long)code);
	fflush(stdout);
	_exit(91);
}

static void set_handlers(void)
{
	static const int faults[] = { SIGILL, SIGSEGV, SIGBUS, SIGTRAP };
	struct sigaction fault = {
		.sa_sigaction = on_fault, .sa_flags = SA_ONSTACK | SA_SIGINFO,
	};
	struct sigaction sa = {
		.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART,
	};
	unsigned int i;

	signal(SIGCHLD, SIG_IGN);
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigaction(faults[i], &fault, NULL);
}

static void begin_threads(struct wild *w)
{
	static struct thread t[THREADS];
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		t[i] = (struct thread){
			.w = w, .n = i, .rng = rng_branch(w->rng.state, i + 1),
		};
		if (pthread_create(&thread, NULL, thread_body, &t[i]))
			_exit(95);
	}
}

/* ------------------------------------------------------------------------
 * Stacks
 */
static void *stack_at(unsigned int n)
{
	return (void *)(WILD_STACKS + n * WILD_BLOCK);
}

/* A system call writes: where it cannot, that is an error and no signal. */
static void fill(struct wild *w, unsigned int n)
{
	off_t from = 8 * rng_below(&w->rng, (POOLS - 1) * WORDS);
	size_t len = rng_once(&w->rng, 8) ? 8 * rng_below(&w->rng, 512) + 8 :
					    WILD_BLOCK;
	size_t shift = rng_once(&w->rng, 16) ? rng_below(&w->rng, 8) : 0;

	if (pread(w->pool, (char *)stack_at(n) + shift, len - shift, from) < 0)
		return;
}

static void map_stack(struct wild *w, unsigned int n, bool of_file)
{
	off_t offset = of_file ? WILD_BLOCK * rng_below(&w->rng, 2) : 0;

	mmap(stack_at(n), WILD_BLOCK, PROT_READ | PROT_WRITE, MAP_FIXED |
	     (of_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS),
	     of_file ? w->file : -1, offset);
}

static void change_stack(struct wild *w, unsigned int n)
{
	char *at = stack_at(n);

	switch (rng_below(&w->rng, 9)) {
	case 0:
		munmap(at, WILD_BLOCK);
		break;
	case 1:
		mprotect(at, WILD_BLOCK / 2, PROT_NONE);
		break;
	case 2:
		mprotect(at, WILD_BLOCK, PROT_READ);
		break;
	case 3:
		madvise(at, WILD_BLOCK, MADV_DONTNEED);
		break;
	case 4:
		mremap(at, WILD_BLOCK, WILD_BLOCK,
		       MREMAP_MAYMOVE | MREMAP_FIXED,
		       stack_at(rng_below(&w->rng, WILD_NSTACKS)));
		break;
	case 5:
		map_stack(w, n, true);
		break;
	case 6:
		if (ftruncate(w->file, rng_below(&w->rng, 3 * WILD_BLOCK)))
			_exit(94);
		break;
	case 7:
		madvise(at, WILD_BLOCK, MADV_PAGEOUT);
		break;
	default:
		map_stack(w, n, false);
	}
	if (!rng_once(&w->rng, 4))
		fill(w, n);
}

/* Parts of the pool differ in how many words lead to code. */
static int pool_new(struct rng *r)
{
	static const unsigned int code[POOLS] = { 60, 100, 100, 100 };
	int fd = memfd_create("wild", MFD_CLOEXEC);
	uint64_t *words = malloc(WILD_BLOCK);
	unsigned int i, n;

	for (n = 0; n < POOLS; n++) {
		for (i = 0; i < WORDS; i++)
			words[i] = wild_word(r, code[n]);
		if (write(fd, words, WILD_BLOCK) != WILD_BLOCK)
			_exit(93);
	}
	free(words);
	return fd;
}

/* ------------------------------------------------------------------------
 * The process
 */
static void begin(struct wild *w, uint64_t seed)
{
	unsigned int n;

	w->rng = rng_branch(seed, 5);
	w->pool = pool_new(&w->rng);
	w->file = memfd_create("wild-stack", MFD_CLOEXEC);
	w->touch = mmap(NULL, WILD_BLOCK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->touch == MAP_FAILED || ftruncate(w->file, 2 * WILD_BLOCK))
		_exit(92);
	wild_code_begin(&w->rng);
	for (n = 0; n < WILD_NSTACKS; n++) {
		map_stack(w, n, false);
		fill(w, n);
	}
}

static void step(struct wild *w)
{
	unsigned int n = rng_below(&w->rng, WILD_NSTACKS);
	pid_t tid;

	if (rng_once(&w->rng, 4))
		change_stack(w, n);
	fill(w, rng_below(&w->rng, WILD_NSTACKS));
	madvise(w->touch, WILD_BLOCK, MADV_DONTNEED);
	if (rng_once(&w->rng, 24))
		wild_code_change(&w->rng);
	tid = __atomic_load_n(&w->tid[rng_below(&w->rng, THREADS)],
			      __ATOMIC_ACQUIRE);
	if (tid && rng_once(&w->rng, 8))
		syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
	usleep(rng_below(&w->rng, 2000));
}

static void live(uint64_t seed, unsigned int steps)
{
	struct wild w = { .fertile = !steps };
	unsigned int n;

	set_handlers();
	begin(&w, seed);
	begin_threads(&w);
	for (n = steps ?: 50 + rng_below(&w.rng, 2000); n; n--)
		step(&w);
	if (!steps && rng_once(&w.rng, 2))
		become_another(&w.rng, 0);
	_exit(0);
}

void wild_process(uint64_t seed)
{
	live(seed, 0);
}

void wild_process_if_asked(void)
{
	unsigned long seed = env_number("HWPMC_WILD", 0);

	if (seed)
		live(seed, env_number("HWPMC_WILD_STEPS", 0));
}
