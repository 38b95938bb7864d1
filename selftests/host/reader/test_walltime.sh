#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The time of day of samples: the log's clock stands still in a suspend, and the wall
# clock is set.  CLOCK records tell both.
. "$(dirname "$0")/lib.sh"

wall=1767225600
ns=999999000		# of INITIALIZE
hour=3600

# after SECONDS LATER: the time of day, if the wall clock was set by LATER before
after() { echo $(((wall + $1 + $2) * 1000000000 + ns)); }

# samples at 10 and 19 s, then what is told, at 20, 21 and 99 s
night()
{
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	echo "clock 5"
	printf 'at %s000000000\nsample 1 7 0x10010\n' 10 19
	echo "at 20000000000"
	printf '%s\n' "$@"
	printf 'at %s000000000\nsample 1 7 0x10010\n' 20 21 99
}
night | log awake
night "clock 5 $(after 20 $hour)" | log forth
night "clock 5 $(after 20 -$hour)" | log back
night "clock 5 $(after 20 0)+900000" | log drifts
night "clock 5 $(after 20 0)+1100000" | log drifted

unix_ns() { "$pmclog" export --to jsonl "$tmp/$1" | jq -r .unix_ns; }
clickhouse_ns()
{
	"$pmclog" export --to clickhouse -o "$tmp/ch" "$tmp/$1" &&
		python3 - "$HERE/python" "$tmp/ch" <<-'PYTHON'
			import sys
			sys.path.insert(0, sys.argv[1])
			sys.argv[1:2] = []
			import struct
			data = open(sys.argv[1], 'rb').read()
			name = b'\x07time_ns\x06UInt64'
			at = data.index(name) + len(name)
			print(*struct.unpack_from('<5Q', data, at), sep='\n')
		PYTHON
}
# times LOG LATER [MORE]: of all samples; those from 20 s on are LATER
times()
{
	local want format
	want=$(after 10 0; after 19 0
	       for at in 20 21 99; do echo $(($(after $at "$2") + ${3:-0})); done)
	for format in unix_ns clickhouse_ns; do
		"$format" "$1" >"$tmp/got" &&
			diff <(echo "$want") "$tmp/got" || return
	done
}
ok "a clock that is not set" times awake 0
ok "set forward by an hour, or suspended" times forth $hour
ok "set back by an hour" times back -$hour
ok "less than a millisecond is not followed" times drifts 0
ok "more is" times drifted 0 1100000

# the log's own clock goes on
relative()
{
	"$pmclog" export --to csv "$tmp/forth" | sed 1d | cut -d, -f1 >"$tmp/got"
	diff <(printf '%s.000000000\n' 10 19 20 21 99) "$tmp/got"
}
ok "seconds from the beginning are awake ones" relative
starts()	# of the profile: the first record
{
	"$pmclog" export --to firefox -o "$tmp/ff" "$tmp/forth" &&
		zcat -f "$tmp/ff" | jq -r .meta.startTime |
			grep -qx "$wall$((ns / 1000000)).999*"
}
ok "the beginning is that of INITIALIZE" starts

part()
{
	"$pmclog" filter --time 21- -o "$tmp/part" "$tmp/forth" &&
		unix_ns part >"$tmp/got" &&
		diff <(after 21 $hour; after 99 $hour) "$tmp/got"
}
ok "a part of a log" part
period()
{
	"$pmclog" export --to jsonl --time 21- "$tmp/forth" | jq -r .unix_ns >"$tmp/got"
	diff <(after 21 $hour; after 99 $hour) "$tmp/got"
}
ok "a period" period

# Two logs: the second begins an hour and 200 s later.  It is put there on the stream's
# clock, so the first one's hour is not added once more.
{
	echo "wall $((wall + hour + 200))"
	night "clock 5 $(after 220 $((hour - 600)))"
} | log next
stream()
{
	cat "$tmp/forth" "$tmp/next" >"$tmp/both"
	unix_ns both >"$tmp/got"
	diff <(after 10 0; after 19 0; after 20 $hour; after 21 $hour; after 99 $hour
	       after 210 $hour; after 219 $hour
	       after 220 $((hour - 600)); after 221 $((hour - 600))
	       after 299 $((hour - 600))) "$tmp/got"
}
ok "logs that follow each other" stream

# A program that was made in the night after a suspend is the one that ran.
${CC:-cc} -O1 -fPIE -pie -Wl,--build-id=none -o "$tmp/made" "$HERE/programs/shapes.c"
base=$((0x555500000000))
resumed()	# WANT [CLOCK]
{
	local dev ino began=$(($(stat -c %Y "$tmp/made") - hour))
	read -r dev ino < <(stat -c '%d %i' "$tmp/made")
	{
		echo "wall $began"
		echo "host $(uname -r) $(uname -n)"
		echo "event cpu-clock 1000"
		echo "clock 5"
		echo "at 20000000000"
		[ -z "${2:-}" ] || echo "clock 5 $(((began + hour + $2) * 1000000000))"
		echo "proc 7 prog"
		echo "file $((dev >> 8)) $((dev & 255)) $ino"
		load 7 $base "$tmp/made"
		echo "sample 5 7 $base+$(symbol "$tmp/made" leaf)"
	} | log resumed
	folds resumed "prog;$1 5"
}
ok "a program that is newer than the log" resumed "[made]"
ok "one that was made after a suspend" resumed leaf 10
ok "and one that was written to after the log" resumed "[made]" -20

# wild records: 100,000 of them, whatever they say
{
	perl -e '
		srand(7);
		my @odd = qw(0 1 0xffffffffffffffff 0x8000000000000000
			     0x7fffffffffffffff 0x7ffffffffffffffe);
		for my $i (1 .. 100000) {
			my ($raw, $real) = map { rand() < .3 ? $odd[rand @odd] :
				int(rand(2 ** 31)) . "000000000" } 1, 2;
			$raw = 1000000000000 + $i * 1000 if $i % 3;
			print "clock $i $real $raw\n";
			print "sample 1 7 0x10010\n" if $i % 10 == 0;
		}'
	echo "at 500000000000"
	echo "clock 5 $(after 500 $hour)"
	echo "sample 1 7 0x10010"
} | prog_log wild
heals()
{
	local to
	for to in jsonl clickhouse firefox pprof csv; do
		timeout 60 "$pmclog" export --to $to -o "$tmp/got" "$tmp/wild" || return
	done
	timeout 60 "$pmclog" report "$tmp/wild" >"$tmp/got" || return
	unix_ns wild >"$tmp/got"
	tail -n 1 "$tmp/got" | diff <(echo $(($(after 500 $hour) + 1000))) - &&
		[ "$(wc -l <"$tmp/got")" = 10001 ]
}
ok "100,000 wild records" heals

# without INITIALIZE's time of day, it is that of CLOCK
{
	echo "wall 0"
	night "clock 5 $(after 20 $hour)"
} | log unset
night | perl -pe 'print "wall 0\n" if $. == 1; $_ = "" if /^clock/' | log none
alone()
{
	unix_ns unset >"$tmp/got"
	diff <(after 20 $hour; after 21 $hour; after 99 $hour) <(tail -n 3 "$tmp/got")
}
ok "CLOCK alone" alone
neither() { [ "$(unix_ns none | xargs)" = "null null null null null" ]; }
ok "neither" neither

done_testing
