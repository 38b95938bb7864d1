#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmcstat as a user runs it, with the module: commands, trees of processes,
# processes that are there already, logs that go over the network, no privilege.
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2086

# shellcheck source=lib/tool.sh source-path=SCRIPTDIR
. tool.sh
chmod 777 "$dir"

# start NAME: a process of that name that is busy; its pid is in $pid
start()
{
	[ -e "$1" ] || cp "$(command -v truth)" "$1"
	"./$1" 100000 &
	pid=$!
	busy="$busy $pid"
}

# until_true CONDITION: as long as the test may run
until_true() { until eval "$1"; do usleep 100000; done; }

# field N TYPE FILE: the N-th field of the records of that type
field() { awk -v n="$1" -v t="$2" '$1 == t { print $n }' "$3"; }
different() { sort -u | wc -l; }

# Counts are printed once, at the end, however long it takes.
whole='-w 100000'

# A tree like that of a build.
cat >tree <<'END'
for i in 1 2 3; do
	(busybox true; sh -c 'busybox true; busybox true') &
done
wait
exit 3
END

run 0 pmcstat $whole -p page-faults -p page-faults:u busybox true
ok 'counts of a command' 'has out "^#  *p/page-faults  *p/page-faults:u $"' \
	'set -- $(sed -n 2p out)' '[ "$1" -ge "$2" ]' '[ "$2" -gt 0 ]' \
	'has out "^# elapsed"' '! [ -s err ]'
run 3 pmcstat -q $whole -p page-faults -d -p page-faults sh tree
ok 'with its descendants there is more' 'set -- $(sed -n 2p out)' \
	'[ "$2" -gt $(($1 * 2)) ]'
run 137 pmcstat -q $whole -p page-faults sh -c 'kill -9 $$'
ok 'a command that is killed' 'set -- $(sed -n 2p out)' '[ "$1" -gt 0 ]'
run 127 pmcstat -q -p page-faults nonesuch
ok 'a command that is not there' 'has err "cannot run nonesuch"'
echo mine >kept
run 127 pmcstat -q -P cpu-clock -O kept nonesuch
ok 'nor does it cost a log' '[ "$(cat kept)" = mine ]' '[ "$(ls | grep -c kept)" -eq 1 ]'
run 0 pmcstat -q -P cpu-clock -O kept busybox true
ok 'whose place the next one takes' 'dump kept | has - ^closelog' '! has kept ^mine'
{
	pmcstat -w .1 -p page-faults sleep 300 2>err
	echo $? >status
} | head -n 1 >out
got=$(cat status) want=141
ok 'counts of which only the first are read' 'has out "^#  *p/page-faults $"' \
	'! [ -s err ]'
run 0 pmcstat -w .01 -p task-clock truth 1
ok 'parts add up to the total' \
	'sum=$(awk "!/#/ { n += \$1 } END { printf \"%.0f\", n }" out)' \
	'[ "$sum" -gt 0 ]' 'has out "^# total  *$sum p/task-clock$"'

# What a command did is all in the log, and nothing that others did.
start bystander
run 0 pmcstat -n 1000000 -U -P cpu-clock -O log truth 1
dump log >records
ok 'samples of a command' '[ "$(field 2 callchain records | different)" -eq 1 ]' \
	'[ "$(field 3 attach records)" = "$(field 2 callchain records | head -1)" ]' \
	'has records "^exec .*/truth\"$"' 'has records "^closelog"' \
	'has err "^pmcstat: $(grep -c ^callchain records) samples, 0 lost"'
run 3 pmcstat -n 100000 -d -P task-clock -O log sh tree
dump log >records
awk '$1 == "attach" { known[$3] = 1 }
     $1 == "fork" && !known[$2] { print "unknown parent " $2 }
     $1 == "fork" { known[$3] = 1; forks++ }
     $1 == "callchain" && !known[$2] { print "unknown process " $2 }
     $1 == "callchain" { seen[$2] = 1 }
     END { for (i in seen) n++; print forks + 0, n + 0 }' records >tree.pids
ok 'samples of a tree' 'hasnt tree.pids unknown' 'read -r forks seen <tree.pids' \
	'[ "$forks" -ge 9 ]' '[ "$seen" -gt 2 ]'
run 3 pmcstat $whole -d -E -W -p page-faults -O log sh tree
dump log >records
awk '$1 == "cswval" { n[$3] += $4 }
     $1 == "exitval" { n[$3] -= $4; total += $4 }
     END { for (i in n) if (n[i]) print "process " i " differs by " n[i]
	   print "total " total + 0 }' records >sums
ok 'slices of a process are its total, and all of them what is printed' \
	'hasnt sums process' 'set -- $(sed -n 2p out)' '[ "$1" -gt 0 ]' \
	'has sums "^total $1$"' 'has err "a log of"'
run 0 pmcstat $whole -s page-faults -p page-faults -n 1000000 -P cpu-clock -O log truth 1
ok 'the system and a process, counting and sampling' \
	'set -- $(sed -n 2p out)' '[ "$1" -ge "$2" ]' '[ "$2" -gt 0 ]' \
	'has err "^pmcstat: [1-9][0-9]* samples"'

# Compressed, the log has the same in it. A guest's pmcstat may lack zstd.
run 0 pmcstat -n 1000000 -U -Z --packed -P cpu-clock -O log truth 1
if has err 'built without zstd'; then
	count=$((count + 1))
	echo "ok $count - a compressed log # SKIP pmcstat was built without zstd"
