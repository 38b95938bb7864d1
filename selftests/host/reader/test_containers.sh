#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of programs whose files only they themselves see, while they run.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
	skip "a mount namespace" "not root"
	done_testing
	exit
fi

build()	# FILE SOURCE: runs until it is killed, has a build-id
{
	${CC:-cc} -O1 -g -static -fno-toplevel-reorder -Wl,--build-id \
		-x c -o "$1" - <<<"$2"
}
source='#include <unistd.h>
__attribute__((noipa)) int leaf(int n) { return n * 3; }
int main(void) { leaf(1); for (;;) pause(); }'
build "$tmp/prog" "$source"
build "$tmp/another" "${source//leaf/other}"
at() { printf '%#x' $(($(symbol "$tmp/prog" "$1") + 2)); }

running=
trap '{ kill -KILL $running; wait $running; } 2>/dev/null; rm -rf "$tmp"' EXIT
# begin EXE COMMAND...: it runs that file when this returns
begin()
{
	local exe=$1
	shift
	"$@" &
	pid=$!
	running="$running $pid"
	soon runs "$pid" "$exe" || echo "# $exe does not run"
}
# here_log PATH [BUILDID LATER NODE]: of $pid, LATER seconds from now
here_log()
{
	{
		echo "wall $(($(date +%s) + ${3:-100}))"
		echo "host $(uname -r) ${4:-$(uname -n)}"
		echo "event cpu-clock 1000"
		[ "${2-yes}" = no ] ||
			echo "buildid ${2:-$(id_of "$tmp/prog")} $1"
		echo "proc $pid p"
		load "$pid" 0 "$tmp/prog" "$1"
		echo "sample 1 $pid $(at leaf) $(at main)"
	} | log here
}
nameless='p;[prog];[prog] 1'

path=$tmp/mnt/prog
mkdir "$tmp/mnt"
# shellcheck disable=SC2016
begin "$path" unshare --mount sh -c \
	'mount -t tmpfs none "$1/mnt" && cp "$1/prog" "$1/mnt" && exec "$1/mnt/prog"' \
	sh "$tmp"
here_log "$path"
ok "it is not in our file system" eval '[ ! -e "$path" ]'
ok "but has its names" folds here "p;main;leaf 1"
ok "and its lines" prints 0 'leaf .*:2 *$' \
	"$pmclog" report --self -s sym,line "$tmp/here"
ok "and its instructions" prints 0 '^ *100.00  *1 |  *[0-9a-f]*: ' \
	"$pmclog" annotate leaf "$tmp/here"
ok "in an export too" prints 0 '^"\?.*,"main;leaf"' \
	"$pmclog" export --to csv "$tmp/here"
ok "below --root there are only the files that are there" \
	same "$nameless" "$pmclog" fold -r / "$tmp/here"
packed()
{
	"$pmclog" archive -o "$tmp/a.tar" "$tmp/here" &&
		tar -C "$tmp" -xf "$tmp/a.tar" &&
		cmp "$tmp/prog" "$tmp/pmclog-a/root$path"
}
ok "it is packed" packed
cp "$tmp/another" "$path"
ok "another file has that path here" folds here "p;main;leaf 1"
ok "nor is that packed" packed
rm "$path"

here_log "$path" no
ok "not without a build-id" folds here "$nameless"
here_log "$path" "$(id_of "$tmp/another")"
ok "nor with another" folds here "$nameless"
here_log "$path" "" -100
ok "nor of a process that began after the recording" folds here "$nameless"
here_log "$path" "" 100 elsewhere
ok "nor of another machine" folds here "$nameless"
here_log "$path"
{
	echo "wall $(($(date +%s) + 100))"
	echo "host $(uname -r) $(uname -n)"
	echo "event cpu-clock 1000"
	echo "buildid $(id_of "$tmp/prog") $path"
	echo "proc 1 p"
	load 1 0 "$tmp/prog" "$path"
	echo "proc $pid p"
	echo "sample 1 1 $(at leaf) $(at main)"
} | log unmapped
ok "nor of one that has not mapped it" folds unmapped "$nameless"

# a root of its own, with links out of it and what must not be opened
mkdir -p "$tmp/jail$tmp" "$tmp/outside"
cp "$tmp/prog" "$tmp/jail/hwpmc-run"
cp "$tmp/prog" "$tmp/outside"
begin "$tmp/jail/hwpmc-run" chroot "$tmp/jail" /hwpmc-run
here_log /hwpmc-run
ok "another root" folds here "p;main;leaf 1"
ln -s "$tmp/outside/prog" "$tmp/jail/prog"
here_log /prog
ok "a link does not lead out of it" folds here "$nameless"
# (what is not there for us is asked for in there)
mkdir "$tmp/jail/hwpmc-only"
here_log "/hwpmc-only/../../../../../../../..$tmp/outside/prog"
ok "nor does .." folds here "$nameless"
rm "$tmp/jail/prog"
mkfifo "$tmp/jail/prog"
here_log /prog
ok "a FIFO is not opened" eval 'timeout 20 "$pmclog" fold "$tmp/here" |
	grep -qxF "$nameless"'
rm "$tmp/jail/prog"

# two of them, each with its own file of that path
mkdir "$tmp/two"
cp "$tmp/another" "$tmp/two/hwpmc-run"
first=$pid
begin "$tmp/two/hwpmc-run" chroot "$tmp/two" /hwpmc-run
both()
{
	{
		echo "wall $(($(date +%s) + 100))"
		echo "host $(uname -r) $(uname -n)"
		echo "event cpu-clock 1000"
		echo "buildid $(id_of "$tmp/prog") 0:1:5:/hwpmc-run"
		echo "buildid $(id_of "$tmp/another") 0:2:6:/hwpmc-run"
		echo "proc $first p"
		echo "file 0 1 5"
		load "$first" 0 "$tmp/prog" /hwpmc-run
		echo "proc $pid q"
		echo "file 0 2 6"
		load "$pid" 0 "$tmp/another" /hwpmc-run
		echo "sample 1 $first $(at leaf)"
		echo "sample 2 $pid $(at leaf)"
	} | log both
	folds both "p;leaf 1
q;other 2"
}
ok "two containers, each with its own" both
ok "only one of these can be packed" prints 0 \
	"not packed: /hwpmc-run: another file of that path is packed" \
	"$pmclog" archive -o "$tmp/b.tar" "$tmp/both"

here_log /hwpmc-run "$(id_of "$tmp/another")"
ok "while it runs" folds here "p;main;other 1"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
running=${running% *}
ok "not when it has ended" folds here "p;[hwpmc-run];[hwpmc-run] 1"
ok "which is said" prints 0 '/hwpmc-run: no such file$' "$pmclog" report "$tmp/here"

done_testing
