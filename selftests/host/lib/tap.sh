# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# TAP for shell tests: sourced.  A test is "ok NAME COMMAND...".

# The tree, and the test's folder in it
root=$(realpath "${BASH_SOURCE[0]%/*}/../../..")
# shellcheck disable=SC2034 # tests use it
here=$(cd "$(dirname "$0")" && pwd)
# The programs under test: where the Makefiles of the tests have them made
BIN=${BIN:-$root/build/tools-asan/bin}
export BIN

tap_n=0
tap_failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# ok NAME COMMAND...: the command succeeds
ok()
{
	local name=$1
	shift
	tap_n=$((tap_n + 1))
	if "$@" >"$tmp/.out" 2>&1; then
		echo "ok $tap_n - $name"
		return
	fi
	echo "not ok $tap_n - $name"
	sed 's/^/# /' "$tmp/.out" | head -n 40
	tap_failed=$((tap_failed + 1))
}

# exits STATUS COMMAND...
exits()
{
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] && return
	echo "exit status $got, not $want"
	return 1
}

# prints STATUS PATTERN COMMAND...: PATTERN matches a line of what it prints
prints()
{
	local want=$1 pattern=$2
	shift 2
	exits "$want" "$@" >"$tmp/.text" 2>&1 &&
		grep -q -e "$pattern" "$tmp/.text" && return
	echo "no line like $pattern:"
	cat "$tmp/.text"
	return 1
}

# soon COMMAND...: it succeeds, within two minutes
soon()
{
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep .1
	done
	return 1
}

skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

done_testing()
{
	echo "1..$tap_n"
	[ "$tap_failed" = 0 ]
}
