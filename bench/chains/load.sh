# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions, arithmetic, arrays and patterns, all in one process.
fib() {
	(($1 < 2)) && { REPLY=$1; return; }
	local a
	fib $(($1 - 1))
	a=$REPLY
	fib $(($1 - 2))
	REPLY=$((a + REPLY))
}

declare -A count
n=0
while read -r _ _ word _; do
	word=${word%%_*}
	[[ $word =~ ^[a-z]+$ ]] && count[$word]=$((${count[$word]:-0} + 1))
	((++n < 4000)) || break
done <"$1"
fib 12
echo "${#count[@]} $REPLY"
