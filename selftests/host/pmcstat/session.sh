#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs pmcstat, built with a library that needs no device, as a user would.
# usage: session.sh PMCSTAT LISTEN
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016

pmcstat=$1 listen=$2
golden=$PWD/../log/golden/full.pmclog
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

run 0 "$pmcstat" -s cycles -s cs -C -s faults -c 1 -s cycles true
ok 'a header, a line of counts, the time' all 'lines out 3' \
	'has out "^#  *s/cycles  *s/cs  *s/faults  *s/01/cycles $"' \
	'has out "^  *100  *100  *100  *100 $"' 'lines err 0' \
	'has out "^# elapsed [0-9.]* s$"'
run 0 "$pmcstat" -q -s cycles true
ok '-q has the counts only' lines out 2

# how many lines there are depends on the machine, what they say does not
intervals()
{
	awk '/^# total/ { totals += $3 == n * 100 && $4 == "s/cs" }
		/^[^#]/ { n++; good += $1 == 100 && $2 == n * 100 }
		END { exit !(n > 1 && good == n && totals == 2) }' out
}
run 0 "$pmcstat" -w .1 -l 2 -s cs -C -s cs
ok 'counts per interval and since the start, and totals' all intervals \
	'hasnt out elapsed'
run 0 "$pmcstat" -w .1 -l .35 -C -s cs
ok 'counts since the start are totals' hasnt out total

run 0 "$pmcstat" -o counts -s cs true
ok '-o takes the counts' all 'lines out 0' 'lines counts 3'
run 0 "$pmcstat" -o counts -s cs true
ok 'in the place of those before' all 'lines counts 3'
run 69 env FAKE_FAIL=allocate:2 "$pmcstat" -o counts -s cs true
ok 'which stay if nothing is counted' all 'lines counts 3'
run 127 "$pmcstat" -o counts -s cs ./nonexistent
ok 'nor is there a command' all 'lines counts 3'

# "-" is standard output, and no file.
run 0 "$pmcstat" -o - -s cs true
ok '-o - is standard output' all 'lines out 3' '! [ -e - ]'
run 0 "$pmcstat" -q -O log -o - -s cs -S cs true
ok 'the log being elsewhere' all 'lines out 2' 'has log "^end$"'
run 0 "$pmcstat" -q -O log --kallsyms - -S cs true
ok 'and that of the symbols' all 'cmp out /proc/kallsyms' '! [ -e - ]'
for what in -G -F -M -m -a; do
	# shellcheck disable=SC2046
	run 0 "$pmcstat" -q -R "$golden" $([ $what != -M ] || echo -g) $what -
	# what -m finds is of the machine
	ok "$what -" all '! [ -e - ]' '[ $what = -m ] || [ -s out ]'
done
FAKE_LOG="$golden" run 0 "$pmcstat" -T -o - -S cs true
ok '-T -o -' all 'has out "Samples: 9"' '! [ -e - ]'

run 0 env FAKE_RUNNING=40 "$pmcstat" -s cs -p cycles -p instructions true
ok 'what had a counter for a part of the time is estimated' all \
	'has out "^#  *s/cs  *p/cycles  *p/instructions $"' \
	'has out "^  *250\*  *250\*  *250\*$"' \
	'has out "^# . p/cycles is estimated: it was counted 40.0% of the time$"'
run 0 env FAKE_RUNNING=99 "$pmcstat" -p cycles true
ok 'a hundredth less is estimated, too' has out '^  *[0-9]*\*$'
run 0 env FAKE_RUNNING=0 "$pmcstat" -p cycles true
ok 'what had none was not counted' all 'has out "^  *<not counted> $"' \
	'has out "^# p/cycles was never counted"'
estimates()
{
	awk '/^  *250[*]$/ { n++ } /^# total/ { total = $3 }
		END { exit !(n > 1 && total == n * 250 "*p/cycles") }' out
}
run 0 env FAKE_RUNNING=40 "$pmcstat" -w .1 -l 2 -p cycles sleep 60
ok 'parts and their sum are estimated alike' estimates

run 0 "$pmcstat" -O log -S cs sh -c 'echo hello'
ok 'the summary and the command output' all 'has out "^hello$"' \
	'has err "500 samples, 9 lost (7 ring full, 2 nested too deep), 12345 bytes"' \
	'has err throttled' 'has log "^end$"' \
	'has err "20 call chains are cut (15 too deep, 6 user"' \
	'has err "callchaindepth can be raised"'

FAKE_SHALLOW=1 run 0 "$pmcstat" -O log -S cs true
ok 'more frames are no advice where few chains were too deep' all \
	'has err "20 call chains are cut (2 too deep, 19 user"' \
	'hasnt err "can be raised"'

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

run 0 "$pmcstat" -q -O log -S cs -s cs sh -c \
	'echo command 0 >>trace'
ok 'PMCs start before the command and stop after it' \
	[ "$(grep -e start -e command -e stop trace | tr -d '\n')" = \
	  'start 0start 1command 0stop 0stop 1' ]
run 0 env FAKE_FAIL=record:25 "$pmcstat" -q -O log -S cs -s cs true
ok 'with an older module, one by one' all 'has trace "^start 1$"' \
	'has trace "^stop 1$"'
run 0 "$pmcstat" -v -O log -S cs -s cs true
ok 'with a newer one, from one moment on' \
	has err '2 PMCs let samples through from one moment on, 4711 ns'
run 0 "$pmcstat" -q -O log --only comm=foo -S cs \
	--only all --not pid=3,cgroup="$dir" -S faults true
ok 'conditions of samples' [ "$(sed -n '/^filter/,/^conf/p' trace | tr '\n' ' ' |
	sed 's/conf.*//')" = 'filter 0 is 3 foo 0 filter 1 is not 1  3 is not 4 ' ]
run 69 env FAKE_FAIL=filter:25 "$pmcstat" -q -O log --only pid=3 -S cs true
ok 'an older module has no filters' \
	has err 'cannot filter cs: the hwpmc module is older'
run 66 "$pmcstat" -q -O log --only cgroup=nonesuch/x,user -S cs true
ok 'a control group that is not there' has err 'cgroup=nonesuch/x: No such file'
run 127 "$pmcstat" -q -O log -S cs ./nonexistent
ok 'no log is opened before the PMCs are there' \
	[ "$(grep -v '^cs' trace | head -3 | tr -d '0-9 \n')" = \
	  openallocateconfigure ]

run 0 "$pmcstat" --budget 1 -O log -S cs -S cpu-clock true
ok 'a budget is set before the first PMC is allocated' all \
	'[ "$(sed -n 2p trace)" = "setbudget 10000" ]' \
	'[ "$(sed -n 3p trace | cut -d " " -f 1)" = allocate ]'
ok 'at the end: what sampling took' has err \
	'^pmcstat: sampling took 0.62% of the time of CPU 3, the most of any (budget 1.00%); 100.00% of the rates asked for at the end$'
run 0 env FAKE_SCALE=250000 "$pmcstat" --budget 0.5 -O log -S cs true
ok 'and that rates are low' \
	has err '(budget 0.50%); only 25.00% of the rates asked for at the end$'
run 0 "$pmcstat" -q --budget 1 -O log -S cs true
ok '-q says nothing of it' lines err 0
run 0 "$pmcstat" -O log -S cs true
ok 'without --budget there is none' all 'hasnt trace budget' 'hasnt err budget'
run 69 env FAKE_FAIL=setbudget:25 "$pmcstat" --budget 1 -O unmade -S cs true
ok 'an older module has no budgets' all '! [ -e unmade ]' 'lines err 1' \
	'has err "^pmcstat: --budget: the hwpmc module is older than this pmcstat$"'
run 69 env FAKE_FAIL=setbudget:16 "$pmcstat" --budget 1 -O unmade -S cs true
ok 'another error' has err '^pmcstat: --budget: Device or resource busy$'
run 0 env FAKE_FAIL=getbudget:25 "$pmcstat" --budget 1 -O log -S cs true
ok 'what cannot be told is left out' all 'hasnt err budget' 'has err "500 samples"'

run 0 "$pmcstat" -q -l .2 -O log -S cs sleep 60
ok '-l ends the command' true
run 0 "$pmcstat" -q -l .2 -O log -S cs
ok '-l without a command' true

run 74 env FAKE_BREAK=100 "$pmcstat" -O log -S cs sleep 60
ok 'a full disk ends the run at once' \
	has err 'cannot write the log log: No space left'
if zstd --version >/dev/null 2>&1; then
	run 74 env FAKE_FAIL=closelog:4 "$pmcstat" -q -Z -O log.zst -S cs true
	ok 'an end that is interrupted' all 'zstd -qt log.zst'
fi
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

# A file is what it was until there is something to put in its place.
mkdir begun begun/logs
stays() # STATUS ARGUMENTS...: with -O, --kallsyms or --flight of files that are there
{
	for what in '-O begun/log' '-Z -O begun/log' '-O begun/log --kallsyms begun/syms' \
		'-O begun/log --flight 4M' '-O begun/log --flight 4M --trigger exit' \
		'-O - --kallsyms begun/syms'; do
		echo mine >begun/log
		echo mine >begun/syms
		# shellcheck disable=SC2086
		run "$1" env "$2" "$pmcstat" -P cs $what $3
		ok "$what, $2 $3: what is there stays" all \
			'[ "$(cat begun/log begun/syms | tr "\n" " ")" = "mine mine " ]' \
			'[ "$(find begun -type f | wc -l)" -eq 2 ]'
	done
	run "$1" env "$2" "$pmcstat" -P cs -O begun/logs/ "$3"
	ok "-O DIR, $2 $3: nothing is left in it" rmdir begun/logs
	mkdir begun/logs
	rm begun/log
	run "$1" env "$2" "$pmcstat" -P cs -O begun/log "$3"
	ok "-O, $2 $3: nor where nothing was" [ "$(find begun -type f | wc -l)" -eq 1 ]
}
stays 127 A=1 ./nonexistent
stays 126 A=1 ./data
stays 69 FAKE_FAIL=attach:7 true
stays 71 FAKE_FAIL=start:77 true
echo mine >begun/log
run 73 env FAKE_FAIL=configure:22 "$pmcstat" -P cs -O begun/log true
ok 'a log that the kernel refuses' [ "$(cat begun/log)" = mine ]
run 73 "$pmcstat" -s cs -S cs -O begun/log -o nonexistent/counts true
ok 'counts that cannot be written' [ "$(cat begun/log)" = mine ]
mkdir begun/dir
run 73 "$pmcstat" -S cs -O begun/dir true
ok 'a log that is a directory' all '! [ -e trace ]' \
	'has err "cannot open begun/dir: Is a directory"'
chmod 640 begun/log
run 0 "$pmcstat" -q -S cs -O begun/log --kallsyms begun/syms true
ok 'its rights are kept' all 'has begun/log "^end$"' '! has begun/log mine' \
	'[ "$(stat -c %a begun/log)" = 640 ]' 'cmp begun/syms /proc/kallsyms' \
	'[ "$(find begun -type f | wc -l)" -eq 2 ]'
rm begun/log
run 0 "$pmcstat" -q -S cs -O begun/log true
ok 'one that was not there is for its owner' [ "$(stat -c %a begun/log)" = 600 ]
# What has two names keeps both.
for ln in ln 'ln -s'; do
	rm -f begun/log other
	echo 'mine, and more of it' >other
	$ln "$PWD/other" begun/log
	run 127 "$pmcstat" -q -S cs -O begun/log ./nonexistent
	run 0 "$pmcstat" -q -S cs -O begun/log true
	ok "$ln: a log with another name" whole other
done
if [ "$(id -u)" = 0 ]; then
	rm begun/log
	: >begun/log
	chown 1:1 begun/log
	run 0 "$pmcstat" -q -S cs -O begun/log true
	ok 'whose it was, it is' all 'has begun/log end' \
		'[ "$(stat -c %u:%g begun/log)" = 1:1 ]'
fi
# shellcheck disable=SC2094 # it is asked to append to it
run 0 sh -c "echo mine >other; '$pmcstat' -q -S cs -O - true >>other"
ok 'standard output is not emptied' all 'has other ^mine' 'has other ^end'
: >other

run 69 env FAKE_FAIL=allocate:6 "$pmcstat" -c 3 -s cycles
ok 'an offline CPU' has err 'cannot count cycles on CPU 3: the CPU is offline'
run 77 env FAKE_FAIL=allocate:13 "$pmcstat" -s cycles
ok 'no permission' has err 'Permission denied'
# What the module's errors mean to a user: 122 EDQUOT, 95 EOPNOTSUPP.
run 69 env FAKE_FAIL=open:24 "$pmcstat" -s cycles
ok 'too many recordings' has err 'Too many open files: .*max_owners'
run 69 env FAKE_FAIL=allocate:122 "$pmcstat" -s cycles
ok 'too many PMCs' has err 'cannot count cycles: that is more .* see max_pmcs or max_counters in'
run 69 env FAKE_FAIL=attach:122 "$pmcstat" -p cs true
ok 'too many counters' has err 'cannot count cs in process .* see max_counters in'
run 73 env FAKE_FAIL=configure:122 "$pmcstat" -S cs -O other true
ok 'too much memory' has err 'cannot use other as log: .* see max_ringmem in'
run 69 env FAKE_FAIL=flight:122 "$pmcstat" -S cs --flight 4M -O other true
ok 'too much memory for a flight recorder' has err 'see max_ringmem in'
run 73 env FAKE_FAIL=configure:22 "$pmcstat" -S cs -O /dev/full true
ok 'a file that the kernel cannot write to' \
	has err 'cannot use /dev/full as log: the kernel cannot write'
run 69 env FAKE_FAIL=allocate:95 "$pmcstat" -p cs true
ok 'a kernel without task_work_add' has err 'cannot count cs: .* task_work_add'
run 69 env FAKE_FAIL=allocate:95 "$pmcstat" -s cycles
ok 'whose system has no such event' has err 'this machine has no such event'
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
	rm -f log
	"$pmcstat" -O log -S cs "$@" >out 2>err &
	pid=$!
	until_true '[ -e log ]'
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
signal INT 143 sh -c 'trap "" INT; sleep 60'
ok 'a command that ignores SIGINT gets SIGTERM' has err '500 samples'

# Processes to attach to: two of one name, and a parent that has the first's.
tool=h$$
cp "$(command -v sleep)" "$tool"
"./$tool" 300 &
one=$!
"./$tool" 300 &
two=$!
sh -c "sleep .05; ./$tool 300 & echo \$! >three; wait" &
parent=$!
until [ -s three ]; do sleep .05; done
three=$(cat three)
trap 'kill "$one" "$two" "$three" "$parent"; rm -rf "$dir"' EXIT

# traced STATUS COMMAND...: like run; what was attached to goes to attached
traced()
{
	run "$@"
	attached=$(sed -n 's/^attach //p' trace 2>/dev/null | tr '\n' ' ')
}

traced 0 env FAKE_LOST=100 "$pmcstat" -p cs -P cs -O log -t "$one"
ok 'ends when the processes have' all '[ "$attached" = "$one $one " ]' \
	'has out "^#  *p/cs $"' 'has err "500 samples"' 'hasnt out elapsed'
traced 0 "$pmcstat" -q -l .2 -p cs -t "$one"
ok '-l ends it before' kill -0 "$one"
traced 0 env FAKE_LOST=100 "$pmcstat" -p cs -t "^$tool\$"
ok 'all that a pattern matches' \
	[ "$(echo "$attached" | tr ' ' '\n' | sort)" = \
	  "$(printf '%s\n' '' "$one" "$two" "$three" | sort)" ]
traced 0 env FAKE_LOST=100 "$pmcstat" -p cs -t "nonesuch|$tool" -t "$two"
ok 'alternatives; each process once' \
	[ "$(echo "$attached" | wc -w)" -eq 3 ]
traced 0 env FAKE_LOST=100 "$pmcstat" -p cs -t "$three" -t "$parent"
ok 'parents go before their children' [ "$attached" = "$parent $three " ]
cp "$pmcstat" "m$$"
traced 65 "./m$$" -P cs -O unmade -t "^m$$"
ok 'pmcstat does not find itself' all '! [ -e unmade ]' \
	'has err "no process has such a name"' '! [ -e trace ]'
traced 64 "$pmcstat" -p cs -t '('
ok 'a pattern that is none' has err '^pmcstat: -t (: '
traced 65 "$pmcstat" -p cs -t 2147483647
ok 'a number that no process has' has err 'no process 2147483647'
traced 0 env FAKE_LOST=100 FAKE_GONE="$two" "$pmcstat" -p cs -t "$tool"
ok 'a process that has ended since it matched' lines err 0
traced 65 env FAKE_GONE="$two" "$pmcstat" -p cs -t "$one" -t "$two"
ok 'one that was named' has err "process $two: No such process"
traced 65 env FAKE_FAIL=attach:3 "$pmcstat" -p cs -t "$tool"
ok 'all have ended since' has err 'all 3 processes have ended'
traced 0 env FAKE_LOST=100 FAKE_FOREIGN="$two" "$pmcstat" -p cs:u -t "$tool"
ok 'processes of others' has err '1 process was left out: Operation not permitted'
traced 77 env FAKE_FOREIGN="$two" "$pmcstat" -p cs:u -t "$two"
ok 'one of others that was named' has err "process $two: Operation not permitted; without"
traced 77 env FAKE_FAIL=attach:1 "$pmcstat" -p cs:u -t "$tool"
ok 'nothing but processes of others' has err 'none of the 3 processes may be'
traced 77 env FAKE_FAIL=allocate:13 "$pmcstat" -p cs:k true
ok 'kernel mode needs privilege' has err 'kernel mode needs privilege, user'
traced 0 env FAKE_USER=1 "$pmcstat" -p cs true
ok 'without it, an event is of user mode, and says so' all 'has trace "^cs:u 2$"' \
	'has out " p/cs:u $"' 'has err "^pmcstat: cs:u: in user mode only"'
traced 77 env FAKE_USER=1 "$pmcstat" -p cs:k true
ok 'but not one that was to be of kernel mode' has err 'cannot count cs:k: '
traced 0 "$pmcstat" -p cs -p cs:u true
ok 'with it, of both' all 'has trace "^cs 6$"' 'has trace "^cs:u 2$"' 'lines err 0'
traced 0 env FAKE_FAIL=start:3 "$pmcstat" -p cs -t "$one"
ok 'processes that have ended before the start' lines err 0
traced 74 env FAKE_BREAK=100 "$pmcstat" -P cs -O log -t "$one"
ok 'a full disk ends this too' has err 'No space left'

traced 3 "$pmcstat" -p cs -t "$one" sh -c \
	'echo command $$ >>trace; echo $$ >pid; exit 3'
ok 'attached before it starts, then it runs' \
	[ "$(grep -e attach -e start -e command -e stop trace | tr '\n' ' ')" = \
	  "attach $one attach $(cat pid) start 0 command $(cat pid) stop 0 " ]
traced 5 env FAKE_LOST=50 "$pmcstat" -p cs sh -c 'sleep .4; exit 5'
ok 'the command ends it, not that it has no PMC any more' true
traced 143 "$pmcstat" -P cs -O log sh -c 'kill -TERM $$'
ok 'a signal ends the command' has err '500 samples'
traced 0 env FAKE_BREAK= "$pmcstat" -d -p cs -E -p cs -O log true
ok 'counts go to a log' all 'has log "^end$"' 'has err "a log of 12345 bytes"'

# bin/tool in the PATH, and a file of that name before it that is no program
mkdir bin wrong
touch wrong/tool
printf '#!/bin/sh\nexit 9\n' >bin/tool
printf 'exit 8\n' >bin/plain
chmod +x bin/tool bin/plain
run 9 env PATH="$PWD/wrong:$PWD/bin:$PATH" "$pmcstat" -q -s cs tool
ok 'a command is looked for as a shell does' true
run 8 env PATH="$PWD/bin:$PATH" "$pmcstat" -q -s cs plain
ok 'a script without #!' true
run 127 env PATH="$PWD/bin:$PATH" "$pmcstat" -q -s cs tul
ok 'a command that is nowhere' has err 'cannot run tul: No such'

# received ADDRESS FORM [-Z]: a log goes to a listener there; FORM has PORT in it
received()
{
	rm -f port
	mkfifo port
	"$listen" "$1" >port 2>received &
	pid=$!
	# shellcheck disable=SC2094 # a fifo
	read -r port <port
	run 0 "$pmcstat" -q ${3+"$3"} -O "$(echo "$2" | sed "s/PORT/$port/")" -P cs true
	wait "$pid" || got=1
}
received 127.0.0.1 127.0.0.1:PORT
ok 'a log goes over the network' whole received
if [ -s /proc/net/if_inet6 ]; then
	received ::1 '[::1]:PORT'
	ok 'over IPv6' whole received
fi
run 69 "$pmcstat" -q -O "127.0.0.1:$port" -S cs true
ok 'nobody listens' has err "cannot connect to 127.0.0.1:$port: Connection re"
run 69 "$pmcstat" -q -O "[::1]:$port" -S cs true
ok 'brackets keep the colons of an address' has err "cannot connect to \[::1"
run 64 "$pmcstat" -q -O 127.0.0.1: -S cs true
ok 'no port' has err 'not host:port'
run 68 "$pmcstat" -q -O 127.0.0.1:nonesuch -S cs true
ok 'no such port' has err '127.0.0.1:nonesuch: '
run 0 "$pmcstat" -q -O ./a:1 -S cs true
ok 'a file with a colon' has a:1 '^end$'

# Logs that are read while they are written
export FAKE_LOG="$golden"
run 0 "$pmcstat" -S cs -G graph sh -c 'echo hello'
ok '-G of a recording' all 'has graph "^@ cpu-clock .9 samples.$"' \
	'has out "^hello$"' 'has err "500 samples, 9 lost"'
run 0 "$pmcstat" -q -S cs -i 1001 -G graph true
ok '-i of one' has graph '^@ cpu-clock .5 samples.$'
run 0 "$pmcstat" -q -P cs -F tree -g -M map true
ok '-F and -g of one' all 'has tree "^summary: 9 "' '[ -e map ]'
run 0 "$pmcstat" -q -G graph --only user -S cs --include-self --only all -S faults -P cs true
ok 'the reader of a recording is left out of it, as pmcstat is' \
	[ "$(sed -n '/^filter/,/^conf/p' trace | tr '\n' ' ' |
	sed 's/is not 1  [1-9][0-9]* /PID /; s/conf.*//')" = 'filter 0 is 5  0 PID ' ]
run 0 env FAKE_FAIL=filter:25 "$pmcstat" -q -G graph -S cs true
ok 'an older module has it in there' has graph '9 samples'
run 0 "$pmcstat" -S cs -T -o screens sh -c 'echo hello'
ok '-T of one: the screen is the view' all 'lines out 1' 'hasnt err hello' \
	'has screens "^PMC: .cpu-clock. Samples: 9 (75.0%)"'
run 7 "$pmcstat" -q -S cs -G graph sh -c 'exit 7'
ok 'the status is the command still' has graph "9 samples"
# What cannot be written is known before there is something to lose.
mkdir -p profiles/cs locked
ln -s ../graph profiles/faults
for what in '-G nonexistent/graph=nonexistent/graph: No such' \
		'-F nonexistent/tree=nonexistent/tree: No such' \
		'-G locked=locked: Is a directory' \
		'-T -o nonexistent/screens=nonexistent/screens: No such' \
		'-g -M nonexistent/map=nonexistent/map: No such' \
		'-g -D nonexistent=-D nonexistent: No such' \
		'-g -D graph=-D graph: Not a directory' \
		'-g -D profiles -S faults=-g profiles/faults: Not a dir' \
		'-G /proc/graph=/proc/graph: ' '-g -D /proc=/proc/cs: '; do
	# shellcheck disable=SC2086
	run 73 "$pmcstat" ${what%%=*} -S cs sh -c ': >ran'
	ok "${what%%=*} is refused before the start" all '! [ -e trace ]' \
		'! [ -e ran ]' "has err '${what#*=}'" 'lines err 1'
done
run 0 "$pmcstat" -q -g -D profiles -M map -S cs true
ok 'a directory that has profiles takes more' [ -s map ]
run 73 "$pmcstat" -R "$golden" -F tree2 -G nonexistent/graph
ok 'nor is a log read in vain' all 'has err nonexistent' '! [ -e tree2 ]'
run 73 "$pmcstat" -O log2 --kallsyms nonexistent/syms -S cs true
ok 'nor begun without the symbols' all 'has err nonexistent' '! [ -e log2 ]'
for what in '-G kept' '-F kept' '-g -M kept' '-T -w .01 -o kept'; do
	echo mine >kept
	# shellcheck disable=SC2086
	run 69 env FAKE_FAIL=allocate:2 "$pmcstat" -S cs $what true
	ok "$what: a recording that does not come about" all 'lines err 1' \
		'has err "no such event"' '[ "$(cat kept)" = mine ]'
done
for what in '-G kept' '-F kept' '-g -M kept'; do
	echo mine >kept
	# shellcheck disable=SC2086
	run 127 "$pmcstat" -q -S cs $what ./nonexistent
	sleep .1
	ok "$what: nor does that of no command" all 'lines err 1' \
		'[ "$(cat kept)" = mine ]'
done
run 69 env FAKE_FAIL=allocate:2 "$pmcstat" -S cs -T true
ok 'nor under -T' all 'lines err 1' 'has err "no such event"'
unset FAKE_LOG

# Names would be missing, and nobody would know why.
: >file
for what in '-r nonexistent=No such file' '-r file=Not a directory' \
	'-k nonexistent=No such file'; do
	for how in '' '-G -' -T '-g -M -'; do
		# shellcheck disable=SC2086
		run 66 "$pmcstat" -R "$golden" $how ${what%%=*}
		ok "$how ${what%%=*}" all 'lines out 0' 'lines err 1' \
			"has err '^pmcstat: ${what%%=*}: ${what#*=}'"
	done
	# shellcheck disable=SC2086
	run 66 "$pmcstat" -S cs -G kept ${what%%=*} true
	ok "a recording with ${what%%=*}" all '! [ -e trace ]' \
		"has err '^pmcstat: ${what%%=*}: ${what#*=}'"
done
run 0 "$pmcstat" -q -R "$golden" -G - -r locked
ok 'a directory it may be, whatever it has' [ -s out ]

# unread STATUS ARGUMENTS...: nobody reads what goes to standard output
unread()
{
	want=$1
	shift
	rm -f gone
	{
		until [ -e gone ]; do sleep .05; done
		"$pmcstat" "$@" 2>err
		echo $? >status
	} | { exec <&-; : >gone; }
	got=$(cat status)
	: >out
}
for what in '' -v -T '-G -' '-F -' '-m -' '-a -'; do
	# shellcheck disable=SC2086
	unread 141 -q -R "$golden" $what
	ok "-R${what:+, $what}: a reader that ends early is no error" lines err 0
done
unread 141 -q -R "$golden" -F whole -G - -g -D profiles -M map2
ok 'and takes nothing from what goes elsewhere' all 'lines err 0' \
	'has whole "^summary: 9 "' '[ -s map2 ]'
FAKE_LOG="$golden" unread 141 -q -S cs -G - true
ok 'nor is it while it is recorded' lines err 0
FAKE_LOG="$golden" FAKE_FAIL=flush:32 unread 141 -q -S cs -T -w .01 sleep .3
ok 'and the recording ends with it' lines err 0
FAKE_LOG="$golden" unread 7 -q -S cs -G - sh -c 'exit 7'
ok 'but the command has a status' lines err 0

# nor are counts; the command is ended, and all is as at any end
rm -f trace
FAKE_TRACE=trace unread 141 -w .1 -s cs sh -c 'echo $$ >pid; exec sleep 60'
ok 'counts that nobody reads' all 'lines err 0' '! kill -0 "$(cat pid)" 2>err.kill' \
	'has trace "^stop 0$"' 'has trace "^close"'
unread 141 -p cs -t "$one" -w .1
ok 'of a process that is there' all 'lines err 0' 'kill -0 "$one"'
unread 141 -q -w .1 -s cs -S cs -O log sleep 60
ok 'beside a log' all 'lines err 0' 'has log "^end$"'
unread 141 -s cs true
ok 'at the end' lines err 0
unread 7 -s cs sh -c 'exit 7'
ok 'a command that has ended has a status' lines err 0
unread 141 -q -O log2 --kallsyms - -S cs true
ok '--kallsyms -' all 'lines err 0' 'has log2 "^end$"'
rm log2
for what in -L "-u cycles" --help; do
	# shellcheck disable=SC2086
	unread 141 $what
	ok "$what" lines err 0
done
# What the help lists for the events named after it is refused behind them.
for what in $("$pmcstat" --help | sed -n '/^for the events/,/^for reading/{
		s/^  \(--*[A-Za-z-]*\).*/\1/p; }'); do
	case $what in --only) arg=user ;; --branch) arg=any ;; *) arg=1 ;; esac
	run 64 "$pmcstat" -s cs "$what" "$arg"
	ok "help: $what holds for events" \
		has err "$what holds for events named after it only"
