// SPDX-License-Identifier: GPL-2.0-only
/*
 * cases NAME: call chains of each kind.  All that is between two breakpoints is for
 * test_unwind_cases.c to look at, instruction by instruction; it knows what calls
 * bottom().
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cases.h"

#define BREAK()	__asm__ volatile("int3")

volatile int sink;

FUNCTION void bottom(void)
{
	__asm__ volatile("nop; nop");
}

FUNCTION void leaf_inner(int n)
{
	sink += n;
	bottom();
	sink += n;
}

FUNCTION void leaf_outer(int n)
{
	leaf_inner(n + 1);
	leaf_inner(n + 2);
}

static void case_leaf(void)
{
	leaf_outer(sink);
	sink++;
}

FUNCTION void tail_last(int n)
{
	sink = n;
	bottom();	/* is jumped to, where that is possible */
}

FUNCTION void tail_first(int n)
{
	tail_last(n * sink);
}

static void case_tail(void)
{
	tail_first(1);
	sink++;
}

FUNCTION int compare(const void *a, const void *b)
{
	bottom();
	return *(const int *)a - *(const int *)b;
}

/* The first call of each function of a library goes by the linker. */
static void case_plt(void)
{
	int numbers[] = { 3, 1, 2 }, key = 2;

	qsort(numbers, 3, sizeof(*numbers), compare);
	bsearch(&key, numbers, 3, sizeof(*numbers), compare);
	sink += (int)strtol("12", NULL, 10) + (int)strlen(getenv("PATH") ?: "");
	sink += getpagesize();
}

FUNCTION int recurse(int n)
{
	int below;

	if (!n) {
		bottom();
		return 0;
	}
	below = recurse(n - 1);
	return below + sink;
}

static void case_recursion(void)
{
	sink = recurse(400);
}

FUNCTION void handler(int signal)
{
	sink += signal;
	bottom();
	sink += signal;
}

FUNCTION void interrupted(int signal)
{
	raise(signal);
	sink++;
}

static void catch(int signal, int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &sa, NULL);
}

static void case_signal(void)
{
	catch(SIGUSR1, 0);
	interrupted(SIGUSR1);
	sink++;
}

/* Another stack, above and below that of the program: it is one of two. */
static void case_altstack(void)
{
	static char low[1 << 16];
	stack_t stack = { .ss_sp = low, .ss_size = sizeof(low) };

	sigaltstack(&stack, NULL);
	catch(SIGUSR2, SA_ONSTACK);
	interrupted(SIGUSR2);
	stack.ss_sp = (char *)__builtin_frame_address(0) - (3 << 20);
	sigaltstack(&stack, NULL);
	interrupted(SIGUSR2);
	sink++;
}

/* A function that is interrupted at its first instruction */
void first_instruction(void);
__asm__(".text\n"
	".type before_first, @function\n"
	"before_first:\n"
	"	.cfi_startproc\n"
	"	sub $0x100, %rsp\n"
	"	.cfi_adjust_cfa_offset 0x100\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size before_first, . - before_first\n"
	".globl first_instruction\n"
	".type first_instruction, @function\n"
	"first_instruction:\n"
	"	.cfi_startproc\n"
	"	hlt\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size first_instruction, . - first_instruction\n");

FUNCTION void past_hlt(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	bottom();
	uc->uc_mcontext.gregs[REG_RIP]++;
}

static void case_first(void)
{
	struct sigaction sa = {
		.sa_sigaction = past_hlt, .sa_flags = SA_SIGINFO,
	};

	sigaction(SIGSEGV, &sa, NULL);
	first_instruction();
	sink++;
}

FUNCTION void with_vla(int n)
{
	volatile char room[n];

	room[n - 1] = 1;
	bottom();
	sink += room[n - 1];
}

FUNCTION void with_alloca(int n)
{
	int i;

	for (i = 0; i < 3; i++) {
		volatile char *room = alloca((size_t)n);

		room[0] = 1;
		bottom();
		sink += room[0];
	}
}

static void case_alloca(void)
{
	with_vla(1000 + sink);
	with_alloca(100 + sink);
	sink++;
}

