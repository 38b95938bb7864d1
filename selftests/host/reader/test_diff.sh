#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What pmclog diff finds between two logs whose difference is known.
. "$(dirname "$0")/lib.sh"

# The kernel was elsewhere when the second log was made.
sym()
{
	cat <<-EOF
	ffffffff$1000000 T reference
	ffffffff$1001000 T outer
	ffffffff$1002000 T middle
	ffffffff$1003000 T same
	ffffffff$1004000 T grows
	ffffffff$1005000 T vanishes
	ffffffff$1006000 T appears
	ffffffff$1007000 T end
	EOF
}
sym 81 >"$tmp/k1"
sym 92 >"$tmp/k2"
k=0xffffffff81000000
log before <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 7 prog
	sample 40 7 $k+0x3010 $k+0x1010
	sample 20 7 $k+0x4010 $k+0x1010
	sample 40 7 $k+0x5010 $k+0x2010 $k+0x1010
EOF
k=0xffffffff92000000
log after <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 99 prog
	sample 80 99 $k+0x3010 $k+0x1010
	sample 100 99 $k+0x4010 $k+0x1010
	sample 20 99 $k+0x6010 $k+0x6010 $k+0x1010
EOF

diff2()
{
	"$pmclog" diff --kernel-before "$tmp/k1" -k "$tmp/k2" "$@" \
		"$tmp/before" "$tmp/after"
}
table()
{
	diff2 "$@" | awk 'NR > 5 { $1 = $1; print }'
}
ok "functions by how much they changed" same "\
40.00 0.00 -40.00 [kernel] vanishes [k] gone
20.00 50.00 +30.00 [kernel] grows [k]
0.00 10.00 +10.00 [kernel] appears [k] new
1 more function changed less than 0.1 % of all samples" table
ok "with totals" same "\
40.00 0.00 -40.00 -40.00 [kernel] vanishes [k] gone
20.00 50.00 +30.00 +30.00 [kernel] grows [k]
0.00 10.00 +10.00 +10.00 [kernel] appears [k] new
0.00 0.00 +0.00 -40.00 [kernel] middle [k] gone
2 more functions changed less than 0.1 % of all samples" table --total
ok "--lines" same "\
40.00 0.00 -40.00 [kernel] vanishes [k] gone
3 more functions changed less than 0.1 % of all samples, or are too many" \
	table --lines 1
ok "--limit" same "\
40.00 0.00 -40.00 [kernel] vanishes [k] gone
3 more functions changed less than 35 % of all samples" table -l 35
ok "which is of totals, too, where these are shown" same "\
40.00 0.00 -40.00 -40.00 [kernel] vanishes [k] gone
0.00 0.00 +0.00 -40.00 [kernel] middle [k] gone
4 more functions changed less than 35 % of all samples" table -l 35 --total
head2()
{
	diff2 | head -n 2 | sed "s|$tmp/||"
}
ok "samples of either" same "\
Before  before: 100 samples, 0 lost
After   after: 200 samples, 0 lost" head2
stacks()
{
	diff2 --folded | sort
}
ok "folded stacks" same "\
prog;outer_[k];appears_[k];appears_[k] 0 20
prog;outer_[k];grows_[k] 20 100
prog;outer_[k];middle_[k];vanishes_[k] 40 0
prog;outer_[k];same_[k] 40 80" stacks

# colour FUNCTION FILE: hue of its frame
colour()
{
	grep "<title>$1\$" -A 4 "$2" | sed -n 's/.*fill="hsl(\([0-9]*\),.*/\1/p' |
		head -n 1
}
is_colour()
{
	local got
	got=$(colour "$1" "$2")
	[ "$got" = "$3" ] && return
	echo "hue of $1 is $got"
	return 1
}
ok "a flame graph" diff2 --flame -o "$tmp/after.svg"
ok "it is XML" xmllint --noout "$tmp/after.svg"
ok "what grew is red" is_colour grows "$tmp/after.svg" 8
ok "what appeared is marked" is_colour appears "$tmp/after.svg" 300
ok "what did not change is neither" is_colour same "$tmp/after.svg" 215
ok "what vanished is not there" exits 1 grep -q vanishes "$tmp/after.svg"
ok "but its share is told" grep -q "40.0 % of the other is not" \
	"$tmp/after.svg"
