#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Instructions with their samples, with objdump as the judge.
. "$(dirname "$0")/lib.sh"

# a program that samples itself
hot=$tmp/hot
${CC:-cc} -g -O1 -no-pie -fno-pie -o "$hot" "$HERE/programs/hotloop.c"
"$hot" >"$tmp/pcs"
{
	load 7 0 "$hot"
	sed 's/.*/sample 1 7 &/' "$tmp/pcs"
} | prog_log l hot
"$pmclog" annotate --bytes hot "$tmp/l" >"$tmp/hot.txt"

# rows <TEXT: address, bytes and samples of each instruction
rows()
{
	sed -n 's/^ *\([0-9.]* *[0-9]*\) *| *\([0-9a-f]*\):  \([0-9a-f]*\) .*/\2 \3 \1/p' |
	awk '{ print $1, $2, $4 + 0 }'
}

# objdumped FILE FUNCTION: address and bytes of each instruction
objdumped()
{
	${OBJDUMP:-objdump} -d --insn-width=16 --disassemble="$2" "$1" |
	awk -F '\t' '$1 ~ /^ *[0-9a-f]+:$/{
		gsub("[: ]", "", $1)
		gsub(" ", "", $2)
		print $1, $2
	}'
}

like_objdump()
{
	objdumped "$1" "$2" >"$tmp/want"
	rows | cut -d' ' -f1,2 >"$tmp/got"
	[ -s "$tmp/want" ] && diff "$tmp/want" "$tmp/got"
}
ok "addresses and bytes are those of objdump" \
	like_objdump "$hot" hot <"$tmp/hot.txt"

# samples in the function, by its symbol
inside()
{
	nm -S "$hot" | awk -v f="$1" '$4 == f { print "0x" $1, "0x" $2 }' |
	while read -r start size; do
		while read -r pc; do
			((pc >= start && pc < start + size)) && echo "$pc"
		done <"$tmp/pcs" | wc -l
	done
}
ok "the samples add up" test "$(inside hot)" = \
	"$(rows <"$tmp/hot.txt" | awk '{ n += $3 } END { print n }')"
ok "they are those of the function" prints 0 \
	"cpu-clock: $(inside hot) samples" cat "$tmp/hot.txt"

# without symbols, by where it begins
mkdir "$tmp/stripped"
strip -o "$tmp/stripped/hot" "$hot"
{
	load 7 0 "$tmp/stripped/hot"
	sed 's/.*/sample 1 7 &/' "$tmp/pcs"
} | prog_log stripped.log hot
begins=$(printf 'hot+%#x' "0x$(nm "$hot" | awk '$3 == "hot" { print $1 }')")
ok "of a stripped file" eval '"$pmclog" annotate --bytes "$begins" "$tmp/stripped.log" | like_objdump "$hot" hot'
ok "the hottest of it" prints 0 "^$begins in hot" "$pmclog" annotate -a -n 1 "$tmp/stripped.log"

# each at its own instruction
each()
{
	sort "$tmp/pcs" | uniq -c |
		awk '{ sub("0x", "", $2); print $2, $1 }' | sort >"$tmp/all"
	rows <"$tmp/hot.txt" | awk '$3 { print $1, $3 }' | sort >"$tmp/got"
	[ "$(wc -l <"$tmp/got")" -gt 1 ] || return
	join "$tmp/all" "$tmp/got" >"$tmp/both"
	cut -d' ' -f1,3 "$tmp/both" | diff - "$tmp/got" &&
	awk '$2 != $3 { exit 1 }' "$tmp/both"
}
ok "each is at the instruction it was taken at" each

hottest()
{
	awk '/\| hotloop.c:/{ line = $0 }
	     /\| *[0-9a-f]*:  /{ if ($2 > most && $1 ~ /^[0-9.]+$/) {
			most = $2; where = line } }
	     END { print where }' "$tmp/hot.txt"
}
hottest_in_loop()
{
	case "$(hottest)" in
	*"in the loop"*|*"for (i = 0"*) ;;
	*) hottest; return 1 ;;
	esac
}
ok "the hottest instruction is in the loop" hottest_in_loop
ok "source lines stand between" prints 0 \
	'| hotloop.c:[0-9]* *sink = 0; *\/\* before the loop \*\/$' \
	cat "$tmp/hot.txt"
ok "--no-source" test "$("$pmclog" annotate --no-source hot "$tmp/l" |
	grep -c hotloop.c:)" = 0

# of frames, which it does not show
no_frames()
{
	prints 2 "annotate: --inline is of views" "$pmclog" annotate --inline hot "$tmp/l" &&
		prints 2 "annotate: --by-line is of views" "$pmclog" annotate --by-line \
			-a "$tmp/l" && ! "$pmclog" annotate --help | grep -E -- '--(inline|by-line)'
}
ok "options that would do nothing are refused" no_frames

