#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -G, as converters read it.
. "$(dirname "$0")/lib.sh"
make_log

graph()
{
	"$pmcstat" -R "$tmp/log" -G - "$@" | sed "s|$tmp|T|"
}
ok "the call graph, blank by blank" same "\
@ cpu-clock [85 samples]

70.59%  [60]       leaf @ T/shapes
 100.0%  [60]        calls
  100.0%  [60]         main

23.53%  [20]       inner @ [kernel]
 100.0%  [20]        outer
  100.0%  [20]         main @ T/shapes

03.53%  [3]        calls @ T/shapes
 100.0%  [3]         main

02.35%  [2]        [unknown] @ [unknown]

@ page-faults [5 samples]

100.0%  [5]        after @ T/shapes
 100.0%  [5]         main
" graph
ok "to a file" bash -c "$pmcstat -R $tmp/log -G $tmp/graph &&
	$pmcstat -R $tmp/log -G - | cmp - $tmp/graph"
ok "-z: so many of a chain" same "\
@ cpu-clock [85 samples]

70.59%  [60]       leaf @ T/shapes

23.53%  [20]       inner @ [kernel]

03.53%  [3]        calls @ T/shapes

02.35%  [2]        [unknown] @ [unknown]

@ page-faults [5 samples]

100.0%  [5]        after @ T/shapes
" graph -z 1
ok "-z 2" same 9 bash -c "$pmcstat -R $tmp/log -z 2 -G - | grep -c %"
ok "-A: addresses of the file" same "\
100.0%  [5]        $(printf %#x $(($(symbol "$shapes" after) + 2))) @ T/shapes
 100.0%  [5]         $(printf %#x $(($(symbol "$shapes" main) + 39)))" \
	bash -c "$pmcstat -R $tmp/log -A -G - | sed 's|$tmp|T|' | tail -n 3 |
	sed '\$d'"
ok "-I: the offset in the function" same "\
70.59%  [60]       leaf+0x5 @ T/shapes" \
	bash -c "$pmcstat -R $tmp/log -I -G - | sed 's|$tmp|T|' | sed -n 3p"
ok "-I tells places of a function apart" bash -c "{
	printf '%s\n' '$(preamble)'
	echo sample 1 7 $(at leaf 5)
	echo sample 1 7 $(at leaf 6)
	} | $BIN/script2log $tmp/two && test \$($pmcstat -R $tmp/two -I -G - |
	grep -c 50.00%) = 2"

# a caller that calls both a lot and little, and one that is sampled itself
log shared <<-EOF
	event cpu-clock 1000
	kernel 0xffffffff81000000 reference
	sample 7 7 0xffffffff81003010 0xffffffff81002010
	sample 3 7 0xffffffff81003010 0xffffffff81001010
	sample 2 7 0xffffffff81003020
EOF
ok "callers by their share; -k: a file" same "\
@ cpu-clock [12 samples]

100.0%  [12]       inner @ [kernel]
 58.33%  [7]         middle
 25.00%  [3]         outer
" "$pmcstat" -R "$tmp/shared" -k "$tmp/kallsyms" -G -
mkdir "$tmp/kernel"
cp "$tmp/kallsyms" "$tmp/kernel"
ok "-k: a directory" bash -c "$pmcstat -R $tmp/shared -k $tmp/kernel -G - |
	grep -q 'inner @'"
ok "-k of nothing: 66" prints 66 "No such file" \
	"$pmcstat" -R "$tmp/shared" -k "$tmp/none" -G -
mkdir -p "$tmp/root$tmp"
mv "$shapes" "$tmp/root$tmp/shapes"
ok "without its file a program has no names" \
	bash -c "! $pmcstat -R $tmp/log -G - | grep -q ' leaf'"
ok "-r: its file is elsewhere" \
	bash -c "$pmcstat -R $tmp/log -r $tmp/root -G - | grep -q ' leaf @ $tmp/shapes'"
mv "$tmp/root$tmp/shapes" "$shapes"
ok "-v: how much has no name" prints 0 \
	"2 samples where nothing was mapped, 0 without a function" \
	"$pmcstat" -v -R "$tmp/log" -G /dev/null
ok "-v: which symbols" prints 0 "kernel symbols: $tmp/kallsyms" \
	"$pmcstat" -v -R "$tmp/log" -G /dev/null

# Whoever turns it into folded stacks looks for lines of this shape, and takes
# a line's depth from its blanks.  Each of our stacks has to come out of it.
cat >"$tmp/fold.py" <<-'EOF'
	import re, sys
	shape = re.compile(r"^( *)([0-9.]+)%  \[(\d+)\]\s*(\S+)(?: @ (.*))?$")
	stack, count, depth, out = [], 0, -1, {}
	def end():
	    if depth >= 0:
	        key = ";".join(reversed(stack[:depth + 1]))
	        out[key] = out.get(key, 0) + count
	for line in sys.stdin:
	    m = shape.match(line)
	    if not m:
	        assert line == "\n" or re.match(r"@ .* \[\d+ samples\]$", line), line
	        continue
	    d = len(m[1])
	    if d <= depth:
	        end()
	    stack[d:] = [m[4]]
	    count, depth = int(m[3]), d
	end()
	for key in sorted(out):
	    print(key, out[key])
