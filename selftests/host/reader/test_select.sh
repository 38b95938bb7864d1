#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# filter, by functions, objects and fields: the logs are valid, in order, and have
# the samples whose chains, as the views show them, have what was asked for.
. "$(dirname "$0")/lib.sh"

ms=1000000
cat >"$tmp/kallsyms" <<-EOF2
	ffffffff81000000 T schedule
	ffffffff81000100 T vfs_read
	ffffffff81000200 T vfs_write
	ffffffff81000300 T end
EOF2
read=0xffffffff81000110 write=0xffffffff81000210
{
	echo "kernel 0xffffffff81000000 schedule"
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	i=1
	for name in a.so b.so c.so d.so; do
		echo "map 7 0x$((i++))000 0x1000 0 /nowhere/$name"
	done
	echo since
} >"$tmp/head"

# A chain's name is the number of its samples.
chains()
{
	cat "$tmp/head" - <<-EOF2
		sample 1 7 $read 0x1010 0x2010
		sample 2 7 $write 0x1010
		sample 4 7 0x3010 0x2010
		drop 0 5
		sample 8 7 0x4010
		late 16 71 7 $read 0x1020
		sample 32 7 $write 0x3010
		late 64 72 7 $write 0x1020
		userchain 71 7 0x1020 0x2010 0x4010
		late 128 73 7 0x4020
		sample 256 7 0x1010
		userchain 72 7 0x1020 0x3010
		late 512 74 7 0x4030
	EOF2
}
chains | log log

# part OPTION...: is made, and is a valid log
part()
{
	"$pmclog" filter -k "$tmp/kallsyms" "$@" -o "$tmp/part" "$tmp/log" &&
		"$pmclog" verify "$tmp/part" >"$tmp/verified" ||
		{ cat "$tmp/verified"; return 1; }
}
samples()
{
	"$pmclog" info "$1" 2>"$tmp/err" | awk '$1 == "callchain" { n = $2 }
		END { print n + 0 }'
}

# has N OPTION...: the part has the chains whose numbers N has, with their users'
has()
{
	local want=$1 line
	shift
	part "$@" || return
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/log" | while read -r line; do
		echo "${line##* } $line"
	done | awk -v want="$want" 'int(want / $1) % 2' | sed 's/^[0-9]* //' \
		>"$tmp/want"
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/part" >"$tmp/got" 2>"$tmp/err"
	diff "$tmp/want" "$tmp/got"
}

ok "a function" has $((1 + 16)) --sym vfs_read
ok "a pattern" has $((1 + 2 + 16 + 32 + 64)) --sym 'vfs_*'
ok "one of two" has $((1 + 2 + 16 + 32 + 64)) --sym vfs_read --sym vfs_write
ok "an object, of user frames that came later too" \
	has $((1 + 4 + 16)) --dso b.so
ok "an object by its path" has $((1 + 4 + 16)) --dso /nowhere/b.so
ok "the kernel" has $((1 + 2 + 16 + 32 + 64)) --dso '[kernel]'
ok "both" has $((1 + 16)) --sym vfs_read --dso b.so
ok "not a function" has $((4 + 8 + 128 + 256 + 512)) --not --sym 'vfs_*'
ok "not an object: chains that come later tell" \
	has $((2 + 8 + 32 + 64 + 128 + 256 + 512)) --not --dso b.so
ok "one but not the other" has $((32 + 64)) --dso c.so --not --dso b.so
ok "neither" has $((8 + 128 + 512)) --not --dso 'a*' --not --dso c.so
ok "what nobody answered is what it is" has $((8 + 16 + 128 + 512)) --dso d.so
ok "with other conditions" has 64 --sym vfs_write --tid 72
none() { part --sym nowhere && grep -q ' 0 samples, 5 dropped' "$tmp/verified"; }
ok "nothing" none

