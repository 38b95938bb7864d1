// SPDX-License-Identifier: GPL-2.0-only
/* Exceptions that pass frames on their way, and those who clean up there */
#include "cases.h"

struct thrown {
	int n;
};

struct guard {
	FUNCTION ~guard()
	{
		bottom();
		sink = sink + 1;
	}
};

extern "C" FUNCTION void throws(int n)
{
	if (n > 1)
		throw thrown{ n };
}

extern "C" FUNCTION void passes(int n)
{
	guard g;

	throws(n);
	sink = sink + n;
}

extern "C" FUNCTION void catches(int n)
{
	try {
		passes(n);
	} catch (const thrown &t) {
		bottom();
		sink = sink + t.n;
	}
}

extern "C" void case_exception(void)
{
	catches(1);
	catches(2);
}