EOF
awk 'BEGIN {
	srand(7)
	print "kernel 0xffffffff81000000 reference\nevent cpu-clock 1000"
	for (i = 0; i < 500; i++) {
		n = int(rand() * 12)
		printf "sample %d 7 0xffffffff8100%d%03d", rand() * 9 + 1,
			1 + rand() * 3, i % 1000
		while (n--)
			printf " 0xffffffff8100%d010", 1 + rand() * 3
		# all end in a place of their own, or it is no leaf of the graph
		print " 0xffffffff81004008"
	}
}' | sed 's/\(.*\) /\1 /' >"$tmp/many.txt"
log many <"$tmp/many.txt"
ok "a converter finds the stacks of pmclog fold" bash -c "
	$pmcstat -R $tmp/many -k $tmp/kallsyms -G - | python3 $tmp/fold.py >$tmp/a &&
	$BIN/pmclog fold -k $tmp/kallsyms $tmp/many |
		sed 's/^[^;]*;//; s/_\[k\]//g' | LC_ALL=C sort >$tmp/b &&
	LC_ALL=C sort -o $tmp/a $tmp/a && diff $tmp/a $tmp/b && test -s $tmp/a"
ok "and it is the same every time" bash -c "
	cmp <($pmcstat -R $tmp/many -G -) <($pmcstat -R $tmp/many -G -)"

# names that would be two words, or more than that to a terminal
log evil <<-EOF
	event a\x1b[2Jb 1000
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/a\x1b[31m\x0ab\x20c
	sample 5 7 0x10010
EOF
ok "no control characters" bash -c "! $pmcstat -R $tmp/evil -G - | tr -d '\n' |
	grep -q '[[:cntrl:]]'"
ok "nor more lines" same 4 bash -c "$pmcstat -R $tmp/evil -G - | wc -l"
cat >"$tmp/cxx.cc" <<-EOF
	namespace a { struct b { __attribute__((noinline)) int c(int, char *); }; }
	int a::b::c(int x, char *) { asm volatile("nop;nop;nop;nop"); return x; }
	int main() { a::b b; return b.c(0, 0); }
EOF
if ${CXX:-c++} -O1 -g -fPIE -pie -o "$tmp/cxx" "$tmp/cxx.cc" 2>/dev/null; then
	{
		load 7 "$base" "$tmp/cxx"
		echo "sample 1 7 $base+$(symbol "$tmp/cxx" _ZN1a1b1cEiPc)+1"
	} | prog_log mangled
	ok "C++ names stay one word" bash -c "$pmcstat -R $tmp/mangled -G - |
		grep -q ' _ZN1a1b1cEiPc @ '"
else
	skip "C++ names stay one word" "no C++ compiler"
fi

own_output()
{
	local o
	for o in "-o %" "-G %" "-F %" "-m %" "-a %" "-g -M %" "-T -o %"; do
		cp "$tmp/log" "$tmp/own"
		# shellcheck disable=SC2086
		prints 73 "own is the log itself" \
			"$pmcstat" -R "$tmp/own" ${o//%/$tmp/own} || return
		cmp "$tmp/log" "$tmp/own" || return
	done
	prints 1 "own is the log itself" \
		"$pmclog" top -o "$tmp/own" "$tmp/own" && cmp "$tmp/log" "$tmp/own"
}
ok "the log is not its own output" own_output
ok "-f does nothing here, which is said" bash -c \
	"$pmcstat -R $tmp/log -G - -f threshold=50 2>&1 >$tmp/graph |
	 grep -q '^pmcstat: -f threshold=50: it is of -T' &&
	 $pmcstat -R $tmp/log -G - | cmp - $tmp/graph"

# what a log's end left behind
log behind <<-EOF
	event cpu-clock 1000
	proc 7 prog
	sample 2 7 0x1000
	discarded 4
EOF
ok "samples that were not written are said" bash -c \
	"$pmcstat -R $tmp/behind -G $tmp/graph 2>&1 |
	 grep -qx 'pmcstat: 4 samples were not written when the log ended'"
ok "but not with -q" bash -c \
	"$pmcstat -q -R $tmp/behind -G $tmp/graph 2>&1 | cmp - /dev/null"

# a file with a colon in its name
cp "$tmp/log" "$tmp/a:b"
ok "what is beside a:b is found" bash -c \
	"cd $tmp && $pmcstat -R log -G - | cmp - <($pmcstat -R ./a:b -G -) &&
	 $pmcstat -R ./a:b -G - | grep -q ' inner @ .kernel'"

# files of one name in two directories
mkdir "$tmp/else"
cp "$shapes" "$tmp/else/shapes"
{
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	load 7 "$base" "$shapes"
	load 7 $((base + 0x100000)) "$tmp/else/shapes"
	echo "sample 2 7 $(at leaf 5)"
	echo "sample 1 7 $(at leaf 0x100005)"
} | log twins
ok "each has its own samples" same "\
66.67%  [2]        leaf @ T/shapes
33.33%  [1]        leaf @ T/else/shapes" bash -c \
	"$pmcstat -R $tmp/twins -G - | sed 's|$tmp|T|' | grep %"
ok "and in the call tree" same 2 bash -c \
	"$pmcstat -R $tmp/twins -F - | grep -c '^ob=.*shapes'"

done_testing
