// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records which code of the module was reached, in any context (HWPMC_KCOV=1,
 * for selftests/fuzz-kernel).
 *
 * KCOV records what a task itself reaches, between its first instruction and the
 * start of its exit.  But interrupts, NMIs, works and the writer thread run module
 * code, too.  So the call that the compiler inserts into each block comes here
 * first, sets a byte for the block, and then continues to KCOV.
 *
 * /sys/kernel/debug/hwpmc-coverage: the address of the module's text (8 bytes), and
 * a byte for each place in it that a call can return to.  A write clears the bytes.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "coverage.h"

/* bytes from one place to the next, as a shift: arm64 has instructions of four */
#define COVERAGE_STEP	(IS_ENABLED(CONFIG_ARM64) ? 2 : 0)
#define COVERAGE_BYTES	(1U << 20)

static u8 reached[COVERAGE_BYTES];
static struct dentry *coverage_file;

/* the linker's names: Kbuild passes --wrap */
void __real___sanitizer_cov_trace_pc(void);
void __wrap___sanitizer_cov_trace_pc(void);

/* Any context.  A block reached before writes nothing: no cache line is dirtied. */
void notrace __wrap___sanitizer_cov_trace_pc(void)
{
	unsigned long len, text = compat_module_text(THIS_MODULE, &len);
	unsigned long at = (_RET_IP_ - text) >> COVERAGE_STEP;

	if (at < COVERAGE_BYTES && !READ_ONCE(reached[at]))
		WRITE_ONCE(reached[at], 1);
#ifdef CONFIG_KCOV
	__real___sanitizer_cov_trace_pc();
#endif
}

static ssize_t coverage_read(struct file *file, char __user *buf, size_t len,
			     loff_t *pos)
{
	unsigned long bytes;
	u64 text = compat_module_text(THIS_MODULE, &bytes);
	loff_t at = *pos - sizeof(text);

	if (at < 0)
		return simple_read_from_buffer(buf, len, pos, &text,
					       sizeof(text));
	bytes = min_t(unsigned long, bytes >> COVERAGE_STEP, COVERAGE_BYTES);
	len = simple_read_from_buffer(buf, len, &at, reached, bytes);
	*pos = at + sizeof(text);
	return len;
}

static ssize_t coverage_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	memset(reached, 0, sizeof(reached));
	return len;
}

/* No .owner: an open file does not pin the module; debugfs handles removal. */
static const struct file_operations coverage_fops = {
	.read	= coverage_read,
	.write	= coverage_write,
	.llseek	= default_llseek,
};

void hwpmc_coverage_init(void)
{
	coverage_file = debugfs_create_file("hwpmc-coverage", 0600, NULL, NULL,
					    &coverage_fops);
}

void hwpmc_coverage_exit(void)
{
	debugfs_remove(coverage_file);
}
