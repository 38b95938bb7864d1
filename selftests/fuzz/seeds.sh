# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2059,SC2154,SC2257 # names are those of fuzz.sh
# What each fuzzer begins with: sourced by fuzz.sh.

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
	$cc -Wa,--defsym,amd64=1 -shared -nostdlib -Wl,--no-eh-frame-hdr \
		-Wl,-z,notext -o "$dir/each" "$here/cfi_each.s"
	# pages of 64 KiB would be more than an input has room for
	aarch64-linux-gnu-gcc -shared -nostdlib -Wl,--no-eh-frame-hdr \
		-Wl,-z,notext,-z,max-page-size=4096 -o "$dir/each64" "$here/cfi_each.s"
	aarch64-linux-gnu-gcc -O2 -shared -fPIC -nostdlib \
		-Wl,-z,max-page-size=4096 -o "$dir/arm64" "$code" 2>/dev/null
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

# Programs with lines and symbols of each kind
objects()
{
	local dir=$tmp/objects cc=${CC:-cc} i code=$here/../host/reader/programs
	mkdir -p "$dir"
	for i in 2 3 4 5; do
		sed 's/^{/{\n#line 9 "other.h"\n/' "$code/inlines.c" >"$tmp/lines.c"
		$cc -O2 -gdwarf-$i -gz=none -shared -fPIC -nostdlib \
			-o "$dir/dwarf$i" "$tmp/lines.c"
		$cc -O1 -gdwarf-$i -gdwarf64 -gz=none -gno-as-loc-support -shared -fPIC \
			-nostdlib -o "$dir/long$i" "$code/inlines.c"
	done
	for i in 4 5; do
		g++ -O2 -gdwarf-$i -gz=none -fdebug-types-section -shared -fPIC \
			-nostdlib -o "$dir/types$i" "$code/shapes.cc"
	done
	clang -O2 -g -gz=none -shared -fPIC -nostdlib -o "$dir/clang" "$code/inlines.c"
	aarch64-linux-gnu-gcc -O2 -g -gz=none -c -o "$dir/arm64" "$code/inlines.c"
	$cc -shared -nostdlib -o "$dir/nested" "$here/nested.s"
	for i in 3 4 5; do
		python3 "$here/lines.py" $i >"$tmp/lines.s"
		$cc -shared -nostdlib -o "$dir/lines$i" "$tmp/lines.s"
	done
	$cc -c -g -gz=none -o "$dir/object" "$code/shapes.c"
	# names that do not end in their section
	objcopy --dump-section .debug_str="$tmp/str" "$dir/dwarf4" "$dir/unended"
	tr '\0' x <"$tmp/str" >"$tmp/unended"
	objcopy --update-section .debug_str="$tmp/unended" "$dir/dwarf4" "$dir/unended"
} 2>/dev/null

