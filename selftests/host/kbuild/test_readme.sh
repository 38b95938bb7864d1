#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_readme.sh
#
# What README.md, CONTRIBUTING.md and the guide say to type can be typed: each "make X"
# is a target, each script is there and is told of kernels and kselftests that there
# are, the programs that the benchmarks and fuzzers run are built, and each example of a
# tool is understood by the tool. The files that they name are there. The examples of the
# manual pages of the tools are understood, too. Nothing is measured, and nothing is
# recorded. TAP.

# The functions that ok() runs look unreachable to shellcheck. Backquotes are those of
# the document.
# shellcheck disable=SC2317,SC2016
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
readme=$root/README.md
contributing=$root/CONTRIBUTING.md
tour=$root/Documentation/guide/tour.rst
testing=$root/Documentation/guide/testing.rst
analysis=$root/Documentation/guide/analysis.rst
recorder=$root/Documentation/guide/recorder.rst
sources=$root/Documentation/guide/event-sources.rst
documents=("$readme" "$contributing" "$tour" "$testing" "$analysis" "$recorder" "$sources")
pmcstat=$root/Documentation/man/pmcstat.8
pmclog=$root/Documentation/man/pmclog.1
pmccontrol=$root/Documentation/man/pmccontrol.8
pages=("$pmcstat" "$pmclog" "$pmccontrol")
tools=$root/build/tools/bin
golden=$root/selftests/host/log/golden/full.pmclog

# literal FILE: the lines of its literal blocks; of a manual page, of its examples.
literal() {
	if [[ $1 == *.[1-8] ]]; then
		sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$1" |
			sed -n 's/^\.Dl //p; /^\.Bd -literal/,/^\.Ed/ { /^\./!s/\\e/\\/p; /^\./!t; /^\./!p; }'
	else
		sed -En 's/^    +//p' "$1"
	fi
}

# commands FILE WORD...: the lines of its literal blocks that begin with a WORD, behind
# a prompt or not, without what explains them. A command that is shown to be refused is
# none of them.
commands() {
	local file=$1
	shift
	literal "$file" | sed -E 's/  +#.*//; s/ +$//; s/^[a-z]*[$#] //' |
		sed -E ':more; /(\\|\|)$/ { N; s/\\?\n */ /; b more; }' |
		awk 'NR > 1 && !/^pmc[a-z]*: .*\(try pmc/ { print last }
			{ last = $0 } END { print last }' |
		grep -E "^($(IFS='|'; echo "$*")) "
}

# targets FILE: what it tells to make, in blocks and in the text, a line each.
targets() {
	{ commands "$1" make | grep -Eo 'make [^&|]*'
	  grep -Eo '`make [^`]*`' "$1" | tr -d '`'; } | sort -u
}

# The KERNEL of check-KERNEL is one of those that the tests know: the pattern takes any.
is_kernel() {
	[[ $1 =~ ^(6\.1|6\.12|6\.12-rt|6\.18|newest|6\.12-arm64|debug|debug-amd64|kcsan|full|nmipmu)$ ]]
}

# scripts FILE: the lines of its blocks that begin with a script of ours, by its path,
# or with a variable before that.
scripts() {
	sed -En 's/^    +//p' "$1" | sed -E 's/  +#.*//; s/ +$//' |
		sed -E 's/^[A-Za-z_]+=[^ (]+ +//' | grep -E '^(scripts|selftests|bench|\.ci)/'
}

# is_script LINE: it can be run, and its kernel and kselftests are there.
is_script() {
	local -a words
	local name
	read -ra words <<<"$1"
	[[ -x $root/${words[0]} && ! -d $root/${words[0]} ]] || { echo "no script"; return 1; }
	[[ $1 =~ --kernel\ ([^ ]*) ]] && ! is_kernel "${BASH_REMATCH[1]}" && { echo "no kernel"; return 1; }
	[[ ${words[0]} == */run-kselftests ]] || return 0
	set -- "${words[@]:1}"
	while [[ $1 == --* ]]; do
		shift
	done
	is_kernel "$1" || { echo "$1: no kernel"; return 1; }
	for name in "${@:2}"; do
		find "$root/selftests/kselftest" -name "${name%.sh}.[cs]*" | grep -q . ||
			{ echo "$name: no kselftest"; return 1; }
	done
}

