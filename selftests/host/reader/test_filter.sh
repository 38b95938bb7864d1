#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# filter: its logs are valid ones, have the samples asked for and no others, and
# what these mean is what it was.
. "$(dirname "$0")/lib.sh"

golden=$HERE/../log/golden
ms=1000000
log log <<EOF2
kernel 0xffffffff81000000 schedule
event cpu-clock 1000 0xFFF00F00
event page-faults 1 0xFFF00F01
proc 7 shell
map 7 0x1000 0x1000 0 /nowhere/a
map 7 0x2000 0x1000 0 /nowhere/b
cpu 0
pmc 0xFFF00F00
at $((1 * ms))
sample 3 7 0x1010 0x2020
drop 0 5
fork 7 8
proc 8 child
cpu 1
tid 81
at $((10 * ms))
sample 4 8 0x1010
late 2 81 8 0xffffffff81000110 0x2010
sample 1 8 0xffffffff81000010 0x1010
pmc 0xFFF00F01
sample 5 8 0x2010
drop 1 2
pmc 0xFFF00F00
userchain 81 8 0x2010 0x1010
tid 0
cpu 0
at $((20 * ms))
late 1 7 7 0x1010
userchain 7 7 0x1010 0x2020
at $((30 * ms))
proc 8 other
exec 8 /nowhere/other
map 8 0x1000 0x1000 0 /nowhere/c
sample 6 8 0x1010
rate 0 100 90
EOF2

# part OPTION...: is made, and is a valid log
part()
{
	"$pmclog" filter "$@" -o "$tmp/part" "$tmp/log" &&
		"$pmclog" verify "$tmp/part" >"$tmp/verified"
}

# samples LOG: those of it, as dump tells them, with their pcs
samples()
{
	"$pmclog" dump -j "$1" | jq -c 'select(.record == "callchain") |
		[.tsc, .pid, .tid, .pmcid, .cpu, .mode == "user", .pcs]'
}
samples "$tmp/log" >"$tmp/all"

# only JQ OPTION...: the part has the samples for which JQ is true
only()
{
	local want=$1
	shift
	part "$@" || { cat "$tmp/verified"; return 1; }
	jq -c "select($want)" "$tmp/all" >"$tmp/want"
	samples "$tmp/part" >"$tmp/got"
	[ -s "$tmp/want" ] && diff "$tmp/want" "$tmp/got"
}

# alike OPTION...: the views of the part are those of the log's conditions
alike()
{
	local o
	part "$@" || { cat "$tmp/verified"; return 1; }
	for o in cpu-clock page-faults; do
		"$pmclog" fold -e $o "$@" "$tmp/log" >"$tmp/want" 2>/dev/null ||
			continue
		"$pmclog" fold -e $o "$tmp/part" 2>/dev/null |
			diff "$tmp/want" - || return
		[ ! -s "$tmp/want" ] || seen=1
	done
	[ "${seen-}" ]
}

first=$(head -1 "$tmp/all" | jq '.[0]')
ok "all of it" only true
ok "of a process" only '.[1] == 8' --pid 8
ok "of a thread" only '.[2] == 81' --tid 81
ok "of a CPU" only '.[4] == 1' --cpu 1
ok "in user mode" only '.[5]' --user
ok "in kernel mode" only '.[5] | not' --kernel-mode
ok "of an event" only '.[3] == "0xfff00f01"' -e page-faults
ok "of a window" only ".[0] >= $((first + 5 * ms)) and .[0] < $((first + 15 * ms))" \
	--time 5ms-15ms
ok "of a part of it" only ".[0] >= $((first + 15 * ms))" --time 50%-
ok "of a command: names are those of the moment" \
	only ".[1] == 8 and .[0] < $((first + 25 * ms))" --comm child
ok "several conditions" only '.[1] == 8 and .[4] == 1 and .[5]' \
	--pid 7-8 --cpu 1 --user
ok "not of a process" only '.[1] != 8' --not --pid 8
ok "not of a command, of the others in user mode" \
	only '.[1] == 7 and .[5]' --not --comm "[co]*" --user
names()
{
	prog_log odd 'a[1]' <<<'sample 5 7 0x1010'
	prints 0 "^  Samples  *5:" "$pmclog" report --comm 'a[1]' "$tmp/odd" &&
		prints 0 "^  Samples  *0 " "$pmclog" report --not --comm 'a[1]' "$tmp/odd"
}
ok "a name like a pattern" names
ok "not in user mode" only '.[5] | not' --not --user
ok "neither of two" only '.[2] != 7 and (.[5] | not)' \
	--not --tid 7 --not --user
