#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_operations.sh
#
# Every row of Documentation/design/operations.rst names a kselftest or says why there is
# none, and each test that is named exists.  TAP.
# Backquotes are those of the document.
# shellcheck disable=SC2016
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
doc=$root/Documentation/design/operations.rst

# names FILE: the tests that FILE names, "program test" a line.
names() {
	grep -Eo '``[a-z_0-9]+: [a-z_0-9]+``' "$1" | tr -d '`:' | sort -u
}

# has PROGRAM TEST: a program's test, with a fixture or without.
has() {
	local file
	file=$(echo "$root"/selftests/kselftest/*/"$1".c)
	[[ -e $file ]] || { echo "there is no program $1"; return 1; }
	grep -Eq "^TEST(_TIMEOUT|_SIGNAL)?\($2[,)]|^TEST_F(_TIMEOUT|_SIGNAL)?\([a-z_0-9]+, $2[,)]" "$file" ||
		{ echo "$1 has no test $2"; return 1; }
}

# all_exist FILE: complains of all that do not.
# shellcheck disable=SC2317 # ok reaches it
all_exist() {
	local program test bad=0
	while read -r program test; do
		has "$program" "$test" || bad=1
	done < <(names "$1")
	return $bad
}

# rows FILE: prints rows that are not a rule and its tests.
rows() {
	awk '
	function judge() {
		if (rule != "" && (cells != 1 || (tests == 0 && !none)))
			print rule
		rule = ""
	}
	/^   \* - /	{ judge(); rule = $0; cells = tests = none = 0; next }
	/^     - /	{ cells++; tests = gsub(/``[a-z_0-9]+: [a-z_0-9]+``/, "")
			  none = /- not there: / }
	!/^     /	{ judge() }
	END		{ judge() }' "$1"
}

# shellcheck disable=SC2317
rows_complete() {
	local bad
	bad=$(rows "$1")
	[[ -z $bad ]] || { echo "$bad"; return 1; }
}

# shellcheck disable=SC2317
many() {
	[[ $(names "$1" | wc -l) -gt 100 && $(grep -c '^   \* - ' "$1") -gt 100 ]]
}

# The same with one thing wrong is found.
# shellcheck disable=SC2317
found() {
	local check=$1 change=$2
	sed -E "$change" "$doc" >"$tmp/doc"
	! cmp -s "$doc" "$tmp/doc" && ! "$check" "$tmp/doc" >/dev/null
}

echo "TAP version 13"
ok "operations: rules and tests" many "$doc"
ok "operations: each rule has a test" rows_complete "$doc"
ok "operations: each test exists" all_exist "$doc"
ok "operations: a test that is not there" found all_exist 's/attach: order/attach: disorder/'
ok "operations: a program that is not there" found all_exist 's/tree: storm/bush: storm/'
ok "operations: a rule without a test" found rows_complete 's/^     - ``attach: bad_address``$/     -/'
ok "operations: a rule alone" found rows_complete '/^     - ``attach: bad_address``$/d'
done_testing
