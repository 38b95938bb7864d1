#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A directory is read as one recording: logs that follow each other as if they were in
# one file, logs of the same time merged record by record.
. "$(dirname "$0")/lib.sh"
export TZ=UTC

# later NS NAME [TEXT] <SCRIPT: makes $tmp/NAME, which begins so many ns later
later()
{
	mkdir -p "$tmp/$(dirname "$2")"
	{
		printf '%s\n' "host 6.12-test ${node:-node}" \
			"kernel ${kernel:-0xffffffff81000000} schedule"
		cat
	} | "$BIN/script2log" "$tmp/$2" "$1" || echo "# script of $2 is wrong"
}

ms=000000
prog="proc 7 prog
map 7 0x1000 0x1000 0 /nowhere/a"

# in_dir DIR COMMAND...: what it prints there
in_dir()
{
	(cd "$tmp/$1" && shift && "$@" 2>&1)
}
# alike DIR1 DIR2 COMMAND...: prints the same in both, where "rec" is the log
alike()
{
	in_dir "$1" "${@:3}" >"$tmp/.one" && in_dir "$2" "${@:3}" >"$tmp/.two" &&
		test -s "$tmp/.one" && diff "$tmp/.one" "$tmp/.two"
}
# said TEXT COMMAND...: fails, and says so on standard error; nothing else there
said()
{
	local want=$1
	shift
	exits 1 "$@" 2>"$tmp/.err" >"$tmp/.got" || return
	printf '%s\n' "$want" | diff - "$tmp/.err"
}

# ------------------------------------------------------------------------
# Logs that follow each other
one()
{
	cat <<-EOF2
		event cpu-clock 1000
		$prog
		at 100$ms
		sample $1 7 0x1010 0x1020
		fork 7 8
		exec 8 /bin/$2
		map 8 0x2000 0x1000 0 /nowhere/$2
		drop 0 $1
		sample 2 8 0x2010
		at 900$ms
	EOF2
}
n=pmclog.20260101T000000Z
one 3 b | later 0 rotated/rec/$n.0001
one 4 c | later 1000$ms rotated/rec/$n.0002
kernel=0xffffffff91000000 one 5 d | kernel=0xffffffff91000000 later 0 boot2
# after a reboot the clock begins again, as early as in the first log
perl -e 'local $/; my $s = <STDIN>; substr($s, 32, 8) = pack("Q<", 1767225700);
	print $s' <"$tmp/boot2" >"$tmp/rotated/rec/$n.0003"
mkdir "$tmp/concat"
cat "$tmp/rotated/rec/"* >"$tmp/concat/rec"
for how in "report" "report -s pid,cpu,comm" "report -s time --slice 200ms" "flame" "fold" \
		"html" "export --to jsonl" "export --to pprof -o -" "report --time 30%-" \
		"report --time 0.5s-" "dump" "top -o -"; do
	# shellcheck disable=SC2086
	ok "rotated logs are like one file: $how" alike rotated concat \
		"$pmclog" $how rec
done
infos()
{
	local dir
	for dir in rotated concat; do
		in_dir $dir "$pmclog" info rec | sed 's/at offset .*//' >"$tmp/.$dir"
	done
	grep -q "^started" "$tmp/.concat" && diff "$tmp/.rotated" "$tmp/.concat"
}
ok "rotated logs are like one file: info" infos
filtered()
{
	"$pmclog" filter -o "$tmp/one" "$tmp/rotated/rec" && "$pmclog" verify "$tmp/one"
}
ok "pmclog filter makes one log of them" prints 0 "18 samples, 12 dropped.*3 logs in one" \
	filtered
ok "names in dump --json" same "$n.0001
$n.0002
$n.0003" bash -c "$pmclog dump -j $tmp/rotated/rec | jq -r .log | uniq"
ok "verify: a line each, and the sum" same "$tmp/rotated/rec/$n.0001: ok: 18 records, 5 samples, 3 dropped, 1 PMC, 0.900 s
$tmp/rotated/rec/$n.0002: ok: 19 records, 6 samples, 4 dropped, 1 PMC, 0.900 s
$tmp/rotated/rec/$n.0003: ok: 20 records, 7 samples, 5 dropped, 1 PMC, 0.900 s
ok: 3 logs, 57 records, 18 samples, 12 dropped" "$pmclog" verify "$tmp/rotated/rec"
if command -v zstd >/dev/null; then
	mkdir -p "$tmp/zstd/rec"
	for log in 1 2 3; do
		zstd -q "$tmp/rotated/rec/$n.000$log" -o "$tmp/zstd/rec/$n.000$log.zst"
	done
	ok "compressed ones" alike zstd concat "$pmclog" report rec
