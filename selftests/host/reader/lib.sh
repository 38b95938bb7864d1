# SPDX-License-Identifier: BSD-2-Clause
# For the tests of report, fold and flame: sourced.

set -u
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/../lib/tap.sh"
export LC_ALL=C
unset DEBUGINFOD_URLS
pmclog=$BIN/pmclog

# log NAME <SCRIPT: makes $tmp/NAME
log()
{
	"$BIN/script2log" "$tmp/$1" || echo "# script of $1 is wrong"
}

# prog_log NAME [COMM] <SCRIPT: ... of a clock and process 7
prog_log()
{
	{ printf 'event cpu-clock 1000\nproc 7 %s\n' "${2:-prog}"; cat; } | log "$1"
}

# same WANT COMMAND...: prints exactly that
same()
{
	local want=$1
	shift
	"$@" >"$tmp/.got" 2>"$tmp/.err" || { cat "$tmp/.err"; return 1; }
	printf '%s\n' "$want" | diff - "$tmp/.got"
}

# folds NAME WANT: the folded stacks of a log
folds()
{
	same "$2" "$pmclog" fold "$tmp/$1"
}

# kallsyms NAME...: $tmp/kallsyms has these functions, each of 4096 bytes, from $k on;
# -: the one before it has these, too
k=0xffffffff81000000
kallsyms()
{
	local name at=$((k))
	for name; do
		[ "$name" = - ] || printf '%x T %s\n' "$at" "$name"
		at=$((at + 4096))
	done >"$tmp/kallsyms"
}

# mod_kallsyms: ... and a function of the module mymod
mod_kallsyms()
{
	printf '%s\t[mymod]\n' 'ffffffffc0100000 t mod_func' \
		'ffffffffc0101000 t mod_end' >>"$tmp/kallsyms"
}

# profile_rows: of the profile of a report on standard input
profile_rows()
{
	awk '/Self %/ { on = 1; next } !NF { on = 0 } on { $1 = $1; print }'
}

# page_data: the data of a page on standard input, as JSON
page_data()
{
	sed -n '/id="data">$/,/^<\/script>$/p' | sed '1d;$d'
}

id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

# symbol FILE NAME: its address
symbol()
{
	nm "$1" | awk -v n="$2" '$3 == n { print "0x" $1; exit }'
}

# load PID BASE FILE [PATH]: a process' mappings of an ELF file, as the kernel
# makes them
load()
{
	readelf -lW "$3" | awk '$1 == "LOAD" && / E /{ print $2, $3, $5 }' |
	while read -r off vaddr size; do
		slack=$((vaddr & 4095))
		printf 'map %s %#x %#x %#x %s\n' "$1" \
			$(($2 + vaddr - slack)) \
			$(((size + slack + 4095) & ~4095)) \
			$((off - slack)) "${4:-$3}"
	done
}

# runs PID FILE: the process has that program
runs()
{
	[ "$(readlink "/proc/$1/exe")" = "$2" ]
}

# account FIELD VALUE...: what CLOSELOG of the log "part" tells
account()
{
	local got
	while (($#)); do
		got=$("$pmclog" dump -j "$tmp/part" | jq "select(.record ==
			\"closelog\") | .$1")
		[ "$got" = "$2" ] || { echo "$1: $got, not $2"; return 1; }
		shift 2
	done
}
