#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmcstat with events of all sources: what a program is known to do is counted
# exactly, by tracepoints, probes and breakpoints, and no probe is left over.
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2086

# shellcheck source=lib/tool.sh source-path=SCRIPTDIR
. tool.sh

samples() { dump log | grep -c ^callchain; }
# the numbers that were counted
counts() { set -- $(sed -n 2p out); echo "$*"; }

tracing=/sys/kernel/tracing
probes() { cat $tracing/kprobe_events $tracing/uprobe_events; }
no_probes() { ! probes | grep -q hwpmc_; }
# extension records of a subtype: there is a NUL behind it
extensions()
{
	tr '\000' '\n' <"$1" | grep -c "HmPx$(printf "\\$(printf %o "$2")")\$"
}

program=$(command -v probed)
times=1234
whole='-q -w 100000'

# Tracepoints
run 0 pmcstat $whole -p syscall:getppid:entry -p syscall:getppid:return \
	-p syscalls:sys_enter_getppid probed $times
ok 'calls of a system call, and their ends' \
	'[ "$(counts)" = "$times $times $times" ]'
run 0 pmcstat -P syscall:getppid:entry -O log probed $times
ok 'a sample for each call' 'has err "^pmcstat: $times samples, 0 lost"' \
	'[ "$(samples)" -eq $times ]'
run 0 pmcstat -n 10 -P syscall:getppid:entry -O log probed 1000
ok 'for each tenth of them' '[ "$(samples)" -eq 100 ]'
run 0 pmcstat -S tracepoint:sched:sched_process_exec --raw \
	-S sched:sched_process_exec -O log busybox true
ok 'a tracepoint in the whole system, and its data' \
	'has err "^pmcstat: [1-9][0-9]* samples, 0 lost"' \
	'[ "$(extensions log 12)" -gt 0 ]' '[ "$(extensions log 13)" -eq 1 ]' \
	'[ "$(extensions log 12)" -lt "$(samples)" ]' \
	'tr "\000" "\n" <log | has - "field:__data_loc char\[\] filename;"'
run 0 pmcstat -n 1000000 --raw -S cpu-clock -O log busybox true
ok '--raw is for tracepoints only' '[ "$(extensions log 12)" -eq 0 ]'
run 64 pmcstat -s sched:sched_swich true
ok 'what is misspelled' 'has err "did you mean sched_switch"'

# Probes of a program
run 0 pmcstat $whole -p uprobe:$program:probed -p uprobe:$program:probed_too \
	-p uprobe:$program:probed:return probed $times
ok 'functions of a program, and their ends' \
	'[ "$(counts)" = "$times $times $times" ]' no_probes
run 0 pmcstat -P uprobe:$program:probed:return --raw \
	-P uprobe:$program:probed -O log probed 100
ok 'samples of both, with data of one' '[ "$(samples)" -eq 200 ]' \
	'[ "$(extensions log 12)" -eq 100 ]' no_probes
run 69 pmcstat -P uprobe:$program:+0x7fffffff0 -O log true
ok 'a place that is not in the file' 'has err "cannot sample uprobe"' no_probes
run 64 pmcstat -P uprobe:$program:probbed -O log true
ok 'a function that is not there' 'has err "did you mean probed"'

# Probes of the kernel
run 0 pmcstat $whole -p kprobe:__do_sys_getppid,name=a \
	-p kprobe:__do_sys_getppid:return true
if [ $got -eq 0 ]; then
	getppid=__do_sys_getppid
else	# one that the compiler has not made part of its caller
	getppid=$(awk '$3 ~ /^__(x64|arm64)_sys_getppid$/ { print $3 }' /proc/kallsyms)
fi
run 0 pmcstat $whole -p kprobe:$getppid -p kprobe:$getppid:return probed $times
ok 'a function of the kernel, and its ends' \
	'[ "$(counts)" = "$times $times" ]' no_probes
run 0 pmcstat $whole -c 0-1 -s kprobe:$getppid probed $times
ok 'on each of two CPUs' 'set -- $(counts)' '[ $(($1 + $2)) -ge $times ]' no_probes
run 69 pmcstat -p kprobe:no_such_function true
ok 'a function that the kernel does not have' \
	'has err "cannot make kprobe:no_such_function: .* (.*)"' no_probes
run 127 pmcstat -q -p kprobe:$getppid nonesuch
ok 'a command that is not there' no_probes
# the thread that makes unwind tables waits on the device
run 127 pmcstat -S kprobe:$getppid -O log nonesuch
ok 'nor one whose samples have chains' no_probes 'hasnt err "cannot remove"'
pmcstat -q -S kprobe:$getppid -O log sleep 1000 2>err &
pid=$!
until [ -s log ]; do sleep .1; done
kill -USR1 $pid
wait $pid
got=$?
want=138
ok 'a signal that is deadly' no_probes 'hasnt err "cannot remove"'
run 69 pmcstat -q -p kprobe:$getppid -p type=4095,config=1 true
ok 'an event that is not there' no_probes

done_testing
