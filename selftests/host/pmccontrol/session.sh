#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs pmccontrol, built with a library that needs no device, as an
# administrator would.
# usage: session.sh PMCCONTROL
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
pmccontrol=$1

# does STATUS TRACE ARGUMENT...: changes these rows, "enable CPU ROW;..."
does()
{
	local want=$1 changes=$2 got=0
	shift 2
	: >"$tmp/trace"
	FAKE_TRACE=$tmp/trace "$pmccontrol" "$@" || got=$?
	tr '\n' ';' <"$tmp/trace" >"$tmp/did"
	[[ $got == "$want" && $(<"$tmp/did") == "$changes" ]] && return
	echo "status $got, not $want; did $(<"$tmp/did")"
	return 1
}

# changed_all NAME CPU WITHOUT ARGUMENT...: all rows of CPU but those WITHOUT
changed_all()
{
	local name=$1 cpu=$2 without=$3 row
	shift 3
	: >"$tmp/trace"
	FAKE_TRACE=$tmp/trace "$pmccontrol" "$@"
	for ((row = 0; row < 256; row++)); do
		[[ " $without " == *" $row "* ]] || echo "$name $cpu $row"
	done >"$tmp/want"
	diff "$tmp/want" "$tmp/trace"
}

# failing NAME:ERRNO COMMAND...
failing()
{
	local what=$1
	shift
	FAKE_FAIL=$what "$@"
}

listed()
{
	cat >"$tmp/want"
	"$pmccontrol" -l >"$tmp/list" || return
	# CPU 2 has 256 lines that are alike
	awk '/^#CPU 2:/ { skip = 1 } /^#CPU 299:/ { skip = 0 } !skip' \
		"$tmp/list" | diff "$tmp/want" -
}

ok "-l: what is used and disabled, CPUs by their numbers" listed <<'END'
pmcstat records by the module (without --bpf)
3 GENERIC CPUs online, with 256 PMCs per CPU and owner
#CPU 0:
#N   NAME             CLASS  STATE    ROW-DISP
 2   SOFT-2           SOFT   ENABLED  STANDALONE (pid 1234) cpu-clock (SC, running)
 3   SOFT-3           SOFT   ENABLED  THREAD     (pid 1234) cycles:u (TS, stopped, reload count 1099511627776)
 3   SOFT-3           SOFT   ENABLED  STANDALONE (pid ?) faults (SC, running)
 9   SOFT-9           SOFT   ENABLED  STANDALONE
 200 SOFT-200         SOFT   ENABLED  STANDALONE (pid 1234) xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (SC, running)
 255 SOFT-255         SOFT   DISABLED UNKNOWN
 rows 0-1, 4-8, 10-199, 201-254 free
#CPU 299:
 rows 0-255 free
END
ok "-l: a CPU without a free row" prints 0 "^ no row is free$" "$pmccontrol" -l
ok "-l: an error" failing pmcinfo:5 prints 71 "rows of CPU 0: Input" "$pmccontrol" -l
ok "-l: no CPUs to be known" failing cpuinfo:5 prints 71 "Input" "$pmccontrol" -l

ok "-s: 64 bits" prints 0 "^interrupts processed: *18446744073709551615$" "$pmccontrol" -s
ok "-s: system calls" prints 0 "^system calls: *5000000000$" "$pmccontrol" -s
ok "-s: losses by cause" prints 0 "^samples dropped, ring full: *7$" "$pmccontrol" -s
ok "-s: a cause that has no losses" prints 0 "^samples dropped, no ring: *0$" "$pmccontrol" -s
ok "-s: losses of all causes" prints 0 "^interrupts with a dropped sample: *9$" "$pmccontrol" -s
ok "-s: an error" failing stats:5 prints 71 "cannot read statistics" "$pmccontrol" -s
ok "-L: needs no device" failing open:2 prints 0 "^cycles .*processor cycles" "$pmccontrol" -L

ok "a row on a CPU" does 0 "disable 299 255;" -c 299 -d 255
ok "a row on all CPUs that are online" \
	does 0 "enable 0 7;enable 2 7;enable 299 7;" -e 7
ok "in order" does 0 "enable 0 1;disable 0 1;disable 299 0;enable 299 0;" \
	-c 0 -e 1 -d 1 -c 299 -d 0 -e 0
ok "all rows" changed_all enable 299 "" -c 299 -e '*'
ok "all but those in use" changed_all disable 0 "2 3 9" -c 0 -d '*'
ok "which are told" prints 75 "cannot disable rows 2-3, 9 on CPU 0: in use" \
	"$pmccontrol" -c 0 -d '*'
ok "one in use" prints 75 "cannot disable row 3 on CPU 0: in use" \
	"$pmccontrol" -c 0 -d 3
ok "the others are done all the same" \
	does 75 "disable 0 4;enable 0 2;" -c 0 -d 3 -d 4 -e 2
ok "the first failure is the status" does 75 "" -c 0 -d 3 -c 1 -d 3
ok "an offline CPU" prints 69 "row 3 on CPU 1: the CPU is offline" \
	"$pmccontrol" -c 1 -d 3
ok "all rows of it" prints 69 "on CPU 1: the CPU is offline" \
	"$pmccontrol" -c 1 -e '*'
ok "a gap in the numbers" prints 65 "on CPU 5: there is no such CPU" \
	"$pmccontrol" -c 5 -d 3
ok "a CPU above all" prints 65 "CPU 300: CPU numbers here are below 300" \
	"$pmccontrol" -c 300 -d 3
ok "a row above all" prints 65 "row 256: rows are numbered from 0 to 255" \
	"$pmccontrol" -d 256
ok "then nothing is changed" does 65 "" -c 0 -d 1 -c 300 -d 3
ok "nor for a row" does 65 "" -c 0 -d 1 -d 256
ok "no privilege" failing disable:1 prints 77 \
	"cannot disable row 4 on CPU 0: that needs CAP_SYS_ADMIN" \
	"$pmccontrol" -d 4
ok "another error" failing enable:12 prints 71 \
	"cannot enable row 4 on CPU 0: Cannot allocate" "$pmccontrol" -e 4
ok "no module" failing open:2 prints 69 "is the module loaded.*See pmccontrol doctor$" "$pmccontrol" -l
ok "not root" failing open:13 prints 77 "are you root? See pmccontrol doctor$" "$pmccontrol" -l
ok "an older module" failing open:93 prints 69 "older" "$pmccontrol" -s
# of this machine, whatever is missing here
examines()
{
	local got=0
	"$pmccontrol" doctor >"$tmp/doctor" || got=$?
	grep -q "^problem " "$tmp/doctor" && want=1 || want=0
	[[ $got == "$want" && $(grep -Ec "^(ok|note|problem) +[a-z' ]+: ." "$tmp/doctor") == 14 ]]
}

ok "doctor: a line for each check, and its status" examines
ok "doctor: not with options" prints 64 "at a time" "$pmccontrol" doctor -l
ok "doctor: a full disk" prints 1 "cannot write" sh -c "$pmccontrol doctor >/dev/full"
ok "a full disk" exits 74 sh -c "$pmccontrol -l >/dev/full"
ok "a wrong option" prints 64 "try pmccontrol --help" "$pmccontrol" -q
ok "--help" prints 0 "^usage: pmccontrol" "$pmccontrol" --help
ok "--version" prints 0 "^pmccontrol test, hwpmc interface 10.0.0$" "$pmccontrol" --version
done_testing
