#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# fuzz.sh BIN: every fuzzer for FUZZ_RUNS runs, or for FUZZ_SECONDS seconds
# each.  What it finds goes to FUZZ_FOUND, and belongs into corpus/ when it is
# mended.  TAP.
here=$(cd "$(dirname "$0")" && pwd)
BIN=$1
# shellcheck source=../host/lib/tap.sh source-path=SCRIPTDIR
. "$here/../host/lib/tap.sh"
export LC_ALL=C
unset DEBUGINFOD_URLS

found=${FUZZ_FOUND:-$tmp/found}
mkdir -p "$found" "$tmp/root/bin" "$tmp/nothing" "$tmp/gmon"
export FUZZ_DIR=$tmp

# What logs may speak of: a program with lines and inlined functions, a kernel
shapes=$tmp/root/bin/shapes
${CC:-cc} -O2 -g -gz=none -fPIE -pie -o "$shapes" "$here/../host/reader/programs/shapes.c"
cat >"$tmp/kallsyms" <<-EOF
	ffffffff81000000 T reference
	ffffffff81001000 T outer
	ffffffff81002000 t middle	[module]
	ffffffff81003000 T inner
	ffffffff81004000 T end
EOF
log()
{
	{
		echo "host 9.9.9-test elsewhere"
		echo "kernel 0xffffffff81000000 reference"
		cat
	} | "$BIN/script2log" "$tmp/$1"
}
log kernel.pmclog <<-EOF
	event cpu-clock 1000
	module 0xffffffffc0000000 0x1000 module
	sample 3 7 0xffffffff81003010 0xffffffff81001010
	sample 2 7 0xffffffffc0000010 0xffffffff81002010 0x1234
EOF
text=$(readelf -lW "$shapes" | awk '$1 == "LOAD" && / E /{ print $2, $5; exit }')
main=0x$(nm "$shapes" | awk '$3 == "main" { print $1 }')
log program.pmclog <<-EOF
	event cpu-clock 1000
	proc 7 prog
	map 7 $((0x10000 + ${text% *})) ${text#* } ${text% *} /bin/shapes
	map 7 0x90000 0x1000 0 /x/a\x1b]0;owned\x07</script>
	sample 3 7 $((0x10000 + main)) $((0x10000 + main + 8)) 0x90010
	late 2 7 7 0xffffffff81003010 $((0x10000 + main))
	userchain 7 7 $((0x10000 + main)) $((0x10000 + main + 16))
	fork 7 8
	exec 8 /bin/shapes
	unmap 7 0x90000 0x91000
	sample 2 8 $((0x10000 + main + 4))
	rate 0 60 55
	drop 2 3
	exit 8
EOF

# code that was made at run time, and something else at the same place later
log jit.pmclog <<-EOF
	event cpu-clock 1000
	clock 1000
	proc 7 jit
	map 7 0x7f0000000000 0x100000 0 //anon
	map 7 0x7e0000000000 0x1000 0 /jit-7.dump
	at 1000000
	sample 3 7 0x7f0000001004 0x7f0000002010
	at 2000000
	sample 2 7 0x7f0000001009 0x7f0000003000
EOF

python3 "$here/../host/reader/python/fields.py" >"$tmp/fields"
log fields.pmclog <"$tmp/fields"

# Of every FreeBSD, of machines of each kind
mkdir -p "$tmp/eras"
for log in {A,B,C}-{le,be}-{64,32,i386}; do
	"$BIN/mklog" "$log" "$tmp/eras/$log"
done