# terminals
coloured()
{
	TERM=${2:-xterm} script -qec "$1" /dev/null </dev/null >"$tmp/tty"
	grep -q "$(printf '\033\\[1;31m')" "$tmp/tty"
}
if script --version >"$tmp/.version" 2>&1; then
	ok "hot rows are coloured on a terminal" coloured \
		"env ASAN_OPTIONS=detect_leaks=0 $pmclog annotate hot $tmp/l"
	plain() { ! coloured "env ASAN_OPTIONS=detect_leaks=0 $*" && grep -q hotloop "$tmp/tty"; }
	ok "not if NO_COLOR says so" plain NO_COLOR=1 "$pmclog annotate hot $tmp/l"
	ok "an empty NO_COLOR does not" coloured \
		"env ASAN_OPTIONS=detect_leaks=0 NO_COLOR= $pmclog annotate hot $tmp/l"
	dumb() { ! coloured "env ASAN_OPTIONS=detect_leaks=0 $pmclog annotate hot $tmp/l" dumb; }
	ok "nor on a terminal without colours" dumb
else
	skip "hot rows are coloured on a terminal" "no script(1)"
fi
ok "and nowhere else" test "$(grep -c "$(printf '\033')" "$tmp/hot.txt")" = 0

# calls by name, and several functions
prog=$tmp/prog
${CC:-cc} -g -O1 -fPIE -pie -o "$prog" "$HERE/programs/shapes.c"
base=$((0x555500000000))
log two <<-EOF
	event cpu-clock 1000 1
	event cycles 5000 2
	proc 7 prog
	$(load 7 $base "$prog")
	pmc 1
	sample 5 7 $base+$(symbol "$prog" main)
	sample 3 7 $base+$(symbol "$prog" calls)
	sample 1 7 $base+$(symbol "$prog" stops)
	pmc 2
	sample 4 7 $base+$(symbol "$prog" calls)
EOF
ok "calls have names" prints 0 'call.* leaf$' \
	"$pmclog" annotate calls "$tmp/two"
ok "so have those of libraries" prints 0 'call.* abort@plt$' \
	"$pmclog" annotate --no-source main stops "$tmp/two"
ok "a column for each event" prints 0 \
	'^ 100.00         3  100.00         4 |' \
	"$pmclog" annotate calls "$tmp/two"
ok "--event: only that one" prints 0 '^ 100.00         4 |' \
	"$pmclog" annotate -e cycles calls "$tmp/two"
order()
{
	[ "$("$pmclog" annotate "$@" "$tmp/two" | sed -n 's/ in prog$//p' |
	     xargs)" = "$want" ]
}
want="calls main stops"
ok "-a: the hottest first" order -a
want=calls
ok "-a -n 1: only that" order -a -n 1
"${CXX:-c++}" -O1 -g -fPIE -pie -o "$tmp/cxx" "$HERE/programs/shapes.cc"
prog_log boxes <<-EOF
	$(load 7 $base "$tmp/cxx")
	sample 5 7 $base+$(symbol "$tmp/cxx" _ZN5shape3BoxIdE4areaEdi)
EOF
for name in _ZN5shape3BoxIdE4areaEdi 'shape::Box<double>::area' \
	'shape::Box<double>::area(double, int)'; do
	ok "named $name" prints 0 \
		'^shape::Box<double>::area(double, int) in cxx$' \
		"$pmclog" annotate "$name" "$tmp/boxes"
done

# other machines: what code was sampled matters, not where it could run
# other NAME COMPILER OBJDUMP
other()
{
	if ! ${2%% *} --version >"$tmp/.version" 2>&1; then
		skip "$1" "no ${2%% *}"
		return
	fi
	$2 -g -O1 -ffreestanding -nostdlib -static -no-pie -fno-pie \
		-fno-stack-protector -Wl,-e,main -o "$tmp/other" \
		"$HERE/programs/kernelish.c"
	prog_log other.log <<-EOF
		$(load 7 0 "$tmp/other")
		sample 5 7 $(symbol "$tmp/other" main)
	EOF
	"$pmclog" annotate --bytes main "$tmp/other.log" >"$tmp/other.txt"
	OBJDUMP=$3 ok "$1" like_objdump "$tmp/other" main <"$tmp/other.txt"
	ok "... calls by name" prints 0 ' sys_work$' cat "$tmp/other.txt"
}

other "i386" "${CC:-cc} -m32" objdump
other "arm64" aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump

# instructions that are not known, and bytes that are none
cat >"$tmp/odd.s" <<-'EOF'
	.globl odd
	.type odd, @function
odd:	nop
	.byte 0xc4, 0xe2, 0x72, 0x5c, 0xc2	# tdpbf16ps
	.byte 0x06, 0x06, 0x06
	.fill 40, 1, 0xf0
	ret
	.size odd, . - odd
EOF
${CC:-cc} -nostdlib -static -Wl,-e,odd -o "$tmp/odd" "$tmp/odd.s" 2>/dev/null
prog_log o <<-EOF
	$(load 7 0 "$tmp/odd")
	sample 1 7 $(symbol "$tmp/odd" odd)
	sample 2 7 $(symbol "$tmp/odd" odd)+3
	sample 3 7 $(symbol "$tmp/odd" odd)+7
	sample 4 7 $(symbol "$tmp/odd" odd)+20
