#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The fields of tracepoints, in every command that shows them.  What is expected
# was written by hand, from the values that fields.py has packed.
. "$(dirname "$0")/lib.sh"

python3 "$HERE/python/fields.py" | log fields
kallsyms schedule end
ok "a sound log" prints 0 "^ok: .* 18 samples" "$pmclog" verify "$tmp/fields"

rel=$'msg=hello yes=1 small=-5 both=0102030405060708090a0b0c list=[7,2147483648]'
want=$(cat <<-'EOF'
	prev_comm=prog prev_pid=7 prev_prio=120 prev_state=1 next_comm=kworker/0:1-ev next_pid=31 next_prio=98
	prev_comm="a \"b\"=c\\\033\377" prev_pid=8 prev_prio=120 prev_state=-1 next_comm=sixteen.letters. next_pid=7 next_prio=98
	filename=/usr/bin/env pid=8 old_pid=-1
	filename="/tmp/café \342\200\256" pid=8 old_pid=-1
	filename="" pid=8 old_pid=-1
	__syscall_nr=257 dfd=4294967196 filename=0x7ffd00001000 flags=524288 mode=0
	call_site=18446744071581156711 ptr=0xffff888100000000 bytes_req=24 bytes_alloc=32 gfp_flags=3264 node=-1
	id=257 args=[1,2,3,9007199254740992,9007199254740993,18446744073709551615]
	id=-1 args=[0,0,0,0,0,0]
	skaddr=0xffff888000000001 oldstate=1 newstate=2 sport=443 dport=8080 family=2 protocol=6 saddr=[10,0,0,1] daddr=[127,0,0,1] saddr_v6=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15] daddr_v6=[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
	REL
	raw=4006010208000000dead
	filename="/long"... pid=8 old_pid=-1 [25 of 2000 bytes]
	filename=? pid=? old_pid=? [14 of 2000 bytes]
	prev_comm=prog prev_pid=7 prev_prio=120 prev_state=1 next_comm=x next_pid=? next_prio=? [42 of 64 bytes]
	prev_comm=? prev_pid=? prev_prio=? prev_state=? next_comm=? next_pid=? next_prio=? [0 of 64 bytes]
	filename="abc"... pid=1 old_pid=1
	filename=? pid=1 old_pid=1
EOF
)
want=${want/REL/$rel}

# dump: a line behind each sample, with the common ones
dumped()
{
	"$pmclog" dump "$tmp/fields" | grep -A4 '^callchain' |
		grep -A1 '^userdata .* raw ' |
		sed -n 's/^\.\.\. *common_type=[0-9?]* common_flags=[1?] common_preempt_count=[2?] common_pid=[0-9?]* //p
			s/.* data=\([0-9a-f]*\) .*/raw=\1/p'
}
ok "dump, by name" same "$want" dumped
ok "dump, whose they are" prints 0 \
	" raw pmcid=0xfff00f01 tid=7 len=25 size=2000 tsc=" \
	"$pmclog" dump "$tmp/fields"
ok "dump, as JSON" same '317 1 2 7 "prog"
488 1 2 8 null' jq -r 'select(.extension == "raw" and (.fields.next_pid == 31 or
	.fields.node) and .len > 50) | .fields | "\(.common_type) " +
	"\(.common_flags) \(.common_preempt_count) \(.common_pid) " +
	"\(.prev_comm | tojson)"' <("$pmclog" dump -j "$tmp/fields")
ok "dump, as JSON, of which nothing is told" same 4006010208000000dead \
	jq -r 'select(.data) | .data' <("$pmclog" dump -j "$tmp/fields")

