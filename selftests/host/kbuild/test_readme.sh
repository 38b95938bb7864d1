#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_readme.sh
#
# What README.md says to type can be typed: each "make X" is a target, the programs
# that the benchmarks and fuzzers run are built, and each example of a tool is
# understood by the tool. Nothing is measured, and nothing is recorded. TAP.

# The functions that ok() runs look unreachable to shellcheck. Backquotes are those of
# the document.
# shellcheck disable=SC2317,SC2016
set -uo pipefail

root=$(realpath "$(dirname "$0")/../../..")
readme=$root/README.md
tools=$root/build/tools/bin
golden=$root/selftests/host/log/golden/full.pmclog

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$root/selftests/host/lib/tap.sh"

# commands FILE WORD...: the lines of its literal blocks that begin with a WORD,
# without what explains them.
commands() {
	local file=$1
	shift
	sed -En 's/^    +//p' "$file" | sed -E 's/  +#.*//; s/ +$//' |
		grep -E "^($(IFS='|'; echo "$*")) "
}

# targets FILE: what it tells to make, in blocks and in the text, a line each.
targets() {
	{ commands "$1" make | grep -Eo 'make [^&|]*'
	  grep -Eo '`make [^`]*`' "$1" | tr -d '`'; } | sort -u
}

# The KERNEL of check-KERNEL is one of those that the tests know: the pattern takes any.
is_kernel() {
	[[ $1 =~ ^(6\.1|6\.12|6\.12-rt|6\.18|newest|6\.12-arm64|debug|kcsan|full)$ ]]
}

# is_target make WORD...: make knows what to do, and does not do it.
is_target() {
	local word
	for word; do
		[[ $word != check-* ]] || is_kernel "${word#check-}" || { echo "$word: no such kernel"; return 1; }
	done
	# MAKE=true: what that make would call in turn is not called
	MAKEFLAGS='' make -n -C "$root" MAKE=true KDIR="$tmp" "${@:2}"
}

all_are_targets() {
	local line bad=0
	local -a words
	while read -r line; do
		read -ra words <<<"$line"
		is_target "${words[@]}" >"$tmp/make" 2>&1 || { echo "$line"; cat "$tmp/make"; bad=1; }
	done < <(targets "$1")
	return $bad
}

# What stands in for others in the examples: of ssh, the command is run here.
stand_ins() {
	local name
	mkdir -p "$tmp/bin" "$tmp/work/logs"
	touch "$tmp/Makefile"
	for name in make flaky; do
		printf '#!/bin/sh\n' >"$tmp/bin/$name"
	done
	printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$tmp/bin/ssh"
	chmod +x "$tmp"/bin/*
	ln -s ../bin/flaky "$tmp/work/flaky"
	for name in pmcstat pmclog pmccontrol; do
		printf '#!/bin/sh\ntimeout 20 %s/%s "$@"\necho "%s $? $*" >>%s/statuses\n' \
			"$tools" $name $name "$tmp" >"$tmp/bin/$name"
		chmod +x "$tmp/bin/$name"
	done
	cp "$golden" "$tmp/work/app.pmclog"
	cp "$golden" "$tmp/work/old.pmclog"
}

# try LINE: as it stands there. Of what listens, only this machine can be the peer,
# and it ends by itself.
try() {
	local line=${1//0.0.0.0:4000/127.0.0.1:0}
	line=${line//\/var\/log\/pmc\//logs/}
	: >"$tmp/statuses"
	(cd "$tmp/work" && PATH=$tmp/bin:$PATH timeout 60 bash -c "$line" </dev/null) >"$tmp/said" 2>&1
	cat "$tmp/statuses" "$tmp/said"
	[[ -s $tmp/statuses ]]
}

# A wrong command line is said to be one. A machine without tracefs has no
# tracepoints, and that is no fault of the line.
understood() {
	try "$1" || return 1
	! grep -q 'tracefs is not there: mount' "$tmp/said" || return 0
	# a wrong command line: 64 is pmcstat's and pmccontrol's status, 2 pmclog's
	! grep -Eq '^(pmcstat|pmccontrol) 64 |^pmclog 2 |try pmc|^usage:' "$tmp/statuses" "$tmp/said"
}

all_are_understood() {
	local line bad=0 n=0
	while read -r line; do
		n=$((n + 1))
		understood "$line" >"$tmp/try" 2>&1 || { echo "$line"; sed 's/^/  /' "$tmp/try"; bad=1; }
	done < <(commands "$1" pmcstat pmclog pmccontrol)
	((n > 10)) && return $bad
}

# The same with one thing wrong is found.
found() {
	local check=$1 change=$2
	sed -E "$change" "$readme" >"$tmp/README"
	! cmp -s "$readme" "$tmp/README" && ! "$check" "$tmp/README" >/dev/null
}

build() {
	make -s -C "$root" "$@"
}

# The benchmarks' own scripts build these.
benchmarks() {
	build tools && build -C tools guest OUT="$root/build/guest-amd64" STATIC=1 &&
		build -C bench && [[ -x $root/build/bench-amd64/record && -e $root/build/bench-amd64/phases.so ]]
}

bench_reader() {
	build -C bench/reader && [[ -x $root/build/bench-reader/scan ]]
}

bench_build() {
	build -C tools guest OUT="$root/build/guest-arm64" STATIC=1 CROSS=aarch64-linux-gnu- &&
		[[ -x $root/build/guest-arm64/bin/pmcstat ]]
}

fuzzers() {
	build -C selftests/fuzz all && [[ -x $root/build/fuzz/bin/fuzz_command ]]
}

echo "TAP version 13"
ok "readme: programs of bench-kernel, bench-phases and bench-scaling" benchmarks
ok "readme: programs of bench-build" bench_build
ok "readme: programs of bench-reader" bench_reader
ok "readme: programs of fuzz" fuzzers
ok "readme: what it tells to make can be made" all_are_targets "$readme"
ok "readme: a target that is not there" found all_are_targets 's/make bench-kernel/make bench-colonel/'
ok "readme: a kernel that is not there" found all_are_targets 's/make check-6.18/make check-6.81/'
if [[ -e /dev/hwpmc ]]; then
	skip "readme: examples of tools" "this machine has the device: they would record"
else
	stand_ins
	ok "readme: the tools understand its examples" all_are_understood "$readme"
	ok "readme: an option of pmcstat that is not there" found all_are_understood 's/ --packed/ --stacked/'
	ok "readme: an option of pmclog that is not there" found all_are_understood 's/--callers/--colours/'
	ok "readme: an option of pmccontrol that is not there" found all_are_understood 's/pmccontrol -l /pmccontrol -y /'
fi
done_testing
