#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tools/reader is built in floors: none uses what is above it, neither its functions
# nor its headers; and pmclog's library uses nothing of pmcstat's.
. "$(dirname "$0")/lib.sh"

tools=$(realpath "$HERE/../../../tools")
build=${INSTALL_BUILD:-$tools/../build/tools}
read -ra floors < <(sed -n 's/^FLOORS[[:space:]]*:= //p' "$tools/Makefile")

link()
{
	make -s -C "$tools" BUILD="$(realpath "$build")" floors "$@" >"$tmp/.made" 2>&1 ||
		{ tail -n 5 "$tmp/.made"; return 1; }
}

# above FLOOR: it and the floors over it, as a regular expression
above()
{
	local list=${floors[*]}
	list=${list#*"$1"}
	list=$(echo "$list" | xargs)
	echo "${list// /|}"
}

# includes DIR: of what is above, a line each
includes()
{
	local floor over
	for floor in "${floors[@]}"; do
		over=$(above "$floor")
		[ -n "$over" ] || continue
		grep -rEn "^#include \"($over)/" "$1/$floor"
	done
	grep -rEn '^#include "(\.\./|pmcstat)' "$1"
	true
}
none() { "$@" >"$tmp/.found"; [ ! -s "$tmp/.found" ] || { cat "$tmp/.found"; return 1; }; }
of_tree() { includes "$tools/reader"; }

ok "all floors are there" test "${#floors[@]}" -ge 9
ok "each links with those below it alone" link
ok "no header of what is above" none of_tree

# made to fail
echo 'int cmd_report(int, char **); int up(void); int up(void) { return cmd_report(0, 0); }' |
	"${CC:-cc}" -fPIC -xc -c -o "$tmp/up.o" -
call() { ! link FLOOR_EXTRA="$1=$tmp/up.o" >"$tmp/.said" && grep -q cmd_report "$tmp/.said"; }
ok "a call of what is above does not link" call base
ok "nor from the floor below it" call live
mkdir -p "$tmp/reader/elf"
echo '#include "profile/profile.h"' >"$tmp/reader/elf/up.c"
header() { [ "$(includes "$tmp/reader" 2>/dev/null | wc -l)" = 1 ]; }
ok "a header of what is above is found" header
link
done_testing
