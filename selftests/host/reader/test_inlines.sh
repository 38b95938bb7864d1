#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Source lines and inlined functions, with addr2line as the judge.
. "$(dirname "$0")/lib.sh"

# addresses FILE STRIDE: of what is inside of functions
addresses()
{
	nm -S "$1" | awk '$3 ~ /[tTwW]/ && NF == 4 { print "0x" $1, "0x" $2 }' |
	sort -u | while read -r start size; do
		for ((i = 0; i < size; i += $2)); do
			printf '%#x\n' $((start + i))
		done
	done
}

# One spelling for what is not known; clones of a function are named after it,
# and of two constructors at one address either is right.
plain()
{
	sed -E -e 's/ \(discriminator [0-9]*\)$//' -e 's/^0x0*/0x/' \
		-e 's/ at :?$/ at ??:?/' -e 's/:0$/:?/' \
		-e 's/([CD])[12]E/\1xE/g' \
		-e 's/^((0x[^ ]*| .inlined by.) [^ .]*)(\.(cold|part|constprop|isra|lto_priv|[0-9]+))+ at/\1 at/'
}

# judge FILE STRIDE: what addr2line says of every so many bytes
judge()
{
	addresses "$1" "$2" >"$tmp/.at"
	addr2line -apfi -e "$1" <"$tmp/.at" | plain >"$tmp/.want"
}

# The same by LLVM's, for DWARF that addr2line 2.40 gets wrong: the files of
# some rows of version 5, clang's ranges, and inlined C++ functions that no
# other file can call.
llvm=$(command -v llvm-symbolizer llvm-symbolizer-14 | head -1)
judge_llvm()
{
	addresses "$1" "$2" >"$tmp/.at"
	by_llvm_at "$1"
}

# by_llvm_at FILE: what it says of the addresses in .at
by_llvm_at()
{
	"$llvm" --no-demangle --functions=linkage -p -a --obj="$1" \
		<"$tmp/.at" | sed -E -e '/^$/d' -e 's/:[0-9]+$//' |
		plain >"$tmp/.want"
}

# agrees FILE LEVELS [OPTION]...: we say the same, with so many inlined levels
agrees()
{
	local file=$1 levels=$2
	shift 2
	timeout 60 "$pmclog" symbolize --no-demangle "$@" -e "$file" \
		<"$tmp/.at" >"$tmp/.raw" || return
	plain <"$tmp/.raw" >"$tmp/.got"
	diff "$tmp/.want" "$tmp/.got" | cut -c1-200 | head -6
	cmp -s "$tmp/.want" "$tmp/.got" &&
	[ "$(grep -c '^ (inlined by)' "$tmp/.got")" -gt "$levels" ]
}

cc="${CC:-cc} -g -O2"
cxx="${CXX:-c++} -g -O2"
for v in 2 3 4 5; do
	$cc -gdwarf-$v -o "$tmp/c" "$HERE/programs/inlines.c"
	judge "$tmp/c" 1
	ok "C, DWARF $v: every byte as addr2line has it" agrees "$tmp/c" 200
done
$cxx -gdwarf-4 -o "$tmp/cxx" "$HERE/programs/inlines.cc"
judge "$tmp/cxx" 3
ok "C++, DWARF 4" agrees "$tmp/cxx" 1000

# the same judgement of the file, however its DWARF is kept
objcopy --compress-debug-sections=zlib "$tmp/cxx" "$tmp/z"
ok "compressed sections" agrees "$tmp/z" 1000
objcopy --compress-debug-sections=zlib-gnu "$tmp/cxx" "$tmp/zgnu"
ok "compressed the old way" agrees "$tmp/zgnu" 1000
id=$(id_of "$tmp/cxx")
mkdir -p "$tmp/root/opt" "$tmp/root/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$tmp/cxx" \
	"$tmp/root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o "$tmp/root/opt/cxx" "$tmp/cxx"
ok "in a file of its own, below --root" \
	agrees /opt/cxx 1000 --root "$tmp/root"

# by_llvm NAME SOURCE LEVELS COMPILER...
by_llvm()
{
	local name=$1 source=$2 levels=$3
	shift 3
	if [ -z "$llvm" ] || ! "$1" --version >"$tmp/.version" 2>&1; then
		skip "$name" "no $1 or no llvm-symbolizer"
		return
	fi
	"$@" -g -O2 -o "$tmp/other" "$HERE/programs/$source"
	judge_llvm "$tmp/other" 3
	ok "$name" agrees "$tmp/other" "$levels"
}
by_llvm "C++, DWARF 5" inlines.cc 1000 "${CXX:-c++}" -gdwarf-5 -DLAMBDA
# clang writes no DW_AT_sibling
by_llvm "C by clang" inlines.c 200 clang -gdwarf-5
by_llvm "C++ by clang" inlines.cc 1000 clang++ -gdwarf-4 -DLAMBDA
by_llvm "with dropped code at address 0" inlines.cc 1000 clang++ -gdwarf-5 \
	-ffunction-sections -Wl,--gc-sections

# Outermost functions without their names: LLVM's takes any of the symbols that
# are at one address.
innermost()
{
	awk 'function put(last) {
		if (held && last)
			sub(/ [^ ]+ at /, " at ", held)
		if (held)
			print held
	     }
	     { put(/^0x/); held = $0 }
	     END { put(1) }' "$1"
}

