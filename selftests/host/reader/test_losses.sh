#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each view tells that records of processes were lost, and that a log has no end.
. "$(dirname "$0")/lib.sh"

kallsyms outer end
chain()
{
	cat <<-EOF2
		host 6.12-test node
		machine 183
		kernel 0xffffffff81000000 outer
		event cycles 1000
		proc 7 prog
		sample 10 7 0xffffffff81000004
	EOF2
}
none=0xffffffff
{ chain; echo "pmc $none"; echo "drop 0 1200"; echo "drop 3 4"; } | log procs
{ chain; echo cut; } | log cut
{ chain; echo "pmc $none"; echo "drop 0 1"; echo cut; } | log both
chain | log well
{ cat "$tmp/cut"; cat "$tmp/well"; } >"$tmp/first"

procs='1,204 process records were lost: 1,200 ring full, 4 no ring; samples may be of other processes'
end='the log has no end: what came last is missing$'

# each COMMAND...: on standard error, in the words of all
each()
{
	ok "$1${3:+ $3}: process records" prints 0 "^pmclog: $tmp/procs: $procs" \
		"$pmclog" "$@" "$tmp/procs"
	ok "$1${3:+ $3}: no end" prints 0 "^pmclog: $tmp/cut: $end" \
		"$pmclog" "$@" "$tmp/cut"
}
each fold
each flame
each annotate -a
for to in folded perf-script csv jsonl clickhouse speedscope firefox callgrind; do
	each export --to $to
done
each export --to pprof -o "$tmp/out.pb"
each filter -o "$tmp/part"
ok "filter: the part tells it, too" prints 0 "$end" "$pmclog" fold "$tmp/part"
ok "dump: no end" prints 0 "^pmclog: $tmp/cut: $end" "$pmclog" dump -j "$tmp/cut"

for with in "" --self --tree; do
	# shellcheck disable=SC2086
	ok "report $with: process records" prints 0 "^Lost  *$procs" \
		"$pmclog" report $with "$tmp/procs"
	# shellcheck disable=SC2086
	ok "report $with: no end" prints 0 "NOT CLOSED: $end" \
		"$pmclog" report $with "$tmp/cut"
done
ok "diff: process records" prints 0 "^Before .*, $procs" \
	"$pmclog" diff "$tmp/procs" "$tmp/cut"
ok "diff: no end" prints 0 "^After .*, NOT CLOSED: $end" \
	"$pmclog" diff "$tmp/procs" "$tmp/cut"
for with in --folded --flame; do
	ok "diff $with: process records" prints 0 "^pmclog: $tmp/procs: $procs" \
		"$pmclog" diff $with "$tmp/procs" "$tmp/cut"
	ok "diff $with: no end" prints 0 "^pmclog: $tmp/cut: $end" \
		"$pmclog" diff $with "$tmp/procs" "$tmp/cut"
done
short='1 process record lost; the log has no end'
ok "flame: in the picture" prints 0 "; $short</text>" "$pmclog" flame "$tmp/both"
ok "diff --flame: in the picture" prints 0 \
	"10 samples ($short) before, 10 samples after;" \
	"$pmclog" diff --flame "$tmp/both" "$tmp/well"
ok "info: process records" prints 0 \
	'^process records lost: 1204: 1200 ring full, 4 no ring; samples may' \
	"$pmclog" info "$tmp/procs"
ok "info: no end" prints 0 "^ended  *cut, without CLOSELOG" \
	"$pmclog" info "$tmp/cut"
ok "top: process records" prints 0 "^PMC: .*, 1204 process records lost" \
	"$pmclog" top "$tmp/procs"
ok "top: no end" prints 0 "$end" "$pmclog" top "$tmp/cut"

# data LOG: those of the page, as JSON
data()
{
	"$pmclog" html "$tmp/$1" | page_data
}
page() # LOG FILTER WANT
{
	same "$3" jq -c "$2" <<<"$(data "$1")"
}
ok "html: process records" page procs \
	'[.loss.processRecords, .loss.processRecordsBy]' \
	'[1204,[["ring full",1200],["no ring",4]]]'
ok "html: no end" page cut '[.log.closed, .log.noEnd]' \
	'[false,"the log has no end: what came last is missing"]'

# records of kinds that are not known yet: type 77
{
	cat "$tmp/cut"
	printf '\020\0\115\356\0\0\0\0\0\0\0\0\0\0\0\0'
} >"$tmp/new"
new='1 record is of a kind that this pmclog does not know: what it tells is missing'
ok "fold: an unknown record" prints 0 "$new" "$pmclog" fold "$tmp/new"
ok "report: an unknown record" prints 0 "^Unknown  *$new" "$pmclog" report "$tmp/new"
ok "html: an unknown record" page new .log.unknown "\"$new\""
ok "diff: an unknown record" prints 0 "^After .*, $new" \
	"$pmclog" diff "$tmp/well" "$tmp/new"
ok "info: an unknown record" prints 0 "^unknown  *1 record of a kind" \
	"$pmclog" info "$tmp/new"

# a log in the middle of a stream
ok "of two logs the first has no end" prints 0 \
	"1 of its logs has no end: what came last there is missing" \
	"$pmclog" fold "$tmp/first"
ok "report: the same" prints 0 "NOT CLOSED: 1 of its logs has no end" \
	"$pmclog" report "$tmp/first"
ok "nothing is said where nothing is missing" bash -c \
	"$pmclog fold $tmp/well 2>&1 >/dev/null | cmp - /dev/null"
done_testing
