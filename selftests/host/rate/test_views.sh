#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An event that is sampled at a rate: shares are of events, not of samples, in
# every view.  Of two functions with as many samples one has nine times as many
# events as the other.
. "$(dirname "$0")/lib.sh"

preamble="
	host 9.9.9-test elsewhere
	kernel $k reference
	proc 7 small
	proc 8 big"
light="sample 100 7 $k+0x2010 $k+0x1010"
heavy="sample 100 8 $k+0x3010 $k+0x1010"
log l <<-EOF
	$preamble
	freq cycles 4000
	at 1000000000
	cpu 0
	period 1000
	$light
	at 3000000000
	cpu 1
	period 9000
	$heavy
	rate 0 110 100
EOF

view()	# COMMAND [OPTION]... LOG
{
	"$pmclog" "$1" -k "$tmp/kallsyms" "${@:2:$#-2}" "$tmp/${!#}"
}

# --- report
rows()	# [OPTION]... LOG: the rows of the profile
{
	view report --flat "$@" | profile_rows
}
ok "the profile" same "\
90.00 90.00 100 big [kernel] heavy [k]
10.00 10.00 100 small [kernel] light [k]" rows l
ok "without callers" same "\
90.00 100 big [kernel] heavy [k]
10.00 100 small [kernel] light [k]" rows --self l
ok "by process and thread" same "\
90.00 90.00 100 8 8
10.00 10.00 100 7 7" rows -s pid,tid l
ok "by CPU" same "\
90.00 90.00 100 1
10.00 10.00 100 0" rows -s cpu l
ok "by time" same "\
10.00 10.00 100 1.00
90.00 90.00 100 3.00" rows -s time l
ok "by object" same "100.00 100.00 200 [kernel]" rows -s dso l
ok "what has few events is left out, whatever its samples" same "\
90.00 90.00 100 big [kernel] heavy [k]
10.00 100 in 1 more row" rows -l 20 l
tree()
{
	view report "$1" l | sed -n '/Total %/,/^$/p' | sed '1d;/^$/d'
}
ok "calls" same "\
   90.00           big
   90.00    90.00  \`-outer [k] > heavy [k]
   10.00           small
   10.00    10.00  \`-outer [k] > light [k]" tree --tree
ok "callers" same "\
   90.00           heavy [k] > outer [k]
   10.00           light [k] > outer [k]" tree --callers
head_has()	# LOG LINE
{
	view report "$1" >"$tmp/head" && grep -q -x -e "$2" "$tmp/head" &&
		return
	cat "$tmp/head"
	return 1
}
ok "the rate and the periods" head_has l \
	"Event cycles, 4,000 samples a second, periods 1,000 to 9,000"
ok "the samples" head_has l "  Samples       200: 0.0 % user, .*"
ok "the events" head_has l \
	"  Events        1,000,000: 0.0 % user, 100.0 % kernel"
ok "what was asked for" head_has l "  Rate          110 asked for, 100 .*"
log names <<-EOF
	$preamble
	freq cycles 4000
	period 1000
	$light
	period 9000
	sample 100 8 0x10
EOF
ok "missing names are of samples" head_has names \
	"  Without name  50.0 % of samples, 33.3 % of frames"
ok "user and kernel" head_has names \
	"  Events        1,000,000: 90.0 % user, 10.0 % kernel"

# --- other views
ok "fold" same "\
big;outer_[k];heavy_[k] 900000
small;outer_[k];light_[k] 100000" view fold l
view flame -o "$tmp/svg" l
frame()	# NAME: its weight and tooltip
{
	awk -v n="<title>$1" '{ at = index($0, n) }
		at && at + length(n) == length($0) + 1 {
			sub(/.*data-n="/, ""); sub(/".*/, ""); w = $0
			getline; sub(/<.*/, ""); print w ": " $0 }' "$tmp/svg"
}
ok "flame: a frame" same "900000: [kernel], 900,000 events, 90.00 %" \
	frame heavy
ok "flame: all" same "1000000: 1,000,000 events, 100.00 %" frame all
ok "flame: its head" grep -q "200 samples of 1,000,000 events in" "$tmp/svg"
ok "flame: what a search adds up" grep -q "several(sum, ' event')" "$tmp/svg"

view html -o "$tmp/page" l
data()
{
	page_data <"$tmp/page" | jq -c "$1"
}
ok "html: the event" same '[[4000,1000,9000,1000000,200,null]]' data \
	'[.events[]|[.perSecond,.least,.most,.events,.samples,.every]]'
log lowered <<-EOF
	$preamble
	freq cycles 4000
	period 1000
	$light
	freq cycles 500
	$light
EOF
view html -o "$tmp/lowered.html" lowered
ok "html: the rates of an event" same '[[4000,500,200]]' bash -c "
	sed -n '/id=\"data\">\$/,/^<\/script>\$/p' $tmp/lowered.html | sed '1d;\$d' |
	jq -c '[.events[]|[.perSecond,.perSecondLeast,.samples]]'"
# shellcheck disable=SC2016	# jq's variables
ok "html: functions" same '[100000,900000]' data \
	'[.self as $s|range(2;$s|length;3)|$s[.]]|sort'
# shellcheck disable=SC2016
ok "html: and what they call" same '[100000,900000,1000000]' data \
	'[.total as $s|range(2;$s|length;3)|$s[.]]|sort'
# runs of one cell: slice, series, 1, node, events
for part in cells heat whole; do
	ok "html: $part" same '[100000,900000]' data \
		"[.$part as \$s|range(4;\$s|length;5)|\$s[.]]|sort"
done

log even <<-EOF
	$preamble
	event cycles 5000
	$light
	$heavy
EOF
change()	# [OPTION]...: shares before and after
{
	"$pmclog" diff -k "$tmp/kallsyms" "$@" "$tmp/even" "$tmp/l" |
		awk '/ \[k\]/{ print $(NF - 1), $1, $2, $3 }'
}
ok "diff with a log of a fixed period" same "\
heavy 50.00 90.00 +40.00
light 50.00 10.00 -40.00" change
ok "diff with totals" same "\
heavy 50.00 90.00 +40.00
light 50.00 10.00 -40.00" change --total -l 1
ok "diff: its head" prints 0 "^After .*: 200 samples of 1,000,000 events" \
	"$pmclog" diff "$tmp/even" "$tmp/l"
ok "diff: folded" same "\
big;outer_[k];heavy_[k] 100 900000
small;outer_[k];light_[k] 100 100000" bash -c "$pmclog diff --folded \
	-k $tmp/kallsyms $tmp/even $tmp/l | sort"
ok "diff: flame" bash -c "$pmclog diff --flame -k $tmp/kallsyms $tmp/even \
	$tmp/l | grep -q '900,000 events, 90.00 %'"
ok "top" same "90.0 heavy 10.0 light " bash -c "$pmclog top -k $tmp/kallsyms \
	$tmp/l | awk '/kernel/{ printf \"%s %s \", \$1, \$3 }
		END { print \"\" }'"
ok "top: the samples" prints 0 "Samples: 200 (100.0%)" "$pmclog" top "$tmp/l"

# --- instructions
${CC:-cc} -O1 -fno-toplevel-reorder -no-pie -fno-pie -o "$tmp/shapes" \
	"$HERE/../reader/programs/shapes.c"
at=$(symbol "$tmp/shapes" calls)
second=$(objdump -d --disassemble=calls "$tmp/shapes" |
	awk -F: '/^ +[0-9a-f]+:/ && ++n == 2 { print "0x" $1 }' | tr -d ' ')
{
	echo "freq cycles 4000
		proc 7 shapes"
	load 7 0 "$tmp/shapes"
	echo "period 1000
		sample 30 7 $at
		sample 50 7 $(symbol "$tmp/shapes" after)
		period 7000
		sample 10 7 $second"
} | log code
instructions()	# FUNCTION: share and samples
{
	"$pmclog" annotate --no-source "$1" "$tmp/code" |
		awk -F '|' '/% of all/
			NF > 1 && split($1, w, " ") == 2 { print w[1], w[2] }'
}
ok "annotate" same "\
  cycles: 40 samples, 100,000 events, 66.67 % of all events
30.00 30
70.00 10" instructions calls
ok "annotate: the hottest first" same "calls after " bash -c "
	$pmclog annotate --no-source -a $tmp/code |
	awk '/ in shapes/{ printf \"%s \", \$1 } END { print \"\" }'"

ok "annotate: what is behind the limit" prints 0 \
	"^1 more function, with 50 samples (-n)$" \
	"$pmclog" annotate --no-source -a -n 1 "$tmp/code"

# --- exports
want="cycles big;outer;heavy 900000
cycles small;outer;light 100000"
exported()	# FORMAT [OPTION]...
{
	view export --to "$1" -o "$tmp/x" "${@:2}" l &&
		"${PYTHON:-python3}" "$HERE/../reader/python/exported.py" -w "$1" \
			"$tmp/x" | sed 's/^- /cycles /'
}
for format in folded csv jsonl perf-script speedscope clickhouse firefox; do
	ok "export to $format" same "$want" exported $format
done
for format in folded speedscope; do
	ok "export to $format by --weight period" same "$want" \
		exported $format --weight period
	ok "export to $format by --weight samples" same "\
cycles big;outer;heavy 100
cycles small;outer;light 100" exported $format --weight samples
done
sums()
{
	view export --to pprof -o "$tmp/x" l &&
		"${PYTHON:-python3}" "$HERE/../reader/python/exported.py" pprof-sums "$tmp/x"
}
ok "export to pprof: samples and events" same "samples 200
cycles 1000000" sums
costs()	# [OPTION]...: the sum, and the costs of the two functions themselves
{
	view export --to callgrind "$@" l | awk '/^summary:/{ print $2 }
		/^fn=/{ self = NF > 1; name = $2 }
		/^calls=/{ getline; next }
		/^[0-9]/ && name ~ /light|heavy/ { print name, $2 }
		/^cfn=.* heavy/{ id = $1; sub(/^c/, "", id) }
		$1 == id { name = "heavy" }' | sort -u
}
ok "export to callgrind" same "\
1000000
heavy 900000
light 100000" costs
ok "export to callgrind by --weight period" same "\
1000000
heavy 900000
light 100000" costs --weight period
ok "export to callgrind by --weight samples" same "\
200
heavy 100
light 100" costs --weight samples

# --- beside an event of a fixed period
log both <<-EOF
	$preamble
	event cpu-clock 1000000 2
	freq cycles 4000 3
	pmc 3
	period 1000
	$light
	period 9000
	$heavy
	pmc 2
	$light
	$light
EOF
ok "each event has shares of its own" same "\
100.00 100.00 200 small [kernel] light [k]
90.00 90.00 100 big [kernel] heavy [k]
10.00 10.00 100 small [kernel] light [k]" rows both
ok "together they are counted in samples" same "\
big;outer_[k];heavy_[k] 100
small;outer_[k];light_[k] 300" view fold -e all both
ok "one of them is not" same "\
big;outer_[k];heavy_[k] 900000
small;outer_[k];light_[k] 100000" view fold -e cycles both
ok "export folded: their periods together" same "\
big;outer_[k];heavy_[k] 900000
small;outer_[k];light_[k] 200100000" view export --to folded -e all \
	--weight period both

done_testing
