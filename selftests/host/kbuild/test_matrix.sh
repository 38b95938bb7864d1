#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_matrix.sh
#
# What scripts/matrix makes of the output of test runs, on a page of its own: rows that are
# new, that replace others and that stay; runs that failed, or did not end. Which of make's
# targets call it.  TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

export HWPMC_MATRIX=$tmp/page.rst
matrix=$root/scripts/matrix

# kselftests VERDICT...: what scripts/check shows of a run on 6.12, up to its last line;
# each VERDICT (ok, not ok) is one of "sample: losses"
kselftests() {
	local verdict n=1
	cat <<-'END'
		# module for 6.12
		ok - module for 6.12
		# module for 6.12: 3 s
		BENCH name=insn.user.1.10000hz.chains ours=2709.9 peer=3943.4 ratio=0.687 unit=instructions/sample goal=ratio<=0.5
		BENCH name=bytes.user.1.10000hz.chains ours=181.03 peer=212.26 ratio=0.853 unit=bytes/sample goal=ratio<=0.7
		# kselftests on 6.12
		TAP version 13
		# 6.12: sample
		# Starting 8 tests from 1 test cases.
		#  RUN           global.cpu_clock ...
		# kselftest/sampling/sample.c:136:cpu_clock:3525 samples (user 1605, kernel 1920), deepest 20, cut 19, 281472 bytes
		#            OK  global.cpu_clock
		ok 1 - 6.12: sample: global.cpu_clock
		#      SKIP      no hardware counters on this machine
		#            OK  global.cycles
		ok 2 - 6.12: sample: global.cycles # SKIP no hardware counters on this machine
	END
	for verdict; do
		n=$((n + 1))
		echo "#  RUN           global.losses ..."
		echo "# kselftest/sampling/sample.c:213:losses:2543$n samples, 1$n lost"
		echo "$verdict $((n + 1)) - 6.12: sample: global.losses"
	done
	cat <<-'END'
		# Totals: pass:6 fail:1 xfail:0 xpass:0 skip:1 error:0
		# 6.12: sample: 29 s
	END
}

# ended NUMBER DATE COMMIT: the last lines of that run
ended() {
	cat <<-END
		ok $1 - 6.12: kernel: nothing to report
		1..$1
		# matrix: 6.12|distribution|x86_64|6.12.117+deb12-cloud-amd64|$2|$3|kselftests|1.81 of 2
		# kselftests on 6.12: 64 s
	END
}

broken() {
	cat <<-'END'
		TAP version 13
		ok 1 - debug: errors: errors.log
		# flaky: nmi passed at the second attempt
		not ok 2 - debug: unwind: global.whole
		not ok 3 - debug: unwind: exit status 1, 1 of 9 tests
		# vm/run: debug: no end after 9000 s; kernel messages: build/vm-log/debug-1126-044512.x1k
		not ok 4 - debug: kernel: virtual machine ended with 125
		1..4
		# matrix: debug|KASAN, lockdep, kmemleak|arm64|6.12.117-hwpmc-debug|2026-11-26|4a49e30|kselftests|3.20 of 2
	END
}

stress() {
	cat <<-'END'
		ok 1 - scheduler by pmcstat -S cpu-clock: the log balances, the kernel is silent
		# pmcstat: 195190 samples, 12 lost (12 ring full), 41234567 bytes
		ok 2 - scheduler: there are samples
		not ok 3 - scheduler: of many stressors
		# matrix: 6.12|distribution|x86_64|6.12.117+deb12-cloud-amd64|2026-11-26|4a49e30|stress-ng scheduler 2 s|2.10 of 2
		ok 4 - os by pmcstat -d -P cpu-clock: the log balances, the kernel is silent
		# pmcstat: 249138 samples, 0 lost, 51234567 bytes
		ok 5 - os: there are samples
		ok 6 - os: of many stressors
		# matrix: 6.12|distribution|x86_64|6.12.117+deb12-cloud-amd64|2026-11-26|4a49e30|stress-ng os 2 s|2.10 of 2
		1..6
	END
}

# An empty table between other lines, that of the real page.
new_page() {
	printf '%s\n' 'Before.' '' '::' '' >"$HWPMC_MATRIX"
	grep '^    kernel ' "$root/Documentation/measured/matrix.rst" >>"$HWPMC_MATRIX"
	printf '\n%s\n' 'After.' '' '    kernel of no table' >>"$HWPMC_MATRIX"
	cp "$HWPMC_MATRIX" "$tmp/empty"
}

# row TEXT: without the number of spaces, a line of the page is this
row() {
	sed 's/^ *//; s/  */ /g' "$HWPMC_MATRIX" | grep -xF -- "$1" || { cat "$HWPMC_MATRIX"; return 1; }
}

