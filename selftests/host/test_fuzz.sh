#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of the fuzzer, when clang has its runtime.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tap.sh source-path=SCRIPTDIR
. "$here/tap.sh"

fuzz()
{
	mkdir "$tmp/corpus"
	for log in "$here"/golden/*.pmclog; do
		{ printf '\020'; cat "$log"; } >"$tmp/corpus/${log##*/}"
	done
	"$BIN/fuzz_iter" -runs="${FUZZ_RUNS:-200000}" -seed=1 -max_len=8192 \
		-artifact_prefix="$tmp/" "$tmp/corpus"
}

if [ -x "$BIN/fuzz_iter" ]; then
	ok "iterator and parser on fuzzed logs" fuzz
else
	skip "iterator and parser on fuzzed logs" "no clang with libFuzzer"
fi
done_testing
