# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2059,SC2154,SC2257 # names are those of fuzz.sh
# The files of fuzz_files, with a log for each: sourced by fuzz.sh.  What this machine
# has no program for is left out.

# text_of FILE: offset, address and size of its code
text_of()
{
	readelf -lW "$1" | awk '$1 == "LOAD" && / E /{ print $2, $3, $5; exit }'
}

# user_log NAME PATH OBJECT: samples in each function of OBJECT, mapped as PATH
user_log()
{
	local at offset addr size
	read -r offset addr size <<<"$(text_of "$3")"
	{
		echo "event cpu-clock 1000"
		echo "proc 7 p"
		echo "map 7 $((0x10000 + offset)) $size $offset $2"
		nm "$3" | awk '$2 ~ /^[tT]$/{ print "0x" $1 }' | head -n 12 |
			while read -r at; do
				at=$((0x10000 + offset + at - addr))
				echo "sample 1 7 $((at)) $((at + 6))"
			done
	} | log "files/$1.pmclog"
}

# Debugging information elsewhere, or packed
debug_files()
{
	local root=$tmp/files/root debug=$tmp/files/root/usr/lib/debug id full=$shapes
	local i
	objcopy --only-keep-debug "$full" "$debug/bin/link.debug"
	objcopy -S -R .note.gnu.build-id "$full" "$root/bin/link" &&
		objcopy --add-gnu-debuglink="$debug/bin/link.debug" "$root/bin/link"
	cp "$root/bin/link" "$root/bin/linked"
	user_log link /bin/link "$full"
	user_log linked /bin/linked "$full"

	strip -o "$root/bin/named" "$full"
	id=$(readelf -n "$full" | sed -n 's/.*Build ID: //p')
	mkdir -p "$debug/.build-id/${id:0:2}"
	cp "$debug/bin/link.debug" "$debug/named"
	ln "$debug/named" "$debug/.build-id/${id:0:2}/${id:2}.debug"
	user_log named /bin/named "$full"

	objcopy -S --keep-symbol=main --keep-symbol=leaf "$debug/named" "$tmp/mini"
	xz -kf "$tmp/mini"
	objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$root/bin/named" \
		"$root/bin/mini"
	user_log mini /bin/mini "$full"

	for i in zlib zstd; do
		objcopy --compress-debug-sections=$i "$full" "$root/bin/$i" ||
			rm -f "$root/bin/$i"
		user_log $i /bin/$i "$full"
	done
	for i in 1 2 3; do
		cp "$full" "$root/bin/twin$i"
	done
	(cd "$root/bin" && dwz -m common twin1 twin2 twin3)
	user_log twin /bin/twin1 "$full"
}

# kernel_log NAME RELEASE MODULE-FILE BUILD-ID: of a kernel with a module
kernel_log()
{
	{
		echo "host $2 elsewhere"
		echo "kernel 0xffffffff81000000 reference"
		echo "event cpu-clock 1000"
		echo "proc 7 prog"
		echo "module 0xffffffffc0100000 0x2000 mod /lib/$3"
		echo "section 0xffffffffc0100000 mod .text"
		echo "section 0xffffffffc0101000 mod .text.unlikely"
		[ -z "$4" ] || echo "buildid $4 [kernel]"
		echo "sample 1 7 0xffffffff81000004 0xffffffff81000014"
		echo "sample 1 7 0xffffffffc0100004 0xffffffffc0101001"
	} | "$BIN/script2log" "$tmp/files/$1.pmclog"
}

# A module, plain and packed, and a kernel
kernel_files()
{
	local root=$tmp/files/root cc=${CC:-cc} id
	local code=$here/../host/reader/programs/kernelish.c
	local vmlinux=$root/usr/lib/debug/boot/vmlinux-9.9.9-test
	$cc -O1 -c -o "$root/lib/mod.ko" "$here/../host/reader/programs/shapes.c"
	xz -kf "$root/lib/mod.ko"
	zstd -qf "$root/lib/mod.ko"
	$cc -O1 -g -gz=none -fno-pic -no-pie -nostdlib -static -Wl,--build-id,-emain \
		-mcmodel=kernel -Wl,-Ttext=0xffffffff81000000 \
		-Wl,--defsym=reference=0xffffffff81000000 -o "$vmlinux" "$code"
	cp "$vmlinux" "$tmp/files/vmlinux"
	id=$(readelf -n "$vmlinux" | sed -n 's/.*Build ID: //p')
	nm "$vmlinux" >"$root/boot/System.map-9.9.8-test"
	kernel_log vmlinux 9.9.9-test mod.ko "$id"
	kernel_log map 9.9.8-test mod.ko ""
	for id in mod.ko mod.ko.xz mod.ko.zst; do
		kernel_log $id 9.9.8-test $id ""
	done
}

