#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Samples that are written one by one: as many as wait for each other, and more,
# with all that may come in between.
. "$(dirname "$0")/lib.sh"

${CC:-cc} -O1 -fPIE -pie -o "$tmp/main" "$HERE/programs/shapes.c"
kallsyms reference do_read do_write - - end
main=$(($(symbol "$tmp/main" main) + 2))
leaf=$(($(symbol "$tmp/main" leaf)))	# which no call returns to

# mapped BASE: what process 7 has from now on
mapped()
{
	echo "exec 7 $tmp/main"
	echo "proc 7 prog"
	load 7 "$1" "$tmp/main"
	echo "map 7 0xc0100000 0x1000 0 /x/lib"
}

# many OF PID PC...: their chain is that often as long
many()
{
	local of=$1 pid=$2 chain i
	shift 2
	for ((i = 0; i < of; i++)); do
		chain+=" $*"
	done
	echo "sample 1 $pid $chain"
}

chains()
{
	local a=0x555500000000 b=0x555500010000 i base=$1
	mapped $((base))
	for ((i = 0; i < 45; i++)); do
		echo "sample 1 7 $((a + leaf)) $((a + main))"
		echo "sample 1 8 0x10010 0x10020"
		echo "sample 1 7 $2+0x1010 $((b + leaf)) $((b + main))"
		many $((i * 3 + 1)) 7 $2+0x2010 $((a + main)) $((b + leaf))
		echo "sample 1 7"
	done
}

# the kernel's addresses of another machine may be a process' as well
low()
{
	echo "module 0xc0100000 0x1000 mymod"
	echo "sample 3 7 0xc0100010"
	echo "proc 9 other"		# what waited is known from here on
	echo "sample 3 7 $1+0x1010 0xc0100011 0xc0100011"
	echo "sample 3 7 0xc0100010 0xc0100011"
}

{
	echo "kernel $k reference"
	echo "event cpu-clock 1000"
	echo "proc 8 two"
	echo "map 8 0x10000 0x1000 0 /x/lib"
	chains 0x555500000000 $k
	low $k
	chains 0x555500010000 $k
	many 300 7 $k+0x1010 $((0x555500010000 + main))
	chains 0x555500000000 $k
} >"$tmp/script"
log many <"$tmp/script"
{
	cat "$tmp/script"
	echo "tid 77"
	echo "since"
	chains 0x555500010000 $k
	echo "late 4 77 7 $k+0x2010 $((0x555500010000 + leaf))"
	echo "sample 5 7 $((0x555500010000 + leaf))"
	echo "userchain 77 7 $((0x555500010000 + leaf)) $((0x555500010000 + main))"
	echo "late 2 77 7 $k+0x1010 $((0x555500010000 + leaf))"
	chains 0x555500000000 $k
} | log late

to()	# FORMAT LOG: makes $tmp/x.FORMAT
{
	"$pmclog" export --to "$1" -k "$tmp/kallsyms" -o "$tmp/x.$1" "$tmp/$2"
}

# speedscope's are written at the end, from chains
agrees()	# FORMAT LOG
{
	to speedscope "$2" && to "$1" "$2" &&
		python3 "$HERE/python/exported.py" speedscope "$tmp/x.speedscope" \
			>"$tmp/want" && [ "$(wc -l <"$tmp/want")" -gt 90 ] &&
		python3 "$HERE/python/exported.py" "$1" "$tmp/x.$1" | diff "$tmp/want" -
}

# all of them, as they are in the log
in_order()
{
	to jsonl many &&
		diff <("$pmclog" dump -j "$tmp/many" |
		       jq -r 'select(.record == "callchain") | .pid') \
		     <(jq -r .pid "$tmp/x.jsonl")
}

for format in perf-script csv jsonl clickhouse; do
	ok "$format" agrees $format many
	ok "$format, of some the user's chain comes later" agrees $format late
done
ok "in the order of the log" in_order
ok "a chain longer than those that wait" bash -c "jq '.stack | length' \
	'$tmp/x.jsonl' | grep -qx 600"
ok "the kernel's below the user's" same '["do_read","[mymod]","[mymod]"]' \
	bash -c "jq -c .stack '$tmp/x.jsonl' | grep mymod | sort -u"

done_testing