accounts()
{
	part --dso b.so && account written 21 committed 21 filtered 1002 \
		dropped_full 5 late 16 late_answered 1
	part --not --dso b.so && account written 1002 filtered 21 \
		dropped_full 5 late 704 late_answered 1
}
ok "the account" accounts
told()
{
	part --not --sym 'vfs_*' --dso d.so &&
		"$pmclog" report "$tmp/part" | grep -q "^Part of  *a log with 1,023\
 samples: --not --sym vfs_\* --dso d.so$"
}
ok "what it is a part of" told
order()
{
	part --dso b.so && "$pmclog" dump -j "$tmp/part" |
		jq -s '[.[] | select(.tsc) | .tsc] | . == sort' | grep -q true
}
ok "in the order of time" order
gone()
{
	cat "$tmp/head" - <<-EOF2 | log log
		late 1 71 7 $read 0x1020
		sample 2 7 0x2010
		threadexit 71
		userchain 71 7 0x1020 0x3010
		late 4 7 7 $write 0x1020
		sample 8 7 0x3010
		exit 7
		userchain 7 7 0x1020 0x3010
	EOF2
	has 8 --dso c.so && has $((1 + 2 + 4)) --not --dso c.so &&
		has $((1 + 4)) --dso a.so --not --dso b.so
}
ok "threads that end do not answer" gone

# Functions of a file, and their parameters.
${CXX:-c++} -O1 -g -fPIE -pie -falign-functions=1 -fno-toplevel-reorder \
	-o "$tmp/prog" "$HERE/programs/shapes.cc"
base=$((0x555500000000))
mangled=$(nm "$tmp/prog" | awk '$3 ~ /^_Z.*area/ { print $3; exit }')
plain=$(c++filt "$mangled")
{
	load 7 $base "$tmp/prog"
	echo "sample 3 7 $base+$(symbol "$tmp/prog" "$mangled")+1"
	echo "sample 2 7 $base+$(symbol "$tmp/prog" main)+1"
} | prog_log log
named()
{
	local name
	for name in "$mangled" "$plain" "${plain%%(*}" "${plain%%(*}(*"; do
		gives 3 --sym "$name" || { echo "$name"; return 1; }
	done
	gives 2 --not --sym "${plain%%(*}" && gives 2 --sym main &&
		gives 5 --sym main --sym "${plain%%(*}"
}
# gives N OPTION...: the part has so many samples
gives()
{
	local want=$1
	shift
	part "$@" && [ "$(samples "$tmp/part")" = "$want" ] ||
		{ echo "$(samples "$tmp/part"), not $want"; return 1; }
}
ok "a C++ function: as in the file, as shown, without parameters" named
elsewhere()
{
	mkdir -p "$tmp/root$tmp" "$tmp/nothing" && cp "$tmp/prog" "$tmp/root$tmp" &&
		gives 3 -r "$tmp/root" --sym "$mangled" &&
		gives 0 -r "$tmp/nothing" --sym "$mangled"
}
ok "files of the recorded machine" elsewhere
unpacked()
{
	(cd "$tmp" && "$pmclog" archive -o "$tmp/pmclog-x.tar" log 2>"$tmp/err" &&
		tar xf pmclog-x.tar) && rm -r "$tmp/pmclog-x" "$tmp/prog.moved" \
		2>"$tmp/err"
	(cd "$tmp" && tar xf pmclog-x.tar && mv prog prog.moved)
	"$pmclog" filter --sym "$mangled" -o "$tmp/part" "$tmp/pmclog-x" &&
		[ "$(samples "$tmp/part")" = 3 ]
}
ok "an archive" unpacked

