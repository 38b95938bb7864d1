# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests of pmcstat -R: sourced.  What is in the logs is known: $tmp/log
# has samples of a program (shapes.c of ../reader) and of a kernel.

. "$(dirname "$0")/../reader/lib.sh"
pmcstat=$BIN/pmcstat
shapes=$tmp/shapes
base=$((0x555500000000))

# at SYMBOL OFFSET: its address in the program as it runs
at()
{
	printf '%#x' $((base + $(symbol "$shapes" "$1") + $2))
}

make_shapes()
{
	${CC:-cc} -O1 -g -fPIE -pie -fno-toplevel-reorder -o "$shapes" \
		"$HERE/../reader/programs/shapes.c"
}

preamble()
{
	cat <<-EOF
		host 9.9.9-test elsewhere
		kernel 0xffffffff81000000 reference
		event cpu-clock 1000000
		event page-faults 1 0xFFF00F01
		pmc 0xFFF00F00
		proc 7 prog
	EOF
	load 7 "$base" "$shapes"
}

make_log()
{
	make_shapes
	kallsyms reference outer middle inner end
	{
		preamble
		echo "sample 60 7 $(at leaf 5) $(at calls 9) $(at main 30)"
		echo "sample 3 7 $(at calls 3) $(at main 30)"
		echo "sample 20 7 0xffffffff81003010 0xffffffff81001010 $(at main 35)"
		echo "sample 2 7 0x1234"
		echo "pmc 0xFFF00F01"
		echo "sample 5 7 $(at after 2) $(at main 40)"
	} | log log
}
