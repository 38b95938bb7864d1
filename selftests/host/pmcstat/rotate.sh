#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Logs in a directory, one after another, of a pmcstat that needs no device.
# usage: rotate.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

last() { files "$1" | tail -n 1; }

# hangups N DIR ARGUMENTS...: a run in which SIGHUP comes so often
hangups()
{
	n=$1 to=$2
	shift 2
	mkdir -p "$to"
	seen=$(number "$to")
	"$pmcstat" -O "$to/" -S cs "$@" >out 2>err &
	pid=$!
	until_true '[ "$(number "$to")" -gt "$seen" ]'
	while [ "$n" -gt 0 ]; do
		was=$(last "$to")
		kill -HUP "$pid"
		until_true '[ "$(last "$to")" != "$was" ]'
		n=$((n - 1))
	done
	kill -TERM "$pid"
	wait "$pid"
	got=$?
}

want=0
hangups 2 a
ok 'SIGHUP begins another file' all '[ "$(number a)" -eq 3 ]' 'all_whole a' \
	'has err "12345 bytes in 3 files$"' \
	'[ "$(files a | grep -c "^a/pmclog\.20[0-9]*T[0-9]*Z\.000[123]$")" -eq 3 ]' \
	'[ "$(files a | sed "s/.*[.]//" | tr "\n" " ")" = "0001 0002 0003 " ]'
hangups 0 a
ok 'another run adds to them' all '[ "$(number a)" -eq 4 ]' 'all_whole a' \
	'has err "bytes in 1 file$"'
hangups 1 v -v
ok '-v tells of each file' \
	has err "^pmcstat: v/pmclog.*0001 is whole, pmclog[.].*[.]0002 goes on"
want=143
hangups 1 b sh -c 'trap "echo hup" HUP; sleep 60'
ok 'the command does not see it' all '[ "$(number b)" -eq 2 ]' 'lines out 0'
want=0
hangups 4 c --keep 2
ok '--keep leaves the last' all '[ "$(number c)" -eq 2 ]' 'all_whole c' \
	'[ "$(files c | sed "s/.*[.]//" | tr "\n" " ")" = "0004 0005 " ]' \
	'has err "in 5 files$"'
hangups 1 d --keep 1 -Z
if has err 'built without zstd'; then
	want=69
	ok '-Z needs zstd' all '[ "$(number d)" -eq 0 ]'
else
	ok '--keep 1 leaves the one that is written' all '[ "$(number d)" -eq 1 ]' \
		'[ "$(zstd -qdc d/*.0002.zst)" = "$(printf "begin\nend")" ]'
	mkdir z
	export FAKE_LOG="$OLDPWD/../log/golden/full.pmclog"
	hangups 1 z -Z --packed
	unset FAKE_LOG
	ok 'each of them compressed' all '[ "$(number z)" -eq 2 ]' \
		'zstd -qdc z/*.0001.zst | cmp - "$OLDPWD/../log/golden/full.pmclog"' \
		'zstd -qdc z/*.0002.zst | cmp - "$OLDPWD/../log/golden/full.pmclog"' \
		'has err "compressed to $(cat z/* | wc -c) in 2 files"'
fi

# A file that is there is not written to, whatever it is called.
mkdir e
now=$(date +%s)
for i in $(seq 0 120); do
	echo mine >"e/pmclog.$(date -u -d "@$((now + i))" +%Y%m%dT%H%M%SZ).0001"
done
run 0 "$pmcstat" -q -O e -S cs --rotate 1h true
ok 'files that are there stay' all '[ "$(number e)" -eq 122 ]' \
	'[ "$(cat e/*.0001 | sort -u)" = mine ]' 'whole "$(ls e/*.0002)"'

mkdir f
run 0 "$pmcstat" -O f --rotate 1s -S cs sh -c \
	'until [ -e f/*.0003 ]; do sleep .05; done 2>err'
ok 'by time' all 'all_whole f' '[ "$(number f)" -ge 3 ]'

