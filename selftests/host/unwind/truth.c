// SPDX-License-Identifier: GPL-2.0-only
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../src/unwind/unwind_shim.h"
#ifdef __aarch64__
/* Addresses have a bit more than on amd64, and no stack is below that. */
#undef UNWIND_ADDR_MAX
#define UNWIND_ADDR_MAX	((1ULL << 48) - sizeof(u64))
#endif
#include "../../../src/unwind/unwind_step.h"
#include "abort.h"
#include "libpmc_unwind.h"
#include "truth.h"

#define SHOWN_MAX	12	/* differences of one count */
#define OPTIONS	(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

/* The table of a file; files stay, programs come and go. */
struct file {
	struct file	*next;
	char		*path;
	struct unwind_table table;
	bool		known;
};

/* Code that is mapped */
struct map {
	u64		start, end, offset;
	const struct file *file;
};

struct truth {
	pid_t		pid;
	int		signal;		/* it gets that when it goes on */
	bool		trap;
	struct map	*maps;
	size_t		nmaps;
	char		*said;		/* what /proc says of its maps */
	Dwfl		*dwfl;
	bool		attached;
};

static struct file *files;

static struct user_regs_struct registers(const struct truth *t)
{
	struct user_regs_struct r = { 0 };
	struct iovec to = { &r, sizeof(r) };

	ptrace(PTRACE_GETREGSET, t->pid, (void *)NT_PRSTATUS, &to);
	return r;
}

/* The frame where it is stopped; @regs: in the order of DWARF's numbers */
#ifdef __aarch64__
#define MACHINE		EM_AARCH64
#define TRAP_LEN	4
#define TRAP_BACK	0	/* from where it stops to the trap */

static bool is_trap(u32 op)
{
	return (op & 0xffe0001f) == 0xd4200000;	/* brk */
}

/* The bits of authentication codes: all above the processor's addresses */
static u64 codes;

static u64 strip(u64 pc)
{
	return pc & ~codes;
}

static void find_codes(const struct truth *t)
{
	u64 mask[2] = { 0 };	/* of data, of instructions; none: left 0 */
	struct iovec to = { mask, sizeof(mask) };

	ptrace(PTRACE_GETREGSET, t->pid, (void *)NT_ARM_PAC_MASK, &to);
	codes = mask[1];
}

static struct unwind_frame innermost(const struct truth *t, u64 *regs)
{
	const struct user_regs_struct r = registers(t);
	unsigned int i;

	find_codes(t);
	for (i = 0; i < UNWIND_NREGS; i++)
		regs[i] = r.regs[i];
	return (struct unwind_frame){
		.pc = r.pc, .sp = r.sp, .fp = r.regs[29],
		.lr = strip(r.regs[30]), .regs = regs, .sp_known = true,
		.fp_known = true, .lr_known = true, .exact = true,
	};
}
#else
#define MACHINE		EM_X86_64
#define TRAP_LEN	1
#define TRAP_BACK	1

static bool is_trap(u32 op)
{
	return op == 0xcc;
}

static u64 strip(u64 pc)
{
	return pc;
}

static struct unwind_frame innermost(const struct truth *t, u64 *regs)
{
	const struct user_regs_struct r = registers(t);
	const u64 all[UNWIND_NREGS] = {
		r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
		r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15,
	};

	memcpy(regs, all, sizeof(all));
	return (struct unwind_frame){
		.pc = r.rip, .sp = r.rsp, .fp = r.rbp, .regs = regs,
		.sp_known = true, .fp_known = true, .exact = true,
	};
}
#endif

static int open_map(const struct truth *t, const struct map *m)
{
	char name[100];

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", t->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	return open(name, O_RDONLY | O_CLOEXEC);
}

static int compile_vdso(const struct truth *t, const struct map *m,
			struct pmc_unwind *u)
{
	size_t len = m->end - m->start;
	void *image = malloc(len);
	struct iovec to = { image, len };
	struct iovec from = { (void *)m->start, len };
	int status = -1;