else
	skip "compressed ones" "no zstd"
fi
# the order is that of time, whatever the names
mkdir -p "$tmp/names/rec"
cp "$tmp/rotated/rec/$n.0001" "$tmp/names/rec/z"
cp "$tmp/rotated/rec/$n.0002" "$tmp/names/rec/.m"
cp "$tmp/rotated/rec/$n.0003" "$tmp/names/rec/a"
ok "other names" alike names concat "$pmclog" export --to jsonl rec
few_files()
{
	local i
	for i in {100..180}; do
		echo "sample 1 7 0x1010" | later "${i}00$ms" "many/$i"
	done
	(ulimit -n 12 && same "?7;[unknown] 81" "$pmclog" fold "$tmp/many")
}
ok "one file is open at a time" few_files

# ------------------------------------------------------------------------
# Logs of the same time
same_time()
{
	later 0 "$1/a" <<-EOF2
		event cpu-clock 1000
		$prog
		at 100$ms
		sample 3 7 0x1010 0x1020
		at 300$ms
		sample 2 7 0x1010 0x1020
		drop 1 7
		at 900$ms
	EOF2
	later 1000 "$1/b" <<-EOF2
		event ${2:-cpu-clock} ${3:-1000}
		$prog
		at 150$ms
		sample 10 7 0x1010 0x1020
		at 200$ms
		proc 7 other
		exec 7 /bin/other
		map 7 0x1000 0x1000 0 /nowhere/b
		drop 0 5
		sample 20 7 0x1010 0x1020
		at 800$ms
	EOF2
}
same_time both
ok "an exec of one log is one for the samples of the other" folds both \
	"other;[b];[b] 22
prog;[a];[a] 13"
ok "one event, its losses added up" prints 0 "^  Lost          12 (25.53 %): 5 ring full, 7 nested too deep$" \
	"$pmclog" report "$tmp/both"
ok "one machine, one time" prints 0 "^When .*, 0.900 s$" "$pmclog" report "$tmp/both"
in_order() { "$pmclog" dump -j "$tmp/both" | jq -s '[.[].tsc]|.==sort'; }
ok "records in the order of time" same true in_order
counts()
{
	"$pmclog" dump -j "$tmp/both" |
		jq -r 'select(.record=="initlog" or .record=="closelog")|.record' | uniq -c |
		tr -s ' '
}
ok "one INITIALIZE, one CLOSELOG" same " 1 initlog
 1 closelog" counts
ok "the accounts are added up" prints 0 \
	'"overflows":47,"committed":35,"dropped_full":5,"dropped_nested":7,' \
	"$pmclog" dump -j "$tmp/both"
part_of()
{
	rm -f "$tmp/one"
	"$pmclog" filter -o "$tmp/one" "$@" && "$pmclog" verify "$tmp/one"
}
ok "pmclog filter makes one valid log of them" prints 0 \
	"^ok: .* 35 samples, 12 dropped, 2 PMCs, 0.900 s$" part_of "$tmp/both"
ok "a part of the time" prints 0 "^  Samples       13: .*(of 35;" \
	"$pmclog" report --time -199ms "$tmp/both"
ok "parts of the whole" prints 0 "^  Samples       13: .*(of 35;" \
	"$pmclog" report --time 0%-20% "$tmp/both"
ok "verify: each on its own" prints 0 "^ok: 2 logs, .* 35 samples, 12 dropped$" \
	"$pmclog" verify "$tmp/both"