json=$(cat <<-'EOF'
	{"prev_comm":"prog","prev_pid":7,"prev_prio":120,"prev_state":1,"next_comm":"kworker/0:1-ev","next_pid":31,"next_prio":98}
	{"prev_comm":"a \"b\"=c\\\u001b\ufffd","prev_pid":8,"prev_prio":120,"prev_state":-1,"next_comm":"sixteen.letters.","next_pid":7,"next_prio":98}
	{"filename":"/usr/bin/env","pid":8,"old_pid":-1}
	{"filename":"/tmp/café \u202e","pid":8,"old_pid":-1}
	{"filename":"","pid":8,"old_pid":-1}
	{"__syscall_nr":257,"dfd":4294967196,"filename":"0x7ffd00001000","flags":524288,"mode":0}
	{"call_site":"18446744071581156711","ptr":"0xffff888100000000","bytes_req":24,"bytes_alloc":32,"gfp_flags":3264,"node":-1}
	{"id":257,"args":[1,2,3,9007199254740992,"9007199254740993","18446744073709551615"]}
	{"id":-1,"args":[0,0,0,0,0,0]}
	{"skaddr":"0xffff888000000001","oldstate":1,"newstate":2,"sport":443,"dport":8080,"family":2,"protocol":6,"saddr":[10,0,0,1],"daddr":[127,0,0,1],"saddr_v6":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"daddr_v6":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}
	{"msg":"hello","yes":1,"small":-5,"both":"0102030405060708090a0b0c","list":[7,2147483648]}
	{"raw":"4006010208000000dead"}
	{"filename":"/long","pid":8,"old_pid":-1,"fields_cut":1975}
	{"filename":null,"pid":null,"old_pid":null,"fields_cut":1986}
	{"prev_comm":"prog","prev_pid":7,"prev_prio":120,"prev_state":1,"next_comm":"x","next_pid":null,"next_prio":null,"fields_cut":22}
	{"prev_comm":null,"prev_pid":null,"prev_prio":null,"prev_state":null,"next_comm":null,"next_pid":null,"next_prio":null,"fields_cut":64}
	{"filename":"abc","pid":1,"old_pid":1}
	{"filename":null,"pid":1,"old_pid":1}
EOF
)
export_to()	# FORMAT [OPTION]...
{
	"$pmclog" export --to "$1" -e all "${@:2}" "$tmp/fields"
}
jsonl()
{
	export_to jsonl >"$tmp/jsonl" && jq -e . "$tmp/jsonl" >/dev/null &&
		sed 's/.*],"fields"://; s/}$//' "$tmp/jsonl"
}
ok "jsonl" same "$json" jsonl
csv()
{
	export_to csv >"$tmp/csv" && python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")):
    print(row["fields"])' "$tmp/csv"
}
ok "csv" same "$want" csv
perf_script()
{
	export_to perf-script >"$tmp/perf-script" &&
		sed -n 's/^[a-z].*: *1 [a-z_]*:[a-z_]*: //p' "$tmp/perf-script"
}
ok "perf-script" same "$want" perf_script
ok "perf-script, as others read it" same \
	"sched:sched_process_exec prog;?;schedule 7" bash -c "python3 \
	$HERE/python/exported.py perf-script $tmp/perf-script | grep exec"

clickhouse()
{
	export_to clickhouse -o "$tmp/clickhouse" &&
		python3 "$HERE/python/exported.py" clickhouse-fields "$tmp/clickhouse"
}
ok "clickhouse" same "$json" clickhouse

# Others take no notice
ok "fold" same "kmem:kmalloc other;?;schedule 1
raw_syscalls:sys_enter prog;?;schedule 2
sched:sched_process_exec prog;?;schedule 7
sched:sched_switch other;?;schedule 1
sched:sched_switch prog;?;schedule 3
sock:inet_sock_set_state prog;?;schedule 1
syscalls:sys_enter_openat other;?;schedule 1
test:untold other;?;schedule 1
user_events:told other;?;schedule 1" bash -c \
	"$pmclog export --to jsonl -e all $tmp/fields |
		python3 $HERE/python/exported.py jsonl /dev/stdin"
for command in fold "flame -o /dev/null" "html -o /dev/null" report; do
	# shellcheck disable=SC2086
	ok "$command" exits 0 "$pmclog" $command -e sched:sched_switch \
		"$tmp/fields"
done

