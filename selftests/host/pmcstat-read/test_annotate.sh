#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -m: places of samples; -a: source lines of chains.
. "$(dirname "$0")/lib.sh"
make_log

hex()
{
	printf '%#x' $(($(symbol "$shapes" "$1") + $2))
}
size()
{
	nm -S "$shapes" | awk -v n="$1" '$4 == n { print "0x" $2; exit }'
}
place()	# FUNCTION OFFSET
{
	echo "$(hex "$1" "$2") $1 $(hex "$1" 0) $(hex "$1" "$(size "$1")")"
}
ok "-m: pc, function, its start and end, for each sample" same "\
     60 $(place leaf 5)
      3 $(place calls 3)
     20 0xffffffff81003010 inner 0xffffffff81003000 0xffffffff81004000
      5 $(place after 2)" bash -c "$pmcstat -R $tmp/log -m - | uniq -c"
ok "-m: and how many samples have no line" prints 0 \
	"^pmcstat: 2 samples are not in the lines of -m: in no function" \
	"$pmcstat" -R "$tmp/log" -m "$tmp/places"
ok "-q: not said" bash -c "$pmcstat -q -R $tmp/log -m - 2>&1 >/dev/null |
	cmp - /dev/null"
ok "-m to a file" bash -c "$pmcstat -R $tmp/log -m $tmp/places &&
	test \$(wc -l <$tmp/places) = 88"

# addr2line looks where a call is, not where it returns to
lines()
{
	local a
	for a in "$@"; do
		addr2line -e "$shapes" "$a" | sed 's/ (disc.*//'
	done
}
"$pmcstat" -R "$tmp/log" -a "$tmp/chains"
first()	# LINES: of the chain of the most samples, the function and the line
{
	awk '{ print $2, $3 }' "$tmp/chains" | head -n "$1"
}
mapfile -t want < <(lines "$(hex leaf 5)" "$(hex calls 8)" "$(hex main 29)")
ok "-a: the lines are addr2line's" same "\
leaf ${want[0]}
calls ${want[1]}
main ${want[2]}" first 3
ok "-a: addresses are those of the chain" same \
	" $(hex leaf 5) $(hex calls 9) $(hex main 30) --" \
	bash -c "head -n 4 $tmp/chains | awk '{ printf \" %s\", \$1 } END { print \"\" }'"
ok "-a: each sample's chain" same 90 grep -c '^--$' "$tmp/chains"
ok "-a: without lines" prints 0 "^0xffffffff81003010 inner ??:0$" \
	cat "$tmp/chains"
ok "-a: without anything" prints 0 "<unknown> ??:0$" cat "$tmp/chains"
ok "-a -z 1: only the place" same 180 bash -c \
	"$pmcstat -R $tmp/log -z 1 -a - | wc -l"
mapfile -t want < <(lines "$(hex leaf 5)")
# code of a unit that its table has no line for
cat >"$tmp/bare.c" <<-EOF
	__asm__(".text\n.type bare, @function\nbare: nop\nnop\n.size bare, .-bare");
	int main(void) { return 0; }
EOF
${CC:-cc} -g -O1 -o "$tmp/bare" "$tmp/bare.c"
{
	load 7 0x10000 "$tmp/bare"
	echo "sample 3 7 0x10001+0x$(nm "$tmp/bare" | awk '$3 == "bare" { print $1 }')"
} | prog_log barelog bare
ok "-a: a place without a line" prints 0 " bare ??:0$" \
	"$pmcstat" -R "$tmp/barelog" -a -
ok "-F: a function without one" prints 0 "^fn=.* bare$" \
	"$pmcstat" -R "$tmp/barelog" -F -
cp "$shapes" "$tmp/whole"
objcopy --only-keep-debug "$tmp/whole" "$shapes.debug"
strip -g -o "$shapes" "$tmp/whole"
objcopy --add-gnu-debuglink="$shapes.debug" "$shapes" 2>/dev/null
"$pmcstat" -R "$tmp/log" -a "$tmp/chains"
ok "-a: lines of a separate file" same "leaf ${want[0]}" first 1
rm "$shapes.debug"
"$pmcstat" -R "$tmp/log" -a "$tmp/chains"
ok "-a: lines of no file" same "leaf ??:0" first 1
cp "$tmp/whole" "$shapes"

# one line table for a compiler that writes no index of addresses
if command -v clang >/dev/null; then
	clang -O1 -g -fPIE -pie -o "$shapes" "$HERE/../reader/programs/shapes.c"
	{
		preamble
		echo "sample 1 7 $(at calls 1)"
	} | log clang
	want=$(lines "$(hex calls 1)")
	ok "-a: without .debug_aranges" same "calls $want" bash -c \
		"$pmcstat -R $tmp/clang -a - | head -n 1 | cut -d' ' -f2-"
else
	skip "-a: without .debug_aranges" "no clang"
fi

# What runs sees another file there than we do.
inside()
{
	local pid lines
	printf '#include <unistd.h>\n\n\n%s\n' \
		'int main(void) { for (;;) pause(); }' >"$tmp/waits.c"
	${CC:-cc} -g -static -Wl,--build-id -o "$tmp/waits" "$tmp/waits.c"
	sed -i 1d "$tmp/waits.c"
	${CC:-cc} -g -static -Wl,--build-id -include unistd.h -o "$tmp/prog" \
		"$tmp/waits.c"
	# shellcheck disable=SC2016
	unshare --mount sh -c 'mount --bind "$1/waits" "$1/prog" &&
		exec "$1/prog"' sh "$tmp" &
	pid=$!
	soon runs "$pid" "$tmp/prog"
	{
		echo "wall $(($(date +%s) + 100))"
		echo "host $(uname -r) $(uname -n)"
		echo "event cpu-clock 1000"
		echo "buildid $(readelf -n "$tmp/waits" |
			sed -n 's/.*Build ID: //p') $tmp/prog"
		echo "proc $pid p"
		load "$pid" 0 "$tmp/waits" "$tmp/prog"
		echo "sample 1 $pid $(symbol "$tmp/waits" main)"
	} | log inside
	lines=$("$pmcstat" -R "$tmp/inside" -a -)
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	grep -q ' main .*waits.c:4$' <<<"$lines" || { echo "$lines"; return 1; }
}
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	ok "-a: the lines of a file in a container" inside
else
	skip "-a: the lines of a file in a container" "not root"
fi
head -c 600 /dev/urandom >"$shapes"
ok "a program that is none has no lines" prints 0 "<unknown> ??:0" \
	"$pmcstat" -R "$tmp/log" -a -

done_testing
