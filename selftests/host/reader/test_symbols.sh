#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of functions of real files, whichever way they are linked.
. "$(dirname "$0")/lib.sh"

cc="${CC:-cc} -falign-functions=1 -fno-toplevel-reorder"
src=$HERE/programs/shapes.c

# chain FILE BASE: main calls calls() calls leaf(), as pcs of a sample
chain()
{
	echo "$2+$(symbol "$1" leaf)+5" \
	     "$2+$(symbol "$1" calls)+9" \
	     "$2+$(symbol "$1" main)+30"
}

# names NAME FILE BASE WANT [PATH]: what a sample in FILE is folded to
names()
{
	{
		load 7 "$3" "$2" "${5:-}"
		echo "sample 5 7 $(chain "${6:-$2}" "$3")"
	} | prog_log "$1"
	folds "$1" "$4"
}

want="prog;main;calls;leaf 5"

$cc -O1 -g -fPIE -pie -o "$tmp/pie" "$src"
ok "a position-independent program" names l1 "$tmp/pie" \
	$((0x555500000000)) "$want"
$cc -O1 -g -fno-pie -no-pie -o "$tmp/fixed" "$src"
ok "one linked at a fixed address" names l2 "$tmp/fixed" 0 "$want"
$cc -O1 -g -fPIE -pie -Wl,-z,separate-code -o "$tmp/sep" "$src"
ok "code in pages of its own" names l3 "$tmp/sep" \
	$((0x555500000000)) "$want"
$cc -O1 -g -fPIE -pie -Wl,-z,noseparate-code -o "$tmp/nosep" "$src"
ok "code and headers in one page" names l4 "$tmp/nosep" \
	$((0x555500000000)) "$want"
$cc -O1 -g -fPIE -pie -Wl,-z,max-page-size=65536 \
	-Wl,-Ttext-segment=0x4321000 -o "$tmp/odd" "$src" 2>/dev/null
ok "a first address that is not 0" names l5 "$tmp/odd" \
	$((0x7f1100000000)) "$want"

# the extent of a mapping that was not told is that of the file's code
base=$((0x555500000000))
read -r off vaddr < <(readelf -lW "$tmp/pie" |
	awk '$1 == "LOAD" && / E /{ print $2, $3 }')
prog_log l6 <<-EOF
	mapin 7 $base+$((vaddr & ~4095)) $tmp/pie
	sample 5 7 $(chain "$tmp/pie" $base)
	sample 1 7 $base+$((vaddr + 0x100000))
EOF
ok "a mapping without extent: the file knows" folds l6 "\
prog;[unknown] 1
$want"

prog_log l7 <<-EOF
	$(load 7 $base "$tmp/pie")
	sample 1 7 $base+$(symbol "$tmp/pie" after)
	sample 2 7 $base+$(symbol "$tmp/pie" leaf)+4 $base+$(symbol "$tmp/pie" after)
	sample 4 7 0xffffffff81000000 $base+$(symbol "$tmp/pie" after) $base+$(symbol "$tmp/pie" after)
EOF
ok "a return address behind a call that does not return" folds l7 "\
prog;after 1
prog;stops;after;[kernel]_[k] 4
prog;stops;leaf 2"

# stripped, with the symbols in a separate file
id=$(id_of "$tmp/pie")
mkdir -p "$tmp/root/opt" "$tmp/root/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$tmp/pie" \
	"$tmp/root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o "$tmp/root/opt/prog" "$tmp/pie"
by_root()
{
	{
		load 7 "$base" "$tmp/pie" /opt/prog
		echo "sample 5 7 $(chain "$tmp/pie" "$base")"
	} | prog_log "$1"
	same "$2" "$pmclog" fold -r "$tmp/root" "$tmp/$1"
}
ok "separate symbols by build-id, below --root" by_root l8 "$want"
mv "$tmp/root/usr/lib/debug/.build-id" "$tmp/root/usr/lib/debug/elsewhere"
entry()
{
	printf 'prog+%#x' "$(symbol "$tmp/pie" "$1")"
}
ok "stripped: functions by where they begin" by_root l9 \
	"prog;$(entry main);$(entry calls);$(entry leaf) 5"

