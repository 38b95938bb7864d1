#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Exports: the same log through every format says the same, and is read by
# those that the formats are for.
. "$(dirname "$0")/lib.sh"

${CC:-cc} -O1 -fPIE -pie -o "$tmp/main" "$HERE/programs/shapes.c"
kallsyms reference do_read do_write - - end
mod_kallsyms
base=0x555500000000
main=$base+$(symbol "$tmp/main" main)+2
leaf=$base+$(symbol "$tmp/main" leaf)+2
log plain <<-EOF
	kernel $k reference
	host 6.1 box
	buildid 00112233445566778899aabbccddeeff01234567 [kernel]
	event cpu-clock 1000000 1
	event cycles 5000 2
	proc 7 prog
	proc 8 two\x20words
	module 0xffffffffc0100000 0x2000 mymod
	$(load 7 $base "$tmp/main")
	map 8 0x10000 0x1000 0 /x/lib
	pmc 1
	sample 60 7 $k+0x1010 $leaf $main
	cpu 3
	sample 20 7 0xffffffffc0100010 $k+0x1010 $main
	tid 77
	since
	late 4 77 7 $k+0x2010 $leaf
	sample 5 7 $leaf $main $main $main
	userchain 77 7 $leaf $main
	tid 0
	pmc 2
	sample 9 8 0x10010 0x10020
	sample 2 8 $k+0x2010
	cpu 4
	sample 1 7 $main
EOF
want="cpu-clock prog;main;leaf;do_read 60
cpu-clock prog;main;do_read;mod_func 20
cpu-clock prog;main;main;main;leaf 5
cpu-clock prog;main;leaf;do_write 4
cycles prog;main 1
cycles two_words;?;? 9
cycles two_words;do_write 2"
want=$(sort <<<"$want")

python=$HERE/python/exported.py
export_to()	# FORMAT [OPTION]...: makes $tmp/x.FORMAT, of all events unless -e says which
{
	[[ " $* " == *" -e "* ]] || set -- "$@" -e all
	"$pmclog" export --to "$1" -o "$tmp/x.$1" "${@:2}" "$tmp/plain"
}

agrees()	# FORMAT [OPTION]...
{
	export_to "$@" && same "$want" python3 "$python" "$1" "$tmp/x.$1"
}

folded()	# WANT OPTION...
{
	export_to folded "${@:2}" && same "$1" python3 "$python" folded \
		"$tmp/x.folded"
}

for format in speedscope firefox perf-script csv jsonl clickhouse; do
	ok "$format" agrees $format
done
ok "speedscope, by thread and CPU" agrees speedscope --by thread,cpu
log idle <<<"event cpu-clock 1000"
ok "speedscope, without a sample: no profile, so none to show" same '[0,null]' \
	bash -c "$pmclog export --to speedscope $tmp/idle |
		jq -c '[(.profiles | length), .activeProfileIndex]'"
ok "firefox, build-ids" same \
	"332211005544776688 00112233445566778899aabbccddeeff01234567" \
	jq -r '.libs[] | select(.name == "[kernel]") |
		.breakpadId[0:18] + " " + .codeId' "$tmp/x.firefox"
ok "folded is fold" bash -c "$pmclog export --to folded $tmp/plain |
	diff - <($pmclog fold $tmp/plain)"
ok "folded, one event" folded "- prog;main 1
- two_words;?;? 9
- two_words;do_write 2" -e cycles
ok "folded, by process" folded "- prog-7;main 1
- two_words-8;?;? 9
- two_words-8;do_write 2" -e cycles --by process
ok "folded, by thread" folded "- prog-7/7;main;do_read;mod_func 20
- prog-7/7;main;leaf;do_read 60" -e cpu-clock --tid 7 --by thread
ok "folded, by process and CPU" folded "- prog-7,_CPU_4;main 1
- two_words-8,_CPU_3;?;? 9
- two_words-8,_CPU_3;do_write 2" -e cycles --by process,cpu
ok "folded, events instead of samples" folded "- prog;main 5000
- two_words;?;? 45000
- two_words;do_write 10000" -e cycles --weight period
go_pprof=/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof
if [ -x $go_pprof ]; then
	ok "pprof" agrees pprof
	ok "pprof, how often events happened" prints 0 \
		"for 60000, 100% of 60000 total" \
		$go_pprof -top -sample_index=cycles "$tmp/x.pprof"
	ok "pprof, whose samples" prints 0 "thread:.77. *\$" \
		$go_pprof -raw "$tmp/x.pprof"
	ok "pprof, build-ids" prints 0 \
		"kallsyms. 00112233445566778899aabbccddeeff01234567" \
		$go_pprof -raw "$tmp/x.pprof"