all_are_scripts() {
	local line bad=0
	while read -r line; do
		is_script "$line" >"$tmp/script" || { echo "$line: $(cat "$tmp/script")"; bad=1; }
	done < <(scripts "$1")
	return $bad
}

# paths FILE: the files of ours that it names in its text or links to. Patterns are
# the shell's; names in capitals stand for others; tools/testing and what is in it are the
# kernel's.
paths() {
	grep -Eo '`[^` ]+`|\]\([^)]+\)' "$1" | tr -d '`()' | sed 's/^\]//' |
		grep -E '^(src|include|tools|selftests|scripts|bench|contrib|Documentation)/|^[a-z_0-9]+\.[ch]$|^(COPYING|Makefile|dkms.conf|[A-Z]+\.md)$' |
		grep -Ev '/[^/]*[A-Z]{4}|^tools/testing/|^kselftest_harness' | sort -u
}

# A name without a folder is that of a source, anywhere.
is_there() {
	if [[ $1 == [a-z]*.[ch] && $1 != */* ]]; then
		find "$root"/{src,include,tools,selftests} -name "$1" | grep -q .
	else
		compgen -G "$root/$1" >/dev/null
	fi
}

all_are_there() {
	local path bad=0
	while read -r path; do
		is_there "$path" || { echo "$path: not there"; bad=1; }
	done < <(paths "$1")
	return $bad
}

# The words of all sources.
words() {
	find "$root"/{src,include,tools,selftests,bench,scripts} -type f ! -path '*/host/kbuild/*' -print0 |
		LC_ALL=C xargs -0 grep -hoa '[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u
}

# The functions that DOCUMENT names, without the kernel's.
functions_exist() {
	grep -Eo '`[a-z_][A-Za-z0-9_]*\(\)`' "$1" | tr -d '`()' | LC_ALL=C sort -u |
		grep -v '^perf_event_throttle$' | LC_ALL=C comm -23 - "$tmp/words" | sed 's/$/(): not there/' >"$tmp/gone"
	cat "$tmp/gone"
	[[ ! -s $tmp/gone ]]
}

# Nor one of another file than the one that it is said to be "in".
functions_are_in() {
	local name file bad=0
	while read -r name file; do
		git -C "$root" ls-files | grep -E "(^|/)$file$" | (cd "$root" && xargs grep -qwF "$name") ||
			{ echo "$name(): not in $file"; bad=1; }
	done < <(tr -s ' \n' ' ' <"$1" | grep -Eo '`[a-z_0-9]+\(\)` in `[a-z_0-9/-]+\.[ch]`' | tr -d '`()' | sed 's/ in / /')
	return $bad
}

# Whoever looks for the subject of a source finds it.
all_sources_are_named() {
	local source bad=0
	while read -r source; do
		grep -qF "\`${source##*/}\`" "$1" || { echo "${source##*/}: not named"; bad=1; }
	done < <(find "$root/src" -name '*.c' ! -path '*/probe/*')
	return $bad
}

# is_target make WORD...: make knows what to do, and does not do it.
is_target() {
	local word
	for word; do
		[[ $word != check-* ]] || is_kernel "${word#check-}" || { echo "$word: no such kernel"; return 1; }
	done
	# MAKE=true: what that make would call in turn is not called
	MAKEFLAGS='' make -n -C "$root" MAKE=true KDIR="$tmp" "${@:2}"
}

all_are_targets() {
	local line bad=0
	local -a words
	while read -r line; do
		mapfile -t words < <(xargs -n 1 <<<"$line")	# quotes as in a shell
		is_target "${words[@]}" >"$tmp/make" 2>&1 || { echo "$line"; cat "$tmp/make"; bad=1; }
	done < <(targets "$1")
	return $bad
}

# What stands in for others in the examples: of ssh, the command is run here. Each log
# that is named is the same one. pmcstat can record nothing: root has no capabilities.
stand_ins() {
	local name without=()
	((EUID)) || without=(setpriv --bounding-set=-all --inh-caps=-all)
	mkdir -p "$tmp/bin" "$tmp/work/logs" "$tmp/work/flight"
	touch "$tmp/Makefile"
	for name in make flaky program truth busybox; do
		printf '#!/bin/sh\n' >"$tmp/bin/$name"
	done
	"${CC:-cc}" -O2 -o "$tmp/bin/probed" "$root/selftests/workload/probed.c"
	printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$tmp/bin/ssh"
	chmod +x "$tmp"/bin/*
	ln -s ../bin/flaky ../bin/program "$tmp/work"
	for name in pmcstat pmclog pmccontrol; do
		printf '#!/bin/sh\n%s timeout 20 %s/%s "$@"\necho "%s $? $*" >>%s/statuses\n' \
			"${without[*]}" "$tools" $name $name "$tmp" >"$tmp/bin/$name"
		chmod +x "$tmp/bin/$name"
	done
	for name in log $(cat "${documents[@]}" "${pages[@]}" | grep -Eo '\b[a-z]+\.(pmclog|log)\b'); do
		cp "$golden" "$tmp/work/$name"
	done
	echo 'ffffffff81000000 T _text' | tee "$tmp/work/kallsyms" >"$tmp/work/kallsyms.saved"
}

# try LINE: as it stands there. Of what listens, only this machine can be the peer,
# and it ends by itself.
try() {
	local line=${1//0.0.0.0:4000/127.0.0.1:0}
	line=${line//\/var\/log\/pmc\//logs/}
	line=${line//\/usr\/bin\/probed/$tmp/bin/probed}
	line=${line//\/srv\/sysroot/.}
	: >"$tmp/statuses"
	(cd "$tmp/work" && PATH=$tmp/bin:$PATH timeout 60 bash -c "$line"$'\nwait' </dev/null) >"$tmp/said" 2>&1
	cat "$tmp/statuses" "$tmp/said"
	[[ -s $tmp/statuses ]]
}

# A wrong command line is said to be one. A machine without tracefs has no
# tracepoints, and only a virtual machine has nmipmu: that is no fault of the line.
understood() {
	try "$1" || return 1
	! grep -Eq 'tracefs is not there: mount|this machine has no PMU "nmipmu' "$tmp/said" || return 0
	# a wrong command line: 64 is pmcstat's and pmccontrol's status, 2 pmclog's
	! grep -Eq '^(pmcstat|pmccontrol) 64 |^pmclog 2 |try pmc|^usage:' "$tmp/statuses" "$tmp/said"
}

all_are_understood() {
	local line bad=0
	while read -r line; do
		understood "$line" >"$tmp/try" 2>&1 || { echo "$line"; sed 's/^/  /' "$tmp/try"; bad=1; }
	done < <(commands "$1" pmcstat pmclog pmccontrol)
	return $bad
}

# Of each kind there are so many at least, in all documents.
enough() {
	[[ $(commands "$1" pmcstat pmclog pmccontrol | wc -l) -gt ${2:-0} &&
	   $(targets "$1" | wc -l) -gt ${3:-0} && $(paths "$1" | wc -l) -gt ${4:-0} ]]
}

# found CHECK DOCUMENT CHANGE: the same with one thing wrong is found.
found() {
	local check=$1 document=$2 change=$3
	mkdir -p "$tmp/changed"
	set -- "$tmp/changed/${document##*/}"
	sed -E "$change" "$document" >"$1"
	! cmp -s "$document" "$1" && ! "$check" "$1" >/dev/null
}

build() {
	make -s -C "$root" "$@"
}

# The benchmarks' own scripts build these.
benchmarks() {
	build tools && build -C tools guest OUT="$root/build/guest-amd64" STATIC=1 &&
		build -C bench && [[ -x $root/build/bench-amd64/record && -e $root/build/bench-amd64/phases.so ]]
}

bench_module() {
	"$root/selftests/vm/module" "$root/bench/empty" 6.12 && [[ -e $root/build/empty/6.12/empty.ko ]]
}

bench_reader() {
	build -C bench/reader && [[ -x $root/build/bench-reader/scan ]]
}

# All samples of these loads are in their logs.
bench_writer() {
	build -C tools "$root/build/tools/lib/libpmclog.a" && build -C bench/writer &&
		"$root/build/bench-writer/writer" "$root/bench/writer/chains" \
			unpacked 3 50 4000 packed 100 50 10000 alone 1 1000 4000 >"$tmp/loads" &&
		[[ $(wc -l <"$tmp/loads") == 3 ]]
}

bench_build() {
	build guest-arm64 && [[ -x $root/build/guest-arm64/bin/pmcstat ]] &&
		build -C bench/build SRC="$root" OUT="$tmp/counted" CC=cc AR=ar
}

fuzzers() {
	build -C selftests/fuzz all && [[ -x $root/build/fuzz/bin/fuzz_command ]]
}

echo "TAP version 13"
ok "readme: programs of bench-kernel, bench-phases and bench-scaling" benchmarks
if "$root/selftests/vm/kernel" --cached 6.12 >/dev/null 2>&1; then
	ok "readme: module of bench-kernel" bench_module
else
	skip "readme: module of bench-kernel" "6.12 is not in the cache"
fi
ok "readme: programs of bench-build" bench_build
ok "readme: programs of bench-reader" bench_reader
ok "readme: programs of bench-writer" bench_writer
ok "readme: programs of fuzz" fuzzers
for document in "${documents[@]}"; do
	name=${document##*/}
	ok "$name: what it tells to make can be made" all_are_targets "$document"
	ok "$name: the scripts that it runs are there" all_are_scripts "$document"
	ok "$name: the files that it names are there" all_are_there "$document"
done
words >"$tmp/words"
for document in "$root"/{README,CONTRIBUTING}.md "$root"/Documentation/{guide,design}/*.rst; do
	ok "${document##*/}: the functions that it names are there" functions_exist "$document"
done
ok "readme: a function that is not there" found functions_exist "$contributing" 's,`count_pmc\(\)`,`count_pms()`,'
ok "CONTRIBUTING.md: the functions are in the files that it names" functions_are_in "$contributing"
ok "readme: a function of another file" found functions_are_in "$contributing" 's,hwpmc_record_commit_slice,commit_slice,'
cat "${documents[@]}" >"$tmp/all"
ok "CONTRIBUTING.md: it names each source of the module" all_sources_are_named "$contributing"
ok "readme: a source that is not named" found all_sources_are_named "$contributing" 's,`atbase.c`,,'
ok "readme: there is something to look at" enough "$tmp/all" 25 20 60
for document in "$analysis:20" "$recorder:8" "$sources:8" "$pmcstat:15" "$pmclog:12" "$pmccontrol:4"; do
	name=${document##*/}
	ok "${name%:*}: there are examples" enough "${document%:*}" "${document##*:}" -1 -1
done
ok "readme: a target that is not there" found all_are_targets "$testing" 's/make bench-kernel/make bench-colonel/'
ok "readme: a kernel that is not there" found all_are_targets "$testing" 's/make check-6.18/make check-6.81/'
ok "readme: a script that is not there" found all_are_scripts "$contributing" 's,^(    +)selftests/run-k,\1selftests/ran-k,'
ok "readme: a script's kernel that is not there" found all_are_scripts "$contributing" 's/run-kselftests 6\.12/run-kselftests 6.21/'
ok "readme: a kselftest that is not there" found all_are_scripts "$contributing" 's/run-kselftests 6\.12 errors/run-kselftests 6.12 terrors/'
ok "readme: a file that is not there" found all_are_there "$contributing" 's,`src/event/source.c`,`src/sauce.c`,'
ok "readme: a source that is not there" found all_are_there "$contributing" 's,`rotate.c`,`rotation.c`,'
ok "readme: a link to nowhere" found all_are_there "$readme" 's,\(CONTRIBUTING.md\),(CONTRIBUTION.md),'
if [[ -e /dev/hwpmc ]]; then
	skip "readme: examples of tools" "this machine has the device: they would record"
else
	stand_ins
	for document in "${documents[@]}" "${pages[@]}"; do
		ok "${document##*/}: the tools understand its examples" all_are_understood "$document"
	done
	ok "readme: an option of pmcstat that is not there" found all_are_understood "$tour" 's/ --packed/ --stacked/'
	ok "readme: an option of pmclog that is not there" found all_are_understood "$tour" 's/--callers/--colours/'
	ok "readme: an option of pmccontrol that is not there" found all_are_understood "$tour" 's/pmccontrol -l /pmccontrol -y /'
	ok "readme: one behind a prompt" found all_are_understood "$analysis" 's/--slice/--slide/'
	ok "readme: one of a manual page" found all_are_understood "$pmclog" 's/--schema/--scheme/'
	ok "readme: ... in a line that goes on" found all_are_understood "$pmcstat" 's/^    --rotate 1h/    --rotten 1h/'
	ok "readme: ... in a line by itself" found all_are_understood "$pmccontrol" 's/^(\.Dl pmccontrol) -l/\1 -y/'
fi
done_testing
