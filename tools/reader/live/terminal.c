// SPDX-License-Identifier: BSD-2-Clause
/* A file of its own, because <term.h> defines names like "lines". */
#include <stdio.h>
#include <unistd.h>

#include "live/top.h"

#include <curses.h>
#include <term.h>

/* As newterm(3), which does not come back from some terminals. */
bool terminal_is_usable(void)
{
	FILE *keyboard = fopen("/dev/tty", "r+e");
	bool usable = false;
	int err;

	if (keyboard && setupterm(NULL, STDOUT_FILENO, &err) == OK) {
		usable = cursor_address != NULL && !hard_copy;
		del_curterm(cur_term);
	}
	if (keyboard)
		fclose(keyboard);
	return usable;
}
