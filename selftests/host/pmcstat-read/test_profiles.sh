#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F and -g, read by callgrind_annotate and by gprof.
. "$(dirname "$0")/lib.sh"
make_log

"$pmcstat" -R "$tmp/log" -F "$tmp/tree"
annotate()	# [OPTION]...: costs, file:function
{
	callgrind_annotate --auto=no --threshold=100 "$@" "$tmp/tree" \
		>"$tmp/annotated" || return
	sed -n '/file:function/,$p' "$tmp/annotated" |
		awk '/\[/{ gsub(/\([^)]*\)/, "")
			if ($1 + $2) print $1, $2, $3 }' | sed 's|[^ ]*/||'
}
if command -v callgrind_annotate >/dev/null; then
	ok "what each function has" same "\
60 0 shapes.c:leaf
20 0 ???:inner
3 0 shapes.c:calls
2 0 ???:[unknown]
0 5 shapes.c:after" annotate
	ok "and what is below it" same "\
83 5 shapes.c:main
63 0 shapes.c:calls
60 0 shapes.c:leaf
20 0 ???:inner
20 0 ???:outer
2 0 ???:[unknown]
0 5 shapes.c:after" annotate --inclusive=yes
	ok "the sum is that of the samples" prints 0 \
		"^85 (100.0%)  *5 (100.0%)  PROGRAM TOTALS" cat "$tmp/annotated"
	ok "costs of source lines" bash -c \
		"callgrind_annotate --auto=yes $tmp/tree |
		 grep -q '^60 (70.59%) .*nop; nop'"
else
	skip "callgrind_annotate" "not installed"
fi
ok "the format says what it is" same "# callgrind format" head -n 1 "$tmp/tree"

# recursion costs no more than there is
log deep <<-EOF
	kernel 0xffffffff81000000 reference
	event cpu-clock 1000
	sample 10 7 0xffffffff81003010 0xffffffff81003010 0xffffffff81003010 0xffffffff81001010
	sample 5 7 0xffffffff81003010 0xffffffff81002010 0xffffffff81003010 0xffffffff81001010
EOF
inclusive()	# FUNCTION: its own samples and those of its calls
{
	"$pmcstat" -R "$tmp/deep" -F - | awk -v want="$1" '
		/^fn=/ { id = $1; sub(/fn=/, "", id)
			if (NF > 1) name[id] = $2; now = name[id] }
		/^cfn=/ { id = $1; sub(/cfn=/, "", id)
			if (NF > 1) name[id] = $2 }
		/^0x/ && now == want { sum += $3 } END { print sum + 0 }'
}
ok "a caller of recursion has its samples once" same 15 inclusive outer
ok "one that calls itself, too" same 20 inclusive inner
ok "in between" same 5 inclusive middle

# A number of a function is that of its image and file in kcachegrind: what it names
# later must be there, too.
numbers()	# FILE
{
	awk -F= '/^c?(ob|fl|fi|fn)=/ {
		split($2, w, " "); now[$1] = w[1] }
		/^c?fn=/ { c = substr($1, 1, 1) == "c" ? "c" : ""
			place = now[c "ob"] now[c ? "cfi" : "fl"]
			if (!(w[1] in is)) is[w[1]] = place
			if (is[w[1]] != place) print "moves:", $0 }' "$1"
}
mkdir "$tmp/b"
sed "s|^|/* */ |" "$HERE/../reader/programs/shapes.c" >"$tmp/b/other.c"
${CC:-cc} -O1 -g -fPIE -pie -fno-toplevel-reorder -o "$tmp/b/other" "$tmp/b/other.c"
{
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	load 7 "$base" "$shapes"
	load 7 $((base + 0x100000)) "$tmp/b/other"
	echo "sample 5 7 $(at leaf 5) $(at main 30)"
	echo "sample 3 7 $(at leaf 0x100005) $(at main 0x100030)"
} | log namesakes
"$pmcstat" -R "$tmp/namesakes" -F "$tmp/tree"
ok "functions of one name have numbers of their own" test -z "$(numbers "$tmp/tree")"
ok "which are two" same 2 grep -c '^c*fn=.* leaf$' "$tmp/tree"
"$pmclog" export --to callgrind -o "$tmp/tree" "$tmp/namesakes" 2>"$tmp/.err"
ok "as pmclog export has it" test -z "$(numbers "$tmp/tree")"

