#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -T: what is on the screen, and what the keys do.  tmux is the terminal.
. "$(dirname "$0")/lib.sh"
make_log

# plain text where there is no terminal
ok "as text: what is sampled, and who calls, for each PMC" same "\
PMC: [cpu-clock] Samples: 85 (94.4%), 2 unresolved, 0 lost, user callers missing (frame pointers on x86)

%SAMP IMAGE      FUNCTION                       CALLERS
 70.6 shapes     leaf                           calls
 23.5 [kernel]   inner                          outer
  3.5 shapes     calls                          main
  2.4 [unknown]  [unknown]

PMC: [page-faults] Samples: 5 (5.6%), 0 unresolved, 0 lost, user callers missing (frame pointers on x86)

%SAMP IMAGE      FUNCTION                       CALLERS
100.0 shapes     after                          main" \
	bash -c "$pmcstat -R $tmp/log -T | sed 's/ *\$//; \$d'"
ok "-o: to a file" bash -c "$pmcstat -R $tmp/log -T -o $tmp/screens &&
	grep -q '70.6 shapes  *leaf' $tmp/screens"
ok "-f threshold=" same 3 bash -c \
	"$pmcstat -R $tmp/log -T -f threshold=10 | grep -c '^ *[0-9]'"
ok "-f of something else: 64" prints 64 "-f nonsense=1: not threshold" \
	"$pmcstat" -R "$tmp/log" -T -f nonsense=1
ok "-f of no number: 64" exits 64 "$pmcstat" -R "$tmp/log" -T -f threshold=x
ok "nor what is none, which would be less than all: 64" \
	exits 64 "$pmcstat" -R "$tmp/log" -T -f threshold=nan
ok "-i and -c" prints 0 "Samples: 0 " "$pmcstat" -R "$tmp/log" -T -i 99
head -c -9 "$tmp/log" >"$tmp/torn"
ok "a torn log: 65, with what it has" prints 65 "70.6 shapes  *leaf" \
	"$pmcstat" -R "$tmp/torn" -T

pmclog_top()
{
	"$pmclog" top "$@" "$tmp/log" | sed 's/ *$//;$d'
}
ok "pmclog top has the same" same \
	"$("$pmcstat" -R "$tmp/log" -T | sed 's/ *$//;$d')" pmclog_top
ok "its threshold" same 3 bash -c \
	"$pmclog top -t 10 $tmp/log | grep -c '^ *[0-9]'"
ok "its file" bash -c "$pmclog top -o $tmp/screens2 - <$tmp/log &&
	grep -q '70.6 shapes  *leaf' $tmp/screens2"
ok "a torn log" prints 1 "70.6 shapes  *leaf" "$pmclog" top "$tmp/torn"
ok "no such log" exits 1 "$pmclog" top "$tmp/none"
for bad in "-t x" "-w 0" "-z 0" "-x" "" "a b"; do
	# shellcheck disable=SC2086
	ok "pmclog top $bad: 2" exits 2 "$pmclog" top $bad
done
ok "which option is wrong" prints 2 "^pmclog top: --threshold 101 makes no sense" \
	"$pmclog" top -t 101 "$tmp/log"
ok "a terminal without a description" bash -c \
	"TERM=nonsense script -qec '$pmclog top $tmp/log' /dev/null |
	 grep -q '^pmclog: this terminal cannot be used; -o file'"

if ! command -v tmux >/dev/null; then
	skip "on a terminal" "no tmux"
	done_testing
	exit
fi

# Whose terminal goes away ends, and LeakSanitizer may then never end.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# Servers of our own, of this test alone, one for each terminal
trap '"${tm[@]}" kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
tm=(true)
servers=0

start()	# COMMAND: on a terminal of 100 columns; its exit status follows it
{
	"${tm[@]}" kill-server 2>/dev/null
	servers=$((servers + 1))
	tm=(tmux -S "$tmp/tmux$servers" -f /dev/null)
	: >"$tmp/status"
	# not every shell goes on after a ^C that its command has handled
	SHELL=$BASH "${tm[@]}" new-session -d -x 100 -y 20 \
		"$1; echo \$? >$tmp/status; sleep 1000"
}
screen()
{
	"${tm[@]}" capture-pane -p
}
has() { screen | grep -q -e "$1"; }
# shows PATTERN: waits for a line like it
shows()
{
	soon has "$1" && return
	echo "nothing like $1:"
	screen
	return 1
}
keys()
{
	"${tm[@]}" send-keys "$@"
}
ends()	# STATUS: and the terminal is as it was
{
	soon [ -s "$tmp/status" ]
	[ "$(cat "$tmp/status")" = "$1" ]
}
press()	# PATTERN KEY...
{
	local pattern=$1
	shift
	keys "$@"
	shows "$pattern"
}

start "$pmcstat -R $tmp/log -T -w 0.2"
ok "a file on the screen" shows '^ 70.6 shapes  *leaf  *calls'
ok "stays there" eval 'sleep 1; shows "^ 70.6 shapes"'
ok "n: the call tree" press '^ 23.5 main@shapes outer@\[kernel\] inner(23.5%)' n
ok "f: without what has no samples" press '^ 23.5 . . inner@\[kernel\](23.5%)' f
ok "n: and back" press '^%SAMP IMAGE' n
ok "p: the next PMC" press '^PMC: \[page-faults\] Samples: 5 (5.6%)' p
ok "m: not merged" press '^PMC: page-faults.1' m
ok "m: merged" press '^PMC: \[page-faults\]' m
ok "A: addresses" press "^100.0 shapes  *$(printf %#x \
	$(($(symbol "$shapes" after) + 2)))" A