# addresses FILE: the first bytes of an input of fuzz_elf, of its functions
addresses()
{
	local at n=0
	while read -r at; do
		printf "\\x$(printf %x $((at >> 12 & 255)))\\x$(printf %x $((at >> 4 & 255)))"
		n=$((n + 1))
	done < <(nm "$1" | awk '$2 ~ /^[tTwW]$/{ print "0x" $1 }' | head -n 6)
	for (( ; n < 6; n++)); do
		printf '\1\1'
	done
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

# odd_pmus DIR: what no kernel would say, and PMUs that are on some CPUs only
odd_pmus()
{
	local pmu
	for pmu in odd other fuzzed breakpoint tracepoint kprobe; do
		mkdir -p "$1/$pmu/format" "$1/$pmu/events"
	done
	echo 40 >"$1/odd/type"
	echo 41 >"$1/other/type"
	echo 42 >"$1/fuzzed/type"
	echo config:what >"$1/odd/format/broken"
	echo config:9-2 >"$1/odd/format/reversed"
	echo config7:0-99 >"$1/odd/format/far"
	echo config:0-1,3,5-6 >"$1/odd/format/many"
	echo config2:3-5,60-63 >"$1/odd/format/two"
	echo 'event=,=,?' >"$1/odd/events/strange"
	echo config:0-7 >"$1/other/format/event"
	echo 0 >"$1/odd/cpumask"
	echo 0 >"$1/other/cpus"
}

# PMUs and tracepoints
event_tree()
{
	local tree=$tmp/tree pmu=sys/bus/event_source/devices/cpu
	local trace=sys/kernel/tracing/events
	mkdir -p "$tree/$pmu/format" "$tree/$pmu/events" "$tree/proc" \
		"$tree/sys/devices/system/cpu" "$tree/$trace/sched/sched_switch" \
		"$tree/$trace/syscalls/sys_exit_openat"
	echo 4 >"$tree/$pmu/type"
	echo config:0-7,32-35 >"$tree/$pmu/format/event"
	echo config1:0-15 >"$tree/$pmu/format/ldlat"
	echo 'event=0xcd,ldlat=?' >"$tree/$pmu/events/loads"
	echo event=0x11 >"$tree/$pmu/events/cpu_cycles"
	odd_pmus "${tree}/${pmu%/*}"
	echo 0-1 >"$tree/sys/devices/system/cpu/online"
	mkdir -p "$tree/$trace/net/unreadable/id" \
		"$tree/$trace/syscalls/sys_enter_openat"
	echo x >"$tree/$trace/syscalls/sys_enter_openat/id"
	echo 1 >"$tree/$trace/sched/sched_switch/id"
	echo 2 >"$tree/$trace/syscalls/sys_exit_openat/id"
	echo 'ffffffff81000000 T symbol' >"$tree/proc/kallsyms"
}

# A probe that is made, and some that are not
probes()
{
	local spec n=0
	for spec in kprobe:schedule kprobe:vfs_read+0x12 kprobe:vfs_read:return \
		kprobe:mod:function "uprobe:$shapes:main" "uprobe:$shapes:leaf:return"; do
		printf '%s\0p:hwpmc_1_2/p0_x x\nr:other/y y\0\0a [m]\nb\0%s' \
			"$spec" 17 >"$1/$((n++))"
		printf '%s\0\0Invalid probed address\0%s\nvfs_reed\nvfs_road [x]\0' \
			"$spec" schedul >"$1/$((n++))"
		printf '%s\0\0\0schedule\0x' "$spec" >"$1/$((n++))"
	done
	for spec in cpu-clock cpu/event=1/ odd/many=1/ other/event=2/ \
		fuzzed/e,x=3/ fuzzed/x=9/ profile:hz:97; do
		printf '%s\0\0\tfield:int a;\toffset:0;\nprint fmt\n\0%s\0x=2,y' \
			"$spec" config1:0-7,9 >"$1/$((n++))"
	done
}

# seed_jitdump KIND
seed_jitdump()
{
	python3 "$here/../host/reader/python/jitdump.py" "$1" <<-EOF
	lines 1 0x7f0000001000 0x7f0000001000 10 /x.js 0x7f0000001003 12 \xff
	load 900000 0x7f0000001000 5589e5b80700000031c05dc3 hot
	load 900001 0x7f0000002000 *32 caller
	record 4 64
	load 1500000 0x7f0000001000 9090909090909090909090c3 hot
	move 1600000 1 0x7f0000002ff0
	close 2
	EOF
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
		done
		python3 "$here/damage.py" "$dir" "$here"/../host/log/golden/*.pmclog \
			"$tmp"/*.pmclog "$tmp"/eras/* ;;
	files)
		all_files
		file_seeds "$dir" ;;
	grow)
		for log in "$here"/../host/log/golden/*.pmclog "$tmp"/*.pmclog; do
			for c in '\0\100\2\377' '\0\377\2\0' '\1\200\3\376' \
				'\2\377\1\0' '\0\377\377\376' '\3\377\3\3' \
				'\4\1\1\1' '\5\1\1\1'; do
				{ printf '%b' "$c"; cat "$log"; } >"$dir/$((n++))"
			done
		done ;;
	iter)
		for log in "$here"/../host/log/golden/*.pmclog "$tmp"/eras/* \
			"$tmp/long.pmclog"; do
			{ printf '\20'; cat "$log"; } >"$dir/$((n++))"
			{ printf '\1'; cat "$log"; } >"$dir/$((n++))"
		done ;;
	probe)
		event_tree
		probes "$dir" ;;
	elf)
		for c in "$main" 0x1000; do
			{ for ((n = 0; n < 6; n++)); do
				printf "\\x$(printf %x $((c >> 12)))"
				printf "\\x$(printf %x $(((c >> 4 & 255) + n)))"
			  done; cat "$shapes"; } >"$dir/$c"
		done
		objects
		for log in "$tmp/objects/"*; do
			{ addresses "$log"; cat "$log"; } >"$dir/${log##*/}"
		done ;;
	fields)
		while read -r c n log; do
			[ "$c" = fields ] || continue
			{ printf '%b' "$log"; printf '\0\3'
			  printf '\10\0%.0s' {1..9}; printf 'name\0%.0s' {1..9}
			} >"$dir/$n"
		done <"$tmp/fields"
		# a value that is too long to be compared
		{ printf '\tfield:u64 a[60];\toffset:0;\tsize:480;\tsigned:0;\n\0\0'
		  printf '\10\0name%.0s' {1..80}; } >"$dir/long" ;;
	jitdump)
		for c in little big v8 ticks machine=183; do
			seed_jitdump "$c" >"$dir/$c"
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
			r1a8
			r12345678901234567:k
			LLC-prefetch-misses
			no-such-event
			cpu_cycles:x
			cpu-clock,,usr
			cpu-clock,name=
			cpu-clock,name=a\x01b
			cpu-clock,type=1
			cpu-clock,wrong
			cpu-clock:uu:
			type=4
			type=99999999999,config=1
			type=4,config=1,config1=2,config2=3,name=raw,usr,os
			type=4,config=1,,
			syscall:openat:enter
			syscall:openam:entry
			syscall:a/b:entry
			sched:sched_swatch
			schad:sched_switch
			net:unreadable
			profile:hz:x
			profile:min:3
			interval:hz:0
			mem:0x1000:rx
			mem:0x1000/9:w
			mem::r
			cpu//
			cpu/r1a8/
			cpu/event=0xfffffffff/
			cpu/event/
			cpu/event=x/
			cpu/loads/
			cpu/nothing/
			cpu/event=1,,umask=2/
			cpu/config=1,config1=2,config2=3,period=4/
			cpu/period=0/
			odd/broken=1/
			odd/reversed=1,far=2/
			odd/strange/
			odd/many=3,two=0xffff/
			breakpoint/x/
			tracepoint/x/
			kprobe/x/
			other/event=1/
		EOF
		{ printf 'main:return\0'; cat "$shapes"; } >"$dir/$n" ;;
	esac
}
