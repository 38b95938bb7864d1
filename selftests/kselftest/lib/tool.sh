# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# For tests that run tools as a user does: sourced.  They are in a directory of
# their own; what $busy names is ended with them.

dir=$(mktemp -d) || exit 1
cd "$dir" || exit 1
count=0
failures=0
busy=""
# shellcheck disable=SC2086
trap '[ ! "$busy" ] || kill $busy 2>/dev/null; rm -rf "$dir"' EXIT

# run STATUS COMMAND...: standard output and error go to files out and err
run()
{
	want=$1
	shift
	"$@" >out 2>err
	got=$?
}

# ok NAME CONDITION...: each in eval form
ok()
{
	count=$((count + 1))
	name=$1
	failed=""
	shift
	[ "$got" -eq "$want" ] || failed="status $got, wanted $want"
	for c in "$@"; do
		eval "$c" || failed="$failed; $c"
	done
	[ "$failed" ] || { echo "ok $count - $name"; return; }
	echo "not ok $count - $name"
	echo "# $failed"
	sed 's/^/# out: /' out
	sed 's/^/# err: /' err
	failures=$((failures + 1))
}

done_testing()
{
	echo "1..$count"
	[ "$failures" -eq 0 ]
}

has() { grep -q -e "$2" "$1"; }
hasnt() { ! has "$@"; }

# dump FILE: the log's records, without the frames of chains
dump() { pmcstat -R "$1" | grep -v '^\.\.\.'; }

echo 'TAP version 13'
