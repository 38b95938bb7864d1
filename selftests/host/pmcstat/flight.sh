#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Snapshots of a flight recorder, of a pmcstat that needs no device.
# usage: flight.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

number() { find "$1" -name 'pmclog.*' -size +0 | wc -l; }
hidden() { find "$1" -name '.p*' | wc -l; }

# start ARGUMENTS...: in the background, until it records
start()
{
	rm -f trace
	FAKE_TRACE=trace "$pmcstat" -S cs --flight 4M "$@" >out 2>err &
	pid=$!
	until_true '[ -e trace ] && has trace "^start"'
}

finish()
{
	kill -"$1" "$pid"
	wait "$pid"
	got=$?
}

want=0
start -O one
finish INT
ok 'its end is a snapshot' all '[ -s one ]' 'has trace "^flight 4194304$"' \
	'has err "^pmcstat: one: the last 2.500 s: asked for"' 'hasnt trace "^arm"'
mkdir d
start -O d/
kill -USR2 "$pid"
until_true '[ "$(number d)" -eq 1 ]'
kill -USR2 "$pid"
until_true '[ "$(number d)" -eq 2 ]'
finish TERM
ok 'SIGUSR2 takes one, and another' all '[ "$(number d)" -eq 3 ]' \
	'[ "$(grep -c "asked for" err)" -eq 3 ]' \
	'[ "$(find d | grep -c "pmclog[.]20.*Z[.]000[123]$")" -eq 3 ]'
start -O one --keep 1 --packed
wait "$pid"
got=$?
want=64
ok '--keep is for directories' has err 'needs a directory'
want=0
mkdir k
start -O k/ --keep 1 --packed
kill -USR2 "$pid"
until_true '[ "$(number k)" -eq 1 ]'
finish INT
ok '--keep leaves the last' all '[ "$(number k)" -eq 1 ]' \
	'[ -s k/*.0002 ]' 'has trace "^packed flight 4194304"'
start -O two
kill -USR2 "$pid"
wait "$pid"
got=$?
ok 'with a file the first one ends it' all '[ -s two ]' \
	'[ "$(grep -c "asked for" err)" -eq 1 ]'
want=143
start -O three sleep 60
kill -USR2 "$pid"
until_true '[ -s three ]'
kill -USR2 "$pid"
until_true 'has err "already"'
finish TERM
ok 'but not a command' all 'has err "three has its snapshot already"' \
	'[ "$(grep -c "asked for" err)" -eq 1 ]'

# What is armed is a file of our own, whoever knew its name.
mkdir n
echo mine >theirs
want=0
run 0 sh -c 'ln theirs n/.pmclog.armed.$$; chmod 444 theirs
	FAKE_TRIGGER=100 exec "$0" -S cs --flight 4M -O n/ --trigger faults -l .5' \
	"$pmcstat"
ok 'a file of that name is not written to' all '[ "$(cat theirs)" = mine ]' \
	'[ "$(number n)" -ge 2 ]' \
	'[ "$(hidden n)" -eq 0 ] || has err "a snapshot is left"' # of the last moment
mkdir o
run 71 env FAKE_FAIL=start:77 "$pmcstat" -S cs --flight 4M -O o/ --trigger faults
ok 'nothing stays of what did not begin' [ "$(hidden o)" -eq 0 ]

want=0
mkdir t
export FAKE_TRIGGER=100
start -O t/ --trigger faults,count=9
until_true '[ "$(number t)" -ge 2 ]'
unset FAKE_TRIGGER
finish TERM
ok 'a trigger takes one, and another' all '[ "$(number t)" -ge 3 ]' \
	'[ "$(hidden t)" -eq 0 ]' 'has err "the last 2.500 s: faults has triggered it"' \
	'[ "$(grep -c "asked for" err)" -eq 1 ]' 'hasnt err cannot'
mkdir u
start -O u/ --trigger exit
finish INT
ok 'without one there is the end' all '[ "$(number u)" -eq 1 ]' \
	'[ "$(hidden u)" -eq 0 ]' 'has trace "^exit 0$"'
run 0 env FAKE_TRIGGER=100 FAKE_CAUSE=2 "$pmcstat" -S cs \
	--flight 4M -O four --trigger exit=3
ok 'a file at the first one' all '[ -s four ]' 'has trace "^exit with 768$"' \
	'has err "four: the last 2.500 s: process 77 has ended with status 3$"' \
	'hasnt err "asked for"'
run 7 env FAKE_TRIGGER=100 "$pmcstat" -q -S cs --flight 4M -O five \
	--trigger faults sh -c 'until [ -s five ]; do sleep .05; done; exit 7'
ok 'the command goes on' all '[ -s five ]' 'lines err 0'