ok "and the report says so" prints 0 "/opt/prog: is stripped" \
	"$pmclog" report -r "$tmp/root" "$tmp/l9"

$cc -O1 -g -fPIE -pie -Wl,--build-id=none -o "$tmp/noid" "$src"
mkdir -p "$tmp/root/opt/.debug"
objcopy --only-keep-debug "$tmp/noid" "$tmp/root/opt/.debug/noid.debug"
strip -o "$tmp/root/opt/noid" "$tmp/noid"
(cd "$tmp/root/opt/.debug" &&
 objcopy --add-gnu-debuglink=noid.debug ../noid)
by_link()
{
	{
		load 7 "$base" "$tmp/noid" /opt/noid
		echo "sample 5 7 $(chain "$tmp/noid" "$base")"
	} | prog_log l10
	same "$1" "$pmclog" fold -r "$tmp/root" "$tmp/l10"
}
ok "separate symbols by debuglink" by_link "$want"
echo >>"$tmp/root/opt/.debug/noid.debug"
entry_noid()
{
	printf 'noid+%#x' "$(symbol "$tmp/noid" "$1")"
}
ok "not if its checksum is wrong" by_link \
	"prog;$(entry_noid main);$(entry_noid calls);$(entry_noid leaf) 5"

ln -s /opt/prog "$tmp/root/link"
mv "$tmp/root/usr/lib/debug/elsewhere" "$tmp/root/usr/lib/debug/.build-id"
{
	load 7 "$base" "$tmp/pie" /link
	echo "sample 5 7 $(chain "$tmp/pie" "$base")"
} | prog_log l11
ok "absolute links stay below --root" same "$want" \
	"$pmclog" fold -r "$tmp/root" "$tmp/l11"

# build-ids of the log
buildid()
{
	{
		load 7 "$base" "$tmp/pie"
		echo "buildid $1 $tmp/pie"
		echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
	} | prog_log l12
}
buildid "$id"
ok "the logged build-id agrees" folds l12 "prog;leaf 5"
buildid "00${id:2}"
ok "another build-id: not used" folds l12 "prog;[pie] 5"
ok "and the report says so" prints 0 "pie: file was replaced since (build-id differs)" \
	"$pmclog" report "$tmp/l12"

# pmcstat writes the build-ids when the recording is over
ids_last() # NAME ID
{
	{
		load 7 "$base" "$tmp/pie"
		echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
		echo "buildid $2 $tmp/pie"
	} | prog_log "$1"
}
# exports LOG NAMED STATUS COMMAND...: each format from LOG, by what COMMAND has read
exports()
{
	local to log=$1 named=$2 status=$3 got wrong=0
	for to in folded perf-script csv jsonl clickhouse firefox pprof \
		speedscope callgrind; do
		"$pmclog" export --to $to -o "$tmp/out" "$log" <"$tmp/ids" \
			2>"$tmp/err"
		got=$?
		[ $got = "$status" ] || { echo "$to: status $got"; wrong=1; }
		if gzip -t "$tmp/out" 2>"$tmp/.err"; then
			gunzip <"$tmp/out" >"$tmp/plain"
		else
			cp "$tmp/out" "$tmp/plain"
		fi
		grep -q leaf "$tmp/plain"
		[ $? = "$named" ] || { echo "$to: names are wrong"; wrong=1; }
	done
	return $wrong
}
ids_last ids "$id"
ok "build-ids come last: each format has the names" exports "$tmp/ids" 0 0
ids_last ids "00${id:2}"
ok "not those of another file" exports "$tmp/ids" 1 0
ok "nor of a file as standard input" exports - 1 0
mkdir "$tmp/dir"
cp "$tmp/ids" "$tmp/dir/"
ok "nor of a directory" exports "$tmp/dir" 1 0
# shellcheck disable=SC2002
by_pipe() { cat "$tmp/ids" | prints 1 "functions of $tmp/pie are wrong.*build-id" "$@"; }
ok "names by a pipe were wrong: it is told" by_pipe "$pmclog" export --to csv -
part_is() # FUNCTION WANT: the samples with it, and their stacks
{
	"$pmclog" filter --sym "$1" -o "$tmp/part" "$tmp/ids" &&
		[ "$("$pmclog" fold "$tmp/part")" = "$2" ]
}
ok "filter: a function of another file is not there" part_is leaf ""
# so many samples that the first screen comes before all were read
{
	load 7 "$base" "$tmp/pie"
	echo "sample 800000 7 $base+$(symbol "$tmp/pie" leaf)"
	echo "buildid 00${id:2} $tmp/pie"
} | prog_log many
top_names() { "$pmclog" top -w 1ns "$tmp/many" | grep '^ *100\.0' | awk '{ print $3 }' | sort -u; }
ok "top: from the first screen on" test "$(top_names)" != leaf
ok "by a pipe: it is told" by_pipe "$pmclog" filter --sym leaf -o "$tmp/part" -

