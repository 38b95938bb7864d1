#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh OUT PROBES SYMVERS CC FLAGS...: writes a header of HAVE_* macros.
#
# Files are compiled (only) with the flags of the real build.
#
# PROBES/NAME.c	has a difference between kernels in its new form and, with
#		PROBE_OLD defined, in its old one.  HAVE_NAME is defined if the
#		new form compiles; if neither does, that is the end: a probe
#		that fails for reasons of its own would choose the wrong form.
# PROBES/needs	files that must compile, in this order.
# PROBES/exports	HAVE_ names, or "-" for what must be there, and the
#		symbols that each takes.
#
# What ends the build is told in one sentence, from the file's second line.

out=$1 probes=$2 symvers=$3
shift 3

export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

compiles() {
	"$@" -c -o "$tmp/probe.o" 2>"$tmp/log"
}

# The comment in the file's second line.
subject() {
	sed -n '2s,^/\* \(.*\) \*/$,\1,p' "$1"
}

give_up() {
	echo "hwpmc: cannot be built for ${KERNELRELEASE:-this kernel}: $1" >&2
	exit 1
}

check_needs() {
	for file in "$probes"/needs/*.c; do
		compiles "$@" "$file" && continue
		[ "$file" != "$probes/needs/headers.c" ] || head -n 5 "$tmp/log" >&2
		give_up "$(subject "$file")"
	done
}

probe_forms() {
	for file in "$probes"/*.c; do
		name=$(basename "$file" .c)
		if compiles "$@" "$file"; then
			echo "#define HAVE_$(echo "$name" | tr a-z A-Z)"
		elif ! compiles "$@" -DPROBE_OLD "$file"; then
			head -n 5 "$tmp/log" >&2
			give_up "it is too new: neither form compiles of \"$(subject "$file")\""
		fi
	done
}

# Prepared sources that were never built have no list: modpost will tell.
is_exported() {
	[ ! -e "$symvers" ] || cut -f2 "$symvers" | grep -qx "$1"
}

probe_exports() {
	while read -r name symbols; do
		case $name in '' | '#'*) continue ;; esac
		have=1
		for symbol in $symbols; do
			is_exported "$symbol" && continue
			[ "$name" != - ] || give_up "it does not export $symbol"
			have=
		done
		[ "$name" = - ] || [ -z "$have" ] || echo "#define HAVE_$name"
	done <"$probes/exports"
}

check_needs "$@"
{
	echo "/* made by probe/run.sh */"
	probe_forms "$@"
	probe_exports
} >"$tmp/out"
mv "$tmp/out" "$out"