# Somebody else makes the file grow. What they begin with counts for nothing.
mkdir g
export FAKE_LOG="$OLDPWD/../log/golden/full.pmclog"
grow='for i in $(seq 1200); do
	head -c 65536 /dev/zero >>"$(ls g/*.000$n | tail -n 1)"
	for j in 1 2 3 4 5 6; do
		[ ! -e g/*.000$((n + 1)) ] || break 2
		sleep .1
	done
done'
run 0 "$pmcstat" -O g --rotate 200K --rotate 1d -S cs sh -c \
	"n=1; $grow; n=2; $grow; n=3; sleep .5"
size=$(wc -c <"$FAKE_LOG")
unset FAKE_LOG
ok 'by size' all '[ "$(number g)" -eq 3 ]' \
	'[ "$(cat g/*1 | wc -c)" -gt 204800 ]' \
	'[ "$(cat g/*2 | wc -c)" -gt 204800 ]' '[ "$(cat g/*3 | wc -c)" -eq "$size" ]'
mkdir h
run 0 env FAKE_LOG="$OLDPWD/../log/golden/full.pmclog" \
	"$pmcstat" -O h/ --rotate 1K -l .5 -S cs
ok 'beginnings alone are no reason' all '[ "$(number h)" -eq 1 ]' \
	'[ "$(wc -c <"$(last h)")" -gt 1024 ]'

run 73 "$pmcstat" -O nonesuch/ -S cs --rotate 1M true
ok 'a directory has to be there' \
	has err '^pmcstat: -O nonesuch/: there is no such directory'
run 73 "$pmcstat" -O out/ -S cs true
ok 'and to be one' has err '^pmcstat: -O out/: Not a directory'
run 64 "$pmcstat" -O out -S cs --rotate 1M true
ok 'which is seen at once' has err 'which out is not: -O DIR'

# terminal COMMAND: it ends after the first file; $pid is in the file pid
terminal()
{
	rm -f pid
	setsid script -qc "echo \$\$ >pid; exec $1" /dev/null >out.tty 2>err <&- &
	tty=$!
	pid=$tty
	until_true '[ -s pid ]'
	pid=$(cat pid)
	until_true '[ "$(number p)" -gt 0 ]'
	kill -KILL "$tty"
	wait "$tty" 2>err.kill
}

# ended: when it is no child of ours
ended() { while kill -0 "$pid" 2>err.kill; do sleep .05; done; }
mkdir p
want=0 got=0
terminal "nohup $pmcstat -O p/ -S cs >out 2>err"
until_true 'kill -HUP "$pid" 2>err.kill; [ "$(number p)" -gt 1 ]'
ok 'nohup: the end of the terminal means nothing, SIGHUP the next file' \
	[ "$(number p)" -gt 1 ]
kill -TERM "$pid"
ended
ok 'and what was written is whole' all_whole p
rm p/*
terminal "$pmcstat -O p/ -S cs >out 2>err"
ended
ok 'without, it is the end' all '[ "$(number p)" -eq 1 ]' 'all_whole p'

# What cannot go on ends, and what there is is whole.
mkdir i
run 74 env FAKE_FAIL=rotate:28 "$pmcstat" -O i -S cs --rotate 1s sleep 60
ok 'a rotation that fails' all '[ "$(number i)" -eq 1 ]' 'all_whole i' \
	'has err "^pmcstat: cannot go on in i/pmclog[.].*[.]0002: No space left"'
mkdir i2
run 0 env FAKE_FAIL=rotate:4:3 "$pmcstat" -q -O i2 -S cs --rotate 1s -l 1.5
ok 'one that a suspend interrupts is done again' all '[ "$(number i2)" -eq 2 ]' 'all_whole i2'
mkdir j
run 0 "$pmcstat" -O j -S cs --rotate 1s sh -c \
	'mv j k; until [ -e k/*.0003 ]; do sleep .05; done 2>err'
ok 'a directory that was moved is the same still' all 'all_whole k' \
	'has err "in [1-9][0-9]* files"'
mkdir m
run 74 "$pmcstat" -O m -S cs --rotate 1s sh -c 'rm -r m; sleep 60'
ok 'one that is gone ends it' \
	has err '^pmcstat: cannot go on in m/pmclog.*[.]0002: No such file'
# No pipe for the compressor of the next file: the file before it is whole.
if [ -d z ]; then
	mkdir packed
	"$pmcstat" -q -Z -O packed -S cs --rotate 1h sleep 60 >out 2>err &
	pid=$!
	until_true '[ "$(number packed)" -eq 1 ] && [ -s "$(last packed)" ]'
	# until nothing is opened or closed any more
	opened=
	until_true '[ "$(echo "/proc/$pid/fd/"*)" = "$opened" ] || { opened=$(echo "/proc/$pid/fd/"*); sleep .5; false; }'
	free=0
	while [ -e "/proc/$pid/fd/$free" ]; do free=$((free + 1)); done
	prlimit --pid "$pid" --nofile=$((free + 1))
	kill -HUP "$pid"
	wait "$pid"
	got=$? want=74
	ok 'a compressor that cannot begin' all '[ "$(number packed)" -eq 1 ]' \
		'zstd -dcq "$(last packed)" | cmp - "$(last i)"' 'has err "cannot go on in packed/pmclog[.].*[.]0002.*: Too many open files"'
fi
mkdir l
run 74 env FAKE_BREAK=100 "$pmcstat" -O l -S cs --rotate 1s sleep 60
ok 'a full disk is told once' all '[ "$(number l)" -eq 1 ]' \
	'[ "$(grep -c "No space left" err)" -eq 1 ]' \
	'has err "cannot write the log l/pmclog[.].*[.]0001: No space left"'

echo "1..$count"
[ "$failures" -eq 0 ]
