#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of kernel functions.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/map" <<-EOF
	0000000000000000 A fixed_percpu_data
	ffffffff81000000 T _stext
	ffffffff81000000 T startup_64
	ffffffff81001000 T reference
	ffffffff81002000 t do_work
	ffffffff81002000 T do_work_alias
	ffffffff81002800 d not_code
	ffffffff81003000 T last_function
	ffffffff81004000 R _etext_and_data
EOF
kernel_log()
{
	log "$1" <<-EOF
		host ${4:-9.9.9-test} elsewhere
		kernel $3 reference
		event cpu-clock 1000
		proc 7 prog
		module 0xffffffffc0100000 0x2000 mymod
		module 0xffffffffc0200000 0x1000 other
		sample 1 7 $2+0x0 $2+0x2010 $2+0x1010
		sample 2 7 $2+0x2900
		sample 4 7 $2+0x3fff
		sample 8 7 $2+0x4000
		sample 16 7 0xffffffffc0100500
		sample 32 7 0xffffffffc0200010
	EOF
}

want="\
prog;[kernel]_[k] 10
prog;[mymod]_[k] 16
prog;[other]_[k] 32
prog;last_function_[k] 4
prog;reference_[k];do_work_alias_[k];startup_64_[k] 1"

kernel_log k1 0xffffffff81000000 0xffffffff81001000
ok "System.map" same "$want" "$pmclog" fold -k "$tmp/map" "$tmp/k1"
kernel_log k2 0xffffffffa4600000 0xffffffffa4601000
ok "moved by 0x23600000" same "$want" \
	"$pmclog" fold -k "$tmp/map" "$tmp/k2"
ok "and said so" prints 0 "Kernel names  .*/map, moved by 0x23600000" \
	"$pmclog" report -k "$tmp/map" "$tmp/k2"
kernel_log k3 0xffffffff80e00000 0xffffffff80e01000
ok "moved downwards" same "$want" "$pmclog" fold -k "$tmp/map" "$tmp/k3"
ok "and said so" prints 0 "moved by -0x200000" \
	"$pmclog" report -k "$tmp/map" "$tmp/k3"

kernel_log k4 0xffffffff81000000 0xffffffff81001230
ok "another kernel's table is refused" \
	prints 1 "is of another kernel or boot" \
	"$pmclog" fold -k "$tmp/map" "$tmp/k4"
grep -v reference "$tmp/map" >"$tmp/noref"
ok "so is one without the reference" prints 1 "is of another kernel" \
	"$pmclog" fold -k "$tmp/noref" "$tmp/k1"
sed 's/^[0-9a-f]*/0000000000000000/' "$tmp/map" >"$tmp/zeros"
ok "and one of zeros" prints 1 "only zeros (kernel.kptr_restrict)" \
	"$pmclog" fold -k "$tmp/zeros" "$tmp/k1"
ok "and what is none" prints 1 "is no symbol table" \
	"$pmclog" fold -k "$0" "$tmp/k1"
ok "and what is not there" prints 1 "nothing: no such file" \
	"$pmclog" fold -k "$tmp/nothing" "$tmp/k1"

# modules
cat "$tmp/map" - >"$tmp/kallsyms" <<-EOF
	ffffffffc0100400 t mod_func	[mymod]
	ffffffffc0100800 t mod_next	[mymod]
	ffffffffc0200000 t unlisted_func	[unlisted]
EOF
ok "modules' functions; not those of another module" same "\
prog;[kernel]_[k] 10
prog;[other]_[k] 32
prog;last_function_[k] 4
prog;mod_func_[k] 16
prog;reference_[k];do_work_alias_[k];startup_64_[k] 1" \
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/k1"
ok "modules of another boot are not believed" same "$want" \
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/k2"
log k8 <<-EOF
	kernel 0xffffffff81101000 reference
	event cpu-clock 1000
	proc 7 prog
	module 0xffffffffc0200000 0x2000 mymod
	sample 1 7 0xffffffffc0200500
