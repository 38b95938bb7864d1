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
mkdir -p "$found" "$tmp/root/bin" "$tmp/nothing" "$tmp/elf" "$tmp/gmon"
export FUZZ_DIR=$tmp XDG_CACHE_HOME=$tmp/cache

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
log rate.pmclog <<-EOF
	freq cycles 4000
	event cpu-clock 1000 2
	pmc 0xFFF00F00
	period 1000
	sample 3 7 0xffffffff81003010 0xffffffff81001010
	late 1 7 7 0xffffffff81003010 0x1000
	period 0x7fffffffffffffff
	sample 2 7 0x1234
	cpu 1
	sample 2 7 0x1234
	userchain 7 7 0x1000 0x2000
	again
	freq cycles 4000
	period 3
	sample 2 7 0xffffffff81003010
	pmc 2
	sample 1 7 0xffffffff81003010
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

# as FreeBSD's: files of which only the address is known, of programs that are run
"$BIN/script2log" "$tmp/guess.pmclog" <<-EOF
	event cpu-clock 1000
	proc 7 prog
	exec 7 /bin/shapes 0x7f0000000000 0x10000
	mapin 7 0x10000 /bin/shapes
	mapin 7 0x90000 /x/y
	sample 3 7 $((0x10000 + main)) 0x90010 0x7f0000000010
	exec 8 /bin/shapes 0x10000 0
	exec 9 /bin/loader 0x10000 0
	sample 3 9 $((0x10000 + main))
	unmap 7 0x90000 0x91000
	exit 7
EOF
cp "$shapes" "$tmp/root/bin/loader"

# chains that come later, or end in each way, of samples by tables
log ends.pmclog <<-EOF
	event cpu-clock 1000
	unwind
	proc 7 prog
	proc 8 other
	map 7 $((0x10000 + ${text% *})) ${text#* } ${text% *} /bin/shapes
	buildid 0102 0:0:0:/bin/shapes
	buildid 0102030405 /bin/shapes
	ends whole tables
	sample 30 7 $((0x10000 + main)) $((0x10000 + main + 8))
	ends table tables
	sample 20 8 $((0x10000 + main)) 0x20000
	ends depth
	sample 2 8 0xffffffff81003010 $((0x10000 + main))
	ends user kernel
	sample 12 7 0xffffffff81003010
	proc 9 third
	ends table
	sample 15 9 0xffffffff81003010 $((0x10000 + main))
	ends
	late 2 7 7 0xffffffff81003010 $((0x10000 + main))
	sample 2 8 0xffffffff81003010
	late 1 8 8 0xffffffff81003010 0x20000
	since
	late 2 7 7 0xffffffff81003010 $((0x10000 + main))
	ends whole
	userchain 7 7 $((0x10000 + main)) $((0x10000 + main + 16))
	at 3000000000
	sample 2 8 0xffffffff81003010
	late 1 7 7 0xffffffff81003010 $((0x10000 + main))
	threadexit 7
	exit 8
EOF

# a record longer than others
log long.pmclog <<-EOF
	event cpu-clock 1000
	sample 1 7 $(seq -f %.0f 4096 16 14000 | xargs)
EOF

# PMCs of processes
log targets.pmclog <<-EOF
	event cpu-clock 1000
	proc 7 prog
	attach 0xfff00f00 7 /bin/shapes
	csw 0xfff00f00 7 7 100
	csw 0xfff00f00 7 7 50
	fork 7 8
	exitval 0xfff00f00 8 12
	sample 2 7 0x1000
	snapshot 1 7 9 10 20
	detach 0xfff00f00 7
EOF

python3 "$here/../host/reader/python/fields.py" >"$tmp/fields"
log fields.pmclog <"$tmp/fields"

# Of every FreeBSD, of machines of each kind
mkdir -p "$tmp/eras"
for log in {A,B,C}-{le,be}-{64,32,i386}; do
	"$BIN/mklog" "$log" "$tmp/eras/$log"
done

# shellcheck source=files.sh source-path=SCRIPTDIR
. "$here/files.sh"
# shellcheck source=seeds.sh source-path=SCRIPTDIR
. "$here/seeds.sh"

# fuzz NAME LENGTH RUNS [SLOWER]: of FUZZ_RUNS runs only one in SLOWER
fuzz()
{
	local limit=-runs=$((${FUZZ_RUNS:-$3 * ${4:-1}} / ${4:-1}))
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
ok "any ELF file" fuzz elf 65536 1200 2
ok "any kernel symbols" fuzz text 4096 8000
ok "any jitdump" fuzz jitdump 4096 20000
ok "any fields of tracepoints" fuzz fields 2048 20000

ok "files beside the recorded programs" fuzz files 65536 300 6
ok "a log that changes while it is read" fuzz grow 8192 2500 3
ok "the library's interfaces on any log" fuzz iter 8192 1500 3

ok "any probe" fuzz probe 4096 2000 3
ok "any event" fuzz event 65536 20000
ok "any call frame information" fuzz cfi 32768 300000
ok "any unwind table and stack" fuzz unwind 4096 1000000

done_testing
