#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The report for a browser: sound whatever the names, of a bounded size, true
# to the log, and at work in a browser where there is one.
. "$(dirname "$0")/lib.sh"

kallsyms reference do_read do_entry '</script><img/src=x/onerror=window.hit=1>' - end
mod_kallsyms
log plain <<-EOF
	kernel $k reference
	host 6.12-test node
	event cycles 2000 0xFFF00F01
	event cpu-clock 1000000
	rate 0 104 103
	drop 0 3
	drop 2 2
	proc 7 alpha
	proc 8 beta
	module 0xffffffffc0100000 0x2000 mymod
	map 7 0x10000 0x1000 0 /x/lib
	map 7 0x20000 0x1000 0 /x/other
	at 500000000
	sample 40 7 0x10010
	pmc 0xFFF00F01
	at 1000000000
	sample 25 7 $k+0x1010 $k+0x2020 $k+0x1020
	pmc 0xFFF00F00
	at 2000000000
	sample 30 8 $k+0x1010 $k+0x2020
	sample 10 8 0xffffffffc0100010 $k+0x1010 $k+0x2020
	tid 71
	at 3200000000
	sample 20 7 0x20010 0x10010
	at 4000000000
EOF
page()	# NAME [OPTION]...
{
	"$pmclog" html -k "$tmp/kallsyms" -o "$tmp/$1.html" "${@:2}" "$tmp/$1"
}
ok "it is made" page plain
html=$tmp/plain.html
ok "to standard output" bash -c "$pmclog html -k $tmp/kallsyms $tmp/plain |
	cmp - $html"
ok "from standard input" bash -c "$pmclog html -k $tmp/kallsyms -t plain - \
	<$tmp/plain | grep -c '\"samples\":100,'"
ok "wrong usage" prints 2 "try: pmclog html --help" "$pmclog" html --nonsense
ok "two logs" prints 2 "one log at a time" "$pmclog" html a b
ok "where it can't be written" exits 1 page plain -o "$tmp/no/x.html"
log none <<<"event cpu-clock 1000"
ok "no samples, no page" prints 1 "no samples to show" page none

# data NAME FILTER [OPTION]: of the data block, by jq
block()
{
	page_data <"$tmp/$1.html"
}
data()
{
	block "$1" | jq -c "${@:2}"
}
ok "its data is JSON" same '[25,100]' data plain '[.events[].samples]'
cp "$tmp/plain" "$tmp/part"
ok "only what is asked for" page part --pid 8 -e cpu-clock
ok "and how much more there was" same '[[40,60]]' \
	data part '[.events[]|[.samples,.leftOut]]'

# chains that are completed later: numbers of chains change for that
log late <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 7 alpha
	proc 8 beta
	map 7 0x10000 0x1000 0 /x/lib
	map 7 0x20000 0x1000 0 /x/other
	map 7 0x30000 0x1000 0 /x/third
	late 4 8 8 $k+0x2010 0x50010
	since
	late 5 7 7 $k+0x1010 0x10010
	sample 3 7 0x20010
	userchain 7 7 0x10010 0x30010
	sample 2 7 0x30010 0x20010
EOF
ok "late chains" page late

# what was inlined, which fold marks
${CC:-cc} -g -O2 -gdwarf-4 -o "$tmp/prog" "$HERE/programs/inlines.c"
{
	load 7 0 "$tmp/prog"
	nm -S "$tmp/prog" | awk '$4 == "main" { print "0x" $1, "0x" $2 }' |
	while read -r start size; do
		for ((i = 0; i < size; i += 3)); do
			printf 'sample 1 7 %#x\n' $((start + i))
		done
	done
} | prog_log inlines
inlined()
{
	"$pmclog" fold --inline "$tmp/inlines" | sed 's/ [0-9]*$//' |
		tr ';' '\n' | sed -n 's/_\[i\]$//p' | sort -u
}
ok "what was inlined" page inlines --inline
ok "is marked" same "$(inlined)" data inlines '[
	range(0; .funcs|length; 3) as $i |
	select(.objects[.funcs[$i + 1]] | endswith(", inlined")) |
	.names[.funcs[$i]]] | sort | .[]' -r
ok "which is something" [ "$(inlined | wc -l)" -ge 2 ]

# the hashes are of what is in the page, as a browser takes them
hash_of()	# style|script
{
	awk -v tag="$1" '
		!on && $0 ~ "^<" tag ">" { on = 1; sub("^<" tag ">", "") }
		on && $0 ~ "^</" tag ">" { exit }
		on' "$html" | sha256sum | cut -c 1-64 | tr a-f A-F |
		basenc --base16 -d | base64
}
for tag in style script; do
	ok "the policy has the hash of the $tag" \
		grep -qF "$tag-src 'sha256-$(hash_of $tag)'" "$html"