# several files of one path: each has its own
twins()
{
	{
		echo "file 8 1 100"
		load 7 "$base" "$tmp/pie"
		echo "proc 8 two"
		echo "file 8 2 100"
		load 8 "$base" "$tmp/pie"
		printf '%s\n' "${@:2}"
		echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
		echo "sample 5 8 $base+$(symbol "$tmp/pie" leaf)"
	} | prog_log l19 one
	folds l19 "$1"
}
ok "build-ids of two files of one path" twins "\
one;[pie] 5
two;leaf 5" "buildid 00${id:2} 8:1:100:$tmp/pie" "buildid $id 8:2:100:$tmp/pie"
ok "a file that is known to be the other one" twins "\
one;[pie] 5
two;leaf 5" "buildid $id 8:2:100:$tmp/pie"
ok "and the report says so" prints 0 "pie: is another file of that path" \
	"$pmclog" report "$tmp/l19"

twins "one;leaf 5
two;[pie] 5" "buildid $id 8:1:100:$tmp/pie" "buildid 00${id:2} 8:2:100:$tmp/pie"
ok "the reason is that of the file without names" prints 0 \
	"50.00 %  $tmp/pie: file was replaced since (build-id differs)" \
	"$pmclog" report "$tmp/l19"

# a program that was built anew between two recordings
recorded() # INODE ID
{
	echo "event cpu-clock 1000"
	echo "proc 7 ino$1"
	echo "file 8 1 $1"
	load 7 "$base" "$tmp/pie"
	echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
	echo "buildid $2 $tmp/pie"
}
mkdir "$tmp/both"
recorded 100 "00${id:2}" | log both/1
recorded 200 "$id" | "$BIN/script2log" "$tmp/both/2" 1000000000
cat "$tmp/both/1" "$tmp/both/2" >"$tmp/l21"
anew="ino100;[pie] 5
ino200;leaf 5"
ok "each log of a stream has its own file" folds l21 "$anew"
ok "each of a directory" folds both "$anew"
streamed()
{
	"$pmclog" export --to csv "$1" 2>"$tmp/err" |
		awk -F, 'NR > 1 { n[$5 " " $9]++ } END { for (i in n) print i, n[i] }' |
		sort | same "$2" cat
}
rows='"ino100" "[pie]" 5
"ino200" "leaf" 5'
ok "and in a format that is written as it is read" streamed "$tmp/l21" "$rows"
ok "of a directory, too" streamed "$tmp/both" "$rows"