else
	skip "pprof" "no golang-1.19-go"
fi

# callgrind_annotate [OPTION]...: "COSTS NAME" of each function it prints
annotated()
{
	callgrind_annotate --threshold=100 "$@" "$tmp/x.callgrind" |
		sed -n 's/^ *//; s/ ([ 0-9.]*%)//g; s/ *[^ ]*:\([^ ]*\) \[.*/ \1/p' |
		tr -s ' ' | grep -v '^\.' | sort
}
if command -v callgrind_annotate >/dev/null; then
	export_to callgrind
	ok "callgrind, where samples are" same "0 1 main
0 9 [lib]
20 0 mod_func
4 2 do_write
5 0 leaf
60 0 do_read" annotated
	ok "callgrind, where they are below" same "0 9 [lib]
20 0 mod_func
4 2 do_write
69 0 leaf
80 0 do_read
89 1 main
89 1 prog" annotated --inclusive=yes
	# a function that is called by what it calls, and one that another calls there
	log recursive <<-EOF
		kernel $k reference
		event cpu-clock 1000
		proc 7 prog
		sample 100 7 $k+0x2010 $k+0x10 $k+0x1010 $k+0x10
		sample 10 7 $k+0x1010
	EOF
	"$pmclog" export --to callgrind -o "$tmp/x.callgrind" "$tmp/recursive"
	ok "callgrind, recursion" same "100 do_write
100 reference
110 do_read
110 prog" annotated --inclusive=yes
	export_to callgrind --instr --weight period -e cycles
	ok "callgrind, events by instruction" same "10,000 do_write
45,000 [lib]
5,000 main" annotated
	ok "at their addresses" grep -q "^calls=[0-9]* 0x10000 \|^0x10 0 45000" \
		"$tmp/x.callgrind"
else
	skip "callgrind" "no valgrind"
fi

# kcachegrind takes a name that begins with a letter or _
log digit <<-EOF
	event 9p:9p_client_req 1 1
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/lib
	pmc 1
	sample 1 7 0x10010
EOF
"$pmclog" export --to callgrind -o "$tmp/digit.callgrind" "$tmp/digit"
ok "callgrind, an event that begins with a digit" \
	grep -qx "events: _9p_9p_client_req" "$tmp/digit.callgrind"

# the output takes its name when it is complete
ended()
{
	local pid
	mkdir "$tmp/ended"
	{ cat "$tmp/plain"; sleep 20; } | "$pmclog" export --to csv -o "$tmp/ended/out" - 2>"$tmp/said" &
	pid=$!
	soon eval '[ "$(echo "$tmp"/ended/*)" != "$tmp/ended/*" ]' || return
	kill -"$1" $pid
	wait $pid
	[ $? -gt 128 ] && [ "$(ls -A "$tmp/ended")" = "" ] && rmdir "$tmp/ended"
}
for signal in TERM HUP; do
	ok "nothing stays after SIG$signal" ended $signal
done
too_large()
{
	mkdir "$tmp/large"
	(ulimit -f 1; "$pmclog" export --to jsonl -o "$tmp/large/out" "$1") 2>"$tmp/said"
	[ $? = 1 ] && grep -q "File too large" "$tmp/said" && [ "$(ls -A "$tmp/large")" = "" ]
}

# which takes two columns of one name for one; a number must not make another name
log twice <<-EOF
	event cycles 1000 1
	event cycles 2000 2
	event cycles_2 3000 3
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/lib
	pmc 1
	sample 1 7 0x10010
	pmc 2
	sample 3 7 0x10010
	pmc 3
	sample 3 7 0x10010
EOF
"$pmclog" export --to callgrind -e all -o "$tmp/twice.callgrind" "$tmp/twice"
ok "callgrind, events of one name" \
	grep -qx "events: cycles cycles_3 cycles_2" "$tmp/twice.callgrind"