done
FAKE_FAIL=closelog:5 unread 74 -q -w .1 -s cs -S cs -O log sleep 60
ok 'a log has its errors still' has err 'Input/output error'
(trap '' PIPE; unread 74 -q -w .1 -s cs sleep 60; ok 'whoever ignores SIGPIPE is told' \
	has err 'cannot print counts: Broken pipe'; exit "$failures") || failures=$((failures + 1))
count=$((count + 1))

# What is no log, whatever is asked of it, costs nothing that is there.
: >empty
for what in '' '-o kept' -T '-T -o kept' '-G kept' '-F kept' '-g -M kept' \
		'-m kept' '-a kept'; do
	echo mine >kept
	# shellcheck disable=SC2086
	run 65 "$pmcstat" -R empty $what
	ok "-R of an empty file${what:+, $what}" all 'lines out 0' \
		'has err "^pmcstat: empty is empty$"' 'lines err 1' \
		'[ "$(cat kept)" = mine ]'
done
run 65 sh -c ": | '$pmcstat' -R -"
ok 'and of an empty pipe' has err '^pmcstat: standard input is empty$'
run 65 "$pmcstat" -R kept -o kept2
ok 'nor does a file that is none' all '! [ -e kept2 ]' 'lines out 0'

run 0 "$pmcstat" -q -O log -S cs true
ok 'a log is plain' hasnt trace '^packed'
run 0 "$pmcstat" -q -O log -S cs --packed true
ok '--packed asks for a packed log' has trace '^packed 1$'
# -Z: the log, compressed
export FAKE_LOG="$dir/slow.pmclog" FAKE_PMC=0xFFF00F00
# 12 samples expected and 10 achieved are too few to complain of
perl -0777 -pe 's/\x0c\0{7}(?=\x0a\0{7})/pack("Q<", 1200)/e' "$golden" >slow.pmclog
unpacked() { zstd -qdc "$1" | cmp - slow.pmclog; }
run 0 "$pmcstat" -O log -S cs true
cp err plain.err
run 0 "$pmcstat" -O log.z -Z -S cs true
# shellcheck disable=SC2034 # ok expands it
size=$(wc -c <log.z)
ok '-Z compresses it' all 'unpacked log.z' \
	'has err "500 samples, 9 lost .*, 12345 bytes, compressed to $size$"'