ok "the graph of the first log" diff2 --before -o "$tmp/before.svg"
ok "has what vanished" is_colour vanishes "$tmp/before.svg" 300
ok "and widths of the first" grep -A1 "<title>same\$" "$tmp/before.svg"
ok "in its samples" grep -q "40 samples, 40.00 %" "$tmp/before.svg"
ok "nothing changed" same "\
3 functions changed less than 0.1 % of all samples" bash -c \
	"'$pmclog' diff -k '$tmp/k1' '$tmp/before' '$tmp/before' |
	 sed -n '6,\$s/^ *//p'"

log other <<-EOF
	event page-faults 1
	proc 7 prog
	sample 1 7 0x10
EOF
log empty <<-EOF
	event cpu-clock 1000000
EOF
ok "other events are not compared" prints 1 'has no event "cpu-clock"' \
	"$pmclog" diff "$tmp/before" "$tmp/other"
log two <<-EOF
	event cpu-clock 1000000 1
	pmc 1
	proc 7 prog
	sample 10 7 0x10
	event page-faults 1 2
	pmc 2
	sample 30 7 0x20
	event cpu-clock 5 3
	pmc 3
	sample 5 7 0x20
EOF
one_event()
{
	"$pmclog" diff "$tmp/before" "$tmp/two" 2>/dev/null | head -n 2 |
		sed "s|$tmp/||"
}
ok "one event of the second log" same "\
Before  before: 100 samples, 0 lost
After   two: 10 samples, 0 lost" one_event
ok "the others are told" prints 0 "two: showing cpu-clock; there are 2 more" \
	"$pmclog" diff "$tmp/before" "$tmp/two"
log finer <<-EOF
	event cpu-clock 500000
	proc 7 prog
	sample 200 7 0x10
EOF
ok "--folded: samples of another period" prints 0 \
	"one every 1,000,000 before, and every 500,000 after: only shares" \
	"$pmclog" diff --folded "$tmp/before" "$tmp/finer"
log rate <<-EOF
	freq cpu-clock 1000
	proc 7 prog
	period 500000
	sample 200 7 0x10
EOF
ok "--folded: samples and events" prints 0 \
	"the numbers are samples before, and events after: only shares" \
	"$pmclog" diff --folded "$tmp/before" "$tmp/rate"
ok "nothing to compare" prints 1 "no samples to compare" \
	"$pmclog" diff "$tmp/before" "$tmp/empty"
ok "one log is too few" exits 2 "$pmclog" diff "$tmp/before"
ok "no such log" exits 1 "$pmclog" diff --pid 3 "$tmp/before" "$tmp/none"
ok "no such first log" exits 1 "$pmclog" diff --pid 3 "$tmp/none" "$tmp/before"
ok "folded or flame" exits 2 "$pmclog" diff --folded --flame "$tmp/before" \
	"$tmp/after"
ok "totals are of the table" exits 2 "$pmclog" diff --total --flame \
	"$tmp/before" "$tmp/after"
for o in "-l 5 --folded" "-n 5 --flame"; do
	# shellcheck disable=SC2086
	ok "a limit of no table: $o" prints 2 "are of the table" "$pmclog" diff $o \
		"$tmp/before" "$tmp/after"
done
ok "a title of no picture" prints 2 "title is of a flame graph" "$pmclog" diff \
	-t x --folded "$tmp/before" "$tmp/after"
ok "standard input twice" prints 2 "standard input is one log only" "$pmclog" diff - -
ok "a limit that nothing reaches" prints 0 "^  [0-9]* functions* changed less than 100 %" \
	"$pmclog" diff -l 100 "$tmp/before" "$tmp/after"
ok "a bad limit" exits 2 "$pmclog" diff -l x "$tmp/before" "$tmp/after"

done_testing
