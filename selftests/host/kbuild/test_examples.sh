#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_examples.sh
#
# The programs in hwpmc(4) compile, without a warning, as they are printed.  TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
page=$root/Documentation/man/hwpmc.4

# programs: each literal display of the section into a file of its own
programs() {
	awk -v dir="$tmp" '
	/^\.Sh / { section = $2 }
	/^\.Ed/ { in_it = 0 }
	in_it { gsub(/\\e/, "\\"); print >(dir "/example" n ".c") }
	section == "EXAMPLES" && /^\.Bd -literal/ { in_it = 1; n++ }' "$page"
	[[ -s $tmp/example1.c ]]
}

compiles() {
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -I"$root/include/uapi" -o "$tmp/example" "$1"
}

# what it says where there is no such device
without_device() {
	[[ ! -e /dev/hwpmc ]] || return 0
	prints 1 "^hwpmc: No such file" "$tmp/example"
}

broken() {
	sed 's/HWPMC_LOG_STREAM/HWPMC_LOG_STREAMS/' "$1" >"$tmp/broken.c"
	! compiles "$tmp/broken.c"
}

echo "TAP version 13"
ok "hwpmc(4) has programs" programs
for source in "$tmp"/example*.c; do
	ok "${source##*/} compiles" compiles "$source"
	ok "${source##*/} runs" without_device
done
ok "one that is wrong does not" broken "$tmp/example1.c"
done_testing
