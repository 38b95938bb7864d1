#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which build-ids pmcstat puts at the end of a log: those of the files that ran,
# by what readelf says of them.
set -u
cd "$(dirname "$0")" || exit 1
. ../lib/tap.sh
pmclog=$TOOLS/bin/pmclog
unset DEBUGINFOD_URLS

# program FILE TEXT: a file to map, with a build-id of its own
program()
{
	echo "const char text[] = \"$2\"; int main(void) { return 0; }" |
		${CC:-cc} -x c -o "$1" -
}

hexid() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

# mapping PATH [NAME]: lines of a script that maps it
mapping()
{
	local dev ino
	read -r dev ino < <(stat -c '%d %i' "$1")
	echo "file $((dev >> 8 & 0xfff)) $((dev & 0xff | dev >> 12 & ~0xff)) $ino"
	echo "map 77 $((at += 65536)) 0x1000 0 ${2:-$1}"
}
at=0

# recorded LOG <SCRIPT: what pmcstat makes of it, as "HEX NAME" lines
recorded()
{
	"$BIN/script2log" "$tmp/script.log"
	FAKE_LOG=$tmp/script.log FAKE_RECORDS=1 "$BIN/pmcstat" -q -S cs \
		${compressed+-Z} -O "$tmp/$1" true || return
	"$pmclog" verify "$tmp/$1" >"$tmp/verify" || { cat "$tmp/verify"; return 1; }
	"$pmclog" dump -j "$tmp/$1" | jq -r 'select(.name and .id) |
		"\(.id) \(.name)"' | grep ' [^ ]*/' | sort
}

# logs WANT <SCRIPT
logs() { recorded log >"$tmp/got"; diff <(printf '%s' "${1:+$1
}" | sort) "$tmp/got"; }

later=$(($(date +%s) + 3600))
program "$tmp/a" a
program "$tmp/b" b
ok "a file that is what it was" logs "$(hexid "$tmp/a") $tmp/a" < <(
	echo "wall $later"
	mapping "$tmp/a")
compressed=
ok "in a log that is compressed" logs "$(hexid "$tmp/a") $tmp/a" < <(
	echo "wall $later"
	mapping "$tmp/a")
unset compressed
ok "one that was made after it was mapped" logs "" < <(
	echo "wall $(($(date +%s) - 1000))"
	mapping "$tmp/a")
mapping "$tmp/a" >"$tmp/map.a"
mapping "$tmp/b" >"$tmp/map.b"
cp "$tmp/a" "$tmp/c"
mapping "$tmp/c" >"$tmp/map.c"
touch -d @$((later + 100)) "$tmp/c"
ok "one that was written to since" logs "" < <(
	echo "wall $later"
	cat "$tmp/map.c")
program "$tmp/d" d
mapping "$tmp/d" >"$tmp/map.d"
program "$tmp/new" new
mv "$tmp/new" "$tmp/d"
ok "another file has its name now" logs "" < <(
	echo "wall $later"
	cat "$tmp/map.d")

# Subvolumes of btrfs: stat(2) has a device that the file system has made up.  A tmpfs
# has such a device, too.
memory=$(mktemp -d -p /dev/shm) && trap 'rm -rf "$tmp" "$memory"' EXIT
of_subvolume() # INODE
{
	echo "wall $later"
	echo "file 0 999999 $1"
	echo "map 77 65536 0x1000 0 $memory/a"
}
if [ "$memory" ] && [ "$(stat -c %d "$memory" | awk '{ print int($1 / 256) % 4096 }')" = 0 ]; then
	cp "$tmp/a" "$memory"
	ino=$(stat -c %i "$memory/a")
	ok "a file with a device of its subvolume" logs \
		"$(hexid "$tmp/a") $memory/a" < <(of_subvolume "$ino")
	ok "not another inode" logs "" < <(of_subvolume $((ino + 1)))
else
	skip "a file with a device of its subvolume" "/dev/shm is no tmpfs"
fi
if [ "$(stat -c %d "$tmp/a")" -ge 256 ]; then
	ok "a disk's device is not made up" logs "" < <(
		echo "wall $later"
		mapping "$tmp/a" | sed 's/^\(file [0-9]*\) [0-9]*/\1 999999/')
else
	skip "a disk's device is not made up" "the file is on no disk"
fi

# a process that runs what has been deleted
printf '#include <unistd.h>\nint main(void) { pause(); }' |
	${CC:-cc} -x c -o "$tmp/waits" -
hex=$(hexid "$tmp/waits")
mapping "$tmp/waits" "$tmp/waits\\x20(deleted)" >"$tmp/map.w"
"$tmp/waits" &
waiting=$!
trap 'kill $waiting; rm -rf "$tmp" "$memory"' EXIT
while ! [ /proc/$waiting/exe -ef "$tmp/waits" ]; do sleep .01; done
rm "$tmp/waits"
if [ -r "/proc/$waiting/map_files" ] && [ "$(id -u)" = 0 ]; then
	ok "a deleted file that still runs" logs \
		"$hex $tmp/waits (deleted)" < <(
		echo "wall $later"
		cat "$tmp/map.w")
	program "$tmp/waits" other
	mapping "$tmp/waits" >"$tmp/map.v"
	sed -i 's/.x20(deleted)//' "$tmp/map.w"
	read -r _ x y z < <(grep file "$tmp/map.w")
	read -r _ p q r < <(grep file "$tmp/map.v")
	ok "two files of one path are told apart" logs \
		"$hex $x:$y:$z:$tmp/waits
$(hexid "$tmp/waits") $p:$q:$r:$tmp/waits" < <(
		echo "wall $later"
		cat "$tmp/map.w" "$tmp/map.v")
