#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Branches and accesses to memory of samples, in every command that shows them, and
# what BOLT makes of them.
. "$(dirname "$0")/lib.sh"

# A program of one's own, with a loop whose branches are known.
cat >"$tmp/hot.s" <<-'EOF'
	.text
	.globl	hot, main
	.type	hot, @function
hot:	.cfi_startproc
	xor	%eax, %eax
top:	add	$1, %eax
	cmp	%edi, %eax
back:	jne	top
leave:	ret
	.cfi_endproc
	.size	hot, .-hot
	.type	main, @function
main:	.cfi_startproc
	sub	$8, %rsp
	mov	$100, %edi
call:	call	hot
after:	xor	%eax, %eax
	add	$8, %rsp
	ret
	.cfi_endproc
	.size	main, .-main
	.section .note.GNU-stack,"",@progbits
EOF

sym()
{
	symbol "$tmp/hot" "$1"
}

# What the hardware would have recorded in the loop, and a look-up in a library.
make_log()	# NAME
{
	local top back leave call hot after
	gcc "${@:2}" -Wl,-q -o "$tmp/hot" "$tmp/hot.s" || return
	b=0x7f0000000000
	[ "$1" = pie ] || b=0
	top=$b+$(sym top) back=$b+$(sym back) leave=$b+$(sym leave)
	call=$b+$(sym call) hot=$b+$(sym hot) after=$b+$(sym after)
	cp "$tmp/hot" "$tmp/$1"
	{
		echo "host 9.9.9-test elsewhere"
		echo "event cycles:u 1000"
		echo "hardware"
		echo "proc 7 prog"
		load 7 "$b" "$tmp/$1"
		echo "map 7 0x600000000000 0x10000 0 /lib/libother.so"
		for ((i = 0; i < 10; i++)); do
			echo "sample 1 7 $top"
			# 2: predicted, 1: not
			echo "detail branch $back $top 2 branch $back $top 1" \
				"branch $call $hot 2"
		done
		echo "sample 1 7 $after"
		echo "detail mem 0x442 weight 14 addr 0x7ffd00001000" \
			"branch $leave $after 1 branch $back $top 2"
		echo "sample 2 7 $after"
		echo "detail mem 0x1082 weight 300 branch 0x600000001000 $hot 2"
		echo "sample 1 7 $after"
		echo "detail hidden 3"
		echo "sample 1 7 $hot"
	} | tee "$tmp/$1.text" | log "$1.log"
}
ok "a program with relocations" make_log pie
ok "a sound log" prints 0 "^ok: .* 15 samples" "$pmclog" verify "$tmp/pie.log"

x()
{
	printf %x "$(sym "$1")"
}
bolt=$(cat <<-EOF
	B $(x back) $(x top) 21 10
	B $(x leave) $(x after) 1 1
	B $(x call) $(x hot) 10 0
	F $(x top) $(x back) 10
	F $(x hot) $(x back) 10
	F $(x top) $(x leave) 1
EOF
)
exported()	# NAME [OPTION]...
{
	"$pmclog" export --to bolt "${@:2}" "$tmp/$1.log" 2>"$tmp/.told" | sort
}
bolt_of()	# NAME
{
	same "$(sort <<<"$bolt
B X:0 $(x hot) 1 0")" exported "$1"
}
ok "BOLT's text, to the letter" bolt_of pie
ok "... which object: said" prints 0 "32 branches in .*/pie\$" \
	cat "$tmp/.told"
ok "... by name" same "$(exported pie)" exported pie --object pie
ok "... by path" same "$(exported pie)" exported pie --object "$tmp/pie"
ok "... no such object" prints 1 "no branches in nothing" \
	"$pmclog" export --to bolt --object nothing "$tmp/pie.log"
ok "... only BOLT has use for a name" prints 2 "csv has no use for --object" \
	"$pmclog" export --to csv --object pie "$tmp/pie.log"
sed "s,$tmp/pie,$tmp/nowhere," <"$tmp/pie.text" | log nowhere.log
ok "... the program is not here" prints 1 "cannot read .*/nowhere$" \
	"$pmclog" export --to bolt "$tmp/nowhere.log"
log none <<-EOF
	event cpu-clock 1000000
	proc 7 prog
	sample 60 7 0x10
EOF
ok "... no branches at all" prints 1 "has no branches of programs" \
	"$pmclog" export --to bolt "$tmp/none"

