#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Damaged images, symbol tables and logs: no crash, no hang (the programs here
# are built with the sanitizers, which exit with a status of their own).
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:exitcode=99

base=$((0x555500000000))
${CC:-cc} -O1 -fPIE -pie -o "$tmp/image" "$HERE/programs/shapes.c"
{
	load 7 $base "$tmp/image" "$tmp/damaged"
	echo "mapin 7 0x7f0000000000 $tmp/damaged"
	for i in {0..40}; do
		echo "sample 1 7 $base+$((4096 + i * 16)) 0x7f0000000000+$i"
	done
} | prog_log image.log

# damage SEED FROM TO COUNT: overwrites bytes of stdin within half of it
damage()
{
	perl -e '
		my ($seed, $n) = @ARGV;
		srand($seed);
		local $/; binmode STDIN; my $s = <STDIN>;
		my $len = length $s;
		for (1 .. $n) {
			# headers and tables sit at both ends of a file
			my $at = rand() < .4 ? int rand 1024 :
				 rand() < .6 ? $len - 1 - int rand 8192 :
				 int rand $len;
			next if $at < 0 || $at >= $len;
			my @odd = ("\xff", "\0", "\x80", chr int rand 256);
			substr($s, $at, 1) = $odd[rand @odd];
			substr($s, $at, 8) = "\xff" x 8 if rand() < .1;
		}
		$s = substr($s, 0, int rand $len) if rand() < .1;
		print $s;' "$1" "$2"
}

survives()	# STATUSES COMMAND...
{
	local status=0
	timeout 60 "${@:2}" >/dev/null 2>"$tmp/.err" || status=$?
	[[ " $1 " == *" $status "* ]] && return
	echo "exit status $status of ${*:2}"
	cat "$tmp/.err"
	return 1
}

images()
{
	local i
	for ((i = $1; i < $1 + ${RUNS:-60}; i++)); do
		damage "$i" $((1 + i % 40)) <"$tmp/image" >"$tmp/damaged"
		survives "0" "$pmclog" fold "$tmp/image.log" ||
			{ echo "seed $i"; return 1; }
	done
}
ok "damaged images" images 1
ok "more of them" images 1000

logs()
{
	local i cmd
	for ((i = 0; i < ${RUNS:-60}; i++)); do
		damage "$i" $((1 + i % 20)) <"$tmp/image.log" >"$tmp/bad"
		for cmd in report fold flame; do
			survives "0 1" "$pmclog" "$cmd" "$tmp/bad" ||
				{ echo "seed $i"; return 1; }
		done
	done
}
cp "$tmp/image" "$tmp/damaged"
ok "damaged logs" logs

tables()
{
	local i
	for ((i = 0; i < ${RUNS:-60}; i++)); do
		damage "$i" 60 <"$tmp/kallsyms" >"$tmp/bad"
		survives "0 1" "$pmclog" fold -k "$tmp/bad" "$tmp/k" ||
			{ echo "seed $i"; return 1; }
		damage "$i" 20 <"$tmp/image" >"$tmp/bad"
		survives "0 1" "$pmclog" fold -k "$tmp/bad" "$tmp/k" ||
			{ echo "seed $i"; return 1; }
	done
}
for i in {0..200}; do
	printf 'ffffffff81%06x T function_%d\t[mod]\n' $((i * 64)) "$i"
done >"$tmp/kallsyms"
log k <<-EOF
	kernel 0xffffffff81000000 main
	event cpu-clock 1000
	sample 1 7 0xffffffff81000010 0xffffffff81000110
EOF
ok "damaged symbol tables" tables

# what grows must be bounded by what is there
deep()
{
	{
		echo "event cpu-clock 1000"
		printf 'sample 1 7'
		for i in {1..690}; do
			printf ' 0xffffffff81%06x' $((i * 64))
		done
		echo
	} | log deep
	for cmd in report fold flame; do
		survives 0 "$pmclog" $cmd "$tmp/deep" || return
	done
}
ok "a deep chain" deep