# Objects with call frame information of each kind
frames()
{
	local dir=$tmp/frames cc=${CC:-cc} code=$here/../host/reader/programs/shapes.c
	local asm=$here/cfi.s
	mkdir -p "$dir"
	$cc -O2 -shared -fPIC -nostdlib -o "$dir/small" "$code"
	$cc -O0 -fno-omit-frame-pointer -shared -fPIC -nostdlib -o "$dir/frame" "$code"
	$cc -O2 -g -gz=none -fno-asynchronous-unwind-tables -shared -fPIC \
		-nostdlib -o "$dir/debug" "$code"
	$cc -shared -nostdlib -o "$dir/asm" "$asm"
	aarch64-linux-gnu-gcc -O2 -shared -fPIC -nostdlib -o "$dir/arm64" \
		"$code" 2>/dev/null
	local how
	for how in zlib zstd; do
		objcopy --compress-debug-sections=$how "$dir/debug" \
			"$dir/$how" 2>/dev/null || rm -f "$dir/$how"
	done
	for how in 2 3; do
		$cc -DVERSION=$how -DLONG=400 -shared -nostdlib -Wl,--no-eh-frame-hdr \
			-o "$dir/both$how" "$here/../host/unwind/cases/sframe.S"
		objcopy --rename-section .sframe_later=.sframe "$dir/both$how"
		objcopy -R .eh_frame "$dir/both$how" "$dir/sframe$how"
		objcopy -O binary --only-section=.sframe "$dir/both$how" \
			"$dir/section$how"
	done 2>/dev/null
	objcopy --strip-section-headers "$dir/small" "$dir/bare" 2>/dev/null ||
		python3 - "$dir/small" "$dir/bare" <<-EOF
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	data[40:48] = bytes(8)	# e_shoff
	data[60:64] = bytes(4)	# e_shnum, e_shstrndx
	open(sys.argv[2], "wb").write(data)
	EOF
}

