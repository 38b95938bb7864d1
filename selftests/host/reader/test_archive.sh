#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# archive: what is unpacked elsewhere says what the log says here, and a log that
# names other things gets none of them packed.
. "$(dirname "$0")/lib.sh"

here=$tmp/here
mkdir "$here" "$tmp/there"
base=$((0x555500000000))
long=$here/$(printf 'd%.0s' {1..120})/$(printf 'e%.0s' {1..200})
mkdir -p "$long"

build() # FILE: a program with names of functions, and a build-id
{
	${CC:-cc} -O1 -g -fPIE -pie -fno-toplevel-reorder -Wl,--build-id \
		-o "$1" "$HERE/programs/shapes.c"
}
at() { printf '%#x' $((base + $(symbol "$2" "$1") + 5)); }

build "$here/prog"
build "$long/prog"
printf 'int distinct;' | cat "$HERE/programs/shapes.c" - >"$tmp/split.c"
${CC:-cc} -O1 -g -fPIE -pie -Wl,--build-id -o "$here/split" "$tmp/split.c"
leaf=$(at leaf "$here/split")
objcopy --only-keep-debug "$here/split" "$here/split.dbg"
mkdir "$here/.debug"
strip -s "$here/split"
objcopy --add-gnu-debuglink="$here/split.dbg" "$here/split"
mv "$here/split.dbg" "$here/.debug"
cat >"$here/kallsyms" <<-END
	ffffffff81000000 T reference
	ffffffff81001000 T outer
	ffffffff81002000 T end
END
{
	echo "kernel 0xffffffff81000000 reference"
	echo "event cpu-clock 1000"
	for f in prog split; do
		echo "buildid $(id_of "$here/$f") $here/$f"
	done
	echo "proc 7 prog"
	load 7 $base "$here/prog"
	echo "proc 8 split"
	load 8 $base "$here/split"
	echo "proc 9 long"
	load 9 $base "$long/prog"
	echo "sample 3 7 0xffffffff81001010 $(at leaf "$here/prog") $(at main "$here/prog")"
	echo "sample 4 8 $leaf"
	echo "sample 5 9 $(at calls "$long/prog")"
} | log here/app.pmclog

"$pmclog" fold "$here/app.pmclog" >"$tmp/want" 2>/dev/null
cp "$tmp/want" "$tmp/names"
ok "the names here" prints 0 'prog;main;leaf;outer_\[k\] 3$' cat "$tmp/names"
ok "those of a debug file" grep -q '^split;leaf 4$' "$tmp/names"

pack()
{
	(cd "$here" && "$pmclog" archive app.pmclog) 2>"$tmp/said" &&
		tar -C "$tmp/there" -I zstd -xf "$here/app.tar.zst"
}
ok "archive" pack
dir=$tmp/there/pmclog-app
contents()
{
	zstd -qdc "$here/app.tar.zst" | tar tf - | sed 's|^pmclog-app/||' |
		sort >"$tmp/got"
	id=$(id_of "$here/split")
	printf '%s\n' README log.pmclog kallsyms "root$here/prog" "root$here/split" \
		"root$long/prog" \
		"root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" |
		sort | diff - "$tmp/got"
}
ok "what is in it" contents
copies()
{
	cmp "$here/app.pmclog" "$dir/log.pmclog" &&
		cmp "$here/prog" "$dir/root$here/prog" &&
		cmp "$here/kallsyms" "$dir/kallsyms" &&
		cmp "$long/prog" "$dir/root$long/prog"
}
ok "copies" copies
ok "it says how many" grep -q 'has the log and 4 files of this machine; 0 were not' \
	"$tmp/said"
private() { [ "$(stat -c %a "$here/app.tar.zst")" = 600 ]; }
ok "not everybody can read it" private