# The trigger fires just before the end; a log is as long as that of "one".
whole() { [ "$(wc -c <"$1")" -eq "$(wc -c <one)" ]; }
run 0 env FAKE_FIRED=cut "$pmcstat" -S cs --flight 4M -O e1 --trigger exit -l .1
ok 'what fires at the end is waited for' all 'whole e1' \
	'has err "e1: the last 2.500 s: process 77 has ended with status 3$"' \
	'hasnt err "asked for"'
mkdir e2
run 0 env FAKE_FIRED=cut "$pmcstat" -S cs --flight 4M -O e2/ --trigger exit -l .1
ok 'and kept, in a directory' all '[ "$(number e2)" -eq 2 ]' \
	'[ "$(hidden e2)" -eq 0 ]' 'whole e2/*.0001' 'whole e2/*.0002' \
	'has err "0001: the last 2.500 s: process 77 has ended with status 3$"'
run 0 env FAKE_FIRED=cut FAKE_FAIL=flush:4 "$pmcstat" -S cs --flight 4M -O e3 \
	--trigger exit -l .1
ok 'or broken off, and another is all there is in the file' all 'whole e3' \
	'has err "e3: the last 2.500 s: asked for"' 'lines err 1'
run 0 env FAKE_FIRED=whole FAKE_FAIL=flush:4 "$pmcstat" -S cs --flight 4M -O e4 \
	--trigger exit -l .1
ok 'or done at the last moment' all 'whole e4' \
	'has err "e4: the last 2.500 s: process 77"' 'lines err 1'

run 69 env FAKE_FAIL=flight:25 "$pmcstat" -S cs --flight 4M -O x
ok 'an older module' all 'has err "the hwpmc module is older"' '! [ -e x ]'
run 73 env FAKE_FAIL=arm:28 "$pmcstat" -S cs --flight 4M -O x --trigger faults
ok 'a file that cannot be armed' all '! [ -e x ]' \
	'has err "cannot write a snapshot to x: No space"'
run 71 env FAKE_FAIL=start:77 "$pmcstat" -S cs --flight 4M -O x --trigger faults
ok 'a start that fails leaves no file behind' all '! [ -e x ]'
run 127 "$pmcstat" -S cs --flight 4M -O x ./nonexistent
ok 'nor does a command that is not there' all '! [ -e x ]'
: >y
echo mine >z
run 69 env FAKE_FAIL=flight:25 "$pmcstat" -S cs --flight 4M -O y
ok 'an empty file of somebody stays' [ -e y ]
run 69 env FAKE_FAIL=flight:25 "$pmcstat" -S cs --flight 4M -O z
ok 'and what is in one' [ "$(cat z)" = mine ]
run 0 sh -c 'yes | head -c 9999 >z; exec "$0" -S cs --flight 4M -O z -l .1' \
	"$pmcstat"
ok 'which a snapshot takes the place of' cmp one z
run 74 "$pmcstat" -S cs --flight 4M -O x sh -c 'until rm x; do sleep .05; done'
ok 'a file that is gone at the end' has err '^pmcstat: x was removed or replaced meanwhile'
run 0 sh -c 'exec 9<>nameless; rm nameless; "$0" -q -S cs --flight 4M -O /proc/self/fd/9 -l .1 && cp /proc/self/fd/9 copy' "$pmcstat"
ok 'a file without a name' all 'whole copy'
run 64 "$pmcstat" -S cs --flight 4M -O 127.0.0.1:9
ok 'an address' all 'has err "no snapshot to an address"' '! [ -e 127.0.0.1:9 ]'
run 74 env FAKE_FAIL=snapshot:28 "$pmcstat" -S cs --flight 4M -O x -l .1
ok 'a full disk at the end' has err 'cannot write a snapshot to x: No space'
run 0 env FAKE_FAIL=snapshot:4:3 "$pmcstat" -q -S cs --flight 4M -O again -l .1
ok 'one that a suspend interrupts is taken again' all 'whole again'
run 0 sh -c '{ "$0" -q -S cs --flight 4M -O y --kallsyms /dev/fd/9 -l .1 9>&1 >/dev/null || exit; } | cat >syms' "$pmcstat"
ok 'symbols to a pipe without a name' all 'cmp syms /proc/kallsyms'
run 73 "$pmcstat" -S cs --flight 4M -O nonesuch/
ok 'a directory that is not there' has err 'there is no such directory'
run 73 "$pmcstat" -S cs --flight 4M -O nonesuch/file
ok 'a file that cannot be made' has err 'cannot open nonesuch/file'
# what is for a snapshot, without --flight
for sig in USR1 USR2; do
	want=0
	"$pmcstat" -O log -S cs -l 1 >out 2>err &
	pid=$!
	sleep .4
	kill -s $sig "$pid"
	wait "$pid"
	got=$?
	ok "SIG$sig is no end" all 'has err "SIG$sig is ignored"' 'has err "500 samples"'
done

echo "1..$count"
[ "$failures" -eq 0 ]