# without an id, on the machine that recorded: inode and time
here() # WALL INODE+ WANT [MINOR+ [FILE [END]]]
{
	local dev ino file=${5:-$tmp/pie}
	read -r dev ino < <(stat -c '%d %i' "$tmp/pie")
	{
		echo "wall $1"
		echo "host $(uname -r) $(uname -n)"
		echo "event cpu-clock 1000"
		echo "proc 7 prog"
		echo "file $((dev >> 8)) $(((dev & 255) + ${4:-0})) $((ino + $2))"
		load 7 "$base" "$tmp/pie" "$file"
		[ ! "${6:-}" ] || echo "at $6"
		echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
	} | log l20
	${5:+in_overlay} folds l20 "$3"
}
now=$(date +%s)
ok "no build-id, the same inode" here $((now + 100)) 0 "prog;leaf 5"
ok "another inode" here $((now + 100)) 1 "prog;[pie] 5"
ok "written to since" here $((now - 100)) 0 "prog;[pie] 5"
long=200000000000	# ns
ok "written to when it was mapped, before the log's end" here $((now - 100)) 0 "prog;[pie] 5" 0 "" $long
touched=$(stat -c %Y "$tmp/pie")
ok "just before it was mapped" here $((touched + 1)) 0 "prog;leaf 5" 0 "" $long

# a suspend between the log's beginning and the mapping, and another log behind it
after_suspend()
{
	local dev ino
	read -r dev ino < <(stat -c '%d %i' "$tmp/pie")
	{
		printf 'wall %s\nhost %s %s\nevent cpu-clock 1000\nproc 7 prog\n' $((touched - 30000)) "$(uname -r)" "$(uname -n)"
		printf 'at 1000000000\nclock 1000000000 %s000000000\n' $((touched + 1))
		echo "file $((dev >> 8)) $((dev & 255)) $ino"
		load 7 "$base" "$tmp/pie"
		echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
	} | log l22a
	printf 'wall %s\nhost %s %s\nevent cpu-clock 1000\n' $((touched + 100)) "$(uname -r)" "$(uname -n)" | log l22b
	cat "$tmp/l22a" "$tmp/l22b" >"$tmp/l22"
	folds l22a "prog;leaf 5" && folds l22 "prog;leaf 5"
}
ok "after a suspend, with another log behind" after_suspend

# two files, one after another: an archive has only one of them
twice()
{
	local dev ino
	read -r dev ino < <(stat -c '%d %i' "$tmp/pie")
	{
		printf 'wall %s\nhost %s elsewhere\nevent cpu-clock 1000\nproc 7 prog\n' "$now" "$(uname -r)"
		for n in "${@:2}"; do
			echo "file $((dev >> 8)) $(((dev & 255) + ${n#*:})) $((ino + ${n%:*}))"
			load 7 "$base" "$tmp/pie"
			echo "sample 5 7 $base+$(symbol "$tmp/pie" leaf)"
		done
	} | log l21
	mkdir -p "$tmp/below$tmp"
	cp "$tmp/pie" "$tmp/below$tmp"
	same "$1" "$pmclog" fold -r "$tmp/below" "$tmp/l21"
}
ok "below another root" twice "prog;leaf 10" 0:0 0:0
ok "two files of that path, without an id" twice "prog;[pie] 10" 0:0 1:0
# which one file has on an overlay, before the recording and in it
ok "one with two devices" twice "prog;leaf 10" 0:0 1:1

# stat(2) of a subvolume (btrfs) has another device than the mapping, but its inode; on
# an overlay both may be others
ok "another device, the same inode" here $((now + 100)) 0 "prog;leaf 5" 1
if [ "$(stat -f -c %T "$tmp")" = overlayfs ]; then
	skip "another device, another inode" "this is an overlay"
else
	ok "another device, another inode" here $((now + 100)) 1 "prog;[pie] 5" 1
fi
in_overlay()
{
	pmclog=overlaid "$@"
}
overlaid()
{
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t overlay overlay -o "lowerdir=$0/low:$0/none" "$0/on" &&
		exec "$@"' "$tmp" "$real_pmclog" "$@"
}
real_pmclog=$pmclog
mkdir "$tmp/low" "$tmp/none" "$tmp/on"
cp -p "$tmp/pie" "$tmp/low"
if overlaid --version >"$tmp/.text" 2>&1; then
	ok "of an overlay" here $((now + 100)) 1 "prog;leaf 5" 1 "$tmp/on/pie"
	ok "written to since" here $((now - 100)) 1 "prog;[pie] 5" 1 "$tmp/on/pie"
