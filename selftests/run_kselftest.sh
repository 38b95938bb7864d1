#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run_kselftest.sh [-l] [PROGRAM...]
#
# Runs the kselftest programs (default: all; -l lists them) on this machine, with the
# hwpmc module that is loaded, one after another; KTAP, in the form of the kernel's
# own kselftests. The exit status is 0, 1 when one has failed, and 4 when all were
# skipped. It lies where "make install" has put it, with the programs in hwpmc/.
#
# Programs that hwpmc/destructive names are skipped, and no CPU is switched off, unless
# HWPMC_DESTRUCTIVE=1. These load the module from HWPMC_MODULE, or where modinfo(8)
# finds it. hwpmc/settings has the time that each program may take; HWPMC_TIMEOUT is
# another one.
collection=hwpmc
dir=$(dirname "$(readlink -f "$0")")/$collection
device=/dev/hwpmc
cd "$dir" || exit 1

programs() {
	sed "s/^$collection://" ../kselftest-list.txt
}

if [ "${1:-}" = -l ]; then
	cat ../kselftest-list.txt
	exit
fi
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(programs)

timeout=${HWPMC_TIMEOUT:-$(sed -n 's/^timeout=//p' settings)}
number=0 failed=0 passed=0
status_file=$(mktemp) || exit 1
trap 'rm -f "$status_file"' EXIT
export PATH="$dir/bin:$PATH"
if [ "${HWPMC_DESTRUCTIVE:-}" = 1 ]; then
	: "${HWPMC_MODULE:=$(modinfo -n hwpmc 2>/dev/null)}"
	[ ! "$HWPMC_MODULE" ] || export HWPMC_MODULE
else
	export HWPMC_KEEP_CPUS=1
fi

# result VERDICT PROGRAM [COMMENT]
result() {
	number=$((number + 1))
	case $1$3 in
	"not ok"*) failed=$((failed + 1)) ;;
	"ok") passed=$((passed + 1)) ;;
	esac
	echo "$1 $number selftests: $collection: $2${3:+ # $3}"
}

# Why none can run here, or nothing
why_none() {
	if [ ! -e "$device" ]; then
		echo "$device is not there: build the module (make module) and load it (insmod hwpmc.ko)"
	elif [ "$(id -u)" != 0 ]; then
		echo "the tests need root"
	fi
}

# Why PROGRAM is not run, or nothing
why_not() {
	[ "${HWPMC_DESTRUCTIVE:-}" = 1 ] ||
		sed -En "s/^$1[[:blank:]]+(.*)/it \1: HWPMC_DESTRUCTIVE=1 runs it on a machine to throw away/p" destructive
}

# run PROGRAM: what it prints is a comment; its status is in status_file.
run() {
	echo 1 >"$status_file"
	{
		timeout -k 5 "$timeout" "./$1" 2>&1
		echo $? >"$status_file"
	} </dev/null | sed 's/^/# /'
}

one() {
	echo "# selftests: $collection: $1"
	if [ ! -x "$1" ] || ! programs | grep -qxF "$1"; then
		result "not ok" "$1" "there is no such program"
		return
	fi
	why=${none:-$(why_not "$1")}
	if [ "$why" ]; then
		result ok "$1" "SKIP $why"
		return
	fi
	# some lend the device to other users
	rights=$(stat -c %a "$device") owner=$(stat -c %u:%g "$device")
	run "$1"
	[ ! -e "$device" ] || { chown "$owner" "$device" && chmod "$rights" "$device"; }
	read -r status <"$status_file"
	case $status in
	0) result ok "$1" ;;
	4) result ok "$1" SKIP ;;
	124 | 137 | 143) result "not ok" "$1" "TIMEOUT $timeout seconds" ;;
	*) result "not ok" "$1" "exit=$status" ;;
	esac
}

none=$(why_none)
echo "TAP version 13"
echo "1..$#"
[ ! "$none" ] || echo "# $none"
if [ ! "$none" ] && [ "$(cat /sys/module/hwpmc/refcnt 2>/dev/null)" != 0 ]; then
	echo "# somebody uses the module now: tests that count its users will fail"
fi
for program; do
	one "$program"
done
skipped=$((number - passed - failed))
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
[ $failed -eq 0 ] || exit 1
[ $passed -gt 0 ] || exit 4
