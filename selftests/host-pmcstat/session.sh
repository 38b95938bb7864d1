#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs pmcstat, built with a library that needs no device, as a user would.
# usage: session.sh PMCSTAT

pmcstat=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
count=0
failures=0

# run STATUS COMMAND...: standard output and error go to files out and err
run()
{
	want=$1
	shift
	"$@" >out 2>err
	got=$?
}

# ok NAME CONDITION...
ok()
{
	count=$((count + 1))
	name=$1
	shift
	if [ "$got" -eq "$want" ] && "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# status $got, wanted $want: $*"
		sed 's/^/# out: /' out
		sed 's/^/# err: /' err
		failures=$((failures + 1))
	fi
}

has() { grep -q -e "$2" "$1"; }
hasnt() { ! has "$@"; }
lines() { [ "$(grep -c . "$1")" -eq "$2" ]; }
all() { # CONDITION , CONDITION ...: each in eval form
	for c in "$@"; do eval "$c" || return 1; done
}

run 0 "$pmcstat" -s cycles -s cs -C -s faults -c 1 -s cycles true
ok 'a header, a line of counts' all 'lines out 2' \
	'has out "^#  *s/cycles  *s/cs  *s/faults  *s/01/cycles $"' \
	'has out "^  *100  *100  *100  *100 $"' 'lines err 0'

run 0 "$pmcstat" -w .1 -l .35 -s cs -C -s cs
ok 'counts per interval and since the start' all 'lines out 5' \
	'has out "^  *100  *100 $"' 'has out "^  *100  *400 $"'

run 0 "$pmcstat" -o counts -s cs true
ok '-o takes the counts' all 'lines out 0' 'lines counts 2'

run 0 "$pmcstat" -O log -S cs sh -c 'echo hello'
ok 'the summary and the command output' all 'has out "^hello$"' \
	'has err "500 samples, 9 lost (7 ring full, 2 nested too deep), 12345 bytes"' \
	'has err throttled' 'has log "^end$"'

run 0 "$pmcstat" -q -O log -S cs true
ok '-q says nothing' all 'lines err 0' 'lines out 0'

run 0 "$pmcstat" -q -O - -S cs -s cs sh -c 'echo hello'
ok '-O - keeps standard output for the log' all 'hasnt out hello' \
	'lines out 2' 'has err hello' 'has err "^# "'

run 7 "$pmcstat" -q -O log -S cs sh -c 'exit 7'
ok 'the status of the command' true
run 143 "$pmcstat" -q -O log -S cs sh -c 'kill -TERM $$'
ok 'a command ended by a signal' true
run 127 "$pmcstat" -q -O log -S cs ./nonexistent
ok 'a command that is not there' has err 'cannot run ./nonexistent: No such'
touch data
run 126 "$pmcstat" -q -O log -S cs ./data
ok 'a command that is none' has err 'cannot run ./data: Permission denied'

FAKE_TRACE=trace run 0 "$pmcstat" -q -O log -S cs -s cs sh -c \
	'echo command 0 >>trace'
ok 'PMCs start before the command and stop after it' \
	[ "$(grep -e start -e command -e stop trace | tr -d '\n')" = \
	  'start 0start 1command 0stop 0stop 1' ]
rm -f trace
FAKE_TRACE=trace run 127 "$pmcstat" -q -O log -S cs ./nonexistent
ok 'no log is opened before the PMCs are there' \
	[ "$(head -3 trace | tr -d '0-9 \n')" = openallocateconfigure ]

run 0 "$pmcstat" -q -l .2 -O log -S cs sleep 60
ok '-l ends the command' true
run 0 "$pmcstat" -q -l .2 -O log -S cs
ok '-l without a command' true

run 74 env FAKE_BREAK=100 "$pmcstat" -O log -S cs sleep 60
ok 'a full disk ends the run at once' \
	has err 'cannot write the log log: No space left'
run 74 env FAKE_FAIL=closelog:5 "$pmcstat" -q -O log -S cs true
ok 'an error at the end' has err 'Input/output error'
run 74 env FAKE_FAIL=flush:32 "$pmcstat" -q -O - -S cs true
ok 'a reader that has gone' has err 'its reader is gone'
run 74 sh -c "'$pmcstat' -s cs true >/dev/full"
ok 'counts that cannot be written' has err 'cannot print counts: No space'
run 0 env FAKE_FAIL=records:7 "$pmcstat" -O log -S cs true
ok 'metadata that is refused' has err 'lacks modules'

for e in '2 69 modprobe hwpmc' '13 77 are you root' '93 69 is older'; do
	# shellcheck disable=SC2086
	set -- $e
	errno=$1 status=$2
	shift 2
	run "$status" env FAKE_FAIL="open:$errno" "$pmcstat" -s cs
	ok "no device: $*" all "has err '$*'" 'lines err 1'
done
run 69 env FAKE_FAIL=allocate:2 "$pmcstat" -S cycles:u -O unmade
ok 'an event the machine lacks' all '! [ -e unmade ]' \
	'has err "cannot sample cycles:u: this machine has no such event"'
run 69 env FAKE_FAIL=allocate:6 "$pmcstat" -c 3 -s cycles
ok 'an offline CPU' has err 'cannot count cycles on CPU 3: the CPU is offline'
run 77 env FAKE_FAIL=allocate:13 "$pmcstat" -s cycles
ok 'no permission' has err 'Permission denied'
run 71 env FAKE_FAIL=start:77 "$pmcstat" -s cycles sh -c 'echo ran'
ok 'a start that fails' hasnt out ran
run 73 "$pmcstat" -O /nonexistent/log -S cs true
ok 'a log that cannot be made' has err 'cannot open /nonexistent/log: No such'
run 0 "$pmcstat" -n 5 -O log -S cs true
ok 'a period below the minimum' has err 'period 5 raised to 1000'
run 64 "$pmcstat" -S nonsense -O log
ok 'usage' all 'lines err 1' 'has err "unknown event"'

# signal NAME STATUS ARGUMENTS...: sends it to pmcstat alone
signal()
{
	sig=$1 want=$2
	shift 2
	"$pmcstat" -O log -S cs "$@" >out 2>err &
	pid=$!
	sleep .4
	kill -s "$sig" "$pid"
	wait "$pid"
	got=$?
}
signal INT 0
ok '^C without a command is the usual end' has err '500 samples'
signal TERM 0
ok 'SIGTERM too' has err '500 samples'
signal HUP 0
ok 'SIGHUP too' has err '500 samples'
signal TERM 143 sleep 60
ok 'SIGTERM is passed to the command' has err '500 samples'
# A shell that starts a job in the background has it ignore SIGINT.
# shellcheck disable=SC2016
signal INT 143 sh -c 'trap "" INT; sleep 60'
ok 'a command that ignores SIGINT gets SIGTERM' has err '500 samples'

run 0 "$pmcstat" -q -O log -S cs --kallsyms syms true
ok '--kallsyms copies the symbols' cmp syms /proc/kallsyms

echo "1..$count"
[ "$failures" -eq 0 ]