# a vmlinux with debugging data is larger than a table of symbols can be
large_kernel()
{
	printf '.globl reference\n.text\n.type reference, @function\n%s\n' \
		"reference: .skip 16" | ${CC:-cc} -c -x assembler -o "$tmp/v.o" - &&
		ld -Ttext=0xffffffff81000000 -e reference -o "$tmp/large" \
			"$tmp/v.o" || return
	truncate -s 260M "$tmp/large"
	"$pmclog" archive -o "$tmp/large.tar" -k "$tmp/large" \
		"$here/app.pmclog" 2>"$tmp/said" || { cat "$tmp/said"; return 1; }
	tar xOf "$tmp/large.tar" pmclog-large/kallsyms | cmp - "$tmp/large" &&
		rm "$tmp/large.tar"
}
ok "a large vmlinux" large_kernel

other_kernel()
{
	echo 'ffffffff81000000 T another' >"$here/other"
	prints 0 'other is of another kernel' "$pmclog" archive -o "$tmp/o.tar" \
		-k "$here/other" "$here/app.pmclog" &&
		prints 0 '4 files of this machine; 1 was not' "$pmclog" archive \
			-o "$tmp/o.tar" -k "$here/other" "$here/app.pmclog"
}
ok "names that are of another kernel" other_kernel

mv "$here" "$tmp/gone"
elsewhere() { "$pmclog" fold "$@" 2>/dev/null | diff "$tmp/want" -; }
ok "its directory says the same" elsewhere "$dir"
ok "so do log and root" elsewhere -r "$dir/root" "$dir/log.pmclog"
for command in report info verify dump 'export --to folded'; do
	# shellcheck disable=SC2086
	ok "$command of the directory" exits 0 "$pmclog" $command "$dir"
done
ok "a part of it" exits 0 "$pmclog" filter -o "$tmp/part" "$dir"
ok "the archive itself: what to do" prints 1 'unpack it with tar xf' \
	"$pmclog" report "$tmp/gone/app.tar.zst"
ok "another directory" prints 1 'is a directory without a log' "$pmclog" report "$tmp/there"
hostile_directory()
{
	mkdir -p "$tmp/fifo"
	mkfifo "$tmp/fifo/log.pmclog"
	local how
	for how in info verify dump report fold flame html "export --to folded" "annotate -a" \
			"filter -o $tmp/part" "diff $tmp/fifo"; do
		# shellcheck disable=SC2086
		prints 1 'is a directory without a log' timeout 20 "$pmclog" $how "$tmp/fifo" ||
			{ echo "$how"; return 1; }
	done
	prints 1 'is a directory without log.pmclog' timeout 20 "$pmclog" archive \
		-o "$tmp/fifo.tar" "$tmp/fifo"
}
ok "a directory that would hold us up" hostile_directory
# whoever made the archive could link to the files of this machine
linked_root()
{
	local how l=$tmp/linked
	mkdir "$l"
	cp "$dir/log.pmclog" "$dir/kallsyms" "$l"
	ln -s "$dir/root" "$l/root"
	for how in fold report "annotate -a" "export --to folded" "diff $dir" \
			"filter -o $tmp/part" "archive -o $tmp/linked.tar"; do
		# shellcheck disable=SC2086
		prints 1 "^pmclog: $l/root: is a symbolic link: it must be a directory" \
			"$pmclog" $how "$l" || { echo "$how"; return 1; }
	done
	[ ! -e "$tmp/linked.tar" ] || { echo "packed"; return 1; }
	elsewhere -r "$dir/root" "$l"
}
ok "a root that is a link" linked_root
again()
{
	"$pmclog" archive -o "$tmp/b.tar" -r "$dir/root" "$dir/log.pmclog" \
		2>/dev/null && mkdir "$tmp/b" && tar -C "$tmp/b" -xf "$tmp/b.tar" &&
		diff -r "$dir" "$tmp/b/pmclog-b" && elsewhere "$tmp/b/pmclog-b"
}
ok "of an archive, without compression" again
# DIRECTORY: in it, or from elsewhere
repacked()
{
	rm -rf "$tmp/c" && mkdir "$tmp/c" &&
		(cd "$tmp/c" && "$pmclog" archive "$1" && ls) >"$tmp/said" 2>&1 &&
		tar -C "$tmp/c" -I zstd -xf "$tmp/c/pmclog-app.tar.zst" &&
		diff -r "$dir" "$tmp/c/pmclog-app" ||
		{ cat "$tmp/said"; return 1; }
}
ok "its directory packed again" repacked "$dir"
ok "the same, with a slash" repacked "$dir/"
mv "$tmp/gone" "$here"