"$pmcstat" -R "$tmp/log" -F "$tmp/tree" -A
ok "-A: addresses instead of functions" bash -c \
	"grep -q '^fn=.* $(printf '%#x' $(($(symbol "$shapes" leaf) + 5)))\$' $tmp/tree &&
	 ! grep -E 'fn=.*(leaf|main)' $tmp/tree"

mkdir "$tmp/gprof"
# what is there may be another user's link
mkdir -p "$tmp/gprof/cpu-clock"
echo mine >"$tmp/victim"
ln -s "$tmp/victim" "$tmp/gprof/cpu-clock/shapes.gmon"
"$pmcstat" -R "$tmp/log" -g -D "$tmp/gprof" -M "$tmp/map"
ok "a link is replaced, not followed" bash -c "[ ! -L $tmp/gprof/cpu-clock/shapes.gmon ] &&
	[ \"\$(cat $tmp/victim)\" = mine ]"
ok "the samples in none are counted" prints 0 \
	"2 samples are in no file that gprof could read" \
	"$pmcstat" -R "$tmp/log" -g -D "$tmp/gprof"
ok "-M: which profile is whose" same "\
\"$shapes\" => \"shapes.gmon\" cpu-clock/63
\"[kernel]\" => \"kernel.gmon\" cpu-clock/20
\"$shapes\" => \"shapes.gmon\" page-faults/5" cat "$tmp/map"
flat()	# FILE
{
	gprof -b -p "$shapes" "$1" | awk '$1 ~ /^[0-9.]+$/{ print $1, $3, $NF }'
}
ok "gprof: the flat profile" same "\
95.24 60.00 leaf
4.76 3.00 calls" flat "$tmp/gprof/cpu-clock/shapes.gmon"
ok "gprof: of the other event" same "100.00 5.00 after" \
	flat "$tmp/gprof/page-faults/shapes.gmon"
ok "gprof: who called" bash -c \
	"gprof -b -q $shapes $tmp/gprof/cpu-clock/shapes.gmon |
	 grep -q '3.00  *60.00  *63/63  *main'"
ok "-z 1: nobody is known to have called" bash -c "
	$pmcstat -R $tmp/log -g -D $tmp/gprof -z 1 &&
	! gprof -b -q $shapes $tmp/gprof/cpu-clock/shapes.gmon | grep -q main"

# the directory of an event, too: it may have been unpacked with the recording
linked_event()
{
	rm -rf "$tmp/linked" "$tmp/elsewhere" && mkdir "$tmp/linked" "$tmp/elsewhere" &&
	ln -s ../elsewhere "$tmp/linked/cpu-clock" &&
	prints 73 'cpu-clock: it is a link' "$pmcstat" -R "$tmp/log" -g -D "$tmp/linked" &&
	[ -z "$(ls "$tmp/elsewhere")" ]
}
ok "a link in place of an event's directory is refused" linked_event

# A file of 200 bytes that says it has 4 GB of code
huge_code()
{
	{
		printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0'
		printf '\0\20\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
		printf '\0\0\0\0\100\0\70\0\1\0\100\0\0\0\0\0'
		printf '\1\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
		printf '\0\0\0\0\0\0\0\0\0\360\377\377\0\0\0\0\0\360\377\377\0\0\0\0'
		printf '\0\20\0\0\0\0\0\0'
	} >"$tmp/huge"
	{
		echo "event cpu-clock 1000"
		echo "proc 7 p"
		echo "map 7 0x10000000 0x100000 0 $tmp/huge"
		echo "sample 3 7 0x10001010"
	} | log hugelog
	mkdir -p "$tmp/hugegprof" &&
	(ulimit -f 600000; exec "$pmcstat" -R "$tmp/hugelog" -g -D "$tmp/hugegprof") &&
	[ "$(stat -c %s "$tmp/hugegprof/cpu-clock/huge.gmon")" -gt 500000000 ] &&
	[ "$(du -k "$tmp/hugegprof/cpu-clock/huge.gmon" | cut -f 1)" -lt 1000 ]
}
ok "code that is not there takes no space" huge_code

# what does not fit into 16 bits
{
	preamble
	echo "sample 150000 7 $(at leaf 5)"
	echo "sample 50000 7 $(at calls 3)"
} | log much
ok "too many samples are said" prints 0 \
	"1 place has more samples than 16 bits hold: use -e" \
	"$pmcstat" -R "$tmp/much" -g -D "$tmp/gprof"
ok "and cut" same "\
56.72 65535.00 leaf
43.28 50000.00 calls" flat "$tmp/gprof/cpu-clock/shapes.gmon"
ok "-e: all of them" bash -c "$pmcstat -R $tmp/much -g -e -D $tmp/gprof 2>&1 |
	cmp - /dev/null"
ok "-e: gprof has them" same "\
75.00 150000.00 leaf
25.00 50000.00 calls" flat "$tmp/gprof/cpu-clock/shapes.gmon"

# two files of one name; an event that would like to be a directory above
cp "$shapes" "$tmp/b/shapes"
{
	echo "event ../x/y 1000"
	echo "proc 7 prog"
	load 7 "$base" "$shapes"
	echo "sample 1 7 $(at leaf 5)"
	echo "proc 8 prog"
	load 8 "$base" "$tmp/b/shapes"
	echo "sample 1 8 $(at leaf 5)"
} | log twins
"$pmcstat" -R "$tmp/twins" -g -D "$tmp/gprof"
ok "files of one name have profiles of their own" \
	test -s "$tmp/gprof/_._x_y/shapes.gmon" -a \
	-s "$tmp/gprof/_._x_y/shapes~001.gmon"

# events of one directory: one with two periods, and names that differ in a slash
{
	echo "event cpu-clock 1000 1"
	echo "event cpu-clock 2000 2"
	echo "event a/b 1 3"
	echo "event a_b 1 4"
	echo "event odd\\x1b[31m 1 5"
	echo "proc 7 prog"
	load 7 "$base" "$shapes"
	for i in 1 2 3 4 5; do
		echo "pmc $i"
		echo "sample $i 7 $(at leaf 5)"
	done
} | log shared
mkdir "$tmp/shared.d"
"$pmcstat" -R "$tmp/shared" -g -D "$tmp/shared.d" -M "$tmp/map"
ok "events of one name have profiles of their own" same "\
100.00 1.00 leaf
100.00 2.00 leaf" bash -c "$(declare -f flat); shapes=$shapes
	flat $tmp/shared.d/cpu-clock/shapes.gmon
	flat $tmp/shared.d/cpu-clock/shapes~001.gmon"
ok "those of one directory, too" same "\
100.00 3.00 leaf
100.00 4.00 leaf" bash -c "$(declare -f flat); shapes=$shapes
	flat $tmp/shared.d/a_b/shapes.gmon
	flat $tmp/shared.d/a_b/shapes~001.gmon"
ok "-M: an event's name has nothing for a terminal" grep -qF \
	'"shapes.gmon" odd\x1b[31m/5' "$tmp/map"

# what a second is: gprof knows whole numbers of samples a second
seconds()	# PERIOD: what gprof says of one sample
{
	{
		echo "event cpu-clock $1"
		echo nanoseconds
		echo "proc 7 prog"
		load 7 "$base" "$shapes"
		echo "sample 1 7 $(at leaf 5)"
	} | log clock
	"$pmcstat" -R "$tmp/clock" -g -D "$tmp/gprof" || return
	gprof -b -p "$shapes" "$tmp/gprof/cpu-clock/shapes.gmon" |
		sed -n 's/^Each sample counts as //p'
}
ok "a clock has seconds" same "0.001 seconds." seconds 1000000
ok "to the nearest" same "0.333333 seconds." seconds 333000000
ok "samples, where they would be wrong" same "1 samples." seconds 700000000

ok "no place for profiles: 73" prints 73 "-D .*none/x: No such file" \
	"$pmcstat" -R "$tmp/log" -g -D "$tmp/none/x"

done_testing