# rows NUMBER: so many lines more than an empty page has
rows() {
	[[ $(($(wc -l <"$HWPMC_MATRIX") - $(wc -l <"$tmp/empty"))) == "$1" ]] || { cat "$HWPMC_MATRIX"; return 1; }
}

# The page without its rows is as it was.
rest_is_as_it_was() {
	diff "$tmp/empty" <(grep -Ev '^    ([0-9]|debug|newest)' "$HWPMC_MATRIX")
}

# One row has exactly the columns of the heading.
is_below_the_heading() {
	awk '/^    kernel / && !at { at = index($0, "commit") } / kselftests / && substr($0, at, 7) != "4a49e30" { exit 1 }' "$HWPMC_MATRIX"
}

update() {
	"$matrix" <"$tmp/output"
}

# unchanged COMMAND...: fails, and leaves the page alone
unchanged() {
	cp "$HWPMC_MATRIX" "$tmp/before"
	exits 1 "$@" && cmp "$HWPMC_MATRIX" "$tmp/before"
}

# runs_it TARGET: make would. All its lines are read: make fails when it writes to nobody.
runs_it() {
	MAKEFLAGS='' make -n -C "$root" MAKE=true "$1" | grep scripts/matrix
}

echo "TAP version 13"
new_page
{ kselftests ok; ended 4 2026-11-26 4a49e30; } >"$tmp/output"
ok "matrix: a new row" update
ok "matrix: ... with results, samples, losses, and instructions" row \
	"6.12 distribution kselftests x86_64 6.12.117+deb12-cloud-amd64 3 0 1 25432 12 2710 3943 1.81 of 2 2026-11-26 4a49e30"
ok "matrix: ... below its headings" is_below_the_heading

broken >"$tmp/output"
ok "matrix: a run that failed" update
ok "matrix: ... is said to, and has no losses" row \
	"debug KASAN, lockdep, kmemleak kselftests arm64 6.12.117-hwpmc-debug 1 3 0 3.20 of 2 2026-11-26 4a49e30 nmi passed at the second attempt; unwind failed; the virtual machine ended with 125"
ok "matrix: two rows" rows 2

stress >"$tmp/output"
ok "matrix: another load on the same kernel" update
ok "matrix: ... failed in part" row \
	"6.12 distribution stress-ng scheduler 2 s x86_64 6.12.117+deb12-cloud-amd64 2 1 0 195190 12 2.10 of 2 2026-11-26 4a49e30 scheduler failed"
ok "matrix: ... and another" row \
	"6.12 distribution stress-ng os 2 s x86_64 6.12.117+deb12-cloud-amd64 3 0 0 249138 0 2.10 of 2 2026-11-26 4a49e30"
ok "matrix: four rows" rows 4

grep -v ' kselftests  *x86_64 ' "$HWPMC_MATRIX" >"$tmp/others"
{ kselftests ok "not ok"; ended 5 2026-12-24 fedcba9+; } >"$tmp/output"
ok "matrix: a row is replaced" update
ok "matrix: ... by the new one, with the last recording" row \
	"6.12 distribution kselftests x86_64 6.12.117+deb12-cloud-amd64 3 1 1 25433 13 2710 3943 1.81 of 2 2026-12-24 fedcba9+ sample failed"
ok "matrix: ... and no other" diff "$tmp/others" <(grep -v ' kselftests  *x86_64 ' "$HWPMC_MATRIX")
ok "matrix: four rows still" rows 4

{ kselftests ok; ended 4 2026-12-25 1234567; } | sed 's/^ok - module for/not ok - module for/' >"$tmp/output"
ok "matrix: a module that could not be built" update
ok "matrix: ... the row has no commit" row \
	"6.12 distribution kselftests x86_64 6.12.117+deb12-cloud-amd64 3 0 1 25432 12 2710 3943 1.81 of 2 2026-12-25 could not be built: an older one was tested, or none"

kselftests ok >"$tmp/output"
ok "matrix: a run that did not end has none" unchanged update
ok "matrix: the text around the table stays" rest_is_as_it_was

# shellcheck disable=SC2016 # the inner shell expands it
ok "matrix: a command is shown, its status is ours" prints 3 '^ok 4 - 6.12: kernel' "$matrix" sh -c 'cat "$1"; exit 3' sh <(
	kselftests ok; ended 4 2026-12-26 89abcde)
ok "matrix: ... and its row is written" row \
	"6.12 distribution kselftests x86_64 6.12.117+deb12-cloud-amd64 3 0 1 25432 12 2710 3943 1.81 of 2 2026-12-26 89abcde"
echo "no table" >"$HWPMC_MATRIX"
stress >"$tmp/output"
ok "matrix: a page without a table" unchanged update

for target in check-full check-nmipmu check-debug check-kcsan check-6.1; do
	ok "matrix: make $target writes rows" runs_it "$target"
done
ok "matrix: make check does not" exits 1 runs_it check
done_testing
