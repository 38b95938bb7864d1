#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same samples by process, thread, CPU and time, from both ends of their
# chains, and only those that are asked for.
. "$(dirname "$0")/lib.sh"

kallsyms reference outer middle inner - end
log views <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 7 prog
	proc 8 prog
	proc 9 other\x20name
	at 1000000000
	cpu 1
	sample 10 7 $k+0x3010 $k+0x1010
	at 2000000000
	cpu 3
	tid 71
	sample 20 7 $k+0x3010 $k+0x2010 $k+0x1010
	at 3000000000
	tid 0
	sample 30 8 $k+0x3010 $k+0x2010
	at 3500000000
	cpu 700
	sample 40 9 0x10
	at 5000000000
EOF

report()
{
	"$pmclog" report -k "$tmp/kallsyms" -l 0 "$@" "$tmp/views"
}
# rows OPTION...: the profile's rows, blanks squeezed
rows()
{
	report --flat "$@" | profile_rows
}
ok "by process" same "\
40.00 40.00 40 9
30.00 30.00 30 7
30.00 30.00 30 8" rows -s pid
ok "by thread" same "\
40.00 40.00 40 9 9
30.00 30.00 30 8 8
20.00 20.00 20 7 71
10.00 10.00 10 7 7" rows -s tid,pid
ok "by CPU, above 255 too" same "\
50.00 50.00 50 3
40.00 40.00 40 700
10.00 10.00 10 1" rows -s cpu
ok "by process and symbol" same "\
40.00 40.00 40 9 [unknown]
30.00 30.00 30 7 inner [k]
30.00 30.00 30 8 inner [k]" rows -s pid,sym
ok "by second, in the order of time" same "\
10.00 10.00 10 1.00 prog
20.00 20.00 20 2.00 prog
40.00 40.00 40 3.00 other name
30.00 30.00 30 3.00 prog" rows -s time,comm
ok "by slices of half a second" same "\
10.00 10.00 10 1.00
20.00 20.00 20 2.00
30.00 30.00 30 3.00
40.00 40.00 40 3.50" rows -s time --slice 500ms
ok "by slices of 25 ms, with their digits" same "\
10.00 10.00 10 1.000
20.00 20.00 20 2.000
30.00 30.00 30 3.000
40.00 40.00 40 3.500" rows -s time --slice 25ms
ok "less than a nanosecond" prints 2 'of a nanosecond or more' "$pmclog" report -s time \
	--slice 0.4ns "$tmp/log"
log rare <<-EOF
	event cpu-clock 1000000
	proc 7 prog
	at 1000000000
	sample 1000 7 0x10
	at 2000000000
	sample 1 7 0x10
