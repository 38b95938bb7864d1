#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Symbols and lines that are not in the file itself: packed into it, or fetched
# from a server.
. "$(dirname "$0")/lib.sh"
root=()

${CC:-cc} -O1 -g -falign-functions=1 -fno-toplevel-reorder -fPIE -pie \
	-rdynamic -o "$tmp/full" "$HERE/programs/shapes.c"
base=$((0x555500000000))
id=$(id_of "$tmp/full")

# profile NAME PATH: a log of samples in each function of the program
profile()
{
	{
		load 7 $base "$tmp/full" "$2"
		nm "$tmp/full" | awk 'NF == 3 && $2 ~ /^[tT]$/ { print "0x" $1 }' |
			while read -r at; do
				echo "sample 1 7 $base+$at"
			done
	} | prog_log "$1" p
}
profile full.log "$tmp/full"
want=$("$pmclog" fold "$tmp/full.log")
ok "every function has a name" [ "$(grep -c '^p;[a-z_]* 1$' <<<"$want")" -gt 6 ]

# as Fedora does: local functions, packed, and .dynsym
strip -o "$tmp/stripped" "$tmp/full"
nm -D "$tmp/full" --format=posix --defined-only | awk '{ print $1 }' | sort \
	>"$tmp/dyn"
nm "$tmp/full" --format=posix --defined-only |
	awk '$2 == "T" || $2 == "t" { print $1 }' | sort >"$tmp/funcs"
comm -13 "$tmp/dyn" "$tmp/funcs" >"$tmp/keep"
objcopy --only-keep-debug "$tmp/full" "$tmp/debug"
objcopy -S --remove-section .gdb_index --remove-section .comment \
	--keep-symbols="$tmp/keep" "$tmp/debug" "$tmp/mini" 2>/dev/null
xz -k "$tmp/mini"
objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/stripped" \
	"$tmp/packed"
profile packed.log "$tmp/packed"
ok "packed into the file (.gnu_debugdata)" folds packed.log "$want"
complete()
{
	"$pmclog" report "$tmp/packed.log" >"$tmp/.text" &&
		! grep "is stripped" "$tmp/.text"
}
ok "it is all of them" complete
profile stripped.log "$tmp/stripped"
ok "without: fewer names" prints 0 "is stripped: only exported" \
	"$pmclog" report "$tmp/stripped.log"
bad_packed()
{
	local i
	for i in {1..12}; do
		perl -e 'srand(shift); local $/; $_ = <STDIN>; substr($_,
			rand length, 1) = chr rand 256 for 1 .. rand 6;
			$_ = substr $_, 0, rand length if rand() < .3; print' \
			"$i" <"$tmp/mini.xz" >"$tmp/bad.xz"
		objcopy --add-section .gnu_debugdata="$tmp/bad.xz" \
			"$tmp/stripped" "$tmp/packed"
		timeout 60 "$pmclog" fold "$tmp/packed.log" >/dev/null ||
			return
	done
}
ok "damaged packs" bad_packed
head -c 140M /dev/zero | xz -0 >"$tmp/bomb.xz"
objcopy --add-section .gnu_debugdata="$tmp/bomb.xz" "$tmp/stripped" \
	"$tmp/packed"
ok "a pack that is too large" prints 0 "is stripped: only exported" \
	timeout 60 "$pmclog" report "$tmp/packed.log"

# sections packed by zstd
if objcopy --compress-debug-sections=zstd "$tmp/full" "$tmp/zstd" \
	2>/dev/null && readelf -t "$tmp/zstd" | grep -q ZSTD; then
	at=$(symbol "$tmp/full" leaf)
	line=$(addr2line -e "$tmp/full" "$at" | sed 's/ (.*//; s/.*\///')
	ok "lines, of sections packed by zstd" prints 0 "$line" \
		"$pmclog" symbolize -e "$tmp/zstd" "$at"
else
	skip "lines, of sections packed by zstd" "no zstd in binutils"
fi

