#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One session as FreeBSD's kernels of every era and machine would have logged
# it: all show the same, but for what a record of the era has no room for.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
bin=${BIN:?} pmclog=$BIN/pmclog

# every version has another layout of a PMC's id
ids()
{
	sed -E 's/0xff000f00|0xfff00f00/SAMPLING/; s/0xff030702|0xfff03702|0xfff30702/COUNTING/'
}

# what no era but the last has: two bases
without_bases()
{
	sed -E '/^initlog/d; s/^(exec .*) 0x[0-9a-f]+ 0x[0-9a-f]+ "/\1 "/' | ids
}

# nor the first: threads and names, rates
without_threads()
{
	without_bases | sed -E '/^(create|thr-)/d; s/ tid=[0-9]+//; s/ rate=[0-9]+//'
}

# same FILTER LOG
same()
{
	"$pmclog" dump "$tmp/C-le-64" | $1 >"$tmp/want" &&
	"$pmclog" dump "$tmp/$2" | $1 >"$tmp/got" &&
	[ "$(wc -l <"$tmp/got")" -gt 90 ] && diff -u "$tmp/want" "$tmp/got"
}

# info LOG FORMAT: what it is, and what its PMCs are
info()
{
	"$pmclog" info "$tmp/$1" >"$tmp/got" && cat "$tmp/got" &&
	grep -q "^format     era $2\$" "$tmp/got" &&
	grep -q '"PAGE_FAULT.ALL"' "$tmp/got" &&
	grep -q '^  mode         system sampling, ' "$tmp/got" &&
	grep -q '"IAP:0x4c03"' "$tmp/got" &&
	grep -q '^  mode         process counting, ' "$tmp/got" &&
	grep -q '^  lost         not told$' "$tmp/got"
}

verify()
{
	"$pmclog" verify "$tmp/$1" >"$tmp/got" &&
	grep -q '^ok: .* 20 samples, .* 2 PMCs' "$tmp/got" &&
	grep -q "^it is FreeBSD's: not checked " "$tmp/got"
}

# report LOG: as of the last era, but for the log, the cpu, threads' names
report()
{
	local skip='^(Log|Recorded on|Event|When|  Unwound) |one sample every'
	local by='are missing$'
	# these do not tell of which machine they are
	[[ $1 == A-* ]] && by='by frame pointers$'
	"$pmclog" report --sort dso,sym --flat "$tmp/C-le-64" |
		grep -Ev "$skip" >"$tmp/want" &&
	"$pmclog" report --sort dso,sym --flat "$tmp/$1" >"$tmp/all" &&
	grep -q "^  Unwound .*$by" "$tmp/all" &&
	grep -Ev "$skip" "$tmp/all" >"$tmp/got" &&
	diff -u "$tmp/want" "$tmp/got" &&
	grep -q '^ *50.00 .* kernel .*\[m\]\|^ *50.00 .*\[kernel\]' "$tmp/got" &&
	grep -q '^  Lost  *not told' "$tmp/got"
}

# damaged LOG COMMAND...: says what is skipped, shows the rest
damaged()
{
	local log=$1
	shift
	head -c 700 "$tmp/$log" >"$tmp/damaged"
	head -c 100 /dev/zero >>"$tmp/damaged"
	tail -c +801 "$tmp/$log" >>"$tmp/damaged"
	exits 1 "$pmclog" "$@" "$tmp/damaged" >"$tmp/got" 2>"$tmp/err" &&
	cat "$tmp/got" "$tmp/err" &&
	grep -q "damaged: skipped [0-9]* bytes in 1 place" "$tmp/err" &&
	grep -Eq "$seen" "$tmp/got"
}

for era in A B C; do
	for order in le be; do
		for word in 64 32 i386; do
			"$bin/mklog" $era-$order-$word "$tmp/$era-$order-$word"
		done
	done
done
ok "the reference is the golden one" \
	diff -u "$here/golden/era.dump" <("$pmclog" dump "$tmp/C-le-64")
