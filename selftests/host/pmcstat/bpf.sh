#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs of pmcstat --bpf on this machine, where the kernel and the user let it.
# usage: bpf.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
pmclog=${1%/*}/pmclog
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

if ! "$pmcstat" --bpf -q -s cs true >out 2>err &&
   grep -qE -e '--bpf (needs|sees)|without --bpf|no BTF' err; then
	echo "1..0 # SKIP $(cat err)"
	exit
fi
run 0 "$pmcstat" --bpf -q -O log -S cpu-clock true
ok 'a recording' all 'lines err 0' '[ -s log ]'

# What a clock of 10 us leaves of a CPU depends on the machine: of one CPU only.
run 0 "$pmcstat" --bpf -c 0 --freq 1000000000 -O log -S cpu-clock true
ok 'a clock has no more samples than perf takes, and that is said' \
	has err '^pmcstat: cpu-clock: 1000000000 samples a second lowered to [0-9]*, '
run 0 "$pmcstat" --bpf -c 0 -n 9000 -O log -S cpu-clock true
ok 'unless a period was given' hasnt err lowered

run 69 "$pmcstat" --bpf -c 200 -s cs true
ok 'a CPU that is not there' has err '^pmcstat: cannot count cs: no such CPU, or it is offline$'

# Its parent never waits for it.
sh -c 'sleep 1000 & echo $! >target; exec sleep 1000' &
parent=$!
until [ -s target ]; do sleep .05; done
(until [ -s zombie ]; do sleep .05; done; kill "$(cat target)") &
killer=$!
run 0 timeout 60 "$pmcstat" --bpf -q -t "$(cat target)" -P cpu-clock -O zombie
ok 'a zombie has ended' lines err 0
kill $parent
kill $killer 2>err.kill

# Nobody reads the pipe.
mkfifo slow
exec 9<>slow
"$pmcstat" --bpf -q -n 1000000 -S cpu-clock -O slow sh -c 'echo >began; exec sleep 1000' >out 2>err 9>&- &
pid=$!
until_true '[ -s began ]'
terminate
want=$got
ok 'signals end the wait for a reader of the log' \
	all '[ "$got" -eq 143 ] || { [ "$got" -eq 74 ] && has err interrupted; }'

# Two are enough, when the pipe is full from the beginning.
perl -MFcntl -e 'sysopen F, "slow", O_RDWR | O_NONBLOCK; 1 while syswrite F, "x" x 4096'
rm -f began
timeout -s KILL 60 env --default-signal=TERM "$pmcstat" --bpf -q -n 1000000 -S cpu-clock -O slow \
	sh -c 'echo >began; exec sleep 1000' >out 2>err 9>&- &
pid=$!
until_true '[ -s began ]'
for _ in 1 2; do
	sleep .5
	kill -TERM "$(cat "/proc/$pid/task/$pid/children")"
done
wait "$pid"
got=$?
want=74
ok 'the second signal ends all waits' has err 'cannot write the log slow: interrupted$'
exec 9>&-

# The number before WORD in pmcstat's last line, the one after it in what pmclog says
said() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" err; }

# 512 CPUs have more descriptors than the usual limit of 1024.
run 0 sh -c 'ulimit -S -n 40; exec "$@"' sh "$pmcstat" --bpf -q -S cpu-clock -S page-faults -S cs \
	-O log sh -c 'ulimit -S -n >limit'
ok 'as many open files as it takes, and the limit of the command stays' \
	all 'lines err 0' '[ "$(cat limit)" = 40 ]'

# Its compressor is a thread.
"$pmcstat" --bpf -n 1000000000 -Z -S cpu-clock -O packed sleep 1000 >out 2>err &
pid=$!
until_true '[ "$(ls "/proc/$pid/task" | wc -l)" -gt 1 ]' &&
	thread=$(ls "/proc/$pid/task" | grep -vx "$pid")
if [ -n "$thread" ]; then
	run 65 "$pmcstat" --bpf -t "$thread" -P cpu-clock -O log -l 1
	ok 'a thread is no process' has err "$thread is a thread of process $pid: "
fi
terminate

mkdir 'two
lines'
cp "$(command -v sleep)" 'two
lines/sleep'
'two
lines/sleep' 1000 &
pid=$!
until_true 'grep -q "lines/sleep" "/proc/$pid/maps"'
run 0 "$pmcstat" --bpf -q -t "$pid" -P cpu-clock -O log -l .1
"$pmclog" dump log >dump 2>err.dump
ok 'a newline in the path of a mapping' all 'grep -q "map-in.*/two.*lines/sleep" dump' 'hasnt dump 012lines'
terminate

# Its number is given to another process while it is recorded.
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	sh -c 'sleep 1 & echo $! >dead; exec sleep 1000' &
	parent=$!
	until [ -s dead ] && grep -qs '^State:.Z' "/proc/$(cat dead)/status"; do sleep .05; done
	rm -f began
	"$pmcstat" --bpf -q -n 1000000000 -S cpu-clock -O log sh -c 'echo >began; exec sleep 1000' >out 2>err &
	pid=$!
	until_true '[ -s began ]'
	kill $parent
	wait $parent 2>err.wait
	dead=$(cat dead)
	until [ ! -d "/proc/$dead" ]; do sleep .05; done
	tries=0
	until [ "$(cat again)" = "$dead" ] || [ $tries -eq 100 ]; do
		echo $((dead - 1)) >/proc/sys/kernel/ns_last_pid
		sh -c 'echo $$ >again'
		tries=$((tries + 1))
	done 2>err.again
	terminate
	want=143
	"$pmclog" dump log >dump 2>err.dump
	ok 'the number of a zombie is used again' \
		all '[ "$(cat again)" = "$dead" ]' 'grep -qE "^fork +[0-9]+ $dead " dump'
fi

# Its mmap lock is held, as by a file system of the process' own: the open never returns.
sleep 1000 &
target=$!
mkfifo held
cat >hold <<'EOF'
mount --bind held "/proc/$1/maps" || exit 99
shift
exec timeout -k 5 30 "$@"
EOF
if unshare -m sh hold $target true 2>err.hold; then
	run 0 unshare -m sh hold $target "$pmcstat" --bpf -n 1000000 -S cpu-clock -O log true
	"$pmclog" verify log >out.verify 2>&1
	want=0 got=$?
	# others that are slow after that are lost, too
	ok 'a process that holds its mappings is said, and is a loss' \
		all 'has err "cannot read the mappings of process $target: "' \
		'has err "of a process was lost\|of processes were lost"' 'has out.verify "process records* dropped"'
fi
# Mappings that cannot be opened: no driver has such a number; or root has not all rights.
mknod none c 511 0 2>err.mknod
sed 's/ held / none /' hold >none.sh
unread=
[ -r /proc/1/maps ] && ! head -c 1 /proc/1/maps >out.maps 2>err.maps && unread=1
if [ -c none ] && unshare -m sh none.sh $target true 2>err.hold; then
	unread=${unread:-$target}
fi
if [ ! "$unread" ]; then
	want=0 got=0
	ok 'mappings that cannot be read # SKIP there are none' true
else
	run 0 unshare -m sh none.sh $target "$pmcstat" --bpf -n 1000000 -S cpu-clock -O log true
	[ -c none ] || run 0 "$pmcstat" --bpf -n 1000000 -S cpu-clock -O log true
	"$pmclog" verify log >out.verify 2>&1
	want=0 got=$?
	ok 'likewise if they cannot be read' \
		all 'has err "cannot read the mappings of process $unread: "' \
		'has err "of a process was lost\|of processes were lost"' 'has out.verify "process records* dropped"'
fi
kill $target

# A limit of the size of files takes a part of a write, as a full disk does.
cat >part <<'EOF'
trap '' XFSZ
ulimit -f 1000
exec "$@"
EOF
run 74 sh part "$pmcstat" --bpf -n 100000 -S cpu-clock -O log sh -c 'while :; do :; done'
"$pmclog" info log >info 2>err.info
ok 'of a write that was cut short, what is in the file is counted' \
	all 'has err "File too large"' '[ "$(said bytes)" -eq "$(wc -c <log)" ]' \
	'grep -qE "^  callchain +$(said samples)$" info'

# The signal is no end, either.
sed -i '/^trap/d' part
run 74 sh part "$pmcstat" --bpf -n 100000 -S cpu-clock -O log sh -c 'while :; do :; done'
ok 'nor is a limit that sends a signal' has err "File too large"

# A name with a newline hides nobody.
cat >named.c <<'EOF'
#include <sys/prctl.h>
#include <unistd.h>
int main(void) { prctl(PR_SET_NAME, "two\n) lines"); pause(); }
EOF
if cc -o named named.c 2>err.cc; then
	./named &
	pid=$!
	until_true 'grep -q "^) lines" /proc/$pid/comm'
	run 0 "$pmcstat" --bpf -q -t "$pid" -P cpu-clock -O log -l .1
	ok 'a newline in the name of a process' lines err 0
	run 0 "$pmcstat" --bpf -q -t '^two' -P cpu-clock -O log -l .1
	ok 'and a pattern finds it' lines err 0
	terminate
else
	want=0 got=0
	ok 'a newline in the name of a process # SKIP no compiler' true
fi

# The ring of the processes is full, and nothing comes behind the last loss.
rm -f began
"$pmcstat" --bpf -n 1000000000 -S cpu-clock -O log sh -c 'echo >began; exec sleep 1000' >out 2>err &
pid=$!
until_true '[ -s began ]'
kill -STOP $pid
i=0
while [ $i -lt 20000 ]; do
	echo named >/proc/$$/comm
	i=$((i + 1))
done
kill -TERM $pid
kill -CONT $pid
wait $pid
got=$?
want=143
"$pmclog" info log >info 2>err.info
names=$(sed -n 's/^  create  *\([0-9]*\)$/\1/p' info)
ok 'losses of the last records of processes are told' \
	all '[ "$(said "records of processes were lost")" -gt 0 ]' \
	'[ $((names + $(said "records of processes were lost"))) -ge 20000 ]'

echo "1..$count"
[ "$failures" -eq 0 ]