else
	skip "deleted files that still run" "not root"
fi

# In a directory each log has those of the files that it has mapped, as they are.
rotated()
{
	local name=$tmp/a pid old new
	mkdir "$tmp/dir"
	{ echo "wall $later"; mapping "$name"; } >"$tmp/script"
	"$BIN/script2log" "$tmp/script.log" <"$tmp/script"
	old=$(hexid "$name")
	FAKE_LOG=$tmp/script.log FAKE_RECORDS=1 "$BIN/pmcstat" -q -S cs \
		-O "$tmp/dir" --rotate 1d &
	pid=$!
	waits_for() { until compgen -G "$tmp/dir/*.$1" >"$tmp/got"; do sleep .05; done; }
	waits_for 0001
	kill -HUP $pid
	waits_for 0002
	program "$tmp/new" anew
	cat "$tmp/new" >"$name"		# the same file
	new=$(hexid "$name")
	kill -HUP $pid
	waits_for 0003
	kill $pid
	wait $pid
	for i in 1 2 3; do
		"$pmclog" dump -j "$tmp"/dir/*.000$i | jq -r --arg a "$name" \
			'select(.name and .id and (.name | endswith(":" + $a))) | .id' |
			tail -n 1
	done >"$tmp/got"
	[ "$old" != "$new" ] && printf '%s\n' "$old" "$new" "$new" |
		diff - "$tmp/got"
}
ok "in each log of a directory" rotated

mkfifo "$tmp/fifo"
echo text >"$tmp/text"
ln -s a "$tmp/link"
printf '\177ELF\2\1' >"$tmp/short"
ok "what is no program has none, and holds nothing up" logs "" < <(
	echo "wall $later"
	for f in fifo text link short; do
		mapping "$tmp/$f"
	done)

# 300 damaged files: no crash
damaged()
{
	local i
	for i in {1..300}; do
		perl -e 'srand(shift); local $/; $_ = <STDIN>;
			substr($_, rand() < .8 ? rand 900 : rand(-4 + length),
			1 + rand 3) = chr rand 256 for 1 .. 1 + rand 5; print' \
			"$i" <"$tmp/a" >"$tmp/damaged.$i"
	done
	{
		echo "wall $later"
		for i in {1..300}; do
			mapping "$tmp/damaged.$i"
		done
	} | recorded many >"$tmp/got" && [ -s "$tmp/got" ]
}
ok "damaged files" damaged

# More than the megabyte that pmcstat may add to a log: long names of one file
full()
{
	local long i
	long=$tmp/$(printf '%0200d/%0200d/%0200d/%0200d' 1 2 3 4)
	mkdir -p "$long"
	rm -f "$long"/*
	perl -e 'link $ARGV[0], "$ARGV[1]/$_" or die for 1 .. 1300' "$tmp/a" "$long"
	{
		echo "wall $later"
		mapping "$tmp/a" | head -n 1
		for i in {1..1300}; do
			echo "map 77 $((at += 65536)) 0x1000 0 $long/$i"
		done
	} | "$BIN/script2log" "$tmp/script.log"
	FAKE_LOG=$tmp/script.log FAKE_RECORDS=1 "$BIN/pmcstat" "$@" -S cs \
		-O "$tmp/full" true 2>"$tmp/got"
}
says_full() { full && grep -q "^pmcstat: the log lacks build-ids of some files: it has no room" \
	"$tmp/got"; }
ok "more of them than a log has room for" says_full
says_nothing() { full -q && [ ! -s "$tmp/got" ]; }
ok "-q says nothing of it" says_nothing

# a log that can't be read again: what is mapped now
piped()
{
	echo "event cpu-clock 1000" | "$BIN/script2log" "$tmp/script.log"
	FAKE_LOG=$tmp/script.log FAKE_RECORDS=1 "$BIN/pmcstat" -q -S cs -O - \
		true | cat >"$tmp/piped"
	"$pmclog" dump -j "$tmp/piped" | jq -r 'select(.name and .id) |
		"\(.id) \(.name)"' >"$tmp/got"
	grep -q "^$hex [0-9]*:[0-9]*:[0-9]*:$tmp/waits (deleted)$" "$tmp/got"
}
if [ "$(id -u)" = 0 ]; then
	ok "into a pipe: of what runs" piped
else
	skip "into a pipe" "not root"
fi
done_testing
