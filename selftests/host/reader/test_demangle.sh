#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Demangled names beside those of c++filt: all of libstdc++, and Rust and D.
. "$(dirname "$0")/lib.sh"

lib=$("${CXX:-c++}" -print-file-name=libstdc++.so.6)
nm -D --format=posix --defined-only "$lib" | sed 's/[@ ].*//' |
	awk '/^_Z/ && length < 400' | sort -u | awk 'NR % 3 == 1' >"$tmp/c++"
cat >"$tmp/rust" <<-EOF
	_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE
	_ZN71_\$LT\$Test\$u20\$\$u2b\$\$u20\$\$u27\$static\$u20\$as\$u20\$foo..Bar\$LT\$Test\$GT\$\$GT\$3bar17h930b740aa94f1d3aE
	_RNvCs1234_7mycrate3foo
	_RNvNtCs1234_7mycrate6module4main
	_RNvMCs1234_7mycrateNtB2_4Type6method
	_RINvNtC3std3mem8align_ofjEC3foo
	_RNCNvC4core3foo0B3_
	_RNvB_1a
EOF
cat >"$tmp/d" <<-EOF
	_D3std5stdio4File5closeMFNfZv
	_D8demangle4testFaZv
	_D8demangle3fooFPFiZvZv
	_Dmain
	_D1
EOF

# shows NAMES: what is made of each, in order; one place for each
shows()
{
	{
		echo ".text"
		awk '{ printf ".globl \"%s\"\n.type \"%s\", @function\n" \
			"\"%s\": nop\n.size \"%s\", 1\n", $1, $1, $1, $1 }' "$1"
		echo '.section .note.GNU-stack, "", @progbits'
	} >"$tmp/names.s"
	as -o "$tmp/names.o" "$tmp/names.s" &&
		ld -shared -o "$tmp/names" "$tmp/names.o" || return
	{
		load 7 $((0x7f0000000000)) "$tmp/names"
		nm --format=posix "$tmp/names" |
			awk '$2 == "T" { print "sample 1 7 0x7f0000000000+0x" $3 }'
	} | prog_log names.log p
	"$pmclog" fold "$tmp/names.log" | sed 's/^p;//; s/ [0-9]*$//' | sort
}

# as_filt NAMES [OPTION...]
as_filt()
{
	shows "$1" >"$tmp/got"
	# without -i it tells what std::string is; semicolons separate frames
	c++filt -i "${@:2}" <"$1" | tr ';' ':' | sort >"$tmp/want"
	[ "$(sort -u "$tmp/got" | wc -l)" -gt 4 ] &&
		diff <(sort -u "$tmp/want") <(sort -u "$tmp/got") | head -20
	[ "${PIPESTATUS[0]}" = 0 ] && cmp <(sort -u "$tmp/want") \
		<(sort -u "$tmp/got")
}
ok "$(wc -l <"$tmp/c++") names of libstdc++" as_filt "$tmp/c++"
ok "Rust, both ways to mangle" as_filt "$tmp/rust"
ok "D" as_filt "$tmp/d" -s dlang

# what would take all memory or all stack
perl -e '
	print "_Z3fooN", "St4pair" x 900, "E\n";
	print "_ZN1aI", "S0_IS0_I" x 300, "\n";
	print "_Z1f", "PF" x 1500, "i", "E" x 1500, "\n";
	print "_R", "INvC1a1b" x 400, "\n";
	print "_RNvB", "_" x 3000, "\n";
	print "_D", "3abc" x 900, "Z\n";
	# so does each of these
	print "_D1fFiHQcQe", "HQgQi" x 60, "Zv\n";
	# each template parameter doubles the one before it
	print "_Z1fI1aE", join("", map { "S" . ($_ < 10 ? $_ : chr(55 + $_)) .
		"_" } 0 .. 30), "\n"; my $s = "_Z1f1aI1bE";
	print $s . "S0_IS0_S0_E" . join("", map { my $n = $_ < 11 ?
		$_ - 1 : chr(54 + $_); "1tIS${n}_S${n}_E" } 2 .. 33), "\n";
' >"$tmp/evil"
evil()
{
	shows "$tmp/evil" >"$tmp/got"
	# so many names came in; what can't be demangled is shown cut
	[ "$(wc -l <"$tmp/got")" = "$(sort -u "$tmp/evil" | wc -l)" ] &&
		[ "$(awk 'length > 2047' "$tmp/got" | wc -l)" = 0 ]
}
ok "names that grow without bounds" evil

# what prints nothing for years: the lifetimes of a part that is left out, and a search for a
# pack in types that double
perl -e '
	print "_RNvMINvC1a1bFGzzzzzzz_EuEuE1cC1$_\n" for "a" .. "z";
	my @n = (0 .. 9, "A" .. "Z");
	my @s = ("S_", map { "S${_}_" } @n);
	print "_Z1fDp1aI", "S_I" x 33, "iiE", map({ "$s[$_]E" } 1 .. 33), "\n";
' >"$tmp/slow"
slow()
{
	ulimit -t 60
	shows "$tmp/slow" >"$tmp/got" 2>"$tmp/slow.err" && sort "$tmp/slow" | cmp - "$tmp/got" &&
		grep -q 'many names take too long to demangle' "$tmp/slow.err"
}
in_shell()
{
	("$@")
}
ok "names that take forever" in_shell slow
done_testing
