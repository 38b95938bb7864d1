# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A user of a machine with Debian, and a program to find in a profile: sourced there, after
# tap.sh.

# shellcheck disable=SC2154 # tap.sh has it
as_member() {
	runuser -u member -- env -C /home/member HOME=/home/member "$@"
}

# makes_program FILE.c: /usr/local/bin/program is busy for four seconds.
makes_program() {
	cat >"$1" <<'END'
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void busy_inner(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
__attribute__((noinline)) void busy_outer(void)
{
	busy_inner();
	sink++;
}
int main(void)
{
	time_t end = time(NULL) + 4;
	while (time(NULL) < end)
		busy_outer();
	return 0;
}
END
	gcc -g -O1 -o /usr/local/bin/program "$1"
}

# sound FILE FUNCTION: a log without a fault, with a report in which FUNCTION is seen.
sound() {
	exits 0 pmclog verify "$1" && pmclog report "$1" >"$tmp/report" &&
		grep -E "$2" "$tmp/report" && return
	cat "$tmp/report"
	return 1
}

member_records() {
	rm -f "/home/member/$1.pmclog"
	as_member pmcstat -P "$1" -O "$1.pmclog" program && sound "/home/member/$1.pmclog" busy_inner
}