ok 'and says of it what is said of others' all 'has err "asked 240000/s, achieved 2000/s on CPU 0"' \
	'sed "s/, compressed.*//" err | cmp - plain.err'
run 0 "$pmcstat" -R log.z -o dump.z
"$pmcstat" -R log -o dump
ok 'it is read like others' all '[ -s dump.z ]' 'cmp dump dump.z'
run 0 "$pmcstat" -q -Z -O log.z -S cs --packed true
ok '--packed and -Z' all 'has trace "^packed 1$"' 'unpacked log.z'
run 0 sh -c "'$pmcstat' -q -Z -O - -S cs true | cat >piped"
ok '-Z into a pipe' unpacked piped
received 127.0.0.1 127.0.0.1:PORT -Z
ok '-Z over the network' unpacked received

# What a reader sees while it is recorded is all but the end, soon.
"$pmcstat" -q -Z -O live.z -S cs sleep 60 &
pid=$!
begun=$(($(wc -c <"$golden") - 400))
for _ in $(seq 1200); do
	[ "$(zstd -qdc live.z 2>/dev/null | wc -c)" -gt "$begun" ] && break
	sleep .05
done
# shellcheck disable=SC2034
seen=$(zstd -qdc live.z 2>/dev/null | wc -c)
want=143
kill "$pid"
wait "$pid"
got=$?
ok '-Z does not keep a live reader waiting' all '[ "$seen" -gt "$begun" ]' \
	'unpacked live.z'