# the common parts of two debug files in a third
dwz_lines()	# WANTED-STATUS
{
	"$pmclog" symbolize "${root[@]}" -e "$1" "$at" >"$tmp/.text"
	cat "$tmp/.text"
	grep -q "$line" "$tmp/.text"
}
if command -v dwz >/dev/null; then
	mkdir -p "$tmp/r/bin" "$tmp/r/dbg"
	for i in 1 2 3 4; do
		cp "$tmp/full" "$tmp/r/bin/p$i"
	done
	(cd "$tmp/r/bin" && dwz -m common -M /dbg/common p1 p2 p3 p4) \
		2>"$tmp/.dwz"
	at=$(symbol "$tmp/full" leaf)
	line=$(addr2line -e "$tmp/full" "$at" | sed 's/ (.*//; s/.*\///')
	mv "$tmp/r/bin/common" "$tmp/r/dbg"
	root=(-r "$tmp/r")
	ok "DWARF with its common parts elsewhere (dwz), below --root" \
		dwz_lines /bin/p1
	mv "$tmp/r/dbg/common" "$tmp/common"
	common=$(id_of "$tmp/common")
	mkdir -p "$tmp/r/usr/lib/debug/.build-id/${common:0:2}"
	cp "$tmp/common" \
		"$tmp/r/usr/lib/debug/.build-id/${common:0:2}/${common:2}.debug"
	ok "by its build-id" dwz_lines /bin/p1
	rm -r "$tmp/r/usr"
	mkfifo "$tmp/r/dbg/common"
	ok "a FIFO in its place holds nothing up" timeout 20 "$pmclog" \
		symbolize "${root[@]}" -e /bin/p1 "$at"
	rm "$tmp/r/dbg/common"
	cp "$tmp/full" "$tmp/r/dbg/common"
	not_it() { ! dwz_lines "$1"; }
	ok "another file in its place is not used" not_it /bin/p1

	# beside ROOT NAME: programs in ROOT/bin, whose common parts are at NAME from there
	beside()
	{
		mkdir -p "$1/bin" "$(dirname "$1/bin/$2")"
		for i in 1 2 3 4; do
			cp "$tmp/full" "$1/bin/p$i"
		done
		(cd "$1/bin" && dwz -m "$2" -M "$2" p1 p2 p3 p4) 2>"$tmp/.dwz"
		root=(-r "$1")
	}
	beside "$tmp/r2" ../dbg/common
	ok "a relative name, below --root" dwz_lines /bin/p1
	mkdir "$tmp/outside"
	mv "$tmp/r2/dbg/common" "$tmp/outside"
	rmdir "$tmp/r2/dbg"
	ln -s "$tmp/outside" "$tmp/r2/dbg"
	ok "it does not leave it by a symbolic link" not_it /bin/p1
	beside "$tmp/r3/root" ../../outside/common
	ok "nor by .." not_it /bin/p1
	not_packed()
	{
		printf 'event cpu-clock 1000\n%s\nsample 1 7 %s+%s\n' \
			"$(load 7 $base "$tmp/r3/root/bin/p1" /bin/p1)" $base "$at" | log r3.log
		"$pmclog" archive "${root[@]}" -o "$tmp/r3.tar" "$tmp/r3.log" &&
			tar tf "$tmp/r3.tar" >"$tmp/r3.list" && grep /bin/p1 "$tmp/r3.list" &&
			! grep "$(id_of "$tmp/r3/outside/common" | cut -c3-)" "$tmp/r3.list"
	}
	ok "archive does not take it" not_packed
else
	skip "DWARF with its common parts elsewhere" "no dwz"
fi

# a server
export HOME=$tmp DEBUGINFOD_CACHE_PATH=$tmp/cache
served=$tmp/served/buildid/$id
mkdir -p "$served"
cp "$tmp/debug" "$served/debuginfo"
cat >"$tmp/server.py" <<-'EOF'
	import http.server, os, sys
	os.chdir(sys.argv[1])
	class Handler(http.server.SimpleHTTPRequestHandler):
	    def log_message(self, format, *args):
	        print(format % args, file=open(sys.argv[2], "a"))
	s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
	print(s.server_address[1], flush=True)
	s.serve_forever()
EOF
exec 5< <(exec python3 "$tmp/server.py" "$tmp/served" "$tmp/asked")
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
read -r port <&5
export DEBUGINFOD_URLS=http://127.0.0.1:$port
ok "servers are not asked by themselves" prints 0 "is stripped" \
	"$pmclog" report "$tmp/stripped.log"
ok "really not" test ! -e "$tmp/asked"
DEBUGINFOD_URLS='' ok "nor if there is none" prints 2 "names no server" \
	env -u DEBUGINFOD_URLS "$pmclog" fold --debuginfod "$tmp/stripped.log"
if ldconfig -p | grep -q libdebuginfod.so.1; then
	# the libraries behind it leave something allocated
	export ASAN_OPTIONS=detect_leaks=0
	ok "--debuginfod" same "$want" \
		"$pmclog" fold --debuginfod "$tmp/stripped.log"
	ok "one question" [ "$(grep -c GET "$tmp/asked")" = 1 ]
	rm -rf "$tmp/cache"
	cp "$0" "$served/debuginfo"
	ok "what is no such file is not used" prints 0 "is stripped" \
		"$pmclog" report --debuginfod "$tmp/stripped.log"
	rm -rf "$tmp/cache" "$served" "$tmp/asked"
	{
		echo "event cpu-clock 1000"
		for i in 1 2 3; do
			cp "$tmp/stripped" "$tmp/copy$i"
			load $i $base "$tmp/full" "$tmp/copy$i"
			echo "sample 1 $i $base+$(symbol "$tmp/full" leaf)"
		done
		echo "proc 4 p"
		load 4 $base "$tmp/full" "$tmp/unused"
	} | log copies.log
	ok "nobody has it" prints 0 "is stripped" \
		"$pmclog" report --debuginfod "$tmp/copies.log"
	ok "then it is asked for once" [ "$(grep -c GET "$tmp/asked")" = 1 ]
	kill $server
	rm -rf "$tmp/cache"
	ok "no server: said once, and the rest is shown" prints 0 \
		"debuginfod: .*not asked any more" \
		timeout 60 "$pmclog" report --debuginfod "$tmp/copies.log"
else
	skip "--debuginfod" "no libdebuginfod"
fi

done_testing