	if (process_vm_readv(t->pid, &to, 1, &from, 1, 0) == (ssize_t)len)
		status = pmc_unwind_compile_image(image, len, u);
	free(image);
	return status;
}

static int compile_file(const struct truth *t, const struct map *m,
			struct pmc_unwind *u)
{
	int fd = open_map(t, m), status;

	if (fd < 0)
		return -1;
	status = pmc_unwind_compile(fd, u);
	close(fd);
	return status;
}

static const struct file *file_of(const struct truth *t, const struct map *m,
				  const char *path)
{
	struct pmc_unwind u = { 0 };
	struct file *f;

	for (f = files; f; f = f->next)
		if (!strcmp(f->path, path))
			return f;
	f = calloc(1, sizeof(*f));
	f->path = strdup(path);
	f->next = files;
	files = f;
	if (strcmp(path, "[vdso]") ? compile_file(t, m, &u) :
				     compile_vdso(t, m, &u))
		return f;
	f->known =
		!hwpmc_unwind_table_check(&f->table, u.table, u.len, MACHINE);
	if (!f->known)
		printf("# %s: a table that the module refuses\n", path);
	return f;
}

static char *read_proc(const struct truth *t, const char *what)
{
	size_t room = 1 << 16, len = 0;
	char name[64], *text = malloc(room);
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", t->pid, what);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text + len, room - len - 1)) > 0) {
		len += (size_t)n;
		if (room - len < 4096) {
			room *= 2;
			text = realloc(text, room);
		}
	}
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	return text;
}

static void add_map(struct truth *t, const char *line)
{
	unsigned long start, end, offset;
	struct map *m;
	char perms[8];
	int at = 0;

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, perms,
		   &offset, &at) < 4 || perms[2] != 'x' || !line[at])
		return;
	t->maps = reallocarray(t->maps, t->nmaps + 1, sizeof(*t->maps));
	m = &t->maps[t->nmaps++];
	*m = (struct map){ start, end, offset, NULL };
	if (!strcmp(line + at, "[vdso]"))
		m->offset = 0;
	m->file = file_of(t, m, line + at);
}

static void report(struct truth *t)
{
	dwfl_report_begin(t->dwfl);
	dwfl_linux_proc_report(t->dwfl, t->pid);
	dwfl_report_end(t->dwfl, NULL, NULL);
	if (!t->attached)
		t->attached = !dwfl_linux_proc_attach(t->dwfl, t->pid, true);
}

/* Both unwinders look at what is mapped now. */
static void read_maps(struct truth *t)
{
	char *text = read_proc(t, "maps"), *line, *rest;

	if (t->said && !strcmp(text, t->said)) {
		free(text);
		return;
	}
	free(t->said);
	t->said = strdup(text);
	t->nmaps = 0;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		add_map(t, line);
	free(text);
	report(t);
}

static const struct map *map_of(const struct truth *t, u64 pc)
{
	size_t i;

	for (i = 0; i < t->nmaps; i++)
		if (pc >= t->maps[i].start && pc < t->maps[i].end)
			return &t->maps[i];
	return NULL;
}

static const struct hwpmc_unwind_rule *rule_at(const struct truth *t, u64 pc)
{
	const struct map *m = map_of(t, pc);

	return m && m->file->known ?
	       hwpmc_unwind_table_find(&m->file->table,
				       (u32)(pc - m->start + m->offset)) : NULL;
}

/* As the module's: aligned words only */
static bool read_word(void *arg, u64 addr, u64 *word)
{
	const struct truth *t = arg;
	struct iovec to = { word, sizeof(*word) };
	struct iovec from = { (void *)addr, sizeof(*word) };

	return !(addr & 7) && process_vm_readv(t->pid, &to, 1, &from, 1, 0) ==
			      sizeof(*word);
}

/* As the module's: by the table, else by the frame pointer, while it is known */
static enum unwind_result step(struct truth *t, struct unwind_frame *f)
{
	const struct hwpmc_unwind_rule *rule = rule_at(t, f->pc - !f->exact);

