#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Logs of groups of CPUs (--writers), of a pmcstat that needs no device.
# usage: writers.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
golden=$PWD/../log/golden/full.pmclog
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

cpus=$(getconf _NPROCESSORS_ONLN)
possible=$(getconf _NPROCESSORS_CONF)

mkdir a
run 0 "$pmcstat" -O a --writers 1 -S cs true
ok 'one log' all '[ "$(number a)" -eq 1 ]' 'all_whole a' \
	'files a | grep -q "^a/pmclog\.20[0-9]*T[0-9]*Z\.0001\.g0$"' \
	'has err "^pmcstat: 500 samples, 9 lost .*, 12345 bytes in 1 file$"'
ok 'the CPUs come before the PMCs' [ "$(grep -E '^(cpus|allocate)' trace | head -n 1 | \
	cut -d ' ' -f 1)" = cpus ]
run 0 "$pmcstat" -O ./ -S cs true
ok 'without the option, they are not set' all 'hasnt trace "^cpus"' \
	'[ -e "$(echo pmclog.*.0001)" ]'
run 64 "$pmcstat" -O a --writers $((cpus + 1)) -S cs true
ok 'more logs than CPUs' all 'lines err 1' '[ "$(number a)" -eq 1 ]' \
	'has err "^pmcstat: --writers $((cpus + 1)): there are $cpus CPUs online$"'
mkdir b
run 0 "$pmcstat" -O b --writers node -S cs true
ok 'a log for each node' all '[ "$(number b)" -ge 1 ]' 'all_whole b'
run 69 env FAKE_FAIL=cpus:25 "$pmcstat" -O b --writers 1 -S cs true
ok 'an older module' all 'lines err 1' \
	'has err "^pmcstat: --writers: the hwpmc module is older than this pmcstat$"'
if [ "$cpus" -lt 2 ]; then
	echo "1..$count"
	[ "$failures" -eq 0 ]
	exit
fi

slow=$dir/slow.pmclog
perl -0777 -pe 's/\x0c\0{7}(?=\x0a\0{7})/pack("Q<", 1200)/e' "$golden" >"$slow"
mkdir c
run 0 "$pmcstat" -O c/ --writers 2 -S cs -S cpu-clock sh -c 'exit 0'
ok 'two logs of one name' all '[ "$(number c)" -eq 2 ]' 'all_whole c' \
	'[ "$(files c | sed "s/.*[.]//" | tr "\n" " ")" = "g0 g1 " ]' \
	'[ "$(files c | sed "s/[.]g.//" | uniq | wc -l)" -eq 1 ]'
ok 'the line at the end is of both' \
	has err '^pmcstat: 1000 samples, 18 lost .*, 24690 bytes in 2 files$'
ok 'the rest is told once' [ "$(grep -c throttled err)" -eq 1 ]
ok 'each CPU is in one of them' all '[ "$(grep -c "^cpus" trace)" -eq 2 ]' \
	'[ "$(awk "/^cpus/ { n += \$2 } END { print n }" trace)" -eq "$possible" ]'
ok 'both have all PMCs, and start and stop' all \
	'[ "$(grep -c "^allocate" trace)" -eq 4 ]' '[ "$(grep -c "^close " trace)" -eq 2 ]'
run 3 "$pmcstat" -q -O c --writers 2 -S cs sh -c 'exit 3'
ok 'the status of the command' all 'lines err 0' '[ "$(number c)" -eq 4 ]' 'all_whole c'
run 0 "$pmcstat" -q -O c --writers 2 -S cs -l .2
ok '-l ends all' all '[ "$(number c)" -eq 6 ]' 'all_whole c'
run 0 "$pmcstat" -O c --writers 2 --budget 1 -S cs true
ok 'a budget is told once' [ "$(grep -c 'sampling took' err)" -eq 1 ]
FAKE_RUNNING=40 run 0 "$pmcstat" -O c --writers 2 -n 1 -S cs true
ok 'each has warnings of its own, and notes for all are told once' all \
	'has err "cs in the log .g0 was on the hardware 40.0% of the time only"' \
	'has err "cs in the log .g1 was on the hardware 40.0% of the time only"' \
	'[ "$(grep -c "period 1 raised to" err)" -eq 1 ]' \
	'[ "$(grep -c " samples, " err)" -eq 1 ]'
FAKE_LOG="$slow" FAKE_PMC=0xFFF00F00 run 0 "$pmcstat" -O c --writers 2 -S cs true
ok 'also of rates on its CPUs' [ "$(grep -c 'asked 240000/s, achieved 2000/s' err)" -eq 2 ]
FAKE_RUNNING=40 FAKE_LOG="$slow" FAKE_PMC=0xFFF00F00 run 0 "$pmcstat" -q -O c --writers 2 \
	-n 1 -S cs true
ok 'and -q is for both' lines err 0

mkdir d
run 69 env FAKE_FAIL=allocate:12 "$pmcstat" -O d --writers 2 -S cs sleep 60
ok 'what fails for all is told once' all 'lines err 1' '[ "$(number d)" -eq 0 ]'
run 74 env FAKE_BREAK=300 "$pmcstat" -O d --writers 2 -S cs sleep 60
ok 'full disks end it' all '[ "$(number d)" -eq 2 ]' \
	'[ "$(grep -c "cannot write the log d/pmclog.*No space left" err)" -ge 1 ]'

# begin_two N: until there are N logs; $other is the process of the other group
begin_two()
{
	"$pmcstat" -O e --writers 2 -S cs >out 2>err &
	pid=$!
	until [ "$(number e)" -eq "$1" ]; do sleep .05; done
	sleep .5
	other=$(cut -d ' ' -f 1 "/proc/$pid/task/$pid/children" 2>err.kill)
}
mkdir e
begin_two 2
kill -TERM "$pid"
wait "$pid"
got=$? want=0
ok 'SIGTERM ends all' all 'all_whole e' '[ -n "$other" ]' '! kill -0 "$other" 2>err.kill' \
	'has err "in 2 files$"'
begin_two 4
kill -KILL "$other"
wait "$pid"
got=$? want=70
ok 'one that is killed ends it' all '[ "$(number e)" -eq 4 ]' \
	'has err "^pmcstat: --writers: a process has died, its log may be incomplete$"'
begin_two 6
kill -KILL "$pid"
wait "$pid" 2>err.kill
while kill -0 "$other" 2>err.kill; do sleep .05; done
got=0 want=0
ok 'when the first is killed, the others end' [ -n "$other" ]
begin_two 8
kill -HUP "$pid"
wait "$pid"
got=$? want=0
ok 'SIGHUP is the end' [ "$(number e)" -eq 8 ]

echo "1..$count"
[ "$failures" -eq 0 ]
