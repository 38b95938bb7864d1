#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A damaged clock is one record's, and says nothing of the log.
. "$(dirname "$0")/lib.sh"
export TZ=UTC

# ten samples a second for ten seconds, then nothing for twenty
ten()
{
	local i
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	for ((i = 0; i < 100; i++)); do
		# the first is behind what was just written
		((!i)) || echo "at $((i * 100000000))"
		echo "sample 1 7 0x10010"
	done
	echo "at 30000000000"
	echo "sample 1 7 0x10010"
}
ten | log whole
{
	ten
	echo cut
} | log cut

# wild LOG OUT NUMBER CLOCK [NUMBER CLOCK]...: clocks of records, from the end
# if the number is negative; x stands for a flipped bit
wild()
{
	perl -e '
		my ($in, $out, %clock) = @ARGV;
		local $/;
		open(my $f, "<", $in); binmode $f; my $s = <$f>;
		my @at;
		for (my $o = 0; $o + 16 <= length $s;) {
			push @at, $o;
			$o += unpack("V", substr($s, $o, 4)) & 0xffff;
		}
		for my $n (keys %clock) {
			my $v = $clock{$n};
			my $o = $at[$n] + 8;
			$v = unpack("Q<", substr($s, $o, 8)) ^ 1 << $1
				if $v =~ /^x(.*)/;
			substr($s, $o, 8) = pack("Q<", $v);
		}
		open($f, ">", $out); binmode $f; print $f $s;' \
		"$tmp/$1" "$tmp/$2" "${@:3}"
}

# lasted LOG SECONDS: so says all that says it; a third of it is a third
lasted()
{
	"$pmclog" report "$tmp/$1" >"$tmp/got"
	grep -q "^When .*, $2 s\$" "$tmp/got" &&
		grep -q "^  Samples .* over ${3:-30.000} s\$" "$tmp/got" ||
		{ grep -E 'When|  Samples' "$tmp/got"; return 1; }
	"$pmclog" report --time 0%-50% "$tmp/$1" >"$tmp/got"
	grep -qE "^  Samples  *(99|100): .*of 101; " "$tmp/got" ||
		{ grep '  Samples' "$tmp/got"; return 1; }
	"$pmclog" flame "$tmp/$1" | grep -q "samples in 30.00 s" || return
	"$pmclog" html -o "$tmp/page" "$tmp/$1" &&
		grep -q '"seconds":30[,.]' "$tmp/page" &&
		grep -q '"heatSlice":0\.0' "$tmp/page" ||
		{ grep -o '"seconds":[^,]*\|"heatSlice":[^,]*' "$tmp/page"; return 1; }
	"$pmclog" filter --time 0%-50% -o "$tmp/part" "$tmp/$1" &&
		[ "$("$pmclog" dump "$tmp/part" | grep -c callchain)" -ge 99 ]
}
ok "a log as it was" lasted whole 30.000
ok "not closed" lasted cut 30.000

for bad in x63 x62 x50 x45 x40 x36 0 18446744073709551615 1234567890123456789
do
	wild whole w 50 $bad
	ok "one of the middle: $bad" lasted w 30.000
	wild whole w 0 $bad
	ok "the first: $bad" lasted w 30.000
	wild whole w 20 $bad 40 77$bad 60 0
	[[ $bad == x* ]] && wild whole w 20 $bad 40 x35 60 x60
	ok "some: $bad" lasted w 30.000
	wild cut w 40 $bad
	ok "of a log that was not closed: $bad" lasted w 30.000
done
for bad in x63 x62 x50 x45 0 18446744073709551615 1234567890123456789; do
	wild whole w -1 $bad
	ok "the last: $bad" lasted w 30.000
done

