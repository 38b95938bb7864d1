#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs that end by a signal or an error: what is said, what is left, and the status.
# usage: endings.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034,SC3045

pmcstat=$1
golden=$PWD/../log/golden/full.pmclog
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"
ulimit -c 0

# child: PID of the first that $pid has started
child() { cut -d ' ' -f 1 "/proc/$pid/task/$pid/children"; }
# comes OPERATION: $pid has come to it
comes() { until_true "has trace '^$1 '"; }
# left: files of a recording that has not begun
left() { find . -name 'new*'; }
# ended: takes the status of $pid
ended()
{
	wait "$pid"
	got=$?
}

# pmcstat waits for the reader of the symbols, so it is not all set up.
mkfifo fifo
for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
	want=${signal#*:} signal=${signal%:*}
	# a shell lets what runs in the background ignore two of them
	env --default-signal=INT,QUIT "$pmcstat" -q -O new -s cs -S cs -o new.counts --kallsyms fifo true >out 2>err &
	pid=$!
	until_true '[ -n "$(find . -name "new.??????" ! -name new.counts)" ]'
	kill -"$signal" "$pid"
	ended
	ok "SIG$signal during the set-up leaves no file" [ -z "$(left)" ]
done
rm -f new*
run 127 "$pmcstat" -q -s cs -o new.counts ./nonexistent
ok 'nor does a command that is not there' [ -z "$(left)" ]
: >new.counts
run 127 "$pmcstat" -q -s cs -o new.counts ./nonexistent
ok 'but what was there' [ -e new.counts ]
rm new.counts

# The command waits for the start, as all that ^C comes to.
for signal in INT:130 TERM:143 KILL:137; do
	want=${signal#*:} signal=${signal%:*}
	: >trace
	FAKE_TRACE=trace FAKE_WAIT=attach:go env --default-signal=INT "$pmcstat" -q -O new -P cs \
		sleep 60 >out 2>err &
	pid=$!
	comes attach
	command=$(child)
	kill -"$signal" "$command"
	until_true 'has "/proc/$command/status" "^State:.Z"'
	: >go
	ended
	rm go
	ok "SIG$signal ends the command before it begins" all '[ -z "$(left)" ]' \
		'lines err 1' 'has err "^pmcstat: sleep was not begun: "'
done

# What the caller has blocked is blocked in the command, and nothing else: SIGUSR1 is 10
run 0 perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1)); exec @ARGV' \
	"$pmcstat" -q -S cs -O log sed -n 's/^SigBlk:.0*//p' /proc/self/status
ok 'the signals that the caller has blocked' [ "$(cat out)" = 200 ]
run 0 "$pmcstat" -q -S cs -O log sed -n 's/^SigBlk:.0*//p' /proc/self/status
ok 'or none' [ -z "$(tr -d 0 <out)" ]

# A command that is stopped can end, too, without waiting for what cannot be refused.
"$pmcstat" -q -S cs -O log sh -c \
	'trap ": >asked; exit" TERM; echo $$ >stopped; kill -STOP $$; sleep 60 & wait' >out 2>err &
pid=$!
until_true '[ -s stopped ] && has "/proc/$(cat stopped)/status" "^State:.T"'
kill -TERM "$pid"
ended
want=0
ok 'a stopped command is asked to end' [ -e asked ]

# A script's background job ignores SIGINT: ^C is not for it, kill(1) is.
rm log
run 0 sh -c 'trap "" INT; "$0" -q -S cs -O log -l 60 & pid=$!
	until grep -q begin log 2>err.grep; do sleep .05; done; kill -INT $pid; wait $pid' "$pmcstat"
ok 'SIGINT from kill(1) ends a background job' has log '^end$'

# Errors
run 77 env FAKE_FAIL=attach:1 "$pmcstat" -q -O new -P cs true
ok 'a command that must not be attached to' has err 'cannot attach to the command'
run 73 env FAKE_FAIL=configure:22 "$pmcstat" -q --packed -O new -S cs true
ok 'a module that does not pack' has err 'older than --packed$'
run 64 "$pmcstat" -q -O localhost:65536 -S cs true
ok 'a port to send to' has err 'localhost:65536: a port is at most 65535$'
run 66 "$pmcstat" -R :70000
ok 'a port to listen at' has err 'a port is at most 65535$'
mkdir shots
run 74 env FAKE_FAIL=snapshot:28 "$pmcstat" -q -O shots/ --flight 4M -S cs -l .1
ok 'a snapshot that fails leaves no empty file' [ -z "$(ls shots)" ]

