/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmccontrol doctor on a machine that is a folder.
 * usage: doctor_in ROOT RELEASE UID GID...
 */
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"

int main(int argc, char **argv)
{
	gid_t groups[8];
	struct doctor d = { .groups = groups };
	int i;

	if (argc < 4 || argc > 4 + 8)
		return 2;
	d.root = argv[1];
	d.release = argv[2];
	d.uid = (uid_t)atoi(argv[3]);
	for (i = 4; i < argc; i++)
		groups[d.ngroups++] = (gid_t)atoi(argv[i]);
	return doctor_examine(&d);
}