# filter: they go with their samples
parts()	# WANT OPTION...: samples and their fields that are left
{
	"$pmclog" filter "${@:2}" -o "$tmp/part" "$tmp/fields" &&
		"$pmclog" verify "$tmp/part" >/dev/null &&
		same "$1" bash -c "$pmclog dump -j $tmp/part | jq -r '
			select(.extension == \"raw\" or
			       .record == \"callchain\") | .record' |
			sort | uniq -c | awk '{ print \$2, \$1 }'"
}
ok "filter, of a process" parts "callchain 5
userdata 5" --pid 8
ok "filter, of an event" parts "callchain 4
userdata 4" -e sched:sched_switch
ok "filter, of kernel mode" parts "callchain 18
userdata 18" --kernel-mode
ok "filter, of none" bash -c "$pmclog filter --pid 9 -o $tmp/part $tmp/fields &&
	! $pmclog dump $tmp/part | grep ' raw '"
ok "filter, formats stay" same 7 bash -c "$pmclog dump $tmp/part |
	grep -c 'hwpmc fields'"

# report: by a field
by()	# FIELD EVENT: samples and value
{
	"$pmclog" report --flat --field "$1" -s sym -l 0 -e "$2" "$tmp/fields" |
		awk '/^ +[0-9.]+ / { print $3, $4 }' | sort
}
ok "report by a field" same "1 ?
1 kworker/0:1-ev
1 sixteen.letters.
1 x" by next_comm sched:sched_switch
ok "report by a number" same "1 -1
1 257" by id raw_syscalls:sys_enter
ok "report, names the field" prints 0 "Samples  *next_pid  *Command " \
	"$pmclog" report --field next_pid -e sched:sched_switch "$tmp/fields"
ok "report by what no sample has" prints 1 'no sample has a field "no_such"' \
	"$pmclog" report --field no_such "$tmp/fields"

# info
ok "info, when all were switched" prints 0 \
	"^switched *on 1 and off 1 time, 8 PMCs within 4321 ns" \
	"$pmclog" info "$tmp/fields"
ok "info, who has fields" prints 0 "^  mode .*, fields$" \
	"$pmclog" info "$tmp/fields"
log killed <<-EOF
	event cpu-clock 1000
	sample 1 7 0x10
	snapshot 2 7 9 1500000000 250000000
EOF
ok "info, why a snapshot was taken" same "snapshot   process 7 was killed by \
signal 9, at 1.500000000 s; complete from 0.250000000 s on" \
	bash -c "$pmclog info $tmp/killed | grep ^snapshot"
ok "dump, why a snapshot was taken" prints 0 "snapshot cause=exit pmcid=0xfff\
fffff pid=7 status=0x9 when=1001500000000 since=1000250000000 " \
	"$pmclog" dump "$tmp/killed"

# a user chain that comes later, and a record between
fields=$(sed -n 's/^fields 311 //p' <<<"$(python3 "$HERE/python/fields.py")")
exec=$(printf '370101000700000014000400''0800000007000000''61626300')
log late <<-EOF
	kernel 0xffffffff81000000 schedule
	tracepoint sched:sched_process_exec 311
	fields 311 $fields
	proc 7 prog
	proc 8 filler
	late 1 7 7 0xffffffff81000010 0x1010
	raw $exec
	sample 10000 8 0x10
	sample 1 7 0xffffffff81000010 0x2010
	raw $exec
	at 50000000
	sample 1 7 0xffffffff81000010 0x2010
	at 50002000
	raw $exec
	sample 1 7 0xffffffff81000010 0x3010
	exec 7 /bin/next
	raw $exec
	userchain 7 7 0x1010 0x1020
	late 1 7 7 0xffffffff81000010 0x1010
	raw $exec
EOF
late()
{
	"$pmclog" export --to jsonl "$tmp/late" |
		jq -c 'select(.comm != "filler") | [.comm, (.stack | length), .fields.filename]'
}
ok "late chains keep their fields; what is not right behind is not theirs" \
	same '["prog",3,"abc"]
["prog",2,"abc"]
["prog",2,null]
["prog",2,null]
["prog",2,"abc"]' late
ok "which verify finds" prints 1 "RAW that is not right behind its sample" \
	"$pmclog" verify "$tmp/late"
log last <<-EOF
	tracepoint sched:sched_process_exec 311
	sample 1 7 0x2010
	cut
EOF
ok "nor does the last sample need any" same 1 bash -c \
	"$pmclog export --to jsonl $tmp/last | wc -l"

# a field that never has the same value twice: so many rows, and no more
{
	echo "tracepoint test:count 900"
	echo "fields 900 field:int\\x20n;offset:0;size:4;"
	python3 -c 'for i in range(66000):
    print("sample 1 7 0x10\nraw", i.to_bytes(4, "little").hex())'
} | log many
ok "a field with too many values" same "464 [others]" bash -c "$pmclog report \
	--flat --field n -s sym -l 0 $tmp/many |
	awk '\$4 == \"[others]\" { print \$3, \$4 }'"

# formats that are none
hostile()	# LINES...
{
	local i=0 line
	{
		for line in "$@"; do
			echo "tracepoint test:evil$i $i $((16#FFF00F00 + i))"
			echo "fields $i $line"
			echo "sample 1 7 0x10"
			echo "raw 0102030405060708"
			i=$((i + 1))
		done
	} | log hostile
	"$pmclog" export --to jsonl -e all "$tmp/hostile" | jq -c .fields
}
t=field:
ok "formats that are none" same '{}
{}
{}
{}
{}
{}
{}
{"a":1}
{"a":1,"b":2}
{"a":null}
{"a":null}
{"a":"010203"}
{"a":[1,2,3]}
{"a":"\u0001\u0002\u0003"}
{"a":513}
{"a":[513,1027,1541,2055]}
{"a":["0x807060504030201"]}' hostile \
	x $t "${t}int" "${t}int;offset:0;size:4;" \
	"${t}int\\x209a;offset:0;size:4;" \
	"${t}int\\x20a\\x22b;offset:0;size:99999;" \
	"${t}int\\x20a;offset:0;size:0;" \
	"${t}u8\\x20a;offset:0;size:1;\\x0agarbage" \
	"${t}u8\\x20a;offset:0;size:1;\\x0a\\x09${t}u8\\x20b;offset:1;size:1;" \
	"${t}int\\x20a;offset:6;size:4;" \
	"${t}int\\x20a;offset:65535;size:65535;" \
	"${t}struct\\x20x\\x20a;offset:0;size:3;" \
	"${t}u8\\x20a[N];offset:0;size:3;" \
	"${t}char\\x20a[];offset:0;size:3;" \
	"${t}u16\\x20a;offset:0;size:2;signed:" \
	"${t}foo_t\\x20a[4];offset:0;size:8;" \
	"${t}const\\x20char\\x20*\\x20const\\x20a[N];offset:0;size:8;"

done_testing