# The reader of our own recording
export FAKE_LOG="$golden"
run 74 "$pmcstat" -q -S cs -G /dev/full sh -c 'exit 7'
ok 'an output that fails is said before the status of the command' true
run 7 "$pmcstat" -q -S cs -G graph sh -c 'exit 7'
ok 'which is said otherwise' [ -s graph ]
run 74 timeout 20 "$pmcstat" -q -S cs -T -w .1 -o /dev/full sleep 60
ok 'screens that nobody gets end the run' has err 'cannot write /dev/full: No space left'
run 64 "$pmcstat" -q -S cs -T -o new -f bogus sh -c ': >ran'
ok 'a wrong -f is found before' all '! [ -e ran ]' 'lines err 1'
# graphing: a recording of which a graph is made; its first child is the reader
graphing()
{
	: >trace
	FAKE_TRACE=trace "$pmcstat" -q -S cs -G graph sleep 60 >out 2>err &
	pid=$!
	comes start
}
rm -f graph
graphing
kill -HUP "$(child)"
kill -HUP "$pid"
ended
want=129
ok 'SIGHUP ends the recording, and the graph is made' all '[ -s graph ]' 'lines err 0'
graphing
kill -KILL "$(child)"
kill -TERM "$pid"
ended
want=70
ok 'a reader that is killed is missed' has err 'ended by signal 9 (Killed)$'

# A file may not grow so far.
run 74 sh -c 'said=$(ulimit -f 0; "$0" -R "$1" -G graph 2>&1)
	status=$?; echo "$said" >&2; exit $status' "$pmcstat" "$golden"
ok 'a graph that is too large' has err 'cannot write graph: File too large$'
mkdir gmon
run 74 sh -c 'ulimit -f 0; cd gmon && "$0" -R "$1" -g' "$pmcstat" "$golden"
ok 'nor do profiles leave a part' [ -z "$(find gmon -type f)" ]

# screen_said: what was said after the screen was given back
screen_said() { sed -n '/\[?1049l/,$p' <session | sed 's/.*\[?1049l//'; }
# typed WHEN TEXT: types it when that is true
mkfifo keys
typed() { { until eval "$1" 2>err.typed; do sleep .05; done; printf %b "$2"; sleep .3; : >go; } >keys & }
# on_screen KEYS COMMAND: with a terminal; the start waits until they have been typed
on_screen()
{
	rm -f go session
	typed 'grep -q "\[?1049h" session' "$1"
	FAKE_WAIT=start:go TERM=xterm run "$want" timeout 60 script -qefc "$2" session <keys
	wait $!
	screen_said >said
}
if command -v script >found; then
	run 69 script -qec "env TERM=nosuch $pmcstat -q -T -S cs sh -c ': >ran'" session
	ok 'a terminal that is not known' all '! [ -e ran ]' 'has out "cannot be used"'
	want=127
	on_screen '' "$pmcstat -T -S cs ./nonexistent"
	ok 'an error is said when the screen is given back' has said 'cannot run ./nonexistent'
	on_screen '' "env --ignore-signal=USR1 --block-signal=USR1 $pmcstat -T -S cs ./nonexistent"
	ok 'whatever the caller does with SIGUSR1' has said 'cannot run ./nonexistent'
	on_screen q "$pmcstat -T -S cs ./nonexistent"
	ok 'when the view waits for the end of the recording' has said 'cannot run ./nonexistent'
	unset FAKE_LOG
	rm log
	typed 'has log "^begin$"' '\003'
	# with exec, as a shell that waits would get the signal, too
	run 3 timeout 60 script -qefc "exec env --ignore-signal=INT $pmcstat -q -S cs -O log \
		sh -c 'sleep 4; exit 3'" session <keys
	wait $!
	ok '^C is not for a background job' true
fi

echo "1..$count"
[ "$failures" -eq 0 ]