else
	skip "of an overlay" "none can be mounted"
fi

prog_log l13 <<-EOF
	$(load 7 $base "$tmp/pie" "$tmp/pie\\x20(deleted)")
	sample 5 7 $base+$(symbol "$tmp/pie" leaf)
EOF
ok "a deleted file: what has its name now is not used" \
	prints 0 "(deleted): was deleted" "$pmclog" report "$tmp/l13"

# C++
"${CXX:-c++}" -O1 -g -fPIE -pie -o "$tmp/cxx" "$HERE/programs/shapes.cc"
area=_ZN5shape3BoxIdE4areaEdi
prog_log l14 <<-EOF
	$(load 7 $base "$tmp/cxx")
	sample 5 7 $base+$(symbol "$tmp/cxx" $area)
EOF
ok "C++ names" folds l14 "prog;shape::Box<double>::area(double, int) 5"
ok "--no-demangle" same "prog;$area 5" \
	"$pmclog" fold --no-demangle "$tmp/l14"

# Swift's names begin with what else marks a label of the assembler
swift='$s4main3fooyyF'
cat >"$tmp/swift.c" <<-EOF
	__asm__(".type \"$swift\", %function\n"
		"\"$swift\": .long 0, 0\n"
		".size \"$swift\", 8");
	int main(void) { return 0; }
EOF
$cc -O1 -fPIE -pie -o "$tmp/swift" "$tmp/swift.c"
prog_log l19 <<-EOF
	$(load 7 $base "$tmp/swift")
	sample 5 7 $base+$(symbol "$tmp/swift" "$swift")
EOF
ok "names of Swift" folds l19 "prog;$swift 5"

# calls of other libraries
plt=$(objdump -d "$tmp/pie" |
	awk '/<abort@plt>:/{ print "0x" $1; exit }')
prog_log l15 <<-EOF
	$(load 7 $base "$tmp/pie")
	sample 5 7 $base+$plt
EOF
ok "the procedure linkage table" folds l15 "prog;abort@plt 5"

$cc -O1 -fPIE -pie -fcf-protection -Wl,-z,ibtplt -o "$tmp/ibt" "$src"
plt=$(objdump -d -j .plt.sec "$tmp/ibt" 2>/dev/null |
	awk '/<abort@plt>:/{ print "0x" $1; exit }')
if [ -n "$plt" ]; then
	prog_log l18 <<-EOF
		$(load 7 $base "$tmp/ibt")
		sample 5 7 $base+$plt
	EOF
	ok "with IBT" folds l18 "prog;abort@plt 5"
else
	skip "with IBT" "this linker makes no .plt.sec"
fi

# files that are none
mkfifo "$tmp/fifo"
: >"$tmp/empty"
echo text >"$tmp/text"
prog_log l16 <<-EOF
	map 7 0x10000 0x1000 0 $tmp/fifo
	map 7 0x20000 0x1000 0 $tmp/empty
	map 7 0x30000 0x1000 0 $tmp/text
	map 7 0x40000 0x1000 0 $tmp
	map 7 0x50000 0x1000 0 /dev/zero
	mapin 7 0x60000 $tmp/fifo
	map 7 0x70000 0x1000 0 //anon
	map 7 0x7fff00080000 0x1000 0 [vdso]
	sample 1 7 0x10010
	sample 1 7 0x20010
	sample 1 7 0x30010
	sample 1 7 0x40010
	sample 1 7 0x50010
	sample 1 7 0x60010
	sample 1 7 0x70010
	sample 1 7 0x7fff00080010