same_time events page-faults 1
ok "one PMC id, two events" prints 0 "" "$pmclog" report -e all "$tmp/events"
of_events()
{
	local e
	for e in cpu-clock page-faults; do
		"$pmclog" fold -e $e "$tmp/events" 2>"$tmp/.err" | sed "s/^/$e /"
	done
}
ok "one PMC id, two events: samples" same "cpu-clock other;[b];[b] 2
cpu-clock prog;[a];[a] 3
page-faults other;[b];[b] 20
page-faults prog;[a];[a] 10" of_events
ok "losses of each" same "  Lost          7 (58.33 %): 7 nested too deep
  Lost          5 (14.29 %): 5 ring full" bash -c \
	"$pmclog report -e all $tmp/events | grep Lost"
ok "two PMCs" same "PMC 0xfff00f00 \"cpu-clock\"
PMC 0xfff00f01 \"page-faults\"" bash -c "$pmclog info $tmp/events | grep ^PMC"

# periods belong to the PMC of one log
later 0 periods/a <<-EOF2
	freq cycles 99
	$prog
	period 1000
	at 100$ms
	sample 2 7 0x1010
	at 300$ms
	sample 2 7 0x1010
EOF2
later 1000 periods/b <<-EOF2
	freq instructions 99
	$prog
	period 10
	at 200$ms
	sample 3 7 0x1010
EOF2
ok "periods of each" same "4000 30" bash -c "for e in cycles instructions; do
	$pmclog fold -e \$e $tmp/periods 2>/dev/null; done | sed 's/.* //' | xargs"

# fields directly follow their sample, though there is another of the same time
for log in a b; do
	later 0 "fields/$log" <<-EOF2
		tracepoint sched:$log 31$([ $log = a ] && echo 4 || echo 5)
		$prog
		at 100$ms
		sample 1 7 0xffffffff81000010
		raw 0${log}000000
		sample 1 7 0xffffffff81000010
		raw 0${log}000000
	EOF2
done
follow() { "$pmclog" dump "$tmp/fields" | sed -n 's/^userdata *hwpmc \(raw\) .*/\1/p;s/^\(callchain\) .*/\1/p' | xargs; }
ok "fields stay with their sample" same "callchain raw callchain raw callchain raw callchain raw" \
	follow

# both logs have each fork and exec, a little apart
twice()
{
	later 0 "$1/a" <<-EOF2
		event cpu-clock 1000
		proc 7 prog
		map 7 0x1000 0x1000 0 /nowhere/a
		at 100$ms
		fork 7 8
		at 101$ms
		proc 8 child
		exec 8 /bin/sh 0x7000 0x5000
		map 8 0x2000 0x1000 0 /nowhere/c
		at 200$ms
		sample 1 8 0x2010
		fork 7 9
		unmap 9 0x1000 0x2000
		map 9 0x3000 0x1000 0 /nowhere/d
		at 300$ms
		sample 1 9 0x3010
	EOF2
	later 1000 "$1/b" <<-EOF2
		event cpu-clock 1000
		proc 7 prog
		map 7 0x1000 0x1000 0 /nowhere/a
		at 100$ms
		fork 7 8
		at 150$ms
		exec 8 /bin/sh 0x7000 0x5000
		at 250$ms
		fork 7 9
		at 310$ms
		sample 1 8 0x2010
		sample 1 9 0x3010
	EOF2
}
twice twice
ok "what two logs tell happened once" folds twice "child;[c] 2
prog;[d] 2"
exec_again()
{
	later 0 again/a <<-EOF2
		event cpu-clock 1000
		$prog
		exec 7 /bin/x
		map 7 0x1000 0x1000 0 /nowhere/x
		exec 7 /bin/x
		at 200$ms
	EOF2
	later 1000 again/b <<-EOF2
		event cpu-clock 1000
		at 100$ms
		sample 1 7 0x1010
	EOF2
	folds again "x;[unknown] 1"
}
ok "what one log tells twice happened twice" exec_again

# two groups of CPUs, whose logs are rotated at different times
group()
{
	printf '%s\n' "event cpu-clock 1000" "proc $3 prog$3" \
		"map $3 0x1000 0x1000 0 /nowhere/a" "at 10$ms" "sample $4 $3 0x1010" \
		"drop 0 $4" "at $5$ms" "sample $4 $3 0x1010" | later "$1$ms" "groups/$2"
}
group 0 a1 7 1 490
group 500 a2 7 2 490
group 1000 a3 7 3 490
group 5 b1 8 10 690
group 700 b2 8 20 690
ok "groups whose logs overlap in turn" folds groups "prog7;[a] 12
prog8;[a] 60"
ok "one account of all" prints 0 "committed  72: 72 written" \
	"$pmclog" info "$tmp/groups"
