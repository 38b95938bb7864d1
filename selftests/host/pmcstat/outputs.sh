#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where outputs go, of a pmcstat that needs no device: none is lost without a word.
# usage: outputs.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
golden=$PWD/../log/golden/full.pmclog
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

# Two outputs to one file, which is there or not: one of them would be lost.
mkdir one
ln -s one two
: >one/there
ln -s there one/link
ln one/there one/hard
for names in 'one/f one/f' 'one/f one/../one/f' 'one/f two/f' 'one/there one/link' \
		'one/there one/hard'; do
	# shellcheck disable=SC2086
	set -- $names
	a=$1 b=$2
	run 64 "$pmcstat" -S cs -s cs -O "$a" -o "$b" true
	ok "-O $a -o $b" all 'lines err 1' '! [ -e one/f ]' \
		'has err "^pmcstat: -O $a and -o $b are one file: one output would be lost$"'
	run 64 "$pmcstat" -S cs -O "$a" --kallsyms "$b" true
	ok "-O $a --kallsyms $b" has err "^pmcstat: -O $a and --kallsyms $b are one file"
	run 64 "$pmcstat" -s cs -S cs -O log -o "$a" --kallsyms "$b" true
	ok "-o $a --kallsyms $b" all '! [ -e log ]' \
		'has err "^pmcstat: -o $a and --kallsyms $b are one file"'
	run 64 "$pmcstat" -R "$golden" -G "$a" -F "$b"
	ok "-G $a -F $b" all '! [ -e one/f ]' 'has err "^pmcstat: -G $a and -F $b are one file"'
	run 64 "$pmcstat" -R "$golden" -F "$a" -g -M "$b"
	ok "-F $a -M $b" has err "^pmcstat: -[FM] [^ ]* and -[FM] [^ ]* are one file"
done
run 0 "$pmcstat" -q -S cs -s cs -O one/f -o f --kallsyms one/there true
ok 'files of one name are two, in two directories' all 'has one/f "^end$"' 'lines f 2' \
	'cmp one/there /proc/kallsyms'
run 0 "$pmcstat" -O log -S cs -o counts true
ok 'a file for counts that are not asked for' \
	has err '^pmcstat: -o counts: it takes counts, of -p and -s, and there are none$'
run 0 "$pmcstat" -O log -S cs -s cs -o counts true
ok 'or that are' hasnt err 'it takes counts'
run 0 "$pmcstat" -q -R "$golden" -G /dev/null -F /dev/null
ok 'what is thrown away is not lost' lines err 0

# The log loses its name, which it has soon after the command has begun.
export begun='until [ -e gone ]; do sleep .05; done'
for how in 'rm gone' 'echo new >gone.new; mv gone.new gone' \
		'"$0" -q -S cs -O gone true' 'rm gone; mkdir gone'; do
	for z in '' -Z; do
		rm -rf gone
		# shellcheck disable=SC2086
		run 74 "$pmcstat" -O gone $z -S cs sh -c "$begun; $how" "$pmcstat"
		ok "${z:+$z, }a log that is gone: $how" all 'has err "^pmcstat: 500 samples"' \
			'has err "^pmcstat: gone was removed or replaced meanwhile"'
	done
done
rm -rf gone
run 74 "$pmcstat" -q -O gone -S cs sh -c 'eval "$begun"; rm gone; exit 7'
ok 'which -q does not hide, nor what the command says' lines err 1
run 0 "$pmcstat" -O gone -S cs sh -c 'eval "$begun"; mv gone kept'
ok 'one that was renamed is there' all 'has kept "^end$"' 'hasnt err meanwhile'
mkdir gone
run 74 "$pmcstat" -O gone/ -S cs sh -c 'rm gone/*'
ok 'one in a directory' has err '^pmcstat: gone/pmclog[.].*[.]0001 was removed or replaced'
: >nameless
run 0 sh -c 'exec 5<>nameless; rm nameless; "$0" -O /dev/fd/5 -S cs true; cat /dev/fd/5' "$pmcstat"
ok 'one that had no name' all 'has out "^end$"' 'hasnt err meanwhile'
: >nameless
run 0 sh -c 'exec 5<>nameless; rm nameless; "$0" -O - -S cs true >&5; cat /dev/fd/5' "$pmcstat"
ok 'nor does standard output need one' all 'has out "^end$"' 'hasnt err meanwhile'

# A log that cannot be put in place: its name becomes that of a directory while pmcstat
# waits for the reader of the symbols.
tool=l$$
cp "$(command -v sleep)" "$tool"
# running: PIDs of the command, which has a name of its own
running() { grep -slx "$tool" /proc/[0-9]*/comm | sed 's|/proc/||; s|/comm||'; }
mkfifo symbols
mkdir placed
{
	until [ -n "$(find placed -name 'log.*')" ]; do
		[ ! -e over ] || exit
		sleep .05
	done
	mkdir placed/log
	cat symbols >taken
} &
reader=$!
run 73 "$pmcstat" -q -S cs -O placed/log --kallsyms symbols "./$tool" 600
left=$(running)
: >over
ok 'a run that fails late leaves no command behind' all '[ -z "$left" ]' \
	'has err "^pmcstat: cannot create placed/log: Is a directory$"' 'lines err 1'
[ -z "$left" ] || kill "$left"
wait "$reader"