# Fields
python3 "$HERE/python/fields.py" | log log
ok "a field" gives 2 --field next_comm=x --field next_comm='kworker/*'
ok "of two fields both" gives 1 --field next_comm='*' --field prev_pid=8
ok "a number, however it is written" gives 1 --field prev_pid=0x8
ok "a negative one" gives 1 --field prev_state=-1
ok "an address" gives 1 --field skaddr=18446612682070032385
ok "what is empty" gives 1 --field filename=
ok "not a value" gives 17 --not --field prev_pid=8
ok "not a field" gives 14 --not --field next_comm='*'
ok "one that all have" gives 16 --field common_flags=1
ok "a list" gives 1 --field 'saddr=[10,0,0,1]'
with_fields()
{
	gives 1 --field prev_pid=8 && "$pmclog" dump "$tmp/part" |
		grep -q 'prev_comm="a .* next_pid=7 ' &&
		[ "$("$pmclog" dump "$tmp/part" | grep -c ' raw ')" = 1 ]
}
ok "the fields stay" with_fields
both()
{
	gives 1 -k "$tmp/kallsyms" --sym schedule --field prev_pid=8 &&
		gives 0 --sym vfs_read --field prev_pid=8
}
ok "with a function" both
# A chain that comes later, and fields: they wait together.
{
	cat "$tmp/head"
	python3 "$HERE/python/fields.py" | grep -e '^tracepoint.*switch' -e '^fields 317'
	raw=$(python3 "$HERE/python/fields.py" | awk '/^raw/ && !n++')
	for tid in 71 72; do
		echo "late 1 $tid 7 $read 0x1020"
		echo "$raw"
	done
	echo "sample 1 7 0x4010"
	echo "$raw"
	echo "userchain 72 7 0x1020 0x2010"
	echo "userchain 71 7 0x1020 0x3010"
} | log log
together()
{
	gives 1 --dso b.so && [ "$("$pmclog" dump "$tmp/part" | grep -c ' raw ')" = 1 ] &&
		gives 1 --dso b.so --field prev_pid=7 &&
		"$pmclog" dump "$tmp/part" | grep -q 'prev_pid=7 ' &&
		gives 0 --dso b.so --field prev_pid=8 &&
		gives 2 --not --dso b.so &&
		[ "$("$pmclog" dump "$tmp/part" | grep -c ' raw ')" = 2 ]
}
ok "chains that come later, with fields" together

# Two logs: what waits in the first does not wait for the second.
{ cat "$tmp/head"; echo "late 1 71 7 $read 0x1020"; } | log log1
{ cat "$tmp/head"; echo "userchain 71 7 0x1020 0x2010"; } | log log2
cat "$tmp/log1" "$tmp/log2" >"$tmp/log"
two()
{
	"$pmclog" filter --dso b.so -o "$tmp/part" "$tmp/log" &&
		[ "$(samples "$tmp/part")" = 0 ] &&
		"$pmclog" filter --not --dso b.so -o "$tmp/part" "$tmp/log" &&
		[ "$(samples "$tmp/part")" = 1 ]
}
ok "two logs" two

# What comes through a pipe is passed on though a sample waits for its chain.
# stream WHAT: what has come early, later, and at the end
stream()
{
	cat "$tmp/head"
	echo "late 1 71 7 $read 0x1020"
	echo "sample 1 7 0x2010"
	echo "at $((500 * ms))"
	echo "sample 3 7 0x2010"
	[ "$1" = early ] && echo cut && return
	echo "at $((1600 * ms))"
	echo "sample 5 7 0x2010"
	[ "$1" = late ] && echo cut && return
	echo "at $((1700 * ms))"
	echo "userchain 71 7 0x1020 0x2010"
}
stream early | log early
stream late | log late
stream whole | log whole
# passed N: so many samples have been passed on
passed() { [ "$(samples "$tmp/passed")" = "$1" ]; }
passes()
{
	local to reader early late
	early=$(wc -c <"$tmp/early")
	late=$(wc -c <"$tmp/late")
	mkfifo "$tmp/pipe"
	"$pmclog" filter --dso b.so -o - - <"$tmp/pipe" >"$tmp/passed" &
	reader=$!
	exec {to}>"$tmp/pipe"
	cat "$tmp/early" >&"$to"
	sleep .5
	passed 0 || return
	tail -c +$((early + 1)) "$tmp/late" >&"$to"
	soon passed 9 || return
	tail -c +$((late + 1)) "$tmp/whole" >&"$to"
	exec {to}>&-
	wait "$reader" && "$pmclog" verify "$tmp/passed" >"$tmp/verified"
}
ok "a pipe: a chain is waited for, for a second" passes
ok "a file: as long as it takes" same 10 eval '"$pmclog" filter --dso b.so \
	-o "$tmp/part" "$tmp/whole" && samples "$tmp/part"'