ok "and losses" prints 0 "dropped    36: 36 ring full" "$pmclog" info "$tmp/groups"
ok "a log without an end: no sum" prints 0 "^ended      .*not closed\|cut" bash -c "
	cp -r $tmp/groups $tmp/open; { echo 'sample 5 9 0x10'; echo cut; } |
	$BIN/script2log $tmp/open/c 400$ms; $pmclog info $tmp/open"

# the snapshots of a flight recorder have some samples in common
snap()
{
	local t
	{
		echo "event cpu-clock 1000"
		echo "$prog"
		echo "snapshot 0 0 0 0 0"
		for t in $3; do
			echo "at $((t - $2))$ms"
			[ "$t" = 40 ] && echo "drop 0 2"
			echo "sample 1 7 0x10$t"
		done
	} | later "$2$ms" "flight/$1"
}
snap s1 0 "10 20 30 40 50"
snap s2 25 "30 40 50 60 70"
snap s3 65 "70 80"
ok "snapshots: each sample once" same "10 20 30 40 50 60 70 80" bash -c \
	"$pmclog dump $tmp/flight | sed -n 's/^\.\.\. *0x10//p' | xargs"
ok "snapshots: each loss once" prints 0 "^  Lost          2 (20.00 %): 2 ring full$" \
	"$pmclog" report "$tmp/flight"
ok "snapshots: how many are left out" prints 0 \
	"^Repeated        4 samples are left out: an earlier log of the directory has them, too$" \
	"$pmclog" report "$tmp/flight"
ok "snapshots: views without room for that say it" prints 0 \
	"^pmclog: $tmp/flight: 4 samples are left out: an earlier log of the directory has them" \
	"$pmclog" fold "$tmp/flight"
ok "snapshots: ... by filter, too" prints 0 \
	"^pmclog: $tmp/flight: 4 samples are left out: an earlier log of the directory has them" \
	"$pmclog" filter -o "$tmp/flight.log" "$tmp/flight"
ok "snapshots: their accounts without what is left out" prints 0 \
	"^ok: .* 8 samples, 2 dropped, .* 3 logs in one$" part_of "$tmp/flight"

# ------------------------------------------------------------------------
# What cannot be merged
# more than two seconds: clocks of machines do not agree better
cannot()
{
	local dir=$1 a=$2 b=$3
	prints 1 "^pmclog: $tmp/$dir: $tmp/$dir/$a and $tmp/$dir/$b are of the same time,\
 but not of the same machine and boot: they cannot be merged$" "$pmclog" fold "$tmp/$dir"
}
long() { one 3 b | sed 's/^at 900/at 9000/'; }
long | node=alpha later 0 machines/a
long | node=beta later 3000$ms machines/b
ok "two machines" cannot machines a b
ok "verify reads them nevertheless" prints 0 "^ok: 2 logs" "$pmclog" verify \
	"$tmp/machines"
long | later 0 boots/a
long | kernel=0xffffffff91000000 later 3000$ms boots/b
ok "two boots" cannot boots a b
long | later 0 clocks/a
long | later 3000$ms clocks/b
perl -0777 -pi -e 'substr($_, 32, 8) = pack("Q<", 1767225606)' "$tmp/clocks/b"
ok "two boots with a kernel at the same address" cannot clocks a b
# the wall clock was set while the first log was written; that has records of it
long | sed "s/^at 100$ms/&\nclock 100$ms 1767225606099999000/" | later 0 set/a
cp "$tmp/clocks/b" "$tmp/set/b"
ok "one boot whose wall clock was set" folds set "b;[b] 4
prog;[a];[a] 6"
# the wall clock was set back after the first log, which was cut
{ long; echo cut; } | later 0 back/a
one 3 b | later 20000$ms back/b
perl -0777 -pi -e 'substr($_, 32, 8) = pack("Q<", 1767225603)' "$tmp/back/b"
ok "one boot whose wall clock was set between two logs" folds back "b;[b] 4
prog;[a];[a] 6"
mkdir "$tmp/row"
{ one 3 b; echo again; echo "sample 1 7 0x1010"; echo "at 2000$ms"; } | later 0 row/a
one 3 b | later 500$ms row/b
ok "several logs in a row, and one of the same time" prints 1 \
	"row/a has several logs in a row, and others are of the same time" \
	"$pmclog" fold "$tmp/row"
