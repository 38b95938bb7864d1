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
	prog_log "$1" <<-EOF
		host ${4:-9.9.9-test} elsewhere
		kernel $3 reference
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
echo "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package" >"$tmp/debian"
ok "and Debian's, which has no symbols" prints 1 "debian has no symbols: .*-dbg package" \
	"$pmclog" fold -k "$tmp/debian" "$tmp/k1"
cp "$tmp/debian" "$tmp/k1.kallsyms"
ok "and a table that was found is of no use: what to do" \
	prints 0 "^Kernel names  *none: .*-dbg package.*; name a kallsyms, .* with -k" \
	"$pmclog" report "$tmp/k1"
rm "$tmp/k1.kallsyms"
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
prog_log k8 <<-EOF
	kernel 0xffffffff81101000 reference
	module 0xffffffffc0200000 0x2000 mymod
	sample 1 7 0xffffffffc0200500
EOF
ok "not even where they would come to lie" same "prog;[mymod]_[k] 1" \
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/k8"
ok "the report tells kernel and modules apart" prints 0 \
	"prog  *\[mymod\]  *mod_func \[m\]" \
	"$pmclog" report -k "$tmp/kallsyms" "$tmp/k1"
prog_log freebsd <<-EOF
	mapin 4294967295 0xffffffff81000000 /boot/kernel/kernel
	mapin 4294967295 0xffffffff82000000 /boot/kernel/zfs.ko
	sample 1 7 0xffffffff81002010 0xffffffff82000010
EOF
ok "the kernel of FreeBSD is a file" same \
	"prog;[zfs]_[k];do_work_alias_[k] 1" \
	"$pmclog" fold -k "$tmp/map" "$tmp/freebsd"
prog_log k5 <<-EOF
	kernel 0xffffffff81001000 reference
	sample 1 7 0xffffffffc0200010
EOF
ok "a module that the log does not mention" prints 0 \
	"prog  *\[unlisted\]  *unlisted_func \[m\]" \
	"$pmclog" report -k "$tmp/kallsyms" "$tmp/k5"
prog_log k6 <<-EOF
	kernel 0xffffffff81001000 reference
	module 0xffffffffc0100000 0x2000 mymod
	sample 1 7 0xffffffffc0100500
	unmap -1 0xffffffffc0100000 0xffffffffc0102000
	module 0xffffffffc0100000 0x2000 later
	sample 2 7 0xffffffffc0100500
EOF
ok "a module in the place of another" same "\
prog;[later]_[k] 2
prog;mod_func_[k] 1" "$pmclog" fold -k "$tmp/kallsyms" "$tmp/k6"

# modules by their files
cat >"$tmp/mod.c" <<-EOF
	int shared;
	static __attribute__((noinline, used)) void local_func(void) { shared++; }
	void exported_func(void) { shared--; }
	__attribute__((section(".exit.text"))) void leaves(void) { shared = 0; }
	__attribute__((section(".init.text"))) void begins(void) { shared = 1; }
EOF
cat >"$tmp/note.s" <<-EOF
	.section .note.gnu.build-id, "a", @note
	.long 4, 8, 3
	.asciz "GNU"
	.byte 1, 2, 3, 4, 5, 6, 7, 8
	.section .note.GNU-stack, "", @progbits
EOF
dir=$tmp/mods/lib/modules/9.9.9-test
mkdir -p "$dir"
${CC:-cc} -O1 -c -o "$tmp/mod.o" "$tmp/mod.c" &&
	as -o "$tmp/note.o" "$tmp/note.s" &&
	ld -r -o "$dir/mymod.ko" "$tmp/mod.o" "$tmp/note.o"
xz -kf "$dir/mymod.ko"
zstd -q "$dir/mymod.ko"
in_module()	# FILE BUILD-ID WANT
{
	local f
	{
		cat <<-EOF
			host 9.9.9-test elsewhere
			kernel 0xffffffff81001000 reference
			event cpu-clock 1000
			proc 7 prog
			module 0xffffffffc0100000 0x2000 mymod /lib/modules/9.9.9-test/$1
			section 0xffffffffc0100000 mymod .text
			section 0xffffffffc0101000 mymod .exit.text
			buildid $2 mymod
			sample 1 7 0xffffffff81001000
		EOF
		for f in local_func exported_func; do
			echo "sample 2 7 0xffffffffc0100000+$(symbol "$dir/mymod.ko" $f)"
		done
		echo "sample 4 7 0xffffffffc0101000"
		echo "sample 8 7 0xffffffffc0101800"
	} | log k9
	same "$3" "$pmclog" fold -r "$tmp/mods" -k "$tmp/map" "$tmp/k9"
}
named="\
prog;[mymod]_[k] 8
prog;exported_func_[k] 2
prog;leaves_[k] 4
prog;local_func_[k] 2
prog;reference_[k] 1"
ok "a module's file, by where its sections were" \
	in_module mymod.ko 0102030405060708 "$named"