done
ok "the policy forbids all else" grep -q "content=\"default-src 'none';" "$html"
ok "nothing is referred to" bash -c \
	"! grep -nE '(https?:)?//[a-z]+\.|src=[^x]|href=|@import|url\(' $html"

# names that would like to be more than names
cat >"$tmp/evil.txt" <<-'EOF'
	event <b>ev</b>&quot;"' 1000
	host 6.1\xe2\x80\xa9 <script>alert(1)</script>
	proc 7 </script><b>
	proc 8 -->\x01\xff
	proc 9 \xe2\x80\xa8\x1b[31m"'
	map 7 0x10000 0x1000 0 /x/<!--<script>
	map 7 0x20000 0x1000 0 /x/"onmouseover="alert(5)
	map 7 0x30000 0x1000 0 /x/\u003c\
	sample 5 7 0x10010 0x20010 0x30010
	sample 6 8 0xffffffff81003010
	sample 5 9 0x10
EOF
{ echo "kernel $k reference"; cat "$tmp/evil.txt"; } | log evil
ok "a page of hostile names" page evil -t '</title><script>alert(7)</script>'
ok "its data is JSON too" same '["</script><b>","-->\\x01\\xff"]' \
	data evil '[.comms[]|select(test("script|xff"))]|sort|reverse'
inside()	# no byte that ends or begins anything
{
	! block evil | grep -nP '[<>&\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\xa8\xa9]'
}
ok "and nothing in it can end it" inside

log damaged <<-EOF
	event cpu-clock 1000000
	sample 50 7 0x10
	cut
EOF
printf 'garbage that is no record' >>"$tmp/damaged"
ok "a damaged log is shown up to there" exits 1 page damaged
ok "which the page tells" same true data damaged '.log.damage|length > 10'

# more of everything than a page takes: paths, time, processes; there are ten
# samples every 10 ms
for i in {0..15}; do
	printf 'ffffffff810040%x0 T f%d\n' "$i" "$i"
done >>"$tmp/kallsyms"
awk -v k="$k" 'BEGIN {
	print "kernel", k, "reference"
	print "event cpu-clock 1000000"
	srand(1)
	for (i = 1000; i < 4000; i++)
		print "proc", i, "c" i % 7
	for (i = 0; i < 60000; i++) {
		if (i % 10 == 0)
			printf "at %.0f\n", i * 1000000
		printf "sample 1 %d", 1000 + i * 7 % 3000
		for (j = 0; j < 6; j++)
			printf " %s+%d", k, 16385 + int(rand() * 16) * 16
		print ""
	}
}' </dev/null | log big
ok "a large log" page big
log rate <<-EOF
	kernel $k reference
	freq cycles 4000
	proc 7 alpha
	proc 8 beta
	period 1000
	at 1000000000
	sample 10 7 $k+0x1010 $k+0x2020
	at 2000000000
	period 9000
	sample 10 8 $k+0x2020
	at 3000000000
EOF
ok "a log of an event that is sampled at a rate" page rate
# the page shows times to the millisecond, whatever the time
prog_log month <<-EOF
	sample 1 7 0x10
	at 2592000123456789
	sample 1 7 0x10
EOF
ok "a log of a month" page month
ok "when it ended" same 2592000.123 data month '(.series[5] * 1000 | floor) / 1000'
# more events than a page takes
{
	echo "kernel $k reference"
	for i in {1..66}; do
		printf 'event raw:%d 1000 0xFFF0%02X01\n' "$i" "$i"
	done
	for i in {1..66}; do
		printf 'pmc 0xFFF0%02X01\nsample %d 7 %s+0x1010\n' "$i" "$i" "$k"
	done
} | log events
ok "a log of many events" page events
ok "has those with most samples" same '[64,2,3]' \
	data events '[(.events|length), .eventsLeftOut, ([.events[].samples]|min)]'
# slices of microseconds
prog_log short <<-EOF
	sample 3 7 0x10
	at 100000
	sample 2 7 0x10
EOF
ok "a log that is over in no time" page short
"$pmclog" fold -k "$tmp/kallsyms" "$tmp/big" >"$tmp/big.folded"
ok "has a small page" bash -c "[ \$(stat -c %s $tmp/big.html) -lt 4000000 ]"

browser=$(command -v chromium || command -v chromium-browser)
if [ -n "$browser" ]; then
	PYTHONDONTWRITEBYTECODE=1 timeout 500 python3 "$HERE/python/html_checks.py" \
		"$browser" "$tmp/profile" "$tmp" >"$tmp/checks" 2>&1
	ok "the browser came to an end" grep -q "nothing is fetched" "$tmp/checks"
	while IFS= read -r line; do
		name=${line#not }
		name=${name#ok }
		ok "${name%%:*}" bash -c '[[ $1 == ok* ]] || { echo "$1"; false; }' \
			- "$line"
	done <"$tmp/checks"
else
	skip "in a browser" "no chromium"
fi

done_testing
