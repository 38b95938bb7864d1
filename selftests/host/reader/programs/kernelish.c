// SPDX-License-Identifier: BSD-2-Clause
/* Something to link at a kernel's address; nobody runs it. */
volatile unsigned long work;

static inline __attribute__((always_inline)) unsigned long spin(void)
{
	return work * work;
}

unsigned long sys_work(void);
int main(void);

__attribute__((noinline)) unsigned long sys_work(void)
{
	unsigned long v;

	v = spin();
	return v ^ v >> 3;
}

int main(void)
{
	return (int)sys_work();
}
