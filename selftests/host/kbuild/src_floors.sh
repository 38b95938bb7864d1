#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# src_floors.sh DIR
#
# A floor of src/ links against the floors below it only. DIR is where the module was
# built. TAP. Tracepoints are left out: the module's main file has to define them.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
dir=$1
# the lowest first
floors=(ring policy unwind sample event object log target pmc .)

# objects: those of the module, below src/. What an older build left is not looked at.
objects() {
	sed -n 's|.*/src/\(.*\.o\)$|\1|p' "$dir/hwpmc.mod"
}

# symbols FLOOR: its "FILE:ADDRESS TYPE NAME"
symbols() {
	local file
	for file in $(objects); do
		[[ $(dirname "$file") != "$1" ]] || nm -A "$dir/src/$file"
	done | grep -v ' __'
}

# calls_up FLOOR...: "FILE NAME" of what an object of FLOOR needs and one of a later
# FLOOR defines.
calls_up() {
	local floor
	for floor; do
		symbols "$floor"
		echo "floor"
	done | awk '
	/^floor$/ { level++; next }
	{ file = $1; sub(/:.*/, "", file); name = $NF; type = $(NF - 1) }
	type == "U" { needs[file " " name] = level }
	type ~ /[A-TV-Z]/ { defined[name] = level }
	END {
		for (i in needs) {
			split(i, part)
			if (defined[part[2]] > needs[i])
				print i
		}
	}' | sort
}

none() {
	local calls
	calls=$(calls_up "$@")
	[[ ! $calls ]] || { echo "$calls"; return 1; }
}

some() { ! none "$@"; }

# Each folder with objects has a place, and each place has objects.
all_floors() {
	diff <(printf '%s\n' "${floors[@]}" | sort) \
		<(objects | xargs dirname | sort -u)
}

echo "TAP version 13"
ok "each folder of src/ is a floor" all_floors
ok "no floor needs one above it" none "${floors[@]}"
ok "with two floors exchanged, one does" some pmc log
done_testing