EOF
odd_files()
{
	timeout 20 "$pmclog" report --flat "$tmp/l16" >"$tmp/.text" || return
	cat "$tmp/.text"
	[ "$(grep -c 'not a regular file$' "$tmp/.text")" = 3 ] &&
	[ "$(grep -c 'not an ELF file$' "$tmp/.text")" = 2 ] &&
	grep -q '\[vdso\]: is of another ' "$tmp/.text"
}
ok "FIFOs, directories, devices, text: refused, and said so" odd_files

# what is read of them may be gone
of_kernel()
{
	local file
	for file in /proc/version /proc/self/stat /sys/kernel/notes /sys/fs/cgroup/cgroup.procs \
		/sys/fs/cgroup/cpu/cgroup.procs /sys/fs/cgroup/unified/cgroup.procs; do
		[ -f $file ] || continue
		prog_log l19 <<-EOF
			map 7 0x10000 0x1000 0 $file
			sample 1 7 0x10010
		EOF
		prints 0 "$file: a file of procfs, sysfs or the like\$" \
			"$pmclog" report --flat "$tmp/l19" || return
	done
}
ok "files that the kernel makes: refused" of_kernel
user_names()
{
	"$pmclog" report --flat -k /proc/kallsyms "$tmp/l19" >"$tmp/named" 2>&1 &&
		! grep 'kallsyms: a file of procfs' "$tmp/named"
}
ok "but a user can name one" user_names

# the vdso: the kernel's, so it goes by that
cat >"$tmp/vdso.py" <<-EOF
	import ctypes
	for l in open("/proc/self/maps"):
	    if "[vdso]" in l:
	        a, b = (int(x, 16) for x in l.split()[0].split("-"))
	        open("$tmp/vdso", "wb").write(ctypes.string_at(a, b - a))
EOF
python3 "$tmp/vdso.py"
vdso=$(id_of "$tmp/vdso")
read -r at < <(readelf -sW "$tmp/vdso" | awk '
	$4 == "FUNC" && $5 == "GLOBAL" { print "0x" $2; exit }')
in_vdso()
{
	local want=$1 shown
	shift
	{
		printf '%s\n' "$@"
		echo "event cpu-clock 1000"
		echo "proc 7 prog"
		echo "map 7 0x7fff00080000 0x2000 0 [vdso]"
		echo "sample 1 7 0x7fff00080000+$at"
	} | log l17
	"$pmclog" fold "$tmp/l17" >"$tmp/.text" || return
	cat "$tmp/.text"
	if [ "$want" = no ]; then
		grep -q '^prog;\[vdso\] 1$' "$tmp/.text"
		return
	fi
	# aliases have one address: any of them
	shown=$(sed -n 's/^prog;\([a-z_]*\) 1$/\1/p' "$tmp/.text")
	[ -n "$shown" ] && readelf -sW "$tmp/vdso" | grep "${at#0x}" |
		grep -q " $shown\(@.*\)*$"
}
if [ -n "$vdso" ] && [ -n "$at" ]; then
	ok "the vdso of the kernel that recorded" in_vdso named \
		"host $(uname -r) $(uname -n)"
	ok "by its build-id, on any machine" in_vdso named \
		"host 1.2.3 elsewhere" "buildid $vdso [vdso]"
	ok "not of another build, on the same machine" in_vdso no \
		"host $(uname -r) $(uname -n)" "buildid 00${vdso:2} [vdso]"
	ok "and the report says so" prints 0 \
		"vdso.: is of another kernel than the one that runs here" \
		"$pmclog" report "$tmp/l17"
	ok "not of another machine" in_vdso no "host 1.2.3 elsewhere"
else
	skip "the vdso" "it has no build-id or no symbols here"
fi

for command in report fold flame 'export --to csv' archive top; do
	# shellcheck disable=SC2086
	ok "$command: a root that is not there" prints 2 \
		"--root $tmp/nodir: No such file" \
		"$pmclog" $command -r "$tmp/nodir" "$tmp/l1"
done
ok "or that is none" prints 2 "Not a directory" \
	"$pmclog" report -r "$tmp/l1" "$tmp/l1"

done_testing