ok "neither of a window nor of a CPU" only ".[0] >= $((first + 5 * ms)) and .[4] == 0" \
	--not --time -5ms --not --cpu 1
ok "not of a window" \
	only ".[0] < $((first + 5 * ms)) or .[0] >= $((first + 15 * ms))" \
	--not --time 5ms-15ms
ok "not of a part" only ".[0] < $((first + 15 * ms))" --not --time 50%-
ok "not of an event" only '.[3] == "0xfff00f00"' --not -e page-faults
for o in "--not --pid 7" "--not --comm child" "--not --time 15ms- --user" \
	"--not --cpu 0 --not --user" "--pid 7" "--pid 8" "--tid 81" "--cpu 0" --user --kernel-mode \
	"--time 15ms-" "--comm other" "--comm child"; do
	# shellcheck disable=SC2086
	ok "the same views: $o" alike $o
done

nothing()
{
	part --pid 9 && grep -q ' 0 samples, 7 dropped' "$tmp/verified"
}
ok "nothing at all" nothing

whole=$("$pmclog" dump -j "$tmp/log" | jq 'select(.record == "closelog") |
	.overflows')
accounts()
{
	part --pid 8 --user && account overflows "$whole" written 15 committed 15 \
		dropped_full 5 dropped_nested 2 filtered 7 late 0 late_answered 0
}
ok "the account: all overflows, and what was left out" accounts
losses()
{
	part -e cpu-clock && account dropped_full 5 dropped_nested 0 &&
	part -e page-faults && account dropped_full 0 dropped_nested 2 &&
	part --time 15ms- && account dropped_full 0 dropped_nested 0 &&
	part --cpu 1 && account dropped_full 0 &&
	part --not --cpu 0 && account dropped_full 0 dropped_nested 0 &&
	part --not --time 0-5ms && account dropped_full 0 dropped_nested 2 &&
	part --not --pid 7 && account dropped_full 5 dropped_nested 2 &&
	part --not -e cpu-clock && account dropped_full 0 dropped_nested 2
}
ok "losses of other events and times are left out" losses
chains()
{
	part --tid 81 && account late 2 late_answered 1 &&
		part --pid 7 && account late 1 late_answered 1
}
ok "chains that came later go with their samples" chains
event()
{
	part -e page-faults && "$pmclog" dump "$tmp/part" >"$tmp/dump" &&
		grep -q page-faults "$tmp/dump" &&
		! grep -q -e cpu-clock -e ' rate ' "$tmp/dump"
}
ok "of other events there is nothing" event
told()
{
	part --pid 8 --time 1ms- && mv "$tmp/part" "$tmp/log1" &&
		"$pmclog" filter --user -o "$tmp/part" "$tmp/log1" &&
		"$pmclog" verify "$tmp/part" &&
		"$pmclog" report "$tmp/part" | grep "^Part of  *a log with 22 samples:\
 --pid 8 --time 1ms- --user$"
}
ok "what it is a part of, and of what that was" told

# Logs of one stream, each with a clock of its own: the second began 10 s later.
for i in 1 11; do
	log "log$i" <<-EOF2
		event cpu-clock 1000
		wall $((1700000000 + i))
		cpu 0
		at $((1 * ms))
		sample 2 7 0x1010
		at $((2000 * ms))
		cpu 1
		sample 1 7 0x1010
		drop 0 $i
	EOF2
done
cat "$tmp/log1" "$tmp/log11" >"$tmp/log"
# counts WANT OPTION...: samples in the first and in the second log, and losses
counts()
{
	local want=$1
	shift
	"$pmclog" filter "$@" -o "$tmp/part" "$tmp/log" || return
	"$pmclog" dump -j "$tmp/part" | jq -rs 'reduce .[] as $r ([]; if
		$r.record == "initlog" then . + [0] elif
		$r.record == "callchain" then .[-1] += 1 elif
		$r.record == "drop" then .[-1] += 100 * $r.count
		else . end) | join(" ")' >"$tmp/got"
	[ "$(cat "$tmp/got")" = "$want" ] || { cat "$tmp/got"; return 1; }
}
ok "a window in the second of two logs" counts "0 1103" --time 9s-
ok "a window in the first" counts "103 0" --time -9s
ok "a window over both" counts "101 2" --time 1s-11s
both()
{
	counts "102 1102" --cpu 0 &&
		"$pmclog" filter --cpu 0 --user -o "$tmp/log2" "$tmp/part" &&
		"$pmclog" report "$tmp/log2" |
		grep "^Part of  *a log with 6 samples: --cpu 0 --user$"
}
ok "two logs, of which they are parts" both
notes()
{
	"$pmclog" filter --cpu 0 -o "$tmp/part" - <"$tmp/log" &&
		"$pmclog" dump -j "$tmp/part" >"$tmp/dump" || return
	"$pmclog" filter --cpu 0 -o - "$tmp/log11" >"$tmp/log2" &&
		"$pmclog" dump -j "$tmp/log2" >"$tmp/dump2"
	diff <(jq -c 'select(.tsc) | .tsc' "$tmp/dump" | tail -n 3) \
		<(jq -c 'select(.tsc) | .tsc' "$tmp/dump2" | tail -n 3)
}
ok "notes are on the clock of their log" notes

