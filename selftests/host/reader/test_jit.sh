#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of code made at run time, from perf-PID.map files.
. "$(dirname "$0")/lib.sh"

mkdir -p "$tmp/root/tmp"
map=$tmp/root/tmp/perf-7.map
jit_log()
{
	log "$1" <<-EOF
		${2:-}
		event cpu-clock 1000
		proc 7 node
		map 7 0x7f0000000000 0x100000 0 //anon
		map 7 0x10000 0x1000 0 /x/file
		map 7 0x20000 0x1000 0 [heap]
		sample 1 7 0x7f0000001010 0x7f0000003000 0x10010
		sample 2 7 0x7f0000002fff
		sample 4 7 0x7f0000009000
		sample 8 7 0x20100
		proc 8 other
		map 8 0x7f0000000000 0x100000 0 //anon
		sample 16 8 0x7f0000001010
	EOF
}
jitted()	# WANT [REGEX of the report]
{
	same "$1" "$pmclog" fold -r "$tmp/root" "$tmp/jit" &&
		prints 0 "${2:-}" "$pmclog" report -r "$tmp/root" "$tmp/jit"
}
nothing="\
node;[JIT] 14
node;[file];[JIT];[JIT] 1
other;[//anon] 16"

jit_log jit
ok "without a map: memory" jitted "\
node;[//anon] 6
node;[file];[//anon];[//anon] 1
node;[heap] 8
other;[//anon] 16"

cat >"$map" <<-'EOF'
	7f0000001000 100 LazyCompile:*f /app/my file.js:10
	0x7f0000002000 0x1000 first
	nonsense
	7f0000003000
	7f0000005000 0 empty
	20000 1000 on;the heap
	ffffffffffffff00 ffffffff endless
EOF
ok "a map: 0x or not, blanks in names, lines that are none" jitted "\
node;[JIT] 4
node;[file];first_[j];LazyCompile:*f /app/my file.js:10_[j] 1
node;first_[j] 2
node;on:the heap_[j] 8
other;[//anon] 16" "node  *\[JIT\]  *on;the heap"

# stackcollapse-perf.pl takes "[" for the kernel, and no blanks
objects()
{
	"$pmclog" export --to perf-script -r "$tmp/root" "$tmp/jit" |
		sed -n 's/^\t.*(\(.*\))$/\1/p' | sort | uniq -c | xargs -n 2
}
ok "in perf's text they are in a map, as perf has it" same "\
16 //anon
16 /tmp/perf-7.map
1 /x/file" objects

# of lines that overlap the last one counts
perl -e 'srand(4); for (1 .. 400) {
	printf("%x %x f%d\n", 0x7f0000000000 + int rand 4000,
	       1 + int(rand() < .3 ? rand 1000 : rand 40), $_) }' >"$map"
overlap()
{
	{
		echo "map 7 0x7f0000000000 0x100000 0 //anon"
		for i in {0..4999..7}; do
			echo "sample 1 7 0x7f0000000000+$i"
		done
	} | prog_log overlap p
	# one line after the other, each address on its own
	perl -e 'my @at; while (<>) { my ($s, $n, $f) = split;
			$s = hex($s) - 0x7f0000000000;
			$at[$_] = $f for $s .. $s + hex($n) - 1 }
		my %n; for (my $i = 0; $i < 5000; $i += 7) {
			$n{$at[$i] ? "p;$at[$i]_[j]" : "p;[JIT]"}++ }
		print "$_ $n{$_}\n" for keys %n' "$map" | sort >"$tmp/want"
	"$pmclog" fold -r "$tmp/root" "$tmp/overlap" | diff "$tmp/want" -
}
ok "lines that overlap: the last one counts" overlap

# a child has its parent's code
echo "7f0000001000 100 parent" >"$map"
prog_log fork p <<-EOF
	map 7 0x7f0000000000 0x100000 0 //anon
	fork 7 9
	sample 1 9 0x7f0000001010
	exec 9 /bin/x
	map 9 0x7f0000000000 0x100000 0 //anon
	sample 2 9 0x7f0000001010
EOF
ok "a fork has what its parent compiled, an exec has not" same "\
p;parent_[j] 1
x;[//anon] 2" "$pmclog" fold -r "$tmp/root" "$tmp/fork"

# whose, what, how large
if [ "$(id -u)" = 0 ]; then
	chown 4711 "$map"
	ok "somebody else's map is not used" jitted "$nothing" \
		"JIT. 7: its map is another user's"
	chown 0 "$map"
fi
truncate -s 257M "$map"
ok "nor one that is too large" jitted "$nothing" "its map is too large"
rm "$map"
mkfifo "$map"
ok "nor a FIFO" timeout 20 "$pmclog" report -r "$tmp/root" "$tmp/jit"
rm "$map"
echo "7f0000001000 100 linked" >"$tmp/root/other"
ln -s /other "$map"
ok "nor a link" jitted "$nothing"
rm "$map"
: >"$map"
ok "nor an empty one" jitted "$nothing" "its map is empty"
echo "7f0000001000 100 stale" >"$map"
touch -d 2020-01-01 "$map"
jit_log jit "wall $(date +%s)"
ok "a map may be older than the log" prints 0 ";stale_.j. 1$" \
	"$pmclog" fold -r "$tmp/root" "$tmp/jit"
jit_log jit "wall $(date +%s)
fork 1 7"
ok "but not older than its process" jitted "$nothing" \
	"its map is of an earlier process"
noise()
{
	local i
	for i in {1..40}; do
		perl -e 'srand(shift); for (1 .. 200) {
			print join("", map { rand() < .7 ?
			substr("0123456789abcdef ", rand 17, 1) :
			chr rand 256 } 1 .. rand 60), rand() < .9 ? "\n" : ""
			}' "$i" >"$map"
		"$pmclog" fold -r "$tmp/root" "$tmp/jit" >/dev/null || return
	done
}
jit_log jit
ok "noise" noise

# processes that still run: their own /tmp, by their own number
printf '#include <unistd.h>\nint main(void) { pause(); }' |
	${CC:-cc} -static -x c -o "$tmp/waits" -
mkdir -p "$tmp/jail/tmp"
cp "$tmp/waits" "$tmp/jail"
here_log()
{
	log here <<-EOF
		wall $(($(date +%s) + ${2:-100}))
		host $(uname -r) $(uname -n)
		event cpu-clock 1000
		proc $1 p
		map $1 0x7f0000000000 0x100000 0 //anon
		sample 1 $1 0x7f0000001010
	EOF
}
"$tmp/waits" &
waits=$!
trap 'kill $waits; rm -rf "$tmp" /tmp/perf-$waits.map' EXIT
here_log $waits
ok "no map in /tmp" folds here "p;[//anon] 1"
echo "7f0000001000 100 mine" >/tmp/perf-$waits.map
ok "a process of this machine" folds here "p;mine_[j] 1"
# as of a JVM, which makes its map at its end
late_log()
{
	log late <<-EOF
		wall $(($(date +%s) - 100))
		host $(uname -r) $(uname -n)
		event cpu-clock 1000
		proc 4194399 p
		map 4194399 0x7f0000000000 0x100000 0 //anon
		sample 1 4194399 0x7f0000001010
		at 200000000000
		exit 4194399
	EOF
}
mapped()
{
	[ "$("$pmclog" export --to csv "$tmp/late" | grep -c mine)" = 1 ] &&
		[ "$("$pmclog" export --to perf-script "$tmp/late" | grep -c mine)" = 1 ] &&
		"$pmclog" filter --sym mine -o "$tmp/part" "$tmp/late" && folds part "p;mine_[j] 1"
}
echo "7f0000001000 100 mine" >/tmp/perf-4194399.map
late_log
ok "a map made after a sample: the report" folds late "p;mine_[j] 1"
ok "and what names as it reads" mapped
rm /tmp/perf-4194399.map
here_log $waits -100
ok "not if it began after the recording" folds here "p;[JIT] 1"
log elsewhere <<-EOF
	host $(uname -r) elsewhere
	event cpu-clock 1000
	proc $waits p
	map $waits 0x7f0000000000 0x100000 0 //anon
	sample 1 $waits 0x7f0000001010
EOF
ok "nor of another machine" folds elsewhere "p;[//anon] 1"
if [ "$(id -u)" = 0 ] && unshare -p -f true 2>/dev/null; then
	unshare -p -f chroot "$tmp/jail" /waits 2>/dev/null &
	outer=$!
	for _ in {1..500}; do
		inner=$(cat /proc/$outer/task/*/children 2>/dev/null)
		inner=${inner%% }
		[ -n "$inner" ] && [ "$(readlink "/proc/$inner/exe")" = \
			"$tmp/jail/waits" ] && break
		sleep .01
	done
	echo "7f0000001000 100 inside" >"$tmp/jail/tmp/perf-1.map"
	echo "7f0000001000 100 outside" >"/tmp/perf-$inner.map"
	here_log "$inner"
	ok "in a container: its file system and its number" folds here \
		"p;inside_[j] 1"
	rm "/tmp/perf-$inner.map"
	kill -KILL "$inner"
	wait $outer 2>/dev/null
else
	skip "in a container" "not root"
fi

# Two runs of one program: the code is the same, whatever the processes' numbers are.
for pid in 17 19; do
	echo "7f0000001000 100 busy" >"$tmp/root/tmp/perf-$pid.map"
	log run$pid <<-EOF
		event cpu-clock 1000
		proc $pid node
		map $pid 0x7f0000000000 0x100000 0 //anon
		sample 60 $pid 0x7f0000001010
		sample 4 $pid 0x7f0000002010
	EOF
done
runs()
{
	same $'node;busy_[j] 60 60\nnode;[JIT] 4 4' \
		"$pmclog" diff --folded -r "$tmp/root" "$tmp/run17" "$tmp/run19"
}
ok "two runs have the same functions" runs
{
	cat <<-EOF
		event cpu-clock 1000
	EOF
	for pid in 17 19; do
		echo "proc $pid node"
		echo "map $pid 0x7f0000000000 0x100000 0 //anon"
		echo "sample 30 $pid 0x7f0000001010"
	done
} | log workers
workers()
{
	prints 0 "^ 100.00  *100.00  *60  *\[JIT\]  *busy$" \
		"$pmclog" report --flat -s dso,sym -r "$tmp/root" "$tmp/workers"
}
ok "and two workers" workers
done_testing