too_many()
{
	local i
	for i in {10..40}; do
		{ echo "sample 1 7 0x1010"; echo "at 900$ms"; } | later "$i$ms" "open/$i"
	done
	(ulimit -n 20 && prints 1 "Too many open files: 1[0-9] logs of the same time are open" \
		"$pmclog" fold "$tmp/open")
}
many_pmcs()
{
	local from
	for from in 1 33001; do
		seq -f "event cpu-clock 1000 %.0f" $from $((from + 32999)) |
			later 0 "pmcs/$from"
	done
	prints 1 "^pmclog: $tmp/pmcs: $tmp/pmcs/[0-9]* and the logs of the same time have more\
 than 65536 PMCs: they cannot be merged$" "$pmclog" fold "$tmp/pmcs" &&
		prints 0 "^ok: 2 logs" "$pmclog" verify "$tmp/pmcs"
}
ok "more PMCs than can be told apart" many_pmcs
rm -rf "$tmp/open"
ok "more logs of the same time than descriptors" too_many

# ------------------------------------------------------------------------
# Other files, damage
mixed()
{
	local d=$tmp/mixed e
	mkdir -p "$d/sub"
	cp "$tmp/both/a" "$d/a"
	echo text >"$d/README"
	: >"$d/empty"
	: >"$d/.pmclog.armed.5"
	mkfifo "$d/fifo"
	ln -s "$tmp/both/b" "$d/link"
	e=$(printf 'x\033[2J\ny')
	head -c 5000 /dev/urandom >"$d/$e"
	same "prog;[a];[a] 5" timeout 60 "$pmclog" fold "$d" &&
		[ "$(grep -c "not read, because they are not logs: .*, \.\.\.$" "$tmp/.err")" = 1 ] &&
		! grep -q $'\033' "$tmp/.err"
}
ok "other files are not read" mixed
# to open a FIFO wakes up its writer, as a device's driver would notice it
unnoticed()
{
	local d=$tmp/unnoticed fifo writers='' running how failed=''
	mkdir "$d"
	cp "$tmp/both/a" "$d/a"
	for fifo in fifo log.pmclog; do
		mkfifo "$d/$fifo"
		(echo >"$d/$fifo") 2>/dev/null &
		writers+=" $!"
	done
	for how in fold verify info; do
		timeout 20 "$pmclog" $how "$d" >/dev/null 2>&1 || failed=$how
	done
	sleep .2
	running=$(jobs -pr | wc -l)
	# shellcheck disable=SC2086
	kill $writers 2>/dev/null
	# shellcheck disable=SC2086
	wait $writers 2>/dev/null
	same 2 echo "$running$failed"
}
ok "other files are not opened either" unnoticed
a_name()
{
	local name=$1 shown=$2
	rm -rf "$tmp/names"
	mkdir "$tmp/names"
	cp "$tmp/both/a" "$tmp/names/$name"
	prints 0 "^$tmp/names/$shown: ok: " "$pmclog" verify "$tmp/names"
}
ok "a name in UTF-8 is shown as it is" a_name "Ä€.pmclog" "Ä€.pmclog"
ok "unless it could turn the text around" a_name $'a\xe2\x80\xaeb.pmclog' "a???b.pmclog"
copied()
{
	local d=$tmp/copied
	mkdir -p "$d"
	cp "$tmp/both/a" "$d/first"
	cp "$tmp/both/a" "$d/second"
	ln "$d/first" "$d/third"
	cp "$tmp/both/b" "$d/other"
	"$pmclog" fold "$d" >"$tmp/.one" 2>"$tmp/.err" &&
		"$pmclog" fold "$tmp/both" 2>/dev/null | diff - "$tmp/.one" &&
		grep ': not read' "$tmp/.err" | diff - <(printf "pmclog: $d/%s: not read, because it is a copy of $d/first\n" second third)
}
ok "a copy of a log does not count twice" copied
a_part()
{
	local d=$tmp/part
	mkdir "$d"
	cp "$tmp/both/a" "$d/first"
	"$pmclog" filter --time 0%-50% -o "$d/half" "$d/first" || return
	prints 0 "^pmclog: $d/half: begins as $d/first does: if one is a part of the other, its samples count twice$" \
		"$pmclog" fold "$d"
}
ok "a part of a log beside it" a_part
# of files with holes, there is little to compare
holes()
{
	local d=$tmp/holes fd line=
	mkdir "$d"
	{ echo "event cpu-clock 1000"; seq -f "sample 1 7 0x%.0f" 5000; } | later 0 holes/a
	truncate -s 200G "$d/a"
	cp --sparse=always "$d/a" "$d/b"
	printf 'a' >>"$d/a"
	printf 'b' >>"$d/b"
	exec {fd}< <(exec "$pmclog" dump "$d" 2>/dev/null)
	read -r -t 60 -u "$fd" line
	kill $!
	exec {fd}<&-
	[ -n "$line" ] || { echo "no record within a minute"; return 1; }
}
ok "logs with holes" holes
copied_holes()
{
	local d=$tmp/copied_holes
	mkdir "$d"
	cp "$tmp/both/a" "$d/first"
	truncate -s 1M "$d/first"
	echo end >>"$d/first"
	cp --sparse=never "$d/first" "$d/second"
	prints 1 "second: not read, because it is a copy of $d/first$" "$pmclog" fold "$d"
}
ok "a copy without the holes" copied_holes
ok "they are named once" same "pmclog: $tmp/two: not read, because they are not logs: README, notes" \
	bash -c "mkdir $tmp/two; cp $tmp/both/a $tmp/two; echo >$tmp/two/notes; echo >$tmp/two/README
	$pmclog report --time 0%-100% $tmp/two 2>&1 >/dev/null | sed 's/notes, README/README, notes/'"