run 74 "$pmcstat" -O /dev/full -Z -S cs true
ok 'a full disk behind -Z' all 'has err "^pmcstat: cannot write the log /dev/full: No space left"' \
	'has err "500 samples, of which the file lacks some, 9 lost"'
mkfifo dead
(: <dead; : >gone) &
run 74 "$pmcstat" -q -Z -O dead -S cs sh -c 'until [ -e gone ]; do sleep .05; done'
ok 'a reader that has gone behind -Z' has err 'its reader is gone'
run 74 env FAKE_FAIL=closelog:5 "$pmcstat" -q -Z -O log.z -S cs true
ok 'an error of the kernel behind -Z' has err 'Input/output error'
run 73 "$pmcstat" -Z -O /nonexistent/log -S cs true
ok 'a log that cannot be made, with -Z' has err 'cannot open /nonexistent/log'

unset FAKE_LOG FAKE_PMC

run 0 "$pmcstat" -q -O log -S cs --kallsyms syms true
ok '--kallsyms copies the symbols' all 'cmp syms /proc/kallsyms' '[ "$(stat -c %a syms)" = 600 ]'
run 64 "$pmcstat" -q -O log -S cs -s cs --kallsyms - true
ok 'not between counts' has err 'both on standard output: -o FILE$'
run 0 "$pmcstat" -q -O log -S cs -s cs -o counts --kallsyms - true
ok 'which may go to a file' all 'cmp out /proc/kallsyms' '[ -s counts ]'
# A reader that is slow, and a pipe that does not wait for it
nonblock='fcntl STDOUT, F_SETFL, O_NONBLOCK or die; exec @ARGV'
run 0 sh -c 'perl -MFcntl -e "$1" "$0" -q -O log -S cs --kallsyms - true | { sleep .3; cat; }' "$pmcstat" "$nonblock"
ok 'a slow reader' cmp out /proc/kallsyms
mkfifo fifo
mkdir dir
run 64 "$pmcstat" -q -O dir -S cs --rotate 1h --kallsyms fifo true
ok 'a pipe, while signals wait' all 'has err "not a pipe with -O DIR"' '[ "$(number dir)" -eq 0 ]'
rm -r fifo dir
run 74 "$pmcstat" -q -O log -S cs --kallsyms /dev/full true
ok 'where they do not fit' all 'has err "cannot write /dev/full: No space left"' \
	'has log "^end$"'