# What no machine does: processes that are each other's children, clocks that
# run backwards, pids and CPUs up to the last one, names that say something to
# whoever shows them.
log odd <<-EOF
	host 9.9.9\x1b[2J-test </script><script>x
	event cpu\x1b]0;owned\x07clock 1000
	proc 7 </script><script>x
	proc 4294967294 ../etc/\x0apasswd
	map 7 0x10000 0x1000 0 /x/\x1b[31m</script>"'&\xe2\x80\xae\xff;,
	fork 7 8
	fork 8 9
	fork 9 7
	fork 9 9
	at 9000000000
	sample 5 7 0x10010
	at 1000000000
	cpu 65535
	tid 4294967295
	sample 5 9 0x10020 0x10030
	sample 5 4294967294 0x10010
	at 0
	sample 3 4294967295 0xffffffffffffffff 0
	rate 4294967295 18446744073709551615 18446744073709551615
	drop 3 18446744073709551615
EOF
{
	echo "event cpu-clock 1000"
	for ((i = 0; i < 20000; i++)); do
		echo "fork $i $((i + 1))"
		echo "sample 1 $((i * 200000 % 4294967296)) 0x10010"
	done
} | log pids
odd()
{
	local log=$tmp/$1 to out
	for cmd in info dump "dump -j" report "report -s time,cpu,pid,tid" fold \
		   flame html "diff $log" "filter --user -o $tmp/part"; do
		# shellcheck disable=SC2086
		survives "0 1" "$pmclog" $cmd "$log" || return
		out=$("$pmclog" $cmd "$log" 2>&1 | tr -d '\n\t' |
			LC_ALL=C grep -acP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae')
		[ "$out" = 0 ] || { echo "$cmd lets them through"; return 1; }
	done
	for to in folded pprof speedscope firefox callgrind perf-script csv \
		  jsonl clickhouse; do
		survives 0 "$pmclog" export --to $to -o "$tmp/out" "$log" ||
			return
	done
	# there are no branches
	survives "0 1" "$pmclog" export --to bolt -o "$tmp/out" "$log" || return
	"$pmclog" html "$log" | grep -c '<script>x' |
		grep -qx 0 || { echo "the page has a script of the log's"; return 1; }
}
ok "what no machine does" odd odd
# names of events in what is said on standard error
log escapes <<-EOF
	event a\x1b[31mX 1000 1
	event b\x1b]0;pwn\x07c 1000 2
	pmc 1
	sample 1 7 0x10
	pmc 2
	sample 1 7 0x10
EOF
clean()
{
	"$pmclog" "$@" 2>&1 >/dev/null | LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f]' &&
		return 1
	"$pmclog" "$@" 2>&1 >/dev/null | grep -F 'a\x1b[31mX'
}
ok "events that are there instead" clean fold -e none "$tmp/escapes"
ok "the event that is shown" clean fold "$tmp/escapes"
ok "the event that the other has not" clean diff "$tmp/escapes" "$tmp/deep"

# whoever waits for a reader of what a log names still waits
fifo()
{
	local got
	mkfifo "$tmp/fifo"
	echo here >"$tmp/fifo" &
	printf 'event cpu-clock 1000\nmap 7 0x1000 0x1000 0 %s\nsample 1 7 0x1010\n' \
		"$tmp/fifo" | log fifolog
	"$pmclog" report "$tmp/fifolog" >"$tmp/out"
	got=$(timeout 20 cat "$tmp/fifo")
	wait
	[ "$got" = here ] && grep 'not a regular file' "$tmp/out"
}
ok "a FIFO is not even opened" fifo

hole()
{
	cp "$tmp/k" "$tmp/hole"
	truncate -s 3G "$tmp/hole.kallsyms"
	ASAN_OPTIONS=max_allocation_size_mb=64 "$pmclog" report "$tmp/hole" |
		grep 'hole.kallsyms is no symbol table'
}
ok "a kallsyms that is a hole" hole

# a chain of 690 frames, each of which is 62: views go down it by calls
inlined()
{
	local i
	echo 'volatile int v; static inline __attribute__((always_inline)) void f0(void) { v++; }'
	for i in {1..60}; do
		echo "static inline __attribute__((always_inline)) void f$i(void) { f$((i - 1))(); }"
	done
	echo '__attribute__((noinline)) void top(void) { f60(); } int main(void) { top(); }'
}
inlined >"$tmp/inlined.c"
${CC:-cc} -g -O1 -o "$tmp/inlined" "$tmp/inlined.c"
top=$(nm "$tmp/inlined" | awk '$3 == "top" { print $1 }')
# frames COUNT: of a chain of so many pcs, with those of inlined functions
frames()
{
	{
		echo "event cpu-clock 1000"
		load 7 0x10000 "$tmp/inlined"
		echo "sample 1 7 $(yes "0x10001+0x$top" | head -n "$1" | tr '\n' ' ')"
	} | log inl
	"$pmclog" fold --inline "$tmp/inl" | tr -cd ';' | wc -c
}
ok "inlined frames of a chain" same 6200 frames 100
ok "but not any number of them" same 690 frames 690

# a log named as the output by mistake is still there
own_output()
{
	local cmd
	cp "$tmp/k" "$tmp/own"
	ln -sf own "$tmp/own-link"
	for cmd in flame html "diff --flame $tmp/k" "export --to csv" \
		   "export --to folded" filter archive; do
		for out in own own-link; do
			# shellcheck disable=SC2086
			prints 1 'is the log itself: it would be lost' \
				"$pmclog" $cmd -o "$tmp/$out" "$tmp/own" &&
			cmp "$tmp/k" "$tmp/own" || return
		done
	done
	mkdir -p "$tmp/unpacked"
	for cmd in flame html "diff $tmp/k" "export --to csv" filter archive; do
		cp "$tmp/k" "$tmp/unpacked/log.pmclog"
		# shellcheck disable=SC2086
		prints 1 'is the log itself: it would be lost' "$pmclog" $cmd \
			-o "$tmp/unpacked/log.pmclog" "$tmp/unpacked" &&
			cmp "$tmp/k" "$tmp/unpacked/log.pmclog" || return
	done
	prints 1 'is the log itself' "$pmclog" diff -o "$tmp/own" "$tmp/own" \
		"$tmp/k" && cmp "$tmp/k" "$tmp/own" &&
	prints 1 'is the log itself' "$pmclog" flame -o "$tmp/own" - \
		<"$tmp/own" && cmp "$tmp/k" "$tmp/own"
}
ok "the log is not its own output" own_output

ok "many processes, each the other's child" odd pids

# Small ELF files that ask for much memory: it is bounded, and the report says what is
# not shown.

# bomb KIND [PC...]: the file $tmp/KIND, and samples in it in KIND.log
bomb()
{
	local pc
	python3 "$HERE/python/bomb.py" "$1" "$tmp/$1"
	{
		echo "map 7 0x10000000 0x100000 0 $tmp/$1"
		for pc in "${@:2}"; do
			echo "sample 1 7 0x10000000+$pc"
		done
	} | prog_log "$1.log"
}

# within MB STATUS PATTERN COMMAND...: as prints, with no more memory than that
within() { prints "$2" "$3" "$HERE/python/maxrss.py" "$1" "${@:4}"; }

bomb names 0x99990 $((0x1000 + 16 * 40000))
ok "symbols that share a long string" within 150 0 \
	"names: has symbols that share long names: not all were read" \
	"$pmclog" report "$tmp/names.log"
ok "after them a short one still has its name" same "prog;names+0x99990 1
prog;short 1" "$pmclog" fold "$tmp/names.log"
ok "symbolize, too" within 150 0 "share long names: not all were read" \
	"$pmclog" symbolize -e "$tmp/names" 0x1010
ok "a function that lost its name" same "0x99990: ?? at ??:?" \
	"$pmclog" symbolize -e "$tmp/names" 0x99990

bomb sections 0x1010
ok "a section table that is a hole" within 100 0 \
	"sections: has more than 65,536 sections or segments" \
	"$pmclog" report "$tmp/sections.log"

bomb dies
named_by_dies()
{
	seq 4096 16 324080 | xargs printf '%#x\n' |
		(ulimit -t 8; "$pmclog" symbolize -e "$tmp/dies") |
		awk '$2 == sprintf("func%05d", NR - 1) { n++ } END { exit n != 20000 }'
}
ok "names in one of many sections" named_by_dies

functions=$(seq 4096 16 12080)
bomb dienames
ok "names of DIEs in a long string" within 100 0 "^0x1010: AAAA" \
	"$pmclog" symbolize -e "$tmp/dienames" < <(xargs printf '%#x\n' <<<"$functions")
# shellcheck disable=SC2086
bomb files $functions
ok "a directory that is longer than any path" within 100 0 "100.00 .*\[files\]$" \
	"$pmclog" report --by-line -l 0 "$tmp/files.log"

for kind in zlib zdebug strtab; do
	bomb $kind 0x1010
	ok "compressed sections: $kind" within 100 0 \
		"$kind: its compressed sections are too large" \
		"$pmclog" report --inline "$tmp/$kind.log"
done
if command -v zstd >/dev/null; then
	bomb zstd 0x1010 < <(head -c 400M /dev/zero | zstd -qc)
	ok "compressed sections: zstd" within 100 0 \
		"zstd: its compressed sections are too large" \
		"$pmclog" report --inline "$tmp/zstd.log"
else
	skip "compressed sections: zstd" "no zstd"
fi
python3 "$HERE/python/bomb.py" last "$tmp/last"
ok "compressed sections at the end" within 100 1 "its compressed sections are too large" \
	"$pmclog" symbolize -e "$tmp/last" 1000
bomb dwarf 0x1010
ok "not too large" prints 0 "dwarf: is stripped" "$pmclog" report "$tmp/dwarf.log"

done_testing