# More than may wait: the oldest is not waited for any longer.
much()
{
	{
		cat "$tmp/head"
		echo "late 1 71 7 $read 0x1020"
		echo "sample 9000 7$(printf ' 0x2010%.0s' {1..600})"
		echo "userchain 71 7 0x1020 0x3010"
	} | log log
	"$pmclog" filter --dso c.so -o "$tmp/part" "$tmp/log" &&
		[ "$(samples "$tmp/part")" = 1 ] &&
		"$pmclog" filter --not --dso c.so -o "$tmp/part" "$tmp/log" &&
		[ "$(samples "$tmp/part")" = 9001 ]
}
ok "what waits is bounded" much

# wrong MESSAGE OPTION...
wrong()
{
	local want=$1
	shift
	prints 2 "$want" "$pmclog" filter "$@" -o "$tmp/wrong" "$tmp/log" &&
		[ ! -e "$tmp/wrong" ]
}
ok "an empty function" wrong 'a name or a pattern is wanted' --sym ''
ok "an empty object" wrong 'a name or a pattern is wanted' --dso ''
ok "a field without a value" wrong 'NAME=VALUE is wanted' --field next_comm
ok "a field without a name" wrong 'NAME=VALUE is wanted' --field =3
ok "no such option" wrong 'unrecognized option' --symbol x
ok "nothing behind --not" wrong 'no condition follows' --sym x --not
ok "two events" wrong 'only one event can be given' -e cpu-clock -e x
ok "two negated events" wrong 'only one event can be given' --not -e x --not -e y
ok "two ranges of time" wrong 'only one range can be given' --time 0-1 --time 2-3
many() { wrong 'too many of these' $(printf -- ' --sym f%d' {0..64}); }
ok "too many" many
ok "a field of no event" prints 1 'no event has a field "x"' "$pmclog" filter \
	--field x=1 -o "$tmp/wrong" "$tmp/log"
# The second of two logs in a row has no tracepoint.
log rows <<'EOF2'
tracepoint sched:x 42
fields 42 \x09field:int\x20v;\x09offset:0;\x09size:4;\x09signed:1;\x0a
proc 7 prog
sample 1 7 0x1010
raw 05000000
sample 1 7 0x1010
raw 06000000
again
event cpu-clock 1000
proc 7 prog
sample 4 7 0x1010
EOF2
rows()
{
	"$pmclog" filter --field v=5 -o "$tmp/part" "$tmp/rows" &&
		"$pmclog" verify "$tmp/part" >"$tmp/verified" &&
		[ "$(samples "$tmp/part")" = 1 ] &&
		prints 1 'no event has a field "x"' "$pmclog" filter \
			--field x=5 -o "$tmp/wrong" "$tmp/rows"
}
ok "a field of the first of several logs" rows
ok "no kernel's symbols" prints 1 'no symbol table' "$pmclog" filter \
	-k "$tmp/head" --sym x -o "$tmp/wrong" "$tmp/log"
spared() { [ ! -e "$tmp/wrong" ]; }
ok "nothing was written for these" spared
# fnmatch() takes what is no pattern for a name
odd()
{
	local p
	for p in '[' '[[:' '\' '***[a-' $'\xff\xfe' "$(printf '*%.0s' {1..300})x"; do
		"$pmclog" filter -k "$tmp/kallsyms" --sym "$p" --dso "$p" \
			-o "$tmp/part" "$tmp/log" &&
			"$pmclog" verify "$tmp/part" >"$tmp/verified" || return
	done
}
ok "patterns that are none" odd
damaged()
{
	local seed
	chains | log log
	for seed in 1 2 3 4 5 6 7 8; do
		python3 -c 'import random, sys
random.seed(int(sys.argv[3]))
log = bytearray(open(sys.argv[1], "rb").read())
for _ in range(random.choice([1, 4, 30, 300])):
    log[random.randrange(300, len(log))] = random.randrange(256)
open(sys.argv[2], "wb").write(log)' "$tmp/log" "$tmp/bad" "$seed"
		"$pmclog" filter -k "$tmp/kallsyms" --dso b.so --not --sym x \
			-o "$tmp/part" "$tmp/bad" 2>"$tmp/err"
		[ $? -le 1 ] || { cat "$tmp/err"; return 1; }
	done
}
ok "damaged logs" damaged

done_testing