FUNCTION void aligned(int n)
{
	volatile __attribute__((aligned(64))) char line[64 * 2];

	line[n & 63] = 1;
	bottom();
	sink += line[n & 63];
}

FUNCTION void aligned_args(int a, int b, int c, int d, int e, int f, int g,
			   int h)
{
	volatile __attribute__((aligned(128))) char line[128];
	volatile char *room = alloca((size_t)(g + h) & 255);

	line[a & 63] = (char)(b + c + d + e + f);
	room[0] = 1;
	bottom();
	sink += line[a & 63] + room[0] + h;
}

static void case_aligned(void)
{
	aligned(sink);
	aligned_args(1, 2, 3, 4, 5, 6, 7, 8);
	sink++;
}

static ucontext_t here, there;

FUNCTION void coroutine(void)
{
	bottom();
	swapcontext(&there, &here);
	bottom();
	sink++;
}

static void case_context(void)
{
	static char stack[1 << 16];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
	swapcontext(&here, &there);
	sink++;
}

static void case_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	bottom();
	sink++;
}

FUNCTION void big_frame(int n)
{
	volatile char room[40000];

	room[n & 32767] = 1;
	bottom();
	sink += room[n & 32767];
}

FUNCTION void bigger_frame(int n)
{
	volatile char room[3 << 20];

	room[n & 32767] = 1;
	big_frame(n);
	sink += room[n & 32767];
}

static void case_big(void)
{
	bigger_frame(sink);
	sink++;
}

/* Pushes and pops; a frame by other registers, and by the word at its top */
void asm_pushes(void);
void asm_register(void);
void asm_word(void);
__asm__(".text\n"
	".globl asm_pushes\n"
	".type asm_pushes, @function\n"
	"asm_pushes:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov $7, %ebp\n"
	"	pushf\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_remember_state\n"
	"	test %ebp, %ebp\n"
	"	jz 1f\n"
	"	call bottom\n"
	"	popf\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"1:	ud2\n"
	"	.cfi_endproc\n"
	".size asm_pushes, . - asm_pushes\n"
	".globl asm_register\n"
	".type asm_register, @function\n"
	"asm_register:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %r11\n"
	"	.cfi_def_cfa_register %r11\n"
	"	and $-64, %rsp\n"
	"	push %r11\n"
	"	nop\n"
	"	pop %r11\n"
	"	mov %r11, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size asm_register, . - asm_register\n"
	".globl asm_word\n"
	".type asm_word, @function\n"
	"asm_word:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	sub $64, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	/* DW_CFA_def_cfa_expression: rsp + 24, deref, + 8 */
	"	.cfi_escape 0x0f, 0x05, 0x77, 24, 0x06, 0x23, 8\n"
	"	xor %eax, %eax\n"
	"	call bottom\n"
	"	mov 24(%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size asm_word, . - asm_word\n");

static void case_asm(void)
{
	asm_pushes();
	asm_register();
	asm_word();
	sink++;
}

/* Nobody has said anything of this; it has a frame pointer. */
void no_cfi(void);
__asm__(".text\n"
	".globl no_cfi\n"
	".type no_cfi, @function\n"
	"no_cfi:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $40, %rsp\n"
	"	and $-16, %rsp\n"
	"	call leaf_inner\n"
	"	leave\n"
	"	ret\n"
	".size no_cfi, . - no_cfi\n");

static void case_nocfi(void)
{
	no_cfi();
	sink++;
}

static const struct {
	const char	*name;
	void		(*function)(void);
} cases[] = {
	{ "leaf", case_leaf }, { "tail", case_tail }, { "plt", case_plt },
	{ "recursion", case_recursion }, { "signal", case_signal },
	{ "altstack", case_altstack }, { "first", case_first },
	{ "alloca", case_alloca }, { "aligned", case_aligned },
	{ "context", case_context }, { "vfork", case_vfork },
	{ "big", case_big }, { "asm", case_asm }, { "nocfi", case_nocfi },
#ifdef WITH_CXX
	{ "exception", case_exception },
#endif
};

FUNCTION int run(void (*function)(void))
{
	BREAK();
	function();
	BREAK();
	return 0;
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return run(cases[i].function);
	return 2;
}
