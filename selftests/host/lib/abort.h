/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test cannot go on without. */
#ifndef ABORT_H
#define ABORT_H

#include <stdlib.h>

#define abort_if(failed)	\
	do {			\
		if (failed)	\
			abort();\
	} while (0)

#endif /* ABORT_H */
