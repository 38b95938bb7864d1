#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who waits at a terminal is told how far reading is, and nobody else is.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

prog_log big <<-EOF
	host 6.12-test node
	machine 183
	sample 40000 7 0x10010
EOF
# a log that takes more than a second to come
cat >"$tmp/slow" <<-EOF
	cat "$tmp/big"
	sleep 1.5
	cat "$tmp/big"
EOF
if ! script --version >"$tmp/.version" 2>&1; then
	skip "on a terminal" "no script(1)"
	done_testing
	exit
fi
terminal()
{
	script -qec "bash $tmp/slow | $pmclog fold - >$tmp/out" /dev/null \
		</dev/null >"$tmp/tty"
}
ok "a slow log at a terminal" terminal
ok "shows how far it is" grep -q "reading: *[0-9]* MB" "$tmp/tty"
ok "and takes it away" grep -q "$(printf '\r\033')\\[K\$" \
	<(tr -d '\n' <"$tmp/tty")
ok "what it came to is the same" same "prog;[unknown] 80000" cat "$tmp/out"
quiet()
{
	bash "$tmp/slow" | "$pmclog" fold - 2>&1 >/dev/null | grep -c reading |
		grep -qx 0
}
ok "nothing of it in a file" quiet

done_testing
