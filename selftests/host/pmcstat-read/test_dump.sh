#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A log as text, and where logs come from.
. "$(dirname "$0")/lib.sh"

log all <<-EOF
	host 9.9.9-test elsewhere
	event page-faults 0 0xFFF30F01
	attach 0xFFF30F01 100 /bin/a\x20b
	proc 100 x\x1b[2J
	thread 101 100 worker
	mapin 100 0x400000 /bin/a\x20b
	fork 100 102
	exec 102 /bin/c
	csw 0xFFF30F01 100 101 4294967297
	cpu 3
	sample 1 100 0x400010 0x400020
	sample 1 100 0xffffffff81000010
	unmap 100 0x400000 0x401000
	detach 0xFFF30F01 102
	exitval 0xFFF30F01 100 77
	drop 0 5
	exit 102
EOF
want='initlog   0xa000000 "GENERIC"
userdata  0x78506d48
allocatedyn 0xfff30f01 "page-faults" 0x180
attach    0xfff30f01 100 "/bin/a b"
create    100 0 "x\033[2J"
thr-create 101 100 0 "worker"
map-in    100 0x400000 "/bin/a b"
fork      100 102
exec      0xffffffff 102 0x0 0x0 "/bin/c"
cswval    0xfff30f01 100 4294967297
callchain 100 0xfff30f01 3 2 u
...       0x400010
...       0x400020
callchain 100 0xfff30f01 3 1 s
...       0xffffffff81000010
map-out   100 0x400000 0x401000
detach    0xfff30f01 102
exitval   0xfff30f01 100 77
drop     
exit      102
closelog '
ok "every record in FreeBSD's words" same "$want" "$pmcstat" -R "$tmp/all"
ok "-o takes the text" bash -c "$pmcstat -R $tmp/all -o $tmp/text &&
	printf '%s\n' '$want' | cmp - $tmp/text"
ok "-v adds what is ours" bash -c "$pmcstat -v -R $tmp/all >$tmp/text &&
	grep -q '^drop      count=5 cause=full cpu=0 pmcid=0xfff30f01$' $tmp/text &&
	grep -q '^exitval   0xfff30f01 100 77 enabled=5000000 running=4000000$' $tmp/text &&
	grep -q '^userdata  0x78506d48 hwpmc host$' $tmp/text"
python3 "$HERE/../reader/python/fields.py" | log fields
ok "-v tells the fields of tracepoints" prints 0 "^userdata  0x78506d48 hwpmc\
 raw filename=/usr/bin/env pid=8 old_pid=-1$" "$pmcstat" -v -R "$tmp/fields"
ok "-v tells when all were switched" prints 0 "^userdata  0x78506d48 hwpmc\
 record on=1 npmc=8 skew=4321$" "$pmcstat" -v -R "$tmp/fields"
ok "-c leaves no fields behind" bash -c \
	"! $pmcstat -v -R $tmp/fields -c 1 | grep -e 'hwpmc raw' -e ^callchain"
ok "pmclog dump shows the times too" prints 0 \
	"exitval.* enabled=5000000 running=4000000" \
	"$BIN/pmclog" dump "$tmp/all"
ok "of a pipe" bash -c "cat $tmp/all | $pmcstat -R - | cmp - $tmp/.got" \
	<"$tmp/all"

# only some samples
log some <<-EOF
	event cpu-clock 1000
	tid 8
	sample 2 7 0x10
	tid 9
	cpu 2
	sample 3 7 0x20
EOF
samples()
{
	"$pmcstat" -R "$tmp/some" "$@" | grep -c '^callchain'
}
ok "-i: one thread" same 2 samples -i 8
ok "-i: another" same 3 samples -i 9
ok "-c: some CPUs" same 3 samples -c 1-2
ok "-c and -i" same 0 bash -c "$pmcstat -R $tmp/some -c 0 -i 9 |
	grep -c '^callchain' || :"

# logs with faults
head -c -9 "$tmp/all" >"$tmp/torn"
ok "a torn log: 65" prints 65 "offset .*: truncated record" \
	"$pmcstat" -R "$tmp/torn"
ok "what came before is shown" bash -c \
	"$pmcstat -R $tmp/torn 2>/dev/null | grep -q '^exit      102'"
damaged()	# SEEN ARG...: what comes behind the damage is there
{
	local seen=$1
	shift
	prints 65 "damaged: skipped [0-9]* bytes in 1 place" \
		"$pmcstat" -R "$tmp/damaged" "$@" && grep -q "$seen" "$tmp/.text"
}
{
	head -c 500 "$tmp/all"
	head -c 100 /dev/zero
	tail -c +601 "$tmp/all"
} >"$tmp/damaged"
ok "a damaged log: 65, and what is behind it" damaged '^exit      102'
ok "in an analysis too" damaged '^@ page-faults' -G -
ok "on the screen too" damaged '^%SAMP' -T
ok "in pmclog top" prints 1 "damaged: skipped [0-9]* bytes in 1 place" \
	"$pmclog" top "$tmp/damaged"
ok "a torn log in an analysis" bash -c "head -c -40 $tmp/some >$tmp/torn2;
	$pmcstat -R $tmp/torn2 -G - 2>$tmp/.err | grep -q '^@ cpu-clock .5 samples.'
	grep -q 'truncated record' $tmp/.err"
ok "what is no log: 65" prints 65 "not a pmclog" "$pmcstat" -R "$0"
ok "nor for an analysis" prints 65 "not a pmclog" "$pmcstat" -R "$0" -G -
printf '\024\0\002\356%b' '\0\0\0\0\0\0\0\0\0\0\01\03\0215\0\0\0' >"$tmp/old"
ok "a log of FreeBSD 11" prints 0 '^initlog   0x3010000 ' "$pmcstat" -R "$tmp/old"
printf '\124\0\002\356%016d' 0 >"$tmp/new"
ok "a log of the middle of 2018: 65" prints 65 "whose records nobody knows" \
	"$pmcstat" -R "$tmp/new"
: >"$tmp/nothing"
ok "an empty file has no graph: 65" prints 65 "nothing is empty" \
	"$pmcstat" -R "$tmp/nothing" -G -
log cut <<-EOF
	event cpu-clock 1000
	sample 1 7 0x10
	cut
EOF
ok "a log without end: said" prints 0 "the log has no end" \
	"$pmcstat" -R "$tmp/cut" -G -
ok "-q: not said" bash -c "$pmcstat -q -R $tmp/cut -G - 2>&1 >/dev/null |
	cmp - /dev/null"
log procs <<-EOF
	event cpu-clock 1000
	sample 1 7 0x10
	pmc 0xffffffff
	drop 0 2
EOF
ok "lost records of processes are said" prints 0 "2 process records were lost: 2 ring full" \
	"$pmcstat" -R "$tmp/procs" -G -
ok "lost samples are said" prints 0 "5 samples were lost" \
	"$pmcstat" -R "$tmp/all" -G -

ok "no such file: 66" prints 66 "cannot open $tmp/none: No such file" \
	"$pmcstat" -R "$tmp/none"
mkdir "$tmp/empty"
ok "a directory without a log: 66" prints 66 "$tmp/empty: is a directory without a log$" \
	"$pmcstat" -R "$tmp/empty"
# logs that follow each other; and two of the same time, with one PMC id
mkdir "$tmp/rotated" "$tmp/both"
"$BIN/script2log" "$tmp/rotated/1" <<<"sample 1 7 0x10"
"$BIN/script2log" "$tmp/rotated/2" 5000000000 <<<"sample 2 7 0x10"
cat "$tmp/rotated/1" "$tmp/rotated/2" >"$tmp/row"
ok "logs of a directory, one after the other" bash -c \
	"$pmcstat -R $tmp/rotated >$tmp/.one && $pmcstat -R $tmp/row | diff $tmp/.one -"
"$BIN/script2log" "$tmp/both/1" 0 <<<"event cycles 1000
sample 1 7 0x10
at 9000000
sample 2 7 0x10"
"$BIN/script2log" "$tmp/both/2" 1000000 <<<"event page-faults 1
sample 5 7 0x10"
ok "logs of the same time, merged" same "@ cycles [3 samples]
@ page-faults [5 samples]" bash -c "$pmcstat -R $tmp/both -G - | grep ^@"
ok "a log of the directory is not overwritten: 73" prints 73 "is the log itself" \
	"$pmcstat" -R "$tmp/both" -G "$tmp/both/2"
ok "a full disk: 74" prints 74 "cannot write" \
	bash -c "$pmcstat -R $tmp/all >/dev/full"
ok "a full disk under a graph: 74" prints 74 "cannot write" \
	"$pmcstat" -R "$tmp/all" -G /dev/full
ok "no place for the text: 73" prints 73 "cannot open" \
	"$pmcstat" -R "$tmp/all" -o "$tmp/none/x"
ok "no place for the graph: 73" prints 73 "cannot open" \
	"$pmcstat" -R "$tmp/all" -G "$tmp/none/x"
ok "the letters go together as in FreeBSD: 64" exits 64 \
	"$pmcstat" -R "$tmp/all" -O "$tmp/x"

# A log that comes bit by bit: what has come is there before the rest.
live()
{
	local reader ret
	mkfifo "$tmp/fifo"
	"$pmcstat" -R "$tmp/fifo" >"$tmp/text" &
	reader=$!
	exec 9>"$tmp/fifo"
	head -c 400 "$tmp/some" >&9
	soon grep -q -e '^allocatedyn' "$tmp/text"
	ret=$?
	grep -q closelog "$tmp/text" && ret=1
	tail -c +401 "$tmp/some" >&9
	exec 9>&-
	wait "$reader" && grep -q '^closelog' "$tmp/text" && return "$ret"
}
ok "a pipe is read as it fills" live

# The port is the system's choice: no test can stand in another's way.
connection()
{
	local listener port
	: >"$tmp/.err"
	"$pmcstat" -R "$1" >"$tmp/text" 2>"$tmp/.err" &
	listener=$!
	soon grep -q -e 'listening on port [0-9]' "$tmp/.err" || return
	port=$(sed -n 's/.*listening on port //p' "$tmp/.err")
	cat "$tmp/all" >"/dev/tcp/127.0.0.1/$port" || return
	wait "$listener" && "$pmcstat" -R "$tmp/all" | cmp - "$tmp/text"
}
ok "one connection" connection 127.0.0.1:0
ok "without a host, of 127.0.0.1" connection :0
ok "a host has a name" connection localhost:0
not_ours()
{
	prints 66 "cannot listen on 192.0.2.1:0: " "$pmcstat" -R 192.0.2.1:0
}
ok "an address that is not ours: 66" not_ours
ok "a file with a colon has a slash" bash -c \
	"cp $tmp/all $tmp/a:b && cd $tmp && $pmcstat -R ./a:b | grep -q ^closelog"
ok "without it, the address is wrong, and the slash is said" bash -c \
	"cd $tmp && $pmcstat -R a:b 2>&1 | grep -q '^pmcstat: the file of that name is ./a:b$'"

done_testing
