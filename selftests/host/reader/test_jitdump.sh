#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of code made at run time, from jitdump files.
. "$(dirname "$0")/lib.sh"

mkdir -p "$tmp/root/tmp" "$tmp/root/work"
dump=$tmp/root/work/jit-7.dump
map=$tmp/root/tmp/perf-7.map
marker="map 7 0x7e0000000000 0x1000 0 /work/jit-7.dump"
base=0x7f0000000000

# dump [OPTION]... <LINES
dump()
{
	python3 "$HERE/python/jitdump.py" "$@" >"$dump"
}
# jit_log NAME <LINES: a process with a jitdump; the dump's clock is 5 s ahead
jit_log()
{
	{
		echo "host 9.9.9 elsewhere"
		echo "event cpu-clock 1000"
		echo "clock 5000000000"
		echo "proc 7 node"
		echo "map 7 $base 0x100000 0 //anon"
		echo "$marker"
		cat
	} | log "$1"
}
jitted()	# NAME WANT
{
	same "$2" "$pmclog" fold -r "$tmp/root" "$tmp/$1"
}
why()		# NAME REGEX: of its report
{
	prints 0 "$2" "$pmclog" report -r "$tmp/root" "$tmp/$1"
}

# ------------------------------------------------------------------------
jit_log plain <<-EOF
	at 1000000000
	sample 1 7 $base+0x1010 $base+0x3000 $base+0x1081
	sample 2 7 $base+0x2fff
	sample 4 7 $base+0x9000
EOF
lines="\
load 100 $base+0x1000 *32 first
load 200 $base+0x1080 *16 on_heap
load 300 $base+0x2000 *4096 second
load 400 $base+0x2fff *1 third
close 500"
plain="\
node;[JIT] 4
node;on heap_[j];third_[j];first_[j] 1
node;third_[j] 2"
dump <<<"$lines"
ok "names of a jitdump" jitted plain "$plain"
dump big <<<"$lines"
ok "of the other byte order" jitted plain "$plain"
dump <<<"$lines"
echo "7f0000001000 ff000 mapped" >"$map"
ok "rather than of a map" jitted plain "$plain"
mv "$dump" "$dump.away"
mapped="\
node;mapped_[j] 6
node;mapped_[j];mapped_[j];mapped_[j] 1"
ok "but of a map if there is no jitdump" jitted plain "$mapped"
echo "this is something else than a jitdump" >"$dump"
ok "or it is not one" jitted plain "$mapped"
rm "$map" "$dump"
ok "neither: the report says why" why plain \
	"JIT. 7: its jitdump is not there"
mv "$dump.away" "$dump"

prog_log later node <<-EOF
	$marker
	map 7 $base 0x100000 0 //anon
	sample 1 7 $base+0x1010
	fork 7 8
	sample 2 8 $base+0x1010
	exec 8 /bin/x
	map 8 $base 0x100000 0 //anon
	sample 4 8 $base+0x1010
	exec 7 /bin/y
	map 7 $base 0x100000 0 //anon
	sample 8 7 $base+0x1010
