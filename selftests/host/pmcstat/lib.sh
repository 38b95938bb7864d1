# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Runs of pmcstat and what is asked of them. Sourced, in a directory to write to.
count=0
failures=0

# run STATUS COMMAND...: standard output and error go to files out and err
run()
{
	want=$1
	shift
	"$@" >out 2>err
	got=$?
}

# ok NAME CONDITION...
ok()
{
	count=$((count + 1))
	name=$1
	shift
	if [ "$got" -eq "$want" ] && "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# status $got, wanted $want: $*"
		sed 's/^/# out: /' out
		sed 's/^/# err: /' err
		failures=$((failures + 1))
	fi
}

has() { grep -q -e "$2" "$1"; }
hasnt() { ! has "$@"; }
lines() { [ "$(grep -c . "$1")" -eq "$2" ]; }
all() { # CONDITION , CONDITION ...: each in eval form
	for c in "$@"; do eval "$c" || return 1; done
}