hz="clock of 1000000000 Hz"
for end in little big; do
	order=${end:0:1}e
	for word in 64 32 i386; do
		bytes=$((word == 64 ? 8 : 4))
		what="$end-endian, addresses of $bytes bytes"
		ok "C-$order-$word" same ids "C-$order-$word"
		ok "B-$order-$word" same without_bases "B-$order-$word"
		ok "info on C-$order-$word" info "C-$order-$word" \
			"C, of FreeBSD 14 and later; $what, $hz"
		ok "info on B-$order-$word" info "B-$order-$word" \
			"B, of FreeBSD 12 and 13; $what, $hz"
		ok "report of C-$order-$word" report "C-$order-$word"
		ok "report of B-$order-$word" report "B-$order-$word"
		ok "C-$order-$word verifies" verify "C-$order-$word"
		ok "B-$order-$word verifies" verify "B-$order-$word"
	done
	for word in 64 32; do
		bytes=$((word == 64 ? 8 : 4))
		what="$end-endian, addresses of $bytes bytes"
		ok "A-$order-$word" same without_threads "A-$order-$word"
		ok "info on A-$order-$word" info "A-$order-$word" \
			"A, of FreeBSD 6 to 11; $what, wall clock"
		ok "report of A-$order-$word" report "A-$order-$word"
		ok "A-$order-$word verifies" verify "A-$order-$word"
	done
done

for log in A-be-32 B-le-i386 C-le-64; do
	seen='^closelog' ok "dump of a damaged $log" damaged $log dump
	seen='^ended      in order' ok "info on it" damaged $log info
	seen='"closelog"' ok "JSON of it" damaged $log dump -j
	seen=', damaged: skipped [0-9]* bytes in 1 place' \
		ok "report of it" damaged $log report
	seen='^sh;' ok "fold of it" damaged $log fold
	ok "verify tells where it is" prints 1 "damaged: offset [67][0-9]*: " \
		"$pmclog" verify "$tmp/damaged"
done
# written to a log of ours, it is what it was
filtered()
{
	"$pmclog" filter --pid 1000-1001 -o "$tmp/part" "$tmp/$1" &&
	diff -u <("$pmclog" dump "$tmp/$1") \
		<("$pmclog" dump "$tmp/part" | grep -v ' hwpmc filtered ')
}
for log in A-be-32 B-le-i386 C-be-64; do
	ok "filter of $log" filtered $log
done

cat "$tmp"/{C-le-64,A-be-32,B-be-i386} "$here/golden/full.pmclog" \
	>"$tmp/row"
ok "logs of all kinds in a row" prints 0 \
	"^ok: .* 72 samples, .* 11 PMCs, .* 4 logs in one" \
	"$pmclog" verify "$tmp/row"
ok "some of which are FreeBSD's" prints 0 "^some of them are FreeBSD's" \
	"$pmclog" verify "$tmp/row"
ok "their events, in one report" prints 0 "Samples  *40" \
	"$pmclog" report -e PAGE_FAULT.ALL "$tmp/row"
# lost LOG...: what is said of the first event, then of ours
lost()
{
	(cd "$tmp" && cat "${@:2}") >"$tmp/both"
	"$pmclog" report "$tmp/both" | sed -n 's/^  Lost  *//p' >"$tmp/got"
	diff - "$tmp/got" <<<"$1"
}
"$bin/mklog" small "$tmp/ours"
untold="not told by this log"
ours=$("$pmclog" report "$tmp/ours" | sed -n 's/^  Lost  *//p')
ok "FreeBSD's does not tell what was lost" lost "$untold
$untold" B-le-64
ok "nor with ours behind it, which does" lost "$untold
$untold
$ours" B-le-64 ours
ok "nor with ours in front of it" lost "$ours
$untold
$untold" ours B-le-64
printf '\124\0\002\356%016d' 0 >"$tmp/window"
ok "a log of the middle of 2018" prints 1 \
	"offset 0: log of FreeBSD 12 while it was made" \
	"$pmclog" info "$tmp/window"
done_testing
