#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of the fuzzer, when clang has its runtime.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"

# what it finds outlives the test
found=$(cd "$BIN/.." && pwd)/found

fuzz()
{
	mkdir -p "$tmp/corpus" "$found"
	for log in "$here"/golden/*.pmclog; do
		{ printf '\020'; cat "$log"; } >"$tmp/corpus/${log##*/}"
	done
	for log in A-le-64 A-be-32 B-le-64 B-be-i386 C-le-32 C-be-64; do
		"$BIN/mklog" "$log" "$tmp/log" &&
		{ printf '\020'; cat "$tmp/log"; } >"$tmp/corpus/$log"
	done
	"$BIN/fuzz_iter" -runs="${FUZZ_RUNS:-80000}" -seed="${FUZZ_SEED:-1}" \
		-max_len=8192 -verbosity=0 -artifact_prefix="$found/" \
		"$tmp/corpus" >"$found/log" 2>&1 && return
	tail -n 35 "$found/log"
	return 1
}

if [ -x "$BIN/fuzz_iter" ]; then
	ok "iterator and parser on fuzzed logs" fuzz
else
	skip "iterator and parser on fuzzed logs" "no clang with libFuzzer"
fi
done_testing