# what was inlined, as fold has it (which its own test compares)
${CC:-cc} -g -O2 -gdwarf-4 -o "$tmp/inlines" "$HERE/programs/inlines.c"
{
	echo "event cpu-clock 1000 1"
	echo "event cycles 5000 2"
	echo "proc 7 prog"
	load 7 $base "$tmp/inlines"
	nm -S "$tmp/inlines" | awk '$4 == "main" { print $1, $2 }' |
	while read -r start size; do
		for ((i = 0; i < 16#$size; i += 3)); do
			echo "pmc $((i % 2 + 1))"
			echo "sample $((i % 5 + 1)) 7 $base+$((16#$start + i))"
		done
	done
} | log inlined
inlined=$(for event in cpu-clock cycles; do
	"$pmclog" fold --inline -e $event "$tmp/inlined" |
		sed "s/_\[i\]//g; s/^/$event /"
done | sort)
inlines_agree()	# FORMAT
{
	"$pmclog" export --to "$1" -e all --inline -o "$tmp/i.$1" \
		"$tmp/inlined" &&
		same "$inlined" python3 "$python" "$1" "$tmp/i.$1"
}
ok "something was inlined" grep -q "main;.*;" <<<"$inlined"
for format in speedscope firefox perf-script csv jsonl clickhouse; do
	ok "$format, what was inlined" inlines_agree $format
done
if [ -x $go_pprof ]; then
	ok "pprof, what was inlined" inlines_agree pprof
	nm -S "$tmp/inlines" | awk '$4 == "main" { print $1 }' |
		addr2line -e "$tmp/inlines" | sed 's|.*/||' >"$tmp/line"
	ok "pprof, files and lines" bash -c "$go_pprof -raw $tmp/i.pprof |
		grep -qF \"$(cat "$tmp/line")\""
	"$pmclog" export --to pprof --by-line -e cpu-clock \
		-o "$tmp/lines.pb.gz" "$tmp/inlined"
	ok "pprof, lines only" bash -c "$go_pprof -raw $tmp/lines.pb.gz |
		grep -q ' M=1 .*inlines.c:[1-9]'"
fi
if command -v callgrind_annotate >/dev/null; then
	"$pmclog" export --to callgrind -e all --inline -o "$tmp/x.callgrind" \
		"$tmp/inlined"
	ok "callgrind, all of it is below main" same \
		"$(awk '{ n[$1] += $NF } END {
			print n["cpu-clock"], n["cycles"], "main" }' \
			<<<"$inlined")" bash -c "callgrind_annotate \
		--inclusive=yes --threshold=100 $tmp/x.callgrind | tr -d , |
		sed -n 's|^ *\([0-9]*\) ([^)]*) *\([0-9]*\) ([^)]*) .*inlines.c:main .*|\1 \2 main|p'"
fi

# a server of our own, on loopback
start_clickhouse()
{
	local ports i
	ports=$(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(x.getsockname()[1] for x in s))')
	port=${ports#* }
	mkdir "$tmp/ch"
	cat >"$tmp/ch/config.xml" <<-EOF
		<yandex>
		<logger><level>none</level></logger>
		<listen_host>127.0.0.1</listen_host>
		<http_port>${ports% *}</http_port><tcp_port>$port</tcp_port>
		<path>$tmp/ch/data/</path><tmp_path>$tmp/ch/tmp/</tmp_path>
		<format_schema_path>$tmp/ch/</format_schema_path>
		<users_config>$tmp/ch/users.xml</users_config>
		<default_profile>default</default_profile>
		<default_database>default</default_database>
		<mark_cache_size>1000000</mark_cache_size>
		</yandex>
	EOF
	cat >"$tmp/ch/users.xml" <<-EOF
		<yandex><profiles><default>
		<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type>
		</default></profiles><users><default><password></password>
		<networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota>
		</default></users><quotas><default></default></quotas></yandex>
	EOF
	clickhouse-server --config-file="$tmp/ch/config.xml" \
		>"$tmp/ch/out" 2>&1 &
	server=$!
	for ((i = 0; i < 300; i++)); do
		query "SELECT 1" >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$tmp/ch/out"
	return 1
}
query()	# [OPTION]...
{
	clickhouse-client --host 127.0.0.1 --port "$port" --query "$@"
}
loads()	# FILE
{
	query "INSERT INTO samples FORMAT Native" <"$1"
}
stacks()	# WANT CONDITION
{
	query "SELECT event, comm, arrayStringConcat(arrayReverse(stack), ';')
	       AS s, count() FROM samples WHERE $2 GROUP BY event, comm, s" \
		>"$tmp/x.stacks" &&
		same "$1" python3 "$python" stacks "$tmp/x.stacks"
}
{
	echo "host 6.1 other"
	echo "event cpu-clock 1000"
	for i in {1..700}; do
		echo "proc $i p$i"
		echo "sample 100 $i 0x10"
	done
} | log many
if command -v clickhouse-server >/dev/null; then
	ok "clickhouse starts" start_clickhouse
	"$pmclog" export --to clickhouse --schema >"$tmp/schema"
	ok "its table" clickhouse-client --host 127.0.0.1 --port "$port" \
		--multiquery <"$tmp/schema"
	ok "takes a log" loads "$tmp/x.clickhouse"
	ok "and says what is in it" stacks "$want" "host = 'box'"
	"$pmclog" export --to clickhouse --log-id night \
		-o "$tmp/many.clickhouse" "$tmp/many"
	ok "takes another one, of several blocks" loads "$tmp/many.clickhouse"
	ok "asked together" same "box	101	2	3
other	70000	700	1" query "SELECT host, count(), uniq(comm), uniq(cpu)
		FROM samples GROUP BY host ORDER BY host"
	ok "by the name of the log" same "70000" query \
		"SELECT count() FROM samples WHERE log = 'night'"
	ok "times are right" same "1	1" query "SELECT
		min(time = toDateTime(intDiv(time_ns, 1000000000), 'UTC')),
		max(time_ns) < 1e9 * toUnixTimestamp('2026-01-02 00:00:00',
		'UTC') AND min(time_ns) > 1e9 * toUnixTimestamp(
		'2025-12-31 00:00:00', 'UTC') FROM samples"
	python3 "$HERE/python/fields.py" | log fields
	"$pmclog" export --to clickhouse -e all -o "$tmp/fields.clickhouse" \
		"$tmp/fields"
	ok "takes fields of tracepoints" loads "$tmp/fields.clickhouse"
	ok "which can be asked for" same "kworker/0:1-ev	31
x	0" query "SELECT visitParamExtractString(fields, 'next_comm') AS next,
		visitParamExtractInt(fields, 'next_pid') FROM samples
		WHERE event = 'sched:sched_switch' AND comm = 'prog' AND
			next != '' ORDER BY next"
	ok "others have none" same "0	1" query "SELECT
		countIf(fields != ''), uniq(fields) FROM samples
		WHERE event = 'cpu-clock'"
	sed 's/ samples/ older/; /^    fields /d
		/^    stack /s/,$//' "$tmp/schema" >"$tmp/older"
	ok "a table without that column" clickhouse-client --host 127.0.0.1 \
		--port "$port" --multiquery <"$tmp/older"
	ok "takes what has no fields" query \
		"INSERT INTO older FORMAT Native" <"$tmp/x.clickhouse"
	kill "$server"
	wait "$server" 2>/dev/null
else
	skip "clickhouse" "no clickhouse-server"
fi

# where the log goes, and where it comes from
for format in folded pprof speedscope firefox callgrind perf-script csv \
	jsonl clickhouse; do
	export_to $format
	ok "$format, from and to a pipe" bash -c "$pmclog export --to $format \
		-e all -k $tmp/kallsyms - <$tmp/plain | cat |
		sed 's|:\"-\"|:\"$tmp/plain\"|; s|^cmd: -|cmd: $tmp/plain|' |
		cmp - $tmp/x.$format"
done
lines()	# COUNT OPTION...: samples that are written
{
	same "$1" bash -c '"$@" | wc -l' - "$pmclog" export --to jsonl \
		"${@:2}" "$tmp/plain"
}
ok "all events" lines 101
ok "one event" lines 12 -e cycles
ok "of a thread" lines 9 --tid 77
ok "compressed" bash -c "$pmclog export --to csv -o $tmp/x.gz $tmp/plain &&
	gzip -dc $tmp/x.gz | cmp - $tmp/x.csv"

# names that would like to be more than names
log evil <<-'EOF'
	event a"b,\x0a<c>\xff 1000
	host \x1b]0;x\x07 "\x0a
	proc 7 =cmd|'\x0a",;\xff
	proc 8 \x1b[31m\xc2\x85x
	proc 9 @\xf0\x9f\x98\x80\x22}]\x5c
	map 7 0x10000 0x1000 0 /x/\x22,\x22)(\x0afn=(1)
	map 8 0x20000 0x1000 0 /x/\xe2\x80\xae)\x09\x0d
	sample 3 7 0x10010 0x20010
	sample 2 8 0x20010
	sample 1 9 0x10