ok "none is a log" said "pmclog: $tmp/none: is a directory without a log" bash -c \
	"mkdir $tmp/none; echo >$tmp/none/x; $pmclog report $tmp/none"
ok "nothing at all" said "pmclog: $tmp/none: is a directory without a log" bash -c \
	"rm $tmp/none/x; $pmclog dump $tmp/none"
sum() { "$pmclog" fold "$@" 2>/dev/null | awk '{ n += $NF } END { print n }'; }
cut_one()
{
	cp -r "$tmp/rotated/rec" "$tmp/cut"
	truncate -s -500 "$tmp/cut/$n.0001"
	exits 1 "$pmclog" fold "$tmp/cut" >"$tmp/.got" 2>"$tmp/.err" &&
		grep -q "^pmclog: $tmp/cut/$n.0001: offset [0-9]*: truncated record$" "$tmp/.err" &&
		grep -q "^pmclog: $tmp/cut: 1 of 3 logs is not complete$" "$tmp/.err" ||
		{ cat "$tmp/.err"; return 1; }
	[ "$(sum "$tmp/cut")" = $(($(sum "$tmp/cut/$n.0001") + 6 + 7)) ]
}
ok "a log that is cut is named, the others are read" cut_one
# byte BYTES_FROM_START_OF_RECORD_8 BYTE FILE
byte()
{
	perl -e 'open(my $f, "+<", $ARGV[2]); binmode $f; local $/; my $s = <$f>; my $o = 0;
		$o += unpack("V", substr($s, $o, 4)) & 0xffff for 1 .. 8;
		seek($f, $o + $ARGV[0], 0); print $f chr $ARGV[1]' "$@"
}
damage()
{
	cp -r "$tmp/both" "$tmp/damaged"
	byte 3 0 "$tmp/damaged/b"
	exits 1 "$pmclog" report "$tmp/damaged" >"$tmp/.got" 2>"$tmp/.err" &&
		grep -q "^pmclog: $tmp/damaged/b: offset [0-9]*: damaged: skipped" "$tmp/.err" &&
		grep -q "^pmclog: $tmp/damaged: 1 of 2 logs is not complete$" "$tmp/.err" ||
		{ cat "$tmp/.err"; return 1; }
	prints 1 "^$tmp/damaged/b: offset" "$pmclog" verify "$tmp/damaged" &&
		prints 1 "^1 of 2 logs is not in order; the others: .* 5 samples, 7 dropped" \
			"$pmclog" verify "$tmp/damaged"
}
ok "a log that is damaged is named" damage
wild()
{
	cp -r "$tmp/both" "$tmp/wild"
	byte 15 127 "$tmp/wild/a"
	folds wild "other;[b];[b] 22
prog;[a];[a] 13" && grep -q "repaired 1 damaged time" "$tmp/.err"
}
ok "a damaged time of one log does not stop the others" wild
# any damage: no crash, no endless loop
random()
{
	local i got
	for ((i = 0; i < ${1:-60}; i++)); do
		rm -rf "$tmp/rnd"
		cp -r "$tmp/$2" "$tmp/rnd"
		perl -e 'srand(shift); for my $n (@ARGV) { local $/;
			open(my $f, "+<", $n); binmode $f; my $s = <$f>;
			for (0 .. rand 6) { substr($s, rand length $s, 1) = chr rand 256; }
			truncate($f, 0); seek($f, 0, 0); print $f $s; }' "$i" "$tmp/rnd/"*
		for how in "report -e all" dump "filter -o $tmp/.part"; do
			got=0
			# shellcheck disable=SC2086
			timeout 60 "$pmclog" $how "$tmp/rnd" >/dev/null 2>"$tmp/.err" || got=$?
			[ $got -le 1 ] || { echo "seed $i, $how: $got"; cat "$tmp/.err"; return 1; }
		done
	done
}
ok "random damage of logs of the same time" random 40 both
ok "random damage of groups" random 15 groups
ok "random damage of snapshots" random 15 flight

