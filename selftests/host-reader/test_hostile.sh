#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Damaged images, symbol tables and logs: no crash, no hang (the programs here
# are built with the sanitizers, which exit with a status of their own).
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:exitcode=99

base=$((0x555500000000))
${CC:-cc} -O1 -fPIE -pie -o "$tmp/image" "$HERE/shapes.c"
{
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	load 7 $base "$tmp/image" "$tmp/damaged"
	echo "mapin 7 0x7f0000000000 $tmp/damaged"
	for i in {0..40}; do
		echo "sample 1 7 $base+$((4096 + i * 16)) 0x7f0000000000+$i"
	done
} | log image.log

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

done_testing
