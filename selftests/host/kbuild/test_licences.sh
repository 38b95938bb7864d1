#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_licences.sh
#
# Each source file says in its first lines which licence it has, and the text of that
# licence is in LICENSES.  TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# files: of the tree, without what is built in it
files() {
	git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . \( -path ./build -o -path ./selftests/ring/out \) -prune -o -type f -print
}

# sources: those that are source files by their names, or begin as scripts
sources() {
	local file
	cd "$root" || return
	files | while IFS= read -r file; do
		[[ -f $file ]] || continue
		[[ $file =~ \.([chsS]|cc|sh|awk|py|js|css|rst|[1-8]|mk)$ || -x $file ||
			${file##*/} == @(Makefile|Kbuild) ]] && echo "$file"
	done
	true
}

# licences FILE...: "FILE IDENTIFIER" for each that its line has, or the file alone
licences() {
	LC_ALL=C awk '
	FNR == 1 && was != "" && !found { print was }
	FNR == 1 { was = FILENAME; found = 0 }
	FNR > 5 { nextfile }
	!found && match($0, /SPDX-License-Identifier: [A-Za-z0-9. -]+/) {
		found = 1
		n = split(substr($0, RSTART + 25, RLENGTH - 25), words, / +/)
		for (i = 1; i <= n; i++)
			if (words[i] !~ /^(OR|AND|WITH)?$/)
				print FILENAME, words[i]
	}
	END { if (!found) print was }' "$@"
}

# all_have: names each source file without one, or with one that has no text.
all_have() {
	local file licence bad=0
	local -a files
	mapfile -t files < <(sources)
	while read -r file licence; do
		# the old name of the same
		[[ $licence != GPL-2.0 ]] || licence=GPL-2.0-only
		[[ $licence && -s LICENSES/$licence.txt ]] ||
			{ echo "$file: ${licence:-no licence}"; bad=1; }
	done < <(licences "${files[@]}")
	((${#files[@]} > 500)) && return $bad
}

has_none() {
	printf '#include <stdio.h>\n' >"$tmp/none.c"
	[[ $(licences "$tmp/none.c") == "$tmp/none.c" ]]
}

has_two() {
	echo '/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */' >"$tmp/two.h"
	[[ $(licences "$tmp/two.h" | cut -d " " -f 2 | xargs) == "GPL-2.0 Linux-syscall-note BSD-2-Clause" ]]
}

cd "$root" || exit
echo "TAP version 13"
ok "licences: each file has one, with its text" all_have
ok "licences: a file without one" has_none
ok "licences: a file with several" has_two
done_testing