	if (rule)
		return unwind_step(f, rule, read_word, t, strip);
	if (!f->fp_known)
		return UNWIND_NONSENSE;
	if (!f->fp)
		return UNWIND_TOP;
	return unwind_step(f, &unwind_by_fp, read_word, t, strip);
}

uint64_t truth_pc(const struct truth *t)
{
	u64 regs[UNWIND_NREGS];

	return innermost(t, regs).pc;
}

void truth_ours(struct truth *t, struct truth_chain *c)
{
	static const char *const ends[] = {
		"too deep", "whole", "absent", "nonsense",
	};
	enum unwind_result res = UNWIND_CALLER;
	u64 regs[UNWIND_NREGS];
	struct unwind_frame f = innermost(t, regs);

	read_maps(t);
	c->n = 0;
	while (c->n < TRUTH_FRAMES && res == UNWIND_CALLER) {
		c->exact[c->n] = f.exact;
		c->pc[c->n++] = f.pc;
		res = step(t, &f);
	}
	c->end = ends[res];
	c->whole = res == UNWIND_TOP;
}

static int one_frame(Dwfl_Frame *frame, void *arg)
{
	struct truth_chain *c = arg;
	Dwarf_Addr pc;
	bool exact;

	if (c->n == TRUTH_FRAMES || !dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	c->exact[c->n] = exact;
	c->pc[c->n++] = pc;
	return DWARF_CB_OK;
}

static void truth_theirs(struct truth *t, struct truth_chain *c)
{
	const char *said;

	read_maps(t);
	c->n = 0;
	c->whole = !dwfl_getthread_frames(t->dwfl, t->pid, one_frame, c);
	said = c->whole ? "whole" : dwfl_errmsg(-1);
	c->end = said ? said : "too deep";
}

const char *truth_name(struct truth *t, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(t->dwfl, pc);
	const char *name = NULL;
	GElf_Off offset;
	GElf_Sym sym;

	if (module)
		name = dwfl_module_addrinfo(module, pc, &offset, &sym, NULL,
					    NULL, NULL);
	return name ? name : "?";
}

const char *truth_frame_name(struct truth *t, const struct truth_chain *c,
			     unsigned int i)
{
	return truth_name(t, c->pc[i] - !c->exact[i]);
}

void truth_show(struct truth *t, const char *title, const struct truth_chain *c)
{
	unsigned int i;

	printf("#   %s (%s):", title, c->end);
	for (i = 0; i < c->n && i < 40; i++) {
		const struct map *m = map_of(t, c->pc[i]);
		const char *base = m ? strrchr(m->file->path, '/') : "/?";
		u64 at = m ? c->pc[i] - m->start + m->offset : c->pc[i];

		printf(" %s+%llx(%s)", base ? base + 1 : "vdso",
		       (unsigned long long)at, truth_frame_name(t, c, i));
	}
	printf("\n");
}

/* Is there call frame information, which elfutils goes by? */
static bool is_described(struct truth *t, u64 pc)
{
	Dwfl_Module *module = dwfl_addrmodule(t->dwfl, pc);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	bool found = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame);

	free(frame);
	return found;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/*
 * vfork() keeps its return address in rdi, which is lost where a signal's handler
 * interrupts it: chains end there.  While setcontext() loads its registers it is in two
 * frames at once.
 */
static bool is_beyond(struct truth *t, const struct truth_chain *c)
{
	const char *first = truth_frame_name(t, c, 0);
	const char *last = truth_frame_name(t, c, c->n - 1);

	if (!c->whole && c->n > 1 && c->exact[c->n - 1] &&
	    (begins(last, "vfork") || begins(last, "__vfork")))
		return true;
	return begins(first, "setcontext") || begins(first, "__setcontext");
}

void truth_compare(struct truth *t, struct truth_count *count)
{
	static struct truth_chain ours, theirs;
	unsigned int i = 0;

	truth_ours(t, &ours);
	truth_theirs(t, &theirs);
	while (i < ours.n && i < theirs.n && ours.pc[i] == theirs.pc[i])
		i++;
	count->stops++;
	if (is_beyond(t, &ours)) {
		count->beyond++;
		return;
	}
	/* In .plt of arm64 elfutils guesses, and we do not have to. */
	if (MACHINE == EM_AARCH64 && !is_described(t, ours.pc[0])) {
		count->beyond++;
		if (!rule_at(t, ours.pc[0]))
			return;
		count->their_whole++;
		count->whole += ours.whole;
		if (!ours.whole)
			truth_show(t, "ours", &ours);
		return;
	}
	count->frames += theirs.n;
	count->same += i;
	count->their_whole += theirs.whole;
	count->whole += theirs.whole && ours.whole;
	if (i == theirs.n && !theirs.whole && ours.n > theirs.n) {
		count->longer++;
		return;
	}
	if (i == theirs.n && ours.n == theirs.n &&
	    (ours.whole || !theirs.whole))
		return;
	if (count->shown++ >= SHOWN_MAX)
		return;
	printf("# differ at frame %u\n", i);
	truth_show(t, "ours", &ours);
	truth_show(t, "elfutils", &theirs);
}

static void become(const char *const *argv, int go)
{
	int null = open("/dev/null", O_RDWR);
	char byte;

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	unsetenv("ASAN_OPTIONS");
	if (read(go, &byte, 1) == 1)
		execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* Waits for a stop; false: there is none any more */
static bool stopped(struct truth *t)
{
	int status, signal;

	if (waitpid(t->pid, &status, __WALL) != t->pid || !WIFSTOPPED(status))
		return false;
	signal = WSTOPSIG(status);
	t->trap = signal == SIGTRAP && !(status >> 16);
	/* ours, or the kernel's about events: the program does not get it */
	t->signal = t->trap || status >> 16 ? 0 : signal;
	return true;
}

static bool go_on(struct truth *t, int how)
{
	return !ptrace(how, t->pid, NULL, (long)t->signal);
}

struct truth *truth_start(const char *const *argv)
{
	static char *debuginfo;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debuginfo,
	};
	struct truth *t = calloc(1, sizeof(*t));
	bool good;
	int go[2];

	abort_if(pipe2(go, O_CLOEXEC));
	t->pid = fork();
	if (!t->pid)
		become(argv, go[0]);
	good = !ptrace(PTRACE_SEIZE, t->pid, NULL, (long)OPTIONS) &&
	       write(go[1], "", 1) == 1 && stopped(t);
	close(go[0]);
	close(go[1]);
	t->dwfl = dwfl_begin(&callbacks);
	if (good && t->dwfl)
		return t;
	truth_end(t);
	return NULL;
}

void truth_end(struct truth *t)
{
	kill(t->pid, SIGKILL);
	while (waitpid(t->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	dwfl_end(t->dwfl);
	free(t->maps);
	free(t->said);
	free(t);
}

bool truth_run(struct truth *t, unsigned int microseconds)
{
	if (!go_on(t, PTRACE_CONT))
		return false;
	usleep(microseconds);
	ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL);
	return stopped(t);
}

bool truth_step(struct truth *t)
{
	return go_on(t, PTRACE_SINGLESTEP) && stopped(t);
}

bool truth_until_trap(struct truth *t)
{
	do {
		if (!go_on(t, PTRACE_CONT) || !stopped(t))
			return false;
	} while (!t->trap);
	read_maps(t);
	return true;
}

bool truth_at_trap(const struct truth *t)
{
	u32 op = 0;
	struct iovec to = { &op, TRAP_LEN };
	struct iovec from = { (void *)(truth_pc(t) - TRAP_BACK), TRAP_LEN };

	return t->trap && process_vm_readv(t->pid, &to, 1, &from, 1, 0) ==
			  TRAP_LEN && is_trap(op);
}