# perf2bolt of any version; the newest
perf2bolt=$(printf '%s\n' /usr/lib/llvm-*/bin/perf2bolt | sort -V | tail -n 1)
perf2bolt_takes()	# NAME
{
	"$pmclog" export --to bolt -o "$tmp/pa" "$tmp/$1.log" 2>/dev/null &&
		"$perf2bolt" -pa -p "$tmp/pa" -o "$tmp/fdata" "$tmp/$1" \
			>"$tmp/.text" 2>&1 &&
		grep -q "mismatching disassembled function contents: 0 " "$tmp/.text" &&
		grep -qx "1 hot $(from back) 1 hot $(from top) 10 21" "$tmp/fdata" &&
		grep -qx "1 main $(in_main call) 1 hot 0 0 10" "$tmp/fdata" && return
	cat "$tmp/.text" "$tmp/fdata"
	return 1
}
from()
{
	printf %x $(($(sym "$1") - $(sym hot)))
}
in_main()
{
	printf %x $(($(sym "$1") - $(sym main)))
}
if [ -x "$perf2bolt" ]; then
	ok "perf2bolt gives branches to functions" perf2bolt_takes pie
	make_log fixed -no-pie
	ok "... of a program at a fixed address" perf2bolt_takes fixed
	make_log pie
else
	skip "perf2bolt gives branches to functions" "no perf2bolt here"
	skip "... of a program at a fixed address" "no perf2bolt here"
fi

rows()	# KEYS
{
	"$pmclog" report --flat -l 0 -s "$1" "$tmp/pie.log" |
		profile_rows | cut -d ' ' -f 3- | sort
}
ok "report by source and weight" same "\
1 L2 hit 14
1 Local RAM miss 300
13 - -" rows mem,weight
ok "report by prediction" same "\
1 mispredicted
11 predicted
3 -" rows mispredict
ok "report by the ends of branches" same "\
1 [unknown] hot
1 hot main
10 hot hot
3 - -" rows symbol_from,symbol_to

# dump and the lines of JSON
at()
{
	printf '0x7f00000%05x' "$(sym "$1")"
}
ok "dump, an access" prints 0 \
	" has=0xf hidden=0 source=0x442 (load, L2 hit) weight=0xe addr=0x7ffd00001000 nbranches=2 " \
	"$pmclog" dump "$tmp/pie.log"
ok "dump, branches" prints 0 "^\.\.\.  *$(at back) $(at top) flags=0x1 mispredicted$" \
	"$pmclog" dump "$tmp/pie.log"
ok "dump, what is hidden" prints 0 " has=0x1 hidden=3 nbranches=0 " \
	"$pmclog" dump "$tmp/pie.log"
# of the sample that has both
details()	# COMMAND [OPTION]...
{
	"$pmclog" "$@" "$tmp/pie.log" | jq -c 'select(.mem == "L2 hit") |
		[.mem, .access, .weight, .addr, [.branches[].prediction]]'
}
ok "dump, as JSON" same \
	'["L2 hit","load","0xe","0x7ffd00001000",["mispredicted","predicted"]]' \
	details dump -j
ok "lines of JSON" same \
	'["L2 hit","load",14,"0x7ffd00001000",["mispredicted","predicted"]]' \
	details export --to jsonl

# A part of the log has the records of its samples, and is as sound.
part()
{
	"$pmclog" filter "$@" -o "$tmp/part" "$tmp/pie.log" &&
		"$pmclog" verify "$tmp/part" && "$pmclog" dump "$tmp/part" |
		grep -c "hwpmc detail"
}
ok "a part: all of it" prints 0 "^13$" part --comm prog
ok "a part: by frames" prints 0 "^10$" part --sym hot

# A chain that came late has lost nothing.
log late <<-EOF
	event cycles:u 1000
	hardware
	proc 7 prog
	late 1 7 7 0x1000
	detail mem 0x442 branch 0x1000 0x1008 2
	userchain 7 7 0x1000 0x2000
EOF
late()
{
	"$pmclog" export --to jsonl "$tmp/late" |
		jq -c '[.mem, .branches[0].from, (.stack | length)]'
}
ok "a chain that came late" same '["L2 hit","0x1000",2]' late

# A process that is told again has not ended.
log late <<-EOF
	event cycles:u 1000
	hardware
	proc 7 prog
	late 1 7 7 0x1000
	detail mem 0x442 branch 0x1000 0x1008 2
	exit 7
	proc 7 prog
	userchain 7 7 0x1000 0x2000
EOF
ok "of a process that was told again meanwhile" same '["L2 hit","0x1000",2]' late
done_testing