run 74 "$pmcstat" -q -O log -S cs --kallsyms /dev/full sh -c 'exit 7'
ok 'whatever the status of the command' has err 'cannot write /dev/full'

# More than a pipe holds, which is read when it is recorded, and not before.
recorded() { has trace '^start 0$' && [ -e ran ]; }
rm -f ran
mkfifo symbols
{
	for _ in $(seq 1200); do
		recorded && : >first && break
		sleep .05
	done
	cat >syms
} <symbols &
run 0 "$pmcstat" -q -O log -S cs --kallsyms symbols sh -c ': >ran'
wait $!
ok 'it is recorded before they are copied' all '[ -e first ]' 'cmp syms /proc/kallsyms'
# nobody reads them: the second ^C ends the wait
sleep 60 <symbols &
idle=$!
"$pmcstat" -q -O log -S cs --kallsyms symbols sleep 60 &
pid=$!
until has log '^begin$' 2>err.has; do sleep .05; done
kill "$pid"
until has log '^end$'; do sleep .05; done
until kill "$pid" 2>err.kill && ! kill -0 "$pid" 2>err.kill; do sleep .05; done &
killer=$!
want=143
wait "$pid"
got=$?
kill "$killer" "$idle" 2>err.kill
ok 'and a reader that does not read is not waited for, if that is interrupted' true

echo "1..$count"
[ "$failures" -eq 0 ]
