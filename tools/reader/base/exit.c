// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "base/exit.h"

int reader_usage(const char *usage)
{
	fputs(usage, stderr);
	return READER_USAGE;
}
