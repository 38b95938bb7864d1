#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How user chains end: of the samples that are shown, by event and command, in
# every view; with what came later; and where callers are missing.
. "$(dirname "$0")/lib.sh"

k=0xffffffff81000010

# make NAME [OPTION] <SCRIPT: a log of process 7, prog, and 8, nginx
make()
{
	local machine=62 by=unwind
	while (($# > 1)); do
		[ "$2" = arm64 ] && machine=183
		[ "$2" = pointers ] && by=
		set -- "$1" "${@:3}"
	done
	{
		printf '%s\n' "host 6.12-test node" "machine $machine" \
			"kernel 0xffffffff81000000 schedule" \
			"event cpu-clock 1000" $by "proc 7 prog" "proc 8 nginx" \
			"map 7 0x1000 0x1000 0 /nowhere/a" \
			"map 8 0x1000 0x1000 0 /nowhere/a"
		cat
	} | log "$1"
}

# head NAME WANT [OPTION]...: the lines of its chains
head_is()
{
	local name=$1 want=$2
	shift 2
	"$pmclog" report "$@" "$tmp/$name" >"$tmp/.all" || return
	grep -E '^  (User chains|Unwound) ' "$tmp/.all" | sed 's/^  //' |
		tr -s ' ' | diff <(printf '%s\n' "$want") - ||
		{ cat "$tmp/.all"; return 1; }
}

tables="Unwound by unwind tables"
missing="Unwound by frame pointers: on x86 the callers of leaf functions, and of\
 code compiled without frame pointers, are missing"

make some <<-EOF2
	ends whole tables
	sample 90 7 $k 0x1010 0x1020
	ends tables
	sample 7 7 $k
	ends tables table
	sample 4 7 0x1010 0x1020
	ends tables depth user
	sample 3 7 0x1010 0x1020
	ends tables
	sample 3 7 0x1010 0x1020
EOF2
text="100 samples: 90.0 % whole, 7.0 % cut: 3 too deep, 3 user stack not in\
 memory, 4 no unwind table, or one that does not fit; 3.0 % end at an unknown caller"
ok "shares and causes, of samples that have a user part" \
	head_is some "User chains $text
$tables"
for how in --self --flat --tree "--flat --sort pid,cpu"; do
	# shellcheck disable=SC2086
	ok "the same with $how" head_is some "User chains $text
$tables" $how
done
ok "info" prints 0 "^  user chains  $text$" "$pmclog" info "$tmp/some"
ok "and how they were found" prints 0 "^  unwound      by unwind tables$" \
	"$pmclog" info "$tmp/some"
ok "verify" prints 0 "^user chains: $text$" "$pmclog" verify "$tmp/some"
ok "and how they were found" prints 0 "^unwound: by unwind tables$" \
	"$pmclog" verify "$tmp/some"

# page NAME FILTER: of the first event's chains in a page
page()
{
	"$pmclog" html "${@:3}" "$tmp/$1" | page_data | jq -c "$2"
}
ok "html" same '[100,0,90,100,7,[["too deep",3],["user stack not in memory",3],'\
'["no unwind table, or one that does not fit",4]],false]' page some \
	'.events[0].chains|[.samples,.untold,.whole,.tables,.cut,.cutBy,.missing]'
ok "html: the same text" same "\"$text\"" page some '.events[0].chains.text'

# what dump says of the last sample, or of the user chain
dumps()
{
	"$pmclog" dump "$tmp/$1" | grep -E "$2" | tail -n 1 | sed 's/ tsc=.*//' |
		tr -s ' '
}
json()
{
	"$pmclog" dump -j "$tmp/$1" | jq -c "select($2)|.ends" | tail -n 1
}
make dumped <<-EOF2
	ends kernel
	late 1 7 7 $k 0x1010
	ends whole tables
	userchain 7 7 0x1010 0x1020
	ends tables depth user kernel table
	sample 1 7 0x1010
EOF2
ok "dump" same "callchain 7 0xfff00f00 0 1 u tables cut_depth cut_user\
 cut_kernel cut_table tid=7" dumps dumped '^callchain'
ok "dump of a late one" same "callchain 7 0xfff00f00 0 2 s late cut_kernel tid=7" \
	dumps dumped ' late '
ok "dump of a user chain" same "userdata hwpmc userchain pid=7 tid=7 first=0\
 ends=whole,tables npcs=2" dumps dumped userchain
ok "dump --json" same '["tables","cut_depth","cut_user","cut_kernel","cut_table"]' \
	json dumped '.record=="callchain"'
ok "dump --json of a user chain" same '["whole","tables"]' json dumped \
	'.extension=="userchain"'
make none <<<"sample 1 7 0x1010"
ok "none where nothing is said" same null json none '.record=="callchain"'

# commands that differ
make commands <<-EOF2
	ends whole tables
	sample 880 7 0x1010 0x1020
	ends tables depth
	sample 80 8 0x1010 0x1020
	ends whole tables
	sample 20 8 0x1010 0x1020
	proc 9 jit
	ends whole
	sample 15 9 0x1010
	proc 10 few
	ends depth
	sample 5 10 0x1010
EOF2
worst()
{
	"$pmclog" report --flat "${@:2}" "$tmp/$1" |
		sed -n '/^User chains worse/,/^$/p' | sed '1,2d;/^$/d' |
		tr -s ' '
}
ok "commands that are worse; not those with few samples" same \
	" 20.0 % 100.0 % 100 nginx: 80 too deep
 100.0 % 0.0 % 15 jit" worst commands
ok "html has them too" same '[["nginx",100,0,20,100,"80 too deep"],'\
'["jit",15,0,15,0,""]]' page commands '.events[0].chains.commands'
none_worse()
{
	[ -z "$(worst "$@")" ]
}
ok "none where all are alike" none_worse some
ok "none where one is alone" none_worse commands --comm nginx
make small <<-EOF2
	ends whole tables
	sample 60 7 0x1010 0x1020
	ends tables depth
	sample 9 8 0x1010 0x1020
EOF2
ok "none of few samples, though they are a part of all" none_worse small

# two events
make events <<-EOF2
	event cycles 2000 0xFFF00F01
	unwind
	ends whole tables
	sample 5 7 0x1010
	pmc 0xFFF00F00
	ends tables user
	sample 4 7 0x1010
EOF2
ok "each event its own" head_is events "User chains 4 samples: 0.0 % whole,\
 100.0 % cut: 4 user stack not in memory
$tables
User chains 5 samples: 100.0 % whole
$tables"

# what comes later
make late <<-EOF2
	ends tables kernel
	late 6 7 7 $k 0x1010
	ends whole tables
	userchain 7 7 0x1010 0x1020
	ends tables
	late 3 7 7 $k 0x1010
	ends tables depth
	userchain 7 7 0x1010 0x1020
	ends tables
	late 1 7 7 $k 0x1010
EOF2
text="10 samples: 60.0 % whole, 40.0 % cut: 3 too deep, 1 user stack not in memory"
for how in --self --flat --tree; do
	ok "user chains that come later, $how" head_is late "User chains $text
$tables" $how
done
ok "info: later" prints 0 "^  user chains  $text$" "$pmclog" info "$tmp/late"
ok "verify: later" prints 0 "^user chains: $text$" "$pmclog" verify "$tmp/late"
ok "html: later, and the kernel's parts are cut as they were" \
	same '[6,4,[["too deep",3],["user stack not in memory",1],'\
'["the kernel'"'"'s own, lost",6]]]' page late \
	'.events[0].chains|[.whole,.cut,.cutBy]'
make ended <<-EOF2
	ends tables
	late 1 71 7 $k 0x1010
	threadexit 71
	ends whole tables
	userchain 71 7 0x1010 0x1020
EOF2
cut="1 sample: 0.0 % whole, 100.0 % cut: 1 user stack not in memory"
ok "after the thread's end" head_is ended "User chains $cut
$tables"
ok "info: after the thread's end" prints 0 "^  user chains  $cut" \
	"$pmclog" info "$tmp/ended"

exported()
{
	"$pmclog" export --to jsonl "$tmp/$1" | jq -c .ends | sort | uniq -c |
		sed 's/^ *//'
}
ok "export --to jsonl, with what comes later" same \
	'3 ["tables","cut_depth"]
1 ["tables","cut_user"]
6 ["whole","tables","cut_kernel"]' exported late

# parts
make whole <<-EOF2
	at 1000000
	ends whole tables
	sample 10 7 $k 0x1010 0x1020
	ends tables
	late 4 7 7 $k 0x1010
	ends whole tables
	userchain 7 7 0x1010 0x1020
	at 5000000
	ends tables depth
	sample 5 8 0x1010 0x1020
	ends whole tables
	sample 15 8 0x1010 0x1020
EOF2
prog="User chains 14 samples: 100.0 % whole
$tables"
nginx="User chains 20 samples: 75.0 % whole, 25.0 % cut: 5 too deep
$tables"
part()
{
	rm -f "$tmp/part"
	"$pmclog" filter "$@" -o "$tmp/part" "$tmp/whole" &&
		"$pmclog" verify "$tmp/part"
}
ok "of a command" head_is whole "$nginx" --comm nginx
ok "of a time" head_is whole "$prog" --time -4ms
cut_comm() { part --comm nginx && head_is part "$nginx"; }
ok "filter keeps how they end: a command" cut_comm
cut_time() { part --time -4ms && head_is part "$prog"; }
ok "a time, with what comes later" cut_time

# callers that are missing
make pointers <<-EOF2
	ends whole
	sample 3 7 0x1010 0x1020
	ends
	sample 1 7 0x1010 0x1020
EOF2
rest="User chains 4 samples: 75.0 % whole, 25.0 % end at an unknown caller"
ok "by frame pointers on x86" head_is pointers "$rest
$missing"
ok "info says it" prints 0 "^  unwound      ${missing#Unwound }$" \
	"$pmclog" info "$tmp/pointers"
ok "verify says it" prints 0 "^unwound: ${missing#Unwound }$" \
	"$pmclog" verify "$tmp/pointers"
ok "html says it" same "[true,\"${missing#Unwound }\"]" page pointers \
	'.events[0].chains|[.missing,.unwound]'
make arm arm64 <<-EOF2
	ends whole
	sample 4 7 0x1010 0x1020
EOF2
ok "on arm64 none are missing" head_is arm \
	"User chains 4 samples: 100.0 % whole
Unwound by frame pointers"
make mixed <<-EOF2
	ends whole
	sample 1 7 0x1010 0x1020
	ends whole tables
	sample 3 7 0x1010 0x1020
EOF2
ok "some by tables" head_is mixed "User chains 4 samples: 100.0 % whole
Unwound 75.0 % by unwind tables, the others by frame pointers"

# views without a line for it
views()
{
	local want=$1 log=$2 bad=0 view
	for view in fold flame "export --to folded" "export --to pprof -o $tmp/.o" \
			"diff --folded $tmp/arm"; do
		# shellcheck disable=SC2086
		"$pmclog" $view "$tmp/$log" 2>&1 >"$tmp/.o" |
			grep -v "^pmclog: .*showing" >"$tmp/.said"
		printf '%s' "$want" | diff - "$tmp/.said" && continue
		echo "$view"
		bad=1
	done
	return $bad
}
ok "fold, flame, export and diff: callers that are missing" views \
	"pmclog: $tmp/pointers: user callers missing (frame pointers on x86)
" pointers
ok "chains that are not whole" views \
	"pmclog: $tmp/some: 90.0 % of user chains whole
" some
ok "nothing where they are" views "" mixed
in_picture() { "$pmclog" flame "$tmp/$1" 2>&1 | grep -c "; $2<"; }
ok "in the picture" same 1 in_picture some "90.0 % of user chains whole"
ok "in the picture: missing" same 1 in_picture pointers \
	"user callers missing (frame pointers on x86)"
ok "in a comparison of callers" prints 0 \
	"^After .*, user callers missing (frame pointers on x86)$" \
	"$pmclog" diff --total "$tmp/arm" "$tmp/pointers"
ok "in one of functions it is nothing" bash -c \
	"! $pmclog diff $tmp/arm $tmp/pointers | grep missing"
ok "in the live view" prints 0 ", 90.0 % of user chains whole$" \
	"$pmclog" top -o - "$tmp/some"

# a part of a log has the part's account
cuts()
{
	"$pmclog" filter "${@:2}" -o "$tmp/part" "$tmp/$1" &&
		"$pmclog" verify "$tmp/part" >"$tmp/.all" &&
		"$pmclog" report "$tmp/part" | grep "^Cut chains" | tr -s ' '
}
ok "what is left of the cut ones" same \
	"Cut chains 80 call chains end early (80.0 %): 80 too deep" \
	cuts commands --comm nginx
ok "none are left" same "Cut chains none" cuts commands --comm jit

# logs that were made before samples told it
untold="User chains 4 samples; how many are whole is not told by this log"
make old pointers <<<"sample 4 7 0x1010 0x1020"
ok "an old log, by frame pointers" head_is old "$untold
$missing"
ok "its samples say nothing, one by one" same "4 null" exported old
ok "info of it" prints 0 "^  unwound      ${missing#Unwound }$" \
	"$pmclog" info "$tmp/old"
make asked <<<"sample 4 7 0x1010 0x1020"
ok "an old log, that tables were asked for" head_is asked "$untold
Unwound by unwind tables or frame pointers: the log does not tell"
make oldlate pointers <<-EOF2
	sample 3 7 0x1010 0x1020
	late 1 7 7 $k 0x1010
EOF2
ok "with one that nothing answers" head_is oldlate "$untold
$missing"
# --bpf says which chains are cut, and nothing of the others
make bpf pointers <<-EOF2
	ends depth
	sample 1 7 0x1010 0x1020
	ends
	sample 3 7 0x1010 0x1020
EOF2
ok "a log of --bpf with a cut chain" head_is bpf "$untold
$missing"
bpf_info()
{
	"$pmclog" "$1" "$tmp/bpf" | grep -E "$2${untold#User chains }"
}
ok "info of it" bpf_info info "user chains *"
ok "verify of it" bpf_info verify "user chains: "
make oldarm pointers arm64 <<<"sample 4 7 0x1010 0x1020"
ok "an old one of arm64" head_is oldarm "$untold
Unwound by frame pointers"
both="104 samples: 90.0 % whole, .* caller; of 4 of them it is not told$"
two()
{
	cat "$tmp/$1" "$tmp/$2" >"$tmp/both"
	"$pmclog" verify "$tmp/both" | grep "^user chains: $both" &&
		"$pmclog" report -e all "$tmp/both" >"$tmp/.all" &&
		grep "^  User chains   $both" "$tmp/.all"
}
make olds <<<"sample 4 7 0x1010 0x1020"
ok "an old log, and one that follows it" two olds some
ok "an old log that follows" two some olds
make kernel <<<"sample 4 7 $k"
ok "no line where no sample has a user part" bash -c "! $pmclog report $tmp/kernel | grep -q 'User chains'"

done_testing