EOF
ok "mapped before the code; a fork has it, after an exec it is gone" \
	jitted later "\
node;[//anon] 8
node;first_[j] 3
x;[//anon] 4"

# ------------------------------------------------------------------------
# The same address, one after the other: the log's 1 s is the dump's 6 s
jit_log again <<-EOF
	at 1000000000
	sample 1 7 $base+0x1010
	sample 2 7 $base+0x1010 $base+0x5001
	at 2000000000
	sample 4 7 $base+0x1010
	sample 8 7 $base+0x1010 $base+0x5001
	at 3000000000
	sample 16 7 $base+0x1010
	sample 32 7 $base+0x1030
	at 4000000000
	sample 64 7 $base+0x1010
	sample 128 7 $base+0x8010
EOF
twice="\
load 5500000000 $base+0x1000 *64 one
load 5500000000 $base+0x5000 *64 caller
load 6500000000 $base+0x1000 *64 two
load 7500000000 $base+0x1000 *32 three
move 8500000000 0 $base+0x8000"
dump <<<"$twice"
again="\
node;caller_[j];one_[j] 2
node;caller_[j];two_[j] 8
node;one_[j] 129
node;three_[j] 80
node;two_[j] 36"
ok "code that takes the place of other code" jitted again "$again"
each_sample()
{
	"$pmclog" export --to csv -r "$tmp/root" "$tmp/again" | awk -F, '
		NR > 1 { gsub(/"/, ""); print $9 }' | uniq -c | awk '
		{ print $1, $2 }' >"$tmp/got"
	diff - "$tmp/got" <<-EOF
		3 one
		12 two
		16 three
		32 two
		64 three
		128 one
	EOF
}
ok "likewise for each sample" each_sample
ok "and where callers do not count" prints 0 \
	" 44 .*two$" "$pmclog" report --flat -r "$tmp/root" "$tmp/again"
# what the parent does with its code after a fork is not its child's
forked()	# LINE: after the fork
{
	jit_log forked <<-EOF
		at 1000000000
		sample 1 7 $base+0x1010
		fork 7 9
		proc 9 child
		$1
		at 2000000000
		sample 2 9 $base+0x1010
		sample 4 7 $base+0x1010
		fork 9 10
		proc 10 grandchild
		sample 8 10 $base+0x1010
		at 3000000000
		sample 16 9 $base+0x1010
		fork 7 11
		proc 11 late
		sample 32 11 $base+0x1010
	EOF
	jitted forked "\
child;one_[j] 18
grandchild;one_[j] 8
late;three_[j] 32
node;one_[j] 1
node;two_[j] 4"
}
ok "a child has the code of its fork" forked ""
ok "whatever it maps" forked "map 9 0x10000 0x1000 0 /x/lib"
{ grep load <<<"$twice" | sort -r; } | dump
ok "written in another order" jitted again "\
node;[JIT] 128
${again/129/1}"
last="\
node;caller_[j];three_[j] 10
node;one_[j] 128
node;three_[j] 85
node;two_[j] 32"
dump ticks <<<"$twice"
ok "times of a processor's clock: the last one counts" jitted again "$last"
dump <<<"$twice"
prog_log unclocked node <<-EOF
	$marker
	map 7 $base 0x100000 0 //anon
	sample 1 7 $base+0x1010
EOF
ok "a log that knows no other clock: likewise" jitted unclocked "\
node;three_[j] 1"

# Each address, at any time, of many that overlap.  Where there was nothing yet
# it is the first that comes.
perl -e 'srand(5); for (1 .. 300) {
	printf("load %d %d+%s *%d f%d\n", 5e9 + $_ * 1e7, int rand 4000, "'$base'",
	       1 + int(rand() < .3 ? rand 1000 : rand 40), $_) }' >"$tmp/many"
overlap()
{
	dump <"$tmp/many"
	for i in {0..299..13}; do
		echo "at $((i * 10000000 + 5000000))"
		for at in {0..4999..17}; do
			echo "sample 1 7 $base+$at"
		done
	done | jit_log overlap
	perl -e 'my (@l, %n); while (<>) { my (undef, $t, $a, $s, $f) = split;
			$s =~ s/\*//; $a =~ s/\+.*//; push @l, [$a, $s, $f] }
		for (my $t = 0; $t < 300; $t += 13) {
			my @at; for my $l (reverse(@l[$t .. $#l]),
					   @l[0 .. $t - 1]) {
				$at[$_] = $l->[2]
					for $l->[0] .. $l->[0] + $l->[1] - 1 }
			for (my $i = 0; $i < 5000; $i += 17) {
				$n{$at[$i] ? "node;$at[$i]_[j]" : "node;[JIT]"}++
			} }
		print "$_ $n{$_}\n" for keys %n' "$tmp/many" | sort >"$tmp/want"
	"$pmclog" fold -r "$tmp/root" "$tmp/overlap" | diff "$tmp/want" -
}
ok "code that overlaps, at any time" overlap

# ------------------------------------------------------------------------
# The bytes and the lines
printf 'line %s\n' {1..20} >"$tmp/root/work/app.js"
jit_log code <<-EOF
	at 1000000000
	sample 3 7 $base+0x1003
	at 2000000000
	sample 5 7 $base+0x1009
EOF
hot="\
lines 1 $base+0x1000 $base+0x1000 10 /work/app.js $base+0x1004 12 \\xff \
$base+0x1009 13 \\xff
load 5000000001 $base+0x1000 5589e5b80700000031c05dc3 hot
load 6500000000 $base+0x1000 9090909090909090909090c3 hot"
dump <<<"$hot"
shows()		# REGEX...: in this order
{
	"$pmclog" annotate -r "$tmp/root" --bytes --source-root "$tmp/root" \
		hot "$tmp/code" >"$tmp/.got" 2>&1
	perl -0777 -e 'my $all = <STDIN>; for (@ARGV) {
		$all =~ /\G.*?(?:$_)/gsc or (print("no $_\n"), exit 1) }' \
		"$@" <"$tmp/.got" || { cat "$tmp/.got"; return 1; }
}
ok "annotate: each version, its bytes and where it was" shows \
	"hot in \[JIT\] 7" "5 samples" "7f0000001000:  90 +nop" \
	"100.00 +5 \| 7f0000001009:  90" \
	"hot in \[JIT\] 7" "3 samples" "7f0000001000:  55 +pushq %rbp" \
	"100.00 +3 \| 7f0000001003:  b807000000 +movl" "7f000000100b:  c3"
annotated_lines=("3 samples" "app.js:10  line 10" "7f0000001000:" \
	"7f0000001003:" "app.js:12  line 12" "7f0000001008:" \
	"app.js:13  line 13" "7f000000100a:")
hot=${hot//0x1004/0x1008}
hot=${hot//0x1009/0x100a}
dump <<<"$hot"
ok "annotate: lines" shows "${annotated_lines[@]}"
dump big <<<"$hot"
ok "annotate: the other byte order" shows "${annotated_lines[@]}"
by_line()
{
	prints 0 " 3 .* hot  */work/app.js:10$" "$pmclog" report --flat \
		-s sym,line -r "$tmp/root" "$tmp/code"
}
ok "lines in reports" by_line
exported_lines()
{
	"$pmclog" export --to csv --by-line -r "$tmp/root" -o "$tmp/x" "$tmp/code" &&
		same $'      3 hot (app.js:10)' uniq -c <(cut -d , -f 9 "$tmp/x" | grep app.js:10 | tr -d '"') &&
		"$pmclog" export --to callgrind --by-line -r "$tmp/root" -o "$tmp/x" "$tmp/code" &&
		grep -qx 'fl=([0-9]*) /work/app.js' "$tmp/x" && grep -qx '10 3' "$tmp/x"
}
ok "and in exports" exported_lines
moved=${hot//$base+0x1000 10/$base+0x1040 10}
moved=${moved//$base+0x1008/$base+0x1048}
dump v8 <<<"${moved//$base+0x100a/$base+0x104a}"
ok "annotate: V8's lines are 64 bytes too far" shows "${annotated_lines[@]}"
dump machine=0 <<<"$hot"
ok "annotate: a machine that only the log tells" shows "3 samples" \
	"pushq %rbp"
dump machine=4711 <<<"$hot"
ok "annotate: an unknown one" shows "machine that is not known"
dump <<<"${hot/10 \/work\/app.js/10 \\xff}"
ok "annotate: the first line has no file" shows "3 samples" "7f0000001000:"
dump <<<"load 5000000001 $base+0x1000 5589e5b80700000031c05dc3 hot"
truncate -s -4 "$dump"
ok "annotate: code that was not written to its end" shows "8 samples" \
	"37.50 +3 \| 7f0000001003:" \
	"the rest of it, with 5 samples, is not shown"

# ------------------------------------------------------------------------
dump <<<"$lines"
cut_anywhere()
{
	local i size
	size=$(stat -c %s "$dump")
	cp "$dump" "$tmp/whole"
	for ((i = 0; i <= size; i += i < 300 ? 3 : 411)); do
		head -c "$i" "$tmp/whole" >"$dump"
		"$pmclog" annotate -a -r "$tmp/root" "$tmp/plain" \
			>/dev/null 2>"$tmp/.err"
		[ $? -lt 2 ] || { cat "$tmp/.err"; return 1; }
	done
}
ok "cut anywhere" cut_anywhere
head -c $((40 + 56 + 6 + 32 + 20)) "$tmp/whole" >"$dump"
first="\
node;[JIT] 6
node;[JIT];[JIT];first_[j] 1"
ok "cut in a record: what is before it" jitted plain "$first"
beside()	# LINE: in front of the others
{
	printf '%s\n' "$1" "$lines" | dump
	jitted plain "$plain"
}
ok "unknown records" beside "record 77 4000"
ok "records that are too short for their kind" beside "record 0 40"
ok "code of no size" beside "load 1 $base+0x9000 *0 none"
ok "code at the end of all addresses" beside \
	"load 1 0xfffffffffffffff0 *64 around"
ok "a long name" beside \
	"load 1 $base+0x10000 *64 $(printf 'n%.0s' {1..9000})"
printf '%s\n' "bytes 01000000080000000000000000000000" "$lines" | dump
ok "a record that is shorter than any" why plain "its jitdump is empty"
: >"$dump"
ok "an empty one" why plain "its jitdump is empty"
head -c 100 /dev/zero >"$dump"
ok "zeros" why plain "its jitdump is not one"
noise()
{
	local i
	dump <<<"$hot"
	cp "$dump" "$tmp/whole"
	for i in {1..60}; do
		perl -e 'srand(shift); local $/; my $s = <STDIN>;
			substr($s, rand length $s, 1) = chr rand 256
				for 1 .. 1 + rand 8; print $s' "$i" \
			<"$tmp/whole" >"$dump"
		"$pmclog" annotate -a -r "$tmp/root" "$tmp/code" \
			>/dev/null 2>"$tmp/.err"
		[ $? -lt 2 ] || { cat "$tmp/.err"; return 1; }
	done
}
ok "noise" noise

# whose, what, how large
dump <<<"$lines"
if [ "$(id -u)" = 0 ]; then
	chown 4711 "$dump"
	ok "somebody else's is not used" why plain \
		"JIT. 7: its jitdump is another user's"
	chown 0 "$dump"
fi
truncate -s 3G "$dump"
ok "nor one that is too large" why plain "its jitdump is too large"
rm "$dump"
mkfifo "$dump"
ok "nor a FIFO" timeout 20 "$pmclog" report -r "$tmp/root" "$tmp/plain"
rm "$dump"
dump <<<"$lines"
mv "$dump" "$tmp/root/other"
ln -s /other "$dump"
ok "nor a link" jitted plain "\
node;[JIT] 6
node;[JIT];[JIT];[JIT] 1"
rm "$dump"
dump <<<"$lines"
touch -d 2020-01-01 "$dump"
log born <<-EOF
	wall $(date +%s)
	event cpu-clock 1000
	fork 1 7
	$marker
	map 7 $base 0x100000 0 //anon
	sample 1 7 $base+0x1010
EOF
ok "nor one that is older than its process" why born \
	"its jitdump is of an earlier process"
dump <<<"$lines"

# ------------------------------------------------------------------------
mkdir "$tmp/apart"
archive()
{
	"$pmclog" archive -r "$tmp/root" -o "$tmp/plain.tar.zst" "$tmp/plain" \
		2>"$tmp/.err" &&
		tar xf "$tmp/plain.tar.zst" -C "$tmp/apart" &&
		same "$plain" "$pmclog" fold "$tmp/apart/pmclog-plain" ||
		{ cat "$tmp/.err"; return 1; }
}
ok "an archive has it" archive
part()
{
	"$pmclog" filter -r "$tmp/root" --sym third -o "$tmp/part" \
		"$tmp/plain" && jitted part "\
node;on heap_[j];third_[j];first_[j] 1
node;third_[j] 2"
}
ok "a part of a log still has its names" part

# a process that still runs goes on writing
printf '#include <unistd.h>\nint main(void) { pause(); }' |
	${CC:-cc} -static -x c -o "$tmp/waits" -
"$tmp/waits" &
waits=$!
trap 'kill $waits; rm -rf "$tmp"' EXIT
dump=$tmp/jit-7.dump
growing="\
wall $(($(date +%s) + 100))
host $(uname -r) $(uname -n)
event cpu-clock 1000
clock 5000000000
proc $waits p
map $waits $base 0x100000 0 //anon
map $waits 0x7e0000000000 0x1000 0 $dump
at 1000000000
sample 1 $waits $base+0x1010"
log grows <<-EOF
	$growing
	at 4000000000
	sample 2 $waits $base+0x1010
	sample 4 $waits $base+0x2010
EOF
printf '%s\n' "$growing" cut | log begins
early="load 5000000001 $base+0x1000 *64 early"
dump <<<"$early"
ok "a process of this machine" folds grows "\
p;[JIT] 4
p;early_[j] 3"
grows()
{
	local size
	size=$(stat -c %s "$tmp/begins")
	dump <<<"$early"
	{
		head -c "$size" "$tmp/grows"
		sleep .5
		printf '%s\n' "$early" "load 7000000000 $base+0x1000 *64 late" \
			"load 7000000000 $base+0x2000 *64 new" | dump
		tail -c +$((size + 1)) "$tmp/grows"
	} | same "\
p;early_[j] 1
p;late_[j] 2
p;new_[j] 4" "$pmclog" fold -
}
ok "that goes on writing" grows

shrinks()
{
	local size
	size=$(stat -c %s "$tmp/begins")
	for i in {1..300}; do
		echo "load 4000000000 $base+0x1000 *$i old$i"
	done | dump
	{
		head -c "$size" "$tmp/grows"
		sleep .5
		dump <<<"$early"
		tail -c +$((size + 1)) "$tmp/grows"
	} | same "\
p;[JIT] 5
p;early_[j] 2" "$pmclog" fold -
}
ok "that begins anew: older code is gone" shrinks

# 1.9 GB, most of them holes: six versions are more than all jitdumps may have
grows_often()
{
	local i from=0 size text=$growing
	dump <<<"$early"
	printf '\x4d\0\0\0\x80\x96\x98\x70%08d' 0 >>"$dump"
	for i in {1..7}; do
		text+=$'\n'"at $((i * 2 + 2))000000000"$'\n'"sample 1 $waits $base+0x1010"
		printf '%s\n' "$text" cut | log "step$i"
	done
	for i in {1..7}; do
		truncate -s $((1900000000 + i)) "$dump"
		size=$(stat -c %s "$tmp/step$i")
		tail -c +$((from + 1)) "$tmp/step$i"
		from=$size
		sleep .3
	done | same "p;early_[j] 8" "$pmclog" fold -
}
ok "again and again" grows_often

done_testing
