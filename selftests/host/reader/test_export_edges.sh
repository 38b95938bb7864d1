#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Exports of what the log of test_export.sh has not: events of one name, files of one name,
# costs of two kinds, outputs that fail, and streams.
. "$(dirname "$0")/lib.sh"

# export_to FORMAT LOG [OPTION]...: makes $tmp/x
export_to()
{
	"$pmclog" export --to "$1" -o "$tmp/x" "${@:3}" "$tmp/$2" 2>"$tmp/.err" || { cat "$tmp/.err"; return 1; }
}

# Two recordings of an event in a row, with other periods: readers have one name for a value.
log twice <<-EOF
	event cycles 1000 1
	event cycles 9000 2
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/lib
	pmc 1
	sample 60 7 0x10010
	pmc 2
	sample 40 7 0x10010
EOF
sums()
{
	export_to pprof twice -e all &&
		same $'cycles:samples 60\ncycles 60000\ncycles_2:samples 40\ncycles_2 360000' \
			python3 "$HERE/python/exported.py" pprof-sums "$tmp/x"
}
ok "pprof: events of one name" sums
names_of()	# FORMAT FILTER
{
	export_to "$1" twice -e all && same "$3" jq -r "$2" "$tmp/x"
}
ok "speedscope" names_of speedscope '.profiles[].name' $'cycles\ncycles_2'
ok "firefox" names_of firefox '.threads[].name' $'prog (cycles)\nprog (cycles_2)'

# A thread that has executed other programs has the name of the one with most samples.
log executed <<-EOF
	event cycles 1000 1
	proc 7 shell
	map 7 0x10000 0x1000 0 /bin/shell
	sample 2 7 0x10010
	proc 7 tool
	exec 7 /bin/tool
	map 7 0x10000 0x1000 0 /bin/tool
	sample 30 7 0x10010
	proc 7 last
	exec 7 /bin/last
	map 7 0x10000 0x1000 0 /bin/last
	sample 3 7 0x10010
	proc 0 [idle]
	sample 1 0 $k+0x10
EOF
main_command()	# FORMAT FILTER [OPTION]...
{
	export_to "$1" executed "${@:3}" && same $'[idle]\ntool' bash -c "jq -r '$2' $tmp/x | sort"
}
ok "firefox: a thread with three commands" main_command firefox '.threads[].name'
ok "speedscope: likewise" main_command speedscope '.profiles[].name | split(" ")[1]' --by thread
swapper()
{
	export_to perf-script executed && [ "$(grep -c '^swapper     0/0 ' "$tmp/x")" = 1 ] && ! grep -F '[idle]' "$tmp/x"
}
ok "perf-script: an idle CPU has the name that perf gives it" swapper

# A sample whose user chain is recorded later comes in its place all the same; in a stream
# nobody waits for it for longer than a second.
ms=000000
log asleep <<-EOF
	event cycles 1000 1
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/lib
	tid 77
	since
	late 1 77 7 $k+0x10 0x10010
	tid 7
	sample 1 7 0x10020
	at 2500$ms
	sample 2 7 0x10020
	userchain 77 7 0x10010 0x10030
EOF
tids_of()	# FORMAT COLUMN
{
	export_to "$1" asleep && same $'77\n7\n7\n7' sed -nE "$2" "$tmp/x" && [ ! -s "$tmp/.err" ]
}
ok "jsonl: in the order of the log" tids_of jsonl 's/.*"tid":([0-9]+).*/\1/p'
ok "csv: likewise" tids_of csv 's|^[0-9.]+,[0-9]+,[0-9]+,([0-9]+),.*|\1|p'
ok "perf-script: likewise" tids_of perf-script 's|^prog +7/([0-9]+) .*|\1|p'
hurried()
{
	# shellcheck disable=SC2002 # a pipe is meant
	cat "$tmp/asleep" | "$pmclog" export --to jsonl - >"$tmp/x" 2>"$tmp/told" &&
		same $'7\n7\n7\n77' sed -nE 's/.*"tid":([0-9]+).*/\1/p' "$tmp/x" &&
		grep -q ': 1 sample comes late: its user chain was recorded long after the sample$' "$tmp/told"
}
ok "jsonl: of a stream, it comes late" hurried

# What is put before a name for spreadsheets makes it no other's.
log formulas <<-EOF
	event cycles 1000 1
	proc 7 =1+1
	proc 8 '=1+1
	map 7 0x10000 0x1000 0 /x/lib
	map 8 0x10000 0x1000 0 /x/lib
	sample 1 7 0x10010
	sample 1 8 0x10010
