#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_src_floors.sh
#
# A floor of src/ calls what is below it, and nothing above. TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
floors=(ring policy unwind sample event object log target pmc .)

# calls_up DIR: "FILE NAME" for each name of the module that is defined on a floor above
# FILE's. DIR has the folders of src/. Comments are not looked at.
# shellcheck disable=SC2016
calls_up() {
	(cd "$1" && find . -mindepth 1 -maxdepth 2 -name '*.c' ! -path './probe/*' | sort |
		xargs awk -v floors="${floors[*]}" '
	BEGIN {
		n = split(floors, name, " ")
		for (i = 1; i <= n; i++)
			level[name[i]] = i
	}
	FNR == 1 {
		file = substr(FILENAME, 3)
		floor = file
		if (!sub(/\/.*/, "", floor))
			floor = "."
		of[file] = level[floor]
		comment = 0
	}
	{
		gsub(/\/\*.*\*\//, "")
		if (sub(/\/\*.*/, ""))
			opens = 1
		if (comment && !sub(/.*\*\//, "")) {
			comment = comment || opens
			opens = 0
			next
		}
		comment = opens
		opens = 0
		text = $0
		outside = /^[a-z]/ && !/^static|;$/
		while (match(text, /hwpmc_[a-z0-9_]+/)) {
			word = substr(text, RSTART, RLENGTH)
			before = substr(text, 1, RSTART - 1)
			after = substr(text, RSTART + RLENGTH, 1)
			text = substr(text, RSTART + RLENGTH)
			if (before ~ /(struct|enum) $/)
				continue
			if (outside && (after == "(" || $0 ~ / = {$/) && !(word in defined))
				defined[word] = file
			used[file, word] = 1
		}
	}
	END {
		for (i in used) {
			split(i, part, SUBSEP)
			if (part[2] in defined && of[defined[part[2]]] > of[part[1]])
				print part[1], part[2]
		}
	}' | sort)
}

none() {
	calls_up "$root/src" >"$tmp/is"
	cat "$tmp/is"
	[[ ! -s $tmp/is ]]
}

all_floors() {
	local dir
	for dir in "$root"/src/*/; do
		dir=$(basename "$dir")
		[[ $dir == probe || " ${floors[*]} " == *" $dir "* ]] ||
			{ echo "src/$dir has no place among the floors"; return 1; }
	done
}

# one_more FILE LINE: a line of FILE calls what is above; it is found
one_more() {
	rm -rf "$tmp/src"
	cp -r "$root/src" "$tmp/src"
	printf '%s\n' "$2" >>"$tmp/src/$1"
	calls_up "$tmp/src" >"$tmp/more"
	grep "^$1 " "$tmp/more"
}

nothing_more() { ! one_more "$@"; }

echo "TAP version 13"
ok "each folder of src/ is a floor" all_floors
ok "no call goes up" none
ok "one is found" one_more ring/merge.c \
	'static void up(struct hwpmc_owner *o) { hwpmc_log_flush(o); }'
ok "... of a file in src/ itself, too" one_more pmc/cpus.c \
	'static void up(struct hwpmc_owner *o) { hwpmc_owner_lock(o); }'
ok "one that goes down is not" nothing_more pmc/cpus.c \
	'static void down(struct hwpmc_owner *o) { hwpmc_log_flush(o); }'
ok "a comment is not a call" nothing_more ring/merge.c '/* see hwpmc_log_flush() */'
ok "nor is a long one" nothing_more ring/merge.c '/*
 * see hwpmc_log_flush()
 */'
done_testing
