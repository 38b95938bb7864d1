#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report, fold and flame with what was inlined and with source lines.
. "$(dirname "$0")/lib.sh"

file=$tmp/prog
base=$((0x555500000000))
${CC:-cc} -g -O2 -gdwarf-4 -o "$file" "$HERE/programs/inlines.c"

# inside FUNCTION STRIDE: addresses inside, and how many samples each gets
inside()
{
	nm -S "$file" | awk -v f="$1" '$4 == f { print "0x" $1, "0x" $2 }' |
	while read -r start size; do
		for ((i = 0; i < size; i += $2)); do
			printf '%#x %d\n' $((start + i)) $((i % 5 + 1))
		done
	done
}

# where main calls something, and the return address of that
call=$(objdump -d --no-show-raw-insn "$file" |
	awk '/^[0-9a-f]+ <main>:/{ on = 1 } on && /call/{ print "0x" $1; exit }' |
	tr -d :)
ret=$(objdump -d --no-show-raw-insn "$file" |
	awk -v c="${call#0x}:" 'on{ print "0x" $1; exit } $1 == c { on = 1 }' |
	tr -d :)

for f in main table cold; do
	inside $f 3
done >"$tmp/at"
{
	load 7 $base "$file"
	while read -r at n; do
		echo "sample $n 7 $base+$at $base+$ret"
	done <"$tmp/at"
} | prog_log l

# stacks [LINES]: the folded stacks that addr2line's answers amount to
stacks()
{
	{
		printf '%#x\n' $((ret - 1))
		cut -d' ' -f1 "$tmp/at"
	} | addr2line -apfi -e "$file" | awk -v lines="${1:-}" '
		function flush() {
			if (!n)
				return
			s = ""
			for (i = n; i; i--)
				s = s ";" name[i] (i < n ? "_[i]" : "")
			if (at == 1)
				caller = s
			else
				count["prog" caller s] += samples[at - 1]
		}
		FILENAME != "-" {
			samples[NR] = $2
			next
		}
		{
			sub(/ \(discriminator [0-9]+\)/, "")
			sub(/\.cold at/, " at")
		}
		/^0x/ {
			flush()
			at++
			n = 0
			sub(/^0x[^ ]* /, "")
		}
		{
			sub(/^ \(inlined by\) /, "")
			n++
			where = $3
			sub(/.*\//, "", where)
			name[n] = $1 (lines ? " (" where ")" : "")
		}
		END {
			flush()
			for (s in count)
				print s, count[s]
		}' "$tmp/at" - | sort
}

agrees()
{
	stacks "$1" >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -gt 10 ] || return
	grep -q '_\[i\];[a-z].*_\[i\] ' "$tmp/want" || return
	shift
	"$pmclog" fold "$@" "$tmp/l" | sed 's/\.cold\b//g' | sort >"$tmp/got"
	diff "$tmp/want" "$tmp/got"
}
ok "fold --inline: the stacks that addr2line has" agrees "" --inline
ok "... and their lines with --by-line" agrees 1 --inline --by-line
ok "none of it if it is not asked for" test \
	"$("$pmclog" fold "$tmp/l" | grep -c -F -e '[i]' -e .c:)" = 0

# rows of the flat profile by line, as addr2line and sort have them
rows()
{
	cut -d' ' -f1 "$tmp/at" | addr2line -e "$file" |
	sed 's/ (discriminator .*//' | paste -d' ' - "$tmp/at" |
	awk '{ count[$1] += $3 }
	     END { for (s in count) print s, count[s] }' | sort >"$tmp/want"
	"$pmclog" report --flat -l 0 -s line "$tmp/l" |
	awk '/\.c:[0-9]+$/{ print $4, $3 }' | sort >"$tmp/got"
	[ "$(wc -l <"$tmp/got")" -gt 10 ] && diff "$tmp/want" "$tmp/got"
}
ok "report -s line: the samples of each line" rows

total()
{
	"$pmclog" report --flat -l 0 -s "$@" "$tmp/l" |
	awk '/^ Self %/{ on = 1; next } on && $3 ~ /^[0-9,]+$/{
		gsub(",", "", $3)
		n += $3
	} END { print n }'
}
want=$(awk '{ n += $2 } END { print n }' "$tmp/at")
ok "all samples are in some row" test \
	"$(total line)" = "$want" -a "$(total file)" = "$want" -a \
	"$(total sym,line --inline)" = "$want" -a \
	"$(total comm,dso,sym,file --inline --by-line)" = "$want"
ok "report -s file" prints 0 "100.00 *$want  $HERE/programs/inlines.c\$" \
	"$pmclog" report --flat -s file "$tmp/l"
ok "report --inline marks what was" prints 0 " mix \[i\]\$" \
	"$pmclog" report --inline --flat -s sym "$tmp/l"
ok "the call tree has it too" prints 0 '`-rotate \[i\]' \
	"$pmclog" report --inline --tree -l 0 "$tmp/l"
ok "and the flame graph" prints 0 "^prog, inlined, [0-9]* samples" \
	"$pmclog" flame --inline "$tmp/l"

# What is inlined has the samples, not the function that it is in.
inlined=$(cut -d' ' -f1 "$tmp/at" | addr2line -apfi -e "$file" |
	awk '/inlined by/{ print at; exit } { at = $1 }' FS=:)
prog_log i <<-EOF
	$(load 7 $base "$file")
	sample 4 7 $base+$inlined $base+$ret
EOF
diff_rows()
{
	"$pmclog" diff --inline -l 0 "$@" "$tmp/i" "$tmp/i" |
	awk 'NR > 5 { print $1 }'
}
ok "diff --inline: the functions with samples" same 100.00 diff_rows
ok "and their callers, with --total" prints 0 "^0.00\$" diff_rows --total
ok "-s nonsense" prints 2 "time, file, line, mem, weight, mispredict, symbol_from, symbol_to$" \
	"$pmclog" report -s nonsense "$tmp/l"

# the kernel, moved by 32 MB, with a vmlinux that has lines
kernel=$tmp/vmlinux
${CC:-cc} -g -O2 -gdwarf-4 -static -nostdlib -ffreestanding -no-pie \
	-Wl,-Ttext=0xffffffff81000000 -mcmodel=kernel -fno-pic \
	-fno-stack-protector -Wl,-e,main -Dabort=__builtin_trap \
	-o "$kernel" "$HERE/programs/kernelish.c" 2>"$tmp/.cc"
slide=$((0x2000000))
at=$(($(nm "$kernel" | awk '$3 == "sys_work" { print "0x" $1 }')))
prog_log k <<-EOF
	kernel $(printf '%#x' $((at + slide))) sys_work
	sample 3 7 $(printf '%#x' $((at + slide)))
EOF
ok "the kernel's, by its vmlinux" same \
	"prog;sys_work (kernelish.c:17)_[k];spin (kernelish.c:7)_[i] 3" \
	"$pmclog" fold --inline --by-line -k "$kernel" "$tmp/k"

# a file that is not the one that ran has nothing to say
prog_log other <<-EOF
	$(load 7 $base "$file")
	buildid 00112233445566778899aabbccddeeff00112233 $file
	sample 1 7 $base+$(symbol "$file" main)
EOF
ok "a file with another build-id" same "prog;[prog] 1" \
	"$pmclog" fold --inline --by-line "$tmp/other"
done_testing