# Processes: their PMCs' records, and an exec that is told for one of them.
log log <<EOF2
event cpu-clock 1000 0xFFF20F00
event page-faults 1 0xFFF20F01
attach 0xFFF20F00 7 /nowhere/a
attach 0xFFF20F01 7 /nowhere/a
map 7 0x1000 0x1000 0 /nowhere/a
pmc 0xFFF20F00
sample 2 7 0x1010
pmc 0xFFF20F01
sample 3 7 0x1010
detach 0xFFF20F00 7
EOF2
samples "$tmp/log" >"$tmp/all"
ok "PMCs of processes" only '.[3] == "0xfff20f01"' -e page-faults

whole_logs()
{
	local f
	for f in full packed small strings; do
		cp "$golden/$f.pmclog" "$tmp/log"
		samples "$tmp/log" >"$tmp/all"
		part && samples "$tmp/part" | diff "$tmp/all" - || return
		part --kernel-mode && samples "$tmp/part" |
			diff <(jq -c 'select(.[5] | not)' "$tmp/all") - ||
			return
	done
}
ok "logs of all kinds, packed too" whole_logs
compressed()
{
	cp "$golden/full.pmclog" "$tmp/log"
	part && "$pmclog" filter -o "$tmp/part.zst" "$tmp/log" &&
		zstd -qdc "$tmp/part.zst" | cmp - "$tmp/part" &&
		"$pmclog" filter -Z -o - - <"$tmp/part.zst" >"$tmp/again" &&
		zstd -qt <"$tmp/again" && "$pmclog" verify "$tmp/again"
}
ok "compressed, from and to" compressed
cut()
{
	head -c 2001 "$golden/full.pmclog" >"$tmp/cut"
	exits 1 "$pmclog" filter --pid 1000 -o "$tmp/part" "$tmp/cut" 2>"$tmp/err" &&
		grep -q 'truncated record' "$tmp/err" &&
		prints 1 'no CLOSELOG: the log was cut' "$pmclog" verify "$tmp/part"
}
ok "of a cut log, what was there" cut

