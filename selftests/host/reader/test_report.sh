#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What report and fold print, against what is known to be in the log.
. "$(dirname "$0")/lib.sh"

kallsyms reference outer middle inner recursive end
log truth <<-EOF
	host 9.9.9-test elsewhere
	kernel $k reference
	event cpu-clock 1000000
	proc 7 prog
	proc 8 other
	sample 60 7 $k+0x3010 $k+0x2010 $k+0x1010
	sample 10 7 $k+0x2010 $k+0x1010
	sample 20 8 $k+0x4010 $k+0x4010 $k+0x4010 $k+0x1010
	sample 10 8 0x10
	rate 0 60 55
	rate 1 60 50
	drop 0 7
	drop 2 3
EOF

row()	# SELF TOTAL SAMPLES COMMAND OBJECT SYMBOL
{
	"$pmclog" report --flat "$tmp/truth" | tee "$tmp/.text" |
		awk -v w="$*" '{ $1 = $1 } $0 == w { found = 1 }
			END { exit !found }' && return
	cat "$tmp/.text"
	return 1
}
ok "self and total" row 60.00 60.00 60 prog "[kernel]" inner "[k]"
ok "total of a caller" row 10.00 70.00 10 prog "[kernel]" middle "[k]"
ok "recursion counts once" row 20.00 20.00 20 other "[kernel]" recursive "[k]"
ok "without a name" row 10.00 10.00 10 other "[unknown]" "[unknown]"
ok "sorted by self" same "60.00 20.00 10.00 10.00 " bash -c \
	"$pmclog report --flat $tmp/truth |
	 awk '/Self %/{ on = 1; next } !NF { on = 0 }
	      on { printf \"%s \", \$1 } END { print \"\" }'"

head=$("$pmclog" report "$tmp/truth")
has()
{
	grep -q -e "$1" <<<"$head" && return
	printf '%s\n' "$head"
	return 1
}
ok "machine" has "^Recorded on  *elsewhere, Linux 9.9.9-test"
ok "event and period" has "^Event cpu-clock, one sample every 1,000,000$"
ok "samples" has "^  Samples  *100: 10.0 % user, 90.0 % kernel"
ok "rate" has "^  Rate  *120 asked for, 105 achieved (87.5 %)"
ok "loss by cause" has \
	"^  Lost  *10 (9.09 %): 7 ring full, 3 interrupted too often"
ok "no chain was cut: said" has "^Cut chains  *none$"
ok "share without a name" has \
	"^  Without name  *10.0 % of samples, 3.4 % of frames"
ok "why" has "^  10.00 %  \[unknown\]: nothing was mapped there"

tree()
{
	"$pmclog" report --tree "$@" | sed -n '/Total %/,/^$/p' |
		sed '1d;/^$/d'
}
ok "the call tree" same "\
   70.00           prog
   70.00    10.00  \`-outer [k] > middle [k]
   60.00    60.00    \`-inner [k]
   30.00           other
   20.00    20.00  +-outer [k] > recursive [k] > recursive [k] > recursive [k]
   10.00    10.00  \`-[unknown]" tree "$tmp/truth"
ok "the call tree above 25 %" same "\
   70.00           prog
   70.00    10.00  \`-outer [k] > middle [k]
   60.00    60.00    \`-inner [k]
   30.00           other" tree --limit 25% "$tmp/truth"
ok "in UTF-8" bash -c "LC_ALL=C.UTF-8 $pmclog report --tree $tmp/truth |
	grep -q '└ outer .k. → middle .k.'"
ok "--sort dso" bash -c "$pmclog report --flat --sort dso $tmp/truth |
	grep -q '^  90.00    90.00          90  .kernel.$'"
ok "--sort comm" bash -c "$pmclog report --flat --sort comm $tmp/truth |
	grep -q '^  70.00    70.00          70  prog$'"
ok "--sort sym" bash -c "$pmclog report --flat --sort sym $tmp/truth |
	grep -q '^  10.00    70.00          10  middle .k.$'"
ok "what is left out is counted" bash -c \
	"$pmclog report --flat --limit 15 $tmp/truth |
	 grep -q '^  20.00                   20  in 2 more rows$'"
ok "--lines" bash -c "$pmclog report --flat --lines 1 $tmp/truth |
	grep -q '^  40.00                   40  in 3 more rows$'"
ok "standard input" bash -c \
	"$pmclog fold -k $tmp/kallsyms - <$tmp/truth |
	 cmp - <($pmclog fold $tmp/truth)"

# said on standard error where the output has no place for it
lost='10 samples were lost (9.09 %): 7 ring full, 3 interrupted too often$'
for cmd in fold flame "annotate -a -k $tmp/kallsyms" "export --to csv" \
	   "export --to pprof -o $tmp/lost.pb" "diff --folded $tmp/truth"; do
	# shellcheck disable=SC2086
	ok "${cmd%% -[ak]*} tells what was lost" prints 0 \
		"^pmclog: .*/truth: $lost" "$pmclog" $cmd "$tmp/truth"
done
ok "in the picture" prints 0 \
	'>100 samples, 10 lost (9.09 %), in .* on elsewhere' \
	"$pmclog" flame "$tmp/truth"
ok "in that of a comparison" prints 0 \
	'100 samples (10 lost) before, 100 samples (10 lost) after; ' \
	"$pmclog" diff --flame "$tmp/truth" "$tmp/truth"

# RATE counts from the beginning of a PMC, through all logs of a recording
rates() # LOG WANT
{
	same "$2" sed -n 's/^  Rate  *//p' <("$pmclog" report "$tmp/$1")
}
recorded() # NODE SAMPLES ASKED ACHIEVED
{
	echo "host 6.12-test $1"
	echo "event cycles 1000"
	echo "sample $2 7 0x10"
	echo "rate 0 $3 $4"
}
some="on the counter 80.0 % of the time"
recorded a 10 100 90 | log last
ok "the last log of a rotation: more than it has is counted" rates last \
	"100 asked for, 90 achieved (90.0 %), throttled 1 time, $some; since the \
PMC began: this log has a part of that"
ok "info: the same" prints 0 \
	'achieved 90 (90.0 %), throttled 1 time; since the PMC began: this log' \
	"$pmclog" info "$tmp/last"
{ recorded a 80 85 80; echo again; recorded a 10 100 90; } | log all
ok "all logs of a rotation: the last counts" rates all \
	"100 asked for, 90 achieved (90.0 %), throttled 1 time, $some"
{ recorded a 80 85 80; echo again; recorded b 90 100 90; } | log two
ok "logs of two recordings: both count" rates two \
	"185 asked for, 170 achieved (91.9 %), throttled 2 times, $some"
{ recorded a 90 100 90; echo again; recorded a 80 85 80; } | log less
ok "a PMC that begins anew is of another recording" rates less \
	"185 asked for, 170 achieved (91.9 %), throttled 2 times, $some"
{ recorded a 90 100 90; echo again
  recorded b 80 85 80 | sed s/cycles/instructions/; } | log other
ok "of another event under the same id: each has its own" rates other \
	"100 asked for, 90 achieved (90.0 %), throttled 1 time, $some
85 asked for, 80 achieved (94.1 %), throttled 1 time, $some"

# files without names: those below the limit are told as one
{
	echo "event cycles 1000"
	echo "proc 7 prog"
	for i in $(seq 1 25); do
		echo "map 7 $((i * 4096)) 4096 0 /nowhere/f$i"
		echo "sample $((i == 1 ? 968 : i <= 9 ? 2 : 1)) 7 $((i * 4096 + 16))"
	done
} | log files
ok "the rest of the files without names" same "\
  96.80 %  /nowhere/f1: no such file
   3.20 %  in 24 more files" sed -n '/^Samples without/,$ { /%/p }' \
	<("$pmclog" report --limit 1 "$tmp/files")
ok "html: the same" prints 0 '\["5 more files","",5\]' "$pmclog" html "$tmp/files"

# each level has a sample of its own, so none is drawn on the line of another
{
	echo "event cycles 1000"
	echo "proc 7 prog"
	chain=
	for i in $(seq 1 150); do
		echo "map 7 $((i * 4096)) 4096 0 /nowhere/f$i"
		chain="$((i * 4096 + 16)) $chain"
		echo "sample 1 7 $chain"
	done
} | log deep
ok "a tree that is too deep says so" prints 0 \
	"^   15.33           deeper than 128 levels: not shown$" \
	"$pmclog" report --tree "$tmp/deep"

# two events
log events <<-EOF
	event cycles 1000 1
	event cache-misses 500 2
	event cycles 1000 3
	proc 7 prog
	pmc 1
	sample 3 7 0x10
	pmc 2
	sample 5 7 0x10
	pmc 3
	sample 7 7 0x10
EOF
ok "one event on several PMCs is one" prints 0 "^  Samples  *10:" \
	"$pmclog" report "$tmp/events"
ok "the other" prints 0 "^  Samples  *5:" "$pmclog" report "$tmp/events"
ok "only the one asked for" bash -c "! $pmclog report --event cache-misses \
	$tmp/events | grep -q cycles"
ok "fold: the first by itself" folds events "prog;[unknown] 10"
ok "and says so" prints 0 "showing cycles; there is 1 more event (--event NAME, or all)" \
	"$pmclog" fold "$tmp/events"
log well <<-EOF
	host 6.12-test node
	machine 183
	event cycles 1000
	proc 7 prog
	sample 10 7 0x10010
EOF
ok "nothing is said where nothing was lost" bash -c \
	"$pmclog fold -e all $tmp/well 2>&1 >/dev/null | cmp - /dev/null"
ok "fold: one by name" same "prog;[unknown] 5" \
	"$pmclog" fold -e cache-misses "$tmp/events"
ok "fold: all" same "prog;[unknown] 15" "$pmclog" fold -e all "$tmp/events"
ok "an event that is not there" prints 1 \
	'no event "nonesuch"; there is cycles cache-misses' \
	"$pmclog" report -e nonesuch "$tmp/events"
a_name_to_obey()
{
	local name=$tmp/$'a\e]0;x\ab'
	cp "$tmp/events" "$name"
	prints 1 'a?]0;x?b: no event "nonesuch"; ' "$pmclog" report -e nonesuch "$name" &&
		prints 1 'a?]0;x?c: no such file' "$pmclog" symbolize -e "${name%b}c" 0
}
ok "a name of a file that a terminal would obey" a_name_to_obey

# a million samples of many chains, against a sum made apart
awk 'BEGIN {
	srand(42)
	print "event cpu-clock 1000"
	for (p = 1; p < 20; p++) print "proc", p, "p" (p % 5)
	for (i = 0; i < 20000; i++) {
		n = int(rand() * 30) + 1
		printf "sample %d %d", rand() * 50, rand() * 25
		while (n--)
			printf " 0xffffffff%08x", 0x81000000 + int(rand() * 20) * 256
		print ""
	}
}' >"$tmp/many.txt"
log many <"$tmp/many.txt"
ok "folded counts add up" same \
	"$(awk '/^sample/{ s += $2 } END { print s }' "$tmp/many.txt")" \
	bash -c "$pmclog fold $tmp/many | awk '{ s += \$NF } END { print s }'"
ok "folded lines are in order, none twice" bash -c \
	"$pmclog fold -k $tmp/kallsyms $tmp/many | LC_ALL=C sort -c &&
	 ! $pmclog fold $tmp/many | sed 's/ [0-9]*$//' | uniq -d | grep -q ."
ok "and the same every time" bash -c \
	"cmp <($pmclog fold $tmp/many) <($pmclog fold $tmp/many)"
ok "no total above 100 %" bash -c "$pmclog report --limit 0 $tmp/many |
	awk '\$1 + 0 > 100 || \$2 + 0 > 100 && \$2 ~ /\\./ { exit 1 }'"

# logs that end early
prog_log cut <<-EOF
	sample 5 7 0x10
	cut
EOF
ok "without CLOSELOG" prints 0 "NOT CLOSED" "$pmclog" report "$tmp/cut"
ok "cut chains: not known then" prints 0 \
	"^Cut chains  *not known: the log has no end$" "$pmclog" report "$tmp/cut"
head -c -9 "$tmp/cut" >"$tmp/torn"
ok "cut in a record: what is there is shown" prints 1 "^  Samples  *4:" \
	"$pmclog" report "$tmp/torn"
: >"$tmp/nothing"
nothing()	# COMMAND...: no log, no output
{
	rm -f "$tmp/out" &&
	prints 1 "nothing.* is empty$" "$pmclog" "$@" "$tmp/nothing" &&
	[ ! -e "$tmp/out" ]
}
for cmd in info dump report fold flame html "archive -o $tmp/out" \
	   "filter -o $tmp/out" "diff $tmp/cut" "export --to csv -o $tmp/out" \
	   "export --to pprof -o $tmp/out" "annotate -a"; do
	# shellcheck disable=SC2086
	ok "${cmd%% *} of an empty file" nothing $cmd
done
ok "an empty pipe" prints 1 "is empty$" bash -c ": | $pmclog fold -"
ok "what is no log" prints 1 "pmclog: " "$pmclog" report "$0"

for cmd in report fold flame; do
	ok "$cmd --help" prints 0 "^usage: pmclog $cmd" "$pmclog" $cmd --help
	ok "$cmd without a log" prints 2 "see pmclog $cmd --help" \
		"$pmclog" $cmd
	ok "$cmd with two" prints 2 "one log at a time" "$pmclog" $cmd a b
	ok "$cmd --nonsense" prints 2 "try: pmclog $cmd --help" \
		"$pmclog" $cmd --nonsense "$tmp/truth"
	ok "$cmd of no file" prints 1 "none: No such file" \
		"$pmclog" $cmd "$tmp/none"
	ok "$cmd to a full disk" exits 1 \
		bash -c "$pmclog $cmd $tmp/truth >/dev/full"
done
ok "--sort nonsense" prints 2 "keys, with commas between them, are comm, " \
	"$pmclog" report --sort sym,bogus "$tmp/truth"
ok "--limit nonsense" prints 2 "percentage" \
	"$pmclog" report --limit nan "$tmp/truth"

# names that would like to move the cursor
log escape <<-EOF
	event a\\x1b[2Jb 1000
	proc 7 evil\\x1b]0;x\\x07
	map 7 0x10000 0x1000 0 /x/a\\x1b[31m\\x0ab
	sample 5 7 0x10010
EOF
clean()
{
	! "$pmclog" "$1" "$tmp/escape" | tr -d '\n' | grep -q '[[:cntrl:]]'
}
ok "report has no control characters" clean report
ok "fold has no control characters" clean fold
ok "fold has no line too many" same 1 bash -c \
	"$pmclog fold $tmp/escape | wc -l"

log events <<-EOF
	event cpu-clock 1000 1
	event page-faults 1 2
	proc 7 prog
	pmc 1
	sample 10 7 0x10
	pmc 2
	sample 30 7 0x10
EOF
lost_of_event()
{
	"$pmclog" report -e cpu-clock "$tmp/events" |
		grep '^ 100.00 %  \[unknown\]: nothing was mapped there'
}
ok "samples without a name are those of the event" lost_of_event

# what the recording's filter left out is no loss, and said like one
filtered()
{
	local golden=$HERE/../log/golden
	"$pmclog" info "$golden/full.pmclog" | grep -q '^    filtered   2$' &&
		prints 0 "^Filtered        2 samples left out: the recorder's own, or by filters, or while the recorder had switched all events off$" \
			"$pmclog" report "$golden/full.pmclog" &&
		"$pmclog" html "$golden/full.pmclog" | grep -q '"filtered":2,' &&
		! "$pmclog" report "$golden/packed.pmclog" | grep -i filtered
}
ok "what was filtered" filtered
full=$HERE/../log/golden/full.pmclog
cat "$full" "$full" >"$tmp/twice"
ok "of logs in a row all accounts count" prints 0 \
	"^Cut chains  *2 call chains end early (8.3 %): 2 too deep$" \
	"$pmclog" report "$tmp/twice"
cat "$tmp/cut" "$full" >"$tmp/half"
ok "unless one has none" prints 0 "^Cut chains  *not told by this log$" \
	"$pmclog" report "$tmp/half"

# what only the profile has
is_taken()
{
	# shellcheck disable=SC2086
	! "$pmclog" report --flat --callers $1 "$tmp/truth" 2>&1 | grep "add --flat"
}
for o in "-s pid" "-n 5" "--field x"; do
	# shellcheck disable=SC2086
	ok "a tree has no $o" prints 2 "is of the profile: add --flat" "$pmclog" report \
		--callers $o "$tmp/truth"
	ok "a profile and a tree have $o" is_taken "$o"
done
ok "slices of no time" prints 2 "slice is of --flat --sort time" "$pmclog" report \
	--slice 1ms "$tmp/truth"
ok "slices of time" prints 0 "^ Self %" "$pmclog" report --slice 1ms -s time "$tmp/truth"

# messages
one_log()
{
	local cmd
	for cmd in info verify dump report; do
		prints 2 "^pmclog $cmd: one log at a time" "$pmclog" $cmd "$tmp/truth" "$tmp/truth" ||
			return
	done
}
ok "two logs" one_log
ok "a folder of kernel symbols" prints 1 "$tmp: not a regular file" "$pmclog" report \
	-k "$tmp" "$tmp/truth"
gzip -c "$tmp/truth" >"$tmp/truth.gz"
ok "a compressed log" prints 1 "truth.gz: compressed by gzip: read it through gzip -dc$" \
	"$pmclog" fold "$tmp/truth.gz"
no_room()
{
	local how
	for how in flame html "export --to folded"; do
		# shellcheck disable=SC2086
		prints 1 "cannot write $1: No space" "$pmclog" $how -o "$1" "$tmp/truth" || return
	done
}
ln -s /dev/full "$tmp/full.gz"
ok "a full disk" no_room /dev/full
ok "a full disk, compressed" no_room "$tmp/full.gz"

done_testing
