#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh OUT PROBES SYMVERS CC FLAGS...: writes a header of HAVE_* macros.
#
# PROBES/NAME.c is compiled (only) with the flags of the real build; HAVE_NAME
# is defined if that works.  PROBES/exports lists HAVE_ names and the symbols
# each needs.  sanity.c must compile: if it does not, no answer means anything.

out=$1 probes=$2 symvers=$3
shift 3

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

if ! "$@" -c -o "$tmp/sanity.o" "$probes/sanity.c" 2>"$tmp/log"; then
	echo "hwpmc: this kernel's headers cannot compile the simplest module:" >&2
	head -n 5 "$tmp/log" >&2
	exit 1
fi
{
	echo "/* made by probe/run.sh */"
	for file in "$probes"/*.c; do
		name=$(basename "$file" .c)
		[ "$name" = sanity ] && continue
		if "$@" -c -o "$tmp/probe.o" "$file" 2>/dev/null; then
			echo "#define HAVE_$(echo "$name" | tr a-z A-Z)"
		fi
	done
	while read -r name symbols; do
		case $name in ''|'#'*) continue ;; esac
		have=1
		for symbol in $symbols; do
			cut -f2 "$symvers" | grep -qx "$symbol" || have=
		done
		[ -z "$have" ] || echo "#define HAVE_$name"
	done <"$probes/exports"
} >"$tmp/out"
mv "$tmp/out" "$out"