# Code that was made at run time, of a process that has ended
jit_files()
{
	printf '7f0000001000 100 hot\n7f0000001080 40 inside\r\nbad\n10 0 none\n' \
		>"$tmp/files/root/tmp/perf-7.map"
	log files/jit.pmclog <<-EOF
		wall 4000000000
		event cpu-clock 1000
		proc 7 jit
		map 7 0x7f0000000000 0x100000 0 //anon
		sample 3 7 0x7f0000001004 0x7f0000001090
	EOF
	mkdir -p "$tmp/files/archive/files/bin"
	cp "$tmp/files/link.pmclog" "$tmp/files/archive/log.pmclog"
}

# A process that runs, in a mount namespace of its own with other files
live_files()
{
	local dir=$tmp/files/live pid tmpdir=$tmp/files/live/tmp
	mkdir -p "$tmpdir"
	cp "$shapes" "$tmpdir/inside"
	unshare -m sh -c "mount --bind '$tmpdir' /tmp && exec sleep 3600" &
	pid=$!
	trap 'kill $pid_of_live 2>/dev/null; rm -rf "$tmp"' EXIT
	pid_of_live=$pid
	printf '7f0000001000 100 hot\n' >"$dir/map"
	seed_jitdump little >"$dir/dump"
	ln "$dir/map" "$tmpdir/perf-$pid.map"
	ln "$dir/dump" "$tmpdir/jit-$pid.dump"
	{
		echo "wall 4000000000"
		echo "host $(uname -r) $(uname -n)"
		echo "machine $([ "$(uname -m)" = aarch64 ] && echo 183 || echo 62)"
		echo "event cpu-clock 1000"
		echo "clock 1000"
		echo "buildid $(readelf -n "$shapes" | sed -n 's/.*Build ID: //p') /tmp/inside"
		echo "proc $pid jit"
		echo "map $pid 0x10000 0x4000 0x1000 /tmp/inside"
		echo "map $pid 0x70000 0x2000 0 [vdso]"
		echo "map $pid 0x7f0000000000 0x100000 0 //anon"
		echo "map $pid 0x7e0000000000 0x1000 0 /tmp/jit-$pid.dump"
		echo "at 1000000"
		echo "sample 3 $pid 0x7f0000001004 0x10100 0x70800"
		echo "at 9000000000"
		echo "sample 3 $pid 0x7f0000002004 0x10100"
	} | "$BIN/script2log" "$tmp/files/live.pmclog"
}

all_files()
{
	mkdir -p "$tmp/files/root/"{bin,lib,boot,tmp} \
		"$tmp/files/root/usr/lib/debug/"{bin,boot}
	debug_files
	kernel_files
	jit_files
	live_files
} >/dev/null 2>&1

# Seeds: each file as it is, by the order in fuzz_files.c
file_seeds()
{
	local n=0 file
	for file in root/{bin/link,usr/lib/debug/bin/link.debug,bin/named} \
		root/{usr/lib/debug/named,bin/mini,bin/twin1,bin/common} \
		root/{bin/zlib,bin/zstd,lib/mod.ko,lib/mod.ko.xz,lib/mod.ko.zst} \
		root/usr/lib/debug/boot/vmlinux-9.9.9-test \
		root/{boot/System.map-9.9.8-test,tmp/perf-7.map} \
		archive/log.pmclog live/map live/dump root/bin/linked vmlinux; do
		[ ! -e "$tmp/files/$file" ] ||
			{ printf "\\x$(printf %x $n)"; cat "$tmp/files/$file"; } >"$1/$n"
		n=$((n + 1))
	done
}