EOF
evil()	# FORMAT: is read as 6 samples, and has nothing that moves a cursor
{
	"$pmclog" export --to "$1" -o "$tmp/evil.$1" "$tmp/evil" || return
	if [ "$1" != clickhouse ]; then
		iconv -f utf-8 -t utf-8 <"$tmp/evil.$1" >/dev/null || return
		! grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' \
			"$tmp/evil.$1" || return
	fi
	[ "$1" = callgrind ] || same 6 bash -c "python3 $python $1 \
		$tmp/evil.$1 | awk '{ n += \$NF } END { print n }'"
}
for format in folded speedscope firefox callgrind perf-script csv jsonl \
	clickhouse; do
	ok "hostile names, $format" evil $format
done
[ -x $go_pprof ] && ok "hostile names, pprof" bash -c \
	"$pmclog export --to pprof -o $tmp/evil.pb.gz $tmp/evil &&
	 $go_pprof -top -sample_index=samples $tmp/evil.pb.gz |
	 grep -q '^ *1 .* 4 .*unknown'"
ok "a spreadsheet sees no formula" bash -c \
	"! grep -E '(^|,)\"?[=@+-]' $tmp/evil.csv"

# a name that is longer than any buffer, as it is shown
{
	echo "event cpu-clock 1000"
	perl -e 'print "mapin 7 0x1000 /a", "\\x1b" x 30000, "\n"'
	echo "sample 1 7 0x1010"
} | log long
long()
{
	"$pmclog" export --to jsonl -o "$tmp/long.jsonl" "$tmp/long" &&
		jq -e -s 'map(tostring | length) | max > 120000' \
			"$tmp/long.jsonl" >/dev/null &&
		"$pmclog" export --to csv -o "$tmp/long.csv" "$tmp/long" &&
		python3 -c 'import csv, sys
csv.field_size_limit(1 << 30)
rows = list(csv.reader(open(sys.argv[1])))
assert len(rows) == 2 and len(rows[0]) == len(rows[1]), rows' "$tmp/long.csv"
}
ok "a name longer than any buffer" long
ok "a limit of the file's size is an error" too_large "$tmp/long"