EOF
formulas()
{
	export_to csv formulas && same "'=1+1
''=1+1" bash -c "sed 1d $tmp/x | cut -d, -f5 | tr -d '\"'"
}
ok "csv: names like formulas" formulas

# Two containers' libraries
log same <<-EOF
	event cycles 1000 1
	proc 7 prog
	map 7 0x10000 0x1000 0 /a/lib/libx.so
	map 7 0x20000 0x1000 0 /b/lib/libx.so
	sample 60 7 0x10010
	sample 40 7 0x20010
EOF
objects()
{
	export_to callgrind same && same $'/a/lib/libx.so\n/b/lib/libx.so' \
		sed -n 's/^ob=([0-9]*) \(.*libx.so\)$/\1/p' "$tmp/x"
}
ok "callgrind: files of one name" objects

# Costs of one kind are said once, those of two for each.  Calls are samples.
log mixed <<-EOF
	freq cycles 4000 1
	event cpu-clock 1000000 2
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/lib
	pmc 1
	period 50000
	sample 3 7 0x10010
	pmc 2
	sample 5 7 0x10010
EOF
costs()
{
	export_to callgrind mixed -e all &&
		grep -qx 'desc: Costs of cycles: how often events happened' "$tmp/x" &&
		grep -qx 'desc: Costs of cpu_clock: samples' "$tmp/x" &&
		grep -q '^calls=8 ' "$tmp/x" &&
		export_to callgrind mixed -e cpu-clock && grep -qx 'desc: Costs: samples' "$tmp/x" &&
		export_to callgrind mixed -e cycles &&
		grep -qx 'desc: Costs: how often events happened' "$tmp/x" && grep -q '^calls=3 ' "$tmp/x"
}
ok "callgrind: costs of two kinds" costs

# All blocks have the columns of the first, which readers take for those of all: if the log
# describes fields, or once a sample has some.
python3 "$HERE/python/fields.py" >"$tmp/fields.text"
{
	sed '/^\(sample\|late\)/,$d' "$tmp/fields.text"
	echo "event cpu-clock 1000 99"
	echo "pmc 99"
	echo "sample 70000 7 0x1000"
} | log described
{
	echo "event cpu-clock 1000 99"
	echo "proc 7 prog"
	echo "tracepoint sched:sched_switch 314 1"
	echo "pmc 1"
	echo "sample 1 7 0x1000"
	echo "raw 4006010208000000dead"
	echo "pmc 99"
	echo "sample 70000 7 0x1000"
} | log not_described
columns()	# LOG COUNTS
{
	export_to clickhouse "$1" -e all &&
		same "$2" python3 "$HERE/python/exported.py" clickhouse-columns "$tmp/x"
}
ok "clickhouse: fields that are described" columns described $'15\n15'
ok "fields that are not" columns not_described $'15\n15'
sed -i '/^tracepoint\|^raw/d' "$tmp/fields.text"
ok "no fields" columns twice 14

schema()
{
	"$pmclog" export --to clickhouse --schema >"$tmp/want" &&
		"$pmclog" export --to clickhouse --schema -o "$tmp/schema" >"$tmp/said" &&
		[ ! -s "$tmp/said" ] && cmp "$tmp/want" "$tmp/schema"
}
ok "the schema goes to a file, too" schema

# A live log: it has no end, and the output has failed.
mkfifo "$tmp/fifo"
prog_log long <<-EOF
	map 7 0x10000 0x1000 0 /x/lib
	sample 70000 7 0x10010
EOF
live()
{
	local got=0
	exec 9<>"$tmp/fifo"
	cat "$tmp/long" >&9 &
	timeout 60 "$pmclog" export --to "$1" "$tmp/fifo" >/dev/full 2>"$tmp/.err" || got=$?
	exec 9>&-
	kill $! 2>"$tmp/.kill"
	wait
	[ $got = 1 ] && grep "No space left" "$tmp/.err"
}
for format in csv jsonl perf-script; do
	ok "$format: an output that fails ends a recording's export" live $format
done

# Parts of a time that is not known
parts()
{
	prints 1 "parts are not known: give seconds$" timeout 60 "$pmclog" "$@"
}
feed()
{
	cat "$tmp/long" >"$tmp/fifo" &
	parts "$@" "$tmp/fifo"
	local ret=$?
	kill $! 2>"$tmp/.kill"
	wait
	return $ret
}
ok "--time with parts: a FIFO" feed fold --time 0%-50%
ok "to filter" feed filter -o "$tmp/part" --time 0%-50%
ok "a pipe by name" parts fold --time 0%-50% <(cat "$tmp/long")
done_testing
