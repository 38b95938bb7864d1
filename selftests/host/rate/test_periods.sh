#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which period a sample has: the last one of its PMC on its CPU, in its log.
. "$(dirname "$0")/lib.sh"
golden=$HERE/../log/golden

preamble="
	host 9.9.9-test elsewhere
	kernel $k reference
	proc 7 prog"

# shares NAME [OPTION]...: of each function: per cent and samples
shares()
{
	"$pmclog" report --flat -s sym -k "$tmp/kallsyms" "${@:2}" "$tmp/$1" |
		profile_rows | awk '{ print $4, $1, $3 }'
}

# --- one PMC after the other, CPU by CPU
log cpus <<-EOF
	$preamble
	freq cycles 4000
	cpu 0
	period 1000
	cpu 1
	period 3000
	$(yes "cpu 0
		sample 1 7 $k+0x2010
		cpu 1
		sample 1 7 $k+0x3010" | head -n 40)
EOF
ok "each CPU has its own" same "\
heavy 75.00 10
light 25.00 10" shares cpus
log pmcs <<-EOF
	$preamble
	freq cycles 4000 2
	freq cycles 4000 3
	pmc 2
	period 1000
	pmc 3
	period 4000
	$(yes "pmc 2
		sample 1 7 $k+0x2010
		pmc 3
		sample 1 7 $k+0x3010" | head -n 16)
EOF
ok "each PMC has its own" same "\
heavy 80.00 4
light 20.00 4" shares pmcs

# --- a PMC whose rate is changed, as by a budget: one event, whatever its rates
log changes <<-EOF
	$preamble
	freq cycles 1000
	freq cycles 1000 2
	pmc 0xFFF00F00
	cpu 0
	period 1000
	sample 10 7 $k+0x2010
	freq cycles 40
	freq cycles 40 2
	pmc 0xFFF00F00
	period 9000
	sample 5 7 $k+0x3010
	pmc 2
	period 5000
	sample 1 7 $k+0x3010
	freq cycles 250
	sample 1 7 $k+0x3010
EOF
# heads COMMAND LOG: what it says of each PMC or event
heads()
{
	"$pmclog" "$1" "$tmp/$2" | sed -n 's/^ *mode  *//p; /^Event /p'
}
ok "another rate is no other event" same "\
heavy 85.51 7
light 14.49 10" shares changes
ok "report: the lowest and the highest rate" same "\
Event cycles, 40 to 1,000 samples a second, periods 1,000 to 9,000" \
	heads report changes
ok "info: of each PMC" same "\
system sampling, all CPUs, 40 to 1000 samples a second, periods 1000 to 9000, \
kernel and user chains
system sampling, all CPUs, 40 to 1000 samples a second, periods 5000 to 5000, \
kernel and user chains" heads info changes
ok "the log is sound" prints 0 "^ok: " "$pmclog" verify "$tmp/changes"
ok "filter keeps the rates" bash -c "$pmclog filter --cpu 0 -o $tmp/part \
	$tmp/changes && [ \$($pmclog dump $tmp/part | grep -c allocatedyn) = 5 ]"
ok "top: one event" prints 0 "Samples: 17 (100.0%)" "$pmclog" top "$tmp/changes"

# --- threads that alternate on a CPU
log threads <<-EOF
	$preamble
	freq cycles 4000
	$(yes "period 1000
		sample 2 7 $k+0x2010
		period 9000
		sample 2 7 $k+0x3010" | head -n 32)
EOF
ok "a PERIOD is of the samples behind it" same "\
heavy 90.00 16
light 10.00 16" shares threads
ok "the same without callers" same "\
heavy 90.00 16
light 10.00 16" bash -c "$pmclog report --self -s sym -k $tmp/kallsyms \
	$tmp/threads | awk '/ \[k\]/{ print \$3, \$1, \$2 }'"

# --- two logs in one, as after a rotation
log twice <<-EOF
	$preamble
	freq cycles 4000
	period 9000
	sample 10 7 $k+0x3010
	again
	$preamble
	freq cycles 4000
	period 1000
	sample 10 7 $k+0x2010
EOF
ok "two logs: each has its own" same "\
heavy 90.00 10
light 10.00 10" shares twice
ok "they are sound" prints 0 "^ok: .* 2 logs in one" "$pmclog" verify \
	"$tmp/twice"
ok "info: each has its events" same "90000 10000 " bash -c "
	$pmclog info $tmp/twice | awk '\$1 == \"events\"{
		printf \"%d \", \$2 } END { print \"\" }'"
log forgets <<-EOF
	$preamble
	freq cycles 4000
	period 9000
	sample 1 7 $k+0x3010
	again
	$preamble
	freq cycles 4000
	sample 1 7 $k+0x2010
	period 1000
	sample 1 7 $k+0x2010
EOF
ok "the second does not have those of the first" prints 0 \
	"^  Events  *10,001: .*; 1 sample has no period in the log" \
	"$pmclog" report "$tmp/forgets"

# --- logs that lack a PERIOD
log lacks <<-EOF
	$preamble
	freq cycles 4000
	cpu 0
	period 1000
	sample 10 7 $k+0x2010
	period 3000
	sample 10 7 $k+0x2010
	cpu 1
	sample 10 7 $k+0x3010
EOF
ok "the last one of another CPU is taken" same "\
light 57.14 20
heavy 42.86 10" shares lacks
ok "report tells it" prints 0 \
	"^  Events  *70,000: .*; 10 samples have no period in the log: that" \
	"$pmclog" report "$tmp/lacks"
ok "info, too" prints 0 "events  *70000: .*; 10 samples have no period" \
	"$pmclog" info "$tmp/lacks"
ok "verify finds it" prints 1 \
	"sample of PMC 0xfff00f00 on CPU 1 without a PERIOD before it" \
	"$pmclog" verify "$tmp/lacks"
log none <<-EOF
	$preamble
	freq cycles 4000
	sample 10 7 $k+0x2010
EOF
ok "there is none at all: samples count one each" prints 0 \
	"^  Events  *10: " "$pmclog" report "$tmp/none"

# a PERIOD that was overwritten: the one before it goes on
log whole <<-EOF
	$preamble
	freq cycles 4000
	period 1000
	sample 5 7 $k+0x2010
	period 9000
	sample 5 7 $k+0x3010
	period 3000
	sample 5 7 $k+0x2010
EOF
python3 - "$tmp/whole" "$tmp/damaged" <<-EOF
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(struct.pack("<IHBBIIQ", 0x78506D48, 16, 0, 0, 0xFFF00F00,
	                            0, 9000))
	data[at - 16:at + 24] = b"\xff" * 40
	open(sys.argv[2], "wb").write(data)
EOF
ok "a damaged PERIOD" same "\
light 80.00 10
heavy 20.00 5" shares damaged

# --- parts
log time <<-EOF
	$preamble
	freq cycles 4000
	event cpu-clock 1000000 2
	pmc 0xFFF00F00
	cpu 0
	period 1000
	cpu 1
	period 9000
	at 1000000000
	cpu 0
	sample 5 7 $k+0x2010
	cpu 1
	sample 50 7 $k+0x3010
	at 2000000000
	cpu 0
	sample 10 7 $k+0x2010
	cpu 1
	sample 10 7 $k+0x3010
	period 2000
	sample 20 7 $k+0x2010
	at 3000000000
	pmc 2
	sample 10 7 $k+0x2010
EOF
part()	# OPTION...
{
	"$pmclog" filter "$@" -o "$tmp/part" "$tmp/time" &&
		"$pmclog" verify "$tmp/part" >/dev/null
}
halves="\
heavy 64.29 10
light 35.71 30"
ok "--time: periods from before it" same "$halves" \
	shares time -e cycles --time 1.5-2.5
ok "filter --time: the part is sound" part -e cycles --time 1.5-2.5
ok "it has the periods from before it" same "$halves" shares part
ok "filter --cpu" part -e cycles --cpu 1
ok "it has that CPU's periods" same "\
heavy 93.10 60
light 6.90 20" shares part
ok "filter --not --sym: periods stay between the samples" part \
	-k "$tmp/kallsyms" -e cycles --not --sym light
ok "and hold" same "heavy 100.00 60" shares part
ok "an event that is left out leaves no PERIOD" bash -c "
	$pmclog filter -e cpu-clock -o $tmp/part $tmp/time &&
	$pmclog verify $tmp/part &&
	! $pmclog dump $tmp/part | grep 'hwpmc period'"

# a sample that waits for its user chain, with a PERIOD behind it
log late <<-EOF
	$preamble
	map 7 0x10000 0x1000 0 /x/near
	map 7 0x20000 0x1000 0 /x/far
	freq cycles 4000
	period 9000
	since
	late 1 7 7 $k+0x3010 0x10010
	period 1000
	sample 1 7 $k+0x2010
	userchain 7 7 0x10010 0x20010
EOF
late="\
far;near;heavy 9000
light 1000"
near()
{
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/$1" |
		sed 's/prog;//; s/[^;]*far[^;]*;/far;/; s/[^;]*near[^;]*;/near;/
			s/_\[k\]//'
}
ok "a late chain takes the weight of its sample along" same "$late" near late
ok "filter decides on it later" bash -c "$pmclog filter --dso far \
	-k $tmp/kallsyms -o $tmp/part $tmp/late && $pmclog verify $tmp/part"
ok "the PERIOD behind it stays behind it" same "far;near;heavy 9000" near part
ok "filter passes all on as it is" bash -c "$pmclog filter -o $tmp/part \
	$tmp/late && [ \"\$($pmclog dump $tmp/part | grep -v filtered |
	grep -v closelog)\" = \"\$($pmclog dump $tmp/late |
	grep -v closelog)\" ]"

# --- in packs
cp "$golden/periods.pmclog" "$tmp/packed"
comms()
{
	"$pmclog" report --flat -e cycles -s comm "$@" "$tmp/packed" |
		profile_rows | awk '{ print $4, $1, $3 }'
}
ok "packed samples" same "\
heavy 90.00 30
light 10.00 40" comms
ok "passed over until the window" same "\
heavy 93.75 10
light 6.25 10" comms --time 0.00004-0.00006
ok "a part of the packs" bash -c "$pmclog filter --time 0.00004-0.00006 \
	-o $tmp/part $tmp/packed && $pmclog verify $tmp/part"

# --- odd records
ok "PERIOD of 0 events" bash -c "printf '%s\n' 'freq cycles 4000' 'period 5' \
	'period 0' 'sample 2 7 0x10' | $BIN/script2log $tmp/zero &&
	$pmclog report $tmp/zero | grep '^  Events  *10:'"
ok "sums stay below 64 bits" bash -c "printf '%s\n' 'freq cycles 4000' \
	'period 0xffffffffffffffff' 'sample 2 7 0x10' \
	'period 0x3000000000000000' 'sample 2 7 0x10' 'sample 1 7 0x20' |
		$BIN/script2log $tmp/huge &&
	$pmclog report $tmp/huge | grep '^  Events  *3,458,764,513,820,540,932:' &&
	for c in report flame html fold 'annotate -a' top; do
		$pmclog \$c $tmp/huge >$tmp/x || [ \$? = 1 ] || exit 1
	done; for c in csv pprof speedscope firefox callgrind; do
		$pmclog export --to \$c -o $tmp/x $tmp/huge || exit 1
	done"
ok "up to the largest" prints 0 "^  Events  *4,611,686,018,427,387,907:" \
	bash -c "printf '%s\n' 'freq cycles 4000' 'period 0x4000000000000000' \
	'sample 4 7 0x10' | $BIN/script2log $tmp/huge && $pmclog report $tmp/huge"

done_testing