EOF
of_rare() { "$pmclog" report --flat "$@" "$tmp/rare" | profile_rows; }
first="99.90 99.90 1,000 1.00"
ok "a series of time has its small rows, too" same "\
$first
0.10 0.10 1 2.00" of_rare -s time
ok "but not beside another key, and not if a limit is asked for" same "\
$first prog
0.10 1 in 1 more row
$first
0.10 1 in 1 more row" eval "of_rare -s time,comm; of_rare -s time -l .5"
# self OPTION...: the rows of the profile without totals
self()
{
	report --self "$@" | profile_rows
}
ok "without totals" same "\
60.00 60 inner [k]
40.00 40 [unknown]" self -s sym
ok "without totals, by process" same "\
40.00 40 9
30.00 30 7
30.00 30 8" self -s pid
ok "without totals the rest has none" same "\
60.00 60 inner [k]
40.00 40 in 1 more row" self -s sym -n 1
callers()
{
	report --callers | sed -n '/Callers/,/^$/p' |
		sed '1d;/^$/d;s/^\(........\)  *\([^ ].*\)/\1 \2/'
}
ok "the callers" same "\
   60.00 inner [k]
   50.00 +-middle [k]
   20.00 | \`-outer [k]
   10.00 \`-outer [k]
   40.00 [unknown]" callers

# functions that were called again, from other places, after others
log again <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 7 prog
	sample 1 7 $k+0x3010 $k+0x1010
	sample 2 7 $k+0x3010 $k+0x2010
	sample 4 7 $k+0x3010 $k+0x1020
	sample 8 7 $k+0x3010 $k+0x5010
	sample 16 7 $k+0x3010 $k+0x2020
EOF
calls()
{
	"$pmclog" report -k "$tmp/kallsyms" -l 0 --tree "$tmp/again" |
		sed -n '/Calls/,/^$/p' | sed '1d;/^$/d;s/  */ /g'
}
ok "functions that are called again are no others" same "\
 100.00 prog
 58.06 58.06 +-middle [k] > inner [k]
 25.81 25.81 +-end [k] > inner [k]
 16.13 16.13 \`-outer [k] > inner [k]" calls

# counts WANT OPTION...: so many samples are left
counts()
{
	local want=$1
	shift
	report --flat "$@" | grep -q "^  Samples  *$want:" && return
	report --flat "$@"
	return 1
}
ok "--pid" counts 70 --pid 7,9
ok "--pid takes ranges" counts 60 --pid 7-8
ok "--tid" counts 20 --tid 71
ok "--cpu" counts 50 --cpu 2-3
ok "--comm takes patterns" counts 60 --comm 'pr*'
ok "--comm twice is either" counts 100 --comm prog --comm '*name'
ok "--user" counts 40 --user
ok "--kernel-mode" counts 60 --kernel-mode
ok "--time from and to" counts 50 --time 2-3.2
ok "--time takes units" counts 20 --time 1500ms-2500ms
ok "--time with an open end" counts 70 --time 3-
ok "--time with an open beginning" counts 10 --time -1.5s
ok "--time with a length" counts 30 --time 1s+1500ms
ok "--time in parts of the log" counts 20 --time 30%-50%
ok "all parts are all" counts 100 --time 0%-100%

# parts SAMPLES LOG: as many are in its second half, however the profile is made
parts()
{
	local view
	for view in --flat --self --tree; do
		"$pmclog" report "$view" --time 50%- "$2" >"$tmp/got" 2>"$tmp/err"
		grep -q "^  Samples  *$1:" "$tmp/got" && continue
		cat "$tmp/got" "$tmp/err"
		return 1
	done
	"$pmclog" fold --time 50%- "$2" 2>"$tmp/err" |
		awk -v want="$1" '{ n += $NF } END { exit n != want }'
}
ok "parts of a log" parts 70 "$tmp/views"
head -c -8 "$tmp/views" >"$tmp/cut"
ok "parts of a log that has no end" parts 90 "$tmp/cut"
log later <<-EOF
	wall $(date -d 2026-01-01T00:00:10Z +%s)
	event cpu-clock 1000000
	proc 7 prog
	at 1000000000
	sample 5 7 0x10
	at 2000000000
EOF
cat "$tmp/views" "$tmp/later" >"$tmp/both"
ok "parts of two logs in a row" parts 5 "$tmp/both"
# the clock of the record that says how many bytes from the end it begins
closelog=$("$pmclog" dump -j "$tmp/views" | jq 'select(.record == "closelog").offset')
{
	head -c $((closelog + 8)) "$tmp/views"
	printf '\001\0\0\0\0\0\0\0'
	tail -c +$((closelog + 17)) "$tmp/views"
} >"$tmp/lies"
ok "parts of a log whose end tells a wrong time" parts 90 "$tmp/lies"
# two events in turn, and losses told of before and after the slice
{
	echo "event cpu-clock 1000 1
		event page-faults 1 2
		proc 7 prog"
	for at in 1 2 3 4 5 6; do
		echo "at ${at}000000000
			pmc 1
			sample 50 7 0x10
			pmc 2
			sample 7 7 0x10
			pmc 1
			sample 30 7 0x10
			drop 0 $at
			pmc 2
			drop 1 $at"
	done
} | log turns
# told OPTION...: what report says of all of a log, and of its losses
told()
{
	"$pmclog" report "$@" "$tmp/turns" >"$tmp/got" 2>&1 || { cat "$tmp/got"; return 1; }
	sed 's/^\(  Samples  *\).*of \([0-9]*\); .*/\1\2/
	     s/^\(  Samples  *\)\([0-9]*\):.*/\1\2/' "$tmp/got" |
		grep -E '^[A-Z]|^  (Samples|Lost|Rate)' | grep -vE '^(Samples|No samples)'
}
told >"$tmp/told"
same_told()
{
	grep -q 'Lost  *21 ' "$tmp/told" && told "$@" | diff "$tmp/told" -
}
for t in 2.5-3.5 40%-60% 90%- -10% 1ns-2ns; do
	ok "what is said of all of the log is the same with --time $t" \
		same_told --time $t
done
ok "conditions add up" counts 20 --pid 7 --time 1.5-
says()
{
	local want=$1
	shift
	report "$@" | grep -q "$want"
}
ok "what is left out is said" says "of 100; the others were not" --pid 7
ok "none left" says "^No samples" --pid 12345
ok "fold takes them too" same "prog;middle_[k];inner_[k] 30" \
	"$pmclog" fold -k "$tmp/kallsyms" --pid 8 "$tmp/views"
ok "flame takes them too" prints 0 "30 samples" "$pmclog" flame --pid 8 \
	-k "$tmp/kallsyms" "$tmp/views"

for bad in "--pid x" "--pid 3-1" "--pid 4294967296" "--pid 3," "--cpu -1" \
	   "--time 5" "--time 3-1" "--time 1s+50%" "--time x-" "--time nan-" \
	   "--self --tree" "--callers --self" "--slice 0" "--slice 5%" "-s nonsense"; do
	# shellcheck disable=SC2086
	ok "$bad is refused" exits 2 "$pmclog" report $bad "$tmp/views"
done
stream()
{
	"$pmclog" report --time 0%-50% - <"$tmp/views"
}
ok "parts of a stream are refused" exits 1 stream

# of a part of the time, its length
log window <<-EOF
	host 6.12-test node
	machine 183
	event cycles 1000
	proc 7 prog
	at 1000000000
	sample 3 7 0x10
	at 9000000000
	sample 5 7 0x10
	at 10000000000
EOF
ok "flame: the whole time" prints 0 ">8 samples in 10.00 s" \
	"$pmclog" flame "$tmp/window"
ok "flame: a part of it" prints 0 ">3 samples in 1.50 s" \
	"$pmclog" flame --time 0.5-2 "$tmp/window"
ok "flame: to the end" prints 0 ">5 samples in 2.00 s" \
	"$pmclog" flame --time 80%- "$tmp/window"
go_pprof=/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof
if [ -x $go_pprof ]; then
	"$pmclog" export --to pprof --time 0.5-2 -o "$tmp/w.pb" "$tmp/window"
	ok "pprof: a part of it" prints 0 "^Duration: 1.50s" \
		$go_pprof -top "$tmp/w.pb"
else
	skip "pprof: a part of it" "no golang-1.19-go"
fi
done_testing