EOF
ok "not even where they would come to lie" same "prog;[mymod]_[k] 1" \
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/k8"
ok "the report tells kernel and modules apart" prints 0 \
	"prog  *\[mymod\]  *mod_func \[m\]" \
	"$pmclog" report -k "$tmp/kallsyms" "$tmp/k1"
log k5 <<-EOF
	kernel 0xffffffff81001000 reference
	event cpu-clock 1000
	proc 7 prog
	sample 1 7 0xffffffffc0200010
EOF
ok "a module that the log does not mention" prints 0 \
	"prog  *\[unlisted\]  *unlisted_func \[m\]" \
	"$pmclog" report -k "$tmp/kallsyms" "$tmp/k5"
log k6 <<-EOF
	kernel 0xffffffff81001000 reference
	event cpu-clock 1000
	proc 7 prog
	module 0xffffffffc0100000 0x2000 mymod
	sample 1 7 0xffffffffc0100500
	unmap -1 0xffffffffc0100000 0xffffffffc0102000
	module 0xffffffffc0100000 0x2000 later
	sample 2 7 0xffffffffc0100500
EOF
ok "a module in the place of another" same "\
prog;[later]_[k] 2
prog;mod_func_[k] 1" "$pmclog" fold -k "$tmp/kallsyms" "$tmp/k6"

# where tables are looked for
cp "$tmp/map" "$tmp/k2.kallsyms"
ok "LOG.kallsyms is found" folds k2 "$want"
mkdir "$tmp/dir"
cp "$tmp/k2" "$tmp/dir/log"
cp "$tmp/map" "$tmp/dir/kallsyms"
ok "kallsyms beside the log is found" folds dir/log "$want"
ok "also from there" same "$want" \
	bash -c "cd $tmp/dir && $pmclog fold log"
rm "$tmp/dir/kallsyms"
mkdir -p "$tmp/root/boot"
cp "$tmp/map" "$tmp/root/boot/System.map-9.9.9-test"
ok "/boot/System.map-RELEASE below --root is found" same "$want" \
	"$pmclog" fold -r "$tmp/root" "$tmp/dir/log"

# this machine's own table: only if it is the one that was recorded
addr=$(awk '$3 == "schedule" { print $1; exit }' /proc/kallsyms 2>/dev/null)
if [ -n "${addr//0/}" ]; then
	own()
	{
		log own <<-EOF
			host $(uname -r) $(uname -n)
			kernel $1 schedule
			event cpu-clock 1000
			proc 7 prog
			sample 1 7 0x$addr
		EOF
		folds own "$2"
	}
	ok "/proc/kallsyms of the recorded boot" own "0x$addr" \
		"prog;schedule_[k] 1"
	ok "not of another boot" own "0x$addr+0x200000" "prog;[kernel]_[k] 1"
else
	skip "/proc/kallsyms" "it shows no addresses"
fi

# vmlinux: an ELF file, with a build-id
cat >"$tmp/v.s" <<-EOF
	.globl _stext, reference, do_work
	.section .text, "ax"
	.type _stext, @function
	_stext: .skip 0x1000
	.size _stext, 0x1000
	.type reference, @function
	reference: .skip 0x1000
	.size reference, 0x1000
	.type do_work, @function
	do_work: .skip 0x100
	.size do_work, 0x100
EOF
${CC:-cc} -c -o "$tmp/v.o" "$tmp/v.s" &&
	ld -Ttext=0xffffffff81000000 --build-id=0xabcdef0123456789 -e _stext \
		-o "$tmp/vmlinux" "$tmp/v.o"
vmlinux()
{
	log k7 <<-EOF
		kernel 0xffffffffa4601000 reference
		buildid $1 [kernel]
		event cpu-clock 1000
		proc 7 prog
		sample 1 7 0xffffffffa4602010
	EOF
	same "prog;do_work_[k] 1" "$pmclog" fold -k "$tmp/vmlinux" "$tmp/k7"
}
ok "vmlinux" vmlinux abcdef0123456789
vmlinux abcdef0123456780 >/dev/null
ok "not with another build-id" prints 1 "has another build-id" \
	"$pmclog" fold -k "$tmp/vmlinux" "$tmp/k7"

done_testing