# ------------------------------------------------------------------------
# Output, symbols, archives
ok "a log is not overwritten" prints 1 "both/b is the log itself: it would be lost" \
	"$pmclog" flame -o "$tmp/both/b" "$tmp/both"
ok "nor by filter" prints 1 "both/b is the log itself: it would be lost" \
	"$pmclog" filter -o "$tmp/both/b" "$tmp/both"
picture()
{
	"$pmclog" flame -o "$tmp/both/f.svg" "$tmp/both" 2>/dev/null &&
		"$pmclog" flame -o "$tmp/both/f.svg" "$tmp/both" 2>/dev/null && rm "$tmp/both/f.svg"
}
ok "a picture beside them is" picture
ok "no archive" said "pmclog: cannot pack $tmp/both: is a directory without log.pmclog;\
 pmclog filter makes one log of its logs" "$pmclog" archive "$tmp/both"
names()
{
	mkdir "$tmp/named"
	{ echo "event cpu-clock 1000"; echo "sample 1 7 0xffffffff81000110"; } |
		later 0 named/a
	printf '%s\n' "ffffffff81000000 T schedule" "ffffffff81000100 T found" \
		>"$tmp/named/kallsyms"
	folds named "?7;found_[k] 1"
}
ok "kallsyms in the directory" names

# One recorder is rotated while another one records: its PMC stays the same
{ echo "event cycles 1000"; echo "at 1$ms"; echo "sample 30 7 0x10"
  echo "at 10000$ms"; echo "rate 0 30 30"; } | later 0 turns/b
{ echo "event cycles 1000"; echo "at 1$ms"; echo "sample 40 7 0x10"
  echo "at 4000$ms"; echo "rate 1 40 40"; } | later 1000$ms turns/a1
{ echo "event cycles 1000"; echo "at 1$ms"; echo "sample 40 7 0x10"
  echo "at 3000$ms"; echo "rate 1 80 80"; } | later 5500$ms turns/a2
ok "the rate of a rotated log counts once" prints 0 \
	"^  Rate  *110 asked for, 110 achieved" "$pmclog" report "$tmp/turns"
ok "and they are valid together" prints 0 "^ok: .* 110 samples" \
	"$pmclog" verify "$tmp/turns"

done_testing