else
	dump log >records
	ok 'a compressed log' 'has records "^closelog"' \
		'[ "$(grep -c ^callchain records)" -gt 0 ]' \
		'has err "^pmcstat: $(grep -c ^callchain records) samples, 0 lost"' \
		'has err ", compressed to $(wc -c <log)$"'
fi
run 74 pmcstat -n 100000 -U -Z -S cpu-clock -O /dev/full sleep 60
has err 'built without zstd' ||
	ok 'a full disk ends a compressed one' 'has err "/dev/full: No space left"'

# Modules that are there already.
if modprobe -q loop && [ -e /sys/module/loop/sections/.text ]; then
	run 0 pmcstat -q -n 1000000 -S cpu-clock -O log busybox true
	dump log >records
	start=$(awk '$1 ~ /^map/ && $2 == -1 && /[[\/]loop[].]/ { print $3 }' records)
	ok 'a module that was loaded before' '[ "$start" ]' \
		'[ "$(echo "$start" | wc -l)" -eq 1 ]' \
		'tr "\000" "\n" <log | has - "^loop$"'
	rmmod loop 2>/dev/null
else
	count=$((count + 1))
	echo "ok $count - a module that was loaded before # SKIP no module to load here"
fi

# Processes that are there already.
start worker
one=$pid
start worker
two=$pid
start other
pmcstat -n 1000000 -P cpu-clock -O log -t '^work(er|shop)$' >out 2>err &
recorder=$!
until_true 'dump log 2>/dev/null | grep -q "^callchain $one .*"'
until_true 'dump log 2>/dev/null | grep -q "^callchain $two .*"'
kill "$one"
usleep 200000
kill -0 "$recorder" && kill "$two"
want=0
wait "$recorder"
got=$?
dump log >records
ok 'processes by name, until the last of them has ended' \
	'[ "$(field 3 attach records | sort -n | tr "\n" " ")" = "$one $two " ]' \
	'[ "$(field 2 callchain records | different)" -eq 2 ]' \
	'has records "^closelog"'
run 0 pmcstat -l 1 -w .2 -p task-clock -t "$pid" -t bystander
ok '-l ends it, not the processes' 'has out "^# total"' 'kill -0 "$pid"'
run 65 pmcstat -p cs -t nonesuch
ok 'no such name' 'has err "no process has such a name"'
run 0 pmcstat -q $whole -p task-clock -t "$pid" truth 1
ok 'a process and a command' 'set -- $(sed -n "\$p" out)' '[ "$1" -gt 0 ]' \
	'kill -0 "$pid"'

# The other end of the line counts as many samples.
nc -l -p 7777 >net.log &
listener=$!
until_true 'cat /proc/net/tcp* | grep -q ":1E61 .* 0A "'
run 0 pmcstat -n 1000000 -P cpu-clock -O 127.0.0.1:7777 truth 1
wait "$listener"
dump net.log >records
ok 'a log goes over the network' 'has records "^closelog"' \
	'[ "$(grep -c ^callchain records)" -gt 0 ]' \
	'has err "^pmcstat: $(grep -c ^callchain records) samples, 0 lost"'

# as_user STATUS COMMAND: a line for a shell without privilege
as_user() { run "$1" su user -c "cd $dir && $2"; }
chmod 666 /dev/hwpmc
as_user 0 "pmcstat $whole -p page-faults busybox true"
ok 'without privilege: user mode, which is said' \
	'has out "^#  *p/page-faults:u $"' 'has err "in user mode only"' \
	'set -- $(sed -n 2p out)' '[ "$1" -gt 0 ]'
as_user 0 'pmcstat -n 1000000 -P cpu-clock:u -O user.log truth 1'
dump user.log >records
ok 'samples in user mode' 'has records "^callchain .* u$"' \
	'hasnt records "^callchain .* s$"'
# The rings, of a MiB for each CPU, take all that a user may have.
ringmem=/sys/module/hwpmc/parameters/max_ringmem
allowed=$(cat $ringmem)
grep -c ^processor /proc/cpuinfo >$ringmem
as_user 0 'pmcstat -n 1000000 -P cpu-clock:u -O user.log truth 1'
echo "$allowed" >$ringmem
ok 'no room for unwind tables: it is said once' \
	'[ "$(grep -c "no room for more unwind tables (max_ringmem)" err)" -eq 1 ]'
as_user 77 'pmcstat -p page-faults:k busybox true'
ok 'not of the kernel' 'has err "kernel mode needs privilege"'
as_user 69 'pmcstat -p cs busybox true'
ok 'not what never happens in user mode' 'has err "in user mode there is nothing to count"'
as_user 77 "pmcstat -p page-faults -t $pid"
ok 'not of others' 'has err "process $pid: Operation not permitted; without"'
as_user 77 'pmcstat -q -p page-faults -t bystander'
ok 'not of others by name' 'has err "none of the 1 processes may be"'
as_user 77 'pmcstat -s cs:u -l 1'
ok 'not of the system' 'has err "cannot count cs:u: Operation not permitted"'
[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
# 6.18 lets everybody look at the names, but into nothing
as_user 77 'pmcstat -p sched:sched_switch busybox true'
ok 'no tracepoints' 'has err "cannot read .*: Permission denied$"'
as_user 77 'pmcstat -p kprobe:vfs_read busybox true'
ok 'no probes' 'has err "cannot .*: Permission denied$"'
as_user 77 'pmcstat -u sched:sched_switch'
ok 'nor what they have' 'has err "cannot read .*: Permission denied$"'

done_testing
