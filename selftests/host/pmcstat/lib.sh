# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Runs of pmcstat and what is asked of them. Sourced; goes to a directory of its own.

# A shell cannot reset a signal that was ignored when it began: under nohup, pmcstat would
# not end by SIGHUP, and the tests would wait for that.
if [ -z "${lib_signals:-}" ]; then
	lib_signals=default
	export lib_signals
	exec env --default-signal=HUP,INT,QUIT "$(readlink "/proc/$$/exe")" "$0" "$@"
fi

count=0
failures=0
pid=	# of what runs in the background
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# run STATUS COMMAND...: standard output and error go to files out and err, what a pmcstat
# of the tests asks of its device goes to trace
run()
{
	want=$1
	shift
	rm -f trace
	FAKE_TRACE=trace "$@" >out 2>err
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

# until_true CONDITION: as long as $pid runs
until_true()
{
	until eval "$1"; do
		kill -0 "$pid" 2>err.kill || return 1
		sleep .05
	done
}

# terminate: sends SIGTERM to $pid until it ends, for a minute; its status is $got
terminate()
{
	tries=0
	while kill -0 "$pid" 2>err.kill && [ $tries -lt 300 ]; do
		kill -TERM "$pid" 2>err.kill
		sleep .2
		tries=$((tries + 1))
	done
	kill -KILL "$pid" 2>err.kill
	wait "$pid"
	got=$?
}

has() { grep -q -e "$2" "$1"; }
hasnt() { ! has "$@"; }
lines() { [ "$(grep -c . "$1")" -eq "$2" ]; }
all() { # CONDITION , CONDITION ...: each in eval form
	for c in "$@"; do eval "$c" || return 1; done
}

# files DIR: names of the logs in it, as they sort
files() { for f in "$1"/*; do [ ! -e "$f" ] || echo "$f"; done; }
number() { files "$1" | wc -l; }
# whole LOG: it begins and it ends
whole() { [ "$(cat "$1")" = "$(printf 'begin\nend')" ]; }
all_whole() { for f in "$1"/*; do whole "$f" || return 1; done; }