# What the log says was another file then
other()
{
	{
		echo "event cpu-clock 1000"
		echo "buildid 0123456789abcdef0123456789abcdef01234567 $here/prog"
		load 7 $base "$here/prog"
		echo "sample 3 7 $(at leaf "$here/prog")"
	} | log other.pmclog
	"$pmclog" archive -o "$tmp/other.tar" "$tmp/other.pmclog" 2>"$tmp/said" &&
		grep -q "not packed: $here/prog: .*build-id differs" "$tmp/said" &&
		! tar tf "$tmp/other.tar" | grep root
}
ok "another build-id: not packed" other

# A log that names what is no program, or what nobody should open
hostile()
{
	local i=1 f
	mkfifo "$tmp/pipe"
	echo secret >"$tmp/secret"
	ln -s "$here/prog" "$tmp/link"
	: >"$tmp/empty"
	{
		echo "event cpu-clock 1000"
		for f in "$tmp/pipe" /dev/zero /dev/tty /etc/passwd "$tmp/secret" \
			"$tmp/empty" /proc/self/mem "$here/../here/prog" \
			"$here//prog" "$here/./prog" / /nowhere; do
			echo "map 7 $((i * 65536)) 0x1000 0 $f"
			echo "sample 1 7 $((i * 65536 + 16))"
			((i++))
		done
	} | log hostile.pmclog
	timeout 60 "$pmclog" archive -o "$tmp/hostile.tar" "$tmp/hostile.pmclog" \
		2>"$tmp/said" || { cat "$tmp/said"; return 1; }
	tar tf "$tmp/hostile.tar" | diff - <(printf 'pmclog-hostile/%s\n' \
		README log.pmclog) && grep -q '; 12 were not packed$' "$tmp/said"
}
ok "nothing but programs, by plain paths" hostile

# The reason has a path that the log makes
unprintable()
{
	{
		printf 'host 9.9\\x1b]0;title\\x07%0260d node\n' 0
		echo "machine 62"
		echo "kernel 0xffffffff81000000 main"
		echo "event cpu-clock 1000"
		echo "proc 7 p"
		echo "sample 1 7 0xffffffff81000044"
	} | log release.pmclog
	"$pmclog" archive -o "$tmp/release.tar" "$tmp/release.pmclog" 2>"$tmp/said" &&
		grep -q 'not packed: symbols of the kernel: .*title' "$tmp/said" &&
		! LC_ALL=C grep '[[:cntrl:]]' "$tmp/said"
}
ok "reasons are made safe to show" unprintable

# The common parts of several debug files are in a third, as of Debian's
common_parts()
{
	local i root=$tmp/common
	mkdir -p "$root/bin" "$root/dbg"
	for i in 1 2 3 4; do
		cp "$here/prog" "$root/bin/p$i"
	done
	(cd "$root/bin" && dwz -m ../dbg/parts -M /dbg/parts p1 p2 p3 p4) || return
	{
		echo "buildid $(id_of "$root/bin/p1") /bin/p1"
		load 7 $base "$root/bin/p1" /bin/p1
		echo "sample 3 7 $(at leaf "$here/prog")"
	} | prog_log common.pmclog
	"$pmclog" fold --by-line -r "$root" "$tmp/common.pmclog" >"$tmp/want" &&
		grep "leaf (shapes.c:" "$tmp/want" &&
		"$pmclog" archive -r "$root" -o "$tmp/common.tar" \
			"$tmp/common.pmclog" 2>"$tmp/said" &&
		tar -C "$tmp/there" -xf "$tmp/common.tar" || return
	"$pmclog" fold --by-line "$tmp/there/pmclog-common" | diff "$tmp/want" -
}
if command -v dwz >/dev/null; then
	ok "a third file of debug files" common_parts
else
	skip "a third file of debug files" "no dwz"
fi

