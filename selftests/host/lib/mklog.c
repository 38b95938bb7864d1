// SPDX-License-Identifier: BSD-2-Clause
/* mklog NAME FILE: writes one of the generated logs. */
#include <stdio.h>

#include "loggen.h"

int main(int argc, char **argv)
{
	static struct loggen g;

	if (argc != 3 || lg_make(&g, argv[1])) {
		fprintf(stderr, "usage: mklog NAME FILE\n"
			"names: small full strings packed periods details ...: lg_make()\n");
		return 2;
	}
	lg_write(&g, argv[2]);
	return 0;
}
