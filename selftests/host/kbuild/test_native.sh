#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_native.sh
#
# What run_kselftest.sh makes of programs that pass, fail, skip, hang or would harm the
# machine; and where it cannot run any.  TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
tests=$root/selftests/kselftest
mkdir -p "$tmp/hwpmc/bin"

# program NAME STATUS: one that ends so
program() {
	printf '#!/bin/sh\necho "ok 1 of %s"\nchmod 666 "%s"\nexit %s\n' "$1" "$tmp/device" "$2" >"$tmp/hwpmc/$1"
	chmod +x "$tmp/hwpmc/$1"
}

# installed DEVICE: as make install does it, with programs of ours
installed() {
	find "$tmp/hwpmc" -type f -delete
	program good 0
	program bad 3
	program none 4
	program hotplug 0
	printf '#!/bin/sh\nsleep 60\n' >"$tmp/hwpmc/stuck"
	chmod +x "$tmp/hwpmc/stuck"
	echo timeout=1 >"$tmp/hwpmc/settings"
	cp "$tests/destructive" "$tmp/hwpmc"
	printf 'hwpmc:%s\n' good bad none hotplug stuck >"$tmp/kselftest-list.txt"
	sed "s,^device=.*,device=$1," "$root/selftests/run_kselftest.sh" >"$tmp/run_kselftest.sh"
	: >"$tmp/device"
	chmod 640 "$tmp/device"
}

# says STATUS LINE PROGRAM...: LINE is one of what it prints, alone
says() {
	local want=$1 line=$2
	shift 2
	exits "$want" sh "$tmp/run_kselftest.sh" "$@" >"$tmp/said"
	local status=$?
	cat "$tmp/said"
	((status == 0)) && grep -qxF "$line" "$tmp/said"
}

# in its own test's directory, so that a program is one that there is
all_are_there() {
	local name bad=0
	while read -r name _; do
		compgen -G "$tests/*/$name.c" >/dev/null || compgen -G "$tests/*/$name" >/dev/null || { echo "there is no $name"; bad=1; }
	done < <(grep -Ev '^(#|$)' "$1")
	return $bad
}

# reasons FILE: each program has one
reasons() {
	! grep -Ev '^(#|$)' "$1" | grep -Evq '^[a-z_0-9]+	+[a-z].*[a-z]$'
}

echo "TAP version 13"
ok "native: programs that harm exist" all_are_there "$tests/destructive"
ok "native: and it is said how" reasons "$tests/destructive"
installed /nonexistent
ok "native: no module, everything is skipped" says 4 \
	"ok 2 selftests: hwpmc: bad # SKIP /nonexistent is not there: build the module (make module) and load it (insmod hwpmc.ko)"
ok "native: what there is" prints 0 '^hwpmc:stuck$' sh "$tmp/run_kselftest.sh" -l
if ((EUID)); then
	skip "native: programs run" "they need root"
else
	installed "$tmp/device"
	ok "native: one passes" says 0 "ok 1 selftests: hwpmc: good" good
	ok "native: what it prints is a comment" grep -qx '# ok 1 of good' "$tmp/said"
	ok "native: the device has its rights again" test "$(stat -c %a "$tmp/device")" = 640
	ok "native: one fails" says 1 "not ok 2 selftests: hwpmc: bad # exit=3" good bad
	ok "native: one skips itself" says 0 "ok 1 selftests: hwpmc: none # SKIP" none good
	ok "native: all skip themselves" says 4 "ok 1 selftests: hwpmc: none # SKIP" none
	ok "native: one hangs" says 1 "not ok 1 selftests: hwpmc: stuck # TIMEOUT 1 seconds" stuck
	ok "native: one would harm the machine" says 4 \
		"ok 1 selftests: hwpmc: hotplug # SKIP it switches CPUs off and on: HWPMC_DESTRUCTIVE=1 runs it on a machine to throw away" hotplug
	export HWPMC_DESTRUCTIVE=1
	ok "native: which may be" says 0 "ok 1 selftests: hwpmc: hotplug" hotplug
	unset HWPMC_DESTRUCTIVE
	ok "native: there is no such program" says 1 \
		"not ok 1 selftests: hwpmc: evil # there is no such program" evil
	ok "native: the sum of all" says 1 "# Totals: pass:1 fail:2 xfail:0 xpass:0 skip:2 error:0"
fi
done_testing