ok "A: names" press '^100.0 shapes  *after  *main' A
ok "I: offsets" press '^100.0 shapes  *after+0x2' I
ok "c, a: all samples" press 'switching to accumulation mode' c a
ok "space: pause" press 'pause => press space again' Space
ok "other keys do nothing" eval 'keys x; shows "pause =>"'
ok "a smaller terminal" eval '"${tm[@]}" resize-window -x 60 -y 10
	shows "^100.0 shapes"'
keys q
ok "q: the end" ends 0

# A log that grows, and time that passes
mkfifo "$tmp/fifo"
{
	preamble
	echo "sample 10 7 $(at leaf 5) $(at calls 9)"
	echo "drop 0 3"
	echo "cut"
} | log one
{
	preamble
	echo "sample 10 7 $(at leaf 5) $(at calls 9)"
	echo "drop 0 3"
	echo "sample 30 7 $(at after 2) $(at main 40)"
} | log two
start "$pmcstat -R $tmp/fifo -T -w 3"
exec 9>"$tmp/fifo"
cat "$tmp/one" >&9
ok "a pipe: what has come" shows '^100.0 shapes  *leaf'
ok "and what was lost" shows '^PMC: .* Samples: 10 .* 3 lost'
ok "a period without samples" shows '^PMC: .* Samples: 0 .* 0 lost'
keys c a
ok "accumulated: it is back" shows '^100.0 shapes  *leaf'
tail -c "+$(($(stat -c %s "$tmp/one") + 1))" "$tmp/two" >&9
ok "so is what was lost" shows '^PMC: .* 3 lost'
ok "what comes is added" shows '^ 25.0 shapes  *leaf'
exec 9>&-
ok "the end of the log is not that of the view" shows '^ 75.0 shapes  *after'
"${tm[@]}" send-keys C-c
ok "^C ends it" ends 0
ok "and the cursor is back" same 1 "${tm[@]}" display-message -p \
	'#{cursor_flag}'

# A sample that was drawn gets its user chain: it moves, and none is less than 0.
{
	preamble
	echo "late 4 7 7 0xffffffff81003010 $(at leaf 5)"
	echo "cut"
} | log one
{
	preamble
	echo "late 4 7 7 0xffffffff81003010 $(at leaf 5)"
	echo "userchain 7 7 $(at leaf 5) $(at calls 9) $(at main 30)"
} | log two
start "$pmcstat -R $tmp/fifo -T -w 3"
exec 9>"$tmp/fifo"
cat "$tmp/one" >&9
ok "before its user chain comes" shows '^100.0 .kernel.  *inner  *leaf'
keys n
tail -c "+$(($(stat -c %s "$tmp/one") + 1))" "$tmp/two" >&9
ok "and then" shows '^100.0 main@shapes calls leaf inner@.kernel.(100.0%)'
exec 9>&-
keys q
ok "its end" ends 0

start "cat $tmp/log | $pmcstat -R - -T -w 0.2"
ok "standard input has the log, the terminal the keys" eval \
	"shows '^ 70.6 shapes' && press CALLTREE n && keys q && ends 0"

head -c $(($(stat -c %s "$tmp/log") / 2 / 4 * 4)) "$tmp/log" >"$tmp/grows"
start "$pmclog top -w 200ms $tmp/grows"
ok "pmclog top shows what a file has so far" shows '^100.0 shapes'
tail -c "+$(($(stat -c %s "$tmp/grows") + 1))" "$tmp/log" >>"$tmp/grows"
ok "and what it grows by" shows 'kernel'
ok "and knows the keys" eval "press CALLTREE n && keys q && ends 0"

# Names cannot do anything to the terminal.
log evil <<-EOF
	event a\x1b[2Jb\x07 1000
	proc 7 prog
	map 7 0x10000 0x1000 0 /x/a\x1b]0;owned\x07\x1b[31m\xe2\x80\xae\xff
	sample 5 7 0x10010
EOF
start "$pmcstat -R $tmp/evil -T -w 0.2"
ok "escapes are shown, not obeyed" shows '^PMC: \[a.x1b\[2Jb.x07\]'
ok "nor the title's" eval \
	'[ "$("${tm[@]}" display-message -p "#{pane_title}")" != owned ]'
ok "and it ends" eval "keys q && ends 0"
clean()
{
	local pid
	mkfifo "$tmp/typing"
	# there may be none where nobody looks on
	TERM=xterm script -qefc "stty cols 100 rows 20; $pmcstat -R $tmp/evil -T -w 0.2" \
		"$tmp/typescript" <"$tmp/typing" >/dev/null &
	pid=$!
	exec 8>"$tmp/typing"
	soon grep -qa 'x1b' "$tmp/typescript" 2>/dev/null
	printf q >&8
	wait "$pid"
	exec 8>&-
	grep -qa 'x1b.0;ow' "$tmp/typescript" &&
		! grep -qaP '\x1b\]0;|\x1b\[31m|\xe2\x80\xae|\xff' \
			"$tmp/typescript"
}
ok "what the terminal gets has none of them" clean

done_testing