# damaged logs: no crash, no hang
damaged()
{
	local i format status
	for ((i = 0; i < ${RUNS:-8}; i++)); do
		perl -e 'srand(shift); local $/; $_ = <STDIN>;
			substr($_, rand length, 1) = chr rand 256 for 1 .. 30;
			print' "$i" <"$tmp/plain" >"$tmp/bad"
		for format in folded pprof speedscope firefox callgrind \
			perf-script csv jsonl clickhouse bolt; do
			status=0
			timeout 60 "$pmclog" export --to $format -e all \
				-o "$tmp/bad.out" "$tmp/bad" \
				>/dev/null 2>"$tmp/.err" || status=$?
			[ $status -le 1 ] && continue
			echo "seed $i, $format: exit status $status"
			cat "$tmp/.err"
			return 1
		done
	done
}
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=halt_on_error=1:exitcode=99
ok "damaged logs" damaged

ok "no format" exits 2 "$pmclog" export "$tmp/plain"
ok "a format that is none" exits 2 "$pmclog" export --to svg "$tmp/plain"
ok "what a format can't do" exits 2 "$pmclog" export --to csv --by cpu \
	"$tmp/plain"
ok "to be told apart by what" exits 2 "$pmclog" export --to folded \
	--by user "$tmp/plain"
ok "no log" exits 1 "$pmclog" export --to csv -o "$tmp/none" "$tmp/no.log"
# not even the line that a table begins with
nothing()
{
	local format log
	: >"$tmp/empty"
	echo "just some text, longer than any record's header" >"$tmp/text"
	for log in no.log empty text; do
		for format in csv jsonl folded perf-script; do
			exits 1 "$pmclog" export --to "$format" "$tmp/$log" \
				>"$tmp/.out" 2>/dev/null || return
			[ ! -s "$tmp/.out" ] || { head -1 "$tmp/.out"; return 1; }
		done
	done
}
ok "of no log there is nothing" nothing
ok "an event that is not there" exits 1 "$pmclog" export --to csv \
	-o "$tmp/none" -e branches "$tmp/plain"
ok "leave nothing behind" bash -c "! ls $tmp/none*"
head -c 3000 "$tmp/plain" >"$tmp/cut"
ok "a damaged log" exits 1 "$pmclog" export --to csv -o "$tmp/cut.csv" \
	"$tmp/cut"
ok "is there up to the damage" bash -c "diff $tmp/cut.csv $tmp/x.csv |
	grep -qv '^<' && [ \$(wc -l <$tmp/cut.csv) -gt 10 ]"
ok "nothing binary to a terminal" prints 2 "nothing for a terminal" \
	python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$pmclog" export --to pprof "$tmp/plain"

done_testing