# The first of two logs in a row was not closed.
half()
{
	prog_log first <<-'EOF2'
		sample 6 7 0x1010
		cut
	EOF2
	prog_log second <<<'sample 3 7 0x1010'
	cat "$tmp/first" "$tmp/second" >"$tmp/rows"
	"$pmclog" filter --pid 7 -o "$tmp/part" "$tmp/rows" &&
		"$pmclog" filter --user -o "$tmp/again" "$tmp/part" &&
		prints 0 "^Part of  *a log with 9 samples: --pid 7$" \
			"$pmclog" report "$tmp/part" &&
		prints 0 "^Part of  *a log with 9 samples: --pid 7 --user$" \
			"$pmclog" report "$tmp/again"
}
ok "of a log that was cut, and another" half
keeps()
{
	cp "$golden/full.pmclog" "$tmp/log"
	prints 1 'is the log itself' "$pmclog" filter -o "$tmp/log" "$tmp/log" &&
		cmp "$golden/full.pmclog" "$tmp/log"
}
ok "the log is not its own part" keeps
spares()
{
	echo precious >"$tmp/part"
	echo rubbish >"$tmp/bad"
	exits 1 "$pmclog" filter -o "$tmp/part" "$tmp/bad" &&
		[ "$(cat "$tmp/part")" = precious ] &&
		exits 1 "$pmclog" filter -e x -o "$tmp/part" "$tmp/log" &&
		[ "$(cat "$tmp/part")" = precious ] &&
		! compgen -G "$tmp/part.??????"
}
ok "what is no log costs nothing" spares
private() { rm -f "$tmp/part" && part && [ "$(stat -c %a "$tmp/part")" = 600 ]; }
ok "not everybody can read it" private
# What comes through a pipe is passed on soon, also a record that stands alone: the
# last is long after all others, and its clock would be judged by what follows.
prog_log lone <<EOF2
sample 5 7 0x1010
at $((30000 * ms))
sample 1 7 0x1010
cut
EOF2
has_come()
{
	cmp -n "$(wc -c <"$tmp/lone")" "$tmp/lone" <("${@:-cat}" "$tmp/passed") 2>"$tmp/err"
}
# passes OPTION UNPACK...
passes()
{
	local to reader option=$1
	shift
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	# shellcheck disable=SC2086
	"$pmclog" filter $option -o - - <"$tmp/pipe" >"$tmp/passed" &
	reader=$!
	exec {to}>"$tmp/pipe"
	cat "$tmp/lone" >&"$to"
	soon has_come "$@" || return
	exec {to}>&-
	wait "$reader" && "$pmclog" filter $option -o - "$tmp/lone" >"$tmp/again" &&
		cmp <("${@:-cat}" "$tmp/again") <("${@:-cat}" "$tmp/passed")
}
ok "a pipe: all is passed on, though more may come" passes ""
command -v zstd >"$tmp/err" && ok "compressed, too" passes -Z zstd -qdc
# What takes the place of a file is whose that was.
owned()
{
	rm -f "$tmp/part"
	: >"$tmp/part"
	chmod 640 "$tmp/part"
	chown 1:1 "$tmp/part" && part && [ -s "$tmp/part" ] &&
		[ "$(stat -c %u:%g:%a "$tmp/part")" = 1:1:640 ]
}
# nor is a file that is mounted given another name
mounted()
{
	rm -f "$tmp/part"
	: >"$tmp/part"
	export -f part
	unshare -m bash -c 'mount --bind "$tmp/part" "$tmp/part" && part' &&
		[ -s "$tmp/part" ]
}
export tmp golden pmclog
if [ "$(id -u)" = 0 ] && unshare -m mount --bind / / 2>"$tmp/err"; then
	ok "a file of another user" owned
	ok "a file that is a mount" mounted
else
	skip "a file of another user" "not root, or may not mount"
fi
ok "a full disk" prints 1 'cannot write /dev/full: No space' \
	"$pmclog" filter -o /dev/full "$tmp/log"
ok "a full disk, compressed" prints 1 'cannot write /dev/full: No space' \
	"$pmclog" filter -Z -o /dev/full "$tmp/log"
# What was not read for that is not missing from the log.
prog_log long <<<'sample 50000 7 0x1010'
only_full()
{
	exits 1 "$pmclog" filter -o /dev/full "$tmp/long" 2>"$tmp/err" &&
		diff - "$tmp/err" <<<"pmclog: cannot write /dev/full: No space left on device"
}
ok "a full disk says nothing of the log" only_full
ok "no such event" prints 1 'no event "x"' "$pmclog" filter -e x \
	-o "$tmp/part" "$tmp/log"
ok "no output" prints 2 'with -o the one to write' "$pmclog" filter "$tmp/log"
ok "wrong numbers" exits 2 "$pmclog" filter --pid x -o "$tmp/part" "$tmp/log"

ok "no condition behind --not" prints 2 'not: no condition follows' \
	"$pmclog" filter --not -o "$tmp/part" "$tmp/log"
ok "not of not" prints 2 'not: no condition follows' \
	"$pmclog" filter --not --not --user -o "$tmp/part" "$tmp/log"
elsewhere()	# ARGUMENTS...
{
	local cmd
	for cmd in report fold flame html "export --to csv" "annotate main" \
		"diff $tmp/log"; do
		# shellcheck disable=SC2086
		prints 2 'not: no condition follows' "$pmclog" $cmd --not \
			"$@" "$tmp/log" || return
	done
}
all_events()
{
	"$pmclog" filter -o "$tmp/part" "$tmp/log" &&
		"$pmclog" filter -e all -o "$tmp/all" "$tmp/log" &&
		[ "$("$pmclog" fold -e all "$tmp/all")" = "$("$pmclog" fold -e all "$tmp/part")" ] &&
		"$pmclog" verify "$tmp/all"
}
ok "of all events, by the word that the views take" all_events
ok "not of all events" prints 2 "leaves no sample" "$pmclog" filter --not -e all \
	-o "$tmp/none" "$tmp/log"
ok "in other commands" elsewhere
# which have no negated event: the pid would be
ok "not of an event, in other commands" elsewhere -e cpu-clock --pid 7

done_testing