EOF
odd()
{
	timeout 20 "$pmclog" annotate --bytes odd "$tmp/o" >"$tmp/odd.txt" ||
		return
	cat "$tmp/odd.txt"
	grep -q '\.byte 0x06$' "$tmp/odd.txt" &&
	[ "$(rows <"$tmp/odd.txt" | awk '{ n += $3 } END { print n }')" = 10 ] &&
	[ "$(rows <"$tmp/odd.txt" | cut -d' ' -f2 | tr -d '\n')" = \
	  "90c4e2725cc2060606$(printf 'f0%.0s' {1..40})c3" ]
}
ok "bytes that are no instructions are passed over one by one" odd

# source files that are elsewhere, are none, or have escapes
${CC:-cc} -g -O1 -fPIE -pie "-ffile-prefix-map=$HERE/programs=/build/pkg-1/src" \
	-o "$prog" "$HERE/programs/shapes.c"
prog_log moved <<-EOF
	$(load 7 $base "$prog")
	sample 5 7 $base+$(symbol "$prog" calls)
EOF
ok "without the source there are line numbers" prints 0 \
	'| shapes.c:[0-9]*$' "$pmclog" annotate calls "$tmp/moved"
mkdir -p "$tmp/my/src"
cp "$HERE/programs/shapes.c" "$tmp/my/src"
ok "--source-root" prints 0 '| shapes.c:[0-9]* *return leaf(x)' \
	"$pmclog" annotate --source-root "$tmp/my" calls "$tmp/moved"
rm "$tmp/my/src/shapes.c"
mkfifo "$tmp/my/src/shapes.c"
ok "a FIFO for a source" prints 0 '| shapes.c:[0-9]*$' timeout 20 \
	"$pmclog" annotate --source-root "$tmp/my" calls "$tmp/moved"
rm "$tmp/my/src/shapes.c"
sed 's/return leaf/\x1b[2J&/' "$HERE/programs/shapes.c" >"$tmp/my/src/shapes.c"
escapes()
{
	"$pmclog" annotate --source-root "$tmp/my" calls "$tmp/moved" \
		>"$tmp/esc.txt" || return
	grep -q 'return leaf(x)' "$tmp/esc.txt" &&
	! grep -q "$(printf '\033')" "$tmp/esc.txt"
}
ok "a source with escapes" escapes

# the kernel, moved by 32 MB
kernel=$tmp/vmlinux
${CC:-cc} -g -O2 -static -nostdlib -ffreestanding -no-pie -fno-pic \
	-Wl,-Ttext=0xffffffff81000000 -mcmodel=kernel \
	-fno-stack-protector -Wl,-e,main -o "$kernel" "$HERE/programs/kernelish.c" \
	2>"$tmp/.cc"
slide=$((0x2000000))
at=$(($(symbol "$kernel" main)))
ref=$(($(symbol "$kernel" sys_work)))
prog_log k <<-EOF
	kernel $(printf '%#x' $((ref + slide))) sys_work
	sample 3 7 $(printf '%#x' $((at + slide)))
EOF
kernel_code()
{
	"$pmclog" annotate --bytes -k "$kernel" main "$tmp/k" >"$tmp/k.txt" &&
	grep -q ' sys_work$' "$tmp/k.txt" &&
	grep -q '^ 100.00 *3 |' "$tmp/k.txt" &&
	like_objdump "$kernel" main <"$tmp/k.txt"
}
ok "the kernel, by its vmlinux" kernel_code
objcopy --only-keep-debug "$kernel" "$tmp/nocode"
ok "a vmlinux without code" prints 0 '\[kernel\] has no code$' \
	"$pmclog" annotate -k "$tmp/nocode" main "$tmp/k"
nm "$kernel" | awk -v s=$slide '{ print }' | while read -r a t n; do
	printf '%x %s %s\n' $((0x$a + slide)) "$t" "$n"
done >"$tmp/kallsyms"
ok "a kallsyms" prints 0 'name a vmlinux with -k$' \
	"$pmclog" annotate -k "$tmp/kallsyms" main "$tmp/k"

ok "--help" prints 0 "^usage: pmclog annotate" "$pmclog" annotate --help
ok "no such function" prints 1 "no samples in nothing" \
	"$pmclog" annotate nothing "$tmp/l"
ok "one of several" prints 0 "^pmclog: $tmp/two: no samples in nothing$" \
	"$pmclog" annotate calls nothing main "$tmp/two"
only_that()
{
	"$pmclog" annotate calls nothing main "$tmp/two" 2>&1 >/dev/null |
		grep -c "no samples"
}
ok "the others are not named" same 1 only_that
ok "no function" prints 2 "name a function before the log" \
	"$pmclog" annotate "$tmp/l"
ok "-a and a function" prints 2 "either -a or names" \
	"$pmclog" annotate -a hot "$tmp/l"
ok "no log" prints 2 "name a log" "$pmclog" annotate
ok "--nonsense" prints 2 "try: pmclog annotate --help" \
	"$pmclog" annotate --nonsense
ok "-n none" prints 2 "a number is wanted" "$pmclog" annotate -n none -a x
done_testing
