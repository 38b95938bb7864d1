#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs in every layout that linkers make, run by this kernel: a probe prints
# where its functions are, and /proc/PID/maps where its file is.  Each log is
# read with the extents of its mappings, and without them, as FreeBSD's are.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/probe.c" <<-'EOF'
	#include <stdio.h>
	#include <string.h>
	__attribute__((noinline)) int first(int i) { return i * 3; }
	__attribute__((noinline, section(".other_text"))) int far_away(int i) { return i * 5; }
	__attribute__((noinline)) static int hidden(int i) { return i * 7; }
	int pad = 1;
	int main(void)
	{
		char line[4096];
		FILE *f = fopen("/proc/self/maps", "r");

		printf("%lx first\n%lx far_away\n%lx hidden\n%lx main\n",
		       (long)first, (long)far_away, (long)hidden, (long)main);
		while (fgets(line, sizeof(line), f))
			if (strstr(line, PROBE) && strstr(line, "r-x"))
				printf("map %s", line);
		return first(0) + far_away(0) + hidden(0);
	}
EOF
cc=${CC:-cc}

# layout NAME FLAGS...: builds and runs one
layout()
{
	local name=$1
	shift
	"$cc" -O1 -g -DPROBE="\"$tmp/$name\"" -o "$tmp/$name" "$tmp/probe.c" \
		"$@" 2>"$tmp/.build" || return 2
	"$tmp/$name" >"$tmp/$name.out"
}

# what is sampled: two places in each function; and what that should be
samples()
{
	awk '/^map/ { next } { print "sample 1 7 0x" $1
		print "sample 1 7 0x" $1 "+2" }' "$tmp/$1.out"
}
want="p;far_away 2
p;first 2
p;hidden 2
p;main 2"

exact()
{
	{
		while read -r _ range _ off _ _ path; do
			start=0x${range%-*} end=0x${range#*-}
			echo "map 7 $start $((end - start)) 0x$off $path"
		done < <(grep ^map "$tmp/$1.out")
		samples "$1"
	} | prog_log "$1.log" p
	folds "$1.log" "$want"
}

# one MAP_IN for neighbours, as FreeBSD has it
guessed()
{
	{
		last=
		while read -r _ range _ _ _ _ path; do
			[ "${range%-*}" = "$last" ] ||
				echo "mapin 7 0x${range%-*} $path"
			last=${range#*-}
		done < <(grep ^map "$tmp/$1.out")
		samples "$1"
	} | prog_log "$1.log" p
	folds "$1.log" "$want"
}

# the exec alone: where the program is, and its loader
by_exec()
{
	local start vaddr bias
	read -r _ start _ < <(grep ^map "$tmp/$1.out")
	start=$((0x${start%-*}))
	vaddr=$(readelf -lW "$tmp/$1" | awk '$1 == "LOAD" && / E /{
		print $3; exit }')
	bias=$((start - (vaddr & ~4095)))
	{
		echo "exec 7 $tmp/$1 $2 $bias"
		samples "$1"
	} | prog_log "$1.log" p
	folds "$1.log" "$want"
}

other='-Wl,--section-start=.other_text=0x10000000'
while read -r name flags; do
	# shellcheck disable=SC2086
	layout "$name" $flags
	status=$?
	if [ $status = 2 ]; then
		skip "$name" "$(head -1 "$tmp/.build")"
		continue
	fi
	n=$(grep -c ^map "$tmp/$name.out")
	ok "$name: with extents ($n executable)" exact "$name"
	ok "$name: without" guessed "$name"
	ok "$name: by its exec" by_exec "$name" 0x7f0000000000
done <<-EOF
	pie -fPIE -pie
	fixed -fno-pie -no-pie
	separate -fPIE -pie -Wl,-z,separate-code
	together -fPIE -pie -Wl,-z,noseparate-code
	huge -fPIE -pie -Wl,-z,max-page-size=0x200000
	large -fPIE -pie -Wl,-z,max-page-size=0x10000,-z,common-page-size=0x10000
	high -fno-pie -no-pie -Wl,-Ttext-segment=0x7654000
	static -static -fno-pie -no-pie
	staticpie -static-pie -fPIE
	two -fno-pie -no-pie $other
	twopie -fPIE -pie $other
	lld -fuse-ld=lld -fPIE -pie
	lldfixed -fuse-ld=lld -fno-pie -no-pie
	lldrosegment -fuse-ld=lld -fPIE -pie -Wl,--no-rosegment
	lldpages -fuse-ld=lld -fPIE -pie -Wl,-z,max-page-size=0x10000
	lldseparate -fuse-ld=lld -fPIE -pie -Wl,-z,separate-loadable-segments
	lldtwo -fuse-ld=lld -fno-pie -no-pie $other
EOF

# the loader: older logs tell where it begins to run, newer ones where it is
interp=$(readelf -lW "$tmp/pie" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
entry=$(readelf -hW "$interp" | awk '/Entry point/{ print $4 }')
read -r func at < <(nm -D "$interp" | awk '$2 == "T" { print $3, "0x" $1; exit }')
func=${func%%@*}
loader()
{
	prog_log loader.log p <<-EOF
		exec 7 $tmp/pie $1 0x555555554000
		sample 1 7 0x7f0000000000+$at
	EOF
	# Debian's has its symbols elsewhere; any name that has that address
	"$pmclog" fold "$tmp/loader.log" >"$tmp/.text"
	cat "$tmp/.text"
	grep -q "^p;$func 1$" "$tmp/.text"
}
ok "the loader, by its base" loader 0x7f0000000000
ok "by its entry" loader "0x7f0000000000+$entry"

prog_log ours.log p <<-EOF
	host $(uname -r) elsewhere
	exec 7 $tmp/fixed 0 0
	$(samples fixed)
EOF
ok "a log that tells its mappings is not guessed at" folds ours.log \
	"p;[unknown] 8"

# a library that takes the place of another
text() { readelf -lW "$1" | awk '$1 == "LOAD" && / E /{ print $3; exit }'; }
placed()	# FILE: where it is to be for its code to begin at 0x7f0000001000
{
	echo "0x7f0000001000+$(($(symbol "$1" first) - ($(text "$1") & ~4095)))"
}
prog_log dl.log p <<-EOF
	mapin 7 0x7f0000001000 $tmp/pie
	sample 1 7 $(placed "$tmp/pie")
	unmap 7 0x7f0000000000 0x7f0000100000
	sample 2 7 $(placed "$tmp/pie")
	mapin 7 0x7f0000001000 $tmp/lld
	sample 4 7 $(placed "$tmp/lld")
EOF
ok "dlclose, and another library in its place" folds dl.log "\
p;[unknown] 2
p;first 5"

# 32-bit programs
cat >"$tmp/small.s" <<-EOF
	.globl _start, small
	.type _start, @function
	_start: nop
	.size _start, 1
	.type small, @function
	small: nop; nop; nop; nop
	.size small, 4
EOF
if as --32 -o "$tmp/small.o" "$tmp/small.s" 2>/dev/null &&
	ld -m elf_i386 -o "$tmp/small" "$tmp/small.o" 2>/dev/null; then
	prog_log small.log p <<-EOF
		exec 7 $tmp/small
		sample 1 7 $(symbol "$tmp/small" small)+2
		map 7 0xf7f00000 0x1000 0 [vdso]
		sample 2 7 0xf7f00100
	EOF
	ok "a 32-bit program" folds small.log "\
p;[vdso] 2
p;small 1"
else
	skip "a 32-bit program" "no assembler for it"
fi

done_testing