# The archive has the file, from which the names are.
archived()
{
	"$pmclog" archive -r "$tmp/mods" -k "$tmp/map" -o "$tmp/k9.tar" "$tmp/k9" >"$tmp/.said" &&
		tar -C "$tmp" -xf "$tmp/k9.tar" && same "$named" "$pmclog" fold "$tmp/pmclog-k9" &&
		rm -r "$tmp/pmclog-k9"
}
ok "in an archive" archived
ok "packed by xz" in_module mymod.ko.xz 0102030405060708 "$named"
ok "packed by zstd" in_module mymod.ko.zst 0102030405060708 "$named"
ok "not another build of it" in_module mymod.ko 0102030405060709 "\
prog;[mymod]_[k] 16
prog;reference_[k] 1"
ok "and the report says so" prints 0 \
	"mymod: file was replaced since (build-id differs)" \
	"$pmclog" report -r "$tmp/mods" -k "$tmp/map" "$tmp/k9"

# as many sections in the log as in the file
many_sections()
{
	python3 - "$tmp/mods/many.ko" <<-'END' || return
		import struct, sys
		def section(*v):
		    return struct.pack("<IIQQQQIIQQ", *v)
		n, names, text = 60000, b"\0.t\0.symtab\0.strtab\0", b"\0f\0"
		syms = bytes(24) + struct.pack("<IBBHQQ", 1, 18, 0, 1, 0, 16)
		data = names + text + syms
		at = 64 + len(names)
		table = section(*[0] * 10) + section(1, 1, 6, 0, 0, 0, 0, 0, 1, 0) * n
		table += section(4, 2, 0, 0, at + len(text), len(syms), n + 2, 1, 1, 24)
		table += section(12, 3, 0, 0, at, len(text), 0, 0, 1, 0)
		table += section(12, 3, 0, 0, 64, len(names), 0, 0, 1, 0)
		open(sys.argv[1], "wb").write(struct.pack(
		    "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0,
		    64 + len(data), 0, 64, 0, 0, 64, n + 4, n + 3) + data + table)
	END
	{
		echo "host 9.9.9-test elsewhere"
		echo "kernel 0xffffffff81001000 reference"
		echo "event cpu-clock 1000"
		echo "module 0xffffffffc0100000 0x2000 many /many.ko"
		echo "section 0xffffffffc0100000 many .t"
		echo "section 0xffffffffc0101000 many .t"
		printf 'section 0xffffffffc0100000 many .u%d\n' {1..60000}
		echo "sample 1 7 0xffffffffc0101008"
	} | log many
	same "?7;f_[k] 1" timeout 20 "$pmclog" fold -r "$tmp/mods" -k "$tmp/map" \
		"$tmp/many"
}
ok "tens of thousands of sections; the last address counts" many_sections

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
			${3:-}
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
	ok "not of another build" own "0x$addr" "prog;[kernel]_[k] 1" \
		"buildid 0102030405060708 [kernel]"
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
	prog_log k7 <<-EOF
		kernel 0xffffffffa4601000 reference
		buildid $1 [kernel]
		sample 1 7 0xffffffffa4602010
	EOF
	same "prog;do_work_[k] 1" "$pmclog" fold -k "$tmp/vmlinux" "$tmp/k7"
}
ok "vmlinux" vmlinux abcdef0123456789
vmlinux abcdef0123456780 >/dev/null
ok "not with another build-id" prints 1 "has another build-id" \
	"$pmclog" fold -k "$tmp/vmlinux" "$tmp/k7"

# Logs in a row, of which each has booted elsewhere and has its own processes.
${CC:-cc} -O1 -fPIE -pie -o "$tmp/shapes" "$HERE/programs/shapes.c"
boot()	# NAME WHERE RELEASE
{
	{
		echo "host $3 m"
		echo "kernel $2+0x1000 reference"
		echo "event cpu-clock 1000"
		[ "$1" = first ] && echo "proc 7 prog" &&
			load 7 0x10000 "$tmp/shapes" &&
			echo "module 0xffffffffc0100000 0x2000 mymod"
		echo "sample 1 7 $2+0x2010"
		# in the other's kernel
		echo "sample 2 7 0xffffffff81002010+0x80000"
		echo "sample 4 7 0x10001+0x$(nm "$tmp/shapes" |
			awk '$3 == "leaf" { print $1 }')"
		echo "sample 8 7 0xffffffffc0100010"
	} | log "$1"
}
boot first 0xffffffff81000000 9.9.9-test
boot second 0xffffffff81080000 9.9.9-test
boot alien 0xffffffff81080000 9.9.8-test
in_a_row()	# LOG...
{
	local i
	for i; do
		cat "$tmp/$i"
	done >"$tmp/row"
	"$pmclog" fold -e all -k "$tmp/map" "$tmp/row"
}
ok "two boots in a row" same "\
?7;[kernel]_[k] 8
?7;[unknown] 4
?7;do_work_alias_[k] 3
prog;[kernel]_[k] 2
prog;[mymod]_[k] 8
prog;do_work_alias_[k] 1
prog;leaf 4" in_a_row first second
ok "a boot of another kernel: no names" same "\
?7;[kernel]_[k] 11
?7;[unknown] 4
prog;[kernel]_[k] 2
prog;[mymod]_[k] 8
prog;do_work_alias_[k] 1
prog;leaf 4" in_a_row first alien
ok "the first one again" same "\
?7;[kernel]_[k] 11
?7;[unknown] 4
prog;[kernel]_[k] 4
prog;[mymod]_[k] 16
prog;do_work_alias_[k] 2
prog;leaf 8" in_a_row first alien first

done_testing