# What was changed is said.
told()	# LOG NUMBER WORDS
{
	"$pmclog" report "$tmp/$1" >"$tmp/got" 2>"$tmp/err" &&
		"$pmclog" info "$tmp/$1" >>"$tmp/got" &&
		[ "$(grep -c "^[Rr]epaired  *$2 with a damaged time: " \
			"$tmp/got")" = 2 ] &&
		grep -q ": repaired $3\$" "$tmp/err" || {
			cat "$tmp/got" "$tmp/err"
			return 1
		}
	"$pmclog" html "$tmp/$1" 2>/dev/null |
		grep -q "\"wrongTimes\":${2% *},"
}
untold()
{
	! { "$pmclog" report "$tmp/whole" && "$pmclog" info "$tmp/whole"; } |&
		grep -i repaired
}
wild whole w 20 x50 40 x62 -1 0
ok "three are counted" told w "3 records" "3 damaged times"
wild whole w 0 x50
ok "the first" told w "1 record" "1 damaged time"
cat "$tmp/w" "$tmp/whole" "$tmp/w" >"$tmp/several"
each_told()
{
	"$pmclog" info "$tmp/several" | awk '/^log/ { n++ }
		/^repaired/ { printf "%d:%s ", n, $2 }' | grep -qx "1:1 3:1 "
}
ok "of logs that follow each other" each_told
ok "none" untold

# A clock that what follows agrees with is right, wherever it is.
{
	ten
	echo "at 36000000000000"
	echo "sample 1 7 0x10010"
	echo "sample 1 7 0x10010"
} | log night
slept()
{
	"$pmclog" report "$tmp/night" | grep -q '^When .*, 36000.000 s$'
}
ok "hours without a sample" slept

# A pipe that brings them one at a time says the same of them.
{
	ten
	for hour in 10 12 14 15 16; do
		echo "at $((hour * 3600000000000))"
		echo "sample 1 7 0x10010"
	done
} | log lone
slowly()	# LOG: its end a record at a time, each when that before is read
{
	perl -e '
		local $/; binmode STDIN; my $s = <STDIN>; $| = 1;
		for (my $o = 0; $o + 16 <= length $s;) {
			my $len = unpack("V", substr($s, $o, 4)) & 0xffff;
			syswrite(STDOUT, substr($s, $o, $len));
			$o += $len;
			next if $o + 500 < length $s;
			for (my $left = 1; $left;) {
				my $n = pack("i", 0);
				select(undef, undef, undef, 0.01);
				ioctl(STDOUT, 0x541b, $n) or die; # FIONREAD
				$left = unpack("i", $n);
			}
			select(undef, undef, undef, 0.02);
		}' <"$tmp/$1"
}
by_pipe()	# LOG
{
	"$pmclog" export --to csv -o "$tmp/want" "$tmp/$1" &&
		slowly "$1" | "$pmclog" export --to csv -o "$tmp/got" - &&
		diff "$tmp/want" "$tmp/got"
}
ok "hours without a sample, by a pipe" by_pipe lone
wild lone w -3 x50
ok "one of them damaged, by a pipe" by_pipe w

# All samples of a pack have their clocks by the pack's.
golden=$HERE/../log/golden
in_pack()	# NUMBER
{
	"$pmclog" report "$golden/packed.pmclog" | grep '^When' >"$tmp/want"
	perl -e '
		local $/; binmode STDIN; my $s = <STDIN>; my $n = 0;
		for (my $o = 0; $o + 24 <= length $s;) {
			my ($h, $sub) = unpack("Vx16v", substr($s, $o, 22));

			# PMCLOG_EXT_SAMPLES; the highest byte of the clock
			substr($s, $o + 15, 1) ^= "\x40"
				if $sub == 9 && $n++ == $ARGV[0];
			$o += $h & 0xffff;
		}
		die "no such pack" if $n <= $ARGV[0];
		print $s;' "$1" <"$golden/packed.pmclog" >"$tmp/p" || return
	cmp -s "$golden/packed.pmclog" "$tmp/p" && return 1
	"$pmclog" report "$tmp/p" | grep '^When' | diff "$tmp/want" -
}
ok "a pack's" in_pack 0

done_testing