# Tables as the module takes them, and stacks to walk
tables()
{
	python3 - "$1" <<-EOF
	import random, struct, sys
	random.seed(1)
	STACK = 0x7ffd00000000
	def rule(cfa, ra=1, fp=0, lr=0, flags=0, cfao=16, add=0, rao=-8, fpo=-16):
	    return struct.pack("<8B5i", cfa, ra, fp, lr, flags, 0, 0, 0, cfao, add, rao, fpo, 0)
	rules = [rule(0, 0, cfao=0, rao=0, fpo=0), rule(1, cfao=8), rule(2, fp=1), rule(1, cfao=64, fp=1),
	         rule(3, cfao=24, add=8), rule(4, cfao=-8), rule(5, cfao=8, add=11),
	         rule(19, cfao=8), rule(1, 17, cfao=0), rule(1, 4), rule(1, 2, 2, 2, 1, 80, 0, 16, 24),
	         rule(1, 0, cfao=0), rule(2, 3, 3, rao=8, fpo=0)]
	for n in range(24):
	    rows = list(range(0x1000, 0x1000 + 16 * 32, 16))
	    kinds = [random.randrange(1, len(rules)) if n % 3 else random.choice((1, 2, 3)) for _ in rows]
	    kinds[-1] = 0
	    table = struct.pack("<IHHIIIIII", 0x57555048, 1, 62, len(rows), len(rules), 0, 0, 0, 0)
	    table += b"".join(rules) + struct.pack("<%dI" % len(rows), *rows)
	    table += struct.pack("<%dH" % len(rows), *kinds)
	    stack = [random.choice((0x1001 + random.randrange(496), STACK + 8 * random.randrange(99)))
	             for _ in range(100)]
	    start = struct.pack("<QQQQBBHI", 0x1000 + random.randrange(496), 8 * n, 256, 0x1010,
	                        random.choice((27, 31, 11, 25)), 0, len(table) // 2, 0)
	    with open("%s/%d" % (sys.argv[1], n), "wb") as f:
	        f.write(start + table + struct.pack("<100Q", *stack))
	EOF
}

# PMUs and tracepoints
event_tree()
{
	local tree=$tmp/tree pmu=sys/bus/event_source/devices/cpu
	local trace=sys/kernel/tracing/events
	mkdir -p "$tree/$pmu/format" "$tree/$pmu/events" "$tree/proc" \
		"$tree/$trace/sched/sched_switch" \
		"$tree/$trace/syscalls/sys_exit_openat"
	echo 4 >"$tree/$pmu/type"
	echo config:0-7,32-35 >"$tree/$pmu/format/event"
	echo config1:0-15 >"$tree/$pmu/format/ldlat"
	echo 'event=0xcd,ldlat=?' >"$tree/$pmu/events/loads"
	echo event=0x11 >"$tree/$pmu/events/cpu_cycles"
	echo 1 >"$tree/$trace/sched/sched_switch/id"
	echo 2 >"$tree/$trace/syscalls/sys_exit_openat/id"
	echo 'ffffffff81000000 T symbol' >"$tree/proc/kallsyms"
}

# Every command on every kind of log we have
seeds()
{
	local dir=$tmp/seeds/$1 log n=0 c
	mkdir -p "$dir"
	cp "$here/corpus/$1/"* "$dir/" 2>/dev/null
	case $1 in
	command)
		for log in "$tmp"/*.pmclog "$here"/../host/log/golden/*.pmclog; do
			zstd -q -f -o "$tmp/log.zst" "$log"
			for ((c = 0; c < 64; c++)); do
				{ printf "\\x$(printf %x "$c")"; cat "$log"; } \
					>"$dir/$((n++))"
			done
			{ printf '\5'; cat "$tmp/log.zst"; } >"$dir/$((n++))"
		done
		for log in "$tmp"/eras/*; do
			for ((c = 0; c < 8; c++)); do
				{ printf "\\x$(printf %x "$c")"; cat "$log"; } \
					>"$dir/$((n++))"
			done
		done ;;
	elf)
		for c in "$main" 0x1000; do
			{ for ((n = 0; n < 6; n++)); do
				printf "\\x$(printf %x $((c >> 12)))"
				printf "\\x$(printf %x $(((c >> 4 & 255) + n)))"
			  done; cat "$shapes"; } >"$dir/$c"
		done ;;
	fields)
		while read -r c n log; do
			[ "$c" = fields ] || continue
			{ printf '%b' "$log"; printf '\0\3'
			  printf '\10\0%.0s' {1..9}; printf 'name\0%.0s' {1..9}
			} >"$dir/$n"
		done <"$tmp/fields" ;;
	jitdump)
		for c in little big v8 ticks machine=183; do
			python3 "$here/../host/reader/python/jitdump.py" "$c" \
				>"$dir/$c" <<-EOF
			lines 1 0x7f0000001000 0x7f0000001000 10 /x.js 0x7f0000001003 12 \xff
			load 900000 0x7f0000001000 5589e5b80700000031c05dc3 hot
			load 900001 0x7f0000002000 *32 caller
			record 4 64
			load 1500000 0x7f0000001000 9090909090909090909090c3 hot
			move 1600000 1 0x7f0000002ff0
			close 2
			EOF
		done ;;
	text)
		cp "$tmp/kallsyms" "$dir/" ;;
	cfi)
		frames
		cp "$tmp/frames/"* "$dir/" ;;
	unwind)
		tables "$dir" ;;
	event)
		event_tree
		n=0
		while read -r c; do
			printf %s "$c" >"$dir/$((n++))"
		done <<-EOF
			cpu/event=0x3c,umask=1/u
			cpu/loads,ldlat=7,name=x/
			cpu_cycles:k
			sched:sched_switch,usr
			tracepoint:sched:sched_switch:uk
			syscall:openat:return
			kprobe:mod:function+0x12,os
			kprobe:function:return
			uprobe:/bin/true:+0x40:u
			profile:hz:97
			interval:ms:5
			mem:0x1000/8:rw:u
			mem:symbol:x
			type=4,config=0x1a8,config3=1
		EOF
		{ printf 'main:return\0'; cat "$shapes"; } >"$dir/$n" ;;
	esac
}

# fuzz NAME LENGTH RUNS
fuzz()
{
	local limit=-runs=$((${FUZZ_RUNS:-$3}))
	[ -z "${FUZZ_SECONDS:-}" ] || limit=-max_total_time=$FUZZ_SECONDS
	seeds "$1"
	mkdir -p "$tmp/grown"
	"$BIN/fuzz_$1" "$limit" -seed=1 -max_len="$2" -timeout=60 \
		-rss_limit_mb=2048 -close_fd_mask=3 -verbosity=0 \
		-artifact_prefix="$found/$1-" "$tmp/grown" "$tmp/seeds/$1"
	local status=$?
	rm -rf "$tmp/grown"
	return $status
}

ok "commands on any log" fuzz command 8192 12000
ok "any ELF file" fuzz elf 65536 2000
ok "any kernel symbols" fuzz text 4096 8000
ok "any jitdump" fuzz jitdump 4096 20000
ok "any fields of tracepoints" fuzz fields 2048 20000

ok "any event" fuzz event 65536 20000
ok "any call frame information" fuzz cfi 32768 300000
ok "any unwind table and stack" fuzz unwind 4096 1000000

done_testing