# No file gets the number of a standard descriptor that is closed.
run 0 sh -c '"$0" -v -O log -S cs true <&- >&- 2>&-' "$pmcstat"
ok 'what is said to nobody is not in the log' [ "$(cat log)" = "$(printf 'begin\nend')" ]
run 74 sh -c '"$0" -q -O log -s cs -S cs sh -c "echo mine; echo mine >&2" <&- >&- 2>&-' \
	"$pmcstat"
ok 'nor is what the command says, or a count' [ "$(cat log)" = "$(printf 'begin\nend')" ]

# What is asked for is told, or it is not.
for what in --version --help -L '-u cs'; do
	run 74 sh -c "'$pmcstat' $what >/dev/full"
	ok "$what that cannot be printed" all 'lines err 1' \
		'has err "^pmcstat: cannot write to standard output"'
done
run 64 "$pmcstat" -L nosuch 'no*such'
ok 'events that are not there' all 'lines out 0' \
	'has err "^pmcstat: -L: no event of this machine matches$"'
run 0 "$pmcstat" -L nosuch context-switches
ok 'one that is there is enough' all 'has out ^context-switches' 'lines err 0'

# What a file system tells only when the log is closed.
for what in '' -Z '--flight 4M'; do
	# shellcheck disable=SC2086
	run 74 env FAKE_CLOSE=unclosed "$pmcstat" -O unclosed $what -S cs -l .1
	ok "a log that cannot be closed: $what" \
		has err 'cannot write .* *unclosed: Disk quota exceeded$'
done
mkdir closed
for what in '' -Z; do
	# shellcheck disable=SC2086
	run 74 env FAKE_CLOSE=pmclog. "$pmcstat" -q -O closed --rotate 1s $what -S cs -l 30
	ok "one of several: $what" all 'lines err 2' \
		'has err "^pmcstat: cannot write the log closed/pmclog.*1[.zst]*: Disk quota"'
done
run 74 env FAKE_CLOSE=pmclog. "$pmcstat" -q -O closed/ --flight 4M -S cs -l .1
ok 'a snapshot in a directory' has err '^pmcstat: cannot write a snapshot to closed/pmclog'
run 74 env FAKE_CLOSE=unclosed FAKE_TRIGGER=100 "$pmcstat" -q -O unclosed --flight 4M \
	--trigger faults -S cs
ok 'that of a trigger' has err '^pmcstat: cannot write a snapshot to unclosed: Disk quota'

# The command has the SIGPIPE that the caller had: bit 13 of what it ignores
ignored='$((0x$(sed -n "s/^SigIgn:.//p" /proc/self/status) >> 12 & 1))'
run 0 env --default-signal=PIPE "$pmcstat" -q -S cs -O log sh -c "echo $ignored"
ok 'SIGPIPE is not ignored in the command' [ "$(cat out)" = 0 ]
run 0 env --ignore-signal=PIPE "$pmcstat" -q -S cs -O log sh -c "echo $ignored"
ok 'but if the caller ignored it' [ "$(cat out)" = 1 ]

# A command writes to the screen unless that is the live view's.
FAKE_LOG="$golden" run 0 "$pmcstat" -T -o screens -S cs \
	sh -c 'seq 5000 >&2; echo hello'
ok '-T -o: the output of the command' all 'lines out 1' 'has out "^hello$"' \
	'lines err 5000' 'has screens "Samples: 9"'
FAKE_LOG="$golden" run 0 "$pmcstat" -T -S cs sh -c 'seq 5000 >&2; echo hello'
ok 'and where there is no terminal' all 'has out "^hello$"' 'lines err 5000'
printf '%s\n' '#!/bin/sh' 'seq 5000 >&2; echo hello' >loud
chmod +x loud
if command -v script >found; then
	FAKE_LOG="$golden" TERM=xterm run 0 script -qec "$pmcstat -T -S cs ./loud" session
	ok 'on a terminal, its last messages, and how much is missing' all \
		'has out "pmcstat: 19797 bytes on standard error left out"' \
		'has out "^5000"' 'hasnt out "^1000.$"' 'hasnt out hello'
fi

# -q: what the log lacks, and how chains are cut, are warnings, too.
FAKE_FAIL=records:7 run 0 "$pmcstat" -q -O log -S cs true
ok '-q: a log without metadata' lines err 0
FAKE_FAIL=unwinder:11 run 0 "$pmcstat" -q -O log -S cs true
ok '-q: no thread for unwind tables' lines err 0

# Nobody reads the pipe, which is full.
mkfifo slow
exec 9<>slow
perl -MFcntl -e 'sysopen F, "slow", O_RDWR | O_NONBLOCK; 1 while syswrite F, "x" x 4096'
"$pmcstat" -w .001 -p cs -o slow sh -c 'echo >began; exec sleep 1000' >out 2>err 9>&- &
pid=$!
until_true '[ -s began ]'
terminate
want=74
ok 'signals end the wait for a reader of counts' has err \
	'^pmcstat: cannot print counts: Interrupted'
exec 9>&-

run 74 timeout 30 "$pmcstat" -q -O /dev/full -Z -S cs sleep 60
ok 'a full disk behind -Z ends the run, though nothing more is written' has err 'No space left'

echo "1..$count"
[ "$failures" -eq 0 ]