python_agrees()
{
	agrees "$big" 500 >"$tmp/.names"
	innermost "$tmp/.want" >"$tmp/.want2"
	innermost "$tmp/.got" | diff "$tmp/.want2" - | cut -c1-200 | head -6
	innermost "$tmp/.got" | cmp -s "$tmp/.want2" - &&
	[ "$(grep -c '^ (inlined by)' "$tmp/.got")" -gt 500 ]
}

# a large one, if a benchmark has left it here
big=$(ls -S "${XDG_CACHE_HOME:-$HOME/.cache}/hwpmc/bench/python3.11-dbg/usr/lib/debug/.build-id/"*/*.debug \
	2>/dev/null | head -1)
if [ -n "$big" ] && [ -n "$llvm" ]; then
	nm -S "$big" | awk '$3 ~ /[tT]/ && NF == 4 { print "0x" $1, "0x" $2 }' |
	awk 'NR % 7 == 0' | while read -r start size; do
		printf '%#x\n' $((start + size / 2))
	done >"$tmp/.at"
	by_llvm_at "$big"
	ok "Python, by gcc with LTO" python_agrees
else
	skip "Python, by gcc with LTO" "not in the cache, or no llvm-symbolizer"
fi

# as a user sees it
$cc -gdwarf-5 -o "$tmp/c" "$HERE/programs/inlines.c"
at=$(symbol "$tmp/c" cold)
ok "a line of the source" prints 0 "cold at $HERE/programs/inlines.c:7[678]\$" \
	"$pmclog" symbolize -e "$tmp/c" "$at"
$cxx -o "$tmp/cxx" "$HERE/programs/inlines.cc"
at=$(nm "$tmp/cxx" | awk '/ T .*4shop5words/{ print $1; exit }')
ok "demangled" prints 0 ': shop::words.*(char const\*) at ' \
	"$pmclog" symbolize -e "$tmp/cxx" "$at"
ok "without what is inlined" test "$(
	"$pmclog" symbolize --no-inline -e "$tmp/cxx" <"$tmp/.at" |
	grep -c inlined)" = 0

ok "an address that is in no function" same "0x1: ?? at ??:?" \
	"$pmclog" symbolize -e "$tmp/c" 1
ok "not an address" prints 2 'symbolize: "main" is not an address' \
	"$pmclog" symbolize -e "$tmp/c" main
ok "no file" prints 2 "name a file with -e" "$pmclog" symbolize 1
unreadable() { "$pmclog" symbolize -e "$tmp/c" <"$tmp"; }
ok "addresses that cannot be read" prints 1 \
	"cannot read standard input: Is a directory" unreadable
ok "not a file" prints 1 "/nonexistent: no such file" \
	"$pmclog" symbolize -e /nonexistent 1
mkfifo "$tmp/fifo"
ok "a FIFO" prints 1 "not a regular file" \
	timeout 10 "$pmclog" symbolize -e "$tmp/fifo" 1

# 20,000 units that name one list of 100,000 ranges
cat >"$tmp/many.s" <<-'EOF'
	.section .debug_abbrev, "", @progbits
	.byte 1, 0x11, 0, 0x55, 0x17, 0, 0, 0
	.section .debug_info, "", @progbits
	.rept 20000
	.long 12
	.short 4
	.long 0
	.byte 8, 1
	.long 0
	.endr
	.section .debug_ranges, "", @progbits
	.set i, 1
	.rept 100000
	.quad i, i + 1
	.set i, i + 2
	.endr
	.quad 0, 0
	.text
	.globl f
f:	ret
EOF
${CC:-cc} -nostdlib -static -Wl,-e,f -o "$tmp/many" "$tmp/many.s"
many()
{
	(ulimit -t 60
	 "$pmclog" symbolize -e "$tmp/many" 1)
}
ok "units that share a huge list of ranges" prints 0 "^0x1: ??" many

# DWARF that was damaged: anything but a crash, a hang or lots of memory
survives()
{
	local seed got
	for ((seed = $2; seed < $2 + $3; seed++)); do
		python3 "$HERE/python/damage.py" "$1" "$tmp/damaged" "$seed" ||
			return
		got=0
		(ulimit -t 20
		 "$pmclog" symbolize -e "$tmp/damaged" <"$tmp/.at") \
			>/dev/null 2>"$tmp/.err" || got=$?
		[ "$got" = 0 ] && continue
		echo "seed $seed: exit status $got"
		cat "$tmp/.err"
		return 1
	done
}
$cc -gdwarf-5 -o "$tmp/c" "$HERE/programs/inlines.c"
addresses "$tmp/c" 1 >"$tmp/.at"
ok "damaged DWARF 5" survives "$tmp/c" 1 "${FUZZ:-15}"
$cc -gdwarf-4 -o "$tmp/c" "$HERE/programs/inlines.c"
ok "damaged DWARF 4" survives "$tmp/c" 1000 "${FUZZ:-15}"

# Names of which none ends in its section: lines are said, names by symbols only
unended()
{
	local line=' at [^ ]*inlines\.c:[0-9]*$'
	objcopy --dump-section .debug_str="$tmp/str" "$tmp/c" "$tmp/copy" &&
	tr '\0' x <"$tmp/str" >"$tmp/unended" &&
	objcopy --update-section .debug_str="$tmp/unended" "$tmp/c" "$tmp/copy" &&
	"$pmclog" symbolize -e "$tmp/copy" <"$tmp/.at" >"$tmp/.got" &&
	grep -q "^0x[^ ]*: main$line" "$tmp/.got" &&
	grep -q "^0x[^ ]*: ??$line" "$tmp/.got" &&
	! grep 'unsigned intx' "$tmp/.got"
}
ok "strings without an end" unended
done_testing