# Code made at run time
jit()
{
	local root=$tmp/jitroot
	mkdir -p "$root/tmp"
	echo "1000 100 compiled function" >"$root/tmp/perf-7.map"
	prog_log jit.pmclog jit <<-END
		map 7 0x1000 0x1000 0 //anon
		sample 2 7 0x1010
	END
	"$pmclog" archive -r "$root" -o "$tmp/jit.tar" "$tmp/jit.pmclog" \
		2>"$tmp/said" && tar -C "$tmp/there" -xf "$tmp/jit.tar" &&
		cmp "$root/tmp/perf-7.map" \
			"$tmp/there/pmclog-jit/root/tmp/perf-7.map" &&
		same 'jit;compiled function_[j] 2' "$pmclog" fold \
			"$tmp/there/pmclog-jit"
}
ok "a map of code made at run time" jit

# The kernel's own image in each process
vdso()
{
	python3 - "$tmp/vdso" <<-'END' || return
		import re, sys
		for line in open("/proc/self/maps"):
		    if "[vdso]" in line:
		        a, b = (int(x, 16) for x in
		                re.match("(\w+)-(\w+)", line).groups())
		        with open("/proc/self/mem", "rb") as m:
		            m.seek(a)
		            open(sys.argv[1], "wb").write(m.read(b - a))
	END
	{
		echo "host x y"
		echo "event cpu-clock 1000"
		echo "buildid $(id_of "$tmp/vdso") [vdso]"
		echo "map 7 0x10000 0x2000 0 [vdso]"
		echo "sample 1 7 0x10800"
	} | log vdso.pmclog
	"$pmclog" archive -o "$tmp/vdso.tar" "$tmp/vdso.pmclog" 2>"$tmp/said" &&
		tar -C "$tmp/there" -xf "$tmp/vdso.tar" ||
		{ cat "$tmp/said"; return 1; }
	cmp "$tmp/vdso" "$tmp/there/pmclog-vdso/root/[vdso]" &&
		"$pmclog" fold "$tmp/vdso.pmclog" >"$tmp/want" &&
		elsewhere "$tmp/there/pmclog-vdso"
}
if grep -q vdso /proc/self/maps && [ "$(uname -m)" = x86_64 ]; then
	ok "the vdso" vdso
else
	skip "the vdso" "this machine has none that the log could name"
fi

lost()
{
	prints 1 'is the log itself' "$pmclog" archive -o "$here/app.pmclog" \
		"$here/app.pmclog" && cmp "$here/app.pmclog" "$dir/log.pmclog"
}
ok "the log is not overwritten" lost
ok "a full disk" prints 1 'cannot write /dev/full: No space' \
	"$pmclog" archive -o /dev/full "$here/app.pmclog"
ok "a log that is not there" prints 1 'no such file' \
	"$pmclog" archive -o "$tmp/x.tar" "$tmp/none"
promised()
{
	local end
	for end in gz tar.gz tgz zip; do
		prints 2 "there is no compression for .${end#tar.}: end it in .tar.zst" \
			"$pmclog" archive -o "$tmp/x.$end" "$dir" || return
		[ ! -e "$tmp/x.$end" ] || return
	done
}
ok "a name that promises another compression" promised
terminal()
{
	script -qec "env ASAN_OPTIONS=detect_leaks=0 $pmclog archive -o - $dir" /dev/null \
		</dev/null >"$tmp/tty"
	grep -q 'standard output is a terminal' "$tmp/tty"
}
if script --version >"$tmp/.version" 2>&1; then
	ok "to a terminal" terminal
else
	skip "to a terminal" "no script(1)"
fi
ok "standard input" prints 2 'name a log, which is a file' \
	"$pmclog" archive -o "$tmp/x.tar" -
damaged()
{
	head -c 1001 "$here/app.pmclog" >"$tmp/cut.pmclog"
	exits 1 "$pmclog" archive -o "$tmp/x.tar" "$tmp/cut.pmclog" &&
		tar tf "$tmp/x.tar" | grep -q log.pmclog
}
ok "a cut log is packed, and said to be cut" damaged

done_testing
