# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests here: the reader's, and a kernel with a light and a heavy function.
. "$(dirname "$0")/../reader/lib.sh"

cat >"$tmp/kallsyms" <<-EOF
	ffffffff81000000 T reference
	ffffffff81001000 T outer
	ffffffff81002000 T light
	ffffffff81003000 T heavy
	ffffffff81004000 T end
EOF
k=0xffffffff81000000
